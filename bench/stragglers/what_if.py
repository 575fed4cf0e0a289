"""What `ballast analyze` says that a planted cause costs, beside what the same job takes without it, and what it says that leaving
the worker out gains, beside what the job takes without that worker: causes drawn by a seed, on
hosts of their own (network namespaces: root, iproute2). A row for each: docs/measurements/what_if.md."""

import argparse
import json
import pathlib
import random
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import cluster  # pylint: disable=wrong-import-position

LINK = 125e6      # bytes a second, of a worker
SIZE = 8e6        # of the model
CHUNKS = 9        # of a megabyte, and the statistics'
SLOT = 0.1        # seconds
SLOTS_EACH = 4
LEARNING = 25     # steps before anything is looked at
STEPS = 40        # that are timed
LOOK = 20         # the last of them are analyzed
EVEN = ", divide_by_speed: false, redistribute: false"


class Case:
    """A cause at one of the workers. `times`: how slow."""

    def __init__(self, cause, workers, at, times, balanced):
        self.cause = cause
        self.workers = workers
        self.at = at
        self.times = times
        self.balanced = balanced

    @staticmethod
    def drawn(generator):
        cause = generator.choice(["compute", "link"])
        workers = generator.choice([3, 4, 5])
        times = generator.uniform(1.5, 3) if cause == "compute" else generator.uniform(4, 15)
        return Case(cause, workers, generator.randrange(workers), times, generator.random() < 0.5)

    def links(self, planted):
        links = [LINK] * self.workers
        if planted and self.cause == "link":
            links[self.at] /= self.times
        return links

    def delays(self, planted):
        return {self.at: round(1000 * SLOT * (self.times - 1))} if planted and self.cause == "compute" else {}

    def named(self):
        return (f"worker w{self.at}", self.cause)

    def told(self):
        return {"cause": self.cause, "workers": self.workers, "worker": self.at, "times": round(self.times, 2),
                "balanced": self.balanced}


def run(case, planted, raw=None, left_out=False):
    """Seconds a step, and what the analysis says of the last ones."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ballast-what-if-"))
    links, delays = case.links(planted), case.delays(planted)
    if left_out:
        del links[case.at]
        delays = {}
    text = cluster.job_text(SLOTS_EACH * case.workers, len(links), SLOT, SIZE, "" if case.balanced else EVEN)
    job = cluster.Cluster(folder, text, links, delays, watcher=0, chunks=CHUNKS, servers=LINK * case.workers / 2)
    try:
        job.start()
        job.wait_until_all_train()

        def train(steps):
            until = job.steps() + steps
            job.wait_for(f"{steps} steps", lambda: job.steps() >= until)

        train(LEARNING)
        first, begin = job.steps(), time.monotonic()
        train(STEPS)
        seconds = (time.monotonic() - begin) / (job.steps() - first)
        file = raw or folder / "raw.json"
        job.hosts.call("servers", cluster.harness.BALLAST, "trace", job.lead(), "--raw", "--steps", LOOK, "-o", file)
        told = cluster.harness.ballast("analyze", file, "--json").stdout
        lines = list(map(json.loads, told.splitlines()))
        return seconds, lines
    finally:
        job.end()
        shutil.rmtree(folder)


def causes_in(lines):
    return [line for line in lines if "cause" in line and not line["over"]]


def row(case, raw):
    sound, nothing = run(case, False)
    slow, told = run(case, True, raw)
    job, causes = next(line for line in told if "slowdown" in line), causes_in(told)
    advice = next(line for line in told if "advice" in line)
    row = {**case.told(), "ms_without": round(1000 * sound, 1), "ms": round(1000 * slow, 1),
           "slowdown": round(slow / sound, 3), "said": round(job["slowdown"], 3),
           "first": bool(causes) and (causes[0]["who"], causes[0]["cause"]) == case.named(),
           "named_without": [cause["who"] for cause in causes_in(nothing) if max(cause["gain"], cause["cost"]) > 1.03],
           "advice": " ".join([advice["advice"], *advice["who"]]), "advised": round(advice["gain"], 3)}
    if (advice["advice"], advice["who"]) == ("leave out", [f"worker w{case.at}"]):
        followed, _ = run(case, True, left_out=True)
        row["followed"] = round(slow / followed, 3)
        # In points of what the sound job gets done.
        row["off_by_points"] = round(100 * abs(slow / followed - advice["gain"]) * sound / slow, 1)
    return row


def main():
    parser = argparse.ArgumentParser(prog="bench/stragglers/what_if.py", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--raw", metavar="FOLDER", type=pathlib.Path, help="keep the raw traces of the planted runs there")
    wanted = parser.parse_args()
    if (reason := cluster.unfit()) is not None:
        print(f"what_if: {reason}", file=sys.stderr)
        return cluster.harness.CANNOT_BE_TRIED
    if wanted.raw:
        wanted.raw.mkdir(parents=True, exist_ok=True)
    generator = random.Random(wanted.seed)
    for number in range(wanted.draws):
        raw = wanted.raw / f"{wanted.seed}-{number}.json" if wanted.raw else None
        print(json.dumps(row(Case.drawn(generator), raw)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
