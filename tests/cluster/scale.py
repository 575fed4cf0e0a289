"""`ballast scale`: a run gets more workers and fewer while it goes on, and ends as it would have."""

import os
import shutil
import signal

import guard
import harness
import jobs

STEPS = 120


class Scale(harness.ClusterCase):
    def started(self, steps=STEPS, workers=1, **arguments):
        self.file = self.job(jobs.emulated(steps=steps, every_steps=10))
        run = self.start(self.file, options=["--workers", str(workers), "--shards", "2"], **arguments)
        run.wait_for_step(2)
        return run

    def scale(self, run, workers, *options, code=0):
        """What it prints, on standard output or, if it fails, on standard error."""
        answer = self.ballast("scale", run.folder, "--workers", workers, *options, code=code)
        run.processes()
        return answer.stderr if code else answer.stdout

    def live(self, run):
        """The names of the workers that the lead knows."""
        return sorted(one["name"] for one in (run.status() or {}).get("sessions", []) if one["live"])

    def workers(self, run):
        """Those of processes.json, by number."""
        return {entry["index"]: entry for entry in run.processes() if entry["role"] == "worker"}

    def test_more_and_fewer_change_no_bit(self):
        run = self.started()
        self.assertEqual(self.scale(run, 3), "3 workers run\n")
        self.assertEqual(self.live(run), ["worker-0", "worker-1", "worker-2"])
        first = {index: entry["pid"] for index, entry in self.workers(run).items()}
        self.assertEqual(sorted(first), [0, 1, 2])
        run.wait_until("slots of the third", lambda: any(
            one["slots"] for one in run.status()["sessions"] if one["name"] == "worker-2"))
        self.assertEqual(self.scale(run, 1), "1 worker runs\n")
        self.assertEqual(self.live(run), ["worker-0"])
        self.assertEqual({index: entry["pid"] for index, entry in self.workers(run).items()}, {0: first[0]})
        self.assertFalse(harness.is_alive(first[1]) or harness.is_alive(first[2]))
        self.assertEqual(self.scale(run, 2), "2 workers run\n")
        self.assertNotEqual(self.workers(run)[1]["pid"], first[1])
        self.assertEqual(self.scale(run, 2), "2 workers run\n", "as it is")
        summary = run.finish()
        self.expect_equal_bits(summary, self.reference(self.file, jobs.AT_ONCE))
        self.expect_all_slots(summary, slots=8)
        self.assertEqual((summary["worker_restarts"], summary["lost_workers"], summary["workers"]), (0, 0, 1), summary)
        self.assertNotIn("starting it again", run.out.read_text() + run.errors())
        self.assertFalse(list(run.folder.glob("scale.*")))
        self.assertIn("workers: 1", (run.folder / "job.yaml").read_text())

    def test_without_any_the_job_waits(self):
        run = self.started()
        self.assertIn("no worker runs: the job waits until it has one", self.scale(run, 0))
        self.assertEqual((self.live(run), self.workers(run)), ([], {}))
        step = run.status()["step"]
        self.assertIn("waits for: a worker, for there is none", self.ballast("status", run.folder).stdout)
        self.assertEqual(self.scale(run, 2), "2 workers run\n")
        run.wait_for_step(step + 3)
        self.expect_equal_bits(run.finish(), self.reference(self.file, jobs.AT_ONCE))

    def test_an_added_one_that_dies_is_started_again_and_the_next_run_has_the_jobs_number(self):
        run = self.started(steps=5000)
        self.scale(run, 2)
        victim = run.kill("worker", 1)
        run.wait_until("its second life", lambda: self.workers(run).get(1, {}).get("pid") not in (None, victim))
        run.wait_until("the lead's word", lambda: self.live(run) == ["worker-0", "worker-1"])
        self.assertEqual(self.workers(run)[1]["restarts"], 1)
        run.process.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(), 143, run.logs())
        again = self.start(None)
        again.wait_for_step(1)
        self.assertEqual(list(self.workers(again)), [0])

    def test_a_run_without_workers_is_stopped(self):
        run = self.started()
        run.wait_for_snapshot(10)
        self.scale(run, 0)
        run.process.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(), 143, run.logs())
        self.assertRegex(run.out.read_text(), "go on with: ballast run --resume")
        self.expect_equal_bits(self.start(None).finish(), self.reference(self.file, jobs.AT_ONCE))

    def test_one_that_does_not_go_is_named(self):
        run = self.started(steps=5000, workers=2)
        pid = run.entry("worker", 1)["pid"]
        os.kill(pid, signal.SIGSTOP)
        said = self.scale(run, 1, "--patience", "2", code=1)
        self.assertRegex(said, rf"1 worker runs after 2 s; the run still waits for worker 1 \(process {pid}\) to end what")
        self.assertIn(f"kill -9 {pid} ends it at once", said)
        self.assertEqual(self.workers(run)[1]["pid"], pid)
        # Wanted again before it has gone: it goes, and another comes.
        held = self.start_process(harness.BALLAST, "scale", run.folder, "--workers", "2", out=self.folder / "held")
        run.wait_until("the wish", lambda: "2 workers from now on" in run.out.read_text())
        self.assertIn("is under way", self.scale(run, 3, code=1))
        os.kill(pid, signal.SIGCONT)
        self.assertEqual(held.wait(harness.PATIENCE), 0, (self.folder / "held").read_text())
        self.assertEqual((self.folder / "held").read_text(), "2 workers run\n")
        self.assertNotEqual(self.workers(run)[1]["pid"], pid)

    def test_an_added_one_that_is_no_use_does_not_end_the_run(self):
        data = guard.write_mnist(self.folder / "data", seed=1)
        self.file = self.job(guard.on_files(data, steps=300))
        run = self.start(self.file, environment=guard.SLOW)
        run.wait_for_step(2)
        shutil.rmtree(data)
        data.mkdir()
        said = self.scale(run, 2, code=1)
        self.assertIn("worker 1 cannot read the job's data: ", said)
        self.assertIn("1 worker runs", said)
        self.assertEqual(list(self.workers(run)), [0])
        self.assertEqual(run.finish()["steps"], 300)

    def test_before_the_job_begins(self):
        job = jobs.emulated(steps=200).replace("workers: 1", "workers: 3, start_workers: 3")
        run = self.start(self.job(job))
        run.wait_until("a lead", lambda: run.status())
        self.scale(run, 2)
        if run.status()["phase"] == "waiting":
            self.assertIn("the job begins when there are 3 (cluster.start_workers)", self.scale(run, 2))
        self.scale(run, 3)
        run.finish()

    def test_who_is_not_supervised_here(self):
        run = self.started(steps=5)
        run.finish()
        said = self.scale(run, 2, code=1)
        self.assertIn(f"no process of the run in {run.folder} lives; `ballast run --resume", said)
        said = self.ballast("scale", "tcp://10.0.0.1:7000", "--workers", 2, code=2).stderr
        self.assertIn("start workers with `ballast-worker --lead ADDRESS`", said)
        self.assertIn("is not the folder of a run", self.ballast("scale", "nowhere", "--workers", 2, code=2).stderr)
        by_hand = self.folder / "by-hand"
        by_hand.mkdir()
        said = self.ballast("scale", by_hand, "--workers", 2, code=1).stderr
        self.assertIn("no `ballast run` supervises", said)
        for count in (257, -1):
            self.assertIn("--workers", self.ballast("scale", run.folder, "--workers", count, code=2).stderr)

    def test_a_run_that_is_being_stopped_keeps_its_workers(self):
        run = self.started(steps=5000, workers=2)
        for worker in (0, 1):  # without them no step ends, and no snapshot can be taken
            os.kill(run.entry("worker", worker)["pid"], signal.SIGSTOP)
        run.process.send_signal(signal.SIGTERM)
        run.wait_until("the stop", lambda: "stopping the job" in run.errors())
        self.assertIn("the run is being stopped", self.scale(run, 4, code=1))
        for worker in (0, 1):
            os.kill(run.entry("worker", worker)["pid"], signal.SIGCONT)
        self.assertEqual(run.wait(), 143, run.logs())


if __name__ == "__main__":
    harness.main()
