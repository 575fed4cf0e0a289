"""Starts real clusters through `ballast run`, and holds what they give against the sequential reference.

A case is a unittest.TestCase derived from ClusterCase. It works in a temporary folder of its own; every process that it
starts is known by its pid and ended by it, whatever happens; every wait has a limit that fails with the ends of all logs.
Where the programs are: $BALLAST_BUILD, else the folder build/ of the project.
"""

import ctypes
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
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
SLOW_DISK = BUILD / "tests" / "cluster" / "slow_disk" / "libballast-slow-disk.so"
WIRE = BUILD / "tests" / "cluster" / "wire" / "ballast-wire"
HOSTILE = BUILD / "tests" / "cluster" / "hostile" / "ballast-hostile"

PATIENCE = 60  # seconds that anything may take which should take a few; a limit, not a measure
LOG_LINES = 25
CANNOT_BE_TRIED = 77  # an exit code that is neither good nor bad for meson

# No GPU, even where there is one: bits are compared with the reference, which is computed on the cpu.
os.environ["BALLAST_CUDA_MODULE"] = "none"

_libc = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1


def end_with_parent():
    """In the child: SIGTERM when the test itself is killed, e.g. by its time limit."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _begin(files):
    """In the child: the same, and limits of open files, soft and hard, if any."""
    end_with_parent()
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


def call(*words, **options):
    """How a command ends and what it prints, whatever that is."""
    return subprocess.run([str(word) for word in words],
                          **{"capture_output": True, "text": True, "timeout": PATIENCE, "check": False,
                             "stdin": subprocess.DEVNULL, **options})


def ballast(*words, **options):
    return call(BALLAST, *words, **options)


def status_of(lead, keys=()):
    """The lead's status; None when it cannot be asked any more, or not yet. `keys`: the option that names an operator's."""
    answer = ballast("status", "--json", lead, *keys)
    return json.loads(answer.stdout) if answer.returncode == 0 else None


def wait_for(holds, patience=PATIENCE, pause=0.02):
    """Waits until holds() gives something true, asking again after each pause; returns what it gave last, for the patience
    ends."""
    limit = time.monotonic() + patience
    while True:
        found = holds()
        if found or time.monotonic() >= limit:
            return found
        time.sleep(pause)


HELD_PORTS = []  # UDP sockets of the same numbers, which keep ports from other tests for as long as this one runs
# To sockets that ask for any port, as lanes and clients do: Linux gives those from 32768 on, unless it is told otherwise.
BELOW_WHAT_THE_SYSTEM_GIVES = range(20000, 32768)


def free_ports(count):
    """Ports of loopback, each another, that no other test and no socket takes before they are listened on, however late."""
    found = []
    for port in random.sample(BELOW_WHAT_THE_SYSTEM_GIVES, len(BELOW_WHAT_THE_SYSTEM_GIVES)):
        holder = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with socket.socket() as probe:
            try:
                holder.bind(("127.0.0.1", port))
                probe.bind(("127.0.0.1", port))
            except OSError:
                holder.close()
                continue
        HELD_PORTS.append(holder)
        found.append(port)
        if len(found) == count:
            return found
    raise OSError(f"{count} ports of loopback are wanted, and {len(found)} are free")


def free_port():
    return free_ports(1)[0]


def text_of(file):
    """What a file holds; nothing before it is there."""
    return file.read_text(errors="replace") if file.exists() else ""


def ends_of(files, folder):
    """The last lines of those files that are there, each under its name in the folder."""
    return "\n".join(f"---- the end of {file.relative_to(folder)}\n" + "\n".join(text_of(file).splitlines()[-LOG_LINES:])
                     for file in files if file.exists())


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
        return ballast(command, self.folder)

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
        return status_of(self.lead(), self.keys("operator"))

    def keys(self, whose):
        """The option by which a process shows keys that the run has made for itself; none over ipc."""
        file = self.folder / "keys" / f"{whose}.key"
        return ("--keys", file) if file.exists() else ()

    def wait_until(self, what, holds):
        """Waits until holds() gives something true, and returns that; fails if the run ends before."""
        def checked():
            self.processes()
            found = holds()
            if not found and self.process.poll() is not None:
                self.fail(f"the run ended, with code {self.process.returncode}, before {what}")
            return found
        return wait_for(checked) or self.fail(f"waited {PATIENCE} s for {what}")

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
        def left():
            return sorted({pid for pid in self.seen_pids if is_alive(pid)} | set(processes_mentioning(self.folder)))
        if not wait_for(lambda: not left()):
            self.fail(f"processes are left behind: {left()}")

    def errors(self):
        return self.err.read_text(errors="replace")

    def logs(self):
        return ends_of((self.out, self.err, *sorted(self.folder.glob("logs/*.log"))), self.case.folder)

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
    patience = PATIENCE
    pause = 0.02  # seconds from one look at what is waited for to the next

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

    def start_process(self, *words, out=os.devnull, **options):
        """A process that writes to the end of the file `out`, unless the options say otherwise; ended with the case."""
        with open(out, "ab") as file:
            process = subprocess.Popen([str(word) for word in words],
                                       **{"stdin": subprocess.DEVNULL, "stdout": file, "stderr": file,
                                          "preexec_fn": end_with_parent, **options})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def start_by_hand(self, name, *words):
        """A server or worker without a run; and its log, as a function."""
        log = self.folder / f"{name}.log"
        return self.start_process(*words, "--log-file", log), lambda: text_of(log)

    def start_worker(self, run, name, lead=None, options=(), environment=None):
        """A worker of our own in a run's cluster, or for another lead."""
        process = self.start_process(WORKER, "--lead", lead or run.lead(), "--name", name, *run.keys("worker"), *options,
                                     out=run.folder / "logs" / f"{name}.log", env={**os.environ, **(environment or {})})
        run.seen_pids.add(process.pid)
        return process

    def logs(self):
        """What a wait that was in vain tells besides."""
        return ends_of(sorted(self.folder.glob("*.log")), self.folder)

    def wait_for(self, what, holds):
        """Waits until holds() gives something true, and returns that."""
        return (wait_for(holds, self.patience, self.pause)
                or self.fail(f"waited {self.patience} s for {what}\n{self.logs()}"))

    def ballast(self, *words, code=0):
        """A command that must end with this code, and what it prints."""
        answer = ballast(*words, cwd=self.folder, timeout=self.patience)
        self.assertEqual(answer.returncode, code, answer.stdout + answer.stderr)
        return answer

    def digest_of(self, folder, *options):
        """The digests of a run's databases."""
        return json.loads(self.ballast("digest", folder, *options).stdout)

    def link_programs(self):
        """A folder for PATH that holds the programs."""
        programs = self.folder / "bin"
        programs.mkdir()
        for program in (BALLAST, SERVER, WORKER):
            (programs / program.name).symlink_to(program)
        return programs

    def reference(self, job, overrides=None, skip=(), patience=None):
        """What the sequential reference makes of the job, without the updates of the steps in `skip`."""
        skipped = [word for step in skip for word in ("--skip", str(step))]
        answer = call(REFERENCE, job, *set_options(overrides or {}), *skipped, timeout=patience or self.patience)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return json.loads(answer.stdout)

    def expect_equal_bits(self, summary, reference):
        self.assertRegex(reference["weights_sha256"], "^[0-9a-f]{64}$")
        self.assertEqual(summary["weights_sha256"], reference["weights_sha256"], summary)
        self.assertEqual(summary["optimizer_sha256"], reference["optimizer_sha256"], summary)

    def expect_bits_so_far(self, job, stopped, databases, patience=None, name="gathered"):
        """Those of a job that `ballast stop` has ended, which said `stopped`, are the reference's after as many steps."""
        self.assertIn("with a snapshot of step ", stopped)
        step = re.search(r"with a snapshot of step (\d+)", stopped)[1]
        self.ballast("gather", *databases, "--run-dir", self.folder / name)
        found = self.digest_of(self.folder / name, "--step", step)
        expected = self.reference(job, {"model.compute_ms": 0, "training.max_steps": step}, patience=patience)
        self.expect_equal_bits(found, expected)

    def expect_all_slots(self, summary, slots):
        """Each slot of each step was accepted exactly once."""
        self.assertEqual(sum(summary["slots_by_session"].values()), summary["steps"] * slots, summary)


def main(unfit=None):
    """Runs the cases of the program, unless unfit() gives a reason why they cannot be tried here."""
    if unfit and (reason := unfit()):
        print(f"{pathlib.Path(sys.argv[0]).stem}: {reason}")
        sys.exit(CANNOT_BE_TRIED)
    unittest.main(verbosity=2, failfast=False)
