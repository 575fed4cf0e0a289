"""A shard that dies is started again, the job goes back to its newest snapshot, and no bit differs."""

import os
import signal

import harness
import jobs


class ShardDeath(harness.ClusterCase):
    def check_death_of(self, shard, training=jobs.MOMENTUM):
        job = self.job(jobs.emulated(steps=60, every_steps=8, training=training))
        run = self.start(job, options=["--workers", "2", "--shards", "2"])
        run.wait_for_snapshot(8)
        lead = run.lead()
        victim = run.kill("server", shard)
        run.wait_until("its second life", lambda: run.entry("server", shard)["pid"] not in (None, victim))
        summary = run.finish()
        self.expect_equal_bits(summary, self.reference(job, jobs.AT_ONCE))
        self.assertEqual(run.lead(), lead, "workers would look for the lead where it is no more")
        self.assertEqual(summary["restarted_shards"], 1, summary)
        self.assertEqual(summary["rollbacks"], 1, summary)
        self.assertGreaterEqual(summary["base_step"], 8, summary)
        self.assertEqual(summary["worker_restarts"], 0, summary)
        out = run.out.read_text()
        self.assertIn(f"shard {shard} was killed by signal 9 (SIGKILL); starting it again", out)
        self.assertIn(f"the job goes on from the snapshot of step {summary['base_step']} (timeline 2)", out)

    def test_of_the_lead(self):
        self.check_death_of(0)

    def test_of_the_lead_before_the_others_are_started(self):
        """It has said where it listens; the command hears of both at once."""
        run = self.start(self.job(jobs.emulated(steps=20)), options=["--workers", "1", "--shards", "2"])
        victim = run.wait_until("the first server", lambda: self.first_server(run))
        run.process.send_signal(signal.SIGSTOP)
        run.wait_until("its address", (run.folder / "lead.address").exists)
        os.kill(victim, signal.SIGKILL)
        run.process.send_signal(signal.SIGCONT)
        summary = run.finish()
        log = harness.text_of(run.folder / "logs" / "shard-0.log")
        self.assertEqual(log.count("ballast-server "), 2, log)  # lives
        self.assertIn("shard 0 was killed by signal 9 (SIGKILL); starting it again", run.out.read_text())
        self.assertEqual(summary["worker_restarts"], 0, summary)

    @staticmethod
    def first_server(run):
        try:
            return run.entry("server", 0)["pid"]
        except (OSError, StopIteration):
            return None  # the list is not there yet

    def test_of_another_shard(self):
        self.check_death_of(1)

    def test_amid_local_steps(self):
        self.check_death_of(1, jobs.LOCAL["diloco"])

    def test_again_and_again_ends_the_run(self):
        faults = [word for _ in range(5) for word in ("--server-fault", "1:before-serve")]
        run = self.start(self.job(jobs.emulated(steps=5000)), options=["--shards", "2", *faults])
        self.assertEqual(run.wait(), 1, run.logs())
        self.assertIn("shard 1 was killed by signal 9 (SIGKILL), the 5th time in a row within 10 s of its start",
                      run.errors())
        self.assertIn(str(run.folder / "logs" / "shard-1.log"), run.errors())
        run.expect_no_process()


if __name__ == "__main__":
    harness.main()
