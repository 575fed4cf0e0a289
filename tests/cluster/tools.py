"""What comes out of a run: exported, evaluated, predicted, inspected; whether `plan` foretold what it took, and whether
processes have the threads that the job asks for."""

import csv
import hashlib
import json
import pathlib
import re
import struct

import harness
import jobs
import metrics


def read_safetensors(path):
    """The format, read without any of our code: {name: (shape, bytes)} and the metadata."""
    content = path.read_bytes()
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + size])
    metadata = header.pop("__metadata__")
    tensors = {}
    for name, tensor in header.items():
        assert tensor["dtype"] == "F32", tensor
        begin, end = tensor["data_offsets"]
        tensors[name] = (tensor["shape"], content[8 + size + begin:8 + size + end])
    return tensors, metadata


def most_memory(pid):
    """The most that a process has had resident, bytes."""
    with open(f"/proc/{pid}/status", encoding="ascii") as facts:
        found = re.search(r"VmHWM:\s+(\d+) kB", facts.read())
    return int(found.group(1)) * 1024 if found else 0  # it has ended, and waits to be reaped


class TransportThreads(harness.ClusterCase):
    """ZeroMQ's, by the names that it gives them."""

    @staticmethod
    def is_one(thread):
        try:
            return (thread / "comm").read_text().startswith("ZMQbg/IO/")
        except OSError:
            return False  # it has ended meanwhile

    def of(self, entry):
        return sum(map(self.is_one, pathlib.Path(f"/proc/{entry['pid']}/task").iterdir()))

    def check(self, overrides, expected):
        run = self.start(self.job(jobs.emulated(steps=100000)), overrides=overrides)
        run.wait_for_step(1)
        self.assertEqual(self.of(run.entry("server", 0)), expected)
        self.assertEqual(self.of(run.entry("worker", 0)), 1 + expected)  # one for the lead
        self.assertEqual(run.control("stop").returncode, 0)
        run.wait()

    def test_as_many_as_lanes(self):
        self.check({"cluster.lanes": 2}, 2)

    def test_as_many_as_the_job_says(self):
        self.check({"cluster.lanes": 2, "cluster.io_threads": 5}, 5)


class Devices(harness.ClusterCase):
    """With a library in the place of NVIDIA's driver, which shows three GPUs."""

    DRIVER = {"LD_LIBRARY_PATH": str(harness.BUILD / "tests" / "unit" / "worker" / "compute"), "FAKE_DRIVER_DEVICES": "3"}

    def test_workers_take_the_gpus_in_turn(self):
        run = self.start(self.job(jobs.emulated(steps=40)), options=["--workers", "5"], environment=self.DRIVER)

        def devices():
            workers = [entry for entry in run.processes() if entry["role"] == "worker"]
            words = [pathlib.Path(f"/proc/{entry['pid']}/cmdline").read_bytes().split(b"\0")
                     for entry in workers if entry["pid"]]
            # Between fork and exec a process has its parent's command line.
            return [line[line.index(b"--device") + 1] for line in words if b"--device" in line]

        found = run.wait_until("five workers with devices", lambda: devices() if len(devices()) == 5 else None)
        self.assertEqual(found, [b"0", b"1", b"2", b"0", b"1"])
        run.finish()
        self.assertIn("3 GPUs are found: worker i takes GPU i modulo 3", run.out.read_text())

    def test_no_device_is_looked_for_where_the_cpu_is_wanted(self):
        run = self.start(self.job(jobs.glyphs(steps=2)), options=["--backend", "cpu"], environment=self.DRIVER)
        run.finish()
        self.assertNotIn("GPU", run.out.read_text() + (run.folder / "logs" / "worker-0.log").read_text())


class TrainedWeights(harness.ClusterCase):
    def test_export_evaluate_predict_and_inspect_agree_with_the_run(self):
        job = self.job(jobs.glyphs(steps=20))
        run = self.start(job, options=["--workers", "2", "--shards", "2"], overrides={"durability.every_steps": 5})
        summary = run.finish()

        file = self.folder / "weights.safetensors"
        self.ballast("export", run.folder, "-o", file)
        tensors, metadata = read_safetensors(file)
        self.assertEqual(list(tensors), ["fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"])
        self.assertEqual(tensors["fc1.weight"][0], [48, 784])
        content = b"".join(data for _, data in tensors.values())
        self.assertEqual(hashlib.sha256(content).hexdigest(), summary["weights_sha256"])
        self.assertEqual(metadata["weights_sha256"], summary["weights_sha256"])
        self.assertEqual(metadata["step"], "20")

        for words in ([run.folder], [file, "--job", job]):
            evaluated = json.loads(self.ballast("evaluate", "--json", *words).stdout)
            self.assertEqual(evaluated["examples"], 60)
            self.assertAlmostEqual(evaluated["accuracy"], summary["test_accuracy"], places=9)
            self.assertAlmostEqual(evaluated["loss"], summary["test_loss"], places=5)

        for command in ("evaluate", "predict"):
            refused = self.ballast(command, "--data", self.folder, run.folder, code=2)
            self.assertIn(f"--data {self.folder}: the job's data set, glyphs, is generated and reads no files; leave --data "
                          "out", refused.stderr)
            self.assertEqual(refused.stdout, "")

        lines = list(csv.DictReader(self.ballast("predict", run.folder).stdout.splitlines()))
        right = sum(line["label"] == line["predicted"] for line in lines)
        self.assertEqual(len(lines), 60)
        self.assertAlmostEqual(right / 60, summary["test_accuracy"], places=9)

        steps = [line.split(",") for line in self.ballast("losses", run.folder).stdout.splitlines()]
        self.assertEqual(steps[0], ["step", "loss", "accuracy", "examples"])
        self.assertEqual([int(step[0]) for step in steps[1:]], list(range(20)))
        of_epoch = steps[8:15]  # of seven steps: the second is the last whole one
        examples = sum(int(step[3]) for step in of_epoch)
        self.assertAlmostEqual(sum(float(step[1]) * int(step[3]) for step in of_epoch) / examples,
                               summary["train_loss"], places=6)

        found = json.loads(self.ballast("inspect", "--verify", "--json", run.folder).stdout)
        self.assertEqual(found["problems"], [])
        self.assertEqual(found["ledger"]["finished"]["step"], 20)
        end = [snapshot for snapshot in found["snapshots"] if snapshot["step"] == 20]
        self.assertEqual([(snapshot["complete"], snapshot["whole"]) for snapshot in end], [(True, True)])
        self.assertGreater(found["records_verified"], 0)

    def test_a_worker_says_that_a_folder_of_data_is_not_used(self):
        run = self.start(self.job(jobs.glyphs(steps=100000)))
        run.wait_for_step(1)
        self.start_worker(run, "other", options=["--data", self.folder])
        log = run.folder / "logs" / "other.log"
        told = f"the folder of data files {self.folder} is not used: the job's data set, glyphs, is generated"
        run.wait_until("the worker's word", lambda: told in log.read_text())
        self.assertEqual(run.control("stop").returncode, 0)
        run.wait()

    def test_another_job_goes_on_from_exported_weights(self):
        first = self.start(self.job(jobs.glyphs(steps=6)), name="first")
        digest = first.finish()["weights_sha256"]
        file = self.folder / "weights.safetensors"
        self.ballast("export", first.folder, "-o", file)
        job = self.job(jobs.glyphs(steps=2, seed=9), name="second.yaml")
        second = self.start(job, name="second", overrides={"training.init_from": file})
        self.assertNotEqual(second.finish()["weights_sha256"], digest)
        # What it began with is its snapshot of step 0.
        again = self.folder / "again.safetensors"
        self.ballast("export", second.folder, "--step", "0", "-o", again)
        self.assertEqual(read_safetensors(again)[1]["weights_sha256"], digest)
        self.assertEqual(read_safetensors(again)[0], read_safetensors(file)[0])

    def test_weights_of_another_model_are_refused_before_training(self):
        first = self.start(self.job(jobs.glyphs(steps=2)), name="first")
        first.finish()
        file = self.folder / "weights.safetensors"
        self.ballast("export", first.folder, "-o", file)
        other = self.start(self.job(jobs.glyphs(model="lenet5"), name="other.yaml"), name="other",
                           overrides={"training.init_from": file})
        self.assertNotEqual(other.wait(), 0)
        self.assertIn("'conv1.weight' (6 x 1 x 5 x 5) is missing from the file", other.errors() + other.logs())

    def test_a_damaged_database_is_named(self):
        run = self.start(self.job(jobs.glyphs(steps=6)))
        run.finish()
        tables = sorted((run.folder / "shard-0").glob("*.sst")) + sorted((run.folder / "shard-0").glob("*.log"))
        largest = max(tables, key=lambda table: table.stat().st_size)
        content = bytearray(largest.read_bytes())
        content[len(content) // 2] ^= 1
        largest.write_bytes(content)
        result = self.ballast("inspect", "--verify", run.folder, code=1)
        self.assertIn(str(run.folder / "shard-0"), result.stderr)
        self.assertIn("ballast restore", result.stderr)


class Foretold(harness.ClusterCase):
    """One server and workers by hand: the lead lingers, so that its metrics can be read after the last step."""

    # What a process has resident at most lies between so much of its usual need and so much of its greatest. Small
    # models on purpose: the larger the model, the less it matters what a process takes besides.
    LEAST = 0.6
    MOST = 1.1
    STEPS = 30

    def run_job(self, workers, lanes, attempt, training):
        """The plan of a job, then what it really took: metrics, memory of the server and of the workers."""
        folder = self.folder / f"run-{attempt}"
        folder.mkdir()
        text = jobs.emulated(steps=self.STEPS, training=training)
        # What is foretold is for equal shares: as others get other slots, they make other sums of them.
        job = self.job(text.replace("workers: 1", f"workers: {workers}, start_workers: {workers}, lanes: {lanes}, "
                                                  "divide_by_speed: false, redistribute: false"))
        plan = json.loads(self.ballast("plan", "--json", job).stdout)
        port = harness.free_port()
        lead_file = folder / "lead.address"
        server = self.start_process(harness.SERVER, "--job", job, "--shard", "0", "--lead", "tcp://127.0.0.1:*",
                                    "--address-file", lead_file, "--bind", "tcp://127.0.0.1:*", "--database",
                                    folder / "shard-0", "--metrics", f"127.0.0.1:{port}",
                                    out=self.folder / f"server-{attempt}.log")
        self.wait_for("the lead's address", lead_file.exists)
        lead = lead_file.read_text().strip()
        others = [self.start_process(harness.WORKER, "--lead", lead, "--name", f"worker-{index}",
                                     out=self.folder / f"worker-{attempt}-{index}.log") for index in range(workers)]
        memory = {}

        def finished():
            for process in (server, *others):
                if process.poll() is None:
                    memory[process.pid] = max(memory.get(process.pid, 0), most_memory(process.pid))
            return (harness.status_of(lead) or {}).get("phase") == "finished"

        self.wait_for("the end", finished)
        page = metrics.scrape(f"http://127.0.0.1:{port}/metrics")
        return plan, page, memory[server.pid], [memory[process.pid] for process in others]

    def check(self, workers, lanes, training=jobs.MOMENTUM):
        # A busy machine may make a worker late, whose work is then done twice, or a message be asked for again: that
        # only ever adds to what was foretold, and not every time.
        for attempt in range(3):
            plan, page, server, others = self.run_job(workers, lanes, attempt, training)
            shard = plan["shards"][0]
            foretold = [self.STEPS * shard["in_per_step"], self.STEPS * shard["out_per_step"]]
            moved = [metrics.value(page, "ballast_shard_bytes_total", direction=way) for way in ("in", "out")]
            self.assertGreaterEqual(moved[0], foretold[0])
            self.assertGreaterEqual(moved[1], foretold[1])
            if moved == foretold:
                break
        self.assertEqual(moved, foretold)
        parts = {part["what"]: part for part in shard["memory"]["parts"]}
        weights = parts["weights, two versions"]["usual"] + parts["optimizer state"]["usual"]
        pool = metrics.value(page, "ballast_shard_pool_bytes")
        self.assertGreaterEqual(pool, weights)
        self.assertLessEqual(pool, weights + parts["versions that slow readers keep"]["most"] +
                             parts["a snapshot being written"]["most"])
        self.check_memory(server, shard)
        for worker, foretold in zip(others, plan["workers"]):
            self.check_memory(worker, foretold)

    def check_memory(self, taken, foretold):
        self.assertLess(taken, self.MOST * foretold["memory"]["most"])
        self.assertGreater(taken, self.LEAST * foretold["memory"]["usual"])

    def test_one_worker(self):
        self.check(workers=1, lanes=1)

    def test_two_workers_on_two_lanes(self):
        self.check(workers=2, lanes=2)

    def test_three_workers_with_uneven_slots(self):
        self.check(workers=3, lanes=1)

    def test_each_slot_an_update_of_its_own(self):
        self.check(workers=3, lanes=1, training=f"mode: async\n  {jobs.MOMENTUM}")


if __name__ == "__main__":
    harness.main()
