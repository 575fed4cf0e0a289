"""Peers that come back under another address, and names that mean several: machines made of network namespaces, whose
/etc/hosts is a file of the test.

Needs root and iproute2. Exit code 77: it cannot be tried here.
"""

import json
import os
import shutil
import signal
import time

import harness
import jobs
import machines

MACHINES = ("alpha", "beta", "gamma", "delta")
NOBODY = "02:00:00:00:00:99"  # packets to it vanish without a word, as those to a machine behind a router that is gone
LEAD, SHARD = "lead.example", "shard-1.example"
STEPS = 300
NAMES_LAG = 14  # seconds: connections have been found dead, and attempts to connect to the old address have begun


def ip(*words):
    return harness.call("ip", *words)


class Addresses(harness.ClusterCase):
    patience = 120

    def setUp(self):
        super().setUp()
        self.file = self.job(jobs.emulated(steps=STEPS, compute_ms=12, every_steps=20).replace(
            "{shards: 1, workers: 1}", "{shards: 2, workers: 2, start_workers: 2}"))
        self.names, self.processes, self.logs_of = {}, {}, {}
        self.addresses = {name: f"10.88.0.{number}" for number, name in enumerate(MACHINES, 1)}
        self.hosts = self.folder / "hosts"
        self.mean({LEAD: [self.addresses["alpha"]], SHARD: [self.addresses["beta"]]})
        self.connect()

    def must(self, result):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result

    def connect(self):
        """Each machine has an interface `eth` on a common switch."""
        for name in ("switch", *MACHINES):
            self.names[name] = f"ballast-{os.getpid()}-{name}"
            self.addCleanup(ip, "netns", "del", self.names[name])
            self.must(ip("netns", "add", self.names[name]))
        switch = self.names["switch"]
        self.must(ip("-n", switch, "link", "add", "bridge", "type", "bridge"))
        self.must(ip("-n", switch, "link", "set", "bridge", "up"))
        for number, name in enumerate(MACHINES, 1):
            machine = self.names[name]
            self.must(ip("-n", switch, "link", "add", name, "type", "veth", "peer", "name", "eth", "netns", machine))
            self.must(ip("-n", switch, "link", "set", name, "master", "bridge", "up"))
            for words in (["link", "set", "lo", "up"], ["addr", "add", f"{self.addresses[name]}/24", "dev", "eth"],
                          ["addr", "add", f"fd00:88::{number}/64", "dev", "eth", "nodad"], ["link", "set", "eth", "up"]):
                self.must(ip("-n", machine, *words))

    def mean(self, addresses):
        """What names mean from now on. The file stays the same one, which the machines have in the place of theirs."""
        lines = ["127.0.0.1 localhost", *(f"{one} {name}" for name, all_of in addresses.items() for one in all_of)]
        self.hosts.write_text("\n".join(lines) + "\n")

    def void(self, address):
        """Nobody has that address any more, and nobody says so."""
        for name in MACHINES:
            if self.addresses[name] != address:
                self.must(ip("-n", self.names[name], "neigh", "replace", address, "lladdr", NOBODY, "dev", "eth", "nud",
                             "permanent"))

    def renumber(self, name, address):
        """As another lease does: the machine's processes live on."""
        old, self.addresses[name] = self.addresses[name], address
        for words in (["del", f"{old}/24"], ["add", f"{address}/24"]):
            self.must(ip("-n", self.names[name], "addr", *words, "dev", "eth"))
        self.void(old)

    def on(self, name, *words):
        script = 'mount --bind "$1" /etc/hosts && shift && exec "$@"'
        return ["ip", "netns", "exec", self.names[name], "sh", "-c", script, "sh", self.hosts, *words]

    # ---- processes

    def begin(self, name, key, *words):
        log = self.folder / f"{key}-{name}.log"
        self.processes[key] = self.start_process(*self.on(name, *words, "--log-file", log))
        self.logs_of[key] = lambda: harness.text_of(log)

    def server(self, name, shard, bind="0.0.0.0", database=None):
        words = [harness.SERVER, "--job", self.file, "--shard", shard, "--lead", f"tcp://{LEAD}:7000", "--bind",
                 f"tcp://{bind}:7100", "--advertise", (LEAD, SHARD)[shard], "--database",
                 database or self.folder / f"shard-{shard}", "--insecure"]
        self.begin(name, f"server-{shard}", *words, *(["--lead-bind", f"tcp://{bind}:7000"] if shard == 0 else []))

    def worker(self, name):
        self.begin(name, f"worker-{name}", harness.WORKER, "--lead", f"tcp://{LEAD}:7000", "--name", name)

    def start_all(self, bind="0.0.0.0"):
        self.server("alpha", 0, bind)
        self.server("beta", 1, bind)
        self.worker("gamma")
        self.worker("delta")

    def status(self):
        """Asked from a machine of a worker."""
        answer = harness.call(*self.on("delta", harness.BALLAST, "status", "--json", f"tcp://{LEAD}:7000"))
        return json.loads(answer.stdout) if answer.returncode == 0 else {}

    def wait_for_step(self, step):
        self.wait_for(f"step {step}", lambda: self.status().get("step", 0) >= step)

    def crash(self, name, key):
        """The machine is gone, without a word: nobody's connection is closed."""
        self.must(ip("-n", self.names["switch"], "link", "set", name, "down"))
        self.processes[key].kill()
        self.processes[key].wait()
        self.void(self.addresses[name])

    def expect_the_end(self, *databases):
        """All end well, with the bits of the reference."""
        for key, process in self.processes.items():
            self.wait_for(f"the end of {key}", lambda process=process: process.poll() is not None)
            self.assertEqual(process.returncode, 0, f"{key}\n{self.logs()}")
        databases = databases or (self.folder / "shard-0", self.folder / "shard-1")
        self.ballast("gather", *databases, "--run-dir", self.folder / "gathered")
        self.expect_equal_bits(self.digest_of(self.folder / "gathered"), self.reference(self.file, jobs.AT_ONCE))

    # ---- cases

    def test_addresses_that_change_while_everybody_lives(self):
        """The lead's machine, then that of a shard, then that of a worker get others."""
        self.start_all()
        self.wait_for_step(3)
        for name, host in (("alpha", LEAD), ("beta", SHARD), ("gamma", None)):
            address = self.addresses[name].replace(".0.", ".0.1")
            self.renumber(name, address)
            if host:
                time.sleep(NAMES_LAG)
                self.mean({LEAD: [self.addresses["alpha"]], SHARD: [self.addresses["beta"]]})
            step = self.status().get("step", 0)
            self.wait_for_step(step + 5)
        self.expect_the_end()

    def test_a_shard_and_then_the_lead_come_back_elsewhere(self):
        """Under the same names; their machines are gone without a word."""
        self.start_all()
        self.wait_for_step(21)
        self.crash("beta", "server-1")
        self.mean({LEAD: [self.addresses["alpha"]], SHARD: [self.addresses["gamma"]]})
        self.server("gamma", 1)
        self.wait_for_step(45)
        self.crash("alpha", "server-0")
        self.mean({LEAD: [self.addresses["delta"]], SHARD: [self.addresses["gamma"]]})
        self.server("delta", 0)
        self.expect_the_end()

    def test_a_lead_that_stands_still_while_its_machine_answers(self):
        """Its connections live, for the kernel answers: that it is silent is the only sign."""
        self.start_all()
        self.wait_for_step(21)
        pid = self.processes["server-0"].pid
        os.kill(pid, signal.SIGSTOP)
        try:
            database = self.folder / "shard-0-elsewhere"
            shutil.copytree(self.folder / "shard-0", database)
            held = self.processes.pop("server-0")
            self.mean({LEAD: [self.addresses["gamma"]], SHARD: [self.addresses["beta"]]})
            self.server("gamma", 0, database=database)
            self.expect_the_end(database, self.folder / "shard-1")
        finally:
            held.kill()
            os.kill(pid, signal.SIGCONT)

    def test_names_with_several_addresses(self):
        """Of IPv6 and IPv4, of which one refuses and one is nobody's, and the last one answers. Resolvers put first what is
        nearer by its number (RFC 6724, rule 9)."""
        nobodys = "10.88.0.77"
        self.void(nobodys)
        for name, address in (("alpha", "10.88.0.201"), ("beta", "10.88.0.202")):
            self.must(ip("-n", self.names[name], "addr", "add", f"{address}/24", "dev", "eth"))
        self.mean({LEAD: ["fd00:88::1", nobodys, "10.88.0.201"], SHARD: [nobodys, "fd00:88::2", "10.88.0.202"]})
        self.start_all()
        self.wait_for_step(5)
        self.expect_the_end()

    def test_ipv6_alone(self):
        self.mean({LEAD: ["fd00:88::1"], SHARD: ["fd00:88::2"]})
        for name in MACHINES:
            self.must(ip("-n", self.names[name], "addr", "flush", "dev", "eth", "scope", "global"))
            number = MACHINES.index(name) + 1
            self.must(ip("-n", self.names[name], "addr", "replace", f"fd00:88::{number}/64", "dev", "eth", "nodad"))
        self.start_all("[::]")
        self.wait_for_step(5)
        self.expect_the_end()


def unfit():
    """Why it cannot be tried here; None if it can."""
    return machines.unfit()


if __name__ == "__main__":
    harness.main(unfit)
