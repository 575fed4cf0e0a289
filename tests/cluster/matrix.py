"""Every pair of settings that must not change the result, held against the sequential reference."""

import itertools
import math

import harness
import jobs
import pairwise

FACTORS = {
    "workers": (1, 2, 3, 5),
    "shards": (1, 2, 3),
    "lanes": (1, 2),
    "slots": (8, 7, 6),
    "model": ("lenet5", "mlp"),
    "transport": ("ipc", "tcp"),
    "mode": ("sync", "averaging", "diloco"),
}
STEPS = 10


class Matrix(harness.ClusterCase):
    def test_the_array_covers_every_pair(self):
        rows = pairwise.covering_array(FACTORS)
        for (one, its), (other, others) in itertools.combinations(FACTORS.items(), 2):
            for pair in itertools.product(its, others):
                self.assertTrue(any((row[one], row[other]) == pair for row in rows), (one, other, pair))

    def test_every_row_equals_the_reference(self):
        references = {}
        for model, slots, mode in itertools.product(FACTORS["model"], FACTORS["slots"], FACTORS["mode"]):
            training = jobs.LOCAL.get(mode, jobs.MOMENTUM)
            job = self.job(jobs.glyphs(model, slots, STEPS, training=training), name=f"{model}-{slots}-{mode}.yaml")
            references[model, slots, mode] = (job, self.reference(job))
        self.assertEqual(len({reference["weights_sha256"] for _, reference in references.values()}), len(references))
        for number, row in enumerate(pairwise.covering_array(FACTORS)):
            with self.subTest(**row):
                self.check_row(f"row-{number}", row, *references[row["model"], row["slots"], row["mode"]])

    def check_row(self, name, row, job, reference):
        options = [word for factor in ("workers", "shards", "lanes") for word in (f"--{factor}", str(row[factor]))]
        run = self.start(job, name=name, options=[*options, "--hold-start"],
                         overrides={"cluster.transport": row["transport"]})
        summary = run.finish()
        self.expect_equal_bits(summary, reference)
        self.expect_all_slots(summary, row["slots"])
        self.assertEqual(summary["steps"], STEPS)
        self.assertEqual(len(summary["slots_by_session"]), row["workers"], summary)
        # As many as it takes, where no range is longer than it has to be; the others' would save nothing.
        longest = math.ceil(row["slots"] / row["workers"])
        at_work = sum(slots > 0 for slots in summary["slots_by_session"].values())
        self.assertGreaterEqual(at_work, math.ceil(row["slots"] / longest), summary)


if __name__ == "__main__":
    harness.main()
