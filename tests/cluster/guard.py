"""The same bits are guarded: other data are refused, another arithmetic is refused or told; what is said when a backend
cannot be had."""

import random
import re
import struct

import harness
import jobs
import metrics

TRAIN, TEST = 300, 60
SLOW = {"BALLAST_DELAY": "*:4"}  # so that a job lasts until what is to be seen has been seen
OTHER_ARITHMETIC = {"ONEDNN_MAX_CPU_ISA": "SSE41"}  # oneDNN without fused multiplication and addition
FOR_GOOD = 4  # exit code of a worker that another life of it would not help


def write_mnist(folder, seed, changed=None):
    """Files in MNIST's format. `changed`: the pixel of a training image that differs."""
    folder.mkdir()
    draw = random.Random(seed)
    for name, count in (("train", TRAIN), ("t10k", TEST)):
        pixels = bytearray(draw.randbytes(count * 784))
        if name == "train" and changed is not None:
            pixels[changed] ^= 1
        (folder / f"{name}-images-idx3-ubyte").write_bytes(struct.pack(">IIII", 2051, count, 28, 28) + pixels)
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(
            struct.pack(">II", 2049, count) + bytes(draw.randrange(10) for _ in range(count)))
    return folder


def on_files(folder, steps):
    return jobs.glyphs(steps=steps).replace(
        "{name: glyphs, ", f"{{name: mnist, path: {folder}, ")


class GuardCase(harness.ClusterCase):
    def wait_for_metric(self, run, name, expected):
        """The lead's metrics follow its status a few times a second."""
        run.wait_until(f"{name} {expected}", lambda: metrics.value(metrics.of(run, "server"), name) == expected)

    def sessions(self, run, name):
        return [one for one in (run.status() or {}).get("sessions", []) if one["name"] == name]

    def log_of(self, run, name):
        return (run.folder / "logs" / f"{name}.log").read_text()


class Data(GuardCase):
    def setUp(self):
        super().setUp()
        self.good = write_mnist(self.folder / "good", seed=1)
        self.other = write_mnist(self.folder / "other", seed=1, changed=200 * 784 + 300)  # no probe has that pixel
        self.file = self.job(on_files(self.good, steps=400))

    def test_a_worker_with_another_set_is_refused_and_the_job_ends_without_it(self):
        run = self.start(self.file, options=["--metrics"], environment=SLOW)
        run.wait_for_step(3)
        first = run.status()["data"]
        self.assertRegex(first["value"], "^[0-9a-f]{32}$")
        self.assertEqual(first["by"], "worker worker-0")
        other = self.start_worker(run, "other", options=["--data", self.other])
        self.assertEqual(other.wait(timeout=harness.PATIENCE), FOR_GOOD)
        said = self.log_of(run, "other")
        theirs = re.search(r"digest is ([0-9a-f]{32})", said)[1]
        self.assertNotEqual(theirs, first["value"])
        for words in ("worker other has other data", f"{first['value']} (worker worker-0)", "the same files"):
            self.assertIn(words, said)
        status = run.status()
        refusal = self.sessions(run, "other")[0]
        self.assertFalse(refusal["live"])
        self.assertIn(theirs, refusal["refusal"])
        self.assertIn(refusal["refusal"], status["trouble"])
        self.assertEqual((status["refused_workers"], status["lost_workers"]), (1, 0))
        self.wait_for_metric(run, "ballast_lead_refused_workers_total", 1)
        self.wait_for_metric(run, "ballast_lead_arithmetics", 1)
        self.assertIn("refused", self.ballast("status", run.folder).stdout)
        summary = run.finish()
        self.expect_equal_bits(summary, self.reference(self.file))
        self.assertEqual(summary["slots_by_session"]["other"], 0)
        self.assertEqual((summary["refused_workers"], summary["data_digest"]), (1, first["value"]))

    def test_the_digest_outlives_every_process(self):
        run = self.start(self.file, environment=SLOW)
        run.wait_for_step(3)
        digest = run.status()["data"]["value"]
        run.kill_all()
        again = self.start(None, overrides={"data.path": self.other})
        self.assertEqual(again.wait(), 1, again.logs())
        said = again.errors()
        self.assertIn("worker 0 cannot serve", said)
        self.assertIn(f"{digest} (worker worker-0)", said)
        self.assertEqual(said.count("other data than the job"), 1, "told once, at once")
        summary = self.start(None, overrides={"data.path": self.good}).finish()
        self.expect_equal_bits(summary, self.reference(self.file))

    def test_the_job_files_digest_counts_before_any_workers(self):
        run = self.start(self.file, environment=SLOW)
        run.wait_for_step(1)
        digest = run.status()["data"]["value"]
        run.kill_all()
        named = self.start(self.file, name="named", overrides={"data.digest": digest, "training.max_steps": 2})
        self.assertEqual(named.finish()["data_digest"], digest)
        wrong = self.start(self.file, name="wrong", overrides={"data.digest": digest, "data.path": self.other})
        self.assertEqual(wrong.wait(), 1)
        self.assertIn(f"{digest} (data.digest of the job file)", wrong.errors())
        ending = harness.text_of(wrong.out)
        self.assertIn("would end like this one: see to what is told above", ending)
        self.assertNotIn("go on with: ballast run --resume", ending)
        # What a job was trained on cannot be named otherwise afterwards.
        moved = self.start(None, overrides={"data.digest": "0" * 32})
        self.assertEqual(moved.wait(), 1)
        self.assertIn(f"{digest} (worker worker-0)", moved.errors())


class Arithmetic(GuardCase):
    def setUp(self):
        super().setUp()
        self.file = self.job(jobs.glyphs(model="lenet5", steps=400))

    def test_it_does_not_change_with_seed_or_data(self):
        found = []
        for name, overrides in (("a", {}), ("b", {"training.seed": 77}), ("c", {"data.train_examples": 304})):
            run = self.start(self.file, name=name, overrides={"training.max_steps": 2, **overrides})
            found.append(run.finish())
        self.assertEqual(len({tuple(one["arithmetics"]) for one in found}), 1, found)
        self.assertEqual(found[0]["data_digest"], found[1]["data_digest"])
        self.assertNotEqual(found[0]["data_digest"], found[2]["data_digest"])

    def test_another_one_trains_and_is_told_everywhere(self):
        run = self.start(self.file, options=["--metrics"], environment=SLOW)
        run.wait_for_step(2)
        first = run.status()["arithmetics"]
        self.assertEqual([kind["by"] for kind in first], ["worker worker-0"])
        self.start_worker(run, "other", environment=OTHER_ARITHMETIC)
        run.wait_until("slots of the other worker", lambda: any(one["slots"] for one in self.sessions(run, "other")))
        status = run.status()
        kinds = [kind["value"] for kind in status["arithmetics"]]
        self.assertEqual(len(set(kinds)), 2, "does this processor compute the same without its newer instructions?")
        self.assertEqual(status["arithmetics"][1]["by"], "worker other")
        self.assertIn(f"worker other computes with {kinds[1]}, the job began with {kinds[0]} (worker worker-0)",
                      status["trouble"])
        self.wait_for_metric(run, "ballast_lead_arithmetics", 2)
        self.wait_for_metric(run, "ballast_lead_trouble", 1)
        summary = run.finish()
        self.assertEqual(summary["arithmetics"], kinds)
        self.assertEqual(set(summary["slots_by_fingerprint"]), set(kinds))
        self.assertIn("not the bits of one arithmetic: 2 kinds", run.out.read_text())

    def test_an_exact_job_refuses_it(self):
        run = self.start(self.file, overrides={"training.exact": "required"}, environment=SLOW)
        run.wait_for_step(2)
        other = self.start_worker(run, "other", environment=OTHER_ARITHMETIC)
        self.assertEqual(other.wait(timeout=harness.PATIENCE), FOR_GOOD)
        said = self.log_of(run, "other")
        self.assertIn("worker other computes with other arithmetic", said)
        self.assertIn("training.exact: required", said)
        summary = run.finish()
        self.expect_equal_bits(summary, self.reference(self.file))
        self.assertEqual((summary["refused_workers"], len(summary["arithmetics"])), (1, 1))


class InitialWeights(GuardCase):
    """Servers by hand, each where another file has the name that the job says."""

    def server(self, job, shard, folder):
        return self.start_process(harness.SERVER, "--job", job, "--shard", shard, "--lead", f"ipc://{self.folder}/lead",
                                  "--bind", f"ipc://{self.folder}/shard-{shard}", "--database", folder / "database",
                                  out=folder / "log", cwd=folder)

    def test_shards_that_read_different_files_do_not_come_together(self):
        weights = []
        for seed in (3, 4):
            run = self.start(self.job(jobs.glyphs(steps=2, seed=seed)), name=f"run-{seed}")
            run.finish()
            weights.append(self.folder / f"weights-{seed}.safetensors")
            self.ballast("export", run.folder, "-o", weights[-1])
        file = self.job(jobs.glyphs(steps=4, training=f"{jobs.MOMENTUM}\n  init_from: start.safetensors")
                        .replace("shards: 1", "shards: 2"), name="two.yaml")
        for attempt in range(8):  # either may come first, and be the one whose file counts
            self.check_refused(file, weights, self.folder / f"attempt-{attempt}")

    def check_refused(self, job, weights, place):
        folders = []
        for shard in (0, 1):
            folders.append(place / f"place-{shard}")
            folders[shard].mkdir(parents=True)
            (folders[shard] / "start.safetensors").write_bytes(weights[shard].read_bytes())
        servers = [self.server(job, shard, folders[shard]) for shard in (0, 1)]
        self.wait_for("the end of one", lambda: any(server.poll() is not None for server in servers))
        said = "".join((folder / "log").read_text() for folder in folders)
        self.assertRegex(said, r"shard [01] has read other initial weights than the job's: the digest of its file's "
                               r"tensors is [0-9a-f]{32}, the job's is [0-9a-f]{32} \(shard [01]\)")
        for server in servers:
            server.kill()
            server.wait()


class Backends(GuardCase):
    def test_a_precision_that_will_not_be_used_is_told_at_once(self):
        file = self.job(jobs.glyphs(steps=2))
        why = "no GPU is used: this build of Ballast has no cuda backend"
        what = "precision bfloat16, which the cpu does not have: it computes in float32"
        asked = ["--set", "training.precision=bfloat16"]
        checked = self.ballast("check", file, *asked)
        for words in ("precision   bfloat16", why, what):
            self.assertIn(words, checked.stdout)
        self.assertNotIn("precision", self.ballast("check", file).stdout)
        run = self.start(file, overrides={"training.precision": "bfloat16"})
        run.finish()
        told = run.out.read_text()
        self.assertIn(why, told)
        self.assertTrue(any(what in line for line in told.splitlines()[:5]), told)

    def test_a_gpu_that_is_demanded_and_cannot_be_had_ends_the_run_before_it_begins(self):
        file = self.job(jobs.glyphs(steps=2))
        run = self.start(file, options=["--backend", "cuda", "--workers", "3"])
        self.assertEqual(run.wait(), 1)
        said = run.errors() + run.out.read_text()
        self.assertEqual(said.count("this build of Ballast has no cuda backend"), 1, said)
        self.assertFalse(run.folder.exists(), "nothing was begun")


if __name__ == "__main__":
    harness.main()
