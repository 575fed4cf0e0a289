"""What `ballast analyze` says that a planted cause costs, beside what the same job takes without it, and what it says that leaving
the worker out gains, beside what the job takes without that worker: causes drawn by a seed (planted.py), on
hosts of their own (network namespaces: root, iproute2). A row for each: docs/measurements/what_if.md."""

import argparse
import json
import pathlib
import shutil
import signal
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import cluster  # pylint: disable=wrong-import-position
import planted as causes  # pylint: disable=wrong-import-position

SIZE = 8e6        # of the model, bytes
CHUNKS = 18       # of it, with that of the statistics
SLOTS_EACH = 4
LEARNING = 25     # steps before anything is looked at
STEPS = 40        # that are timed
LOOK = 20         # the last of them are analyzed
EVEN = ", divide_by_speed: false, redistribute: false"


class Case:
    """A cause, or what is in its place in a sound job, and how the lead divides."""

    def __init__(self, name, cause, balanced):
        self.name = name
        self.cause = cause
        self.balanced = balanced

    def text(self, workers):
        return cluster.job_text(SLOTS_EACH * self.cause.workers, workers, causes.SLOT, SIZE,
                                "" if self.balanced else EVEN, self.cause.training)

    def told(self):
        return {"cause": self.name, "workers": self.cause.workers, "at": self.cause.at, "size": round(self.cause.size, 3),
                "balanced": self.balanced}


class Meanwhile:
    """What the cause does while steps are timed."""

    def __init__(self, cause, job):
        self._over = threading.Event()
        self._thread = threading.Thread(target=cause.during, args=(job, self._over))

    def __enter__(self):
        self._thread.start()

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()


def make(case, folder, is_planted, left_out):
    cause = case.cause
    links = cause.links() if is_planted else [causes.LINK] * cause.workers
    delays = cause.delays() if is_planted and not left_out else {}
    shards = cause.servers() if is_planted else causes.Cause.servers(cause)
    wired = [cause.at] if cause.wired and not left_out else []
    if left_out:
        del links[cause.at]
    # A worker of whom nothing is wrong sees when steps close.
    watcher = 0 if left_out or cause.at != 0 or isinstance(cause, (causes.Servers, causes.Processor, causes.Lead)) else 1
    return cluster.Cluster(folder, case.text(len(links)), links, delays, watcher=watcher, chunks=CHUNKS,
                           servers=causes.LINK * cause.workers / 2, apart=shards if cause.apart else None, wired=wired,
                           environment=cause.environment() if is_planted and not left_out else {})


def run(case, is_planted, raw=None, left_out=False):
    """Seconds a step, of those that were timed and of those that are analyzed, and what the analysis says."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ballast-what-if-"))
    try:
        job = make(case, folder, is_planted, left_out)
    except BaseException:
        shutil.rmtree(folder)
        raise

    def train(steps):
        first, begin = job.steps(), time.monotonic()
        job.wait_for(f"{steps} steps", lambda: job.steps() >= first + steps)
        return (time.monotonic() - begin) / (job.steps() - first)

    try:
        job.start()
        job.wait_until_all_train()
        sound = causes.Cause if not is_planted or left_out else type(case.cause)
        sound.begin(case.cause, job)
        train(LEARNING)
        before = train(STEPS - LOOK)
        with Meanwhile(case.cause if sound is not causes.Cause else Nothing(), job):
            looked = train(LOOK)
        file = raw or folder / "raw.json"
        job.hosts.call(job.host_of(0), cluster.harness.BALLAST, "trace", job.lead(), "--raw", "--steps", LOOK, "-o", file)
        lines = list(map(json.loads, cluster.harness.ballast("analyze", file, "--json").stdout.splitlines()))
        return (before * (STEPS - LOOK) + looked * LOOK) / STEPS, looked, lines
    finally:
        job.end()
        shutil.rmtree(folder)


class Nothing:
    """In the place of a cause."""

    def during(self, job, over):
        """Nothing happens."""


def causes_in(lines):
    return [line for line in lines if "cause" in line and not line["over"]]


def named(lines):
    """Whom an operator is told of: who costs more than 3 %."""
    return [[line["who"], line["cause"]] for line in causes_in(lines) if max(line["gain"], line["cost"]) > 1.03]


def rounded(number):
    return round(number, 3)


def row(case, raw):
    sound, sound_looked, nothing = run(case, False, raw and raw.with_suffix(".sound.json"))
    slow, slow_looked, told = run(case, True, raw)
    # What passes may be over by the end of the steps that are looked at.
    found = [line for line in told if "cause" in line] if case.cause.passes else causes_in(told)
    is_first = bool(found) and (found[0]["who"], found[0]["cause"]) in case.cause.told()
    of_job = [line for line in told if "slowdown" in line]
    row = {**case.told(), "ms_without": rounded(1000 * sound), "ms": rounded(1000 * slow),
           "slowdown": rounded(slow / sound), "said": rounded(of_job[0]["slowdown"]) if of_job else None,
           "first": is_first, "named": named(told), "named_without": named(nothing)}
    if case.cause.passes:
        row["lost_s"] = rounded((slow_looked - sound_looked) * LOOK)
        row["said_lost_s"] = rounded(sum(line["lost_s"] for line in found if (line["who"], line["cause"]) in case.cause.told()))
    for advice in (line for line in told if "advice" in line):
        row |= {"advice": " ".join([advice["advice"], *advice["who"]]), "advised": rounded(advice["gain"])}
        if (advice["advice"], advice["who"]) == ("leave out", [f"worker w{case.cause.at}"]):
            followed = run(case, True, left_out=True)[0]
            row["followed"] = rounded(slow / followed)
            # In points of what the sound job gets done.
            row["off_by_points"] = round(100 * abs(slow / followed - advice["gain"]) * sound / slow, 1)
    return row


def main():
    parser = argparse.ArgumentParser(prog="bench/stragglers/what_if.py", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--causes", default=",".join(causes.CAUSES), help="of " + ", ".join(causes.CAUSES))
    parser.add_argument("--raw", metavar="FOLDER", type=pathlib.Path, help="keep the raw traces there")
    wanted = parser.parse_args()
    if (reason := cluster.unfit()) is not None:
        print(f"what_if: {reason}", file=sys.stderr)
        return cluster.harness.CANNOT_BE_TRIED
    if wanted.raw:
        wanted.raw.mkdir(parents=True, exist_ok=True)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))  # so that nothing is left
    generator = causes.generator_of(wanted.seed)
    for number in range(wanted.draws):
        raw = wanted.raw / f"{wanted.seed}-{number}.json" if wanted.raw else None
        print(json.dumps(row(Case(*causes.drawn(generator, wanted.causes.split(","))), raw)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
