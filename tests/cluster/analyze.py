"""Who is slower than his peers, and by how much, is said of planted causes: workers on hosts of their own, emulated by network
namespaces, with timed compute. Needs root and iproute2. Exit code 77: it cannot be tried here."""

import collections
import json
import os
import pathlib
import subprocess
import sys

import harness
import hosts

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "stragglers"))

import cluster  # pylint: disable=wrong-import-position

LINK = 125e6       # bytes a second, of a worker
SIZE = 8e6         # bytes of the model
CHUNKS = 8 + 1     # a megabyte each, and the statistics'
SLOT = 0.04        # seconds
SLOTS = 12
ITEM = 0.1         # seconds, of a slot of a job in items
SIZE_OF_ITEMS = 1e6
LOOKS = int(os.environ.get("BALLAST_ANALYZE_LOOKS", 2))
STEPS = 20         # of a look
LEARNING = 25      # before the first: the lead has learnt by then how fast each is


class Analyze(harness.ClusterCase):
    def begin(self, links, delays, balance="", learning=LEARNING, mode="sync"):
        self.verdicts, self.alarms, self.advice = [], [], []
        self.versions_of_step = 1 if mode == "sync" else SLOTS
        # Each item sends the whole model: it is smaller, that nobody waits for this machine's processors.
        slot, size = (SLOT, SIZE) if mode == "sync" else (ITEM, SIZE_OF_ITEMS)
        text = cluster.job_text(SLOTS, len(links), slot, size, balance, f"  mode: {mode}\n")
        self.cluster = cluster.Cluster(self.folder, text, links, delays, watcher=0, chunks=CHUNKS)
        self.addCleanup(self.cluster.end)
        self.cluster.start()
        self.cluster.wait_until_all_train()
        self.train(learning)

    def train(self, steps):
        until = self.cluster.steps() + steps * self.versions_of_step
        self.cluster.wait_for(f"{steps} steps", lambda: self.cluster.steps() >= until)

    def on_servers(self, *words):
        answer = self.cluster.hosts.call("servers", harness.BALLAST, *words)
        return answer.stdout

    def look(self, steps):
        """What is slow, the worst first: who, what, how many times."""
        self.train(steps)
        told = self.on_servers("analyze", self.cluster.lead(), "--json", "--steps", steps)
        lines = [json.loads(line) for line in told.splitlines()]
        found = [line for line in lines if "resource" in line]
        self.assertGreater(len(found), 3 * len(self.cluster.links))
        self.verdicts.append([line for line in lines if "slowdown" in line or ("cause" in line and not line["over"])])
        self.alarms.append([(line["who"], line["cause"]) for line in lines if line.get("alarm")])
        self.advice.append(next(line for line in lines if "advice" in line))
        return [(one["who"], one["resource"], one["severity"]) for one in found if one["slow"]]

    def looks(self, steps=STEPS):
        return [self.look(steps) for _ in range(LOOKS)]

    def costly(self):
        """What is said to cost the job something, and how often."""
        return collections.Counter((cause["who"], cause["cause"]) for _, *causes in self.verdicts for cause in causes
                                   if max(cause["gain"], cause["cost"]) > 1.05)

    def expect_named(self, looks, slow, cause):
        """Each time, before all others; and hardly anybody else is said to cost something."""
        for look in looks:
            self.assertEqual({(who, what) for who, what, _ in look[:len(slow)]}, slow, looks)
        innocent = sum(count for what, count in self.costly().items() if what != cause)
        self.assertLessEqual(innocent, 1, self.verdicts)

    def expect_replayed(self, *steps):
        """A replay takes about as long as the job did, where a window is whole: one that a change cuts short says less."""
        def whole():
            return [job for job, *_ in self.verdicts if job["steps"] in steps]
        for _ in range(LOOKS):
            if not whole():
                self.look(max(steps))
        self.assertTrue(whole(), self.verdicts)
        for job in whole():
            self.assertAlmostEqual(job["replayed_ms"] / job["step_ms"], 1, delta=0.3)

    def follow(self, steps):
        """What is told of each window of so many steps as it is done."""
        words = ("analyze", self.cluster.lead(), "--json", "--follow", "--steps", steps)
        told = self.folder / "followed"
        with told.open("w") as out:
            process = subprocess.Popen(list(map(str, self.cluster.hosts.on("servers", harness.BALLAST, *words))), stdout=out)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        return lambda: [json.loads(line) for line in told.read_text().splitlines(keepends=True) if line.endswith("\n")]

    def test_of_workers_that_are_alike_nobody_is_named(self):
        self.begin([LINK] * 4, {})
        self.looks()
        self.assertLessEqual(sum(map(len, self.alarms)), 1, self.verdicts)
        self.assertLessEqual(sum(self.costly().values()), 1, self.verdicts)
        raw = self.folder / "raw.json"
        self.on_servers("trace", self.cluster.lead(), "--raw", "-o", raw)
        self.assertRegex(harness.ballast("analyze", raw, "--all").stdout,
                         r"job stragglers, steps \d+ to \d+( \(not 20: [a-z ]+\))?\n(?s:.*)as fast as their peers:\n(?s:.*)a step takes \d")

    def test_a_worker_that_computes_half_as_fast(self):
        self.begin([LINK] * 4, {2: int(1000 * SLOT)})
        followed = self.follow(STEPS)
        looks = self.looks()
        self.expect_named(looks, {("worker w2", "compute")}, ("worker w2", "compute"))
        for look in looks:
            self.assertAlmostEqual(look[0][2], 2, delta=0.2)
        for job, *causes in self.verdicts:
            # The lead gives it half as many slots: it costs little, and is named all the same.
            self.assertIn(("worker w2", "compute"), [(cause["who"], cause["cause"]) for cause in causes])
            self.assertLess(job["slowdown"], 1.4)
        self.expect_replayed(STEPS)
        windows = self.wait_for("windows", lambda: len(found := [line for line in followed() if "slowdown" in line]) >= LOOKS
                                and found)
        self.assertEqual({(window["last_step"] + 1) % STEPS for window in windows}, {0}, windows)
        self.assertEqual(len({window["last_step"] for window in windows}), len(windows), windows)

    def test_a_link_of_a_tenth(self):
        # A lead that balances gives it no slots, and there is nothing to be measured but its trials.
        self.begin([LINK, LINK / 10, LINK, LINK], {}, ", divide_by_speed: false, redistribute: false", learning=10)
        looks = self.looks(steps=6)
        self.expect_named(looks, {("worker w1", "link to the servers"), ("worker w1", "link from the servers")},
                          ("worker w1", "link"))
        for _, first, *_ in self.verdicts:
            # All wait for it: a step of 1.4 s, of 0.3 to 0.4 without it.
            self.assertEqual((first["who"], first["cause"]), ("worker w1", "link"))
            self.assertGreater(first["gain"], 1.5)
            self.assertGreater(first["cost"], 1.5)
        self.expect_replayed(6)
        # It lasts for as long as the job: two windows of six steps in each of which it is seen.
        self.assertIn(("worker w1", "link"), self.alarms[-1])
        self.assertEqual((self.advice[-1]["advice"], self.advice[-1]["who"]), ("leave out", ["worker w1"]))
        self.assertGreater(self.advice[-1]["gain"], 1.5)

    def slow_in_items(self, mode):
        """A worker that takes three times as long costs what it does not bring: it is named first, and that is told."""
        self.begin([LINK] * 4, {2: int(2000 * ITEM)}, learning=10, mode=mode)
        looks = self.looks(steps=10)
        for look, (job, first, *_) in zip(looks, self.verdicts, strict=True):
            self.assertIn(("worker w2", "compute"), [(who, what) for who, what, _ in look])
            self.assertEqual(job["items"], SLOTS)
            self.assertEqual((first["who"], first["cause"]), ("worker w2", "compute"), self.verdicts)
            self.assertGreater(max(first["gain"], first["cost"]), 1.03)
        self.expect_replayed(9, 10)  # what is left of items in work may lack to a step
        text = self.on_servers("analyze", self.cluster.lead(), "--steps", 10)
        self.assertRegex(text, rf"a step's {SLOTS} items take \d+\.\d ms \(")

    def test_a_slow_worker_in_async(self):
        self.slow_in_items("async")

    def test_a_slow_worker_in_ssp(self):
        self.slow_in_items("ssp\n  staleness: {bound: 6}")

    def test_a_file_that_is_none_is_refused(self):
        path = self.folder / "none.json"
        path.write_text("{}")
        answer = harness.ballast("analyze", path)
        self.assertEqual(answer.returncode, 2)
        self.assertIn(f"{path}: is no trace", answer.stderr)


if __name__ == "__main__":
    harness.main(hosts.unfit)
