"""Jobs on a real Kubernetes of one node: pods deleted at random, shards rolled, workers scaled, a pod evicted against its
budget, a volume lost, an operator let in. Each ends with the bits of `ballast run`, and ten minutes after the end nothing runs. Needs what
one_node.py says and the images ballast/server, ballast/worker-cpu and ballast/cli; says in a line what is missing.

usage: cluster.py [CASE]...

Environment: BALLAST_BUILD; BALLAST_KUBERNETES_BIN; BALLAST_KUBERNETES_TAG, of the images (latest); BALLAST_KUBERNETES_SEED, for
other victims. Beside what render writes, the lead stays 20 s after the end and not 120: the cases would mostly wait.
"""

import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

from one_node import Cluster, why_not

ROOT = pathlib.Path(__file__).resolve().parents[2]
BALLAST = pathlib.Path(os.environ.get("BALLAST_BUILD", ROOT / "build")) / "cli" / "ballast"
SEED = int(os.environ.get("BALLAST_KUBERNETES_SEED", "1"))
TAG = os.environ.get("BALLAST_KUBERNETES_TAG", "latest")
SHARDS = 3
JOB = f"""job: trial
model: {{name: emulated, parameters: [{{name: a, shape: [400, 1000]}}, {{name: b, shape: [600, 1000]}}], compute_ms: 60}}
data: {{name: none}}
training: {{batch: 64, slots: 8, max_steps: 800, optimizer: {{name: sgd, learning_rate: 0.01, momentum: 0.9}}}}
cluster: {{shards: {SHARDS}, workers: 3, start_workers: 1, hold_patience: 60}}
durability: {{every_steps: 20}}
"""
IMAGES = ("ballast/server", "ballast/worker-cpu", "ballast/cli")


class Trial:
    """One job on the cluster."""

    def __init__(self, cluster, folder, name, *options):
        self.cluster = cluster
        self.name = name
        self.job = folder / "job.yaml"
        self.options = ["--name", name, "--peers", "variables", "--server-cpu", "10m", "--worker-cpu", "10m", "--tag", TAG,
                        *options]
        self.keys = folder / name / "keys"
        self.objects = self.render()
        self.make_secrets()
        self.volumes = {claim["metadata"]["name"]: cluster.volume(claim) for claim in self.objects
                        if claim["kind"] == "PersistentVolumeClaim"}
        cluster.apply(self.objects)
        self.began = time.monotonic()

    def render(self, *more):
        text = subprocess.run([BALLAST, "render", "kubernetes", self.job, "--format", "json", *self.options, *more],
                              text=True, capture_output=True, check=True).stdout
        return json.loads(text.replace('"--linger=120"', '"--linger=20"'))["items"]

    def make_secrets(self):
        """By the lines that render writes above the objects, as they stand there."""
        text = subprocess.run([BALLAST, "render", "kubernetes", self.job, *self.options], text=True, capture_output=True,
                              check=True).stdout
        lines = re.findall(r"^#   (\w.*)$", text, re.M)
        assert len(lines) == 3, text[:1000]
        self.keys.parent.mkdir()
        environment = {**os.environ, "PATH": f"{BALLAST.parent}:{os.environ['PATH']}", "KUBECONFIG": str(self.cluster.config)}
        for line in lines:
            subprocess.run(line, shell=True, cwd=self.keys.parent, env=environment, capture_output=True, check=True)

    # ---- what is there

    def pods(self, component):
        pods = self.cluster.get("pods", "-l", f"app.kubernetes.io/instance={self.name},"
                                              f"app.kubernetes.io/component={component}")["items"]
        return [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]

    def running(self, component):
        return [pod["metadata"]["name"] for pod in self.pods(component) if pod["status"]["phase"] == "Running"]

    def pod_of_shard(self, shard):
        """Its name, once it is ready."""
        for pod in self.pods("server"):
            ready = any(each["type"] == "Ready" and each["status"] == "True"
                        for each in pod["status"].get("conditions", []))
            if pod["metadata"]["labels"]["ballast/shard"] == str(shard) and ready:
                return pod["metadata"]["name"]
        return ""

    def address(self):
        service = self.cluster.get("service", f"{self.name}-shard-0")
        return f"tcp://{service['spec']['clusterIP']}:7000"

    def status(self, operator="operator"):
        """As the lead tells it; nothing if it does not answer now, or not to this operator."""
        done = subprocess.run([BALLAST, "status", self.address(), "--json", "--keys", self.keys / f"{operator}.key"], text=True,
                              capture_output=True, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def copied(self):
        """The step of the newest copy."""
        return ((self.status() or {}).get("copies") or {}).get("copied") or 0

    def is_training(self):
        status = self.status()
        return status is not None and status["phase"] == "training"

    def step(self):
        status = self.status()
        return status["step"] if status else 0

    def job_status(self, name):
        return self.cluster.get("job", name)["status"]

    def is_complete(self, name):
        return any(each["type"] == "Complete" and each["status"] == "True"
                   for each in self.job_status(name).get("conditions", []))

    def is_finished(self):
        return all(self.is_complete(f"{self.name}-shard-{shard}") for shard in range(SHARDS))

    # ---- what is done to it

    def wait(self, what, holds, seconds=300):
        self.cluster.wait(f"{self.name}: {what}", holds, seconds)

    def delete_pod(self, name):
        self.cluster.kubectl("delete", "pod", name, "--wait=false")

    def scale(self, workers):
        self.cluster.kubectl("patch", "job", f"{self.name}-workers", "-p",
                             json.dumps({"spec": {"parallelism": workers}}))
        self.wait(f"{workers} workers", lambda: len(self.running("worker")) == workers)

    def lose_volume(self, shard):
        """With its pod; and gives it an empty one, by the claim as it was submitted."""
        name = f"{self.name}-shard-{shard}"
        claim = next(each for each in self.objects
                     if each["kind"] == "PersistentVolumeClaim" and each["metadata"]["name"] == name)
        self.cluster.kubectl("delete", "pvc", name, "--wait=false")
        self.cluster.kubectl("delete", "pod", self.pod_of_shard(shard), "--grace-period=1", "--wait=false")
        self.cluster.kubectl("wait", "--for=delete", f"pvc/{name}", "--timeout=90s")
        self.cluster.kubectl("delete", "pv", name)
        shutil.rmtree(self.volumes[name])
        self.volumes[name] = self.cluster.volume(claim)
        self.cluster.apply([claim])

    def evict(self, pod):
        """Whether its budget allows it."""
        eviction = {"apiVersion": "policy/v1beta1", "kind": "Eviction",
                    "metadata": {"name": pod, "namespace": "default"}}
        done = self.cluster.kubectl("create", "--raw", f"/api/v1/namespaces/default/pods/{pod}/eviction", "-f", "-",
                                    text=json.dumps(eviction), check=False)
        return done.returncode == 0, done.stderr.strip()

    def end(self):
        """Waits for it. The digest of its weights, from its volumes; seconds from the first object to the end."""
        self.wait("the end", self.is_finished, 900)
        took = time.monotonic() - self.began
        self.wait("no pod runs", lambda: not self.running("server") + self.running("worker"), 600)
        self.wait("the workers' Job to be complete", lambda: self.is_complete(f"{self.name}-workers"), 60)
        self.cluster.apply(self.render("--weights"))
        self.wait("the digest", lambda: self.is_complete(f"{self.name}-weights"))
        log = self.cluster.kubectl("logs", f"job/{self.name}-weights")
        return re.search(r"[0-9a-f]{64}", log)[0], took


def reference(folder):
    """The digest of the same job by `ballast run`."""
    subprocess.run([BALLAST, "run", folder / "job.yaml", "--run-dir", folder / "run", "--quiet", "--summary",
                    folder / "summary.json", "--set", "model.compute_ms=0"], check=True)
    return json.loads((folder / "summary.json").read_text())["weights_sha256"]


# ---- cases: what befalls the job

def undisturbed(trial, tell):
    trial.wait("training", trial.is_training)


def pods_deleted(trial, tell):
    chance = random.Random(SEED)
    trial.wait("training", trial.is_training)
    for _ in range(6):
        pods = trial.running("server") + trial.running("worker")
        if trial.is_finished() or not pods:
            break
        victim = chance.choice(pods)
        tell(f"at step {trial.step()} {victim} is deleted")
        trial.delete_pod(victim)
        time.sleep(chance.uniform(2, 10))


def shards_rolled(trial, tell):
    for shard in (2, 1, 0):
        trial.wait("training", trial.is_training)
        trial.wait("it is ready", lambda shard=shard: trial.pod_of_shard(shard))
        old = trial.pod_of_shard(shard)
        began = time.monotonic()
        trial.delete_pod(old)
        trial.wait("another pod", lambda shard=shard, old=old: trial.pod_of_shard(shard) not in ("", old))
        trial.wait("training", trial.is_training)
        status = trial.status()
        tell(f"shard {shard} rolled in {time.monotonic() - began:.0f} s; {status['rolled_back_steps']} steps rolled back")
        assert status["rolled_back_steps"] == 0, "a step was lost by a pod that was told to end"


def workers_scaled(trial, tell):
    trial.wait("training", trial.is_training)
    for workers in (1, 6, 2):
        began = time.monotonic()
        trial.scale(workers)
        tell(f"{workers} workers in {time.monotonic() - began:.0f} s, at step {trial.step()}")


def pod_evicted(trial, tell):
    trial.wait("training", trial.is_training)
    for shard in range(SHARDS):
        trial.wait("all ready", lambda shard=shard: trial.pod_of_shard(shard))
    first, second = trial.pod_of_shard(1), trial.pod_of_shard(2)
    # The budget counts ready pods a moment after they are.
    trial.wait("an eviction", lambda: trial.evict(first)[0])
    allowed, why = trial.evict(second)
    assert not allowed, "two servers were evicted at once"
    tell(f"{first} evicted; {second} not: {why}")
    trial.wait("another pod", lambda: trial.pod_of_shard(1) not in ("", first))
    trial.wait("an eviction", lambda: not trial.pod_of_shard(2) == second or trial.evict(second)[0])


def volume_lost(trial, tell):
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": COPIES},
             "spec": {"accessModes": ["ReadWriteMany"], "storageClassName": "",
                      "resources": {"requests": {"storage": "1Gi"}}}}
    trial.cluster.volume(claim)
    trial.cluster.apply([claim])
    for shard in (1, 0):
        trial.wait("training", trial.is_training)
        reached = trial.step()
        trial.wait("a copy of what was trained since", lambda reached=reached: trial.copied() > reached)
        trial.wait("it is ready", lambda shard=shard: trial.pod_of_shard(shard))
        before, began = trial.status(), time.monotonic()
        trial.lose_volume(shard)
        trial.wait("the next timeline",
                   lambda before=before: trial.is_training() and trial.status()["timeline"] > before["timeline"])
        status = trial.status()
        tell(f"shard {shard}'s volume lost at step {before['step']}: training again in {time.monotonic() - began:.0f} s, from "
             f"the copy of step {status['copies']['copied']}, at step {status['step']}")
    log = trial.cluster.kubectl("logs", f"job/{trial.name}-shard-0")
    assert "the ledger is restored" in log, "shard 0 has not said that it restored its ledger"


def operator_added(trial, tell):
    """To the list in the servers' Secret, while they run."""
    trial.wait("training", trial.is_training)
    subprocess.run([BALLAST, "keygen", trial.keys, "--add-operator", "second"], check=True, capture_output=True)
    assert trial.status("second") is None, "whose key is in no list is answered"
    began = time.monotonic()
    secret = trial.cluster.kubectl("create", "secret", "generic", f"{trial.name}-server-keys", "--dry-run=client", "-o", "json",
                                   *(f"--from-file={trial.keys / file}" for file in ("server.key", "allowed.keys")))
    trial.cluster.kubectl("replace", "-f", "-", text=secret)
    trial.wait("the second operator to be answered", lambda: trial.status("second") is not None)
    tell(f"an operator who was added is answered after {time.monotonic() - began:.0f} s")


def worker_after_the_end(trial, tell):
    """Another worker than the Job's own, that is started when nobody can tell it of the end any more."""
    template = next(each for each in trial.objects if each["kind"] == "Job"
                    and each["metadata"]["name"] == f"{trial.name}-workers")["spec"]["template"]
    trial.wait("the end", trial.is_finished, 900)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": dict(template["metadata"], name=f"{trial.name}-late"),
           "spec": template["spec"]}
    began = time.monotonic()
    trial.cluster.apply([pod])
    trial.wait("the late worker ends", lambda: trial.cluster.get("pod", f"{trial.name}-late")["status"]["phase"] in (
        "Succeeded", "Failed"), 500)
    tell(f"a worker that is started after the end ends after {time.monotonic() - began:.0f} s")


CASES = {case.__name__: case for case in (undisturbed, pods_deleted, shards_rolled, workers_scaled, pod_evicted,
                                          volume_lost, operator_added, worker_after_the_end)}
COPIES = "copies"  # a claim
OPTIONS = {"volume_lost": ["--copies", COPIES, "--set", "durability.copy_to=/copies", "--set", "durability.run=volume-lost"]}


def why_no_images():
    missing = [image for image in IMAGES if subprocess.run(["docker", "image", "inspect", f"{image}:{TAG}"],
                                                           capture_output=True, check=False).returncode != 0]
    return f"there is no image {', '.join(missing)} with the tag {TAG}: ./dev image" if missing else ""


def main():
    why = why_not() or why_no_images()
    if why:
        print(f"skipped: {why}")
        sys.exit(77)
    wanted = sys.argv[1:] or list(CASES)
    failed = False
    with tempfile.TemporaryDirectory(prefix="ballast-kubernetes-") as name:
        folder = pathlib.Path(name)
        (folder / "job.yaml").write_text(JOB)
        digest = reference(folder)
        print(f"by ballast run: {digest}", flush=True)
        began = time.monotonic()
        with Cluster(folder / "cluster") as cluster:
            print(f"the cluster is ready after {time.monotonic() - began:.0f} s", flush=True)
            for case in wanted:
                def tell(text, case=case):
                    print(f"{case}: {text}", flush=True)
                trial = Trial(cluster, folder, case.replace("_", "-"), *OPTIONS.get(case, []))
                CASES[case](trial, tell)
                got, took = trial.end()
                tell(f"{'the same bits' if got == digest else 'OTHER BITS ' + got}, {took:.0f} s")
                failed = failed or got != digest
                cluster.kubectl("delete", "jobs", "--all", "--wait=true")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
