"""A worker that is eight times slower than the others, in asynchronous and stale-synchronous jobs.

How stale updates are is measured at the shards. In mode async the slow worker's exceed every bound tried here, or the test
would show nothing; in mode ssp none does, and that by what the lead grants: a shard refuses (`expired`) what is too stale,
so that a lead that granted too much would show in that count.
"""

import harness
import jobs
import weights

STEPS = 20
SLOTS = 8
WORKERS = 4
BOUNDS = (1, 3, 8)

# Waiting takes no processor: the ratio is the same on a busy machine of two cores.
PACES = {"BALLAST_DELAY": "worker-0:64,*:8"}


class Staleness(harness.ClusterCase):
    def run_in(self, name, mode):
        text = jobs.fixed(steps=STEPS, slots=SLOTS, compute_ms=0).replace("training:\n", f"training:\n{mode}")
        run = self.start(self.job(text, name=f"{name}.yaml"), name=name, environment=PACES,
                         options=["--workers", str(WORKERS), "--shards", "2", "--hold-start"])
        summary = run.finish()
        self.assertEqual(summary["steps"], STEPS)
        self.assertEqual(summary["lost_workers"], 0, summary)
        self.assertEqual(len(summary["slots_by_session"]), WORKERS, summary)
        self.expect_all_slots(summary, SLOTS)
        return run, summary

    def expected(self):
        calm = self.start(self.job(jobs.fixed(steps=STEPS, slots=SLOTS, compute_ms=0), name="sync.yaml"), name="sync",
                          options=["--shards", "2"])
        calm.finish()
        return calm.folder

    def test_async_leaves_the_straggler_behind(self):
        _, summary = self.run_in("async", "  mode: async\n")
        self.assertGreater(summary["staleness"]["largest"], max(BOUNDS), summary["staleness"])

    def test_ssp_holds_each_bound_and_refuses_nothing(self):
        expected = self.expected()
        for bound in BOUNDS:
            with self.subTest(bound=bound):
                run, summary = self.run_in(f"ssp-{bound}", f"  mode: ssp\n  staleness: {{bound: {bound}}}\n")
                self.assertLessEqual(summary["staleness"]["largest"], bound, summary["staleness"])
                self.assertEqual(summary["staleness"]["expired"], 0, summary["staleness"])
                weights.expect_equal_sums(self, expected, run.folder)


if __name__ == "__main__":
    harness.main()
