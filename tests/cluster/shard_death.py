"""A shard that dies ends the run, which says which one and where to look."""

import os
import signal

import harness
import jobs


class ShardDeath(harness.ClusterCase):
    def check_death_of(self, shard):
        job = self.job(jobs.emulated(steps=5000))
        run = self.start(job, options=["--workers", "2", "--shards", "2"])
        run.wait_for_step(2)
        victim = run.entry("server", shard)["pid"]
        os.kill(victim, signal.SIGKILL)
        self.assertEqual(run.wait(), 1, run.logs())
        errors = run.errors()
        self.assertIn(f"shard {shard} (pid {victim}) was killed by signal 9 (SIGKILL)", errors)
        log = run.folder / "logs" / f"shard-{shard}.log"
        self.assertIn(str(log), errors)
        self.assertIn(log.read_text().splitlines()[-1], errors)
        self.assertFalse(run.summary_file.exists())
        run.expect_no_process()

    def test_of_the_lead(self):
        self.check_death_of(0)

    def test_of_another_shard(self):
        self.check_death_of(1)


if __name__ == "__main__":
    harness.main()
