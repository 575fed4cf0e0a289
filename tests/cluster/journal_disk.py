"""The journal and its disk: it stays within its budget, and a disk that hangs is told while everybody goes on.

Needs root, for small disks and for file systems that can be frozen (says so otherwise).
"""

import pathlib

import harness
import jobs
import metrics
import power_disks
import small_disks

SHARDS = 2
STEPS = 60
SLOTS = 8
HANGS = "has not come back from the disk for more than 5 s"


def journal_bytes(run, shard):
    found = 0
    for segment in (run.folder / f"shard-{shard}" / "journal").glob("[0-9a-f]*"):
        try:
            found += segment.stat().st_size
        except FileNotFoundError:
            pass  # it was needless
    return found


class JournalDisk(harness.ClusterCase):
    def job_text(self, every_steps=1000, compute_ms=10):
        return jobs.emulated(STEPS, SLOTS, compute_ms, training="mode: async\n  " + jobs.MOMENTUM,
                             every_steps=every_steps)

    def on_disks(self, disks):
        """A run's folder whose databases are on these disks."""
        (self.folder / "run").mkdir()
        for shard, disk in enumerate(disks):
            (disk.folder / "database").mkdir()
            (self.folder / "run" / f"shard-{shard}").symlink_to(disk.folder / "database")

    def start_it(self, text, **overrides):
        return self.start(self.job(text), options=["--workers", "2", "--shards", str(SHARDS), "--metrics"],
                          overrides={key.replace("__", "."): value for key, value in overrides.items()})

    def metric(self, run, shard, name):
        return sum(metrics.values(metrics.of(run, "server", shard), name))

    def test_a_journal_that_would_fill_its_disk_is_cut_within_its_budget(self):
        """60 steps are 60 MB and more in the journal of each shard, and the disk has 64 MB for all."""
        disks = [small_disks.SmallDisk(self, self.folder / f"disk-{shard}", 64) for shard in range(SHARDS)]
        self.on_disks(disks)
        run = self.start_it(self.job_text(), durability__journal_budget_mb=24)
        most = [0] * SHARDS

        def over():
            for shard in range(SHARDS):
                most[shard] = max(most[shard], journal_bytes(run, shard))
            return run.process.poll() is not None or (run.status() or {}).get("phase") == "finished"
        run.wait_until("the end", over)
        summary = run.finish()
        self.assertEqual((summary["steps"], summary["timeline"]), (STEPS, 1), summary)
        for shard in range(SHARDS):
            self.assertGreater(most[shard], 2_000_000)
            self.assertLess(most[shard], 24_000_000)
            log = (run.folder / "logs" / f"shard-{shard}.log").read_text()
            self.assertNotIn("the journal cannot be written", log)

    def test_without_that_it_stands_still_before_it_has_taken_the_room_for_a_snapshot(self):
        disks = [small_disks.SmallDisk(self, self.folder / f"disk-{shard}", 64) for shard in range(SHARDS)]
        self.on_disks(disks)
        run = self.start_it(self.job_text())
        told = run.wait_until("word of the full disk", lambda: "are kept back for a snapshot, and no more are free" in
                              (run.status() or {}).get("trouble", "") and run.status()["trouble"])
        self.assertIn("make room on it", told)
        shard = int(told.split("shard ", 1)[1][0])
        kept_back = self.metric(run, shard, "ballast_shard_journal_kept_back_bytes")
        self.assertGreater(kept_back, 0)
        statistics = pathlib.os.statvfs(disks[shard].folder)
        self.assertGreater(statistics.f_bfree * statistics.f_frsize, kept_back / 2)
        self.assertGreater(self.metric(run, shard, "ballast_shard_journal_free_bytes"), 0)

    def freezing(self, shard):
        missing = power_disks.missing()
        if missing:
            self.skipTest(missing)
        disk = power_disks.EXT4(self, self.folder / "disk")
        (disk.folder / "database").mkdir()
        (self.folder / "run").mkdir()
        (self.folder / "run" / f"shard-{shard}").symlink_to(disk.folder / "database")
        return disk

    def freeze(self, disk):
        power_disks.command("fsfreeze", "--freeze", disk.folder)
        self.addCleanup(self.thaw, disk)

    def thaw(self, disk):
        try:
            power_disks.command("fsfreeze", "--unfreeze", disk.folder)
        except RuntimeError:
            pass  # it has been

    def check_hang(self, text, shard, what):
        disk = self.freezing(shard)
        run = self.start_it(text)
        run.wait_for_step(3)
        self.freeze(disk)
        told = f"shard {shard}: {what} {HANGS}"
        run.wait_until("word of the disk that hangs", lambda: told in (run.status() or {}).get("trouble", ""))
        run.wait_until("metrics that say so", lambda: self.metric(run, shard, "ballast_shard_disk_busy_seconds") > 5 and
                       self.metric(run, 0, "ballast_lead_trouble") == 1)
        self.assertEqual(run.status()["waits_for"], "")  # everybody is heard of
        self.thaw(disk)
        run.wait_until("the trouble to be over", lambda: HANGS not in (run.status() or {}).get("trouble", HANGS))
        summary = run.finish()
        self.assertEqual((summary["steps"], summary["timeline"], summary["rollbacks"]), (STEPS, 1, 0), summary)

    def test_a_journal_whose_disk_hangs_is_told_and_goes_on(self):
        self.check_hang(self.job_text(compute_ms=40), 1, "a write of the journal")

    def test_a_snapshot_whose_disk_hangs_is_told_and_goes_on(self):
        """Its chunks are written, and the disk hangs before their sync: shard 1 has nothing else to write."""
        self.check_hang(jobs.emulated(STEPS, SLOTS, 200, every_steps=1), 1, "a write of a snapshot")

    def test_a_ledger_whose_disk_hangs_is_told_and_goes_on(self):
        text = jobs.emulated(STEPS, SLOTS, 40, every_steps=1)
        self.check_hang(text, 0, "a write of the ledger")


if __name__ == "__main__":
    harness.main()
