"""A gradient that is not finite: the job halts and names it, or leaves its step out, and never meets it again."""

import math

import harness
import jobs

FAULT = {"BALLAST_FAULT": "nan@14:3:layer2.weight"}  # step, slot, parameter; in every worker
STEPS = 30


class NonFinite(harness.ClusterCase):
    def start_with(self, reaction, optimizer="adam-cosine-global-norm", workers=2, mode="sync"):
        text = jobs.even(STEPS, f"mode: {mode}\n  {jobs.OPTIMIZERS[optimizer]}\n  non_finite: {reaction}", every_steps=6)
        name = f"{reaction}-{workers}-{mode}"
        job = self.job(text, name=f"{name}.yaml")
        run = self.start(job, name=name, options=["--workers", str(workers), "--shards", "2", "--lanes", "2"],
                         environment=FAULT)
        return job, run

    def test_halt_names_slot_and_parameter(self):
        _, run = self.start_with("halt")
        self.assertEqual(run.wait(), 1, run.logs())
        for word in ("step 14", "slot 3", "layer2.weight"):
            self.assertIn(word, run.errors())
        run.expect_no_process()

    def test_a_halted_job_goes_on_when_told_to_skip(self):
        job, run = self.start_with("halt")
        self.assertEqual(run.wait(), 1, run.logs())
        again = self.start(None, name=run.folder.name, overrides={"training.non_finite": "skip"}, environment=FAULT)
        summary = again.finish()
        self.assertEqual(summary["skipped_steps"], 1, summary)
        self.expect_equal_bits(summary, self.reference(job, jobs.AT_ONCE, skip=[14]))

    def test_skip_leaves_the_step_out(self):
        job, run = self.start_with("skip")
        summary = run.finish()
        self.assertEqual(summary["skipped_steps"], 1, summary)
        self.assertEqual(summary["rollbacks"], 0, summary)
        self.expect_equal_bits(summary, self.reference(job, jobs.AT_ONCE, skip=[14]))
        self.assertIn("1 step skipped: the gradient was not finite", run.out.read_text())

    def test_a_step_left_out_is_in_no_prospect(self):
        job, run = self.start_with("skip", "lamb")
        summary = run.finish()
        self.assertEqual(summary["skipped_steps"], 1, summary)
        self.expect_equal_bits(summary, self.reference(job, jobs.AT_ONCE, skip=[14]))

    def test_without_a_norm_whoever_sums_last_looks(self):
        """Of one worker a step's sum comes whole, and is read; of several the pass that joins them looks."""
        for workers in (1, 3):
            job, run = self.start_with("skip", "momentum", workers)
            summary = run.finish()
            self.assertEqual(summary["skipped_steps"], 1, summary)
            self.expect_equal_bits(summary, self.reference(job, jobs.AT_ONCE, skip=[14]))
            _, run = self.start_with("halt", "momentum", workers)
            self.assertEqual(run.wait(), 1, run.logs())
            for word in ("step 14", "slot 3", "layer2.weight"):
                self.assertIn(word, run.errors())

    def test_an_item_is_looked_at_before_its_update(self):
        _, run = self.start_with("halt", "momentum", mode="async")
        self.assertEqual(run.wait(), 1, run.logs())
        for word in ("step 14", "slot 3", "layer2.weight"):
            self.assertIn(word, run.errors())
        _, run = self.start_with("skip", "momentum", mode="async")
        summary = run.finish()
        self.assertEqual(summary["staleness"]["skipped"], 1, summary)
        self.assertTrue(math.isfinite(summary["train_loss"]), summary)

    def test_rollback_goes_back_and_leaves_out_what_led_there(self):
        job, run = self.start_with("rollback")
        summary = run.finish()
        base = summary["base_step"]
        self.assertIn(base, (0, 6, 12), summary)
        self.assertEqual(summary["skipped_steps"], 15 - base, summary)
        self.assertEqual(summary["rollbacks"], 1, summary)
        self.expect_equal_bits(summary, self.reference(job, jobs.AT_ONCE, skip=range(base, 15)))


if __name__ == "__main__":
    harness.main()
