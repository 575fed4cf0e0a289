"""A shard's disk fills up in a journaled job, and has room again later.

While it is full nothing more is promised, and log, metrics and status say why. Once there is room the job goes on by itself, in
its timeline: nothing is lost, nothing is there twice. So too where a server dies meanwhile, and is started again.
"""

import shutil
import time

import harness
import jobs
import journals
import metrics
import small_disks

SHARDS = 2
SLOTS = 8
STEPS = 40
MEGABYTES = 96  # of each shard's disk
FULL = "the disk is full: make room on it"
STILL = 1.5  # seconds in which nothing may be promised


class FullDiskCase(harness.ClusterCase):
    """A run that has begun, with the disks of its shards, the workers' account, and all of the journals' segments."""

    EVERY_STEPS = 1000

    def setUp(self):
        super().setUp()
        self.account_file = self.folder / "account"
        self.disks = self.make_disks()
        training = f"mode: async\n  {jobs.MOMENTUM}"
        text = jobs.in_small_chunks(jobs.emulated(STEPS, SLOTS, 20, "full", training, self.EVERY_STEPS))
        self.start_it(self.job(text), options=["--workers", "2", "--shards", str(SHARDS)],
                      overrides={"durability.mode": "journal", "durability.fsync": "always"})
        self.owned = journals.chunks_of(self, self.run_, SHARDS)

    def start_it(self, job, options=(), overrides=None):
        self.run_ = self.start(job, options=["--metrics", *options], overrides=overrides,
                               environment={"BALLAST_WORKER_ACCOUNT": str(self.account_file)})
        self.keeper = journals.Keeper(self, self.run_, [self.kept(shard) for shard in range(SHARDS)])
        self.run_.wait_for_step(2)

    def make_disks(self):
        """Of each shard; by default one for each, with nothing but its database."""
        disks = []
        (self.folder / "run").mkdir()
        for shard in range(SHARDS):
            disks.append(small_disks.SmallDisk(self, self.folder / f"disk-{shard}", MEGABYTES))
            (disks[-1].folder / "database").mkdir()
            (self.folder / "run" / f"shard-{shard}").symlink_to(disks[-1].folder / "database")
        return disks

    def kept(self, shard):
        """Where the segments of its journal are kept, on their disk."""
        return self.disks[shard].folder / f"kept-{shard}"

    # ---- what is seen

    def account(self):
        return journals.Account(self.account_file, SLOTS)

    def promised(self, shard):
        return {promise for promise in self.account().promised if promise[1] in self.owned[shard]}

    def metric(self, shard, name):
        try:
            return sum(metrics.values(metrics.of(self.run_, "server", shard), name))
        except OSError:
            return None  # it does not serve yet

    def count_in_log(self, shard, text):
        return (self.run_.folder / "logs" / f"shard-{shard}.log").read_text().count(text)

    def texts_in_log(self, shard, text):
        """What follows `text`, wherever it was said."""
        lines = (self.run_.folder / "logs" / f"shard-{shard}.log").read_text().splitlines()
        return [line.split(text, 1)[1] for line in lines if text in line]

    def wait_for_log(self, shard, text, times=1):
        self.run_.wait_until(f"{times} times in the log of shard {shard}: {text}",
                             lambda: self.count_in_log(shard, text) >= times)

    def wait_for_trouble(self, shard):
        def told():
            trouble = (self.run_.status() or {}).get("trouble", "")
            return FULL in trouble and f"shard {shard}: " in trouble
        self.run_.wait_until(f"word of the full disk of shard {shard}", told)

    def expect_nothing_promised(self, shards):
        before = {shard: self.promised(shard) for shard in shards}
        time.sleep(STILL)
        for shard in shards:
            self.assertEqual(self.promised(shard) - before[shard], set(), f"promised by shard {shard} on a full disk")

    def expect_whole(self, resumed=0):
        """The job ends well, with all items exactly once, in its first timeline."""
        summary = self.run_.finish()
        self.keeper.end()
        self.keeper.take()
        self.assertEqual((summary["timeline"], summary["rollbacks"], summary["resumed_shards"]), (1, 0, resumed), summary)
        journals.expect_all(self, self.run_, self.keeper, summary, self.account(), self.owned, STEPS * SLOTS)

    # ---- what is done

    def kill(self, shards):
        """While no new life begins; what the dead had promised is there."""
        with journals.no_restarts(self.run_):
            for shard in shards:
                self.assertTrue(journals.kill(self.run_, shard), f"shard {shard} was not alive")
            self.keeper.take()
            account = self.account()
            for shard in shards:
                found = journals.records(self, self.run_, SHARDS, shard, self.keeper.folders[shard])
                self.assertGreater(journals.expect_kept(self, account, found, self.owned[shard]), 0)



class JournalFullDisk(FullDiskCase):
    def check_training_stands_still(self, shard):
        run, disk = self.run_, self.disks[shard]
        disk.fill()
        self.wait_for_trouble(shard)
        self.expect_nothing_promised([shard])
        self.assertEqual(run.status()["phase"], "training")
        self.assertEqual(self.metric(0, "ballast_lead_trouble"), 1)
        self.assertGreater(self.metric(shard, "ballast_shard_journal_failures_total"), 0)
        self.assertGreater(self.metric(shard, "ballast_shard_journal_backlog_bytes"), 0)
        # One write may still meet the disk itself before the room that is kept back is missed: another text, said once, too.
        told = self.texts_in_log(shard, "the journal cannot be written, no update is applied meanwhile")
        self.assertIn(len(told), (1, 2), told)
        self.assertEqual(len(set(told)), len(told), told)
        disk.make_room()
        self.wait_for_log(shard, "the journal can be written again")
        run.wait_until("the trouble to be over", lambda: not run.status()["trouble"])
        self.expect_whole()

    def test_training_stands_still_and_goes_on(self):
        self.check_training_stands_still(1)

    def test_training_stands_still_and_goes_on_where_the_lead_is(self):
        self.check_training_stands_still(0)

    def check_death_on_a_full_disk(self, shards):
        run = self.run_
        for shard in shards:
            self.disks[shard].fill()
        for shard in shards:
            run.wait_until("a full journal", lambda shard=shard: self.metric(shard, "ballast_shard_journal_failures_total"))
        self.kill(shards)
        for shard in shards:
            self.wait_for_log(shard, "waits for room on the disk: ")
            run.wait_until("a metric that says so", lambda shard=shard: self.metric(shard, "ballast_shard_waits_for_room"))
        self.expect_nothing_promised(shards)
        for shard in shards:
            self.assertEqual(self.count_in_log(shard, "waits for room on the disk: "), 1)
            self.disks[shard].make_room()
        for shard in shards:
            self.wait_for_log(shard, "there is room on the disk again: goes on")
            self.wait_for_log(shard, "goes on with timeline 1")
            self.assertEqual(self.metric(shard, "ballast_shard_waits_for_room"), 0)
        self.expect_whole(resumed=len(shards))

    def test_a_shard_that_dies_on_a_full_disk_comes_back_when_there_is_room(self):
        self.check_death_on_a_full_disk([1])

    def test_the_leads_shard_dies_on_a_full_disk(self):
        self.check_death_on_a_full_disk([0])

    def test_all_shards_die_on_full_disks(self):
        self.check_death_on_a_full_disk([0, 1])

    def test_a_life_that_finds_no_room_in_the_journal_waits_for_it(self):
        """The database opens, and only then the disk is full: the lead stands still meanwhile, so that no life is confirmed."""
        run, disk = self.run_, self.disks[1]
        lives = self.count_in_log(1, "lane 0 listens on")
        journals.stand_still(run, 0)
        self.kill([1])
        self.wait_for_log(1, "lane 0 listens on", lives + 1)
        disk.fill()
        journals.go_on(run, 0)
        self.wait_for_trouble(1)
        self.expect_nothing_promised([1])
        self.assertEqual(self.metric(1, "ballast_shard_waits_for_room"), 1)
        self.assertEqual(self.metric(0, "ballast_lead_trouble"), 1)
        self.assertEqual(self.count_in_log(1, "waits for room on the disk: "), 1)
        disk.make_room()
        self.wait_for_log(1, "there is room on the disk again: goes on")
        run.wait_until("the trouble to be over", lambda: not run.status()["trouble"])
        self.expect_whole(resumed=1)


class LedgerOnAFullDisk(FullDiskCase):
    """The journal of shard 0 has a disk of its own: training goes on until the ledger has something to say."""

    EVERY_STEPS = 1  # snapshots, each of which fails; the ledger counts them

    def setUp(self):
        super().setUp()
        self.run_.kill_all()
        self.keeper.end()
        self.keeper.take()
        elsewhere = small_disks.SmallDisk(self, self.folder / "disk-journal", MEGABYTES).folder
        journal = self.disks[0].folder / "database" / "journal"
        for folder, there in ((journal, elsewhere / "journal"), (self.kept(0), elsewhere / "kept")):
            shutil.copytree(folder, there)
            shutil.rmtree(folder)
        journal.symlink_to(elsewhere / "journal")
        self.kept = {0: elsewhere / "kept", 1: self.kept(1)}.get
        self.start_it(None)
        self.run_.wait_until("the shards to go on", lambda: (self.run_.status() or {}).get("resumed_shards") == SHARDS)

    def test_nothing_is_said_that_rests_on_what_it_cannot_write(self):
        """Shard 1 comes back meanwhile, and may not serve before the ledger lists its new life."""
        run, disk = self.run_, self.disks[0]
        lives = self.count_in_log(1, "goes on with timeline 1")
        disk.fill()
        self.wait_for_log(0, "ledger: waits for room on the disk: ")
        self.kill([1])
        self.wait_for_trouble(0)
        self.expect_nothing_promised([1])
        self.assertEqual(self.metric(0, "ballast_shard_waits_for_room"), 1)
        self.assertEqual(self.metric(0, "ballast_lead_trouble"), 1)
        self.assertEqual(self.count_in_log(1, "goes on with timeline 1"), lives)
        disk.make_room()
        self.wait_for_log(0, "ledger: there is room on the disk again: goes on")
        self.wait_for_log(1, "goes on with timeline 1", lives + 1)
        self.expect_whole(resumed=SHARDS + 1)


class RunOnOneDisk(FullDiskCase):
    """The run's folder as a whole is on the full disk: logs, sockets, and what `ballast run` writes."""

    def make_disks(self):
        return [small_disks.SmallDisk(self, self.folder / "run", SHARDS * MEGABYTES)] * SHARDS

    def test_servers_that_die_on_it_are_started_again_and_go_on(self):
        run, disk = self.run_, self.disks[0]
        disk.fill()
        run.wait_until("word of the full disk", lambda: FULL in (run.status() or {}).get("trouble", ""))
        self.kill([1])
        run.wait_until("word of what cannot be written", lambda: "processes.json: No space left on device" in run.out.read_text())
        self.kill([0])
        self.expect_nothing_promised([0, 1])
        disk.make_room()
        run.wait_until("the job to go on", lambda: (run.status() or {}).get("resumed_shards") == SHARDS)
        run.wait_until("the list to be mended", lambda: "processes.json is up to date again" in run.out.read_text())
        self.expect_whole(resumed=SHARDS)


if __name__ == "__main__":
    harness.main()
