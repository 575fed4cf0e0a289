"""Sessions that say hello like a worker, and then what no worker could: the job ends as it would have without them."""

import subprocess

import harness
import jobs

SESSIONS = (7001, 7002)  # each barred after its turn
SLOW = {"BALLAST_DELAY": "*:250"}  # a slot of an honest worker, so that a step takes a second


class Hostile(harness.ClusterCase):
    def hostile(self, run, *words):
        answer = subprocess.run([harness.HOSTILE, run.lead(), *map(str, words)], capture_output=True, text=True,
                                timeout=harness.PATIENCE, check=False)
        if answer.returncode != 0:
            run.fail(f"{answer.stdout}\n{answer.stderr}")
        return answer.stdout

    def wait_for_rollback(self, run, count):
        def gone_back():
            status = run.status() or {}
            return status.get("rollbacks") == count and status
        return run.wait_until(f"rollback {count}", gone_back)

    def test_roots_to_one_shard(self):
        """It tears the versions apart; the job goes back, names the sender and takes nothing of it any more."""
        job = self.job(jobs.emulated(steps=14, compute_ms=1, every_steps=2))
        run = self.start(job, options=["--workers", "2", "--shards", "2", "--lanes", "2", "--hold-start"],
                         environment=SLOW)
        run.wait_for_step(3)
        for count, session in enumerate(SESSIONS, 1):
            said = self.hostile(run, "roots", session)
            self.assertIn("taken", said, run.logs())
            status = self.wait_for_rollback(run, count)
            for word in (f"session {session}", "hostile", "cannot have been computed", "shard 0, lane"):
                self.assertIn(word, status["trouble"], run.logs())
            self.assertIn("refused: ", self.hostile(run, "roots", session), run.logs())
            run.wait_for_step(status["snapshot"] + 1)
        self.assertIn("when the one before is done everywhere", run.logs())
        summary = run.finish()
        self.expect_equal_bits(summary, self.reference(job, jobs.AT_ONCE))

    def test_results_of_evaluations(self):
        """Whoever was not asked is not heard: losses and accuracies are those of a run without it."""
        job = self.job(jobs.glyphs(steps=24))
        alone = self.start(job, name="alone", options=["--workers", "2"]).finish()
        run = self.start(job, options=["--workers", "2"], environment={"BALLAST_DELAY": "*:20"})
        run.wait_for_step(1)
        hostile = subprocess.Popen([harness.HOSTILE, run.lead(), "results", str(harness.PATIENCE)])
        try:
            run.wait()
        finally:
            hostile.kill()  # it may wait for a lead that is gone
            hostile.wait()
        summary = run.finish()
        for key in ("weights_sha256", "test_accuracy", "test_loss"):
            self.assertEqual(summary[key], alone[key], (key, summary, alone))


if __name__ == "__main__":
    harness.main()
