"""What does not fit together is refused before anything is touched."""

import cgroups
import harness
import jobs
from peaks import MEBIBYTE, least_memory


class Refusals(harness.ClusterCase):
    def serve(self, job, database):
        return harness.call(*self.server(job, 0, database))

    def server(self, job, shard, database):
        return [harness.SERVER, "--job", job, "--shard", shard, "--lead", f"ipc://{self.folder}/lead", "--bind",
                f"ipc://{self.folder}/lane-{shard}", "--database", database]

    def test_a_database_of_another_job_is_left_as_it_was(self):
        job = self.job(jobs.glyphs(steps=2))
        run = self.start(job)
        summary = run.finish()
        database = run.folder / "shard-0"
        other = self.job(jobs.glyphs(steps=2, seed=4), name="other.yaml")
        answer = self.serve(other, database)
        self.assertEqual(answer.returncode, 1, answer.stderr)
        last = answer.stderr.strip().splitlines()[-1]
        self.assertIn("seed", last)
        self.assertIn(str(database), last)
        self.expect_equal_bits(summary, self.digest_of(run.folder))
        again = self.serve(job, database)  # its own job, which it tells whoever asks has finished
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("finished at step 2 of 2", again.stderr)
        self.expect_equal_bits(summary, self.digest_of(run.folder))

    # ---- a start that is refused

    def test_a_server_of_another_job_than_the_leads_leaves_nothing_behind(self):
        two = jobs.glyphs(steps=2).replace("shards: 1", "shards: 2")
        self.assertIn("shards: 2", two)
        job = self.job(two)
        self.start_process(*self.server(job, 0, self.folder / "shard-0"))
        database = self.folder / "shard-1"
        other = self.job(two.replace("seed: 3", "seed: 4"), name="other.yaml")
        answer = harness.call(*self.server(other, 1, database))
        self.assertEqual(answer.returncode, 1, answer.stderr)
        self.assertIn("shard 1 was started with another job file than the lead's, which differs in training.seed (3 against "
                      "4) (the lead's against this one)", answer.stderr)
        self.assertEqual(answer.stderr.count("the lead refused this shard"), 1, answer.stderr)
        self.assertFalse(database.exists())
        log = self.folder / "again.log"
        self.start_process(*self.server(job, 1, database), out=log)
        self.wait_for("the next start to be taken", lambda: "serves timeline 1" in log.read_text())

    def test_a_server_that_must_not_listen_makes_no_database(self):
        answer = self.program(harness.SERVER, "--job", self.job(jobs.glyphs()), "--shard", "0", "--lead",
                              "tcp://0.0.0.0:7070", "--database", self.folder / "database")
        self.assertEqual(answer.returncode, 2, answer.stderr)
        self.assertEqual(answer.stderr.count("refusing to listen"), 1, answer.stderr)
        self.assertFalse((self.folder / "database").exists())

    # ---- too little memory

    def expect_too_little(self, job, told, **options):
        """A server and a run by this job say so and leave nothing behind."""
        run = [harness.BALLAST, "run", job, "--run-dir", self.folder / "run"]
        for words in (self.server(job, 0, self.folder / "database"), run):
            answer = harness.call(*words, **options)
            self.assertEqual(answer.returncode, 2, answer.stdout + answer.stderr)
            self.assertEqual(answer.stderr.count(told), 1, answer.stderr)
        for folder in ("database", "run"):
            self.assertFalse((self.folder / folder).exists(), folder)

    def test_less_memory_than_the_least_is_refused_by_server_and_run(self):
        least = least_memory(self, jobs.glyphs())
        job = self.job(jobs.glyphs().replace("cluster: {", f"cluster: {{memory_mib: {least - 1}, "))
        self.expect_too_little(job, f"cluster.memory_mib: {least - 1} is too little: shard 0 needs {least} MiB")

    def test_a_machine_of_less_than_twice_the_least_is_refused_by_server_and_run(self):
        """As a control group has it: a server takes half of that by itself."""
        if reason := cgroups.unfit_for_memory():
            self.skipTest(reason)
        least = least_memory(self, jobs.glyphs())
        group = cgroups.Memory(2 * (least - 1) * MEBIBYTE, "little")
        self.addCleanup(group.remove)
        self.expect_too_little(self.job(jobs.glyphs()), f"cluster.memory_mib: not given, and half of the memory here, {least - 1} MiB, "
                               f"is too little: shard 0 needs {least} MiB", preexec_fn=group.enter)

    # ---- command lines

    def program(self, *words):
        return harness.call(*words, cwd=self.folder)

    def test_all_programs_say_which_ballast_they_are(self):
        for program in (harness.BALLAST, harness.SERVER, harness.WORKER, harness.BENCH, harness.SIMULATE):
            answer = self.program(program, "--version")
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertRegex(answer.stdout, rf"^{program.name} \d+\.\d+\.\d+ \(commit ([0-9a-f]{{12}}\+?|unknown)\)\n$")

    def test_usage_errors_end_with_2_and_are_told_once(self):
        job = self.job(jobs.glyphs())
        server = [harness.SERVER, "--job", job, "--shard", "0", "--database", "database"]
        cases = [
            ([harness.BALLAST, "run", "--wokers", "3", job], "unknown option '--wokers' of `ballast run`; did you mean "
             "--workers?"),
            ([harness.BALLAST, "run", "--workers", "300", job], "--workers: cluster.workers: '300' is out of range"),
            ([harness.BALLAST, "statsu", "x"], "unknown command 'statsu' of `ballast`; did you mean status?"),
            ([harness.BALLAST, "status", "tcp://127.0.0.1:99999"], "has a port that there is not"),
            ([harness.BALLAST, "evaluate", "--data", "nowhere", "run"], "--data: Path does not exist: nowhere"),
            ([harness.BALLAST, "predict", "--data", "nowhere", "run"], "--data: Path does not exist: nowhere"),
            ([harness.BALLAST, "predict", "--split", "test", "--input", "images", "run"], "--split excludes --input"),
            ([*server, "--lead", "foo"], "'foo' is no address; write tcp://HOST:PORT"),
            ([*server, "--lead", "tcp://127.0.0.1:99999"], "has a port that there is not"),
            ([*server, "--lead", "tcp://127.0.0.1:*", "--advertise", "a b"], "--advertise: 'a b' is no host; write a name"),
            ([harness.WORKER, "--lead", "tcp://a,b:7070"], "'tcp://a,b:7070' is no address; write tcp://HOST:PORT"),
            ([*server, "--led", "tcp://127.0.0.1:*"], "unknown option '--led' of `ballast-server`; did you mean --lead?"),
            ([*server[:3], "--shard", "7", *server[5:], "--lead", "tcp://127.0.0.1:*"], "--shard 7: the job has shards"),
            ([harness.SERVER, "--job", "nowhere.yaml", "--shard", "0", "--database", "database", "--lead",
              "tcp://127.0.0.1:*"], "nowhere.yaml: can't be read"),
            ([harness.WORKER], "no lead: say --lead ADDRESS"),
            ([harness.WORKER, "--lead", "tcp://127.0.0.1:99999"], "has a port that there is not"),
            ([harness.WORKER, "--lead", "tcp://127.0.0.1:7070", "--data", "nowhere"], "nowhere"),
            ([harness.WORKER, "--lead", "tcp://127.0.0.1:7070", "--metrics", "127.0.0.1:99999"], "port that there is not"),
        ]
        for words, text in cases:
            with self.subTest(words=words[1:]):
                answer = self.program(*words)
                self.assertEqual(answer.returncode, 2, answer.stderr)
                self.assertIn(text, answer.stderr)
                self.assertEqual(answer.stderr.count(text), 1, answer.stderr)
        self.assertFalse((self.folder / "database").exists())

    def test_a_run_folder_with_a_database_is_not_used_again(self):
        job = self.job(jobs.glyphs(steps=2))
        self.start(job).finish()
        again = self.start(job)
        self.assertEqual(again.wait(), 1)
        self.assertIn("holds the database", again.errors())
        self.assertIn("--run-dir", again.errors())

    def test_no_workers_are_refused_by_what_was_typed(self):
        job = self.job(jobs.glyphs().replace("cluster: {", "cluster: {start_workers: 1, "))
        for more in ([], ["--hold-start"]):
            answer = harness.ballast("run", job, "--run-dir", self.folder / "run", "--workers", "0", *more)
            self.assertEqual(answer.returncode, 2, answer.stderr)
            self.assertIn("--workers: cluster.workers: '0' is out of range", answer.stderr)
            self.assertNotIn("cluster.start_workers", answer.stderr)
        self.assertFalse((self.folder / "run").exists())

    def test_events_that_cannot_be_written_leave_no_run_behind(self):
        run = self.start(self.job(jobs.glyphs()), options=["--events", self.folder / "nowhere" / "events"])
        self.assertEqual(run.wait(), 1)
        self.assertIn("--events", run.errors())
        self.assertIn("cannot be opened", run.errors())
        self.assertFalse(run.folder.exists())

    def test_a_bad_job_file_is_no_run(self):
        run = self.start(self.job(jobs.glyphs().replace("slots: 8", "slots: 9")))
        self.assertEqual(run.wait(), 2)
        self.assertIn("job.yaml:7", run.errors())
        self.assertFalse(run.folder.exists())


if __name__ == "__main__":
    harness.main()
