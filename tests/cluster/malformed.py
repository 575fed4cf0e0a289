"""A cluster that is sent everything but messages of its job refuses all of it, and ends with the same bits."""

import subprocess

import harness
import jobs
import metrics


class Malformed(harness.ClusterCase):
    def expect_learning(self, run):
        """What was refused has taught the metrics nothing: whoever contributes to a step is still seen to be late or not."""
        def observed():
            pages = (metrics.of(run, "server", shard) for shard in range(2))
            return [metrics.value(page, "ballast_shard_worker_lateness_seconds_count", worker=worker)
                    for page in pages for worker in ("worker-0", "worker-1")]
        before = observed()
        run.wait_until("lateness observed by each shard", lambda: all(now > then for now, then in zip(observed(), before)))

    def check(self, transport):
        job = self.job(jobs.emulated(steps=120))
        run = self.start(job, options=["--workers", "2", "--shards", "2", "--lanes", "2", "--hold-start", "--metrics"],
                         overrides={"cluster.transport": transport})
        run.wait_for_step(1)
        keys = [run.folder / "keys"] if transport == "tcp" else []
        answer = subprocess.run([harness.MALFORMED, run.lead(), *keys], capture_output=True, text=True,
                                timeout=harness.PATIENCE, check=False)
        if answer.returncode != 0:
            run.fail(f"{answer.stdout}\n{answer.stderr}")
        self.assertIn(run.status()["phase"], ("training",), "the job was over before all was sent")
        self.expect_learning(run)
        summary = run.finish()
        self.expect_equal_bits(summary, self.reference(job, jobs.AT_ONCE))
        self.expect_all_slots(summary, slots=8)
        self.assertEqual(summary["worker_restarts"], 0, run.logs())
        workers = {name: slots for name, slots in summary["slots_by_session"].items() if slots}
        self.assertEqual(set(workers), {"worker-0", "worker-1"}, summary)

    def test_over_ipc(self):
        self.check("ipc")

    def test_over_tcp(self):
        self.check("tcp")


if __name__ == "__main__":
    harness.main()
