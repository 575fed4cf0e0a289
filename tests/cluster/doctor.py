"""`ballast doctor` names why a job stands still: planted stalls, each told at first. A full disk and a lost way need root, the second
iproute2 besides."""

import json
import os
import pathlib
import resource
import signal
import sys
import time

import descriptors
import harness
import hosts
import jobs
import small_disks

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "stragglers"))

import cluster  # pylint: disable=wrong-import-position

TWO = ["--workers", "2", "--shards", "2"]


class Doctor(harness.ClusterCase):
    def ask(self, where=None):
        self.answer = harness.ballast("doctor", where or self.run_.folder, "--seconds", "1", "--json")
        self.assertTrue(self.answer.stdout, self.answer.stderr)
        return json.loads(self.answer.stdout)

    def expect_named(self, words, asks=None, since=None):
        """Soon, and before all else. `since`: when it began."""
        began = since or time.monotonic()
        self.told = None
        self.ask_again = asks or self.ask

        def named():
            self.told = self.ask_again()
            return not self.told["goes_on"] and self.told["found"] and words in self.told["found"][0]["what"]
        try:
            self.wait_for(words, named)
        except AssertionError:
            self.fail(f"{words}: {self.told}")
        print(f"'{words}' named after {time.monotonic() - began:.1f} s", file=sys.stderr)

    def expect_chain(self, *waits):
        """Told of the stall that was named last: each (who, whom) begins so, in this order, one after the other."""
        def told():
            chains = [[(one["who"], one["whom"]) for one in chain["waits"]] for chain in self.told["chains"]]
            fits = [all(have[0].startswith(want[0]) and have[1].startswith(want[1]) for have, want in zip(chain, waits))
                    and len(chain) == len(waits) for chain in chains]
            if not any(fits):
                self.told = self.ask_again()
            return any(fits)
        try:
            self.wait_for(f"the chain {waits}", told)
        except AssertionError:
            self.fail(f"{waits}: {self.told}")
        self.assertFalse([chain for chain in self.told["chains"] if chain["deadlock"]], self.told)

    def expect_end(self, words):
        """Likewise; of some chain."""
        def told():
            ends = [chain["waits"][-1]["whom"] for chain in self.told["chains"]]
            if not (found := any(words in end for end in ends)):
                self.told = self.ask_again()
            return found
        try:
            self.wait_for(f"a chain that ends with {words}", told)
        except AssertionError:
            self.fail(f"{words}: {self.told}")
        self.assertFalse([chain for chain in self.told["chains"] if chain["deadlock"]], self.told)

    def begin(self, steps=100000, **arguments):
        self.run_ = self.start(self.job(jobs.emulated(steps=steps, slots=4, compute_ms=10)), **arguments)
        self.run_.wait_for_step(3)
        return self.run_

    def stop(self, role, index):
        pid = self.run_.entry(role, index)["pid"]
        os.kill(pid, signal.SIGSTOP)
        return pid

    def test_a_job_that_goes_on(self):
        self.begin(options=TWO)
        # On a busy machine somebody may be silent for a moment.
        told = self.wait_for("nothing to be said", lambda: (one := self.ask())["goes_on"] and not one["found"] and one)
        self.assertEqual(self.answer.returncode, 0)
        self.assertEqual([(one["name"], one["lead"]) for one in told["processes"]],
                         [("server 0", True), ("server 1", False), ("worker 0", False), ("worker 1", False)])
        text = harness.ballast("doctor", self.run_.folder, "--seconds", "0.5").stdout
        self.assertRegex(text, r"^job emulated: training, step \d+ of \d+, goes on: \d+ steps? in \d")

    def test_processes_that_are_stopped(self):
        self.begin(options=TWO)
        pid = self.stop("server", 1)
        self.expect_named(f"server 1 (process {pid}) is stopped")
        self.assertEqual(self.answer.returncode, 1)
        self.expect_chain(("lead", "shard 1 lane "), ("shard 1 lane ", f"a signal that lets server 1 (process {pid})"))
        os.kill(pid, signal.SIGCONT)
        pid = self.stop("server", 0)
        self.expect_named(f"server 0, the lead's (process {pid}) is stopped")
        self.expect_chain(("ballast doctor", "lead"), ("lead", f"a signal that lets server 0 (process {pid})"))
        os.kill(pid, signal.SIGCONT)
        pids = [self.stop("worker", worker) for worker in range(2)]
        self.expect_named(f"worker 0 (process {pids[0]}) is stopped")
        # The lead waits for them until it has given them up.
        self.expect_end(f"a signal that lets worker 0 (process {pids[0]})")
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
        self.wait_for("steps", lambda: self.ask()["goes_on"])

    def test_a_pause(self):
        self.begin(options=TWO)
        self.assertEqual(self.run_.control("pause").returncode, 0)
        self.expect_named("its user has paused it")
        self.assertEqual(self.told["found"][0]["remedy"], f"ballast resume {self.run_.folder}")
        self.expect_chain(("lead", "its user"))

    def test_a_full_disk(self):
        disk = small_disks.SmallDisk(self, self.folder / "disk-1", 96)
        (disk.folder / "database").mkdir()
        (self.folder / "run").mkdir()
        (self.folder / "run" / "shard-1").symlink_to(disk.folder / "database")
        text = jobs.in_small_chunks(jobs.emulated(100000, 8, 20, "full", f"mode: async\n  {jobs.MOMENTUM}", 100000))
        self.run_ = self.start(self.job(text), options=TWO,
                               overrides={"durability.mode": "journal", "durability.fsync": "always"})
        self.run_.wait_for_step(2)
        disk.fill()
        self.expect_named("a disk is full")
        self.expect_chain(("shard 1", "room on its disk"))
        disk.make_room()
        self.wait_for("steps", lambda: self.ask()["goes_on"])

    def test_descriptors_that_are_used_up(self):
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        if before[1] < descriptors.ENOUGH + descriptors.USUAL:
            self.skipTest(f"at most {before[1]} files may be open here")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(before[0], descriptors.ENOUGH), before[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, before)
        self.begin(options=["--workers", "2"], overrides={"cluster.transport": "tcp"},
                   files=(descriptors.USUAL, descriptors.USUAL))
        strangers = descriptors.Strangers(self.run_.lead())
        self.addCleanup(strangers.leave)
        self.run_.wait_until("no room", lambda: "no file descriptor" in (self.run_.folder / "logs" / "shard-0.log").read_text())
        since = time.monotonic()
        for worker in range(2):
            self.run_.kill("worker", worker)  # their next lives cannot connect
        pid = self.run_.entry("server", 0)["pid"]
        self.expect_named(f"server 0, the lead's (process {pid}) has used up its file descriptors", since=since)
        self.expect_end(f"file descriptors for server 0 (process {pid})")

    def test_a_way_that_is_lost_in_one_direction(self):
        if (reason := hosts.unfit()) is not None:
            self.skipTest(reason)
        link = 125e6
        self.cluster = cluster.Cluster(self.folder, cluster.job_text(4, 1, 0.05, 8e6, ""), [link], {}, watcher=0, chunks=9)
        self.addCleanup(self.cluster.end)
        self.cluster.start()
        self.cluster.wait_until_all_train()

        def ask():
            words = ("doctor", self.cluster.lead(), "--seconds", "1", "--json")
            self.answer = self.cluster.hosts.call("servers", harness.BALLAST, *words, check=False)
            return json.loads(self.answer.stdout)
        self.wait_for("steps", lambda: ask()["goes_on"])
        # What the worker sends arrives; nothing comes back to it.
        self.cluster.hosts.call("servers", "ip", "route", "add", "blackhole", f"{self.cluster.hosts.address['w0']}/32")
        self.expect_named("nobody acknowledges what", ask)
        self.expect_end(" to acknowledge what ballast-")


if __name__ == "__main__":
    harness.main()
