"""The alerts of dashboards/ with their faults planted: each fires, names who it is, and is over when the fault is; and a
healthy run has none.

The rules' durations are a thirtieth of what they are, but for the healthy run's. Needs Debian's package prometheus; disks need
root. Not planted here: a throttled GPU, for want of one, and a job that fails: its lead leaves a tenth of a second later,
and no scrape sees it (docs/dashboards.md).
"""

import os
import pathlib
import signal
import socket
import threading
import time
import unittest

import descriptors
import floods
import guard
import harness
import jobs
import monitoring
import power_disks
import small_disks

import alerts  # of dashboards/, by monitoring

PACE = 30.0
MINUTES = float(os.environ.get("BALLAST_HEALTHY_MINUTES", "1"))  # of the healthy run, at the rules' own pace
STRAGGLER = "worker-2"
# Faults that come with others: the lead, or a peer, tells of them as well.
BESIDES = {"BallastTrouble", "BallastJobWaits", "BallastTargetDown", "BallastWorkerHeldUp", "BallastWorkerSlow", "BallastWorkersLost",
           "BallastStraggler", "BallastMessagesRefused"}
NOT_PLANTED = {"BallastGpuThrottled", "BallastJobFailed"}
PLANTED = set()  # alerts that have fired by now


class AlertCase(harness.ClusterCase):
    patience = 2 * harness.PATIENCE

    def begin(self, text, *options, pace=PACE, processes=5, environment=None, overrides=None, files=None, tell=True):
        """A run `m` with a Prometheus beside it, which trains."""
        self.monitor = monitoring.Monitor(self, pace)
        counts = [word for word in ("--shards", "2") if "--shards" not in options]
        counts += [word for word in ("--workers", "3") if "--workers" not in options]
        self.run_m = self.start(self.job(text), name="m", options=[*counts, "--metrics", *options], environment=environment,
                                overrides=overrides, files=files)
        if tell:
            self.run_m.wait_for_step(2)
            self.monitor.wait_for_targets("m", processes)
        return self.run_m

    def expect(self, name, besides=(), **labels):
        """That alert, and no other but those that may come with it."""
        found = self.monitor.wait_for_alert(name, self.patience, job="m", **labels)
        PLANTED.add(name)
        self.assertLessEqual(self.monitor.seen(), {name, *besides, *BESIDES})
        return found

    def expect_over(self, *names):
        self.wait_for(f"the end of {names}", lambda: not {one["alertname"] for one in self.monitor.firing()} & set(names))


def steady(compute_ms=20, every_steps=200, training=jobs.MOMENTUM):
    return jobs.emulated(100000, 6, compute_ms, training=training, every_steps=every_steps)


class Workers(AlertCase):
    def test_straggler(self):
        """Its slots stay its own: it is the balance's off-switch that makes a slow worker one that holds up."""
        self.begin(steady(), environment={"BALLAST_DELAY": f"{STRAGGLER}:200,*:1"},
                   overrides={"cluster.divide_by_speed": "false", "cluster.redistribute": "false"})
        self.expect("BallastStraggler", worker=STRAGGLER)

    def test_a_slow_worker_that_nobody_waits_for(self):
        self.begin(steady(), environment={"BALLAST_DELAY": f"{STRAGGLER}:100,*:1"})
        self.expect("BallastWorkerSlow", worker=STRAGGLER)

    def test_hung_worker(self):
        training = f"mode: ssp\n  staleness: {{bound: 2}}\n  {jobs.MOMENTUM}"
        run = self.begin(steady(training=training), "--workers", "2", processes=4)
        hung = self.start_worker(run, "hung", environment={"BALLAST_DELAY": "hung:3600000"})
        self.expect("BallastWorkerHangs", worker="hung")
        hung.kill()
        self.expect_over("BallastWorkerHangs")

    def test_a_worker_that_is_not_counted_on(self):
        self.begin(steady(), environment={"BALLAST_DELAY": f"{STRAGGLER}:3600000"})
        self.expect("BallastWorkerHeldUp", ("BallastWorkerHangs",), worker=STRAGGLER)

    def test_lost_again_and_again(self):
        run = self.begin(steady())
        for lost in range(1, 7):
            self.lose(run, lost % 3, lost)  # each twice: short lives in a row would end the run
        self.expect("BallastWorkersLost")

    def lose(self, run, worker, lost):
        """Kills a worker, and waits until it was given up, the `lost`th in all, and lives again."""
        self.assertIsNotNone(run.kill("worker", worker))
        self.wait_for("word of it", lambda: (run.status() or {}).get("lost_workers", 0) >= lost)
        self.wait_for("its next life", lambda: harness.is_alive(run.entry("worker", worker)["pid"] or 0))

    def test_refused(self):
        run = self.begin(jobs.glyphs(model="lenet5", steps=100000), environment=guard.SLOW,
                         overrides={"training.exact": "required"})
        self.start_worker(run, "other", environment=guard.OTHER_ARITHMETIC)
        self.expect("BallastWorkersRefused")

    def test_mixed_arithmetic(self):
        run = self.begin(jobs.glyphs(model="lenet5", steps=100000), environment=guard.SLOW)
        self.start_worker(run, "other", environment=guard.OTHER_ARITHMETIC)
        self.expect("BallastMixedArithmetic")


class Processes(AlertCase):
    def test_shard_gone(self):
        """It stands still, so that nobody starts it again: the job waits for it, and stalls."""
        run = self.begin(steady())
        pid = run.entry("server", 1)["pid"]
        os.kill(pid, signal.SIGSTOP)
        try:
            for name, labels in (("BallastShardGone", {"index": "1"}), ("BallastTargetDown", {"instance": "shard-1"}),
                                 ("BallastJobWaits", {}), ("BallastJobStalled", {})):
                self.expect(name, ("BallastShardGone", "BallastJobStalled"), **labels)
        finally:
            os.kill(pid, signal.SIGCONT)
        self.expect_over("BallastShardGone", "BallastTargetDown", "BallastJobWaits", "BallastJobStalled")

    def test_no_file_descriptor_is_left(self):
        run = self.begin(steady(), files=(1024, 1024), overrides={"cluster.transport": "tcp"})
        strangers = descriptors.Strangers(run.lead())
        self.addCleanup(strangers.leave)
        self.expect("BallastConnectionsHeldOff", ("BallastShardGone",), instance="shard-0")

    def test_nonsense(self):
        run = self.begin(steady())
        self.talk_nonsense(run)
        self.expect("BallastMessagesRefused", instance="shard-0")

    def test_somebody_without_a_key(self):
        run = self.begin(steady(), overrides={"cluster.transport": "tcp"})
        self.start_process(harness.WORKER, "--lead", run.lead(), "--name", "without")
        self.expect("BallastHandshakesRefused", instance="shard-0", reason="unencrypted")

    def talk_nonsense(self, run):
        stranger = floods.stranger(run.lead())
        self.addCleanup(stranger.close)
        stranger.sendall(floods.GREETING)
        stranger.recv(64, socket.MSG_WAITALL)
        stranger.sendall(floods.ready())
        stranger.recv(1 << 12)
        stranger.sendall(b"\x00\x05hello" * 100)


class Job(AlertCase):
    def test_steps_left_out(self):
        faults = ",".join(f"nan@{step}:1:first.weight" for step in range(60, 2000, 10))
        self.begin(steady(), environment={"BALLAST_FAULT": faults}, overrides={"training.non_finite": "skip"})
        self.expect("BallastStepsSkipped")

    def test_rollback_storm(self):
        run = self.begin(steady(), overrides={"durability.every_steps": 10})
        for rollbacks in (1, 2, 3):
            run.wait_for_phase("training")
            run.kill("server", 1)
            self.wait_for("a rollback", lambda: (run.status() or {}).get("rollbacks", 0) >= rollbacks)
        self.expect("BallastRollbackStorm", ("BallastShardGone",))

    def test_everything_gone(self):
        run = self.begin(steady())
        time.sleep(10)  # a rate of steps, by which an end is told from this
        self.monitor.keep_targets()
        run.kill_all()
        self.expect("BallastJobGone")


class Storage(AlertCase):
    def journaled(self):
        """No snapshot is ever taken: the journal grows."""
        return self.begin(steady(40, 100000, "mode: async\n  " + jobs.MOMENTUM), overrides={"durability.mode": "journal"})

    def small_disk(self, shard, megabytes=64):
        return small_disks.SmallDisk(self, self.folder / "m" / f"shard-{shard}", megabytes)

    def test_full_disk_of_the_ledger(self):
        disk = self.small_disk(0)
        self.begin(steady(every_steps=10))
        disk.fill()
        self.expect("BallastDiskFull", ("BallastSnapshotsFail", "BallastJobStalled", "BallastSnapshotsMissed"), instance="shard-0")
        self.expect("BallastTrouble", ("BallastDiskFull", "BallastSnapshotsFail", "BallastJobStalled", "BallastSnapshotsMissed"))
        disk.make_room()
        self.expect_over("BallastDiskFull", "BallastTrouble")

    def test_full_disk_of_a_snapshot(self):
        disk = self.small_disk(1)
        self.begin(steady(every_steps=10))
        disk.fill()
        self.expect("BallastSnapshotsFail", ("BallastDiskFull", "BallastSnapshotsMissed"), instance="shard-1")

    def test_full_disk_of_a_journal(self):
        disk = self.small_disk(1)
        self.journaled()
        disk.fill()
        more = ("BallastJournalStuck", "BallastJournalFails", "BallastDiskFull", "BallastDiskFills", "BallastJobStalled")
        self.expect("BallastJournalFails", more, instance="shard-1")
        self.expect("BallastJournalStuck", more, instance="shard-1")
        disk.make_room()
        self.expect_over("BallastJournalStuck")

    def test_a_disk_that_a_journal_fills(self):
        self.small_disk(1)
        self.journaled()
        more = ("BallastJournalStuck", "BallastJournalFails", "BallastDiskFull", "BallastJobStalled")
        self.expect("BallastDiskFills", more, instance="shard-1")
        self.expect("BallastJournalStuck", (*more, "BallastDiskFills"), instance="shard-1")

    def test_hanging_disk(self):
        missing = power_disks.missing()
        if missing:
            self.skipTest(missing)
        disk = power_disks.EXT4(self, self.folder / "disk")
        (disk.folder / "database").mkdir()
        (self.folder / "m").mkdir()
        (self.folder / "m" / "shard-0").symlink_to(disk.folder / "database")
        self.begin(steady(every_steps=1))
        power_disks.command("fsfreeze", "--freeze", disk.folder)
        try:
            self.expect("BallastDiskHangs", ("BallastSnapshotsMissed", "BallastJobStalled"), instance="shard-0")
        finally:
            power_disks.command("fsfreeze", "--unfreeze", disk.folder)
        self.expect_over("BallastDiskHangs")

    def test_missed_snapshots(self):
        self.begin(steady(compute_ms=1, every_steps=1))
        self.expect("BallastSnapshotsMissed")

    def test_copies_that_fail(self):
        place = self.folder / "copies"
        self.begin(steady(every_steps=10), overrides={"durability.copy_to": place})
        self.run_m.wait_until("a copy", lambda: list(pathlib.Path(place).rglob("*")))
        moved = place.rename(self.folder / "moved")
        place.write_text("no folder any more")
        self.expect("BallastCopiesFail", ("BallastCopiesLate",))
        place.unlink()
        moved.rename(place)

    def test_copies_that_are_late(self):
        """The storage takes connections, and never says a word."""
        silent = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.addCleanup(silent.close)
        held = []

        def take():
            try:
                while True:
                    held.append(silent.accept())
            except OSError:
                pass
        threading.Thread(target=take, daemon=True).start()
        keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "no_proxy": "*"}
        self.begin(steady(every_steps=10), environment=keys, overrides={
            "durability.copy_to": "s3://bucket/copies", "durability.s3_endpoint": f"http://127.0.0.1:{silent.getsockname()[1]}"})
        self.expect("BallastCopiesLate", ("BallastCopiesFail",))


class Healthy(AlertCase):
    def test_no_alert_in_a_healthy_run(self):
        self.begin(jobs.emulated(100000, 8, 100, every_steps=100), "--workers", "4", pace=1.0, processes=6,
                         overrides={"durability.copy_to": self.folder / "copies"})
        time.sleep(60 * MINUTES)
        self.assertEqual(self.monitor.seen(), set(), self.monitor.server.alerts())
        self.assertEqual(self.monitor.server.instant('count(up{job="m"} == 1)'), [({}, 6)], "the run must have lived")

    def test_a_paused_job_and_one_that_ends_are_quiet(self):
        run = self.begin(steady(compute_ms=50))
        time.sleep(5)
        self.assertEqual(run.control("pause").returncode, 0)
        run.wait_for_phase("paused")
        before = self.monitor.seen()
        time.sleep(45)  # longer than that for which a job may make no step, and a target may be down
        self.assertEqual(self.monitor.seen(), before, self.monitor.server.alerts())
        self.assertEqual(run.control("stop").returncode, 0)
        run.wait()
        time.sleep(15)
        self.assertEqual(self.monitor.seen(), before, self.monitor.server.alerts())


class ZAll(unittest.TestCase):
    """Last: cases run in the order of their classes' names."""

    def test_every_alert_that_can_be_planted_was(self):
        if os.environ.get("BALLAST_ALERTS_ALL") != "1":
            self.skipTest("some cases were chosen")
        if power_disks.missing():
            self.skipTest(power_disks.missing())
        self.assertEqual({alert.name for alert in alerts.ALERTS} - PLANTED, NOT_PLANTED)


if __name__ == "__main__":
    harness.main(monitoring.unfit)
