"""What a worker's times are: the same by status, worker and shards."""

import re
import time

import harness
import jobs
import metrics


class Times(harness.ClusterCase):
    PHASES = ("data_wait", "pull", "forward", "backward", "push")

    def hold_against_the_shards(self, text, options):
        """A paused job stands still, so that all that tell its times can be asked for the same ones."""
        run = self.start(self.job(text), options=["--metrics", *options])
        run.wait_for_step(20)
        told = [run.status()["sessions"][0]["phases"] for _ in range(10)]
        # A wait for weights that were there already is 0.
        self.assertGreater(sum(one["push"] > 0 for one in told), 5, told)
        self.assertTrue(any(one["pull"] > 0 and one["pull"] != one["push"] for one in told), told)
        self.assertEqual(run.control("pause").returncode, 0)
        shard = metrics.of(run, "server")
        worker = metrics.of(run, "worker")
        for phase in self.PHASES:
            count = metrics.value(shard, "ballast_shard_worker_phase_seconds_count", phase=phase)
            theirs = metrics.value(shard, "ballast_shard_worker_phase_seconds_sum", phase=phase)
            steps = metrics.value(worker, "ballast_worker_phase_seconds_count", phase=phase)
            own = metrics.value(worker, "ballast_worker_phase_seconds_sum", phase=phase)
            # A step is told with the next one's contributions, and again with what is sent twice.
            self.assertGreater(min(steps, count), 10, phase)
            self.assertLess(theirs / count, 2 * own / steps + 1e-5, phase)
            self.assertGreater(theirs / count, 0.5 * own / steps - 1e-5, phase)
        total = sum(metrics.value(worker, "ballast_worker_phase_seconds_sum", phase=phase) for phase in self.PHASES)
        trained = run.status()["training_seconds"]
        self.assertLess(total, 1.02 * trained, "no moment counts twice")
        self.assertEqual(run.control("stop").returncode, 0)
        self.assertEqual(run.wait(), 3)

    def test_of_small_steps(self):
        self.hold_against_the_shards(jobs.glyphs(steps=100000), ["--workers", "1"])

    def test_of_a_large_model(self):
        text = jobs.emulated(steps=1000, compute_ms=5, every_steps=1000)
        self.hold_against_the_shards(re.sub(r"\n  parameters:.*?\ndata:", "\n  preset: resnet50\ndata:", text, flags=re.S),
                                     ["--workers", "1"])

    def test_a_pause_counts_for_nothing(self):
        run = self.start(self.job(jobs.emulated(steps=60)))
        run.wait_for_step(3)
        self.assertEqual(run.control("pause").returncode, 0)
        began, before = time.monotonic(), run.status()
        time.sleep(8)  # longer than what a pace is taken over
        held, after = time.monotonic() - began, run.status()
        self.assertEqual(before["training_seconds"], after["training_seconds"])
        self.assertEqual(before["examples_per_second"], after["examples_per_second"])
        self.assertEqual(run.control("resume").returncode, 0)
        run.wait_until("a step", lambda: (run.status() or {}).get("step", 0) > after["step"] + 3)
        self.assertGreater(run.status()["examples_per_second"], 0)
        summary = run.finish()
        self.assertLess(summary["training_seconds"], summary["wall_seconds"] - held)

    def test_a_resumed_run_tells_no_epoch_again(self):
        file = self.job(jobs.emulated(steps=60).replace("100000", str(20 * 64)))  # three epochs
        run = self.start(file)
        run.wait_for_step(25)
        self.assertEqual(run.control("stop").returncode, 0)
        self.assertEqual(run.wait(), 3)
        self.assertIn("\nepoch 1/3:", run.out.read_text())
        again = self.start(None)
        again.finish()
        self.assertNotIn("epoch 1/3:", again.out.read_text())
        self.assertIn("\nepoch 2/3:", again.out.read_text())


if __name__ == "__main__":
    harness.main()
