"""Whatever ends a run from outside, no process is left behind."""

import os
import signal

import harness
import jobs


class Interrupt(harness.ClusterCase):
    def started(self):
        run = self.start(self.job(jobs.emulated(steps=5000)), options=["--workers", "2", "--shards", "2"])
        run.wait_for_step(1)
        self.assertEqual(len([entry for entry in run.processes() if harness.is_alive(entry["pid"])]), 4)
        return run

    def check_signal(self, number, code):
        run = self.started()
        run.process.send_signal(number)
        self.assertEqual(run.wait(), code, run.logs())
        run.expect_no_process()
        self.assertFalse(run.summary_file.exists())

    def test_ctrl_c(self):
        self.check_signal(signal.SIGINT, 130)

    def test_terminate(self):
        self.check_signal(signal.SIGTERM, 143)

    def test_a_second_ctrl_c_kills_processes_that_do_not_stop(self):
        run = self.started()
        stubborn = run.entry("worker", 0)["pid"]
        os.kill(stubborn, signal.SIGSTOP)  # takes no SIGTERM any more
        run.process.send_signal(signal.SIGINT)
        run.wait_until("the first one's notice", lambda: "once more to kill" in run.errors())
        run.process.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(), 130, run.logs())
        run.expect_no_process()

    def test_kill_of_the_command_itself(self):
        run = self.started()
        run.process.kill()
        run.wait()
        run.expect_no_process()


if __name__ == "__main__":
    harness.main()
