"""Who is slower than his peers, and by how much, is said of planted causes: workers on hosts of their own, emulated by network
namespaces, with timed compute. Needs root and iproute2. Exit code 77: it cannot be tried here."""

import collections
import json
import os
import pathlib
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
LOOKS = int(os.environ.get("BALLAST_ANALYZE_LOOKS", 2))
STEPS = 20         # of a look


class Analyze(harness.ClusterCase):
    def begin(self, links, delays, balance=""):
        text = cluster.job_text(SLOTS, len(links), SLOT, SIZE, balance)
        self.cluster = cluster.Cluster(self.folder, text, links, delays, watcher=0, chunks=CHUNKS)
        self.addCleanup(self.cluster.end)
        self.cluster.start()
        self.cluster.wait_until_all_train()
        self.train(10)

    def train(self, steps):
        until = self.cluster.steps() + steps
        self.cluster.wait_for(f"{steps} steps", lambda: self.cluster.steps() >= until)

    def on_servers(self, *words):
        answer = self.cluster.hosts.call("servers", harness.BALLAST, *words)
        return answer.stdout

    def look(self, steps):
        """What is slow, the worst first: who, what, how many times."""
        self.train(steps)
        told = self.on_servers("analyze", self.cluster.lead(), "--json", "--steps", steps)
        found = [json.loads(line) for line in told.splitlines()]
        self.assertGreater(len(found), 3 * len(self.cluster.links))
        return [(one["who"], one["resource"], one["severity"]) for one in found if one["slow"]]

    def looks(self, steps=STEPS):
        """Several; and how often each was named."""
        all_looks = [self.look(steps) for _ in range(LOOKS)]
        named = collections.Counter((who, what) for look in all_looks for who, what, _ in look)
        return all_looks, named

    def expect_named(self, looks, named, expected):
        """Each time, before all others; and hardly anybody else."""
        for look in looks:
            self.assertEqual({(who, what) for who, what, _ in look[:len(expected)]}, expected, looks)
        innocent = sum(count for what, count in named.items() if what not in expected)
        self.assertLessEqual(innocent, 1, looks)

    def test_of_workers_that_are_alike_nobody_is_named(self):
        self.begin([LINK] * 4, {})
        looks, named = self.looks()
        self.assertLessEqual(sum(named.values()), 1, looks)
        raw = self.folder / "raw.json"
        self.on_servers("trace", self.cluster.lead(), "--raw", "-o", raw)
        self.assertRegex(harness.ballast("analyze", raw, "--all").stdout,
                         r"job stragglers, steps \d+ to \d+\n(?s:.*)as fast as their peers:\n")

    def test_a_worker_that_computes_half_as_fast(self):
        self.begin([LINK] * 4, {2: int(1000 * SLOT)})
        looks, named = self.looks()
        self.expect_named(looks, named, {("worker w2", "compute")})
        for look in looks:
            self.assertAlmostEqual(look[0][2], 2, delta=0.2)

    def test_a_link_of_a_tenth(self):
        # A lead that balances gives it no slots, and there is nothing to be measured but its trials.
        self.begin([LINK, LINK / 10, LINK, LINK], {}, ", divide_by_speed: false, redistribute: false")
        looks, named = self.looks(steps=6)
        self.expect_named(looks, named, {("worker w1", "link to the servers"), ("worker w1", "link from the servers")})

    def test_a_file_that_is_none_is_refused(self):
        path = self.folder / "none.json"
        path.write_text("{}")
        answer = harness.ballast("analyze", path)
        self.assertEqual(answer.returncode, 2)
        self.assertIn(f"{path}: is no trace", answer.stderr)


if __name__ == "__main__":
    harness.main(hosts.unfit)
