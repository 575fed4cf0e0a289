"""A job on hosts of its own, kept alive as a service manager would: what ends is started again, with the same arguments."""

import os
import pathlib
import resource
import signal
import socket
import struct
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))

import harness  # pylint: disable=wrong-import-position
import hosts  # pylint: disable=wrong-import-position
import small_disks  # pylint: disable=wrong-import-position
from switch import Switched  # pylint: disable=wrong-import-position

SHARDS = 3
WORKERS = 5        # hosts for them; four are there from the start
LEAD_PORT = 7000
LANE_PORT = 7100
METRICS_PORT = 9100
DISK = 96          # megabytes of each shard
JOURNALED_DISK = 320  # the same where every segment of the journal is kept
FILES = 1024       # that a server may have open: strangers can take them all
CLOCK_STEP = harness.BUILD / "tests" / "soak" / "libclock-step.so"

_ENDED_FOR_GOOD = (2, 4)  # exit codes that another life would only say again
# A job fails whose last snapshot finds a full disk, and goes on when its processes are started again (docs/durability.md).
_FULL = "the disk is full: make room on it"
_ENDED_WITH_THE_JOB = "the run has ended well"  # in the log; a server that left because it was told to ends with 0, too


def set_clock(file, seconds):
    with open(file, "r+b" if file.exists() else "wb") as out:
        out.write(struct.pack("d", seconds))


class Process:
    """A server or worker, through all its lives."""

    def __init__(self, cluster, name, words, environment):
        self.cluster = cluster
        self.name = name
        self.words = words
        self.environment = dict(environment)
        self.process = None
        self.lives = 0
        self.wanted = False      # started again when it ends
        self.due = 0.0           # when its next life begins
        self.finished = False    # it has ended by itself, with the job
        self.stopped = False
        self.told = False        # to end, in this life
        self.clock = cluster.folder / f"{name}.clock"
        if CLOCK_STEP.exists():
            set_clock(self.clock, 0.0)
            self.environment |= {"LD_PRELOAD": str(CLOCK_STEP), "BALLAST_CLOCK_OFFSET": str(self.clock)}

    def is_alive(self):
        return self.process is not None and self.process.poll() is None

    def start(self):
        self.wanted = True
        self.finished = self.stopped = self.told = False
        self.lives += 1
        # Each life on a monotonic clock of its own, as if each were on another machine.
        offset = self.cluster.chance.randrange(0, 1_000_000)
        clocks = ["unshare", "--time", "--monotonic", offset, "--boottime", offset] if self.cluster.has_time_namespaces else []
        with open(self.cluster.logs / f"{self.name}.out", "ab") as out:
            self.process = subprocess.Popen(
                self.cluster.hosts.on(self.name, *clocks, *self.words), stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                env=self.environment, preexec_fn=self._begin)

    def _begin(self):
        harness._libc.prctl(1, signal.SIGKILL)  # pylint: disable=protected-access  # stopped ones hear no other
        if self.name.startswith("s"):
            resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))

    def signal(self, number):
        if self.is_alive():
            self.process.send_signal(number)
            self.told = self.told or number == signal.SIGTERM
            self.stopped = number == signal.SIGSTOP or (self.stopped and number != signal.SIGCONT)

    def look(self, now):
        """Starts it again when it is time. Returns what is wrong, if it has ended for good."""
        if self.is_alive() or self.finished or not self.wanted:
            return None
        if self.process is not None:
            code = self.process.returncode
            if code == 0 and not self._left_before_the_end():
                self.finished = True
                return None
            if self.due <= 0:
                self.due = now + self.cluster.chance.uniform(0.2, 1.5)
                if code in _ENDED_FOR_GOOD:
                    return f"{self.name} ended with {code}: {self.last_words()}"
                if code == 1 and not self.last_words().endswith(_FULL):
                    self.cluster.troubles.append(f"{self.name} ended with 1: {self.last_words()}")
        if self.due <= now:
            self.due = 0.0
            self.start()
        return None

    def _left_before_the_end(self):
        return self.told and _ENDED_WITH_THE_JOB not in self._last_line("log")

    def last_words(self):
        return self._last_line("out")

    def _last_line(self, kind):
        return (harness.text_of(self.cluster.logs / f"{self.name}.{kind}").strip().splitlines() or [""])[-1]

    def kill(self):
        if self.is_alive():
            self.process.kill()
        if self.process is not None:
            self.process.wait()


class Cluster:
    """Servers s0, s1, ... and workers w0, w1, ..., each on a host of its name."""

    def __init__(self, case, job_text, chance, account=None):
        """`account`: where the workers write down what they send and get, if they are to."""
        self.case = case
        self.chance = chance
        self.folder = case.folder / "run"
        self.logs = self.folder / "logs"
        self.logs.mkdir(parents=True)
        self.job = self.folder / "job.yaml"
        self.job.write_text(job_text)
        self.keys = self.folder / "keys"
        harness.ballast("keygen", self.keys)
        self.troubles = []
        self.has_time_namespaces = _time_namespaces()
        self.disks = [self._disk(shard, JOURNALED_DISK if account else DISK) for shard in range(SHARDS)]
        self.hosts = Switched([f"s{shard}" for shard in range(SHARDS)] + [f"w{worker}" for worker in range(WORKERS)])
        self.environment = {**os.environ, "BALLAST_CUDA_MODULE": "none"}
        self.processes = {}
        for shard in range(SHARDS):
            self._add(f"s{shard}", self._server(shard), self.environment)
        account_of = {"BALLAST_WORKER_ACCOUNT": str(account)} if account else {}
        for worker in range(WORKERS):
            self._add(f"w{worker}", self._worker(f"w{worker}"), self.environment | account_of)

    def _add(self, name, words, environment):
        self.processes[name] = Process(self, name, words, environment)

    def _disk(self, shard, megabytes):
        disk = small_disks.SmallDisk(self.case, self.case.folder / f"disk-{shard}", megabytes)
        (disk.folder / "database").mkdir()
        (self.folder / f"shard-{shard}").symlink_to(disk.folder / "database")
        return disk

    def lead(self):
        return f"tcp://{self.hosts.address['s0']}:{LEAD_PORT}"

    def _common(self, name):
        return ["--metrics", f"127.0.0.1:{METRICS_PORT}", "--log-file", self.logs / f"{name}.log"]

    def _server(self, shard):
        address = self.hosts.address[f"s{shard}"]
        return [harness.SERVER, "--job", self.job, "--shard", shard, "--lead", self.lead(), "--bind",
                f"tcp://{address}:{LANE_PORT}", "--database", self.folder / f"shard-{shard}", "--keys", self.keys,
                *self._common(f"s{shard}")]

    def _worker(self, name):
        return [harness.WORKER, "--lead", self.lead(), "--name", name, "--keys", self.keys / "worker.key",
                *self._common(name)]

    def start(self):
        for name, process in self.processes.items():
            if name != f"w{WORKERS - 1}":
                process.start()

    def of(self, role, alive=True):
        """Processes of servers (`s`) or workers (`w`)."""
        return [process for name, process in self.processes.items()
                if name[0] == role and (not alive or process.is_alive())]

    def look(self):
        """Starts again what has ended; returns what is wrong."""
        now = time.monotonic()
        if not self.hosts.is_alive():
            return "the switch has ended"
        return next((wrong for process in self.processes.values() if (wrong := process.look(now))), None)

    def has_finished(self):
        return all(process.finished for process in self.of("s", alive=False))

    def status(self):
        """What the lead says, asked from its own host."""
        try:
            answer = self.hosts.call("s0", harness.BALLAST, "status", self.lead(), "--keys", self.keys / "operator.key",
                                     check=False)
        except subprocess.TimeoutExpired:
            return "the lead does not answer"
        return answer.stdout + answer.stderr

    def end(self):
        for process in self.processes.values():
            process.kill()
        self.hosts.remove()


class Strangers:
    """More connections to a server than it may have files, which say nothing."""

    def __init__(self, cluster, name, count):
        address = cluster.hosts.address[name]
        self.sockets = []
        with cluster.hosts.inside(name):
            for _ in range(count):
                one = socket.socket()
                one.setblocking(False)
                one.connect_ex((address, LANE_PORT))
                self.sockets.append(one)

    def leave(self):
        for one in self.sockets:
            one.close()


def _time_namespaces():
    answer = harness.call("unshare", "--time", "--monotonic", 1000, "--boottime", 1000, "cat", "/proc/uptime")
    if answer.returncode != 0:
        return False
    with open("/proc/uptime", encoding="ascii") as uptime:
        return float(answer.stdout.split()[0]) - float(uptime.read().split()[0]) > 900


def unfit():
    """Why there can be no soak here; None if there can."""
    if (reason := hosts.unfit()) is not None:
        return reason
    for program in (harness.SERVER, harness.WORKER, harness.BALLAST, harness.REFERENCE):
        if not program.exists():
            return f"needs {program}; $BALLAST_BUILD says where programs are built"
    return None if os.path.exists("/dev/net/tun") else "needs /dev/net/tun"
