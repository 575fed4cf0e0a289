"""A shard's disk fills up, or loses what it held: the job goes on where it can, and says what to do where it cannot.

The small disk is a file system in memory, mounted where the shard's database is to be; that needs root.
"""

import time

import harness
import jobs
import journals
import small_disks

STEPS = 80


class DiskFaults(harness.ClusterCase):
    def start_it(self, steps=STEPS, disk_of=None, overrides=None, options=()):
        """A run of two shards whose snapshots come often; the database of shard `disk_of` on a small disk."""
        self.job_file = self.job(jobs.emulated(steps=steps, compute_ms=20))
        disk = small_disks.SmallDisk(self, self.folder / "run" / f"shard-{disk_of}", 64) if disk_of is not None else None
        settings = {"durability.every_steps": 10} | (overrides or {})
        return self.start(self.job_file, options=["--workers", "2", "--shards", "2", *options], overrides=settings), disk

    def snapshot(self, run):
        status = run.status()
        return status["snapshot"] if status else 0

    def resume(self, run, code=0):
        answer = harness.ballast("run", "--resume", run.folder, cwd=self.folder)
        self.assertEqual(answer.returncode, code, answer.stdout + answer.stderr + run.logs())
        return answer.stdout + answer.stderr

    def expect_reference(self, folder):
        self.expect_equal_bits(self.digest_of(folder), self.reference(self.job_file, jobs.AT_ONCE))

    def check_full_disk(self, shard):
        run, disk = self.start_it(disk_of=shard)
        run.wait_until("a snapshot", lambda: self.snapshot(run) >= 10)
        disk.fill()
        before = self.snapshot(run)
        trouble = run.wait_until("word of the full disk", lambda: (run.status() or {}).get("trouble"))
        self.assertIn("the disk is full: make room on it", trouble)
        self.assertIn(str(disk.folder), trouble)
        step = run.status()["step"]
        run.wait_until("training to go on", lambda: run.status()["step"] >= step + 5)
        disk.make_room()
        run.wait_until("a new snapshot", lambda: self.snapshot(run) > before + 10)
        run.wait_until("the trouble to be over", lambda: not run.status()["trouble"])
        run.finish()
        self.expect_reference(run.folder)

    def test_full_during_training_and_room_again(self):
        self.check_full_disk(1)

    def test_full_at_the_end_fails_the_job_and_room_lets_it_be_resumed(self):
        run, disk = self.start_it(steps=40, disk_of=1)
        run.wait_until("a snapshot", lambda: self.snapshot(run) >= 10)
        disk.fill()
        self.assertEqual(run.wait(), 1, run.logs())
        self.assertIn("the disk is full: make room on it", run.errors() + run.logs())
        disk.make_room()
        self.resume(run)
        self.expect_reference(run.folder)

    def test_an_end_that_finds_no_room_is_told_and_a_resume_writes_it(self):
        """Shard 1 dies before it has the job's end, and its next life finds a full disk."""
        run, disk = self.start_it(steps=40, disk_of=1, options=["--server-fault", "1:before-finished"])
        run.wait_for_step(20)
        with journals.no_restarts(run):
            pid = run.entry("server", 1)["pid"]
            while harness.is_alive(pid):
                time.sleep(0.01)
            disk.fill()
        self.assertEqual(run.wait(), 1, run.logs())
        self.assertIn("did not leave in 20 s", run.errors())
        self.assertIn("the disk is full: make room on it", run.errors())
        self.assertIn("its end is missing in the databases of shard 1;", run.errors())
        self.assertIn("ballast run --resume ", run.errors())
        disk.make_room()
        self.assertIn("has finished, at step 40: what lacks its end gets it", self.resume(run))
        self.expect_reference(run.folder)
        self.assertIn("there is nothing to resume", self.resume(run, code=1))

    def damage(self, database, suffix):
        """Flips a bit amid the largest file of the kind."""
        victim = max(database.glob("*" + suffix), key=lambda file: file.stat().st_size)
        content = bytearray(victim.read_bytes())
        content[len(content) // 2] ^= 4
        victim.write_bytes(content)

    def check_damage(self, shard, suffix):
        run, _ = self.start_it(overrides={"durability.copy_to": self.folder / "copies"})
        run.wait_until("a snapshot", lambda: self.snapshot(run) >= 20)
        run.wait_until("a copy", lambda: any(len(list(copy.glob("shard-*-of-2"))) == 2
                                             for copy in (self.folder / "copies").glob("*/run-*/t*")))
        run.end()
        database = run.folder / f"shard-{shard}"
        self.damage(database, suffix)
        text = self.resume(run, code=1)
        logs = text + run.logs()
        self.assertIn(str(database), logs)
        self.assertIn("ballast restore", logs)
        back = self.folder / f"back-{shard}"
        self.ballast("restore", self.folder / "copies", "--run-dir", back)
        run.folder = back
        self.resume(run)
        self.expect_reference(back)

    def test_a_flipped_bit_in_the_log_is_told_and_a_copy_helps(self):
        self.check_damage(1, ".log")

    def test_a_flipped_bit_in_the_leads_log_is_told_and_a_copy_helps(self):
        self.check_damage(0, ".log")


if __name__ == "__main__":
    harness.main()
