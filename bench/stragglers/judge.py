"""Compares what `ballast analyze` says of the traces that what_if.py keeps with what was planted and what that cost: a table, a row
for each job, and what part of them was named, and near. docs/measurements/what_if.md says what is wanted.

Traces may be packed (packed.py): NAME.early.trace.xz instead of NAME.early.json. `--pack` makes such of those in FOLDER, in the
folder TO, with what was measured."""

import argparse
import dataclasses
import json
import pathlib
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "cluster"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import harness  # pylint: disable=wrong-import-position
import packed  # pylint: disable=wrong-import-position

COUNTS = 1.05       # what costs less is not asked for
LEAST_LOST = 0.3    # seconds, likewise
SETTLED = 30        # steps after the begin of a pause: it is over, and all is as before
MANY = 100          # steps that say what a cause costs in the long run: the last ones of those that were measured
NAMED = 1.03        # what an operator is told of
DIFFERS = 0.1       # two causes whose order is asked for


MEASURED = "groups.jsonl", "sound.jsonl", "followed.jsonl"


def packed_one(file):
    return file.with_suffix(".trace.xz")


def is_kept(file):
    return file.exists() or packed_one(file).exists()


class Said:
    """What an analysis says of a raw trace, which may be packed."""

    def __init__(self, file, *options):
        with tempfile.TemporaryDirectory() as folder:
            if not file.exists():
                trace = packed.unpack(packed_one(file).read_bytes())
                file = pathlib.Path(folder) / file.name
                file.write_text(json.dumps(trace), encoding="utf-8")
            answer = harness.ballast("analyze", file, "--json", *options)
        lines = [json.loads(line) for line in answer.stdout.splitlines()]
        self.slowdown = next((line["slowdown"] for line in lines if "slowdown" in line), None)
        self.findings = [line for line in lines if "cause" in line]
        self.advice = next((line for line in lines if "advice" in line), None)

    def named(self, also_over=False):
        """(who, cause), the first first."""
        return [(line["who"], line["cause"]) for line in self.findings
                if max(line["gain"], line["cost"]) > NAMED and (also_over or not line["over"])]

    def lost(self, cause):
        return sum(line["lost_s"] for line in self.findings if is_of(cause, (line["who"], line["cause"])))


def late_one(file):
    """By what a cause costs in the long run; where no such trace is kept, by its first steps."""
    late = file.with_suffix(".late.json")
    return Said(late, "--steps", str(MANY), "--windows", "1") if is_kept(late) else Said(file.with_suffix(".early.json"))


def is_of(cause, found):
    return list(found) in [list(told) for told in cause["told"]]


def mean(times, first, steps):
    return (times[first + steps] - times[first]) / steps


@dataclasses.dataclass
class Judged:
    """A job with something planted."""

    job: dict
    slowdown: float      # measured: the median of the turns
    spread: float        # the largest of the turns less the smallest
    ms: tuple            # a step's, without and with
    early: Said
    late: Said
    by_early: bool       # what is said is what the first 20 steps with it say
    followed: float | None = None   # how many times as long as without the worker that it is advised to leave out
    traced: float = 1    # as slowdown, of the turn alone of which there are traces
    lost: float | None = None       # seconds, of a cause that passes: of all of a pause, of hiccups by 100 steps
    said_lost: float | None = None

    @property
    def causes(self):
        return self.job["causes"]

    @property
    def counts(self):
        return self.lost >= LEAST_LOST if self.lost is not None else self.slowdown >= COUNTS

    @property
    def said(self):
        return (self.early if self.by_early else self.late).slowdown

    def is_planted(self, found):
        return any(is_of(cause, found) for cause in self.causes)

    def named_early(self):
        return self.early.named(any(cause["passes"] for cause in self.causes))

    def is_first(self):
        return bool(self.named_early()) and self.is_planted(self.named_early()[0])

    def all_named(self):
        """By its first 20 steps, which alone have what passes once, or by 100, in which what costs little is seen."""
        return self._all_named(self.named_early() + self.late.named())

    def all_named_early(self):
        return self._all_named(self.named_early())

    def _all_named(self, named):
        return all(any(is_of(cause, found) for found in named) for cause in self.causes)

    def innocent(self):
        """Not the other shards' journals where one's disk is slow: they cost something as well (`journal`)."""
        has_journals = any(cause["cause"] == "storage" for cause in self.causes)
        return [found for found in dict.fromkeys(self.early.named() + self.late.named())
                if not self.is_planted(found) and not (has_journals and found[1] == "storage")]

    def is_near(self):
        if self.lost is not None:
            return abs(self.said_lost - self.lost) <= max(0.3, 0.15 * self.lost)
        return self._is_near(self.slowdown)

    def is_near_traced(self):
        return self._is_near(self.traced)

    def _is_near(self, slowdown):
        allowed = max(0.03, 0.05 * slowdown) if len(self.causes) == 1 else 0.1 * slowdown
        return self.said is not None and abs(self.said - slowdown) <= allowed

    def advised_off(self):
        """Points of what the sound job gets done, between what the advice gains and what following it did; None: it was not."""
        advice = self.late.advice
        if advice is None or len(self.causes) != 1:
            return None
        planted = [told[0] for told in self.causes[0]["told"]]
        gained = (self.slowdown if advice["advice"] == "mend" and advice["who"] and advice["who"][0] in planted
                  else self.followed if advice["advice"] == "leave out" else None)
        return None if gained is None else 100 * abs(gained - advice["gain"]) / self.slowdown

    def is_reported_only(self):
        """By balancing, a shard's link costs now this and now that."""
        return self.job["balanced"] and any(cause["cause"] == "servers" for cause in self.causes)


def judge(group, job, folder, followed, by_early):
    before, steps = group["before"], group["steps"]
    sound = next(other for other in group["jobs"] if other["name"] == job["sound"])
    with_it = [mean(times, before, steps) for times in job["times"]]
    without = [mean(times, before, steps) for times in sound["times"]]
    turns = [one / other for one, other in zip(with_it, without)]
    judged = Judged(job, statistics.median(turns), max(turns) - min(turns),
                    tuple(1000 * statistics.median(all_) for all_ in (without, with_it)),
                    Said(folder / f"{job['name']}.early.json"),
                    late_one(folder / job["name"]), by_early)
    judged.traced = turns[0]
    if without_worker := followed.get(job["name"]):
        judged.followed = statistics.median(with_it) / statistics.median(mean(times, before, steps) for times in without_worker)
    if len(job["causes"]) == 1 and job["causes"][0]["passes"]:
        cause = job["causes"][0]
        if cause["cause"] == "pause":
            # Beside the same run's later steps.
            judged.lost = statistics.median(times[SETTLED] - SETTLED * mean(times, SETTLED, before + steps - SETTLED)
                                            for times in job["times"])
            judged.said_lost = judged.early.lost(cause)
        else:
            judged.lost = statistics.median(100 * (one - other) for one, other in zip(with_it, without))
            judged.said_lost = 100 / MANY * judged.late.lost(cause)
    return judged


@dataclasses.dataclass
class Figure:
    """Of how many jobs something holds, and of what part it is to hold; None: nothing is asked for."""

    what: str
    wanted: float | None
    outcomes: list
    at_most: bool = False

    @property
    def share(self):
        return sum(self.outcomes) / len(self.outcomes) if self.outcomes else None

    @property
    def is_reached(self):
        if self.wanted is None or self.share is None:
            return True
        return self.share <= self.wanted if self.at_most else self.share >= self.wanted

    def __str__(self):
        wanted = "" if self.wanted is None else f"{'at most ' if self.at_most else ''}{100 * self.wanted:.0f} %"
        part = f" ({100 * self.share:.0f} %)" if self.outcomes else ""
        return f"| {self.what} | {wanted} | {sum(self.outcomes)} of {len(self.outcomes)}{part}{'' if self.is_reached else ' **not reached**'} |"


def of(what, wanted, jobs, holds, at_most=False):
    return Figure(what, wanted, [bool(holds(job)) for job in jobs], at_most)


def table(jobs):
    print("| planted | workers | division | shards | ms without | ms with | x as long | turns differ by | the traced one | said | named first | also named | advice |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for job in jobs:
        planted = ", ".join(f"{cause['cause']} {cause['size']:.3g} ({cause['told'][0][0] if cause['told'] else cause['at']})" for cause in job.causes)
        said = " / ".join("" if one.slowdown is None else f"{one.slowdown:.2f}" for one in (job.early, job.late))
        if job.lost is not None:
            said += f"; {job.said_lost:.2f} s of {job.lost:.2f} s lost"
        first = ", ".join(job.named_early()[0]) if job.named_early() else "nobody"
        advice = " ".join([job.late.advice["advice"], *job.late.advice["who"], f"{job.late.advice['gain']:.2f}"]) if job.late.advice else ""
        print(f"| {planted} | {job.job['workers']} | {'balanced' if job.job['balanced'] else 'even'} "
              f"| {'apart' if job.job['apart'] else 'together'} | {job.ms[0]:.0f} | {job.ms[1]:.0f} | {job.slowdown:.3f} | {job.spread:.3f} | {job.traced:.3f} "
              f"| {said}{'' if job.is_near() else ' **far**'} | {first}{'' if job.is_first() or not job.counts else ' **wrong**'} "
              f"| {'; '.join(', '.join(found) for found in job.innocent())} "
              f"| {advice} |")


def order_is_right(pair, singles):
    """None: both cost nearly as much, or what each costs alone is not known; nor can a pause, which costs seconds and not a part of
    each step, be set beside anything."""
    if any(cause["cause"] == "pause" for cause in pair.causes):
        return None
    alone = [next((single.slowdown for single in singles if single.job["name"].rpartition("-")[0] == pair.job["name"].rpartition("-")[0]
                   and single.causes[0] == cause), None) for cause in pair.causes]
    if None in alone or abs(alone[0] - alone[1]) < DIFFERS:
        return None
    worse = pair.causes[0 if alone[0] > alone[1] else 1]
    named = pair.named_early()
    return bool(named) and is_of(worse, named[0])


def figures(jobs, sound):
    singles = [job for job in jobs if len(job.causes) == 1 and job.counts]
    free = [job for job in jobs if not job.causes[0]["told"]]
    counted = [cause for job in singles for cause in job.causes]  # each costs something alone
    pairs = [job for job in jobs if len(job.causes) == 2 and all(cause in counted for cause in job.causes)]
    measured = [job for job in singles if job.lost is None and not job.is_reported_only()]
    passing = [job for job in singles if job.lost is not None]
    twins = [job for job in jobs if len({cause["cause"] for cause in job.causes}) < len(job.causes)]
    advised = [off for off in map(Judged.advised_off, singles) if off is not None]
    orders = [order for order in (order_is_right(pair, singles) for pair in pairs) if order is not None]
    return [
        of("one cause that costs 5 % or more (0.3 s): named first within 20 steps", 0.95, singles, Judged.is_first),
        of("somebody innocent named besides, early or late", 0.1, singles, Judged.innocent, at_most=True),
        of("slowdown within max(0.03, 5 %)", 0.9, measured, Judged.is_near),
        of("likewise of the traced turn", None, measured, Judged.is_near_traced),
        of("seconds lost within max(0.3 s, 15 %)", 0.9, passing, Judged.is_near),
        of("advice within 10 points", 0.9, advised, lambda off: off <= 10),
        of("two causes: the first is one of them", 0.98, pairs, Judged.is_first),
        of("both named, within 20 steps or in 100", 0.85, pairs, Judged.all_named),
        of("both named within 20 steps", 0.85, pairs, Judged.all_named_early),
        of("somebody innocent named besides two", None, pairs, Judged.innocent),
        of("in order, where they differ by 0.1", 0.95, orders, bool),
        of("within 10 %", 0.8, [pair for pair in pairs if pair.lost is None], Judged.is_near),
        of("two workers that are as slow: both named", 0.95, twins, Judged.all_named_early),
        of("what costs nothing: somebody named", 0.1, free, Judged.innocent, at_most=True),
        of("nothing planted: somebody named", 0.1, sound, Judged.innocent, at_most=True),
    ]


def rows(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def newest(file):
    """Of each group or job the last row."""
    return {row.get("group", row.get("name")): row for row in rows(file)}


def judge_all(folder, by_early=False):
    """Jobs with something planted, and without; those of which there are no traces are told of."""
    jobs, sound = [], []
    followed = {name: row["times"] for name, row in newest(folder / "followed.jsonl").items()}
    for group in newest(folder / "groups.jsonl").values():
        for job in group["jobs"]:
            if is_kept(folder / f"{job['name']}.early.json"):
                (jobs if job["causes"] else sound).append(judge(group, job, folder, followed, by_early))
            else:
                print(f"{job['name']} has no trace in {folder}", file=sys.stderr)
    return jobs, sound


def pack(folder, to):
    """The newest of what was measured, and all traces of it."""
    to.mkdir(parents=True, exist_ok=True)
    for name in MEASURED:
        if all_rows := newest(to / name) | newest(folder / name):
            (to / name).write_text("".join(json.dumps(row) + "\n" for row in all_rows.values()), encoding="utf-8")
    for file in sorted(folder.glob("*.json")):
        (to / packed_one(file).name).write_bytes(packed.pack(json.loads(file.read_text(encoding="utf-8"))))


def alarms(job, folder):
    """Of a long job of which nothing is wrong: who raised one, and who was named in some window without: (who, cause)."""
    found = Said(folder / f"{job['name']}.long.json", "--windows", "10").findings
    raised = [(line["who"], line["cause"]) for line in found if line["alarm"]]
    once = [(line["who"], line["cause"]) for line in found if not line["alarm"] and max(line["gain"], line["cost"]) > NAMED]
    return raised, once


def print_alarms(job, folder):
    raised, once = (", ".join(map(" ".join, found)) or "none" for found in alarms(job, folder))
    print(f"{job['name']}: {job['workers']} workers, spread {job['spread']}{', rare stops' if job['causes'] else ''}: "
          f"alarms: {raised}; in a window: {once}")


def main():
    parser = argparse.ArgumentParser(prog="bench/stragglers/judge.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", metavar="FOLDER", type=pathlib.Path, nargs="+")
    parser.add_argument("--early", action="store_true", help="take the slowdown from the first 20 steps with it, not from the last 100")
    parser.add_argument("--pack", metavar="TO", type=pathlib.Path, help="only packs what is in FOLDER")
    wanted = parser.parse_args()
    jobs, sound = [], []
    for folder in wanted.folders:
        if wanted.pack:
            pack(folder, wanted.pack)
            continue
        for known, more in zip((jobs, sound), judge_all(folder, wanted.early)):
            known.extend(more)
        for job in rows(folder / "sound.jsonl"):
            print_alarms(job, folder)
    if not jobs:
        return
    table(jobs)
    print("\n| | wanted | of these |\n| --- | --- | --- |")
    print(*figures(jobs, sound), sep="\n")
    for job in sound:
        if job.innocent():
            print(f"{job.job['name']}: {job.innocent()}")


if __name__ == "__main__":
    main()
