"""Sessions that say hello like a worker, and then what no worker could: the job ends as it would have without them."""

import json
import re
import subprocess

import harness
import jobs
import weights

SESSIONS = (7001, 7002)  # each barred after its turn
KEYS = {"cluster.transport": "tcp"}  # over which a run has keys; hostile ones have a worker's
SLOW = {"BALLAST_DELAY": "*:250"}  # a slot of an honest worker, so that a step takes a second


class HostileCase(harness.ClusterCase):
    def hostile(self, run, *words):
        answer = subprocess.run([harness.HOSTILE, *run.keys("worker"), run.lead(), *map(str, words)], capture_output=True, text=True,
                                timeout=harness.PATIENCE, check=False)
        if answer.returncode != 0:
            run.fail(f"{answer.stdout}\n{answer.stderr}")
        return answer.stdout

    def wait_for_rollback(self, run, count):
        def gone_back():
            status = run.status() or {}
            return status.get("rollbacks") == count and status
        return run.wait_until(f"rollback {count}", gone_back)


class Refused(HostileCase):
    def test_roots_to_one_shard(self):
        """It tears the versions apart; the job goes back, names the sender and its key, and takes nothing of it any more."""
        job = self.job(jobs.emulated(steps=14, compute_ms=1, every_steps=2))
        run = self.start(job, options=["--workers", "2", "--shards", "2", "--lanes", "2", "--hold-start"],
                         overrides=KEYS, environment=SLOW)
        run.wait_for_step(3)
        for count, session in enumerate(SESSIONS, 1):
            said = self.hostile(run, "roots", session, 4)
            self.assertIn("taken", said, run.logs())
            status = self.wait_for_rollback(run, count)
            for word in (f"session {session}", "hostile", "key worker", "cannot have been computed", "shard 0, lane"):
                self.assertIn(word, status["trouble"], run.logs())
            self.assertIn("refused: ", self.hostile(run, "roots", session, 4), run.logs())
            run.wait_for_step(status["snapshot"] + 1)
        self.assertIn("when the one before is done everywhere", run.logs())
        self.expect_lanes_to_name_the_key(run)
        summary = run.finish()
        self.expect_equal_bits(summary, self.reference(job, jobs.AT_ONCE))

    def expect_lanes_to_name_the_key(self, run):
        """Each lane that it has spoken to: the lead need not have heard of whoever speaks to lanes alone."""
        log = (run.folder / "logs" / "shard-0.log").read_text()
        for session in SESSIONS:
            for lane in (0, 1):
                self.assertRegex(log, rf"lane {lane}: takes no contributions of session {session} any more.*; its key is worker\b")

    def test_results_of_evaluations(self):
        """Whoever was not asked is not heard: losses and accuracies are those of a run without it."""
        job = self.job(jobs.glyphs(steps=24))
        alone = self.start(job, name="alone", options=["--workers", "2"]).finish()
        run = self.start(job, options=["--workers", "2"], overrides=KEYS, environment={"BALLAST_DELAY": "*:20"})
        run.wait_for_step(1)
        hostile = subprocess.Popen([harness.HOSTILE, *run.keys("worker"), run.lead(), "results", str(harness.PATIENCE)])
        try:
            run.wait()
        finally:
            hostile.kill()  # it may wait for a lead that is gone
            hostile.wait()
        summary = run.finish()
        for key in ("weights_sha256", "test_accuracy", "test_loss"):
            self.assertEqual(summary[key], alone[key], (key, summary, alone))


class Trusted(HostileCase):
    """What nothing prevents: docs/security-messages.md lists it. Each shows that the gap is as wide as that, and no wider."""

    def evaluations(self, run):
        """As the ledger has them, in order."""
        answer = harness.ballast("inspect", run.folder, "--json")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return json.loads(answer.stdout)["evaluations"]

    def test_an_invented_gradient_of_open_work_counts_as_what_it_says(self):
        """Roots of zeros for one step: the weights of a run that left this step out, and nothing else is other."""
        job = self.job(jobs.fixed(steps=10, compute_ms=1))
        run = self.start(job, options=["--workers", "2", "--hold-start"], overrides=KEYS, environment=SLOW)
        run.wait_for_step(3)
        said = self.hostile(run, "roots", SESSIONS[0], 1)
        steps = {int(step) for step in re.findall(r"root of step (\d+), chunk \d+: taken", said)}
        self.assertEqual(len(steps), 1, said)
        self.assertNotIn("not taken", said)
        summary = run.finish()
        self.assertEqual((summary["rollbacks"], summary["worker_restarts"]), (0, 0), run.logs())
        self.expect_equal_bits(summary, self.reference(job, jobs.AT_ONCE, skip=sorted(steps)))
        self.assertNotEqual(summary["weights_sha256"], self.reference(job, jobs.AT_ONCE)["weights_sha256"])

    def test_a_wrong_result_of_an_item_that_it_holds_is_believed(self):
        """Of items that it holds, and only as a figure: the weights are others' work."""
        examples, loss = 12_000, 1e6
        job = self.job(jobs.glyphs(steps=24).replace("test_examples: 60", f"test_examples: {examples}"))
        alone_run = self.start(job, name="alone", options=["--workers", "2"])
        alone = alone_run.finish()
        run = self.start(job, options=["--workers", "2"], overrides=KEYS, environment={"BALLAST_DELAY": "*:20"})
        run.wait_for_step(1)
        status = run.status()
        told = self.folder / "hostile.log"
        self.start_process(harness.HOSTILE, *run.keys("worker"), run.lead(), "evaluates", status["sessions"][0]["fingerprint"],
                           status["data"]["value"], harness.PATIENCE, out=told)
        summary = run.finish()
        answered = len(told.read_text().splitlines())
        self.assertGreaterEqual(answered, 1, run.logs())
        shown = [(one, other) for one, other in zip(self.evaluations(run), self.evaluations(alone_run), strict=True)]
        # Of each evaluation: it may hold items of any of them.
        believed = [int(one["loss"] * one["examples"] / loss + 0.5) for one, _ in shown]
        self.assertTrue(1 <= sum(believed) <= answered, (shown, answered))
        for (one, other), wrong in zip(shown, believed, strict=True):
            (self.assertLess if wrong else self.assertEqual)(one["accuracy"], other["accuracy"], shown)
        self.assertEqual(summary["weights_sha256"], alone["weights_sha256"])
        self.assertEqual(summary["rollbacks"], 0)

    def test_a_false_mark_takes_the_job_back(self):
        """Once for each, by its cause; what came with it is gone with the rest, and the sums are those without it."""
        text = jobs.fixed(steps=16, compute_ms=20, every_steps=4)
        calm = self.start(self.job(text, name="calm.yaml"), name="calm")
        calm.finish()
        run = self.start(self.job(text.replace("training:\n", "training:\n  mode: async\n")), options=["--workers", "2"], overrides=KEYS,
                         environment={"BALLAST_DELAY": "*:60"})
        run.wait_for_step(5)
        self.assertIn("taken: item", self.hostile(run, "mark", SESSIONS[0]), run.logs())
        status = self.wait_for_rollback(run, 1)
        self.assertEqual(status["rollbacks_by_cause"]["mark"], 1, status)
        summary = run.finish()
        self.assertEqual((summary["rollbacks"], summary["worker_restarts"]), (1, 0), run.logs())
        weights.expect_equal_sums(self, calm.folder, run.folder)


if __name__ == "__main__":
    harness.main()
