"""A worker killed at the points of the protocol where something could be counted twice or lost."""

import harness
import jobs

POINTS = ("before-push", "between-chunks", "after-receipt")


class Faults(harness.ClusterCase):
    def check_point(self, point):
        job = self.job(jobs.emulated(steps=30, compute_ms=5))
        run = self.start(job, options=["--workers", "3", "--shards", "2", "--hold-start", "--worker-fault",
                                       f"1:{point}@7", "--worker-fault", f"2:{point}@15"])
        summary = run.finish()
        self.expect_equal_bits(summary, self.reference(job, jobs.AT_ONCE))
        self.expect_all_slots(summary, slots=8)
        self.assertEqual(summary["worker_restarts"], 2, summary)
        out = run.out.read_text()
        for worker in (1, 2):
            self.assertIn(f"worker {worker} was killed by signal 9 (SIGKILL); starting it again", out)

    def test_with_all_computed_and_nothing_sent(self):
        self.check_point("before-push")

    def test_with_one_chunk_accepted_and_the_others_not_sent(self):
        self.check_point("between-chunks")

    def test_with_a_receipt_in_hand(self):
        self.check_point("after-receipt")

    def test_of_the_only_worker(self):
        job = self.job(jobs.emulated(steps=20, compute_ms=2))
        run = self.start(job, options=["--workers", "1", "--shards", "3", "--worker-fault", "0:between-chunks@9"])
        summary = run.finish()
        self.expect_equal_bits(summary, self.reference(job, jobs.AT_ONCE))
        self.expect_all_slots(summary, slots=8)


if __name__ == "__main__":
    harness.main()
