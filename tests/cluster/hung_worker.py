"""A worker that lives and brings nothing, as one whose GPU hangs: it says that it is ready, beats, and waits an hour in
its first slot. In rounds its slots, in a stale-synchronous job its grant, and in both its part of each evaluation would
hold up all others for as long as it lives."""

import os
import signal
import time

import harness
import jobs

SLOTS = 8
STEPS = 120
BOUND = 2
EVALUATIONS = "evaluate_every_epochs: 4"  # every 25 steps
SSP = f"mode: ssp\n  staleness: {{bound: {BOUND}}}\n  {EVALUATIONS}\n  {jobs.MOMENTUM}"

# Waiting takes no processor: two workers bring a step every 40 ms.
PACES = {"BALLAST_DELAY": "hung:3600000,*:10"}
# Seconds for all steps and evaluations in rounds: three times what they take without it. Were a step held up for the
# quarter of a second after which a share is late, they would take beyond 30 s, and 50 s more if each evaluation waited
# until one of whom nothing is known is late.
LONGEST = 15


class HungWorker(harness.ClusterCase):
    def wait_for_session(self, run, name, holds):
        """What the status says of the worker that hangs, once that holds."""
        def found():
            status = run.status() or {}
            return next((session for session in status.get("sessions", ())
                         if session["name"] == name and holds(status, session)), None)
        session = run.wait_until("the status names it", found)
        self.assertTrue(session["live"], session)
        return session

    def expect_all_steps(self, summary, hung):
        self.assertEqual(summary["steps"], STEPS)
        self.assertEqual(summary["lost_workers"], 0, summary)
        self.assertEqual(summary["slots_by_session"].get(hung, 0), 0, summary)
        self.assertEqual(sum(summary["slots_by_session"].values()), SLOTS * STEPS, summary)

    def test_holds_up_neither_a_bounded_job_nor_its_evaluations(self):
        job = self.job(jobs.glyphs(steps=STEPS, slots=SLOTS, training=SSP))
        run = self.start(job, environment=PACES, options=["--workers", "2", "--shards", "2"])
        run.wait_for_step(3)
        hung = self.start_worker(run, "hung", environment=PACES)
        session = self.wait_for_session(run, "hung", lambda status, _: "hung" in status["trouble"])
        self.assertGreater(session["overtaken_seconds"], 1, session)
        run.wait_until("its end", lambda: (run.status() or {"phase": "finished"})["phase"] == "finished")
        summary = run.finish_but_for([hung])
        self.expect_all_steps(summary, "hung")
        self.assertGreaterEqual(summary["backups"], 1, summary)
        self.assertLessEqual(summary["staleness"]["largest"], BOUND, summary)
        self.assertEqual(summary["staleness"]["expired"], 0, summary)

    def costs_rounds_no_more_than_its_first_steps(self, training):
        """It is one of three from the first step on."""
        job = self.job(jobs.glyphs(steps=STEPS, slots=SLOTS, training=training))
        run = self.start(job, environment={"BALLAST_DELAY": "worker-2:3600000,*:10"},
                         options=["--workers", "3", "--shards", "2", "--hold-start"])
        run.wait_until("the first order", lambda: (run.status() or {}).get("phase") == "training")
        begun = time.monotonic()
        hung = run.entry("worker", 2)["pid"]
        self.wait_for_session(run, "worker-2", lambda _, session: session["held_up"])
        run.wait_until("its end", lambda: (run.status() or {"phase": "finished"})["phase"] == "finished")
        self.assertLess(time.monotonic() - begun, LONGEST, run.logs())
        os.kill(hung, signal.SIGKILL)
        summary = run.finish()
        self.expect_all_steps(summary, "worker-2")
        self.expect_equal_bits(summary, self.reference(job))

    def test_costs_a_synchronous_job_no_more_than_its_first_steps(self):
        self.costs_rounds_no_more_than_its_first_steps(f"{EVALUATIONS}\n  {jobs.MOMENTUM}")

    def test_costs_local_steps_no_more_than_their_first_rounds(self):
        self.costs_rounds_no_more_than_its_first_steps(f"{EVALUATIONS}\n  {jobs.LOCAL['diloco']}")


if __name__ == "__main__":
    harness.main()
