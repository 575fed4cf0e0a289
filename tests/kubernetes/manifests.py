"""What `ballast render kubernetes` writes, and what is in kubernetes/: that objects fit each other, the schemas of
Kubernetes, and what render writes today. Needs ballast (BALLAST_BUILD); what else it lacks it says in a line."""

import copy
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from structure import Objects

ROOT = pathlib.Path(__file__).resolve().parents[2]
KUBERNETES = ROOT / "kubernetes"
BALLAST = pathlib.Path(os.environ.get("BALLAST_BUILD", ROOT / "build")) / "cli" / "ballast"
A_KEY = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"  # of ZeroMQ's manual
JOB = """job: {name}
model: {{name: emulated, parameters: [{{name: w, shape: [1000, 1000]}}]}}
data: {{name: none}}
training: {{batch: 64, slots: 8, max_steps: 5, optimizer: {{name: adam, learning_rate: 0.1}}}}
cluster: {{shards: {shards}, workers: 3, lanes: {lanes}}}
"""


def render(*arguments, job):
    done = subprocess.run([BALLAST, "render", "kubernetes", job, "--format", "json", *arguments], text=True,
                          capture_output=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)["items"]


def schemas():
    """The folder whose node_modules has kubernetes-models, or why there is none."""
    if not shutil.which("node"):
        return None, "there is no node"
    for place in (os.environ.get("BALLAST_KUBERNETES_SCHEMAS", ""),
                  pathlib.Path.home() / ".cache" / "ballast" / "kubernetes-schemas"):
        if place and (pathlib.Path(place) / "node_modules" / "kubernetes-models").is_dir():
            return str(place), ""
    return None, "npm's kubernetes-models is not there: tests/kubernetes/get-schemas fetches it"


def kustomized(folder):
    """Objects of a kustomization."""
    import yaml
    text = subprocess.run(["kubectl", "kustomize", folder], text=True, capture_output=True, check=False)
    if text.returncode != 0:
        raise AssertionError(f"{folder}: {text.stderr}")
    return [each for each in yaml.safe_load_all(text.stdout) if each]


def why_no_kustomize():
    if not shutil.which("kubectl"):
        return "there is no kubectl"
    if subprocess.run(["kubectl", "kustomize", "--help"], capture_output=True, check=False).returncode != 0:
        return "this kubectl has no kustomize"
    try:
        import yaml  # noqa: F401
    except ImportError:
        return "there is no python3-yaml"
    return ""


class Rendered(unittest.TestCase):
    """Jobs of many kinds, each with its objects."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.kinds = dict(cls.kinds_of_jobs())

    @classmethod
    def job(cls, name="million", shards=2, lanes=2):
        file = pathlib.Path(cls.folder.name) / f"{name}-{shards}-{lanes}.yaml"
        file.write_text(JOB.format(name=name, shards=shards, lanes=lanes))
        return str(file)

    @classmethod
    def kinds_of_jobs(cls):
        """(title, (objects, names that others make))"""
        external = ["files", "copies", "start", "keys", "models", "team-server-keys", "team-worker-keys", "key-of-copies",
                    "keys-of-bucket"]
        mnist = str(ROOT / "configs" / "mnist-lenet5.yaml")
        for title, arguments, job in (
            ("plain", [], cls.job()),
            ("one shard", [], cls.job(shards=1, lanes=1)),
            ("many shards", [], cls.job(shards=64, lanes=16)),
            ("a name with odd characters", [], cls.job(name="2.news_groups-")),
            ("the longest name", [], cls.job(name="m" * 53, shards=64)),
            ("a name of its own", ["--name", "other"], cls.job(name="m" * 60)),
            ("variables", ["--peers", "variables"], cls.job()),
            ("data", ["--data", "files"], mnist),
            ("copies to a folder", ["--data", "files", "--copies", "copies", "--set", "durability.copy_to=/copies",
                                    "--set", "durability.run=mnist-1"], mnist),
            ("copies to a bucket", ["--s3-secret", "keys", "--set", "durability.copy_to=s3://bucket/x", "--set",
                                    "durability.s3_endpoint=https://s3.example.org"], cls.job()),
            ("copies to a bucket, keys in a file",
             ["--s3-credentials", "keys-of-bucket", "--set", "durability.copy_to=s3://bucket/x", "--set",
              "durability.s3_endpoint=https://s3.example.org", "--set", "durability.s3_credentials_file=/a/credentials"],
             cls.job()),
            ("encrypted copies", ["--data", "files", "--copies", "copies", "--copy-key", "key-of-copies", "--set",
                                  "durability.copy_to=/copies", "--set", "durability.copy_key_file=copies.key"], mnist),
            ("initial weights", ["--data", "files", "--initial", "start", "--set",
                                 "training.init_from=/a/b.safetensors"], mnist),
            ("GPUs on nodes that may go", ["--gpus", "2", "--worker-toleration", "spot=true:NoSchedule", "--worker-node",
                                           "pool=spot", "--worker-priority", "low", "--server-priority", "high"],
             cls.job()),
            ("a queue", ["--queue", "team-a"], cls.job()),
            ("monitors", ["--monitors"], cls.job()),
            ("keys of several jobs", ["--server-secret", "team-server-keys", "--worker-secret", "team-worker-keys"],
             cls.job()),
        ):
            yield title, (render(*arguments, job=job), external)

    def test_objects_fit_each_other(self):
        for title, (objects, external) in self.kinds.items():
            with self.subTest(title):
                self.assertEqual(Objects(objects, external).check(), [])

    def test_the_weights_are_read_from_claims_that_there_are(self):
        objects = self.kinds["plain"][0] + render("--weights", "--weights-claim", "models", job=self.job())
        self.assertEqual(Objects(objects, ["models"]).check(), [])

    def test_two_jobs_in_a_namespace_share_no_object_and_no_pod(self):
        objects = render(job=self.job("one")) + render(job=self.job("two"))
        self.assertEqual(Objects(objects).check(), [])

    def test_a_mistake_would_be_found(self):
        plain = self.kinds["plain"][0]
        job = [each["kind"] for each in plain].index("Job")

        def mutant(change):
            objects = copy.deepcopy(plain)
            change(objects)
            return Objects(objects).check()

        def pod(objects):
            return objects[job]["spec"]["template"]["spec"]

        def remove(kind):
            return lambda objects: objects.remove(next(each for each in objects if each["kind"] == kind))

        def arguments(objects):
            return pod(objects)["containers"][0]["args"]

        def secret(objects):
            return next(volume["secret"] for volume in pod(objects)["volumes"] if "secret" in volume)

        def keys_mount(objects):
            return next(mount for mount in pod(objects)["containers"][0]["volumeMounts"] if mount["name"] == "keys")

        def set_limit(objects):
            pod(objects)["containers"][0]["resources"]["limits"]["memory"] = "1Mi"

        for title, change in {
            "no Service": remove("Service"),
            "no claim": remove("PersistentVolumeClaim"),
            "no job file": remove("ConfigMap"),
            "another label": lambda objects: objects[job]["spec"]["template"]["metadata"]["labels"].update(
                {"app.kubernetes.io/instance": "x"}),
            "a port less": lambda objects: pod(objects)["containers"][0]["ports"].pop(),
            "a limit below the request": set_limit,
            "a mount of nothing": lambda objects: pod(objects)["volumes"].pop(),
            "root": lambda objects: pod(objects)["securityContext"].pop("runAsNonRoot"),
            "no variable": lambda objects: pod(objects)["containers"][0]["env"].pop(),
            "a long name": lambda objects: objects[job]["metadata"].update({"name": "m" * 64}),
            "a door for everybody": lambda objects: arguments(objects).append("--insecure"),
            "no keys": lambda objects: arguments(objects).remove("--keys=/keys"),
            "a key as an argument": lambda objects: arguments(objects).append("--secret=" + A_KEY),
            "a key as a variable": lambda objects: pod(objects)["containers"][0]["env"].append(
                {"name": "KEY", "value": A_KEY}),
            "a Secret as a variable": lambda objects: pod(objects)["containers"][0]["env"].append(
                {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "server.key"}}}),
            "a Secret's contents": lambda objects: objects.append(
                {"kind": "Secret", "metadata": {"name": "million-server-keys"}}),
            "the workers' Secret": lambda objects: secret(objects).update(secretName="million-worker-keys"),
            "a second Secret": lambda objects: pod(objects)["volumes"].append(
                {"name": "more", "secret": {"secretName": "million-worker-keys"}}),
            "all of a Secret": lambda objects: secret(objects).pop("items"),
            "the operator's key": lambda objects: secret(objects)["items"].append(
                {"key": "operator.key", "path": "operator.key"}),
            "keys for everybody": lambda objects: secret(objects).update(defaultMode=0o444),
            "keys that stay as they were": lambda objects: keys_mount(objects).update(subPath="server.key"),
            "keys that can be written": lambda objects: keys_mount(objects).pop("readOnly"),
        }.items():
            with self.subTest(title):
                self.assertNotEqual(mutant(change), [])

    def test_a_server_without_the_key_of_copies_would_be_found(self):
        objects, external = copy.deepcopy(self.kinds["encrypted copies"])
        pod = next(each for each in objects if each["kind"] == "Job")["spec"]["template"]["spec"]
        mounts = pod["containers"][0]["volumeMounts"]
        mounts.remove(next(mount for mount in mounts if mount["name"] == "copy-key"))
        faults = Objects(objects, external).check()
        self.assertTrue(any("sees copy-key by []" in fault for fault in faults), faults)

    def test_objects_fit_the_schemas(self):
        place, why = schemas()
        if not place:
            self.skipTest(why)
        objects = [each for objects, _ in self.kinds.values() for each in objects]
        self.assertEqual(*verdict(place, objects))


def verdict(place, objects):
    """What the schemas say, and what they say if all is well (Kueue's kinds have none)."""
    done = subprocess.run(["node", ROOT / "tests/kubernetes/schemas.mjs", place], input=json.dumps(objects), text=True,
                          capture_output=True, check=False)
    lines = [line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("no schema: kueue.")]
    return (lines, done.returncode), ([], 0)


class Refusals(unittest.TestCase):
    def refused(self, *arguments, job):
        done = subprocess.run([BALLAST, "render", "kubernetes", job, *arguments], text=True, capture_output=True,
                              check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr

    def test_what_cannot_be_rendered_is_told_with_the_remedy(self):
        with tempfile.TemporaryDirectory() as folder:
            job = pathlib.Path(folder) / "job.yaml"
            job.write_text(JOB.format(name="m" * 60, shards=1, lanes=1))
            self.assertIn("--name NAME", self.refused(job=job))
            self.assertIn("--worker-memory", self.refused("--name", "x", "--worker-memory", "3G", job=job))
            self.assertIn("say --data", self.refused(job=ROOT / "configs/mnist-lenet5.yaml"))
            to_bucket = ["--set", "durability.copy_to=s3://bucket/x", "--set", "durability.s3_endpoint=https://s3.example.org"]
            self.assertIn("say --s3-secret", self.refused("--name", "x", *to_bucket, job=job))


class Kustomizations(unittest.TestCase):
    def test_what_is_generated_is_what_render_writes_today(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([KUBERNETES / "generate", BALLAST, folder], check=True)
            written = sorted(file.relative_to(folder) for file in pathlib.Path(folder).rglob("*.yaml"))
            self.assertGreater(len(written), 3)
            for file in written:
                with self.subTest(str(file)):
                    self.assertEqual((KUBERNETES / file).read_text(), (pathlib.Path(folder) / file).read_text(),
                                     "run kubernetes/generate")

    def kustomizations(self):
        why = why_no_kustomize()
        if why:
            self.skipTest(why)
        for folder in sorted(file.parent for file in KUBERNETES.rglob("kustomization.yaml")):
            yield str(folder.relative_to(KUBERNETES)), kustomized(folder)

    def test_kustomized_objects_fit_each_other(self):
        claims = [f"quickstart-shard-{shard}" for shard in range(2)]
        for title, objects in self.kustomizations():
            with self.subTest(title):
                self.assertEqual(Objects(objects, claims if title.endswith("weights") else []).check(), [])

    def test_overlays_write_what_render_does(self):
        quickstart = ROOT / "configs" / "quickstart.yaml"
        of = dict(self.kustomizations())
        for overlay, arguments in {"gpu": ["--gpus", "1"], "queue": ["--queue", "ballast"],
                                   "without-dns": ["--peers", "variables"], "monitoring": ["--monitors"]}.items():
            with self.subTest(overlay):
                def by_name(objects):
                    return {(each["kind"], each["metadata"]["name"]): each for each in objects}
                self.assertEqual(by_name(of[f"overlays/{overlay}"]), by_name(render(*arguments, job=quickstart)))

    def test_kustomized_objects_fit_the_schemas(self):
        place, why = schemas()
        if not place:
            self.skipTest(why)
        for title, objects in self.kustomizations():
            with self.subTest(title):
                self.assertEqual(*verdict(place, objects))


if __name__ == "__main__":
    if not BALLAST.exists():
        print(f"skipped: {BALLAST} is not built")
        sys.exit(77)
    unittest.main()
