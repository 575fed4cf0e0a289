"""The processes of a job that is started by hand come in any order, with more time between them than the job waits for one
that is gone (cluster.patience): whoever comes first waits for the others."""

import itertools
import pathlib
import subprocess
import sys
import time

import harness
import jobs

PATIENCE = 8  # cluster.patience
APART = PATIENCE + 1
WATCH = "watch"
PARTS = ("server-0", "server-1", "worker")


class Started:
    """One job, of which a part is started after the other."""

    def __init__(self, case, order):
        self.case, self.order = case, order
        self.folder = case.folder / "-".join(order)
        self.folder.mkdir()
        text = jobs.emulated(steps=20, compute_ms=2).replace(
            "{shards: 1, workers: 1}", f"{{shards: 2, workers: 1, patience: {PATIENCE}}}")
        self.job = self.folder / "job.yaml"
        self.job.write_text(text)
        self.lead = f"tcp://127.0.0.1:{harness.free_port()}"
        self.processes = {}

    def command(self, part):
        if part == WATCH:
            return [harness.BALLAST, "watch", self.lead]
        if part == "worker":
            return [harness.WORKER, "--lead", self.lead, "--name", "one"]
        shard = part[-1]
        return [harness.SERVER, "--job", self.job, "--shard", shard, "--lead", self.lead, "--database",
                self.folder / f"shard-{shard}"]

    def start(self, part):
        self.processes[part] = self.case.start_process(*self.command(part), out=self.folder / f"{part}.log")

    def expect_waiting(self):
        for part, process in self.processes.items():
            self.case.assertIsNone(process.poll(), f"{part} of {self.order}\n{self.logs()}")

    def expect_the_end(self):
        for part, process in self.processes.items():
            try:
                code = process.wait(harness.PATIENCE)
            except subprocess.TimeoutExpired:
                code = "none"
            self.case.assertEqual(code, 0, f"{part} of {self.order}\n{self.logs()}")
        self.case.assertIn("job emulated finished: 20 steps", (self.folder / "watch.log").read_text())

    def logs(self):
        return harness.ends_of(sorted(self.folder.glob("*.log")), self.folder)


class Orders(harness.ClusterCase):
    def test_each_order(self):
        """The command line is always the first. All orders at once, for they mostly wait."""
        started = [Started(self, order) for order in itertools.permutations(PARTS)]
        for one in started:
            one.start(WATCH)
        for place, _ in enumerate(PARTS):
            for one in started:
                one.start(one.order[place])
            if place + 1 < len(PARTS):
                time.sleep(APART)
                for one in started:
                    one.expect_waiting()
        for one in started:
            one.expect_the_end()

    def test_a_port_is_held_from_other_tests(self):
        """A lead that comes late finds nobody else at its address, and nobody else's servers find it."""
        script = f"import harness; harness.BELOW_WHAT_THE_SYSTEM_GIVES = [{harness.free_port()}]; harness.free_port()"
        other = harness.call(sys.executable, "-c", script, cwd=pathlib.Path(harness.__file__).parent)
        self.assertIn("1 ports of loopback are wanted, and 0 are free", other.stderr)

    def test_who_waits_says_so(self):
        """Nobody is in the dark about what is missing."""
        one = Started(self, ("server-0", "worker", "server-1"))
        one.start("worker")
        self.wait_for("the worker's word", lambda: f"no lead has answered at {one.lead}" in one.logs())
        one.start("server-0")
        self.wait_for("the lead's word", lambda: "waits for: shard 1" in harness.ballast("status", one.lead).stdout)
        one.start("server-1")
        for part, process in one.processes.items():
            self.assertEqual(process.wait(harness.PATIENCE), 0, f"{part}\n{one.logs()}")


if __name__ == "__main__":
    harness.main()
