"""A gradient that is not finite: the job halts and names it, or leaves its step out, and never meets it again."""

import harness
import jobs

FAULT = {"BALLAST_FAULT": "nan@14:3:layer2.weight"}  # step, slot, parameter; in every worker
STEPS = 30


class NonFinite(harness.ClusterCase):
    def start_with(self, reaction, optimizer="adam-cosine-global-norm"):
        text = jobs.even(STEPS, jobs.OPTIMIZERS[optimizer] + f"\n  non_finite: {reaction}", every_steps=6)
        job = self.job(text, name=f"{reaction}.yaml")
        run = self.start(job, name=reaction, options=["--workers", "2", "--shards", "2", "--lanes", "2"],
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
        again = self.start(None, name="halt", overrides={"training.non_finite": "skip"}, environment=FAULT)
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
