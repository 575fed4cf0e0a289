"""A job by hand on hosts of its own: the servers on one, each worker on another; and what is seen of it while it runs."""

import ctypes
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "cluster"))

import cgroups  # pylint: disable=wrong-import-position
import harness  # pylint: disable=wrong-import-position
import hosts as machines  # pylint: disable=wrong-import-position

SHARDS = 2
CHUNK = 1 << 20   # bytes, at most
TENSORS = 8       # of the model
LEAD_PORT = 7000
LANE_PORT = 7100
METRICS_PORT = 9100
PATIENCE = 60     # seconds until everybody trains

_LINE = re.compile(r"^(ballast_\w+)(\{[^}]*\})? (\S+)$", re.MULTILINE)


def parse(page):
    """A page of metrics: values by name and labels, as they stand in it."""
    return {name + (labels or ""): float(value) for name, labels, value in _LINE.findall(page)}


def total(values, beginning):
    """The sum of all series whose name and labels begin so."""
    return sum(value for series, value in values.items() if series.startswith(beginning))


def job_text(slots, workers, slot_seconds, size, balance, training="", durability="mode: final"):
    """Timed compute, no evaluation, and an epoch that does not end: nothing but slots and links takes time, unless
    `durability` has snapshots. `balance`: more keys of the cluster, or none; `training`: more lines of the training, or none."""
    tensors = ", ".join(f"{{name: t{number}, shape: [{int(size) // 4 // TENSORS}]}}" for number in range(TENSORS))
    return f"""\
job: stragglers
model: {{name: emulated, gradient: fixed, compute_ms: {slot_seconds * 1000:g}, parameters: [{tensors}]}}
data: {{name: none, train_examples: {slots * 200000}}}
training:
  slots: {slots}
  batch: {slots}
  max_steps: 1000000
  optimizer: {{name: sgd, learning_rate: 0.01}}
{training}cluster: {{shards: {SHARDS}, lanes: 1, workers: {workers}, start_workers: {workers}{balance}}}
durability: {{{durability}}}
"""


class Closes(threading.Thread):
    """When each step closed: when a worker had all chunks of its version, by that worker's account, which it writes into
    our pipe line by line. `times[n]` is when version n + 1 was whole, by our steady clock."""

    def __init__(self, path, chunks):
        super().__init__(daemon=True)
        os.mkfifo(path)
        self._pipe = os.open(path, os.O_RDWR)  # so that it neither waits for a writer nor ends with one
        self._chunks = chunks
        self._newest = {}
        self.times = []
        self.over = False

    def run(self):
        rest = b""
        while not self.over:
            rest += os.read(self._pipe, 1 << 16)
            *lines, rest = rest.split(b"\n")
            for line in lines:
                if line.startswith(b"weights "):
                    self._arrived(*map(int, line.split()[2:4]))

    def _arrived(self, chunk, version):
        self._newest[chunk] = max(version, self._newest.get(chunk, 0))
        if len(self._newest) < self._chunks:
            return
        whole = min(self._newest.values())
        while len(self.times) < whole:
            self.times.append(time.monotonic())

    def end(self):
        self.over = True
        os.write(self._pipe, b"\n")
        self.join()
        os.close(self._pipe)


class Cluster:
    """Ended by end(), whatever happens: every process is known by its pid and killed by it."""

    def __init__(self, folder, job, links, delays, watcher, chunks, servers=None, apart=None, wired=(), environment=None, declared=0,
                 slows_disks=False, burst=0.002):
        """`links`: bytes per second of each worker's link, both ways; `delays`: by worker, milliseconds before each slot;
        `watcher`: the worker by whose account steps close; `chunks`: of the model, with that of its statistics;
        `servers`: bytes per second of the servers' link, by default half of what the workers' are together; `apart`: the
        same by shard, each on a host of its own; `wired`: workers whose links are wires (hosts.Wire); `declared`: what workers say of
        theirs, in Mbit/s; `slows_disks`: slow_disk() may be called; `burst`: see hosts.Hosts."""
        self.folder = folder
        self.links = links
        self.apart = apart
        self.groups = []
        self.watcher = watcher
        self.declared = declared
        self.slows_disks = slows_disks
        if slows_disks and not harness.SLOW_DISK.exists():
            raise RuntimeError(f"needs {harness.SLOW_DISK}")
        self.processes = {}
        self.stopped = set()
        self.job = folder / "job.yaml"
        self.job.write_text(job)
        self._environment = {**os.environ, "BALLAST_CUDA_MODULE": "none",
                             "BALLAST_DELAY": ",".join(f"w{worker}:{delay}" for worker, delay in delays.items()),
                             **(environment or {})}
        servers_hosts = [f"s{shard}" for shard in range(len(apart))] if apart else ["servers"]
        self.hosts = machines.Hosts(servers_hosts + [f"w{worker}" for worker in range(len(links))],
                                    [f"w{worker}" for worker in wired], harness.WIRE, burst)
        try:
            self._shape(servers or sum(links) / 2)
        except BaseException:
            self.hosts.remove()
            raise
        self.closes = Closes(folder / "closes", chunks)
        self.closes.start()

    def host_of(self, shard):
        return f"s{shard}" if self.apart else "servers"

    def _shape(self, servers):
        self._servers = servers
        for name, rate in self._server_rates().items():
            self.hosts.share_up(name, rate, self._worker_rates())
        self.set_rates()

    def _server_rates(self):
        return {f"s{shard}": rate for shard, rate in enumerate(self.apart)} if self.apart else {"servers": self._servers}

    def _worker_rates(self):
        return {f"w{worker}": rate for worker, rate in enumerate(self.links)}

    def set_rates(self):
        """By `links` and `apart`, which may have changed."""
        for name, rate in self._server_rates().items():
            self.hosts.set_shares(name, rate, self._worker_rates())
            self.hosts.limit_down(name, rate)
        for name, rate in self._worker_rates().items():
            self.hosts.limit_up(name, rate)
            if self.apart:  # servers that do not know of each other
                self.hosts.limit_down(name, rate)

    # ---- processes

    def lead(self):
        return f"tcp://{self.hosts.address[self.host_of(0)]}:{LEAD_PORT}"

    def start(self):
        for shard in range(SHARDS):
            address = self.hosts.address[self.host_of(shard)]
            self._start(f"s{shard}", self.host_of(shard), harness.SERVER, "--job", self.job, "--shard", shard, "--lead", self.lead(),
                        "--bind", f"tcp://{address}:{LANE_PORT + 10 * shard}", "--database", self.folder / f"shard-{shard}",
                        "--metrics", f"127.0.0.1:{METRICS_PORT + shard}", "--insecure",
                        environment=self._of_server(shard))
        for worker in range(len(self.links)):
            self.start_worker(worker)

    def _of_server(self, shard):
        if not self.slows_disks:
            return None
        return {**self._environment, "LD_PRELOAD": str(harness.SLOW_DISK), "BALLAST_SLOW_DISK": str(self._slow_disk(shard))}

    def start_worker(self, worker):
        name = f"w{worker}"
        environment = dict(self._environment)
        if worker == self.watcher:
            environment["BALLAST_WORKER_ACCOUNT"] = str(self.folder / "closes")
        self._start(name, name, harness.WORKER, "--lead", self.lead(), "--name", name, "--metrics",
                    f"127.0.0.1:{METRICS_PORT}", *(["--link-mbit", self.declared] if self.declared else []),
                    environment=environment)

    def _start(self, name, host, *words, environment=None):
        with open(self.folder / f"{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen(
                self.hosts.on(host, *words), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=environment or self._environment, preexec_fn=end_with_parent)

    def signal(self, worker, number):
        name = f"w{worker}"
        self.processes[name].send_signal(number)
        if number == signal.SIGSTOP:
            self.stopped.add(name)
        elif number == signal.SIGCONT:
            self.stopped.discard(name)

    def limit_processor(self, name, share):
        """Of one processor, for all threads of the process together."""
        group = cgroups.Processors(share, name, shortest_period(share))
        self.groups.append(group)
        group.enter(self.processes[name].pid)

    def limit_thread(self, name, thread, share):
        """Of one processor, for one thread of the process alone: that of this name."""
        tasks = pathlib.Path(f"/proc/{self.processes[name].pid}/task")
        tid = next((task.name for task in tasks.iterdir() if (task / "comm").read_text().strip() == thread), None)
        if tid is None:
            raise RuntimeError(f"{name} has no thread {thread}")
        group = cgroups.Processors(share, f"{name}-{thread}", shortest_period(share))
        self.groups.append(group)
        group.enter_thread(tid)

    def slow_disk(self, shard, milliseconds):
        """What each call that waits for the disk takes more."""
        self._slow_disk(shard).write_text(str(milliseconds))

    def _slow_disk(self, shard):
        return self.folder / f"slow-disk-{shard}"

    def kill_worker(self, worker):
        self.signal(worker, signal.SIGKILL)
        self.processes[f"w{worker}"].wait()

    def check(self):
        """Fails if anybody has ended whom we did not end."""
        for name, process in self.processes.items():
            if process.poll() not in (None, -signal.SIGKILL):
                raise RuntimeError(f"{name} ended with {process.returncode}\n{self.logs()}")

    def end(self):
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
        for process in self.processes.values():
            process.wait()
        try:
            for group in self.groups:
                group.remove()
        finally:
            self.closes.end()
            self.hosts.remove()

    def logs(self):
        return harness.ends_of(sorted(self.folder.glob("*.log")), self.folder)

    # ---- what is seen

    def page(self, host, port):
        """A page of metrics, over the host's loopback; None if nobody answers."""
        try:
            with self.hosts.connect(host, port) as connection:
                connection.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
                answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
        except OSError:
            return None
        return parse(answer.partition(b"\r\n\r\n")[2].decode())

    def lead_page(self):
        return self.page(self.host_of(0), METRICS_PORT)

    def worker_page(self, worker):
        return None if f"w{worker}" in self.stopped else self.page(f"w{worker}", METRICS_PORT)

    def wait_for(self, what, holds, patience=PATIENCE):
        limit = time.monotonic() + patience
        while not holds():
            self.check()
            if time.monotonic() > limit:
                raise RuntimeError(f"waited {patience} s for {what}\n{self.logs()}")
            time.sleep(0.1)

    def wait_until_all_train(self):
        self.wait_for("all workers to train", lambda: (self.lead_page() or {}).get("ballast_lead_sessions", 0)
                      == len(self.links) and len(self.closes.times) > 0)

    def steps(self):
        return len(self.closes.times)


def shortest_period(share):
    """Microseconds in which such a part of a processor is to be had: those of a step are to be many, or its luck decides."""
    return math.ceil(1010 / share)  # the kernel gives no less than a millisecond at a time


def end_with_parent():
    """In the child: SIGKILL when the rig is gone, for a process that stands still hears nothing else."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def unfit():
    """Why nothing can be measured here; None if it can."""
    missing = next((program for program in (harness.SERVER, harness.WORKER, harness.WIRE) if not program.exists()), None)
    if missing:
        return f"needs {missing}; $BALLAST_BUILD says where programs are built"
    return machines.unfit() or cgroups.unfit()
