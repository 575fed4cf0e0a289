"""Servers killed at the points of recovery where something could be lost or mixed, with every optimizer.

$BALLAST_FAULT_TIER=long runs every pair of settings instead of each once."""

import os

import harness
import jobs
import pairwise

STEPS = 48

# In a later snapshot than the first, whose completion is then a base beyond step 0.
AMID = "snapshot-chunk:9"

# For each shard, what kills it in each of its lives. Shard 0 hosts the lead.
PLACES = {
    "amid a snapshot": {1: [AMID]},
    "amid a snapshot, the lead": {0: [AMID]},
    "amid a snapshot, then before it serves": {1: [AMID, "before-serve"]},
    "the lead's new timeline is durable": {0: [AMID, "timeline-recorded"]},
    "the lead's first timeline is durable": {0: ["timeline-recorded"]},
    "two at once": {0: [AMID, "before-serve"], 1: [AMID]},
    "a survivor, before it serves again": {1: [AMID], 0: ["before-serve:2"]},
    "the end is known to the ledger only": {1: ["before-finished"]},
    "the end, the lead": {0: ["before-finished"]},
    "a shard and a worker": {1: [AMID], "worker": "before-push@17"},
}
FACTORS = {
    "place": tuple(PLACES),
    "optimizer": tuple(jobs.OPTIMIZERS),
    "workers": (2, 1, 3),
    "shards": (2, 3),
    "lanes": (1, 2),
}


def each_once(factors):
    """As few rows as hold every value of every factor."""
    count = max(len(values) for values in factors.values())
    return [{name: values[row % len(values)] for name, values in factors.items()} for row in range(count)]


class ShardFaults(harness.ClusterCase):
    def test_every_place_and_optimizer_equals_the_reference(self):
        rows = pairwise.covering_array if os.environ.get("BALLAST_FAULT_TIER") == "long" else each_once
        references = {}
        for name, training in jobs.OPTIMIZERS.items():
            job = self.job(jobs.even(STEPS, training, every_steps=6), f"{name}.yaml")
            references[name] = (job, self.reference(job, jobs.AT_ONCE))
        self.assertEqual(len({reference["weights_sha256"] for _, reference in references.values()}), len(references))
        for number, row in enumerate(rows(FACTORS)):
            with self.subTest(**row):
                self.check_row(f"row-{number}", row, *references[row["optimizer"]])

    def check_row(self, name, row, job, reference):
        faults = dict(PLACES[row["place"]])
        options = ["--hold-start"]
        if worker := faults.pop("worker", None):
            options += ["--worker-fault", f"0:{worker}"]
        for shard, points in faults.items():
            options += [word for point in points for word in ("--server-fault", f"{shard}:{point}")]
        for factor in ("workers", "shards", "lanes"):
            options += [f"--{factor}", str(row[factor])]
        summary = self.start(job, name=name, options=options).finish()
        self.expect_equal_bits(summary, reference)
        self.assertEqual(summary["steps"], STEPS)
        self.assertEqual(summary["worker_restarts"], 1 if worker else 0, summary)
        deaths = sum(len(points) for points in faults.values())
        self.assertEqual(summary["restarted_shards"], deaths, "a fault did not strike")
        if any(AMID in points for points in faults.values()):
            self.assertGreater(summary["base_step"], 0, summary)
            self.assertGreaterEqual(summary["rollbacks"], 1, summary)


if __name__ == "__main__":
    harness.main()
