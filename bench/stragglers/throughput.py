"""Steps per second of a case, beside what the cluster could do at best."""

import contextlib
import itertools
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import capacity
import cases
from cluster import CHUNK, Cluster, end_with_parent, job_text, total

SLOT = 0.25        # seconds
LATENCY = 0.0015   # seconds: one way with what a process takes to see a message, and a chunk's update
SPREAD = 2 / 3     # of an emulated slot, in which its gradients become ready
LOOK = 0.02        # seconds between two looks
LAG = 0.4          # seconds after a close in which the lead hears of it, usually

STATISTICS_CHUNK = 1


def chunks_of(size):
    return -(-int(size) // CHUNK)


class Canary:
    """A worker's waits and nothing else: how long slots take on this machine to somebody who is never in the way."""

    def __init__(self, folder):
        self.file = folder / "canary"
        with open(self.file, "wb") as out:
            self.process = subprocess.Popen([sys.executable, pathlib.Path(__file__).with_name("canary.py"), str(SLOT)],
                                            stdout=out, stdin=subprocess.DEVNULL, preexec_fn=end_with_parent)

    def end(self):
        self.process.kill()
        self.process.wait()

    def slots(self, begin, end):
        """Seconds of each slot that ended in this time."""
        found = (line.split() for line in self.file.read_text().splitlines() if line.count(" ") == 1)
        return [float(took) for at, took in found if begin <= float(at) < end]


class Faults:
    """Stops and continues workers by the case's plan, and writes down when."""

    def __init__(self, cluster, stops, begin):
        self.cluster = cluster
        self.away = {worker: [] for worker in stops}  # [from, to], by the steady clock; to: None while it stands still
        self._due = sorted((begin + stop.phase, worker, stop) for worker, stop in stops.items())

    def act(self):
        now = time.monotonic()
        while self._due and self._due[0][0] <= now:
            at, worker, stop = self._due.pop(0)
            if self.away[worker] and self.away[worker][-1][1] is None:
                self.cluster.signal(worker, signal.SIGCONT)
                self.away[worker][-1][1] = time.monotonic()
                self._due.append((at + cases.PERIOD - stop.seconds, worker, stop))
            else:
                self.cluster.signal(worker, signal.SIGSTOP)
                self.away[worker].append([time.monotonic(), None])
                self._due.append((at + stop.seconds, worker, stop))
            self._due.sort(key=lambda due: due[0])

    def all_there(self):
        return not self.cluster.stopped

    def absences(self, worker, end):
        return [(begin, end if to is None else to) for begin, to in self.away.get(worker, ())]


class Counts:
    """What the processes have counted, all of them there, when a step had closed and the lead knew."""

    def __init__(self, cluster, workers, slots):
        """`slots` of a step; waits for the moment, for LAG seconds at most."""
        until = time.monotonic() + LAG
        while True:
            steps = cluster.steps()
            self.lead = cluster.lead_page()
            self.of = [cluster.worker_page(worker) for worker in workers]
            if self.lead is None or None in self.of:
                raise RuntimeError(f"somebody does not tell metrics\n{cluster.logs()}")
            if self.accepted() == steps * slots == cluster.steps() * slots or time.monotonic() > until:
                return
            time.sleep(LOOK / 2)

    def accepted(self):
        return total(self.lead, "ballast_lead_worker_slots_total")

    def computed(self):
        return [page["ballast_worker_slots_total"] for page in self.of]

    def bytes_up(self):
        return sum(page['ballast_worker_bytes_total{direction="out"}'] for page in self.of)

    def computing(self):
        """Seconds that each worker has computed."""
        return [sum(page[f'ballast_worker_phase_seconds_sum{{phase="{phase}"}}'] for phase in ("forward", "backward"))
                for page in self.of]


@contextlib.contextmanager
def started(job, links, delays, watcher, chunks, keep):
    """A cluster in which all train; its folder is kept if `keep` says so."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ballast-stragglers-"))
    try:
        cluster = Cluster(folder, job, links, delays, watcher, chunks)
        try:
            cluster.start()
            cluster.wait_until_all_train()
            yield cluster
        finally:
            cluster.end()
    finally:
        if keep:
            print(f"logs are in {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)


class Measurement:
    """One case with one variant."""

    def __init__(self, name, variant, quick=False, keep=False):
        self.name = name
        self.case = cases.CASES[name]
        self.variant = variant
        self.warm = 8.0 if quick else 30.0
        self.least_steps = 4 if quick else 12
        self.least_time = cases.PERIOD * (1 if quick else 3) if self.case.stops else 0.0
        self.quick = quick
        self.keep = keep

    def run(self):
        case = self.case
        links = [cases.GIGABIT * case.links.get(worker, 1.0) for worker in range(case.workers)]
        delays = {worker: round((factor - 1) * SLOT * 1000) for worker, factor in case.slow.items()}
        job = job_text(case.slots, case.workers, SLOT, case.size, cases.VARIANTS[self.variant])
        chunks = chunks_of(case.size) + STATISTICS_CHUNK
        with started(job, links, delays, case.sound(), chunks, self.keep) as cluster:
            canary = Canary(cluster.folder)
            try:
                return self._measure(cluster, canary, links)
            finally:
                canary.end()

    def _measure(self, cluster, canary, links):
        faults = Faults(cluster, self.case.stops, time.monotonic())
        begun = time.monotonic()
        first = self._wait_for_close(cluster, faults, lambda step: time.monotonic() - begun >= self.warm and step >= 4)
        before = Counts(cluster, range(self.case.workers), self.case.slots)
        begin = cluster.closes.times[first]
        last = self._wait_for_close(cluster, faults, lambda step: step - first >= self.least_steps
                                    and time.monotonic() - begin >= self.least_time)
        after = Counts(cluster, range(self.case.workers), self.case.slots)
        end = cluster.closes.times[last]
        took = [b - a for a, b in itertools.pairwise(cluster.closes.times[first:last + 1])]
        return self._row(faults, canary, links, before, after, begin, end, took)

    def _wait_for_close(self, cluster, faults, enough):
        """The first step that closes with everybody there and enough(step); faults go on meanwhile."""
        seen = cluster.steps()
        while True:
            faults.act()
            if cluster.steps() > seen:
                seen = cluster.steps()
                if enough(seen - 1) and faults.all_there():
                    return seen - 1
            cluster.check()
            time.sleep(LOOK)

    def _workers(self, faults, links, end):
        return [capacity.Worker(SLOT * self.case.slow.get(worker, 1.0), SLOT * SPREAD, rate, rate,
                                faults.absences(worker, end), by_the_clock=True) for worker, rate in enumerate(links)]

    def _row(self, faults, canary, links, before, after, begin, end, took):
        case = self.case
        steps = len(took)
        rate = steps * case.slots / (end - begin)
        model = (self._workers(faults, links, end), case.slots, case.size, chunks_of(case.size), LATENCY, begin, end)
        streamed, ceiling = capacity.streamed(*model), capacity.ceiling(*model)
        computed = [b - a for a, b in zip(before.computed(), after.computed())]
        computing = [b - a for a, b in zip(before.computing(), after.computing())]
        slots = canary.slots(begin, end)
        return {
            "case": self.name, "about": case.about, "variant": self.variant, "quick": self.quick,
            "workers": case.workers, "slots": case.slots, "steps": steps, "seconds": round(end - begin, 2),
            "slots_per_second": round(rate, 3), "streamed": round(streamed, 3), "ceiling": round(ceiling, 3),
            "of_streamed": round(rate / streamed, 4), "of_ceiling": round(rate / ceiling, 4),
            "target": case.target, "target_of_ceiling": case.of_ceiling,
            "models_up": round((after.bytes_up() - before.bytes_up()) / case.size / steps / case.workers, 3),
            "duplicate_slots_per_step": round((sum(computed) - (after.accepted() - before.accepted())) / steps, 2),
            "slots_by_worker_and_step": [round(count / steps, 2) for count in computed],
            "slot_ms_by_worker": [round(1000 * time / count, 1) if count else None
                                  for time, count in zip(computing, computed)],
            "step_seconds": [round(seconds, 3) for seconds in took],
            "machine_slot_ms": round(1000 * statistics.mean(slots), 2),
            "machine_scatter": round(statistics.pstdev(slots) / statistics.mean(slots), 4),
            "machine_slot_max_ms": round(1000 * max(slots), 1),
            "load": os.getloadavg()[0], "at": time.strftime("%Y-%m-%d %H:%M", time.gmtime()),
        }
