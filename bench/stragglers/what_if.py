"""Plants causes, drawn by a seed (planted.py), in jobs on hosts of their own (network namespaces: root, iproute2); measures what
they cost, and keeps traces, for judge.py to compare with what `ballast analyze` says of them: docs/measurements/what_if.md.

A group is a job's shape (workers, division, hosts of the shards), some causes, and pairs of them at once. All of a group, and the same
job without a cause, run in turns, as often as --runs says. Of the first run of each there is a raw trace of the steps up to the
20th from the cause's begin (NAME.early.json) and one of the last measured ones (NAME.late.json). `groups.jsonl` has an object a
group and turn, with all turns so far."""

import argparse
import contextlib
import json
import pathlib
import shutil
import signal
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import cluster  # pylint: disable=wrong-import-position
import judge  # pylint: disable=wrong-import-position
import planted  # pylint: disable=wrong-import-position

# Of the model, bytes: so much that all processes of a job together take about a sixth of two cores. In items each slot is an
# update of its own, which sends and fetches all of it.
SIZE = {"sync": 1.6e6, "ssp": 0.4e6, "async": 0.4e6}
BURST = {"sync": 0.002, "ssp": 0.0007, "async": 0.0007}  # seconds of a link: an item sends a quarter of what a step does
CHUNKS = {"sync": 11, "ssp": 6, "async": 6}  # of it, with that of the statistics
SLOTS_EACH = 4
BOUND = 4           # of staleness, for each worker: so many items of each of the others
SOUND_FIRST = 30    # the step from which on a job without a cause is looked at
SOUND_STEPS = 200   # of one that is looked at by itself
FEWER = 3           # runs of jobs with two causes
EARLY = 20          # steps from a cause's begin until it should be known
LONGEST = 5         # seconds of a step, or something is wrong
LOOK = 102          # steps of a trace
EVEN = ", divide_by_speed: false, redistribute: false"
WAITED = 16         # ms of a slot's, which are those that are spread


def megabits(bytes_per_second):
    return round(8 * bytes_per_second / 1e6)


class Rig:
    """A job with a plant in it, from its start to its end."""

    def __init__(self, plant, left_out=None):
        """`left_out`: a worker, whose causes are left out with it; no other worker has one."""
        self.plant = plant
        self.causes = [cause for cause in plant.causes if left_out is None or cause.worker != left_out]
        self._meanwhile = contextlib.ExitStack()
        shape = plant.shape
        self.updates = 1 if shape.mode == "sync" else SLOTS_EACH * shape.workers  # of a step
        workers = shape.workers - (0 if left_out is None else 1)
        affected = {cause.worker for cause in self.causes}
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ballast-what-if-"))
        try:
            self.job = cluster.Cluster(
                self.folder, self._text(workers), [planted.LINK] * workers, {}, chunks=CHUNKS[shape.mode],
                watcher=next(worker for worker in range(workers) if worker not in affected),
                servers=sum(shape.servers()), apart=shape.servers() if shape.apart else None, declared=megabits(planted.LINK),
                slows_disks=plant.durability != planted.Cause.durability, burst=BURST[shape.mode],
                wired=[shape.wired] if plant.wired and left_out is None else [], environment=self._environment(workers))
        except BaseException:
            shutil.rmtree(self.folder)
            raise

    def _text(self, workers):
        shape = self.plant.shape
        staleness = f"  staleness: {{bound: {BOUND * shape.workers}}}\n" if shape.mode == "ssp" else ""
        line = f", link_mbit: {megabits(shape.servers()[0] if shape.apart else sum(shape.servers()))}"
        return cluster.job_text(SLOTS_EACH * shape.workers, workers, planted.SLOT - WAITED / 1000, SIZE[shape.mode],
                                line + ("" if shape.balanced else EVEN), f"  mode: {shape.mode}\n{staleness}{self.plant.training}",
                                self.plant.durability)

    def _environment(self, workers):
        first = self.plant.first
        slots = [f"w{worker}:{WAITED}~{round(1000 * planted.SLOT * self.plant.spread)}" for worker in range(workers)]
        return {"BALLAST_DELAY": ",".join(slots + [delay for cause in self.causes for delay in cause.delays(first)]),
                "BALLAST_READ_DELAY": ",".join(delay for cause in self.causes for delay in cause.reading(first))}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._meanwhile.close()
        self.job.end()
        shutil.rmtree(self.folder)

    def begin(self):
        """Until the causes begin."""
        self.job.start()
        self.job.wait_until_all_train()
        self.reach(self.plant.first)
        for cause in self.causes:
            cause.begin(self.job)
            self._meanwhile.enter_context(meanwhile(cause, self.job))

    def reach(self, step):
        self.job.wait_for(f"step {step}", lambda: self.job.steps() >= self.updates * step, LONGEST * step)

    def closes(self, first, last):
        """When these steps had closed."""
        return self.job.closes.times[self.updates * first - 1:self.updates * last:self.updates]

    def trace(self, file, steps=LOOK):
        self.job.hosts.call(self.job.host_of(0), cluster.harness.BALLAST, "trace", self.job.lead(), "--raw", "--steps", steps, "-o",
                            file)


@contextlib.contextmanager
def meanwhile(cause, job):
    over = threading.Event()
    thread = threading.Thread(target=cause.during, args=(job, over))
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def run(plant, wanted, file=None, left_out=None):
    """When each step from the cause's begin on had closed, in seconds since."""
    with Rig(plant, left_out) as rig:
        rig.begin()
        first = plant.first
        if file:
            rig.reach(first + EARLY + 1)
            rig.trace(file.with_suffix(".early.json"))
        rig.reach(first + wanted.before + wanted.steps)
        if file:
            rig.trace(file.with_suffix(".late.json"))
        times = rig.closes(first, first + wanted.before + wanted.steps)
        return [round(time - times[0], 4) for time in times]


def plants_of(generator, shape, wanted):
    """Each cause by itself, pairs of those that can be together, and two workers that are as slow."""
    single = [planted.drawn(generator, shape, wanted.causes) for _ in range(wanted.singles)]
    for one, two in zip(single[::2], single[1::2]):
        if one.can_be_with(two):
            single.append(one.with_also(two))
    if wanted.twins:
        single.append(planted.twins(generator, shape))
    return single


def sound_ones(plants):
    """The jobs that they are planted in, each once."""
    found = []
    for plant in plants:
        if not any(plant.is_like(one) for one in found):
            found.append(plant.sound(SOUND_FIRST))
    return found


def measure(name, plants, wanted):
    """A group's object, after each turn."""
    sound = sound_ones(plants)
    jobs = {f"{name}-sound-{number}": plant for number, plant in enumerate(sound)}
    jobs |= {f"{name}-{number}": plant for number, plant in enumerate(plants)}
    times = {job: [] for job in jobs}
    for turn in range(wanted.runs):
        for job, plant in jobs.items():
            if turn < FEWER or len(plant.causes) < 2:
                times[job].append(run(plant, wanted, wanted.folder / job if turn == 0 else None))
        yield {"group": name, "before": wanted.before, "steps": wanted.steps, "jobs": [
            {"name": job, "sound": next(f"{name}-sound-{number}" for number, one in enumerate(sound) if plant.is_like(one)),
             "first": plant.first, "times": times[job], **plant.told()} for job, plant in jobs.items()]}


def follow(name, plants, wanted):
    """What jobs of a group take without the worker that it is advised to leave out, by traces that were kept before."""
    for number, plant in enumerate(plants):
        file = wanted.folder / f"{name}-{number}"
        advice = judge.late_one(file).advice if len(plant.causes) == 1 and judge.is_kept(file.with_suffix(".late.json")) else None
        worker = plant.causes[0].worker
        if advice and (advice["advice"], advice["who"]) == ("leave out", [f"worker w{worker}"]):
            times = [run(plant, wanted, left_out=worker) for _ in range(wanted.runs)]
            keep(wanted.folder / "followed.jsonl", {"name": file.name, "times": times})


def run_sound(shape, spread, stops, file):
    """A job of which nothing is wrong, for so many steps as are looked at whether somebody is named."""
    plant = planted.Plant(shape, SOUND_FIRST, stops, ["rare"] * len(stops), spread=spread)
    with Rig(plant) as rig:
        rig.begin()
        rig.reach(plant.first + SOUND_STEPS)
        rig.trace(file.with_suffix(".long.json"), SOUND_STEPS + 2)
    return {"name": file.name, "spread": spread, **plant.told()}


def main():
    parser = argparse.ArgumentParser(prog="bench/stragglers/what_if.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="FOLDER", type=pathlib.Path, help="where the traces and groups.jsonl are kept")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--groups", type=int, default=1)
    parser.add_argument("--singles", type=int, default=4, help="causes of a group")
    parser.add_argument("--runs", type=int, default=5, help="of each job, in turns")
    parser.add_argument("--before", type=int, default=30, help="steps from a cause's begin until steps are timed")
    parser.add_argument("--steps", type=int, default=100, help="that are timed")
    parser.add_argument("--follow", action="store_true", help="only what traces of the same seed in FOLDER advise, by analysis as it is now")
    parser.add_argument("--sound", type=int, default=0, metavar="N", help=f"only N jobs of {SOUND_STEPS} steps without a cause")
    parser.add_argument("--spread", type=float, default=0.05, help="of those: of a slot's time, a standard deviation")
    parser.add_argument("--rare", action="store_true", help="in those now and then somebody stands still for a tenth of a second")
    parser.add_argument("--twins", action="store_true", help="two workers that are as slow, in each group as well")
    parser.add_argument("--mode", choices=("sync", "ssp", "async"), default="sync")
    parser.add_argument("--causes", type=lambda text: text.split(","),
                        help="of " + ",".join(planted.CAUSES) + "; default: all that cost something in that mode")
    wanted = parser.parse_args()
    costly = [name for name, cause in planted.CAUSES.items()
              if not cause.free and cause.durability != planted.Storage.durability]
    wanted.causes = wanted.causes or (costly if wanted.mode == "sync" else planted.OF_ITEMS)
    if (reason := cluster.unfit()) is not None:
        print(f"what_if: {reason}", file=sys.stderr)
        return cluster.harness.CANNOT_BE_TRIED
    wanted.folder.mkdir(parents=True, exist_ok=True)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))  # so that nothing is left
    generator = planted.generator_of(wanted.seed)
    for number in range(wanted.sound or wanted.groups):
        shape = planted.Shape(generator, wanted.mode)
        name = f"{wanted.seed}-{number}"
        if wanted.follow:
            follow(name, plants_of(generator, shape, wanted), wanted)
        elif wanted.sound:
            stops = (planted.Rare(generator, shape),) if wanted.rare else ()
            keep(wanted.folder / "sound.jsonl", run_sound(shape, wanted.spread, stops, wanted.folder / name))
        else:
            for so_far in measure(name, plants_of(generator, shape, wanted), wanted):
                keep(wanted.folder / "groups.jsonl", so_far)
    return 0


def keep(file, row):
    with open(file, "a", encoding="utf-8") as lines:
        print(json.dumps(row), file=lines)


if __name__ == "__main__":
    sys.exit(main())
