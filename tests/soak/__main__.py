"""Jobs under faults for hours: `./dev soak --hours 8`. docs/testing.md says what is done and what must hold."""

import argparse
import json
import pathlib
import random
import signal
import sys
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import cluster as soak_cluster  # pylint: disable=wrong-import-position
import faults as soak_faults  # pylint: disable=wrong-import-position
import plot  # pylint: disable=wrong-import-position
import watch as soak_watch  # pylint: disable=wrong-import-position
import work as soak_work  # pylint: disable=wrong-import-position

LOOK = 0.05          # seconds
SAMPLE = 1.0         # seconds between two samples of what processes use
JOB_MINUTES = 10     # that a job takes where nothing happens, in a long soak
PATIENCE = 6.0       # times as long, and CALM seconds, may a job take; then it is left alone
CALM = 180.0         # seconds beyond twice its time that a job may take then, before it counts as stuck


class Soak:
    def __init__(self, seconds, seed, folder, job_seconds, modes):
        self.seconds = seconds
        self.seed = seed
        self.folder = folder
        self.job_seconds = job_seconds
        self.modes = modes
        self.watch = soak_watch.Watch()
        self.begun = time.monotonic()
        self.faults = []     # (seconds, kind) of all jobs
        self.counts = {}
        self.results = []    # (mode, what is wrong or None)

    def now(self):
        return time.monotonic() - self.begun

    def note(self, kind, about, **more):
        with open(self.folder / "events.jsonl", "a", encoding="utf-8") as out:
            out.write(json.dumps({"seconds": round(self.now(), 2), "event": kind, "about": about, **more}) + "\n")
        if kind in self.counts or not kind.startswith(("end of", "job")):
            self.faults.append((self.now(), kind))
            self.counts[kind] = self.counts.get(kind, 0) + 1

    def run(self):
        number = 0
        while number == 0 or self.now() < self.seconds:
            self.one_job(number, self.modes[number % len(self.modes)])
            number += 1

    def one_job(self, number, mode):
        chance = random.Random(f"{self.seed}/{number}")
        work = soak_work.Work(number, mode, self.job_seconds, chance)
        self.note("job begins", f"{number}: {mode}")
        begun, wrong, cluster = self.now(), None, None
        try:
            cluster = soak_cluster.Cluster(work.case, work.text, chance, work.account)
            try:
                work.begin(cluster)
                wrong = self._run_to_end(number, cluster, chance)
                if wrong:
                    wrong += "\n" + cluster.status()
            finally:
                cluster.end()
            if not wrong:
                inspected = work.check(cluster)
                wrong = self._troubles(cluster)
                (self.folder / f"job-{number}.json").write_text(json.dumps(inspected, indent=1))
        except AssertionError as failure:
            wrong = str(failure)
        except Exception:  # pylint: disable=broad-exception-caught  # the soak goes on with the next job
            wrong = traceback.format_exc()
        finally:
            if wrong is not None or sys.exc_info()[0]:
                (self.folder / f"job-{number}").mkdir(exist_ok=True)
                if cluster:
                    work.keep_logs(cluster, self.folder / f"job-{number}")
                    (self.folder / f"job-{number}" / "wrong.txt").write_text(wrong or "interrupted")
            left = soak_cluster.harness.processes_mentioning(work.case.folder)
            work.drop()
        wrong = wrong or (f"processes are left: {left}" if left else None)
        self.results.append((mode, wrong))
        self.note("job ends", f"{number}: {mode}: {wrong.splitlines()[0] if wrong else 'as it must be'}")
        print(f"job {number}, {mode}: {wrong or 'as it must be'} ({self.now() - begun:.0f} s)", flush=True)

    def _troubles(self, cluster):
        return "\n".join(cluster.troubles) or None

    def _run_to_end(self, number, cluster, chance):
        """What is wrong, or None once the job has finished."""
        faults = soak_faults.Faults(cluster, chance, self.note)
        cluster.start()
        begun = time.monotonic()
        calm_at = begun + PATIENCE * self.job_seconds + CALM
        calm_since, sampled = None, 0.0
        try:
            while not cluster.has_finished():
                now = time.monotonic()
                if (wrong := cluster.look()) is not None:
                    return wrong
                if calm_since is None and (now >= calm_at or self.now() >= self.seconds):
                    faults.end_all()
                    calm_since = now
                    self.note("job calm", f"{number}")
                if calm_since is None:
                    faults.act()
                elif now - calm_since > 2 * self.job_seconds + CALM:
                    return f"the job does not end, {now - calm_since:.0f} s after the last fault"
                if now - sampled >= SAMPLE:
                    sampled = now
                    self.watch.look(number, cluster.processes.values(), self.now())
                time.sleep(LOOK)
        finally:
            faults.end_all()
        return None

    def finish(self):
        """Writes what was seen, and says in a line how it was; whether all is well."""
        self.watch.write(self.folder / "samples.csv")
        growing = self.watch.growing()
        bad = [f"job {number} ({mode}): {wrong.splitlines()[0]}" for number, (mode, wrong) in enumerate(self.results) if wrong]
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self.counts.items()))
        judged = len(self.watch.judged())
        title = (f"soak of {self.now() / 3600:.2f} h, seed {self.seed}: {len(self.results) - len(bad)} of {len(self.results)} jobs as "
                 f"they must be; {sum(self.counts.values())} faults ({kinds}); {len(self.watch.lives)} lives of processes, of "
                 f"{judged} judged {len(growing)} grow")
        plot.write(self.folder / "soak.svg", self.watch.lives, self.faults, title[:180])
        (self.folder / "summary.json").write_text(json.dumps(
            {"hours": self.now() / 3600, "seed": self.seed, "jobs": [{"mode": mode, "wrong": wrong} for mode, wrong in self.results],
             "faults": self.counts, "lives": len(self.watch.lives), "judged": judged, "growing": growing}, indent=1))
        for line in bad + growing:
            print(line)
        print(f"{title}; {self.folder}/soak.svg", flush=True)
        return not bad and not growing


def options():
    parser = argparse.ArgumentParser(prog="./dev soak", description=__doc__,
                                     epilog="Needs root, iproute2 and /dev/net/tun. Programs: $BALLAST_BUILD, else build/.")
    length = parser.add_mutually_exclusive_group(required=True)
    length.add_argument("--hours", type=float, help="how long; the last job goes on to its end without faults")
    length.add_argument("--minutes", type=float)
    parser.add_argument("--seed", type=int, default=1, help="of jobs and faults (default 1)")
    parser.add_argument("--out", type=pathlib.Path, help="a new folder for plot, samples, events and logs of what failed; "
                        "default: runs/soak-<UTC time>")
    parser.add_argument("--job-minutes", type=float, help="that a job takes where nothing happens; default: 10, or a "
                        "twelfth of a shorter soak")
    parser.add_argument("--modes", default=",".join(soak_work.MODES), help="of the jobs, in turn")
    return parser


def main():
    parser = options()
    wanted = parser.parse_args()
    seconds = wanted.hours * 3600 if wanted.hours else wanted.minutes * 60
    modes = wanted.modes.split(",")
    if unknown := set(modes) - set(soak_work.MODES):
        parser.error(f"--modes: {', '.join(sorted(unknown))} is unknown; there are {', '.join(soak_work.MODES)}")
    if (reason := soak_cluster.unfit()) is not None:
        print(f"soak: {reason}")
        return soak_cluster.harness.CANNOT_BE_TRIED
    job_seconds = wanted.job_minutes * 60 if wanted.job_minutes else min(60 * JOB_MINUTES, max(30.0, seconds / 12))
    folder = (wanted.out or pathlib.Path("runs") / time.strftime("soak-%Y%m%dT%H%M%SZ", time.gmtime())).resolve()
    try:
        folder.mkdir(parents=True)
    except OSError as refused:
        parser.error(f"--out {folder}: {refused.strerror}; name a folder that does not exist yet, where one can be made")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    if not soak_cluster.CLOCK_STEP.exists():
        print(f"clock steps are left out: {soak_cluster.CLOCK_STEP} is not built")
    soak = Soak(seconds, wanted.seed, folder, job_seconds, modes)
    try:
        soak.run()
    except (KeyboardInterrupt, SystemExit) as ended:
        soak.finish()
        return ended.code if isinstance(ended, SystemExit) else 130
    return 0 if soak.finish() else 1


if __name__ == "__main__":
    sys.exit(main())
