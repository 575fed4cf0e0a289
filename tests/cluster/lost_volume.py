"""A shard's folder is lost while its job goes on: the job restores it from copies by itself, and ends with the same bits."""

import shutil

import copies
import harness
import jobs
from copies import STEPS


class LostVolume(copies.CopiesCase):
    """Of a job that names its run."""

    def setUp(self):
        super().setUp()
        self.copies.mkdir()
        self.durability |= {"durability.run": "the-first", "cluster.patience": 30}

    def start_it(self, options=(), **arguments):
        return self.start(self.job_file, options=["--workers", "2", "--shards", "2", *options],
                          overrides=self.durability, **arguments)

    def lose(self, run, *shards):
        """The folders first: a server that dies is started again at once."""
        for shard in shards:
            shutil.rmtree(run.folder / f"shard-{shard}")
        for shard in shards:
            run.kill("server", shard)

    def log_of(self, run, shard):
        return harness.text_of(run.folder / "logs" / f"shard-{shard}.log")

    def expect_same_bits(self, run):
        summary = run.finish(patience=2 * harness.PATIENCE)
        self.assertEqual(summary["steps"], STEPS)
        self.expect_equal_bits(summary, self.reference(self.job_file, jobs.AT_ONCE))
        self.assertIn("0 problems", self.ballast("inspect", run.folder, "--verify").stdout)
        return summary

    def wait_for_copy(self, run):
        """Of some snapshot, with steps left to lose."""
        copied = run.wait_until("a copy", lambda: ((run.status() or {}).get("copies") or {}).get("copied"))
        self.assertLess(copied, STEPS)
        return copied

    def test_a_shard(self):
        run = self.start_it()
        self.wait_for_copy(run)
        self.lose(run, 1)
        self.expect_same_bits(run)
        self.assertIn("its part is fetched from the copies", self.log_of(run, 1))
        self.assertNotIn("is fetched from the copies", self.log_of(run, 0))

    def test_shard_0_with_the_ledger(self):
        run = self.start_it()
        self.wait_for_copy(run)
        self.lose(run, 0)
        self.expect_same_bits(run)
        self.assertIn("the ledger is restored from that of timeline 1,", self.log_of(run, 0))
        self.assertEqual({row[3] for row in self.rows()}, {self.rows()[0][3]})  # it copies on under its name

    def test_all_shards_at_once(self):
        run = self.start_it()
        self.wait_for_copy(run)
        self.lose(run, 0, 1)
        self.expect_same_bits(run)
        self.assertIn("is fetched from the copies", self.log_of(run, 1))

    def test_one_after_the_other_and_the_first_again(self):
        run = self.start_it()
        self.wait_for_copy(run)
        for shard in (1, 0, 1):
            before = run.status()["timeline"]
            self.lose(run, shard)
            run.wait_until("the next timeline", lambda: (status := run.status()) and status["phase"] == "training" and
                           status["timeline"] > before)
        self.expect_same_bits(run)

    def test_servers_that_are_killed_while_they_restore(self):
        """Between two records of what they get: half of it is none."""
        for shard in (0, 1):
            with self.subTest(shard=shard):
                self.durability["durability.run"] = f"run-{shard}"
                run = self.start_it(name=f"run-{shard}", options=["--server-fault", f"{shard}:before-finished:99",
                                                                  "--server-fault", f"{shard}:record-fetched:3",
                                                                  "--server-fault", f"{shard}:record-fetched:2"])
                self.wait_for_copy(run)
                self.lose(run, shard)
                self.expect_same_bits(run)
                self.assertGreaterEqual(self.log_of(run, shard).count("ballast-server "), 4)

    def test_of_an_s3_storage(self):
        self.start_storage()
        run = self.start_it()
        self.wait_for_copy(run)
        self.lose(run, 0, 1)
        self.expect_same_bits(run)

    def test_of_an_older_copy_where_the_newest_is_damaged(self):
        run = self.start_it()
        run.wait_until("two copies", lambda: len(self.listed()) >= 2)
        newest = max(self.copies.rglob("shard-1-of-2"), key=lambda file: file.parent.name)
        content = bytearray(newest.read_bytes())
        content[len(content) // 2] ^= 1
        newest.write_bytes(content)
        self.lose(run, 1)
        self.expect_same_bits(run)
        log = self.log_of(run, 1)
        if str(newest) in log:  # unless a newer one was copied meanwhile
            self.assertIn("cannot be had: ", log)

    def test_a_place_that_is_away_is_waited_for(self):
        real, gone = self.folder / "real", self.folder / "gone"
        self.copies.rename(real)
        self.copies.symlink_to(real)
        run = self.start_it()
        self.wait_for_copy(run)
        self.copies.unlink()
        self.copies.symlink_to(gone)  # nobody can make the folder by writing into it
        self.lose(run, 1)

        def trouble():
            status = run.status() or {}
            return "there is no such folder" in status.get("waits_for", "") + status.get("trouble", "")
        run.wait_until("the place to be named", trouble)
        self.copies.unlink()
        self.copies.symlink_to(real)
        self.expect_same_bits(run)

    def test_a_run_that_was_restored_by_hand_copies_on_under_its_name(self):
        run = self.start_it()
        self.wait_for_copy(run)
        run.end()
        shutil.rmtree(run.folder)
        name, back = self.runs()[0], self.folder / "back"
        self.ballast("restore", *self.place, "--run-dir", back)
        self.ballast("run", "--resume", back)
        self.expect_equal_bits(self.digest_of(back), self.reference(self.job_file, jobs.AT_ONCE))
        self.assertIn(STEPS, self.listed())
        self.assertEqual(set(self.runs()), {name})

    def test_another_runs_copies_are_not_its_own(self):
        """Of the same job in the same place: a new run begins anew, and so does one that loses its disks before a copy."""
        self.start_it(name="first").finish()
        self.durability["durability.run"] = "the-second"
        run = self.start_it(name="second")
        run.wait_for_step(1)
        self.expect_same_bits(run)
        for shard in (0, 1):
            self.assertNotIn("restored", self.log_of(run, shard))
        self.assertEqual(len({row[3] for row in self.rows()}), 2)

    def test_a_run_that_has_begun_and_has_no_copy_does_not_begin_anew(self):
        """Shard 1 is lost before anything could be copied: the job waits, and says for what."""
        self.job_file = self.job(jobs.emulated(steps=100_000, compute_ms=20))
        self.durability["durability.every_steps"] = 50
        run = self.start_it()
        run.wait_for_step(1)
        shutil.rmtree(self.copies)
        self.copies.write_text("a file where the folder should be")
        run.wait_for_snapshot(50)
        self.lose(run, 1)

        def waits_for():
            return (run.status() or {}).get("waits_for", "")
        run.wait_until("what it waits for", lambda: "shard 1" in waits_for() and "lacks the snapshot of step" in waits_for() and
                       "there is no such folder" in waits_for())
        self.copies.unlink()
        self.copies.mkdir()
        run.wait_until("that there is no copy", lambda: "There is no complete copy of this run" in waits_for())
        run.end()

    def test_a_journaled_job_goes_back_as_a_whole(self):
        self.job_file = self.job(jobs.emulated(steps=STEPS, compute_ms=20, training="mode: async\n  " + jobs.MOMENTUM))
        run = self.start_it()
        self.wait_for_copy(run)
        self.lose(run, 1)
        summary = run.finish(patience=2 * harness.PATIENCE)
        self.assertEqual(summary["steps"], STEPS)
        self.assertIn("is fetched from the copies", self.log_of(run, 1))
        self.assertIn("0 problems", self.ballast("inspect", run.folder, "--verify").stdout)


if __name__ == "__main__":
    harness.main()
