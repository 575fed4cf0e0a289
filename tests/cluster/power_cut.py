"""The power of shards' disks fails in journaled jobs.

With `fsync: always` nothing that was promised is missing afterwards, and the job goes on in its timeline. With `never` the
same cut loses what others have built on: this is noticed, and the job goes back as a whole to its newest complete snapshot.
Exit code 77: it cannot be tried here.
"""

import random
import subprocess
import sys
import time

import harness
import jobs
import journals
import power_disks
import weights

SHARDS = 2
SLOTS = 8
STEPS = 80


class PowerCase(harness.ClusterCase):
    """Jobs whose databases lie on disks of their own."""

    owned = ()  # the chunks of each shard

    def start_it(self, name, text, overrides, make_disk):
        """A run with its disks and the workers' account; `make_disk` is told the case and the folder."""
        account_file = self.folder / f"{name}.account"
        disks = []
        for shard in range(SHARDS):
            disks.append(make_disk(self, self.folder / f"disk-{name}-{shard}"))
            (disks[-1].folder / "database").mkdir()
            (self.folder / name).mkdir(exist_ok=True)
            (self.folder / name / f"shard-{shard}").symlink_to(disks[-1].folder / "database")
        run = self.start(self.job(text, name=f"{name}.yaml"), name=name,
                         environment={"BALLAST_WORKER_ACCOUNT": str(account_file)},
                         options=["--workers", "2", "--shards", str(SHARDS)],
                         overrides={"durability.mode": "journal"} | overrides)
        run.wait_for_step(2)
        self.owned = journals.chunks_of(self, run, SHARDS)
        return run, disks, account_file

    def cut(self, run, disks, shards, chance):
        """Cuts the power of the shards; a server lives on for a moment without its disk, but for the lead's, whose
        ledger may not miss a word. Returns what each journal holds afterwards."""
        for shard in shards:
            journals.stand_still(run, shard)
        for shard in shards:
            disks[shard].cut()
            if shard != 0:
                journals.go_on(run, shard)
        time.sleep(chance.uniform(0, 0.1))
        for shard in shards:
            self.assertTrue(journals.kill(run, shard), f"shard {shard} was not alive")
        for shard in shards:
            disks[shard].power_up()
        return {shard: journals.records(self, run, SHARDS, shard, run.folder / f"shard-{shard}" / "journal")
                for shard in shards}

    def check_always(self, kind, make_disk):
        training = f"mode: async\n  {jobs.OPTIMIZERS['momentum']}"
        text = jobs.in_small_chunks(jobs.emulated(STEPS, SLOTS, 30, f"always-{kind}", training, every_steps=1000))
        run, disks, account_file = self.start_it(kind, text, {"durability.fsync": "always"}, make_disk)
        keeper = journals.Keeper(self, run, [disk.folder / "kept" for disk in disks])
        chance = random.Random(kind)
        promises, cuts = 0, 0
        for shards in ((1,), (0,), (0, 1)):
            run.wait_until("the shards to go on", lambda: (run.status() or {}).get("resumed_shards", 0) >= cuts)
            time.sleep(chance.uniform(0.3, 0.9))
            with keeper.pausing(), journals.no_restarts(run):
                found = self.cut(run, disks, shards, chance)
                account = journals.Account(account_file, SLOTS)
                promises += sum(journals.expect_kept(self, account, records, self.owned[shard])
                                for shard, records in found.items())
            cuts += len(shards)
        summary = run.finish()
        keeper.end()
        keeper.take()
        self.assertGreater(promises, 0, "nothing was promised: the cuts prove nothing")
        self.assertEqual((summary["timeline"], summary["rollbacks"]), (1, 0), summary)
        self.assertGreaterEqual(summary["resumed_shards"], cuts, summary)
        replayed = journals.replayed(self, run, SHARDS, dict(enumerate(keeper.folders)))
        self.assertEqual(set(replayed["updates"]), {STEPS * SLOTS}, replayed)
        self.expect_equal_bits(summary, replayed)
        print(f"\n{kind}: {cuts} disks without power, {promises} promises held, "
              f"{summary['resumed_shards']} lives went on, 0 rollbacks")


class PowerDisks(harness.ClusterCase):
    def test_power_comes_back_though_a_mount_namespace_holds_what_lost_it(self):
        for kind, make_disk in (("xfs", power_disks.XFS), ("ext4", power_disks.EXT4)):
            with self.subTest(kind):
                disk = make_disk(self, self.folder / kind)
                (disk.folder / "synced").write_text("kept")
                power_disks.command("sync", "-f", disk.folder)
                with subprocess.Popen(["unshare", "--mount", "sh", "-c", "echo; exec sleep 600"],
                                      stdout=subprocess.PIPE) as holder:
                    holder.stdout.readline()
                    try:
                        disk.cut()
                        disk.power_up()
                        self.assertEqual((disk.folder / "synced").read_text(), "kept")
                    finally:
                        holder.kill()


class PowerCut(PowerCase):
    def test_xfs_keeps_what_was_promised(self):
        self.check_always("xfs", power_disks.XFS)

    def test_ext4_keeps_what_was_promised(self):
        self.check_always("ext4", power_disks.EXT4)

    def test_what_is_not_synced_is_missed_and_the_job_goes_back(self):
        # With a smaller last layer shard 1, whose power is cut, has the chunk of the statistics: it counts the slots,
        # anew in each of its lives.
        text = jobs.in_small_chunks(jobs.fixed(STEPS, SLOTS, 20, every_steps=15))
        text = text.replace("layer4.weight, shape: [40,", "layer4.weight, shape: [20,")
        calm = self.start(self.job(text, name="sync.yaml"), name="sync", options=["--shards", str(SHARDS)])
        calm.finish()
        run, disks, account_file = self.start_it("never", text.replace("training:\n", "training:\n  mode: async\n"),
                                                 {"durability.fsync": "never"}, power_disks.XFS)
        run.wait_for_snapshot(15)
        time.sleep(0.3)
        self.assertIn(max(max(chunks) for chunks in self.owned), self.owned[1], "the statistics, which are the last")
        with journals.no_restarts(run):
            found = self.cut(run, disks, (1,), random.Random(1))
            account = journals.Account(account_file, SLOTS)
        recovered = {(record.item, record.chunk) for record in found[1]}
        covered = 15 * SLOTS  # at least; by the snapshot
        lost = {(item, chunk) for item, chunk in account.promised
                if chunk in self.owned[1] and item >= covered} - recovered
        self.assertTrue(lost, "the power cut lost nothing: it proves nothing about the other one")
        summary = run.finish()
        self.assertEqual((summary["timeline"], summary["rollbacks"]), (2, 1), summary)
        self.assertGreaterEqual(summary["base_step"], 15, summary)
        items = (STEPS - summary["base_step"]) * SLOTS  # of the timeline
        self.assertEqual(sum(summary["slots_by_session"].values()), items, summary)
        weights.expect_equal_sums(self, calm.folder, run.folder)
        print(f"\nnever: {len(lost)} promises lost by a power cut, rolled back to step {summary['base_step']}")


if __name__ == "__main__":
    if reason := power_disks.missing():
        print(f"skipped: {reason}")
        sys.exit(77)
    harness.main()
