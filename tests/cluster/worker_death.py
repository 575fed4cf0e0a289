"""Workers hold nothing: killed at any instant, they cost time and no bits."""

import os
import signal

import harness
import jobs


class WorkerDeath(harness.ClusterCase):
    def test_a_killed_worker_is_started_again_and_costs_no_bits(self):
        job = self.job(jobs.emulated(steps=60))
        run = self.start(job, options=["--workers", "2", "--shards", "2", "--hold-start"])
        run.wait_for_step(5)
        victim = run.entry("worker", 1)
        os.kill(victim["pid"], signal.SIGKILL)
        again = run.wait_until("worker 1's second life", lambda: run.entry("worker", 1)["restarts"] == 1
                               and run.entry("worker", 1))
        self.assertNotEqual(again["pid"], victim["pid"])
        summary = run.finish()
        self.expect_equal_bits(summary, self.reference(job, jobs.AT_ONCE))
        self.expect_all_slots(summary, slots=8)
        self.assertEqual(summary["worker_restarts"], 1)
        self.assertGreaterEqual(summary["lost_workers"], 1, "the lead never noticed")
        self.assertIn("worker 1 was killed by signal 9 (SIGKILL); starting it again", run.out.read_text())

    def test_a_worker_that_cannot_be_started_again_is_tried_until_it_can(self):
        job = self.job(jobs.emulated(steps=60))
        run = self.start(job, options=["--workers", "2", "--hold-start"])
        run.wait_for_step(5)
        logs = run.folder / "logs"
        aside = run.folder / "aside"
        logs.rename(aside)  # what it must open before it can be started
        self.assertTrue(run.kill("worker", 1))
        run.wait_until("the failure to start it", lambda: "worker 1 is not there: cannot start" in harness.text_of(run.out))
        aside.rename(logs)
        run.wait_until("worker 1's second life", lambda: run.entry("worker", 1)["restarts"] == 1)
        summary = run.finish()
        self.expect_equal_bits(summary, self.reference(job, jobs.AT_ONCE))
        self.assertEqual(summary["worker_restarts"], 1)
        self.assertEqual(harness.text_of(run.out).count("worker 1 is not there"), 1)


if __name__ == "__main__":
    harness.main()
