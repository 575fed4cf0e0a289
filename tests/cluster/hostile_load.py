"""A worker with a valid key, a fifth of a processor and 100 Mbit/s, that says all its key lets it say but values of open
work: the others keep all slots, the server's memory stays within what it was given, and the job has the bits of one without
it. If it also claims to be able to compute, it is tried, and nobody waits for it.

In turns with a harmless process that takes as much of the machine and of the link. Needs root, for network namespaces and
control groups. Exit code 77: it cannot be tried here. BALLAST_HOSTILE_SECONDS: of hostility in all (10); where it is said,
on a machine that does nothing else, the others' throughput is held to nine tenths as well.
"""

import json
import os
import shutil
import signal
import statistics
import sys
import threading
import time

import cgroups
import harness
import hosts
import jobs

SECONDS = float(os.environ.get("BALLAST_HOSTILE_SECONDS", "10"))
MEASURES = "BALLAST_HOSTILE_SECONDS" in os.environ  # and asserts what a busy machine could not keep
WINDOW = max(5.0, min(60.0, SECONDS / 5))  # seconds of one turn
SEED = int(os.environ.get("BALLAST_HOSTILE_SEED", "1"))
SHARE = 0.2             # of a processor
RATE = 100e6 / 8        # bytes a second
BURST = 0.0065          # seconds of it, for timers of a busy machine are late
KEPT = 0.9              # of the throughput
SLOTS = 8
MEMORY = 256            # MiB, cluster.memory_mib: little more than the job needs, and a few sessions of version 13
FREED = 128             # MiB that are freed, and that the allocator has not given back
KEPT_BY_ZEROMQ = 256 if MEASURES else 0  # MiB of connections that nobody reads, before all are cut (docs/bounds.md)
PORT = 7000
SINK = 7001
KINDS = ("random", "small", "pulls of all", "connections", "crowd", "unended", "commands", "of lanes", "to lanes", "to the lead",
         "pushes", "offers")                     # what it counts
ANSWERS = ("read", "calls", "voids", "payments", "returns")  # too much for a fifth of a busy processor
BEGUN = 60              # steps that are over before anybody is hostile

# Computes and sends for as long as it may: the group and the link say how much that is.
HARMLESS = f"""
import socket, sys
connection = socket.create_connection((sys.argv[1], {SINK}))
block = bytes(1 << 16)
while True:
    connection.sendall(block)
    sum(range(20_000))
"""


class HostileLoad(harness.ClusterCase):
    patience = 2 * harness.PATIENCE

    def setUp(self):
        super().setUp()
        self.hosts = hosts.Hosts(["cluster", "other"], burst=BURST)
        self.addCleanup(self.hosts.remove)
        self.hosts.limit_up("other", RATE)
        self.hosts.limit_down("other", RATE)
        self.group = cgroups.Processors(SHARE, "other")
        self.addCleanup(self.group.remove)  # after the processes: those were started later
        self.keys = self.folder / "keys"
        self.ballast("keygen", self.keys, "--workers", 3)
        self.at_servers = self.folder / "at-servers"
        self.at_servers.mkdir()
        for name in ("server.key", "allowed.keys"):
            shutil.copyfile(self.keys / name, self.at_servers / name)
            (self.at_servers / name).chmod(0o600)
        self.lead = f"tcp://{self.hosts.address['cluster']}:{PORT}"

    def begin(self):
        text = jobs.emulated(steps=1_000_000, slots=SLOTS, compute_ms=20).replace(
            "cluster: {shards: 1,", f"cluster: {{shards: 1, lanes: 2, memory_mib: {MEMORY},")
        self.file = self.job(text)
        server = self.on_cluster("server", harness.SERVER, "--job", self.file, "--shard", 0, "--lead", self.lead,
                                 "--bind", f"tcp://{self.hosts.address['cluster']}:*", "--database", self.folder / "shard-0",
                                 "--keys", self.at_servers)
        workers = [self.on_cluster(f"worker-{number}", harness.WORKER, "--lead", self.lead, "--name", f"worker-{number}",
                                   "--keys", self.keys / f"worker-{number}.key") for number in (1, 2)]
        self.wait_for("steps", lambda: (self.status() or {"step": 0})["step"] >= BEGUN)
        return server, workers

    def on_cluster(self, name, *words):
        return self.start_process(*self.hosts.on("cluster", *words, "--log-file", self.folder / f"{name}.log"))

    def status(self):
        answer = self.hosts.call("cluster", harness.BALLAST, "status", "--json", self.lead, "--keys",
                                 self.keys / "operator.key", check=False)
        return json.loads(answer.stdout) if answer.returncode == 0 else None

    def step(self):
        """On a busy machine an answer may be late."""
        return self.wait_for("a status", self.status)["step"]

    # ---- the two that take as much

    def limited(self, *words, **options):
        def enter():
            harness.end_with_parent()
            self.group.enter()
        return self.start_process(*self.hosts.on("other", *words), preexec_fn=enter, **options)

    def sink(self):
        """Takes what the harmless one sends, as servers take what the hostile one sends."""
        with self.hosts.inside("cluster"):
            listener = hosts.socket.create_server((self.hosts.address["cluster"], SINK))
        self.addCleanup(listener.close)

        def drain():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    while connection.recv(1 << 20):
                        pass
        threading.Thread(target=drain, daemon=True).start()

    def harmless(self, _):
        return self.limited(sys.executable, "-c", HARMLESS, self.hosts.address["cluster"])

    def hostile(self, number):
        return self.mixture(number, "", "")

    def hostile_with_claims(self, number):
        status = self.wait_for("a status", self.status)
        return self.mixture(number, self.honest(status)[0]["fingerprint"], status["data"]["value"])

    def mixture(self, number, *claims):
        sessions = [one["session"] for one in self.honest(self.wait_for("a status", self.status))]
        return self.limited(harness.HOSTILE, self.lead, "mixture", 10 * WINDOW, SEED + number, self.keys / "worker-3.key",
                            *claims, *sessions, out=self.folder / f"hostile-{number}.log")

    @staticmethod
    def honest(status):
        return [one for one in status["sessions"] if one["live"] and one["name"].startswith("worker-")]

    # ---- what comes of it

    def pace(self, load, number):
        """Steps a second of the others meanwhile, and the part of a processor that the server took."""
        process = load(number)
        time.sleep(1)
        before, spent, began = self.step(), self.processor_time(), time.monotonic()
        until = began + WINDOW
        while time.monotonic() < until:
            time.sleep(0.25)
            self.note_memory()
            self.note_shares(load)
            self.assertIsNone(process.poll(), harness.text_of(self.folder / f"hostile-{number}.log"))
        after, spent, ended = self.step(), self.processor_time() - spent, time.monotonic()
        process.terminate()
        self.assertEqual(process.wait(self.patience), -signal.SIGTERM if load == self.harmless else 0,
                         harness.text_of(self.folder / f"hostile-{number}.log"))
        return (after - before) / (ended - began), spent / (ended - began)

    def processor_time(self):
        with open(f"/proc/{self.server.pid}/stat", encoding="utf-8") as file:
            return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")

    def note_memory(self):
        with open(f"/proc/{self.server.pid}/status", encoding="utf-8") as lines:
            self.resident.append(next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) // 1024)

    def note_shares(self, load):
        """Whom the lead counts on in every step; and whether it has heard the hostile one."""
        status = self.status()
        if status is None or load == self.harmless:
            return
        for session in status["sessions"]:
            if session["name"].startswith("hostile"):
                self.heard_of_it = True
                self.shares_of_others.append(session["share"])
        self.shares_of_honest.append(sum(session["share"] for session in self.honest(status)))

    def test_others_keep_their_throughput_and_their_bits(self):
        self.check(self.hostile)

    def test_work_that_it_takes_and_leaves_undone_costs_nobody_anything(self):
        self.check(self.hostile_with_claims)

    def check(self, hostile):
        self.server, workers = self.begin()
        self.resident = []
        self.heard_of_it = False
        self.shares_of_others, self.shares_of_honest = [], []
        self.sink()
        self.note_memory()
        calm, disturbed = [], []
        for number in range(round(SECONDS / WINDOW)):
            calm.append(self.pace(self.harmless, number))
            disturbed.append(self.pace(hostile, number))
        (calm_pace, calm_share), (pace, share) = (map(statistics.mean, zip(*one)) for one in (calm, disturbed))
        ratio = pace / calm_pace
        print(f"{ratio:.3f} of the throughput: {calm_pace:.2f} steps/s beside the harmless one, {pace:.2f} beside the hostile "
              f"one; the server took {calm_share:.2f} and {share:.2f} of a processor, and {max(self.resident)} MiB at most, "
              f"{self.resident[0]} before", *(f"{a[0]:.2f} {b[0]:.2f}" for a, b in zip(calm, disturbed)), sep="\n", flush=True)
        self.assertNotIn("its key is refused for a while", harness.text_of(self.folder / "server.log"))  # all of it was heard
        self.assertTrue(self.heard_of_it)
        sent = [json.loads((self.folder / f"hostile-{number}.log").read_text()) for number in range(len(disturbed))]
        for counts in sent:
            self.assertTrue(all(counts.get(kind, 0) > 0 for kind in KINDS), counts)
        if MEASURES:  # who never pays is called ever more seldom
            self.assertTrue(all(sum(counts.get(kind, 0) for counts in sent) > 0 for kind in ANSWERS), sent)
        status = self.wait_for("a status", self.status)
        self.assertEqual(status["rollbacks"], 0, self.logs())
        self.assertEqual(status["timeline"], 1)
        self.assertEqual(set(self.shares_of_others), {0})
        self.assertEqual(set(self.shares_of_honest), {SLOTS})
        self.expect_bits_of_an_undisturbed_run(workers)
        self.assertLess(max(self.resident), MEMORY + FREED + KEPT_BY_ZEROMQ, self.logs())
        if MEASURES:
            self.assertGreaterEqual(ratio, KEPT, self.logs())

    def expect_bits_of_an_undisturbed_run(self, workers):
        stop = self.hosts.call("cluster", harness.BALLAST, "stop", self.lead, "--keys", self.keys / "operator.key")
        for process in [*workers, self.server]:
            self.assertEqual(process.wait(self.patience), 0, self.logs())
        self.expect_bits_so_far(self.file, stop.stdout + stop.stderr, [self.folder / "shard-0"], patience=300 + 2 * SECONDS)


if __name__ == "__main__":
    harness.main(lambda: hosts.unfit() or cgroups.unfit())
