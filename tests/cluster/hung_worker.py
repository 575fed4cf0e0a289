"""A worker that lives and brings nothing, as one whose GPU hangs: it says that it is ready, beats, and waits an hour in
its first item. In a stale-synchronous job its grant would hold up all others for as long as it lives."""

import harness
import jobs

SLOTS = 8
STEPS = 120
BOUND = 2
SSP = f"mode: ssp\n  staleness: {{bound: {BOUND}}}\n  evaluate_every_epochs: 4\n  {jobs.MOMENTUM}"

# Waiting takes no processor: two workers bring a step every 40 ms.
PACES = {"BALLAST_DELAY": "hung:3600000,*:10"}


class HungWorker(harness.ClusterCase):
    def test_holds_up_neither_a_bounded_job_nor_its_evaluations(self):
        job = self.job(jobs.glyphs(steps=STEPS, slots=SLOTS, training=SSP))
        run = self.start(job, environment=PACES, options=["--workers", "2", "--shards", "2"])
        run.wait_for_step(3)
        hung = self.start_worker(run, "hung", environment=PACES)

        def named():
            status = run.status() or {}
            return "hung" in status.get("trouble", "") and status
        status = run.wait_until("the status names it", named)
        session = next(session for session in status["sessions"] if session["name"] == "hung")
        self.assertTrue(session["live"], status)
        self.assertGreater(session["overtaken_seconds"], 1, status)
        run.wait_until("its end", lambda: (run.status() or {"phase": "finished"})["phase"] == "finished")
        summary = run.finish_but_for([hung])
        self.assertEqual(summary["steps"], STEPS)
        self.assertEqual(summary["lost_workers"], 0, summary)
        self.assertEqual(summary["slots_by_session"].get("hung", 0), 0, summary)
        self.assertEqual(sum(summary["slots_by_session"].values()), SLOTS * STEPS, summary)
        self.assertGreaterEqual(summary["backups"], 1, summary)
        self.assertLessEqual(summary["staleness"]["largest"], BOUND, summary)
        self.assertEqual(summary["staleness"]["expired"], 0, summary)


if __name__ == "__main__":
    harness.main()
