"""Faults, drawn from a seed, several at once, and taken back after a while."""

import resource
import signal
import time

import cluster as soak_cluster

GAP = (1.0, 5.0)      # seconds from one fault to the next
MOST_AT_ONCE = 4
STRANGERS = 1100      # more than a server may have files
SERVER_LIFE = 8.0     # seconds that servers are left alone after one was killed or told to end, so that the job gets somewhere


class Fault:
    """One that is in effect until `until`."""

    def __init__(self, kind, about, seconds=0.0, end=None):
        self.kind = kind
        self.about = about
        self.until = time.monotonic() + seconds
        self.end = end


class Faults:
    def __init__(self, cluster, chance, note):
        """`note`: told each fault and its end."""
        self.cluster = cluster
        self.chance = chance
        self.note = note
        self.counts = {}
        self.active = []
        self._next = time.monotonic() + chance.uniform(*GAP)
        self._server_died = 0.0
        self._links = {}     # by host: the fault that has its link, which has one policy at a time
        self._kinds = {
            "kill worker": (3, self._kill_worker), "kill server": (2, self._kill_server),
            "kill lead": (1, self._kill_lead), "kill all servers": (0.3, self._kill_servers),
            "tell server": (2, self._tell_server), "tell two servers": (0.7, self._tell_two_servers),
            "stop worker": (3, self._stop_worker), "stop server": (2, self._stop_server),
            "slow link": (2, self._slow_link), "loss": (2, self._loss), "delay": (2, self._delay),
            "one-way partition": (2, self._partition), "flap": (2, self._flap), "full disk": (1.5, self._full_disk),
            "no descriptors": (1, self._descriptors), "join": (2, self._join), "leave": (2, self._leave),
        }
        if not _may_open(2 * STRANGERS):
            del self._kinds["no descriptors"]
        if soak_cluster.CLOCK_STEP.exists():
            self._kinds["clock step"] = (2, self._clock)

    def act(self):
        now = time.monotonic()
        for fault in [fault for fault in self.active if fault.until <= now]:
            self._end(fault)
        if now >= self._next:
            self._next = now + self.chance.uniform(*GAP)
            if len(self.active) < MOST_AT_ONCE:
                self._begin()

    def end_all(self):
        for fault in list(self.active):
            self._end(fault)
        for process in self.cluster.processes.values():
            process.signal(signal.SIGCONT)

    def _begin(self):
        kinds = list(self._kinds)
        kind = self.chance.choices(kinds, [self._kinds[kind][0] for kind in kinds])[0]
        fault = self._kinds[kind][1](kind)
        if fault is None:  # there is nobody to have it now
            return
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self.note(kind, fault.about)
        if fault.end:
            self.active.append(fault)

    def _end(self, fault):
        self.active.remove(fault)
        fault.end()
        self.note(f"end of {fault.kind}", fault.about)

    def _any(self, role):
        found = [process for process in self.cluster.of(role) if not process.stopped]
        return self.chance.choice(found) if found else None

    # ---- processes

    def _kill(self, kind, processes, number=signal.SIGKILL):
        for process in processes:
            process.signal(number)
        return Fault(kind, " ".join(process.name for process in processes))

    def _kill_worker(self, kind):
        victim = self._any("w")
        return victim and self._kill(kind, [victim])

    def _kill_servers_if_due(self, kind, victims, number=signal.SIGKILL):
        if time.monotonic() - self._server_died < SERVER_LIFE or None in victims:
            return None
        self._server_died = time.monotonic()
        return self._kill(kind, victims, number)

    def _kill_server(self, kind):
        return self._kill_servers_if_due(kind, [self._any("s")])

    def _kill_lead(self, kind):
        return self._kill_servers_if_due(kind, [self.cluster.processes["s0"]])

    def _kill_servers(self, kind):
        return self._kill_servers_if_due(kind, self.cluster.of("s"))

    # To end, as before a machine is serviced; the job holds for them, and they are started again.
    def _tell_server(self, kind):
        return self._kill_servers_if_due(kind, [self._any("s")], signal.SIGTERM)

    def _tell_two_servers(self, kind):
        there = [process for process in self.cluster.of("s") if not process.stopped]
        victims = self.chance.sample(there, 2) if len(there) >= 2 else [None]
        return self._kill_servers_if_due(kind, victims, signal.SIGTERM)

    def _stop(self, kind, role, most):
        victim = self._any(role)
        if victim is None:
            return None
        life = victim.process

        def go_on():
            if victim.process is life:
                victim.signal(signal.SIGCONT)
        seconds = self.chance.uniform(0.3, most)
        victim.signal(signal.SIGSTOP)
        return Fault(kind, f"{victim.name} for {seconds:.1f} s", seconds, go_on)

    def _stop_worker(self, kind):
        return self._stop(kind, "w", 6.0)

    def _stop_server(self, kind):
        return self._stop(kind, "s", 4.0)

    def _join(self, kind):
        absent = [process for process in self.cluster.of("w", alive=False) if not process.wanted and not process.is_alive()]
        if not absent:
            return None
        absent[0].start()
        return Fault(kind, absent[0].name)

    def _leave(self, kind):
        there = [process for process in self.cluster.of("w") if process.wanted and not process.stopped]
        if len(there) < 3:
            return None
        leaver = self.chance.choice(there)
        leaver.wanted = False
        leaver.signal(signal.SIGTERM)
        return Fault(kind, leaver.name)

    def _clock(self, kind):
        victim = self.chance.choice(list(self.cluster.processes.values()))
        seconds = self.chance.choice((-1, 1)) * 10 ** self.chance.uniform(-1, 5)
        soak_cluster.set_clock(victim.clock, seconds)
        return Fault(kind, f"{victim.name} is off by {seconds:.1f} s")

    # ---- links

    def _link(self, kind, policy, about, seconds):
        host = self.chance.choice([name for name in self.cluster.processes if name not in self._links] or [None])
        if host is None:
            return None

        def mend():
            self._links.pop(host, None)
            self.cluster.hosts.policy(host)
        self._links[host] = kind
        self.cluster.hosts.policy(host, **policy)
        return Fault(kind, f"{host}: {about} for {seconds:.1f} s", seconds, mend)

    def _slow_link(self, kind):
        rate = 10 ** self.chance.uniform(5, 6.5)
        return self._link(kind, {"rate": rate}, f"{rate / 1e6:.2f} MB/s", self.chance.uniform(2, 8))

    def _loss(self, kind):
        loss = 10 ** self.chance.uniform(-2.5, -0.7)
        return self._link(kind, {"loss": loss}, f"{100 * loss:.1f} % lost", self.chance.uniform(2, 8))

    def _delay(self, kind):
        delay = 10 ** self.chance.uniform(-2.5, -0.8)
        return self._link(kind, {"delay": delay}, f"{1000 * delay:.0f} ms", self.chance.uniform(2, 8))

    def _flap(self, kind):
        return self._link(kind, {"down": True}, "no link", self.chance.uniform(0.1, 4))

    def _partition(self, kind):
        server = self.chance.choice(self.cluster.of("s", alive=False)).name  # workers do not speak to each other
        other = self.chance.choice([name for name in self.cluster.processes if name != server])
        sender, receiver = self.chance.sample((server, other), 2)
        seconds = self.chance.uniform(0.5, 6)
        self.cluster.hosts.block(sender, receiver, True)
        return Fault(kind, f"{sender} to {receiver} for {seconds:.1f} s", seconds,
                     lambda: self.cluster.hosts.block(sender, receiver, False))

    # ---- what runs out

    def _full_disk(self, kind):
        full = [fault.about.split()[0] for fault in self.active if fault.kind == kind]
        shard = self.chance.choice([shard for shard in range(soak_cluster.SHARDS) if f"s{shard}" not in full] or [None])
        if shard is None:
            return None
        disk, seconds = self.cluster.disks[shard], self.chance.uniform(1, 5)
        disk.fill()
        return Fault(kind, f"s{shard} for {seconds:.1f} s", seconds, disk.make_room)

    def _descriptors(self, kind):
        victim = self._any("s")
        if victim is None or any(fault.kind == kind for fault in self.active):
            return None
        strangers = soak_cluster.Strangers(self.cluster, victim.name, STRANGERS)
        seconds = self.chance.uniform(1, 6)
        return Fault(kind, f"{victim.name} for {seconds:.1f} s", seconds, strangers.leave)


def _may_open(files):
    """Whether this process may have so many files open, from now on."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < files:
        return False
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, files), hard))
    return True
