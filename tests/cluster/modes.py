"""Asynchronous and stale-synchronous jobs: every item is applied once, and as stale as the job allows.

What an update of its own makes of the weights depends on the order of arrival, so bits cannot be compared. Where the
gradients depend on the slot alone and the optimizer adds them up, the order matters to rounding only: then the weights
must be those of the sequential run of the same job in mode sync, to within it, and an item that was lost or applied twice
shows.
"""

import harness
import jobs
import weights

STEPS = 24
SLOTS = 8


def networked(mode, extra=""):
    return (jobs.glyphs(steps=STEPS, slots=SLOTS, job=mode)
            .replace("training:\n", f"training:\n  mode: {mode}\n{extra}")
            .replace("learning_rate: 0.05, momentum: 0.9", "learning_rate: 0.02, momentum: 0.5"))


class Modes(harness.ClusterCase):
    def expect_modes_figures(self, summary, mode):
        self.assertEqual(summary["mode"], mode)
        self.assertEqual(summary["steps"], STEPS)
        self.expect_all_slots(summary, SLOTS)
        staleness = summary["staleness"]
        items = STEPS * SLOTS
        self.assertGreater(staleness["contributions"], 0)
        self.assertEqual(staleness["contributions"] % items, 0, staleness)  # each on each chunk
        self.assertEqual(sum(part["contributions"] for part in staleness["histogram"]), staleness["contributions"])
        self.assertEqual(staleness["expired"], 0, staleness)
        self.assertEqual(summary["rollbacks"], 0)
        self.assertLess(summary["train_loss"], 2)  # ten classes, guessed: 2.3
        return staleness

    def test_async_applies_each_item_once(self):
        for durability in ("journal", "snapshot"):
            with self.subTest(durability=durability):
                job = self.job(networked("async"))
                summary = self.start(job, name=durability, options=["--workers", "2", "--shards", "2"],
                                     overrides={"durability.mode": durability, "durability.every_steps": 5}).finish()
                self.expect_modes_figures(summary, "async")

    def test_ssp_keeps_its_bound(self):
        for bound, workers, durability in ((1, 3, "journal"), (4, 3, "snapshot"), (16, 2, "journal")):
            with self.subTest(bound=bound, workers=workers):
                job = self.job(networked("ssp", f"  staleness: {{bound: {bound}, damping: inverse}}\n"))
                summary = self.start(job, name=f"bound-{bound}",
                                     options=["--workers", str(workers), "--shards", "2", "--lanes", "2"],
                                     overrides={"durability.mode": durability}).finish()
                staleness = self.expect_modes_figures(summary, "ssp")
                self.assertLessEqual(staleness["largest"], bound)

    def test_the_sum_of_all_items_is_that_of_sync(self):
        text = jobs.fixed(steps=STEPS, slots=SLOTS)
        job = self.job(text, name="sync.yaml")
        calm = self.start(job, name="sync", options=["--shards", "2"])
        calm.finish()
        job = self.job(text.replace("training:\n", "training:\n  mode: async\n"), name="async.yaml")
        run = self.start(job, name="async", options=["--workers", "3", "--shards", "2"])
        self.expect_all_slots(run.finish(), SLOTS)
        weights.expect_equal_sums(self, calm.folder, run.folder)


if __name__ == "__main__":
    harness.main()
