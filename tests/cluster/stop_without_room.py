"""A job is told to stop while a disk is full, so that no snapshot can be taken: it waits for room as long as it was told to,
says why, and ends without; what is durable is named, and gone on with.

The small disk is a file system in memory, mounted where the shard's database is to be; that needs root.
"""

import os
import re
import signal

import harness
import jobs
import small_disks

STEPS = 100
FULL = "the disk is full: make room on it"
# A journal that got a little room once more, of what RocksDB gave back, says that it has hardly any.
FULL_OR_LOW = f"({FULL}|the disk has hardly more free than the .*[Mm]ake room on it)"


class StopWithoutRoom(harness.ClusterCase):
    def start_it(self, mode, disk_of, patience=3):
        training = jobs.MOMENTUM if mode == "sync" else f"mode: {mode}\n  {jobs.MOMENTUM}"
        text = jobs.in_small_chunks(jobs.emulated(STEPS, 8, 20, "full", training, 10))
        disk = small_disks.SmallDisk(self, self.folder / "run" / f"shard-{disk_of}", 96)
        run = self.start(self.job(text), options=["--workers", "2", "--shards", "2"],
                         overrides={"cluster.stop_patience": patience})
        run.wait_for_snapshot(10)
        run.wait_for_step(11)  # so that there is something that it does not hold
        return run, disk

    def fill(self, run, disk):
        disk.fill()
        run.wait_until("word of the full disk", lambda: FULL in (run.status() or {}).get("trouble", ""))

    def expect_end(self, run, code):
        """It has ended without a snapshot of its own, and says from where it goes on."""
        self.assertEqual(run.wait(), code, run.logs())
        run.expect_no_process()
        end = re.search(r"(stopped without a snapshot of its own|ended) at step \d+ of 100: durable is the snapshot of "
                        r"step (\d+) of 100(, and in the journals what came after it)?; go on with: ballast run --resume ",
                        run.out.read_text())
        self.assertTrue(end, run.logs())
        return end

    def expect_resumed(self, disk, end):
        disk.make_room()
        again = self.start(None)
        self.assertEqual(again.finish()["steps"], STEPS)
        self.assertIn(f"goes on from the snapshot of step {end[2]} of 100", again.out.read_text())

    # ---- a first signal

    def check_signal(self, mode, shard):
        run, disk = self.start_it(mode, shard)
        self.fill(run, disk)
        run.process.send_signal(signal.SIGTERM)
        end = self.expect_end(run, 143)
        self.assertIn("for which it may take 3 s (cluster.stop_patience)", run.errors())
        self.assertRegex(run.errors(), "no snapshot can be taken as long as this lasts: .*" + FULL_OR_LOW)
        self.assertRegex(run.out.read_text(), r"no snapshot was taken in the 3 s after the stop \(cluster.stop_patience\); .*"
                         + FULL_OR_LOW)
        self.assertEqual(end[1], "stopped without a snapshot of its own")
        self.assertEqual(bool(end[3]), mode == "async")
        self.expect_resumed(disk, end)

    def test_a_journaled_job_on_a_full_disk(self):
        self.check_signal("async", 1)

    def test_a_journaled_job_on_the_leads_full_disk(self):
        self.check_signal("async", 0)

    def test_a_job_that_trains_on_though_a_disk_is_full(self):
        self.check_signal("sync", 1)

    def test_room_that_comes_in_time(self):
        """The stop has its snapshot, and the job goes on from it to the same bits."""
        run, disk = self.start_it("sync", 1, patience=harness.PATIENCE)
        self.fill(run, disk)
        run.process.send_signal(signal.SIGTERM)
        run.wait_until("a stop that cannot be", lambda: "no snapshot can be taken" in run.errors())
        run.wait_until("a snapshot that failed for it", lambda: (run.status() or {}).get("phase") == "pausing")
        disk.make_room()
        self.assertEqual(run.wait(), 143, run.logs())
        stop = re.search(r"stopped at step (\d+) of 100, with a snapshot of step (\d+); ", run.out.read_text())
        self.assertTrue(stop, run.logs())
        self.assertEqual(stop[1], stop[2])
        summary = self.start(None).finish()
        self.assertEqual(summary["base_step"], int(stop[2]))
        self.expect_equal_bits(summary, self.reference(self.folder / "job.yaml", jobs.AT_ONCE))

    def test_a_pause_that_finds_no_room_does_not_end_the_job(self):
        run, disk = self.start_it("sync", 1)
        self.fill(run, disk)
        said = self.folder / "pause.log"
        pause = self.start_process(harness.BALLAST, "pause", run.folder, out=said)
        run.wait_for_phase("pausing")
        missed = run.status()["snapshots_missed"]
        run.wait_until("a snapshot that fails for it", lambda: run.status()["snapshots_missed"] > missed)
        disk.make_room()
        self.assertEqual(pause.wait(harness.PATIENCE), 0)
        self.assertIn("paused at step", said.read_text())
        self.assertEqual(run.control("resume").returncode, 0)
        self.expect_equal_bits(run.finish(), self.reference(self.folder / "job.yaml", jobs.AT_ONCE))

    # ---- other ways to say it

    def test_ballast_stop(self):
        run, disk = self.start_it("async", 1)
        self.fill(run, disk)
        answer = run.control("stop")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertRegex(answer.stdout, r"stopped at step \d+ of 100: no snapshot was taken in the 3 s after the stop "
                         r"\(cluster.stop_patience\); .*" + FULL_OR_LOW + r".*; its newest complete snapshot is of step \d+; ")
        self.expect_resumed(disk, self.expect_end(run, 3))

    def test_a_second_signal(self):
        run, disk = self.start_it("async", 1, patience=3600)
        self.fill(run, disk)
        run.process.send_signal(signal.SIGINT)
        run.wait_until("the first one's notice", lambda: "once more to kill" in run.errors())
        run.process.send_signal(signal.SIGINT)
        end = self.expect_end(run, 130)
        self.assertEqual(end[1], "ended")
        self.expect_resumed(disk, end)

    def test_a_lead_that_is_not_there(self):
        """Shard 0 dies, and its next life finds no room to begin: nobody hears of the stop."""
        run, disk = self.start_it("async", 0, patience=1)
        self.fill(run, disk)
        run.kill("server", 0)
        log = run.folder / "logs" / "shard-0.log"
        run.wait_until("a life that waits for room", lambda: "waits for room on the disk" in log.read_text())
        run.process.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(), 143, run.logs())
        run.expect_no_process()
        self.assertIn("the lead has not stopped the job in that time: all processes are stopped", run.out.read_text())
        self.assertIn("durable is the snapshot of step", run.out.read_text())

    def test_a_server_by_hand(self):
        """It leaves at once, for others may bring it back elsewhere; a second signal would end it without cleaning up."""
        folder = self.folder / "by-hand"
        disk = small_disks.SmallDisk(self, folder / "shard-0", 96)
        text = jobs.in_small_chunks(jobs.emulated(STEPS, 8, 20, "full", f"mode: async\n  {jobs.MOMENTUM}", 10))
        lead = f"ipc://{folder}/lead"
        log = self.folder / "server.log"
        server = self.start_process(harness.SERVER, "--job", self.job(text), "--shard", "0", "--lead", lead, "--bind",
                                    f"ipc://{folder}/lanes", "--database", folder / "shard-0", "--log-file", log)
        worker, words = self.start_by_hand("worker", harness.WORKER, "--lead", lead, "--name", "w")
        self.wait_for("training", lambda: "training at step" in harness.text_of(log))
        disk.fill()
        self.wait_for("word of the full disk", lambda: FULL in log.read_text())
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(harness.PATIENCE), 0)
        self.assertIn("stopped by SIGTERM: started again with the same command line it goes on from all that its journal "
                      "holds", log.read_text())
        os.kill(worker.pid, signal.SIGTERM)
        self.assertEqual(worker.wait(harness.PATIENCE), 0)
        self.assertIn("stopped by SIGTERM: not all that it had begun has arrived, and that is computed again", words())


if __name__ == "__main__":
    harness.main()
