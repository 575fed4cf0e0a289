"""`ballast reshard`: a job goes on with another number of shards to the bits that it would have had; a kill at any call
that changes files leaves the run as it was or as it was to become; so does a disk that fills up."""

import hashlib
import json
import os
import re
import shutil
import signal
import unittest

import harness
import jobs

STRUCK_CALLS = harness.BUILD / "tests" / "cluster" / "struck_calls" / "libstruck-calls.so"
SANITIZED = any(name in harness.BALLAST.read_bytes() for name in (b"__asan_init", b"__tsan_init"))
STEPS = 60
KILLS = int(os.environ.get("BALLAST_RESHARD_KILLS", "12"))  # while databases are built; all calls after that are struck
NOBODY = 65534

AVERAGED = ("optimizer: {name: adam, learning_rate: 0.002, weight_decay: 0.0005}\n"
            "  weight_average: {decay: 0.9}")
VALIDATED = """
job: validated
model: {name: mlp, hidden: [48, 40]}
data: {name: glyphs, train_examples: 300, validation_examples: 60, test_examples: 60}
training:
  slots: 8
  batch: 48
  max_steps: 1500
  keep_best: true
  seed: 3
  optimizer: {name: sgd, learning_rate: 0.05, momentum: 0.9}
  weight_average: {decay: 0.5}
durability: {every_steps: 5, keep: 2}
cluster: {shards: 1, workers: 2}
"""


def content_of(folder):
    """Every file of a folder, by a digest: the locks' times do not count."""
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in sorted(folder.rglob("*")) if file.is_file()}


def weights_in(file):
    """A safetensors file: what it says of its weights, and they themselves. The job file in it tells of shards."""
    content = file.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    del header["__metadata__"]["job_file"]
    return header, hashlib.sha256(content[end:]).hexdigest()


class Reshard(harness.ClusterCase):
    def reshard(self, folder, shards, *options, code=0, **how):
        answer = harness.ballast("reshard", folder, "--shards", str(shards), *options, cwd=self.folder,
                                 timeout=self.patience, **how)
        self.assertEqual(answer.returncode, code, answer.stdout + answer.stderr)
        return answer.stdout + answer.stderr

    def snapshots(self, folder):
        """What the ledger calls complete and the databases hold: each step's digests."""
        state = json.loads(self.ballast("inspect", folder, "--json").stdout)
        steps = [snapshot["step"] for snapshot in state["snapshots"] if snapshot["complete"] and snapshot["bytes"] > 0]
        self.assertEqual(state["problems"], [])
        return {step: self.digest_of(folder, "--step", str(step)) for step in steps}

    def shards(self, folder):
        return [entry.name for entry in folder.iterdir() if entry.name.startswith("shard-")]

    def expect_shards(self, folder, shards):
        self.assertCountEqual(self.shards(folder), [f"shard-{index}" for index in range(shards)])
        self.assertEqual([entry.name for entry in folder.iterdir() if entry.name.startswith("reshard")], [])
        self.assertIn(f"shards: {shards}\n", (folder / "job.yaml").read_text())

    def stop(self, run, step):
        run.wait_for_step(step)
        run.control("stop")
        self.assertEqual(run.wait(), 3, run.logs())

    def stopped(self, job, step, **how):
        run = self.start(job, **how)
        self.stop(run, step)
        return run.folder

    def test_one_to_three_to_two_shards_in_mid_job(self):
        for name, training in {"momentum": jobs.MOMENTUM, "averaged adam": AVERAGED}.items():
            with self.subTest(name):
                folder = f"run of {name}"
                job = self.job(jobs.emulated(steps=STEPS, training=training, compute_ms=20, every_steps=5), f"{name}.yaml")
                run = self.start(job, name=folder, options=["--workers", "2"])
                for step, shards in ((8, 3), (25, 2)):
                    self.stop(run, step)
                    before = self.snapshots(run.folder)
                    losses = self.ballast("losses", run.folder).stdout
                    said = self.reshard(run.folder, shards)
                    self.assertIn(before[max(before)]["weights_sha256"], said)
                    self.expect_shards(run.folder, shards)
                    self.assertEqual(self.snapshots(run.folder), before)
                    self.assertEqual(self.ballast("losses", run.folder).stdout, losses)
                    self.assertIn("0 problems", self.ballast("inspect", run.folder, "--verify").stdout)
                    self.assertIn("there is nothing to do", self.reshard(run.folder, shards))
                    run = self.start(None, name=folder, options=["--workers", "2"])
                summary = run.finish()
                self.assertEqual(summary["shards"], 2)
                self.expect_equal_bits(summary, self.reference(job, jobs.AT_ONCE))
                # Of the finished run as well.
                end = self.digest_of(run.folder)
                self.assertIn("the job has finished", self.reshard(run.folder, 4))
                self.assertEqual(self.digest_of(run.folder), end)
                self.assertIn("finished, at step", self.ballast("status", run.folder).stdout)
                self.assertIn("there is nothing to resume",
                              self.ballast("run", "--resume", run.folder, code=1).stderr)

    def test_what_is_told_of_a_run_stays(self):
        """Evaluations, the best snapshot and averages; more shards than there are chunks."""
        folder = self.stopped(self.job(VALIDATED), 40)

        def told():
            export = self.folder / "weights.safetensors"
            self.ballast("export", folder, "--best", "-o", export)
            return {"snapshots": self.snapshots(folder), "export": weights_in(export),
                    "best": self.ballast("evaluate", folder, "--best", "--json").stdout,
                    "last": self.ballast("evaluate", folder, "--last-weights", "--json").stdout,
                    "runs": [line.split()[1:] for line in self.ballast("runs", self.folder).stdout.splitlines()
                             if "/run " in line and "unfinished" in line][0][:3],
                    "evaluations": json.loads(self.ballast("inspect", folder, "--json").stdout)["evaluations"]}
        before = told()
        self.assertGreater(len(before["snapshots"]), 1)
        for shards in (9, 2):
            self.reshard(folder, shards)
            self.expect_shards(folder, shards)
            self.assertEqual(told(), before)
        self.expect_equal_bits(self.start(None).finish(), self.reference(self.folder / "job.yaml"))

    def test_initial_weights_of_a_file(self):
        """They are in the databases, and the file is not needed again. The reference begins from no file."""
        job = self.job(jobs.emulated(steps=3, job="first"), "first.yaml")
        first = self.start(job, name="first")
        first.finish()
        weights = self.folder / "first.safetensors"
        self.ballast("export", first.folder, "-o", weights)
        job = self.job(jobs.emulated(steps=STEPS, training=f"init_from: {weights}\n  {jobs.MOMENTUM}", every_steps=50))
        never_changed = self.start(job, name="never-changed").finish()
        folder = self.stopped(job, 5, overrides={"durability.keep": 5})
        before = self.snapshots(folder)
        weights.unlink()
        self.reshard(folder, 3)
        self.assertEqual(self.snapshots(folder), before)
        self.expect_equal_bits(self.start(None).finish(), never_changed)

    def test_a_new_run_beside_the_old_one(self):
        job = self.job(jobs.emulated(steps=STEPS, every_steps=5))
        copies = self.folder / "copies"
        folder = self.stopped(job, 8, options=["--shards", "2"], overrides={"durability.copy_to": copies})
        before = content_of(folder)
        snapshots = self.snapshots(folder)
        new = self.folder / "new"
        self.reshard(folder, 3, "-o", new)
        self.assertEqual(content_of(folder), before)
        self.assertFalse((self.folder / "new.resharding").exists())
        self.expect_shards(new, 3)
        self.assertEqual(self.snapshots(new), snapshots)
        for command in (("status", new), ("scale", new, "--workers", "2")):
            said = self.ballast(*command, code=1).stderr
            self.assertIn(f"the run in {new} has not been started; ", said)
            self.assertIn(f"`ballast run --resume {new}", said)
        self.assertIn("there is something already", self.reshard(folder, 3, "-o", new, code=1))
        self.assertIn("is inside the run's own folder", self.reshard(folder, 3, "-o", folder / "new", code=1))
        reference = self.reference(job, jobs.AT_ONCE)
        for name in ("new", "run"):  # both go on, and copy under names of their own
            self.expect_equal_bits(self.start(None, name=name).finish(), reference)
        rows = [line.split() for line in self.ballast("restore", "--list", copies).stdout.splitlines()[2:]]
        ends = {(row[2], row[3]) for row in rows if int(row[0]) == STEPS}
        self.assertEqual({shards for shards, _ in ends}, {"2", "3"})
        self.assertEqual(len({run for _, run in ends}), 2, rows)

    def test_copies_of_before_and_after(self):
        """A copy of the old shards can be restored until newer ones take its place, and the run goes on copying."""
        job = self.job(jobs.emulated(steps=STEPS, every_steps=5))
        copies = self.folder / "copies"
        folder = self.stopped(job, 8, options=["--shards", "2"], overrides={"durability.copy_to": copies})
        snapshots = self.snapshots(folder)
        self.reshard(folder, 1)
        back = self.folder / "back"
        self.ballast("restore", copies, "--run-dir", back)
        self.expect_shards(back, 2)
        self.assertEqual(self.digest_of(back, "--step", str(max(snapshots))), snapshots[max(snapshots)])
        reference = self.reference(job, jobs.AT_ONCE)
        summary = self.start(None).finish()
        self.expect_equal_bits(summary, reference)
        self.assertEqual(summary["copied_step"], STEPS)
        rows = [line.split() for line in self.ballast("restore", "--list", copies).stdout.splitlines()[2:]]
        self.assertEqual(len({row[3] for row in rows}), 1, rows)  # one run, under the name that it had
        again = self.folder / "again"
        self.ballast("restore", copies, "--run-dir", again)
        self.expect_shards(again, 1)
        self.expect_equal_bits(self.digest_of(again, "--step", str(STEPS)), reference)

    def test_a_journaled_job(self):
        text = jobs.emulated(steps=STEPS, training="mode: async\n  " + jobs.MOMENTUM, compute_ms=20, every_steps=20)
        run = self.start(self.job(text), options=["--workers", "2"], overrides={"durability.mode": "journal"})
        run.wait_for_step(26)
        run.kill_all()
        before = self.snapshots(run.folder)
        content = content_of(run.folder)
        # What only the journals have is durable, and is not dropped unasked.
        said = self.reshard(run.folder, 3, code=1)
        self.assertRegex(said, r"its journals have updates of steps 20 to \d+, which are not in the newest complete "
                               r"snapshot and would be lost; .*ballast run --resume .*ballast stop .*--drop-updates")
        del content["lock"]
        self.assertEqual({name: digest for name, digest in content_of(run.folder).items() if name != "lock"}, content)
        copy = self.folder / "copy"
        shutil.copytree(run.folder, copy, ignore=shutil.ignore_patterns("sockets"))
        self.assertIn(": they are dropped", self.reshard(copy, 3, "--drop-updates"))
        self.assertEqual(self.snapshots(copy), before)
        self.assertIn("the new run does not have them", self.reshard(run.folder, 2, "-o", self.folder / "new"))
        self.assertEqual(self.snapshots(self.folder / "new"), before)
        # Stopped, a run has a snapshot of all of it.
        self.stop(self.start(None), 30)
        before = self.snapshots(run.folder)
        self.assertNotIn("journals", self.reshard(run.folder, 3))
        self.expect_shards(run.folder, 3)
        self.assertEqual(self.snapshots(run.folder), before)
        for name in ("run", "copy", "new"):
            summary = self.start(None, name=name).finish()
            self.assertEqual(summary["steps"], STEPS)
            self.assertEqual(summary["shards"], 2 if name == "new" else 3)
        self.assertIn("0 problems", self.ballast("inspect", run.folder, "--verify").stdout)

    # ---- what strikes it

    def struck(self, strike, *words):
        if SANITIZED:
            self.skipTest("a sanitizer's library must be loaded before all others")
        return harness.ballast("reshard", *words, cwd=self.folder, timeout=self.patience,
                               env={**os.environ, "LD_PRELOAD": str(STRUCK_CALLS), "BALLAST_STRIKE": strike})

    def calls_of(self, *words):
        """The calls of a reshard that is let be, in order."""
        log = self.folder / "calls"
        log.unlink(missing_ok=True)
        answer = self.struck(f"count:{log}", *words)
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        return log.read_text().splitlines()

    def points(self, calls, decisive):
        """Which calls to strike: a few while databases are built, and all from shortly before the decisive one on."""
        first = next(index for index, call in enumerate(calls) if re.match(r"rename\w* .*" + decisive, call)) - 4
        self.assertIn("syncfs", calls[first + 3])  # all of it is durable before anything rests on it
        self.assertIn("fsync", calls[first + 5])
        return first + 4, sorted({*range(0, first, max(1, first // KILLS)), *range(first, len(calls))})

    def small_run(self):
        """A stopped run of two snapshots, to be copied again and again; and their digests."""
        folder = self.stopped(self.job(jobs.emulated(steps=STEPS, every_steps=3)), 6, name="original")
        shutil.rmtree(folder / "logs")  # less to copy
        (folder / "logs").mkdir()
        return folder, self.snapshots(folder)

    def copied(self, original):
        folder = self.folder / "run"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(original, folder)
        return folder

    def test_kills_in_place(self):
        original, snapshots = self.small_run()
        newest = max(snapshots)
        calls = self.calls_of(self.copied(original), "--shards", "2")
        decided, points = self.points(calls, r"reshard\.out")
        self.assertGreater(len(calls) - decided, 12)
        for point in points:
            with self.subTest(point=point, call=calls[point]):
                folder = self.copied(original)
                answer = self.struck(f"kill:{point}", folder, "--shards", "2")
                if answer.returncode == 0 and point >= len(calls) - 8:
                    continue  # databases make a call more or less
                self.assertEqual(answer.returncode, -signal.SIGKILL, answer.stdout + answer.stderr)
                # Whatever looks first finds a run of before or of after, with all that it had.
                self.assertEqual(self.digest_of(folder, "--step", str(newest)), snapshots[newest])
                shards = len(self.shards(folder))
                if point < decided - 4 or point > decided + 4:  # in another process' order a few calls may change places
                    self.assertEqual(shards, 1 if point < decided else 2)
                self.assertIn(f"shards: {shards}\n", (folder / "job.yaml").read_text())
                self.reshard(folder, 3 - shards if point % 2 else shards)
                self.expect_shards(folder, 3 - shards if point % 2 else shards)
                self.assertEqual(self.digest_of(folder, "--step", str(newest)), snapshots[newest])
        self.assertEqual(self.snapshots(folder), snapshots)
        self.expect_equal_bits(self.start(None).finish(), self.reference(self.folder / "job.yaml", jobs.AT_ONCE))

    def test_kills_beside(self):
        original, snapshots = self.small_run()
        before = content_of(original)
        new = self.folder / "run"
        words = (original, "--shards", "2", "-o", new)
        calls = self.calls_of(*words)
        decided, points = self.points(calls, str(new) + "$")
        for point in points:
            with self.subTest(point=point, call=calls[point]):
                shutil.rmtree(new, ignore_errors=True)
                answer = self.struck(f"kill:{point}", *words)
                if answer.returncode == 0 and point >= len(calls) - 8:
                    continue  # databases make a call more or less
                self.assertEqual(answer.returncode, -signal.SIGKILL, answer.stdout + answer.stderr)
                self.assertEqual(content_of(original), before)
                self.assertNotIn("resharding", self.ballast("runs", self.folder).stdout)
                if not new.exists():
                    self.reshard(*words[:1], 2, "-o", new)
                    self.assertFalse((self.folder / "run.resharding").exists())
                self.expect_shards(new, 2)
                self.assertEqual(self.digest_of(new, "--step", str(max(snapshots))), snapshots[max(snapshots)])
        self.expect_equal_bits(self.start(None).finish(), self.reference(self.folder / "job.yaml", jobs.AT_ONCE))

    def test_a_disk_that_fills_up(self):
        original, snapshots = self.small_run()
        calls = self.calls_of(self.copied(original), "--shards", "2")
        decided, _ = self.points(calls, r"reshard\.out")
        for point in range(2, decided - 4, max(1, decided // 8)):
            with self.subTest(point=point, call=calls[point]):
                folder = self.copied(original)
                answer = self.struck(f"full:{point}", folder, "--shards", "2")
                self.assertEqual(answer.returncode, 1, answer.stdout + answer.stderr)
                self.assertRegex(answer.stderr, "No space left on device|disk is full")
                self.expect_shards(folder, 1)
                self.assertEqual(self.snapshots(folder), snapshots)
        self.reshard(folder, 2)
        self.assertEqual(self.snapshots(folder), snapshots)

    # ---- what is refused

    def test_refusals(self):
        job = self.job(jobs.emulated(steps=5000, every_steps=5))
        run = self.start(job, options=["--shards", "2"])
        run.wait_for_snapshot(5)
        said = self.reshard(run.folder, 3, code=1)
        self.assertIn("another run uses the folder", said)
        self.assertIn("ballast stop", said)
        self.assertIn("another run uses the folder", self.reshard(run.folder, 3, "-o", self.folder / "new", code=1))
        run.control("stop")
        run.wait()
        folder = run.folder
        for count in (0, 65, -1, "abc", 1.5):
            said = self.reshard(folder, count, code=2)
            self.assertIn("--shards", said)
            self.assertIn(f"'{count}' is no number of shards; allowed: whole numbers from 1 to 64", said)
        self.assertIn(f"there is no run in {self.folder / 'none'}: it has no job.yaml",
                      self.reshard(self.folder / "none", 3, code=1))
        content = content_of(folder)
        del content["lock"]

        def refused(*said, undo):
            text = self.reshard(folder, 3, code=1)
            for part in said:
                self.assertIn(part, text)
            undo()
            self.assertEqual({name: digest for name, digest in content_of(folder).items() if name != "lock"}, content)

        away = self.folder / "away"
        (folder / "shard-1").rename(away)
        refused("shard-1 is gone", "ballast restore", undo=lambda: away.rename(folder / "shard-1"))
        shutil.copytree(folder / "shard-1", folder / "shard-2")
        refused("shard-2 is none of the databases of this run", undo=lambda: shutil.rmtree(folder / "shard-2"))
        (folder / "shard-1").rename(away)
        (folder / "shard-1").symlink_to(away)
        refused("shard-1 is a link", "use -o NEW",
                undo=lambda: ((folder / "shard-1").unlink(), away.rename(folder / "shard-1")))
        text = (folder / "job.yaml").read_text()
        (folder / "job.yaml").write_text(text.replace("seed: 5", "seed: 6"))
        refused("is of another job than the folder's job.yaml", "training.seed",
                undo=lambda: (folder / "job.yaml").write_text(text))
        server, log = self.start_by_hand("by hand", harness.SERVER, "--job", folder / "job.yaml", "--shard", "1", "--database",
                                       folder / "shard-1", "--lead", "tcp://127.0.0.1:1", "--bind",
                                       f"ipc://{self.folder}/by-hand")
        self.wait_for("the server's database", lambda: re.search("database [0-9a-f]{16}, life", log()))
        self.assertIn("a server has the database open", self.reshard(folder, 3, code=1))
        server.kill()
        server.wait()
        self.assertIn("cannot be resumed with 3; workers and lanes may change. To change it, first: ballast reshard",
                      self.ballast("run", "--resume", folder, "--shards", "3", code=1).stderr)
        self.reshard(folder, 3)
        self.assertIn("has no complete snapshot yet", self.reshard(self.killed_at_once(), 3, code=1))

    def killed_at_once(self):
        run = self.start(self.job(jobs.emulated(steps=5000, compute_ms=100), "slow.yaml"), name="slow")
        run.wait_for_phase("training")
        run.kill_all()
        return run.folder

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to run as somebody else")
    def test_a_folder_that_may_not_be_written(self):
        folder = self.stopped(self.job(jobs.emulated(steps=STEPS, every_steps=5)), 8)
        before = content_of(folder)
        self.folder.chmod(0o755)
        place = self.folder / "place"
        place.mkdir(mode=0o777)
        place.chmod(0o777)
        as_nobody = {"preexec_fn": lambda: os.setuid(NOBODY)}
        self.assertIn("may not be written; use -o NEW", self.reshard(folder, 3, code=1, **as_nobody))
        self.reshard(folder, 3, "-o", place / "new", **as_nobody)
        self.assertEqual(content_of(folder), before)
        self.assertEqual(self.snapshots(place / "new"), self.snapshots(folder))
        self.assertIn("cannot be made", self.reshard(folder, 3, "-o", self.folder / "not here", code=1, **as_nobody))
        # One that was killed before its last step is brought to its end by whoever may do that.
        (folder / "reshard.in").mkdir()
        answer = harness.ballast("inspect", folder, **as_nobody)
        self.assertEqual(answer.returncode, 1)
        self.assertIn("a `ballast reshard` was cut short here", answer.stderr)
        self.assertEqual(self.snapshots(folder), self.snapshots(place / "new"))
        self.assertFalse((folder / "reshard.in").exists())


if __name__ == "__main__":
    harness.main()
