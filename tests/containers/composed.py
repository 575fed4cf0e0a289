"""A job in containers, as docker/compose.yaml starts it: the weights of `ballast run` on this machine, whatever is done to
its containers, and nothing left that runs."""

import json
import os
import pathlib
import re
import signal
import time
import urllib.request

import engine
from engine import harness

JOB_FILE = engine.ROOT / "docker" / "job.yaml"
SNAPSHOT_EVERY = 100  # often enough that something is kept before the first fault
JOB_PATIENCE = 1200  # seconds; the machine may be busy
SERVERS = ("server-0", "server-1", "server-2")
# All that is of Ballast or Debian: Grafana's image is neither.
STARTED = (*SERVERS, "worker", "prometheus")


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


def metrics_of(address):
    """The values of a process's page by series."""
    with urllib.request.urlopen(f"http://{address}:9100/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return {series: float(value) for series, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")}


class Composed(harness.ClusterCase):
    patience = 300
    expected = None

    def setUp(self):
        super().setUp()
        self.data = mnist()
        if self.data is None:
            self.skipTest("MNIST is not there: name its folder by BALLAST_DATA")
        self.job_file = self.folder / "job.yaml"
        self.job_file.write_text(f"{JOB_FILE.read_text()}\ndurability: {{every_steps: {SNAPSHOT_EVERY}}}\n")
        self.job_file.chmod(0o644)
        self.folder.chmod(0o755)
        ports = harness.free_ports(2)
        self.compose = engine.Composed(self.id().rsplit("_", 1)[-1][:12], {
            "BALLAST_JOB": str(self.job_file), "BALLAST_DATA": str(self.data), "PROMETHEUS_PORT": str(ports[0]),
            "GRAFANA_PORT": str(ports[1])})
        self.prometheus = f"http://127.0.0.1:{ports[0]}"
        self.addCleanup(self.compose.down)

    # ---- the job

    def up(self):
        """Starts everything; the seconds from then to the first step."""
        begun = time.monotonic()
        self.compose("up", "--detach", "--no-build", *STARTED)
        self.wait_for_step(1)
        return time.monotonic() - begun

    def lead(self):
        return f"tcp://{self.compose.address('server-0')}:7000"

    def status(self):
        try:
            return harness.status_of(self.lead()) or {}
        except (AssertionError, IndexError, KeyError):
            return {}  # its container is being started again

    def live_workers(self):
        """None while nobody can be asked."""
        sessions = self.status().get("sessions")
        return None if sessions is None else sum(session["live"] for session in sessions)

    def wait_for_step(self, step):
        self.wait_for(f"step {step}", lambda: self.status().get("step", 0) >= step)

    def wait_for_training(self, workers=None):
        def trains():
            return self.status().get("phase") == "training" and workers in (None, self.live_workers())
        self.wait_for("training", trains)

    def logs(self):
        return self.compose("logs", "--no-color", "--tail", "20", check=False).stdout

    def ends(self):
        """The containers of servers and workers with how they stand."""
        return {f"{service} {number}": engine.inspect(container)
                for service in (*SERVERS, "worker") for number, container in enumerate(self.compose.containers(service))}

    def finish(self):
        """Waits for the end; every process has ended well and stays so, and the digests are told."""
        def all_ended():
            return all(not about["State"]["Running"] and not about["State"]["Restarting"]
                       for about in self.ends().values())
        limit = time.monotonic() + JOB_PATIENCE
        while not all_ended() and time.monotonic() < limit:
            time.sleep(1)
        ends = self.ends()
        self.assertEqual({name: about["State"]["ExitCode"] for name, about in ends.items()}, dict.fromkeys(ends, 0),
                         self.logs())
        time.sleep(5)
        self.assertTrue(all_ended(), "something of a finished job runs again")
        self.assertEqual({name: about["State"]["OOMKilled"] for name, about in ends.items()}, dict.fromkeys(ends, False))
        self.compose.ballast("gather", *(f"/shards/{shard}/shard-{shard}" for shard in range(len(SERVERS))), "--run-dir",
                             "/var/lib/ballast/gathered")
        return json.loads(self.compose.ballast("digest", "/var/lib/ballast/gathered").stdout)

    def of_this_machine(self):
        """The digests of the same job by `ballast run`, on other numbers of servers and workers; the accuracy is that of a
        model that has learnt. Once for all cases."""
        if Composed.expected is None:
            Composed.expected = self.run_here()
        return Composed.expected

    def run_here(self):
        run = self.start(self.job_file, name="host", options=["--shards", "1", "--workers", "2"],
                         environment={"BALLAST_DATA": str(self.data)})
        summary = run.finish(JOB_PATIENCE)
        self.assertGreater(summary["test_accuracy"], 0.985)
        return self.digest_of(run.folder)

    def expect_the_same_bits(self, digests):
        expected = self.of_this_machine()
        self.assertRegex(digests["weights_sha256"], "^[0-9a-f]{64}$")
        self.assertEqual(digests["weights_sha256"], expected["weights_sha256"])

    # ---- what is done to it

    def kill(self, service, number=0):
        """SIGKILL from outside, which the engine takes for a death of its own; waits until it has been started again."""
        container = self.compose.container(service, number)
        about = engine.inspect(container)
        os.kill(about["State"]["Pid"], signal.SIGKILL)
        self.wait_for(f"{service} to be started again", lambda: self.started_again(container, about["RestartCount"]))

    def started_again(self, container, count):
        about = engine.inspect(container)
        return about["State"]["Running"] and about["RestartCount"] == count + 1

    def health(self, container):
        return engine.inspect(container)["State"]["Health"]["Status"]

    # ---- cases

    def test_the_quick_start(self):
        seconds = self.up()
        print(f"from `up` to the first step: {seconds:.1f} s")
        containers = [self.compose.container(service) for service in SERVERS] + self.compose.containers("worker")
        self.assertEqual(len(containers), 7)
        for container in containers:
            self.wait_for("health", lambda one=container: self.health(one) == "healthy")
        self.check_rights(containers)
        self.check_prometheus()
        self.expect_the_same_bits(self.finish())
        for container in containers:
            self.assertEqual(engine.inspect(container)["RestartCount"], 0)

    def check_rights(self, containers):
        for container in containers:
            pid = engine.inspect(container)["State"]["Pid"]
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            self.assertRegex(status, r"(?m)^Uid:\s+10001\s+10001\s+10001\s+10001$")
            for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb"):
                self.assertRegex(status, rf"(?m)^Cap{kind}:\s+0+$")
            self.assertRegex(status, r"(?m)^NoNewPrivs:\s+1$")
            limits = pathlib.Path(f"/proc/{pid}/limits").read_text()
            self.assertRegex(limits, r"(?m)^Max open files\s+16384\s+16384")
            ports = engine.inspect(container)["NetworkSettings"]["Ports"]
            self.assertFalse(any((ports or {}).values()), ports)
        self.check_walls(containers[-1])

    def check_walls(self, container):
        """Of what is in two networks, only the address in that of the job is reached from there; and no file of the image
        can be written."""
        networks = engine.inspect(self.compose.container("prometheus"))["NetworkSettings"]["Networks"]
        for network, code in (("job", 0), ("outside", 124)):
            address = networks[f"{self.compose.name}_{network}"]["IPAddress"]
            ran = engine.call(engine.client(), "exec", container, "timeout", "5", "bash", "-c", f"</dev/tcp/{address}/9090",
                              check=False)
            self.assertEqual(ran.returncode, code, (network, address, ran.stderr))
        ran = engine.call(engine.client(), "exec", container, "touch", "/usr/bin/new", check=False)
        self.assertIn("Read-only file system", ran.stderr)

    def check_prometheus(self):
        def targets():
            try:
                with urllib.request.urlopen(f"{self.prometheus}/api/v1/query?query=up%7Bjob%3D%22ballast%22%7D",
                                            timeout=10) as answer:
                    found = json.load(answer)["data"]["result"]
            except OSError:
                return False
            return len(found) == 7 and all(one["value"][1] == "1" for one in found)
        self.wait_for("Prometheus to see seven processes", targets)

    def test_any_container_killed(self):
        self.up()
        self.wait_for_step(SNAPSHOT_EVERY + 20)
        for service, number in (("server-1", 0), ("worker", 1), ("server-0", 0), ("server-2", 0), ("worker", 3)):
            self.kill(service, number)
            self.wait_for_training()
        self.expect_the_same_bits(self.finish())

    def test_a_worker_paused_the_network_of_one_cut(self):
        self.up()
        self.wait_for_training(workers=4)
        paused, cut = self.compose.container("worker", 0), self.compose.container("worker", 1)
        engine.docker("pause", paused)
        before = self.status()["step"]
        self.wait_for_step(before + 20)  # the others go on
        engine.docker("network", "disconnect", f"{self.compose.name}_job", cut)
        self.wait_for("the worker that is cut off to be missed", lambda: self.live_workers() == 2)
        self.wait_for("its health", lambda: self.health(cut) == "unhealthy")
        engine.docker("unpause", paused)
        engine.docker("network", "connect", f"{self.compose.name}_job", cut)
        self.wait_for_training(workers=4)
        self.wait_for("its health", lambda: self.health(cut) == "healthy")
        self.expect_the_same_bits(self.finish())

    def test_servers_restarted_workers_scaled_and_the_job_stopped(self):
        self.up()
        self.wait_for_step(SNAPSHOT_EVERY)
        for service in ("server-2", "server-0"):
            self.compose("restart", service)
            self.wait_for_training()
        self.compose("up", "--detach", "--no-build", "--no-recreate", "--scale", "worker=6", *STARTED)
        self.wait_for_training(workers=6)
        self.compose("up", "--detach", "--no-build", "--no-recreate", "--scale", "worker=2", *STARTED)
        self.wait_for("two workers", lambda: self.live_workers() == 2)
        stopped = self.compose.ballast("stop", "tcp://server-0:7000").stdout
        step = int(re.search(r"stopped at step (\d+) of", stopped).group(1))
        self.wait_for("the end of all", lambda: not any(about["State"]["Running"] for about in self.ends().values()))
        self.compose("up", "--detach", "--no-build", "--no-recreate", "--scale", "worker=2", *STARTED)
        self.wait_for_step(step + 1)
        self.expect_the_same_bits(self.finish())


if __name__ == "__main__":
    harness.main(engine.why_not)
