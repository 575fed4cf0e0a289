"""What becomes of journals when a job has finished, and of a job whose journal is gone."""

import shutil

import harness
import jobs

STEPS = 40
SHARDS = 2
OPTIONS = ["--workers", "2", "--shards", str(SHARDS)]


class JournalEnd(harness.ClusterCase):
    def start_journaled(self, more=(), **arguments):
        text = jobs.in_small_chunks(jobs.emulated(STEPS, compute_ms=20, training="mode: async\n  " + jobs.MOMENTUM,
                                                  every_steps=10))
        return self.start(self.job(text), options=[*OPTIONS, *more], **arguments)

    def journal(self, run, shard):
        return run.folder / f"shard-{shard}" / "journal"

    def expect_no_journals(self, run):
        for shard in range(SHARDS):
            self.assertFalse(self.journal(run, shard).exists(), f"shard {shard} has kept its journal")
        self.ballast("inspect", run.folder, "--verify")

    def test_a_finished_job_leaves_none(self):
        run = self.start_journaled()
        run.wait_until("a journal", lambda: any(self.journal(run, 1).glob("[0-9a-f]*")))
        run.finish()
        self.expect_no_journals(run)

    def test_nor_does_one_whose_shard_died_before_it_knew_of_the_end(self):
        """The other shard may have removed its journal already: the job must end well all the same."""
        for shard in range(SHARDS):
            with self.subTest(shard=shard):
                run = self.start_journaled(name=f"run-{shard}", more=["--server-fault", f"{shard}:before-finished"])
                summary = run.finish()
                self.assertEqual((summary["steps"], summary["restarted_shards"]), (STEPS, 1), summary)
                self.expect_no_journals(run)

    def test_a_stopped_job_keeps_its_journals(self):
        run = self.start_journaled()
        run.wait_for_step(5)
        run.control("stop")
        run.wait()
        for shard in range(SHARDS):
            self.assertTrue(any(self.journal(run, shard).glob("[0-9a-f]*")), f"shard {shard} has none")

    def test_a_journal_that_is_gone_is_named_and_the_job_goes_back_to_its_snapshot(self):
        run = self.start_journaled()
        run.wait_for_snapshot(10)
        run.kill_all()
        shutil.rmtree(self.journal(run, 1))
        resumed = self.start(None)
        summary = resumed.finish()
        self.assertEqual(summary["timeline"], 2, summary)
        self.assertIn(f"for there is no journal in {self.journal(run, 1)} ", resumed.out.read_text())
        self.assertNotIn(str(self.journal(run, 0)), resumed.out.read_text())
        log = (run.folder / "logs" / "shard-1.log").read_text()
        self.assertIn(f"there is no journal in {self.journal(run, 1)}, though this shard has served timeline 1", log)
        self.assertNotIn("there is no journal", (run.folder / "logs" / "shard-0.log").read_text())


if __name__ == "__main__":
    harness.main()
