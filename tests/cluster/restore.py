"""A run's folder is lost; a copy of its snapshots brings it back, and the job ends with the same bits."""

import re
import shutil
import threading

import copies
import harness
import jobs
from copies import STEPS, Pace


class Restore(copies.CopiesCase):
    def go_on(self, folder):
        """Resumes the run in the folder to its end, and holds its weights against the reference's."""
        self.ballast("run", "--resume", folder)
        digest = self.digest_of(folder)
        self.assertEqual(digest["step"], STEPS)
        self.expect_equal_bits(digest, self.reference(self.job_file, jobs.AT_ONCE))

    def test_of_a_folder(self):
        self.lose_the_run(self.start_two_shards())
        back = self.folder / "back"
        newest = max(self.listed())
        self.assertLess(newest, STEPS)
        self.assertIn(f"restored step {newest} ", self.restore(back))
        self.assertIn("0 problems", self.ballast("inspect", back, "--verify").stdout)
        self.go_on(back)
        self.assertIn("holds the databases of a run already", self.restore(back, code=1))

    def test_of_an_s3_storage(self):
        self.start_storage()
        self.lose_the_run(self.start_two_shards())
        back = self.folder / "back"
        self.restore(back)
        self.go_on(back)

    def test_uploads_that_take_longer_than_the_time_between_two_snapshots(self):
        """With 1.7 times that time on the average, each shard another, and one that is killed in mid-copy."""
        steps, every = 300, 20
        self.job_file = self.job(jobs.emulated(steps=steps, slots=4, compute_ms=5))
        pace = Pace(self, every)
        self.start_storage("--pace", pace.file)
        run = self.start(self.job_file, options=["--workers", "2", "--shards", "4"],
                         overrides=self.durability | {"durability.every_steps": every, "durability.keep": 2})
        pace.follow(run)
        run.wait_until("a complete copy", self.listed)
        run.wait_until("the next one on its way", lambda: ((run.status() or {}).get("copies") or {}).get("copying"))
        run.kill("server", 2)
        first = max(self.listed())
        run.wait_until("two newer copies", lambda: len([step for step in self.listed() if step > first]) >= 2)
        status = run.status()
        self.assertEqual(status["trouble"], "")
        self.assertEqual(status["copies"]["copied"] % every, 0)
        run.end()
        pace.end()
        shutil.rmtree(run.folder / "shard-1")
        sets = self.sets()
        self.assertLessEqual(len(sets["incomplete"]), 1, sets)  # the one that was being copied
        self.assertLessEqual(len(sets["complete"]), 3, sets)    # two are kept; an older one is removed thereafter
        back = self.folder / "back"
        self.assertIn(f"restored step {max(sets['complete'])} ", self.restore(back))
        self.ballast("run", "--resume", back)
        digest = self.digest_of(back)
        self.assertEqual(digest["step"], steps)
        self.expect_equal_bits(digest, self.reference(self.job_file, jobs.AT_ONCE, patience=3 * harness.PATIENCE))
        # The run that went on is one of its own, and has copied its last snapshot; the other's sets are untouched.
        self.assertEqual(len(set(self.runs())), 2)
        self.assertEqual(self.sets()["complete"].count(steps), 1)

    def test_a_stop_waits_for_the_copy_of_its_snapshot(self):
        pace = Pace(self, 10)
        self.start_storage("--pace", pace.file)
        run = self.start_two_shards()
        run.wait_for_step(5)
        stop = threading.Thread(target=run.control, args=["stop"])
        stop.start()
        run.wait_until("the copy is waited for", lambda: ((run.status() or {}).get("copies") or {}).get("awaited"))
        self.assertEqual(self.listed(), [])
        pace.end()
        stop.join()
        run.wait()
        text = run.out.read_text()
        self.assertRegex(text, r"copying the snapshot of step \d+: \d of 2 shards have")
        step = int(re.search(r"newest complete copy: step (\d+)", text).group(1))
        self.assertIn(f"stopped at step {step} ", text)
        self.assertEqual(self.listed()[-1], step)  # on a busy machine a due one was being copied before

    def test_of_an_older_copy_where_the_newest_is_damaged(self):
        self.start_two_shards().finish()
        older, newest_step = self.listed()  # as many as are kept; which the older one is depends on the copies' pace
        self.assertEqual(newest_step, STEPS)
        newest = max(self.copies.rglob("shard-1-of-2"))
        content = bytearray(newest.read_bytes())
        content[len(content) // 2] ^= 1
        newest.write_bytes(content)
        back = self.folder / "back"
        text = self.restore(back)
        self.assertIn(f"restored step {older} ", text)
        self.assertIn(str(newest), text)
        self.assertIn("the record is damaged", text)
        self.go_on(back)

    def test_of_a_run_and_a_copy_of_its_folder(self):
        """Both go on from one ledger, one after the other, to weights of their own: each has copies of its own."""
        self.job_file = self.job(jobs.emulated(steps=STEPS, compute_ms=20, training="mode: async\n  " + jobs.MOMENTUM))
        run = self.start_two_shards()
        run.wait_until("a copy", self.listed)
        run.control("stop")
        run.wait()
        copied = self.folder / "copied"
        shutil.copytree(run.folder, copied, ignore=shutil.ignore_patterns("*.sock"))
        for folder in (run.folder, copied):
            self.ballast("run", "--resume", folder)
        self.assertIn("another job goes on under this run's name", (copied / "logs" / "shard-0.log").read_text())
        newest = [row[3] for row in self.rows() if row[0] == str(STEPS)]
        self.assertEqual(len(set(newest)), 2, newest)
        digests = [self.digest_of(folder) for folder in (run.folder, copied)]
        found = []
        for name in newest:
            back = self.folder / f"of-{name}"
            self.ballast("restore", *self.place, "--run", name, "--run-dir", back)
            found.append(self.digest_of(back, "--step", str(STEPS)))
        self.assertCountEqual([digest["weights_sha256"] for digest in found],
                              [digest["weights_sha256"] for digest in digests])

    def test_shards_that_copy_to_places_of_their_own(self):
        """No copy counts, the trouble names the shard, and what to do."""
        text = jobs.emulated(steps=100_000, compute_ms=20).replace("shards: 1", "shards: 2")
        lead_file = self.folder / "lead.address"
        lead = "tcp://127.0.0.1:*"
        for shard in range(2):
            job = self.job(text.replace("every_steps: 200", f"every_steps: 10, copy_to: {self.folder / f'disk-{shard}'}"),
                           f"{shard}.yaml")
            self.start_by_hand(f"server-{shard}", harness.SERVER, "--job", job, "--shard", shard, "--lead", lead,
                               *(["--address-file", lead_file] if shard == 0 else []), "--database",
                               self.folder / f"shard-{shard}")
            if shard == 0:
                self.wait_for("the lead", lead_file.exists)
                lead = lead_file.read_text().strip()
        self.start_by_hand("worker", harness.WORKER, "--lead", lead)

        def trouble():
            status = harness.status_of(lead)
            if status and status["copies"]:
                self.assertFalse(status["copies"]["copied"])
            return status["trouble"] if status else ""
        self.wait_for("the trouble with shard 1's place", lambda: "durability.copy_to must be one place" in trouble())
        self.assertIn(f"{self.folder / 'disk-1'}", trouble())
        self.place = [str(self.folder / "disk-0")]
        self.assertEqual(self.listed(), [])

    def test_a_place_that_fails_does_not_stop_the_job(self):
        self.copies.write_text("a file where the folder should be")
        run = self.start_two_shards()
        summary = run.finish()
        self.expect_equal_bits(summary, self.reference(self.job_file, jobs.AT_ONCE))
        self.assertIsNone(summary["copied_step"])
        log = (run.folder / "logs" / "shard-0.log").read_text()
        self.assertIn("was not copied (it is tried again)", log)
        self.assertIn(str(self.copies), log)
        text = run.out.read_text()
        self.assertIn(f"trouble: the newest snapshot, of step {STEPS}, was not copied by shard ", text)
        self.assertIn("; there is no complete copy yet", text)


if __name__ == "__main__":
    harness.main()
