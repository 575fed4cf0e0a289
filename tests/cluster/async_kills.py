"""Shards and workers of an asynchronous job that are killed: with a journal the job goes on where it was.

What the kills must not cost is an item, or bring twice: the weights are held against those of a run of mode sync in which
nobody died (see modes.py). With the journal of a living disk nothing that was built upon is lost, so no timeline begins.
"""

import random
import time

import harness
import jobs
import weights

STEPS = 60
SLOTS = 8
SHARDS = 2


class AsyncKills(harness.ClusterCase):
    def expected(self):
        calm = self.start(self.job(self.text(), name="sync.yaml"), name="sync", options=["--shards", str(SHARDS)])
        calm.finish()
        return calm.folder

    def text(self, mode=""):
        return jobs.fixed(steps=STEPS, slots=SLOTS, compute_ms=20, every_steps=15).replace("training:\n",
                                                                                          "training:\n" + mode)

    def strike(self, run, victims, chance):
        """Each victim once, at some moment after the one before; returns how many of them were alive."""
        struck = 0
        for role, index in victims:
            time.sleep(chance.uniform(0.2, 0.8))
            if run.process.poll() is None and run.kill(role, index):
                struck += 1
        return struck

    def one_job(self, name, mode, victims, options=(), overrides=None):
        run = self.start(self.job(self.text(mode), name=f"{name}.yaml"), name=name,
                         options=["--workers", "2", "--shards", str(SHARDS), *options], overrides=overrides)
        run.wait_for_step(3)
        struck = self.strike(run, victims, random.Random(name))
        summary = run.finish()
        self.assertEqual(struck, len(victims), "the job was over before all were killed")
        self.assertEqual(summary["steps"], STEPS)
        self.assertEqual(summary["timeline"], 1, summary)
        self.assertEqual(summary["rollbacks"], 0, summary)
        return run, summary

    def test_killed_shards_go_on_in_the_same_timeline(self):
        expected = self.expected()
        shards = [("server", 1), ("server", 0), ("server", 1)]
        bound = "  mode: ssp\n  staleness: {bound: 4}\n"
        for name, mode, options, fsync in (("interval", "  mode: async\n", (), "interval"),
                                           ("always", bound, ("--lanes", "2"), "always"),
                                           ("never", "  mode: async\n", (), "never")):
            with self.subTest(fsync=fsync):
                run, summary = self.one_job(name, mode, shards, options, {"durability.fsync": fsync})
                # A life that is killed before it was back has not come back.
                self.assertGreaterEqual(summary["resumed_shards"], len(set(shards)))
                weights.expect_equal_sums(self, expected, run.folder)

    def test_killed_workers_cost_no_item(self):
        expected = self.expected()
        run, summary = self.one_job("workers", "  mode: async\n", [("worker", 0), ("worker", 1), ("server", 1)])
        self.assertGreaterEqual(summary["worker_restarts"], 1)
        weights.expect_equal_sums(self, expected, run.folder)

    def test_a_job_that_died_goes_on_with_snapshots_at_other_steps(self):
        expected = self.expected()
        text = self.text("  mode: async\n").replace("every_steps: 15", "every_steps: 60")
        run = self.start(self.job(text, name="died.yaml"), name="died",
                         options=["--workers", "2", "--shards", str(SHARDS)], overrides={"durability.mode": "journal"})
        run.wait_for_step(7)
        run.kill_all()
        again = self.start(None, name="died", options=["--workers", "2", "--set", "durability.every_steps=5"])
        summary = again.finish()
        self.assertEqual(summary["steps"], STEPS)
        self.assertEqual(summary["timeline"], 1, summary)
        self.assertEqual(summary["rollbacks"], 0, summary)
        weights.expect_equal_sums(self, expected, again.folder)


if __name__ == "__main__":
    harness.main()
