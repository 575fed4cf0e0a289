"""What Kubernetes' own controllers make of a job's objects: who is replaced, what a scale does, whom a budget protects, and how
the end comes. A real API server and its controllers, without a node: pods never run, and the test says how each has ended.
Needs etcd, kubectl, openssl and, in BALLAST_KUBERNETES_BIN, kube-apiserver and kube-controller-manager (1.20)."""

import json
import os
import pathlib
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

from one_node import PORT, TOKEN, Cluster, why_not

ROOT = pathlib.Path(__file__).resolve().parents[2]
BALLAST = pathlib.Path(os.environ.get("BALLAST_BUILD", ROOT / "build")) / "cli" / "ballast"
PATIENCE = 120
PASSES = 15  # seconds in which a controller would have done what it must not do


class Controllers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ballast-kubernetes-")
        self.addCleanup(folder.cleanup)
        self.cluster = Cluster(pathlib.Path(folder.name), with_node=False)
        self.addCleanup(self.cluster.stop)
        self.cluster.start()
        text = subprocess.run([BALLAST, "render", "kubernetes", ROOT / "configs" / "quickstart.yaml", "--format", "json"],
                              text=True, capture_output=True, check=True).stdout
        self.cluster.apply(json.loads(text)["items"])
        self.wait("pods", lambda: (len(self.live("worker")), len(self.live("server"))) == (2, 2))
        for pod in self.live("worker") + self.live("server"):
            self.becomes(pod, "Running")

    def wait(self, what, holds):
        self.cluster.wait(what, holds, PATIENCE)

    def live(self, component):
        pods = self.cluster.get("pods", "-l", f"app.kubernetes.io/component={component}")["items"]
        return sorted(pod["metadata"]["name"] for pod in pods if "deletionTimestamp" not in pod["metadata"] and
                      pod["status"].get("phase") in ("Pending", "Running"))

    def becomes(self, pod, phase):
        """As a kubelet would tell it."""
        status = {"phase": phase, "conditions": [{"type": "Ready", "status": str(phase == "Running")}]}
        request = urllib.request.Request(
            f"https://127.0.0.1:{PORT}/api/v1/namespaces/default/pods/{pod}/status", method="PATCH",
            data=json.dumps({"status": status}).encode(),
            headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/strategic-merge-patch+json"})
        urllib.request.urlopen(request, context=ssl._create_unverified_context(), timeout=30).close()

    def delete(self, pod):
        self.cluster.kubectl("delete", "pod", pod, "--grace-period=0", "--force")

    def is_complete(self, name):
        return any(each["type"] == "Complete" and each["status"] == "True"
                   for each in self.cluster.get("job", name)["status"].get("conditions", []))

    def evict(self, pod):
        eviction = {"apiVersion": "policy/v1beta1", "kind": "Eviction",
                    "metadata": {"name": pod, "namespace": "default"}}
        return self.cluster.kubectl("create", "--raw", f"/api/v1/namespaces/default/pods/{pod}/eviction", "-f", "-",
                                    text=json.dumps(eviction), check=False).returncode == 0

    def test_workers_are_scaled_by_their_parallelism(self):
        for workers in (1, 6, 2):
            self.cluster.kubectl("patch", "job", "quickstart-workers", "-p",
                                 json.dumps({"spec": {"parallelism": workers}}))
            self.wait(f"{workers} workers", lambda workers=workers: len(self.live("worker")) == workers)

    def test_who_has_not_seen_the_end_is_replaced(self):
        for component in ("worker", "server"):
            gone = self.live(component)[0]
            self.delete(gone)
            self.wait("another pod", lambda: len(self.live(component)) == 2 and gone not in self.live(component))
        self.becomes(self.live("worker")[0], "Failed")  # it has ended with 143, or was killed
        self.wait("another worker", lambda: len(self.live("worker")) == 2)

    def test_the_budget_lets_one_server_go_at_a_time(self):
        first, second = self.live("server")
        self.wait("an eviction", lambda: self.evict(first))
        self.assertFalse(self.evict(second))
        self.wait("another pod", lambda: len(self.live("server")) == 2)
        self.assertFalse(self.evict(second), "the new one is not ready yet")
        for pod in self.live("server"):
            self.becomes(pod, "Running")
        self.wait("the second eviction", lambda: self.evict(second))

    def test_nothing_is_made_anew_once_the_job_is_over(self):
        for pod in self.live("server"):
            self.becomes(pod, "Succeeded")
        for shard in range(2):
            self.wait("the shard's Job", lambda shard=shard: self.is_complete(f"quickstart-shard-{shard}"))
        early, late = self.live("worker")
        self.becomes(early, "Succeeded")
        time.sleep(PASSES)
        self.assertEqual(self.live("worker"), [late])
        self.becomes(late, "Failed")  # it was killed at the end, and nobody is there any more who could tell it of it
        self.wait("the workers' Job", lambda: self.is_complete("quickstart-workers"))
        self.assertEqual(self.live("worker") + self.live("server"), [])


if __name__ == "__main__":
    WHY = why_not(with_node=False) or ("" if BALLAST.exists() else f"{BALLAST} is not built")
    if WHY:
        print(f"skipped: {WHY}")
        sys.exit(77)
    unittest.main()
