"""What it costs that a worker is killed, and whether a worker that is drained leaves work to be done twice.

The cost of a kill within step n: when step n + K closes, less when step n would have closed without it, less K steps of the
others' steady pace (K: enough that all is as before).
"""

import os
import random
import re
import signal
import statistics
import time

import cases
from cluster import job_text
from throughput import LOOK, STATISTICS_CHUNK, Counts, chunks_of, started

VICTIM = 0
PATIENCE = 30    # seconds in which who is asked to leave should have left


class _OnOneCluster:
    """Repetitions on one cluster, in which the victim comes back each time."""

    def __init__(self, name, variant, repetitions, keep):
        self.name = name
        self.variant = variant
        self.repetitions = repetitions
        self.keep = keep
        self.kill = (cases.KILLS | cases.DRAINS)[name]
        self.chance = random.Random(name)

    def run(self):
        kill = self.kill
        job = job_text(kill.workers * kill.each, kill.workers, kill.step / kill.each, kill.size,
                       cases.VARIANTS[self.variant])
        with started(job, [cases.GIGABIT] * kill.workers, {}, kill.workers - 1, chunks_of(kill.size) + STATISTICS_CHUNK,
                     self.keep) as cluster:
            results = []
            for _ in range(self.repetitions):
                self._settle(cluster)
                results.append(self.once(cluster))
                cluster.start_worker(VICTIM)
            return self.row(results)

    def pass_steps(self, cluster, count, seconds=0.0, meanwhile=None):
        """Waits for so many more steps and so much time; returns the newest step that has closed."""
        first, begin = cluster.steps(), time.monotonic()
        while cluster.steps() - first < count or time.monotonic() - begin < seconds:
            if meanwhile:
                meanwhile()
            cluster.check()
            if time.monotonic() - begin > 60 + 20 * count * self.kill.step + seconds:
                raise RuntimeError(f"no {count} steps in {time.monotonic() - begin:.0f} s\n{cluster.logs()}")
            time.sleep(min(LOOK, self.kill.step / 10))
        return cluster.steps() - 1

    def _settle(self, cluster):
        cluster.wait_for("all workers", lambda: (cluster.lead_page() or {}).get("ballast_lead_sessions", 0)
                         == self.kill.workers)
        self.pass_steps(cluster, 4, 3.0)

    def row(self, results):
        kill = self.kill
        return {"case": self.name, "about": f"{kill.workers} workers, {kill.each} slots each, steps of {kill.step * 1000:g} ms",
                "variant": self.variant, "workers": kill.workers, "slots": kill.workers * kill.each,
                "repetitions": len(results), "load": os.getloadavg()[0],
                "at": time.strftime("%Y-%m-%d %H:%M", time.gmtime()), **self.told(results)}


class Kills(_OnOneCluster):
    def _steps_after(self):
        return max(4, round(3.0 / self.kill.step))

    def once(self, cluster):
        """The cost in seconds."""
        steps = self._steps_after()
        before = self.pass_steps(cluster, 4)
        time.sleep(self.chance.uniform(0, self.kill.step))
        killed_in = cluster.steps()  # the step that is open
        cluster.kill_worker(VICTIM)
        since = time.monotonic()
        self.pass_steps(cluster, steps + max(2, steps // 2) + 1)
        times = cluster.closes.times
        # A step that closes between the look and the kill is not the one that was hit.
        while times[killed_in] < since:
            killed_in += 1
        usual = statistics.median(b - a for a, b in zip(times[before - 4:killed_in - 1], times[before - 3:killed_in]))
        end = killed_in + steps
        others = (times[-1] - times[end]) / (len(times) - 1 - end)
        expected = times[killed_in - 1] + usual + steps * others
        return {"cost": times[end] - expected, "usual": usual, "others": others,
                "phase": (since - times[killed_in - 1]) / usual}

    def told(self, results):
        costs = [result["cost"] for result in results]
        limit = self.kill.limit()
        return {"cost_ms": {"mean": round(1000 * statistics.mean(costs), 1), "max": round(1000 * max(costs), 1)},
                "costs_ms": [round(1000 * cost, 1) for cost in costs],
                "phases": [round(result["phase"], 2) for result in results],
                "step_ms": round(1000 * statistics.median(result["usual"] for result in results), 1),
                "step_ms_of_others": round(1000 * statistics.median(result["others"] for result in results), 1),
                "limit_ms": round(1000 * limit, 1) if limit else None}


class Drains(_OnOneCluster):
    """SIGTERM asks a worker to leave."""

    def once(self, cluster):
        """Slots that were computed in vain, and those of the worker that left."""
        workers = range(self.kill.workers)
        self.pass_steps(cluster, 1)
        before = Counts(cluster, workers, self._slots())
        time.sleep(self.chance.uniform(0, self.kill.step))
        cluster.signal(VICTIM, signal.SIGTERM)
        begin = time.monotonic()
        process = cluster.processes[f"w{VICTIM}"]
        while process.poll() is None and time.monotonic() - begin < PATIENCE:
            time.sleep(0.01)
        left_after = time.monotonic() - begin
        del cluster.processes[f"w{VICTIM}"]  # its end is its own, whatever the code
        self.pass_steps(cluster, 3)
        after = Counts(cluster, [worker for worker in workers if worker != VICTIM], self._slots())
        # Its last slot may end after anybody has asked for its metrics.
        log = (cluster.folder / f"w{VICTIM}.log").read_text(encoding="utf-8")
        last = int(re.findall(r" it has computed (\d+) slots$", log, re.MULTILINE)[-1])
        computed = last + sum(after.computed()) - sum(before.computed())
        return {"twice": computed - (after.accepted() - before.accepted()), "code": process.returncode,
                "left_after": left_after}

    def _slots(self):
        return self.kill.workers * self.kill.each

    def told(self, results):
        return {"computed_twice": [round(result["twice"]) for result in results],
                "left_after_ms": [round(1000 * result["left_after"]) for result in results],
                "codes": [result["code"] for result in results]}
