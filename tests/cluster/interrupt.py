"""Whatever ends a run from outside, no process is left behind, and what was trained is not lost."""

import os
import re
import signal

import harness
import jobs

STEPS = 60


class Interrupt(harness.ClusterCase):
    def started(self, steps=5000):
        run = self.start(self.job(jobs.emulated(steps=steps)), options=["--workers", "2", "--shards", "2"])
        run.wait_for_step(1)
        self.assertEqual(len([entry for entry in run.processes() if harness.is_alive(entry["pid"])]), 4)
        return run

    def check_signal(self, number, code):
        """The run stops with a snapshot, and goes on from there to the same bits."""
        run = self.started(STEPS)
        run.process.send_signal(number)
        self.assertEqual(run.wait(), code, run.logs())
        run.expect_no_process()
        self.assertFalse(run.summary_file.exists())
        self.assertIn("stopping the job with a snapshot", run.errors())
        stop = re.search(r"stopped at step (\d+) of 60, with a snapshot of step (\d+); "
                         r"go on with: ballast run --resume", run.out.read_text())
        self.assertTrue(stop, run.logs())
        self.assertEqual(stop[1], stop[2])
        summary = self.start(None).finish()
        self.assertEqual(summary["base_step"], int(stop[2]), summary)
        self.expect_equal_bits(summary, self.reference(self.folder / "job.yaml", jobs.AT_ONCE))

    def test_ctrl_c(self):
        self.check_signal(signal.SIGINT, 130)

    def test_terminate(self):
        self.check_signal(signal.SIGTERM, 143)

    def test_ctrl_c_of_a_run_that_was_resumed(self):
        """RocksDB's threads, which have read its databases before, must not take the signal."""
        run = self.started()
        run.process.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(), 130, run.logs())
        step = int(re.search(r"stopped at step (\d+)", run.out.read_text())[1])
        again = self.start(None)
        again.wait_for_step(step + 1)
        again.process.send_signal(signal.SIGINT)
        self.assertEqual(again.wait(), 130, again.logs())
        again.expect_no_process()
        self.assertIn("stopping the job with a snapshot", again.errors())

    def test_output_that_nobody_reads_any_more(self):
        """As in `ballast run JOB | head`: the job stops with a snapshot."""
        folder = self.folder / "run"
        read, write = os.pipe()
        process = self.start_process(harness.BALLAST, "run", self.job(jobs.emulated(steps=5000)), "--run-dir", folder,
                                     stdout=write, out=self.folder / "err")
        os.close(write)
        seen = b""
        while b"\nstep " not in seen:
            seen += os.read(read, 4096)
        os.close(read)
        self.assertEqual(process.wait(harness.PATIENCE), 128 + signal.SIGPIPE)
        text = (self.folder / "err").read_text()
        self.assertIn("stopping the job with a snapshot", text)
        self.assertRegex(text, r"stopped at step (\d+) of 5000, with a snapshot of step \d+; go on with: ballast run --resume")
        self.assertEqual(harness.processes_mentioning(folder), [])

    def check_second(self, number, code):
        run = self.started()
        for worker in (0, 1):  # without them no step ends, and no snapshot can be taken
            os.kill(run.entry("worker", worker)["pid"], signal.SIGSTOP)
        run.process.send_signal(number)
        run.wait_until("the first one's notice", lambda: "once more to kill" in run.errors())
        run.process.send_signal(number)
        self.assertEqual(run.wait(), code, run.logs())
        run.expect_no_process()
        self.assertIn("killing all processes", run.errors())
        self.assertIn("go on with: ballast run --resume", run.out.read_text())

    def test_a_second_ctrl_c_kills_at_once(self):
        self.check_second(signal.SIGINT, 130)

    def test_so_does_a_second_request_to_terminate(self):
        self.check_second(signal.SIGTERM, 143)

    def test_terminate_a_paused_job(self):
        run = self.started(STEPS)
        self.assertEqual(run.control("pause").returncode, 0)
        step = run.status()["step"]
        run.process.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(), 143, run.logs())
        self.assertIn(f"stopped at step {step} of {STEPS}, with a snapshot of step {step}; go on with", run.out.read_text())
        self.expect_equal_bits(self.start(None).finish(), self.reference(self.folder / "job.yaml", jobs.AT_ONCE))

    def test_terminate_before_the_job_has_begun(self):
        run = self.start(self.job(jobs.emulated(steps=STEPS)))
        run.wait_until("the run's folder", lambda: run.processes())  # pylint: disable=unnecessary-lambda
        run.process.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(), 143, run.logs())
        run.expect_no_process()
        self.assertRegex(run.out.read_text(), "go on with: ballast run --resume|start the job with `ballast run JOB --run-dir")

    def test_kill_of_the_command_itself(self):
        run = self.started()
        run.process.kill()
        run.wait()
        run.expect_no_process()


if __name__ == "__main__":
    harness.main()
