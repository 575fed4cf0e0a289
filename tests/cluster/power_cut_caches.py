"""Power cuts of disks with a volatile cache, and of a disk that lies about what it has kept.

Exit code 77: it cannot be tried here.
"""

import random
import sys
import time

import harness
import jobs
import journals
import power_cut
import power_disks
import weights

SHARDS = power_cut.SHARDS
SLOTS = power_cut.SLOTS
STEPS = 80
EVERY = 30


class Caches(power_cut.PowerCase):
    def test_a_volatile_cache_keeps_what_was_promised(self):
        self.check_always("cache", power_disks.CachedDisk)

    def start_lying(self, name):
        text = jobs.in_small_chunks(jobs.fixed(STEPS, SLOTS, 40, every_steps=EVERY)).replace(
            "training:\n", "training:\n  mode: async\n")
        run, disks, _ = self.start_it(name, text, {"durability.fsync": "always"}, power_disks.LyingDisk)
        run.wait_for_snapshot(EVERY)
        disks[1].lie()
        return run, disks, text

    def test_a_disk_that_lies_is_noticed_and_the_job_goes_back(self):
        run, disks, text = self.start_lying("lies")
        run.wait_for_step(EVERY + 6)
        with journals.no_restarts(run):
            self.cut(run, disks, (1,), random.Random(1))
        summary = run.finish()
        self.assertEqual((summary["timeline"], summary["rollbacks"], summary["base_step"]), (2, 1, EVERY), summary)
        calm = self.start(self.job(text.replace("  mode: async\n", ""), name="sync.yaml"), name="sync",
                          options=["--shards", str(SHARDS)])
        calm.finish()
        weights.expect_equal_sums(self, calm.folder, run.folder)

    def test_a_lost_snapshot_is_waited_for_with_a_clear_word(self):
        run, disks, _ = self.start_lying("lost")
        run.wait_for_snapshot(2 * EVERY)
        time.sleep(0.2)
        with journals.no_restarts(run):
            self.cut(run, disks, (1,), random.Random(1))
        status = run.wait_until("the word", lambda: "lacks" in (run.status() or {}).get("waits_for", "") and run.status())
        self.assertRegex(status["waits_for"], "shard 1: .*lacks the snapshot of step .*ballast restore")


if __name__ == "__main__":
    if reason := power_disks.CachedDisk.missing():
        print(f"skipped: {reason}")
        sys.exit(77)
    harness.main()
