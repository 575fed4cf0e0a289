"""A switch in user space, of TAP devices in network namespaces: it delays, loses and slows down what a host sends and
receives, cuts links, and cuts one direction between two hosts alone. No kernel module is needed for that.

A program of its own, so that it shares no interpreter with whoever injects faults: orders come as lines of JSON on standard
input. `Switched` is its other end.
"""

import fcntl
import heapq
import json
import os
import pathlib
import random
import select
import socket
import struct
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))

import hosts  # pylint: disable=wrong-import-position

_TUNSETIFF = 0x400454CA
_IFF_TAP = 0x0002
_IFF_NO_PI = 0x1000
_MTU = 9000
_FRAME = _MTU + 64
_QUEUE = 1 << 20  # bytes that wait for a slow link; what comes beyond is lost, as in any switch


class Switched(hosts.Namespaces):
    """Hosts on such a switch. Policies of a host hold for what it sends and for what it receives, each once."""

    def connect_all(self):
        taps = []
        for number, name in enumerate(self.names, start=1):
            self.new(name)
            with self.inside(name):
                tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
                fcntl.ioctl(tap, _TUNSETIFF, struct.pack("16sH", b"eth0", _IFF_TAP | _IFF_NO_PI))
            taps.append(tap)
            namespace = self.namespace(name)
            hosts.ip("-n", namespace, "link", "set", "eth0", "address", f"02:00:00:00:00:{number:02x}", "mtu", _MTU)
            self.bring_up(name)
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen([sys.executable, __file__, *map(str, taps)], stdin=theirs, pass_fds=taps)
        for tap in taps:
            os.close(tap)
        self._orders = ours

    def order(self, **words):
        self._orders.sendall(json.dumps(words).encode() + b"\n")

    def policy(self, name, **policy):
        """down: no frame passes; loss: part of the frames; delay: seconds, each way; rate: bytes per second, each way."""
        self.order(host=self.names.index(name), policy=policy)

    def block(self, sender, receiver, blocked):
        """Whether what one host sends to another is lost; the other direction is as before."""
        self.order(sender=self.names.index(sender), receiver=self.names.index(receiver), blocked=blocked)

    def is_alive(self):
        return self._process.poll() is None

    def remove(self):
        if hasattr(self, "_process"):
            self._process.kill()
            self._process.wait()
            self._orders.close()
        super().remove()


class Direction:
    """What a host sends, or what it receives."""

    def __init__(self):
        self.free_at = 0.0  # when the link is done with what has been given to it

    def pass_at(self, now, size, policy):
        """When a frame is through; None: it is lost."""
        if policy.get("down") or random.random() < policy.get("loss", 0.0):
            return None
        rate = policy.get("rate")
        if rate:
            begin = max(self.free_at, now)
            if (begin - now) * rate > _QUEUE:
                return None
            self.free_at = begin + size / rate
            now = self.free_at
        return now + policy.get("delay", 0.0)


class Switch:
    def __init__(self, taps):
        self.taps = taps
        self.policies = [{} for _ in taps]
        self.blocked = set()
        self.up = [Direction() for _ in taps]
        self.down = [Direction() for _ in taps]
        self.waiting = []  # (when, number, receiver, frame), a heap
        self.number = 0
        self.orders = b""

    def obey(self, line):
        order = json.loads(line)
        if "host" in order:
            self.policies[order["host"]] = order["policy"]
        else:
            pair = (order["sender"], order["receiver"])
            (self.blocked.add if order["blocked"] else self.blocked.discard)(pair)

    def receivers(self, sender, frame):
        if frame[0] & 1:  # to all
            return [other for other in range(len(self.taps)) if other != sender]
        of = frame[5] - 1
        return [of] if 0 <= of < len(self.taps) and of != sender else []

    def take(self, sender, frame, now):
        through = self.up[sender].pass_at(now, len(frame), self.policies[sender])
        if through is None:
            return
        for receiver in self.receivers(sender, frame):
            if (sender, receiver) in self.blocked:
                continue
            at = self.down[receiver].pass_at(through, len(frame), self.policies[receiver])
            if at is None:
                continue
            if at <= now and not self.waiting:
                self.give(receiver, frame)
            else:
                self.number += 1
                heapq.heappush(self.waiting, (at, self.number, receiver, frame))

    def give(self, receiver, frame):
        try:
            os.write(self.taps[receiver], frame)
        except OSError:  # its queue is full, or its host is gone
            pass

    def give_due(self, now):
        while self.waiting and self.waiting[0][0] <= now:
            _, _, receiver, frame = heapq.heappop(self.waiting)
            self.give(receiver, frame)

    def run(self):
        poll = select.poll()
        by_descriptor = {tap: number for number, tap in enumerate(self.taps)}
        for tap in self.taps:
            poll.register(tap, select.POLLIN)
        poll.register(0, select.POLLIN)
        while True:
            wait = max(0.0, self.waiting[0][0] - time.monotonic()) * 1000 if self.waiting else None
            for descriptor, _ in poll.poll(wait):
                if descriptor == 0:
                    said = os.read(0, 1 << 16)
                    if not said:
                        return
                    *lines, self.orders = (self.orders + said).split(b"\n")
                    for line in lines:
                        self.obey(line)
                else:
                    self._take_some(by_descriptor[descriptor], descriptor)
            self.give_due(time.monotonic())

    def _take_some(self, sender, tap):
        now = time.monotonic()
        for _ in range(64):
            try:
                frame = os.read(tap, _FRAME)
            except BlockingIOError:
                return
            self.take(sender, frame, now)


if __name__ == "__main__":
    try:
        Switch([int(word) for word in sys.argv[1:]]).run()
    except KeyboardInterrupt:
        pass
