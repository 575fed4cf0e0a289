"""Starts real clusters through `ballast run`, and holds what they give against the sequential reference.

A case is a unittest.TestCase derived from ClusterCase. It works in a temporary folder of its own; every process that it
starts is known by its pid and ended by it, whatever happens; every wait has a limit that fails with the ends of all logs.
Where the programs are: $BALLAST_BUILD, else the folder build/ of the project.
"""

import ctypes
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

BUILD = pathlib.Path(os.environ.get("BALLAST_BUILD") or pathlib.Path(__file__).resolve().parents[2] / "build")
BALLAST = BUILD / "cli" / "ballast"
SERVER = BUILD / "server" / "ballast-server"
WORKER = BUILD / "worker" / "ballast-worker"
BENCH = BUILD / "bench" / "ballast-bench"
SIMULATE = BUILD / "tests" / "simulation" / "ballast-simulate"
REFERENCE = BUILD / "tests" / "reference" / "ballast-reference"
MALFORMED = BUILD / "tests" / "cluster" / "malformed" / "ballast-malformed"

PATIENCE = 60  # seconds that anything may take which should take a few; a limit, not a measure
LOG_LINES = 25

# No GPU, even where there is one: bits are compared with the reference, which is computed on the cpu.
os.environ["BALLAST_CUDA_MODULE"] = "none"

_libc = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1


def _end_with_parent():
    """In the child: SIGTERM when the test itself is killed, e.g. by its time limit."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _begin(files):
    """In the child: the same, and limits of open files, soft and hard, if any."""
    _end_with_parent()
    if files:
        resource.setrlimit(resource.RLIMIT_NOFILE, files)


def is_alive(pid):
    """Whether the process runs; a zombie that waits for its parent does not."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] not in ("Z", "X")


def processes_mentioning(text):
    """The pids of running processes, besides ours, whose command line holds the text."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            line = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if os.fsencode(text) in line and is_alive(int(entry.name)):
            found.append(int(entry.name))
    return found


def set_options(overrides):
    return [word for key, value in overrides.items() for word in ("--set", f"{key}={value}")]


class Run:
    """One `ballast run` in a folder of its own; `job` None: it goes on with what an earlier one left there. `files`: the
    soft and the hard limit of open files of all its processes."""

    def __init__(self, case, job, name="run", options=(), overrides=None, environment=None, files=None):
        self.case = case
        self.folder = case.folder / name
        begin = ["--resume", self.folder] if job is None else [job, "--run-dir", self.folder]
        self.summary_file = case.folder / f"{name}.summary.json"
        self.out = case.folder / f"{name}.out"
        self.err = case.folder / f"{name}.err"
        self.seen_pids = set()
        command = [BALLAST, "run", *begin, "--summary", self.summary_file, *options, *set_options(overrides or {})]
        self.summary_file.unlink(missing_ok=True)
        if not case.is_running(self.folder):
            (self.folder / "lead.address").unlink(missing_ok=True)  # of an earlier run: nobody would answer there
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.process = subprocess.Popen([os.fspath(word) for word in command], cwd=case.folder, stdout=out,
                                            stderr=err, stdin=subprocess.DEVNULL,
                                            preexec_fn=lambda: _begin(files),
                                            env={**os.environ, **(environment or {})})

    # ---- what is done to it

    def kill(self, role, index):
        """SIGKILL to a process of the run; returns its pid, or None if it is not running."""
        pid = self.entry(role, index)["pid"]
        if pid is None or not is_alive(pid):
            return None
        os.kill(pid, signal.SIGKILL)
        return pid

    def kill_all(self):
        """SIGKILL to everything at once, the command first."""
        self.processes()
        self.process.kill()
        for entry in self.processes():
            if entry["pid"] and is_alive(entry["pid"]):
                os.kill(entry["pid"], signal.SIGKILL)
        self.wait()
        self.expect_no_process()

    def control(self, command):
        """`ballast stop`, `pause` or `resume`, by the run's folder."""
        return subprocess.run([BALLAST, command, self.folder], capture_output=True, text=True, timeout=PATIENCE,
                              stdin=subprocess.DEVNULL, check=False)

    # ---- what is seen of it

    def processes(self):
        """The entries of processes.json; none before it is there."""
        try:
            entries = json.loads((self.folder / "processes.json").read_text())
        except FileNotFoundError:
            return []
        self.seen_pids.update(entry["pid"] for entry in entries if entry["pid"])
        return entries

    def entry(self, role, index):
        return next(entry for entry in self.processes() if entry["role"] == role and entry["index"] == index)

    def lead(self):
        return (self.folder / "lead.address").read_text().strip()

    def status(self):
        """The lead's status; None when it cannot be asked any more, or not yet."""
        if not (self.folder / "lead.address").exists():
            return None
        answer = subprocess.run([BALLAST, "status", "--json", self.lead()], capture_output=True, timeout=PATIENCE,
                                check=False)
        return json.loads(answer.stdout) if answer.returncode == 0 else None

    def wait_until(self, what, holds):
        """Waits until holds() gives something true, and returns that; fails if the run ends before."""
        limit = time.monotonic() + PATIENCE
        while time.monotonic() < limit:
            self.processes()
            found = holds()
            if found:
                return found
            if self.process.poll() is not None:
                self.fail(f"the run ended, with code {self.process.returncode}, before {what}")
            time.sleep(0.05)
        return self.fail(f"waited {PATIENCE} s for {what}")

    def wait_for_step(self, step):
        def reached():
            status = self.status()
            return status and status["phase"] == "training" and status["step"] >= step
        self.wait_until(f"step {step}", reached)

    def wait_for_snapshot(self, step):
        """A complete snapshot of this step or a later one."""
        self.wait_until(f"a snapshot of step {step}", lambda: (self.status() or {}).get("snapshot", 0) >= step)

    def wait_for_phase(self, phase):
        return self.wait_until(phase, lambda: (self.status() or {}).get("phase") == phase)

    # ---- how it ends

    def wait(self, patience=PATIENCE):
        """The exit code, once the run has ended."""
        try:
            self.processes()
            return self.process.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            return self.fail(f"the run did not end in {patience} s")

    def finish(self, patience=PATIENCE):
        """Waits for a good end and returns the summary."""
        code = self.wait(patience)
        if code != 0:
            self.fail(f"the run ended with code {code}")
        self.expect_no_process()
        return json.loads(self.summary_file.read_text())

    def finish_but_for(self, workers):
        """The same where workers of our own may outlive the job, because they stand still."""
        for worker in workers:
            worker.kill()
            worker.wait()
        return self.finish()

    def expect_no_process(self):
        """Every process of the run is gone, or is going: the kernel takes a moment to kill orphans."""
        limit = time.monotonic() + PATIENCE
        left = None
        while time.monotonic() < limit:
            left = sorted({pid for pid in self.seen_pids if is_alive(pid)} | set(processes_mentioning(self.folder)))
            if not left:
                return
            time.sleep(0.05)
        self.fail(f"processes are left behind: {left}")

    def errors(self):
        return self.err.read_text(errors="replace")

    def logs(self):
        texts = []
        for file in (self.out, self.err, *sorted(self.folder.glob("logs/*.log"))):
            if file.exists():
                lines = file.read_text(errors="replace").splitlines()[-LOG_LINES:]
                texts.append(f"---- the end of {file.relative_to(self.case.folder)}\n" + "\n".join(lines))
        return "\n".join(texts)

    def fail(self, text):
        self.case.fail(f"{text}\n{self.logs()}")

    def end(self):
        """Kills what is left of it, by pid."""
        try:
            self.processes()
        except ValueError:
            pass
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pid in self.seen_pids | set(processes_mentioning(self.folder)):
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)


class ClusterCase(unittest.TestCase):
    """A folder, runs that are ended with the case, and comparison with the reference."""

    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ballast-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self._started = []
        self.addCleanup(self._end_all)

    def _end_all(self):
        for run in self._started:
            run.end()

    def job(self, text, name="job.yaml"):
        file = self.folder / name
        file.write_text(text)
        return file

    def start(self, job, **arguments):
        run = Run(self, job, **arguments)
        self._started.append(run)
        return run

    def is_running(self, folder):
        return any(run.folder == folder and run.process.poll() is None for run in self._started)

    def start_worker(self, run, name, lead=None, options=()):
        """A worker of our own in a run's cluster, or for another lead; ended with the case."""
        log = open(run.folder / "logs" / f"{name}.log", "wb")  # pylint: disable=consider-using-with
        self.addCleanup(log.close)
        command = [WORKER, "--lead", lead or run.lead(), "--name", name, *options]
        process = subprocess.Popen(command, stdout=log, stderr=log,
                                   stdin=subprocess.DEVNULL, preexec_fn=_end_with_parent)
        run.seen_pids.add(process.pid)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def start_by_hand(self, name, *words):
        """A server or worker without a run, ended with the case; and its log, as a function."""
        file = self.folder / f"{name}.log"
        process = subprocess.Popen([*map(str, words), "--log-file", str(file)], stdin=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, preexec_fn=_end_with_parent)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, lambda: file.read_text() if file.exists() else ""

    def wait_for(self, what, holds, patience=PATIENCE):
        """Where there is no run that could be waited for."""
        limit = time.monotonic() + patience
        while not holds():
            if time.monotonic() > limit:
                texts = "\n".join(log.read_text() for log in sorted(self.folder.glob("*.log")))
                self.fail(f"waited {patience} s for {what}\n{texts}")
            time.sleep(0.02)

    def reference(self, job, overrides=None, skip=(), patience=PATIENCE):
        """What the sequential reference makes of the job, without the updates of the steps in `skip`."""
        skipped = [word for step in skip for word in ("--skip", str(step))]
        answer = subprocess.run([REFERENCE, job, *set_options(overrides or {}), *skipped], capture_output=True,
                                text=True, timeout=patience, check=False)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return json.loads(answer.stdout)

    def expect_equal_bits(self, summary, reference):
        self.assertRegex(reference["weights_sha256"], "^[0-9a-f]{64}$")
        self.assertEqual(summary["weights_sha256"], reference["weights_sha256"], summary)
        self.assertEqual(summary["optimizer_sha256"], reference["optimizer_sha256"], summary)

    def expect_all_slots(self, summary, slots):
        """Each slot of each step was accepted exactly once."""
        self.assertEqual(sum(summary["slots_by_session"].values()), summary["steps"] * slots, summary)


def main():
    unittest.main(verbosity=2, failfast=False)
