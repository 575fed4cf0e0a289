"""Hosts made of network namespaces, each on a link of its own to one switch, with rates as they are asked for.

Needs root and iproute2. `unfit()` says why they cannot be had here. Names hold the pid of who made them, and whoever makes
hosts removes those of processes that are gone, so that not even a SIGKILL leaves any for long.
"""

import contextlib
import ctypes
import os
import pathlib
import re
import shutil
import socket
import subprocess

_PREFIX = "ballast-host"
_NETNS = pathlib.Path("/run/netns")
_CLONE_NEWNET = 0x40000000
_PATIENCE = 120  # seconds that a command may take which should take a moment
_MTU = 9000  # so that what a link carries is nearly all payload
_LEAST_BURST = 2 * _MTU  # bytes: tbf cuts what is larger into frames, and htb lets it pass, and nothing for as long
_QUEUE = 32 << 20  # bytes: more than TCP has on its way, so that a shaped link delays and drops nothing

_libc = ctypes.CDLL(None, use_errno=True)


def ip(*words, check=True):
    return _call("ip", *words, check=check)


def _call(*words, check=True):
    answer = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False,
                            stdin=subprocess.DEVNULL, timeout=_PATIENCE)
    if check and answer.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: {answer.stderr.strip() or answer.returncode}")
    return answer


def unfit():
    """Why hosts cannot be had here; None if they can."""
    if os.geteuid() != 0:
        return "needs root, for network namespaces"
    for program in ("ip", "tc"):
        if shutil.which(program) is None:
            return f"needs {program}, of the package iproute2"
    probe = f"{_PREFIX}-{os.getpid()}-probe"
    made = ip("netns", "add", probe, check=False)
    ip("netns", "del", probe, check=False)
    return None if made.returncode == 0 else f"network namespaces cannot be made here: {made.stderr.strip()}"


def remove_forgotten():
    """Removes hosts whose maker is gone."""
    if not _NETNS.is_dir():
        return
    for entry in _NETNS.iterdir():
        of = re.fullmatch(rf"{_PREFIX}-(\d+)-.*", entry.name)
        if of and not pathlib.Path(f"/proc/{of[1]}").exists():
            ip("netns", "del", entry.name, check=False)


def bits(bytes_per_second):
    return f"{int(bytes_per_second * 8)}bit"


class Namespaces:
    """Hosts 10.78.0.1, 10.78.0.2, ... in the order in which they are named, each with a device eth0 that connect_all() makes."""

    def __init__(self, names):
        remove_forgotten()
        self.address = {name: f"10.78.0.{number}" for number, name in enumerate(names, start=1)}
        self.names = list(names)
        self._made = []
        try:
            self.connect_all()
        except BaseException:
            self.remove()
            raise

    def connect_all(self):
        """Makes all namespaces, by new(), their devices, and calls bring_up() for each."""
        raise NotImplementedError

    @staticmethod
    def namespace(name):
        return f"{_PREFIX}-{os.getpid()}-{name}"

    def new(self, name):
        namespace = self.namespace(name)
        ip("netns", "add", namespace)
        self._made.append(namespace)
        return namespace

    def bring_up(self, name):
        host = self.namespace(name)
        ip("-n", host, "addr", "add", f"{self.address[name]}/24", "dev", "eth0")
        for device in ("eth0", "lo"):
            ip("-n", host, "link", "set", device, "up")
        # bbr measures a rate that tbf decides, and a pause would begin with a small window again. Reno is always allowed.
        for key, value in (("tcp_congestion_control", "reno"), ("tcp_slow_start_after_idle", "0")):
            self.call(name, "sysctl", "-q", "-w", f"net.ipv4.{key}={value}")

    # ---- processes and sockets

    def on(self, name, *words):
        """The command that runs these words on the host, in the place of itself."""
        return ["ip", "netns", "exec", self.namespace(name), *map(str, words)]

    def call(self, name, *words, check=True):
        return _call(*self.on(name, *words), check=check)

    @contextlib.contextmanager
    def inside(self, name):
        """This thread's new sockets are the host's."""
        with open("/proc/thread-self/ns/net", "rb") as home, open(_NETNS / self.namespace(name), "rb") as there:
            self._enter(there)
            try:
                yield
            finally:
                self._enter(home)

    @staticmethod
    def _enter(namespace):
        if _libc.setns(namespace.fileno(), _CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")

    def connect(self, name, port, timeout=1.0):
        """A connection to a port of the host's loopback, which uses nothing of its link."""
        with self.inside(name):
            connection = socket.socket()
        connection.settimeout(timeout)
        try:
            connection.connect(("127.0.0.1", port))
        except OSError:
            connection.close()
            raise
        return connection

    def remove(self):
        """Whoever still runs on a host stays alive, without a link."""
        while self._made:
            ip("netns", "del", self._made.pop(), check=False)


class Wire:
    """A link that takes time and loses frames (wire/main.cpp), between devices of two namespaces."""

    def __init__(self, program, *ends):
        self._process = subprocess.Popen([str(word) for word in (program, *ends)], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)
        if self._process.stdout.readline() != "ready\n":
            raise RuntimeError(f"{program} ended with {self._process.wait()}")

    def set(self, delay=0.0, loss=0.0):
        """Seconds of a frame one way, and the part of frames that are lost; both ways are alike."""
        self._process.stdin.write(f"{round(delay * 1e6)} {loss:g}\n")
        self._process.stdin.flush()

    def end(self):
        with contextlib.suppress(OSError):  # it may have ended
            self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


class Hosts(Namespaces):
    """Hosts on a bridge, in a namespace of its own, whose links have rates in bytes per second. Those of `wired` are wires
    that `program` makes (Wire), by name in `wires`. A link that has stood still may carry at once what it carries in
    `burst` seconds: few, or a message that all wait for takes no time; but where timers are later than that it carries less than
    its rate."""

    def __init__(self, names, wired=(), program=None, burst=0.002):
        self.burst = burst
        self.wires = dict.fromkeys(wired)
        self._program = program
        super().__init__(names)

    def connect_all(self):
        switch = self.new("switch")
        ip("-n", switch, "link", "add", "bridge", "type", "bridge")
        ip("-n", switch, "link", "set", "bridge", "up")
        for name in self.names:
            host = self.new(name)
            if name in self.wires:
                self.wires[name] = Wire(self._program, host, "eth0", switch, self.port(name))
                ip("-n", host, "link", "set", "eth0", "mtu", _MTU)
                ip("-n", switch, "link", "set", self.port(name), "mtu", _MTU)
            else:
                ip("link", "add", "eth0", "netns", host, "mtu", _MTU, "type", "veth",
                   "peer", "name", self.port(name), "netns", switch, "mtu", _MTU)
            ip("-n", switch, "link", "set", self.port(name), "master", "bridge", "up")
            self.bring_up(name)

    def remove(self):
        try:
            for wire in filter(None, self.wires.values()):
                wire.end()
        finally:
            super().remove()

    def port(self, name):
        """The switch's end of a host's link."""
        return f"port{self.names.index(name) + 1}"

    def limit_up(self, name, rate):
        """What the host sends, to whomever. `rate` None: no limit."""
        self._limit(self.namespace(name), "eth0", rate)

    def limit_down(self, name, rate):
        """What the host receives, from whomever."""
        self._limit(self.namespace("switch"), self.port(name), rate)

    def _burst(self, rate):
        return max(_LEAST_BURST, int(rate * self.burst))

    def _limit(self, namespace, device, rate):
        if rate is None:
            _call("tc", "-n", namespace, "qdisc", "del", "dev", device, "root", check=False)
            return
        _call("tc", "-n", namespace, "qdisc", "replace", "dev", device, "root", "tbf", "rate", bits(rate),
              "burst", self._burst(rate), "limit", _QUEUE)

    def share_up(self, name, rate, receivers):
        """What the host sends: `rate` in all, and to each of the receivers (rates by name) as much as its link takes.
        Where the sender waits for its own link, TCP queues no more than it must."""
        def tc(*words):
            _call("tc", "-n", self.namespace(name), *words)
        tc("qdisc", "replace", "dev", "eth0", "root", "handle", "1:", "htb", "default", "1")
        self.set_shares(name, rate, receivers)
        for number, receiver in enumerate(receivers, start=2):
            tc("qdisc", "replace", "dev", "eth0", "parent", f"1:{number:x}", "pfifo", "limit", 100000)
            tc("filter", "add", "dev", "eth0", "parent", "1:", "protocol", "ip", "prio", 1, "u32",
               "match", "ip", "dst", f"{self.address[receiver]}/32", "flowid", f"1:{number:x}")

    def set_shares(self, name, rate, receivers):
        """Other rates of share_up(), for the same receivers in the same order."""
        def shape(number, parent, least, most):
            _call("tc", "-n", self.namespace(name), "class", "replace", "dev", "eth0", "parent", parent, "classid", f"1:{number:x}",
                  "htb", "rate", bits(least), "ceil", bits(most), "burst", self._burst(least), "cburst", self._burst(most), "quantum", 64000)
        shape(1, "1:", rate, rate)
        # What each may send for certain it may send at once after it stood still, whatever the others send: so it is little,
        # and all but that they take turns to borrow.
        certain = rate / 100 / len(receivers)
        for number, its in enumerate(receivers.values(), start=2):
            shape(number, "1:1", min(its, certain), its)

    def set_link(self, name, up):
        """Pulls the host's cable, or plugs it in again."""
        ip("-n", self.namespace("switch"), "link", "set", self.port(name), "up" if up else "down")
