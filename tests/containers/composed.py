"""A job in containers, as docker/compose.yaml starts it: the weights of `ballast run` on this machine, whatever is done to
its containers, and nothing left that runs. Meanwhile the Prometheus beside it can answer every panel of dashboards/."""

import contextlib
import json
import os
import pathlib
import re
import signal
import time
import urllib.request

import engine
from engine import harness

import monitoring
import shown

JOB_FILE = engine.ROOT / "docker" / "job.yaml"
JOB_PATIENCE = 1200  # seconds; the machine may be busy
SERVERS = ("server-0", "server-1", "server-2")
# All that is of Ballast or Debian: Grafana's image is neither.
STARTED = (*SERVERS, "worker", "prometheus")
# By role: what its containers have in /keys.
KEYS = {"server": ["allowed.keys", "server.key"], "worker": ["worker.key"], "operator": ["operator.key"]}
SCRAPE = 5  # seconds; docker/compose-prometheus.yml
PROMETHEUS_JOB = "ballast"  # as it calls all of our processes
# Workers that wait before each slot: a job of few steps lasts while much is done to it, and leaves the machine to that.
SLOWLY = 'services: {worker: {environment: {BALLAST_DELAY: "*:150"}}}\n'
# A job with all that panels need and the other one has not.
OF_ITEMS = """
job: items
model: {name: mlp, hidden: [32]}
data: {name: glyphs, train_examples: 660, validation_examples: 60, test_examples: 60}
training:
  mode: ssp
  staleness: {bound: 4}
  batch: 60
  slots: 6
  epochs: 10000
  optimizer: {name: sgd, learning_rate: 0.02, momentum: 0.9}
cluster: {shards: 3, workers: 2}
durability: {mode: journal, every_steps: 20}
"""


def setUpModule():
    engine.make_images()


def tearDownModule():
    engine.remove_images()


def mnist():
    """The folder with MNIST's files; None where they are not."""
    for folder in (os.environ.get("BALLAST_DATA"), pathlib.Path.home() / ".cache" / "ballast"):
        if folder and harness.ballast("data", "check", "mnist", "--in", folder).returncode == 0:
            return pathlib.Path(folder)
    return None


class Project:
    """A job in containers of its own, with its Prometheus."""

    def __init__(self, case, name, job, data=None, slow=False):
        """`job`: the text of its job file; `data`: the folder with MNIST, if it needs that."""
        self.case = case
        self.begun = time.time()
        job_file = case.folder / f"{name}.yaml"
        job_file.write_text(job)
        job_file.chmod(0o644)
        slowly = case.folder / "slowly.yaml"
        slowly.write_text(f'version: "3.9"\n{SLOWLY}')
        ports = harness.free_ports(2)
        given = {"BALLAST_JOB": str(job_file), "PROMETHEUS_PORT": str(ports[0]), "GRAFANA_PORT": str(ports[1]),
                 **({"BALLAST_DATA": str(data)} if data else {"BALLAST_FETCH": ""})}
        self.compose = engine.Composed(name, given, [slowly] if slow else [])
        self.at_full_speed = engine.Composed(name, given)
        self.prometheus = monitoring.prometheus.Prometheus(f"http://127.0.0.1:{ports[0]}")
        case.addCleanup(self.compose.down)

    # ---- what is done to it

    def up(self, *options):
        self.compose("up", "--detach", "--no-build", *options, *STARTED)

    def scale(self, workers):
        self.up("--no-recreate", "--scale", f"worker={workers}")

    def kill(self, service, number=0):
        """SIGKILL from outside, which the engine takes for a death of its own; waits until it has been started again."""
        container = self.compose.container(service, number)
        about = engine.inspect(container)
        os.kill(about["State"]["Pid"], signal.SIGKILL)
        self.case.wait_for(f"{service} to be started again", lambda: self.started_again(container, about["RestartCount"]))

    def lose_volume(self, shard):
        server = f"server-{shard}"
        self.compose("rm", "--stop", "--force", server)
        engine.docker("volume", "rm", f"{self.compose.name}_shard-{shard}")
        self.compose("up", "--detach", "--no-build", "--no-deps", server)

    def started_again(self, container, count):
        about = engine.inspect(container)
        return about["State"]["Running"] and about["RestartCount"] == count + 1

    def stop(self):
        """By `ballast stop`; the step that it was stopped at."""
        stopped = self.compose.ballast("stop", "tcp://server-0:7000", "--keys", "/keys/operator.key").stdout
        self.case.wait_for("the end of all", lambda: not any(about["State"]["Running"] for about in self.ends().values()))
        self.expect_good_ends()
        return int(re.search(r"stopped at step (\d+) of", stopped).group(1))

    # ---- what is seen of it

    def lead(self):
        return f"tcp://{self.compose.address('server-0')}:7000"

    def key_file(self, role):
        return self.compose.volume(f"keys-{role}") / f"{role}.key"

    def secret_keys(self):
        return [re.search(r"^secret (\S+)$", self.key_file(role).read_text(), re.M).group(1) for role in KEYS]

    def status(self):
        try:
            return harness.status_of(self.lead(), ("--keys", self.key_file("operator"))) or {}
        except (AssertionError, IndexError, KeyError):
            return {}  # its container is being started again

    def live_workers(self):
        """None while nobody can be asked."""
        sessions = self.status().get("sessions")
        return None if sessions is None else sum(session["live"] for session in sessions)

    def wait_for_step(self, step):
        self.case.wait_for(f"step {step}", lambda: self.status().get("step", 0) >= step)

    def wait_for_more_steps(self, count=5):
        """The job trains, and does not only say so."""
        self.wait_for_training()
        self.wait_for_step(self.status().get("step", 0) + count)

    def wait_for_training(self, workers=None):
        def trains():
            return self.status().get("phase") == "training" and workers in (None, self.live_workers())
        self.case.wait_for(f"training with {workers or 'any'} workers", trains)

    def wait_for_health(self, container, wanted="healthy"):
        self.case.wait_for(f"{container} to be {wanted}",
                           lambda: engine.inspect(container)["State"]["Health"]["Status"] == wanted)

    def logs(self):
        return self.compose("logs", "--no-color", "--tail", "20", check=False).stdout

    def containers(self):
        """The ids of those of servers and workers by service and number."""
        return {f"{service} {number}": container for service in (*SERVERS, "worker")
                for number, container in enumerate(self.compose.containers(service))}

    def ends(self):
        """Those containers with how they stand."""
        return {name: engine.inspect(container) for name, container in self.containers().items()}

    def expect_good_ends(self):
        ends = self.ends()
        self.case.assertEqual({name: about["State"]["ExitCode"] for name, about in ends.items()}, dict.fromkeys(ends, 0),
                              self.logs())
        self.case.assertEqual({name: about["State"]["OOMKilled"] for name, about in ends.items()}, dict.fromkeys(ends, False))

    def finish(self):
        """Waits for the end; every process has ended well and stays so, and the digests are told."""
        def all_ended():
            return all(not about["State"]["Running"] and not about["State"]["Restarting"]
                       for about in self.ends().values())
        limit = time.monotonic() + JOB_PATIENCE
        while not all_ended() and time.monotonic() < limit:
            time.sleep(1)
        self.expect_good_ends()
        self.compose.ballast("gather", *(f"/shards/{shard}/shard-{shard}" for shard in range(len(SERVERS))), "--run-dir",
                             "/var/lib/ballast/gathered")
        digests = json.loads(self.compose.ballast("digest", "/var/lib/ballast/gathered").stdout)
        self.case.assertTrue(all_ended(), "something of a finished job runs again")
        return digests

    def watched(self, *has):
        return shown.Job(self.prometheus, PROMETHEUS_JOB, frozenset(has), SCRAPE, self.begun)

    def wait_for_targets(self, count):
        def all_up():
            try:
                return self.prometheus.instant(f'sum(up{{job="{PROMETHEUS_JOB}"}} == 1)') == [({}, count)]
            except (OSError, monitoring.prometheus.Refused):
                return False  # it starts
        self.case.wait_for(f"Prometheus to see {count} processes", all_up)


class Composed(harness.ClusterCase):
    patience = 300
    pause = 0.5  # each look asks the engine by processes of its own
    accuracy = None  # that the job reaches at least

    def setUp(self):
        super().setUp()
        self.folder.chmod(0o755)
        self.data = mnist()
        if self.data is None:
            print("MNIST is not there (name its folder by BALLAST_DATA): the job learns to read drawn digits", flush=True)

    def job_text(self, epochs):
        """docker/job.yaml with another number of epochs; without MNIST's files, of the generator's digits."""
        changes = {"epochs: 10\n": f"epochs: {epochs}\n"}
        if self.data is None:
            changes["data: {name: mnist}"] = "data: {name: glyphs, train_examples: 60000, test_examples: 10000}"
        text = JOB_FILE.read_text()
        for before, after in changes.items():
            self.assertEqual(text.count(before), 1, before)
            text = text.replace(before, after)
        return text

    @contextlib.contextmanager
    def part(self, what):
        begun = time.monotonic()
        try:
            yield
        finally:
            print(f"{time.monotonic() - begun:6.1f} s  {what}", flush=True)

    def begin_here(self, job):
        """The same job by `ballast run` on other numbers of servers and workers."""
        return self.start(self.job(job, "here.yaml"), name="here", options=["--shards", "1", "--workers", "2"],
                          environment={"BALLAST_DATA": str(self.data)} if self.data else None)

    def expect_the_bits_of(self, here, digests):
        """And its accuracy is that of a model that has learnt."""
        summary = here.finish(JOB_PATIENCE)
        self.assertGreater(summary["test_accuracy"], self.accuracy)
        self.assertRegex(digests["weights_sha256"], "^[0-9a-f]{64}$")
        self.assertEqual(digests["weights_sha256"], self.digest_of(here.folder)["weights_sha256"])

    def expect_an_undisturbed_start(self, project):
        containers = list(project.containers().values())
        self.assertEqual(len(containers), 7)
        for container in containers:
            project.wait_for_health(container)
            self.assertEqual(engine.inspect(container)["RestartCount"], 0)
            self.check_rights(container)
        self.check_walls(project, containers[-1])
        self.check_keys(project)
        project.wait_for_targets(7)

    def check_rights(self, container):
        about = engine.inspect(container)
        status = pathlib.Path(f"/proc/{about['State']['Pid']}/status").read_text()
        self.assertRegex(status, r"(?m)^Uid:\s+10001\s+10001\s+10001\s+10001$")
        for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb"):
            self.assertRegex(status, rf"(?m)^Cap{kind}:\s+0+$")
        self.assertRegex(status, r"(?m)^NoNewPrivs:\s+1$")
        limits = pathlib.Path(f"/proc/{about['State']['Pid']}/limits").read_text()
        self.assertRegex(limits, r"(?m)^Max open files\s+16384\s+16384")
        ports = about["NetworkSettings"]["Ports"]
        published = [one for bound in (ports or {}).values() for one in bound or []]
        self.assertLessEqual({one["HostIp"] for one in published}, {"127.0.0.1"}, ports)

    def check_walls(self, project, container):
        """Of what is in two networks, only the address in that of the job is reached from there; and no file of the image
        can be written."""
        networks = engine.inspect(project.compose.container("prometheus"))["NetworkSettings"]["Networks"]
        for network, code in (("job", 0), ("outside", 124)):
            address = networks[f"{project.compose.name}_{network}"]["IPAddress"]
            ran = engine.call(engine.client(), "exec", container, "timeout", "5", "bash", "-c", f"</dev/tcp/{address}/9090",
                              check=False)
            self.assertEqual(ran.returncode, code, (network, address, ran.stderr))
        ran = engine.call(engine.client(), "exec", container, "touch", "/usr/bin/new", check=False)
        self.assertIn("Read-only file system", ran.stderr)


    def check_keys(self, project):
        """Each container has the keys of its role and can't write them; without an operator's key nobody is obeyed; and no
        secret key is where the engine, or a container's log, would tell it."""
        for service, role in (("server-0", "server"), ("server-2", "server"), ("worker", "worker")):
            inside = engine.docker("exec", project.compose.container(service), "ls", "-l", "/keys")
            self.assertEqual([line.split()[-1] for line in inside.splitlines()[1:]], KEYS[role], service)
            self.assertEqual({line.split()[0].rstrip(".") for line in inside.splitlines()[1:]}, {"-rw-------"}, service)
            ran = engine.call(engine.client(), "exec", project.compose.container(service), "touch", "/keys/new", check=False)
            self.assertIn("Read-only file system", ran.stderr)
        self.assertEqual(sorted(file.name for file in project.key_file("operator").parent.iterdir()), KEYS["operator"])
        for keys in ((), ("--keys", project.key_file("worker"))):
            self.assertNotEqual(harness.ballast("stop", project.lead(), *keys).returncode, 0, keys)
        told = project.compose("logs", "--no-color").stdout + "".join(
            json.dumps(engine.inspect(container)) for service in (*SERVERS, "worker", "keys")
            for container in project.compose.containers(service))
        self.assertIn("/keys/worker.key", told)
        for secret in project.secret_keys():
            self.assertNotIn(secret, told)


class QuickStart(Composed):
    """docker/job.yaml as it is, and nobody disturbs it."""

    accuracy = 0.985

    def test_it_learns_to_99_percent_and_leaves_nothing_that_runs(self):
        job = self.job_text(epochs=10)
        project = Project(self, "quickstart", job, self.data)
        with self.part("from `up` to the first step"):
            project.up()
            project.wait_for_step(1)
        with self.part("health, rights and walls"):
            self.expect_an_undisturbed_start(project)
        with self.part("to the end"):
            digests = project.finish()
        self.assertEqual({about["RestartCount"] for about in project.ends().values()}, {0})
        self.expect_the_bits_of(self.begin_here(job), digests)


class Faults(Composed):
    """All that may happen to containers, one after the other in one job, which begins slowly enough for that."""

    accuracy = 0.96

    def test_equal_bits_whatever_is_done_to_its_containers_and_every_panel_has_data(self):
        job = self.job_text(epochs=2)
        self.rounds = Project(self, "rounds", f"{job}\ndurability: {{every_steps: 10, copy_to: /copies, run: rounds}}\n", self.data,
                              slow=True)
        self.items = Project(self, "items", OF_ITEMS, slow=True)
        with self.part("from `up` to the first step"):
            self.rounds.up()
            self.rounds.wait_for_step(1)
        here = self.begin_here(job)
        with self.part("health, rights and walls"):
            self.expect_an_undisturbed_start(self.rounds)
        with self.part("a second job, by items and with a journal"):
            self.items.up("--scale", "worker=2")
            self.items.wait_for_step(1)
        self.cut_kill_and_pause()
        self.restart_and_scale()
        self.lose_volumes()
        with self.part("stopped"):
            keys = self.rounds.secret_keys()
            step = self.rounds.stop()
        self.rounds.compose = self.rounds.at_full_speed
        with self.part("started again, and to the end"):
            self.rounds.up()
            self.rounds.wait_for_step(step + 1)
            self.assertEqual(self.rounds.secret_keys(), keys)  # nobody makes others of what is there
            digests = self.rounds.finish()
        with self.part("every panel has had data"):
            self.expect_no_gaps()
        with self.part("equal bits"):
            self.expect_the_bits_of(here, digests)
        with self.part("the other job stopped"):
            self.items.stop()

    def cut_kill_and_pause(self):
        network = f"{self.rounds.compose.name}_job"
        paused, cut = (self.rounds.compose.container("worker", number) for number in (0, 1))
        with self.part("one worker cut off"):
            engine.docker("network", "disconnect", network, cut)
            self.rounds.wait_for_training(workers=3)
            self.rounds.wait_for_more_steps()
        for service, number in (("server-1", 0), ("worker", 2), ("server-0", 0), ("prometheus", 0), ("server-2", 0)):
            with self.part(f"{service} killed"):
                self.rounds.kill(service, number)
                self.rounds.wait_for_more_steps()
        with self.part("of the other job a server killed"):
            self.items.kill("server-1")
            self.items.wait_for_more_steps()
        with self.part("the worker that is cut off is unhealthy, and comes back"):
            self.rounds.wait_for_health(cut, "unhealthy")
            engine.docker("network", "connect", network, cut)
            self.rounds.wait_for_training(workers=4)
        with self.part("one worker paused"):
            engine.docker("pause", paused)
            self.rounds.wait_for_training(workers=3)
            self.rounds.wait_for_more_steps()
            engine.docker("unpause", paused)
            self.rounds.wait_for_training(workers=4)
        with self.part("all are healthy"):
            for container in self.rounds.containers().values():
                self.rounds.wait_for_health(container)

    def restart_and_scale(self):
        for service in ("server-2", "server-0"):
            with self.part(f"{service} restarted"):
                lost = self.rounds.status()["rolled_back_steps"]
                self.rounds.compose("restart", service)
                self.rounds.wait_for_more_steps()
                self.assertEqual(self.rounds.status()["rolled_back_steps"], lost)
        for workers in (6, 2):
            with self.part(f"{workers} workers"):
                self.rounds.scale(workers)
                self.rounds.wait_for_training(workers)

    def lose_volumes(self):
        for shard in (1, 0):
            with self.part(f"the volume of server-{shard} lost"):
                begun = self.rounds.status()["step"]
                self.wait_for("a copy", lambda begun=begun: self.rounds.status().get("copies", {}).get("copied", 0) > begun)
                self.rounds.lose_volume(shard)
                self.rounds.wait_for_more_steps()
        self.assertIn("the ledger is restored from that of", self.rounds.compose("logs", "--no-color", "server-0").stdout)

    def expect_no_gaps(self):
        """Each panel has shown what it is for while all that was done."""
        gaps = shown.Gaps([self.rounds.watched("rounds", "evaluation", "metrics", "copies"),
                           self.items.watched("items", "evaluation", "metrics", "journal")])
        if not harness.wait_for(lambda: not gaps.left(), self.patience):
            self.fail(f"without data: {gaps.left()}")


if __name__ == "__main__":
    harness.main(engine.why_not)
