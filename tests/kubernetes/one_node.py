"""A Kubernetes of one node on this machine, of programs that were built from source (BALLAST_KUBERNETES_BIN: a folder with
kube-apiserver, kube-controller-manager, kube-scheduler, kubelet and kube-proxy, version 1.20) and of Debian's etcd, iptables
and docker. Volumes are folders of this machine. There is no DNS: pods find Services by their variables."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

CONTROL = ("kube-apiserver", "kube-controller-manager")
NODE = ("kube-scheduler", "kubelet", "kube-proxy")
PORT = 6443
TOKEN = "one-node"
PAUSE = "ballast-test/pause:1"  # holds a pod's network; as process 1 it must obey SIGTERM


def why_not(with_node=True):
    """Why no cluster, or none without a node, can be started here, in a line; empty if one can."""
    if with_node and os.geteuid() != 0:
        return "a cluster of one node needs root"
    folder = os.environ.get("BALLAST_KUBERNETES_BIN", "")
    if not folder:
        return "BALLAST_KUBERNETES_BIN names no folder with Kubernetes' programs"
    parts, tools = CONTROL, ("etcd", "kubectl", "openssl")
    if with_node:
        parts, tools = parts + NODE, tools + ("docker", "iptables")
    missing = [part for part in parts if not os.access(pathlib.Path(folder) / part, os.X_OK)]
    missing += [tool for tool in tools if not shutil.which(tool)]
    if missing:
        return f"a cluster of one node needs {', '.join(missing)}"
    if with_node and subprocess.run(["docker", "info"], capture_output=True, check=False).returncode != 0:
        return "no Docker daemon answers"
    return ""


class Cluster:
    """Without a node pods are made, and never run."""

    def __init__(self, folder, with_node=True):
        self.with_node = with_node
        self.folder = pathlib.Path(folder)
        self.programs = pathlib.Path(os.environ["BALLAST_KUBERNETES_BIN"])
        self.processes = {}
        self.config = self.folder / "kubeconfig"

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    # ---- kubectl

    def kubectl(self, *arguments, text=None, check=True):
        done = subprocess.run(["kubectl", "--kubeconfig", self.config, *arguments], input=text, text=True,
                              capture_output=True, check=False, timeout=120)
        if check and done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(map(str, arguments))}: {done.stderr}")
        return done.stdout if check else done

    def get(self, *arguments):
        return json.loads(self.kubectl("get", *arguments, "-o", "json"))

    def apply(self, objects):
        """Of version 1.20: it knows budgets as policy/v1beta1 alone."""
        objects = [dict(each, apiVersion="policy/v1beta1") if each["apiVersion"] == "policy/v1" else each
                   for each in objects]
        self.kubectl("apply", "--validate=false", "-f", "-",
                     text=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def volume(self, claim):
        """The folder of a claim's volume, which is made for it if need be."""
        folder = self.folder / "volumes" / claim["metadata"]["name"]
        folder.mkdir(parents=True)
        shutil.chown(folder, 10001, 10001)
        spec = {"capacity": claim["spec"]["resources"]["requests"], "accessModes": ["ReadWriteOnce", "ReadWriteMany"],
                "hostPath": {"path": str(folder)}, "persistentVolumeReclaimPolicy": "Retain",
                "claimRef": {"namespace": "default", "name": claim["metadata"]["name"]}}
        self.apply([{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": claim["metadata"]["name"]},
                     "spec": spec}])
        return folder

    # ---- processes

    def run(self, name, *command):
        with open(self.folder / f"{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True,
                                                    cwd=self.folder)

    def part(self, name, *arguments):
        self.run(name, self.programs / name, *arguments)

    def start(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        self.write_credentials()
        self.start_control()
        if self.with_node:
            self.make_pause()
            self.start_node()

    def start_control(self):
        self.run("etcd", "etcd", "--data-dir", self.folder / "etcd", "--listen-client-urls", "http://127.0.0.1:12379",
                 "--advertise-client-urls", "http://127.0.0.1:12379", "--listen-peer-urls", "http://127.0.0.1:12380",
                 "--initial-advertise-peer-urls", "http://127.0.0.1:12380", "--initial-cluster",
                 "default=http://127.0.0.1:12380", "--unsafe-no-fsync")
        key = self.folder / "accounts.key"
        self.part("kube-apiserver", "--etcd-servers=http://127.0.0.1:12379", f"--secure-port={PORT}",
                  f"--cert-dir={self.folder}/certificates", f"--token-auth-file={self.folder}/tokens",
                  "--authorization-mode=AlwaysAllow", "--service-cluster-ip-range=10.96.0.0/16",
                  "--disable-admission-plugins=ServiceAccount", "--endpoint-reconciler-type=none",
                  f"--service-account-key-file={key}", f"--service-account-signing-key-file={key}",
                  "--service-account-issuer=https://one-node")
        self.wait("the API server", lambda: self.kubectl("get", "--raw", "/readyz", check=False).returncode == 0)
        self.part("kube-controller-manager", f"--kubeconfig={self.config}", "--leader-elect=false",
                  f"--service-account-private-key-file={key}")

    def start_node(self):
        self.part("kube-scheduler", f"--kubeconfig={self.config}", "--leader-elect=false")
        self.part("kubelet", f"--kubeconfig={self.config}", f"--root-dir={self.folder}/kubelet",
                  "--hostname-override=127.0.0.1", "--cgroup-driver=cgroupfs", "--cgroups-per-qos=false",
                  "--enforce-node-allocatable=", "--fail-swap-on=false", f"--pod-infra-container-image={PAUSE}",
                  "--cert-dir", self.folder / "kubelet-certificates", "--eviction-hard=", "--image-gc-high-threshold=100")
        # A bridge's frames pass no iptables here: replies come back through the host only if it is their destination.
        self.part("kube-proxy", f"--kubeconfig={self.config}", "--proxy-mode=iptables", "--masquerade-all",
                  "--hostname-override=127.0.0.1", "--conntrack-max-per-core=0",
                  "--conntrack-tcp-timeout-established=0", "--conntrack-tcp-timeout-close-wait=0",
                  "--oom-score-adj=0")
        self.wait("the node", self.node_is_ready)

    def node_is_ready(self):
        done = self.kubectl("get", "node", "127.0.0.1", "-o", "json", check=False)
        if done.returncode != 0:
            return False
        conditions = json.loads(done.stdout)["status"]["conditions"]
        return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)

    def make_pause(self):
        if subprocess.run(["docker", "image", "inspect", PAUSE], capture_output=True, check=False).returncode == 0:
            return
        waits = 'trap "exit 0" TERM INT; while :; do sleep 3600 & wait $!; done'
        dockerfile = f"FROM debian:bookworm-slim\nENTRYPOINT {json.dumps(['sh', '-c', waits])}\n"
        subprocess.run(["docker", "build", "-t", PAUSE, "-"], input=dockerfile, text=True, check=True,
                       capture_output=True)

    def write_credentials(self):
        subprocess.run(["openssl", "genrsa", "-out", self.folder / "accounts.key", "2048"], check=True,
                       capture_output=True)
        (self.folder / "tokens").write_text(f'{TOKEN},tester,1,"system:masters"\n')
        self.config.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "one-node",
            "clusters": [{"name": "one-node", "cluster": {"server": f"https://127.0.0.1:{PORT}",
                                                          "insecure-skip-tls-verify": True}}],
            "users": [{"name": "tester", "user": {"token": TOKEN}}],
            "contexts": [{"name": "one-node", "context": {"cluster": "one-node", "user": "tester"}}]}))

    def wait(self, what, holds, seconds=180):
        end = time.monotonic() + seconds
        while not holds():
            for name, process in self.processes.items():
                if process.poll() is not None:
                    raise AssertionError(f"{name} ended with {process.returncode}: see {self.folder}/{name}.log")
            if time.monotonic() > end:
                raise AssertionError(f"{what}: not within {seconds} s")
            time.sleep(0.5)

    def stop(self):
        if "kubelet" in self.processes:
            self.kubectl("delete", "jobs,pods", "--all", "--grace-period=1", "--wait=true", "--timeout=60s",
                         check=False)
        for process in reversed(self.processes.values()):
            process.send_signal(signal.SIGTERM)
        for process in reversed(self.processes.values()):
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if "kube-proxy" in self.processes:
            subprocess.run([self.programs / "kube-proxy", "--cleanup"], capture_output=True, check=False)
        if "kubelet" in self.processes:
            remove_kubelet_rules()
            self.unmount()
        self.processes.clear()

    def unmount(self):
        """Volumes of pods that a kubelet which was ended has left."""
        places = [line.split()[1] for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
        for place in sorted((place for place in places if place.startswith(f"{self.folder}/")), reverse=True):
            subprocess.run(["umount", place], capture_output=True, check=False)


def remove_kubelet_rules():
    """What a kubelet leaves in iptables, which kube-proxy's clean-up lets be."""
    for hook in ("INPUT", "OUTPUT"):
        subprocess.run(["iptables", "-D", hook, "-j", "KUBE-FIREWALL"], capture_output=True, check=False)
    for table in ("filter", "nat", "mangle"):
        rules = subprocess.run(["iptables", "-t", table, "-S"], text=True, capture_output=True, check=False).stdout
        chains = [line.split()[1] for line in rules.splitlines() if line.startswith("-N KUBE-")]
        for action in ("-F", "-X"):
            for chain in chains:
                subprocess.run(["iptables", "-t", table, action, chain], capture_output=True, check=False)
