"""A worker that stands still: others bring its slots, and whatever it sends when it wakes up counts for nothing."""

import os
import signal

import harness
import jobs


class Stragglers(harness.ClusterCase):
    def stopped_while(self, steps, resume):
        """A run in which worker 1 stands still until `resume(run, step)` has returned."""
        job = self.job(jobs.emulated(steps=steps, compute_ms=5))
        run = self.start(job, options=["--workers", "3", "--shards", "2", "--hold-start"])
        run.wait_for_step(3)
        sleeper = run.entry("worker", 1)["pid"]
        os.kill(sleeper, signal.SIGSTOP)
        try:
            resume(run, run.status()["step"])
        finally:
            os.kill(sleeper, signal.SIGCONT)
        summary = run.finish()
        self.expect_equal_bits(summary, self.reference(job, jobs.AT_ONCE))
        self.expect_all_slots(summary, slots=8)
        return summary

    def test_for_a_while(self):
        summary = self.stopped_while(60, lambda run, step: run.wait_for_step(step + 10))
        self.assertEqual(summary["steps"], 60)

    def test_until_it_is_given_up(self):
        def lost(run, _):
            run.wait_until("the lead gives it up", lambda: (run.status() or {}).get("lost_workers", 0) > 0)
        summary = self.stopped_while(80, lost)
        self.assertGreaterEqual(summary["lost_workers"], 1)


if __name__ == "__main__":
    harness.main()
