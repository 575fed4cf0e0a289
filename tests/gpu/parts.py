"""What is run and judged. Each part is a function of the suite that returns a sentence, or raises Wrong or NotRun."""

import functools
import os
import pathlib
import shutil
import subprocess
import time

import judge
from bundle import run_program, wait_for, worker_metrics
from judge import Wrong
from report import NotRun

# A job on drawn digits, which need no files: 150 steps of 128 digits in 8 slots.
DIGITS = "quickstart.yaml"
SHORT = ("training.max_steps=150", "data.test_examples=1000")

# A job that goes on until it is stopped, every slot of the same size; nothing is evaluated on the way.
ENDLESS = ("training.epochs=1000000", "training.evaluate_every_epochs=1000000", "data.train_examples=12800",
           "training.slots=2", "durability.mode=final")
WARM_UP_STEPS = 200
WATCH_SECONDS = 12

# A slot of 100,000 examples of which each takes 4 MB of activations: 420 GB, more than a card has.
TOO_LARGE = 100000
TOO_LARGE_JOB = (f"data.train_examples={TOO_LARGE}", f"training.batch={TOO_LARGE}", "training.slots=1",
                 "training.max_steps=1", "model.name=mlp", "data.test_examples=100", "training.optimizer.momentum=0",
                 "durability.mode=final",
                 "model.hidden=[65536, 64, 65536, 64, 65536, 64, 65536, 64, 65536, 64, 65536, 64, 65536, 64, 65536, 64]")

CHECKER_FOLDERS = "/usr/local/cuda/bin:/usr/local/cuda/compute-sanitizer"

# Test cases for the memory checker, by doctest's patterns. The CPU's own are left out, and training, which is long.
CHECKED = {
    "memcheck, without convolutions": ("memcheck", 100, "operations: linear,operations: relu,operations: max_pool2d,"
                                       "operations: softmax*,operations: what*,operations: large*,operations: equal*,"
                                       "networks: mlp*"),
    "memcheck, convolutions": ("memcheck", 170, "operations: conv2d,operations: max_pool2d of*,networks: lenet5"),
    "memcheck, images": ("memcheck", 170, "networks: images*"),
    "memcheck, sequences and trees": ("memcheck", 170, "networks: sequences*"),
    "initcheck, kernels of our own": ("initcheck", 60, "operations: relu,operations: max_pool2d,operations: softmax*"),
    "racecheck, kernels of our own": ("racecheck", 60, "operations: relu,operations: max_pool2d,operations: softmax*"),
    "racecheck, sequences and trees": ("racecheck", 170, "networks: sequences*"),
}


def once(method):
    """Done at the first call with the same arguments; the later ones get what came of it, be it an exception."""
    @functools.wraps(method)
    def remembered(self, *arguments, **named):
        key = (method.__name__, arguments, tuple(sorted(named.items())))
        if key not in self.outcomes:
            try:
                self.outcomes[key] = method(self, *arguments, **named), None
            except (Wrong, NotRun) as raised:
                self.outcomes[key] = None, raised
        value, raised = self.outcomes[key]
        if raised is not None:
            raise raised
        return value
    return remembered


class Suite:
    def __init__(self, bundle, data, time_left):
        self.bundle, self.data, self._time_left = bundle, data, time_left
        self.is_cuda = bundle.backend == "cuda"
        self.outcomes = {}  # of what several parts share

    def parts(self):
        """(name, function) of each, in order."""
        found = [("every operation, network and model", self.numeric)]
        for model in ("lenet5", "mlp"):
            found += [(f"{model}: the first {judge.LOSSES} losses on MNIST", functools.partial(self.losses, model)),
                      (f"{model}: accuracy on MNIST", functools.partial(self.accuracy, model))]
        found += [("the same bits again", self.again),
                  ("the same bits with two workers", self.two_workers),
                  ("the same bits with two shards", self.two_shards),
                  ("workers take the GPUs in turn", self.devices),
                  ("gradients leave while the backward pass runs", self.early),
                  ("no growth of memory", self.memory),
                  ("metrics of the GPU", self.metrics),
                  ("tf32: accuracy", functools.partial(self.precision, "tf32")),
                  ("tf32: the same bits again", functools.partial(self.precision_again, "tf32")),
                  ("bfloat16: accuracy", functools.partial(self.precision, "bfloat16")),
                  ("bfloat16: the same bits again", functools.partial(self.precision_again, "bfloat16")),
                  ("a hidden device is told", self.hidden),
                  ("without a device the cpu is taken, and it is said", self.fallen_back),
                  ("a micro-batch without room names the one that fits", self.too_large),
                  ("the micro-batch that fits does", self.what_fits)]
        return found + [(f"memory checker: {name}", functools.partial(self.memory_checker, *checked))
                        for name, checked in CHECKED.items()]

    def _limit(self, seconds):
        return min(seconds, max(self._time_left(), 1))

    # ---- arithmetic

    def numeric(self):
        required = {"BALLAST_TEST_CUDA": "required"} if self.is_cuda else {}
        ended = self.bundle.run("numeric-tests", limit=self._limit(150 if self.is_cuda else 600), **required)
        (self.bundle.runs / "numeric-tests.out").write_text(ended.output)
        return judge.test_program(ended.code, ended.output)

    # ---- MNIST

    @once
    def trained(self, model):
        """The whole job, on the device under test."""
        self._need_mnist()
        return self.bundle.job(model, f"{model}.yaml", limit=self._limit(self._training_limit()), **self._data())

    def losses(self, model):
        job = self.trained(model)
        reference = self.bundle.job(f"{model}-on-the-cpu", f"{model}.yaml", backend="cpu", limit=self._limit(60),
                                    settings=(f"training.max_steps={judge.LOSSES}", "data.test_examples=100"),
                                    **self._data())
        return judge.losses(self.bundle.losses(reference), self.bundle.losses(job))

    def accuracy(self, model):
        summary = self.trained(model).summary
        return judge.accuracy(summary["test_accuracy"]) + (f", {summary['steps']} steps in "
                                                           f"{summary['training_seconds']:.0f} s")

    def _need_mnist(self):
        if self.data is None:
            raise NotRun("MNIST is not there: name its folder by --data or $BALLAST_DATA")

    def _data(self):
        return {"BALLAST_DATA": str(self.data)}

    def _training_limit(self):
        return 150 if self.is_cuda else 900

    # ---- bits

    @once
    def short(self, name, workers=1, shards=1, settings=()):
        return self.bundle.job(name, DIGITS, settings=SHORT + settings, limit=self._limit(60),
                               options=("--workers", str(workers), "--shards", str(shards), "--hold-start"))

    def again(self):
        return judge.same_bits(self.short("one").summary, self.short("one-again").summary)

    def two_workers(self):
        two = self.short("two-workers", workers=2)
        return judge.same_bits(self.short("one").summary, two.summary) + ", " + judge.everybody_worked(two.summary, 2)

    def two_shards(self):
        two = self.short("two-shards", workers=2, shards=2)
        return judge.same_bits(self.short("one").summary, two.summary) + ", " + judge.everybody_worked(two.summary, 2)

    def devices(self):
        gpus = self.bundle.gpus()
        logs = self.short("two-workers", workers=2).worker_logs()
        for worker in range(2):
            wanted = f"computes on GPU {worker % max(gpus, 1)}," if self.is_cuda else "computes on the cpu"
            judge.says(logs[f"worker-{worker}"], wanted)
        return f"{gpus} GPUs, two workers"

    def early(self):
        width, examples = ("4096", 2048) if self.is_cuda else ("512", 64)
        speed, _ = self.bundle.model_speed("mlp:" + ",".join([width] * 4), examples, 2, limit=self._limit(60))
        return judge.gradients_leave_early(speed)

    def memory(self):
        return judge.steady_memory(self.watched()[0], 0 if self.is_cuda else 2 << 20)

    def metrics(self):
        if not self.is_cuda:
            raise NotRun("the cpu has no such metrics")
        return judge.gpu_metrics(self.watched()[1])

    @once
    def watched(self):
        """A job that was watched for a while: samples of (steps, memory in use), and the last of the worker's metrics."""
        process, folder = self.bundle.start_job("endless", DIGITS, settings=ENDLESS,
                                                options=("--workers", "1", "--shards", "1", "--metrics"))
        try:
            wait_for("the warm-up", lambda: worker_metrics(folder).get("ballast_worker_steps_total", 0) >=
                     WARM_UP_STEPS, process, self._limit(60), lambda: self.bundle.story("endless"))
            return self._watch(folder, self._limit(120))
        finally:
            self.bundle.end_job(process, folder)

    def _watch(self, folder, limit):
        """For WATCH_SECONDS; longer, within the limit, where fewer steps than are judged were done by then."""
        samples, last = [], {}
        begin = time.monotonic()
        while time.monotonic() < begin + WATCH_SECONDS or (judge.steps_watched(samples) < judge.WATCHED_STEPS and
                                                           time.monotonic() < begin + limit):
            values = worker_metrics(folder)
            used = self._memory_used(values)
            last = values or last
            if used is not None:
                samples.append((values["ballast_worker_steps_total"], used))
            time.sleep(0.5)
        if not samples:
            raise NotRun("neither the worker's metrics nor nvidia-smi tell the memory in use")
        return samples, last

    def _memory_used(self, values):
        if not values:
            return None
        if not self.is_cuda:  # of the process, which has its device's memory
            lines = pathlib.Path(f"/proc/{values['pid']}/status").read_text(encoding="ascii").splitlines()
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:"))
        if "ballast_worker_gpu_memory_used_bytes" in values:
            return values["ballast_worker_gpu_memory_used_bytes"]
        tool = shutil.which("nvidia-smi")
        told = run_program([tool, "--query-gpu=memory.used", "--format=csv,noheader,nounits"], 20,
                           dict(os.environ)).output if tool else ""
        return int(told.splitlines()[0]) << 20 if told.strip().split("\n")[0].isdigit() else None

    # ---- precision

    @once
    def digits(self, name, precision):
        """All epochs of the job on drawn digits."""
        return self.bundle.job(name, DIGITS, settings=(f"training.precision={precision}",),
                               options=("--workers", "1", "--shards", "1"), limit=self._limit(90))

    def _need_precision(self, precision):
        ended = self.bundle.run("ballast", "check", self.bundle.config(DIGITS), "--set",
                                f"training.precision={precision}", limit=20)
        if ended.code != 0 and "not built yet" in ended.output:
            raise NotRun(f"this build refuses it: {ended.output.strip()[:200]}")

    def precision(self, precision):
        self._need_precision(precision)
        return judge.precision(self.digits("float32", "float32").summary, self.digits(precision, precision).summary,
                               has_effect=self.is_cuda)

    def precision_again(self, precision):
        self._need_precision(precision)
        return judge.same_bits(self.digits(precision, precision).summary,
                               self.digits(f"{precision}-again", precision).summary)

    # ---- what is missing

    def _hide(self):
        """The changes of the environment without which there would be a device, and the sentence about it."""
        if self.is_cuda:
            return {"CUDA_VISIBLE_DEVICES": ""}, "the NVIDIA driver finds no GPU (CUDA_VISIBLE_DEVICES can hide them)"
        return {"BALLAST_CUDA_MODULE": "none"}, "this build of Ballast has no cuda backend"

    def hidden(self):
        changes, wanted = self._hide()
        process, folder = self.bundle.start_job("hidden", DIGITS, backend="cuda", settings=SHORT, **changes)
        try:
            process.wait(timeout=self._limit(60))
        except subprocess.TimeoutExpired:
            raise Wrong(f"the job did not end:\n{self.bundle.story('hidden')}") from None
        finally:
            self.bundle.end_job(process, folder)
        if process.returncode == 0:
            raise Wrong("the job finished though no GPU was to be had")
        return judge.says(self.bundle.output_of("hidden"), wanted)

    def fallen_back(self):
        changes, wanted = self._hide()
        job = self.bundle.job("fallen-back", DIGITS, settings=("training.max_steps=3", "data.test_examples=100"),
                              options=("--workers", "1"), backend="auto", limit=self._limit(60), **changes)
        log = job.worker_logs()["worker-0"]
        judge.says(log, "computes on the cpu")
        return judge.says(log, f"no GPU is used: {wanted}")

    @once
    def most_examples(self):
        """What the worker says would fit."""
        if not self.is_cuda:
            raise NotRun("the cpu's memory is the machine's")
        process, folder = self.bundle.start_job("too-large", DIGITS, settings=TOO_LARGE_JOB,
                                                options=("--workers", "1", "--shards", "1"))
        log = folder / "logs" / "worker-0.log"
        try:
            def told():
                text = log.read_text(errors="replace") if log.exists() else ""
                return text if " error " in text else None
            return judge.too_large(wait_for("the worker's word", told, process, self._limit(120),
                                            lambda: self.bundle.story("too-large")), TOO_LARGE)
        finally:
            self.bundle.end_job(process, folder)

    def too_large(self):
        return f"{self.most_examples()} of {TOO_LARGE} examples would fit"

    def what_fits(self):
        try:
            fits = self.most_examples()
        except Wrong:
            raise NotRun("nobody said what fits") from None
        self.bundle.job("what-fits", DIGITS, settings=(*TOO_LARGE_JOB, f"training.batch={fits}"), limit=self._limit(120),
                        options=("--workers", "1", "--shards", "1"))
        return f"a step of {fits} examples"

    # ---- the memory checker

    def memory_checker(self, tool, limit, cases):
        if not self.is_cuda:
            raise NotRun("there is nothing to check on the cpu")
        checker = shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path=CHECKER_FOLDERS)
        if checker is None:
            raise NotRun(f"compute-sanitizer is neither in PATH nor in {CHECKER_FOLDERS}")
        # Libraries ask the driver for functions that it may not have, and go on without: that is no error. What ours
        # calls is checked by our own code.
        command = [checker, "--tool", tool, "--print-limit", "20", "--report-api-errors", "no"]
        command += ["--leak-check", "full"] if tool == "memcheck" else []
        ended = run_program([*command, self.bundle.program("numeric-tests"), f"--test-case={cases}"], self._limit(limit),
                            self.bundle.environment(BALLAST_TEST_CUDA="required"))
        (self.bundle.runs / f"{tool}-{limit}.out").write_text(ended.output)
        reason = judge.refused(ended.output)
        if reason:
            raise NotRun(f"compute-sanitizer refuses this machine: {reason}")
        if ended.timed_out and not judge.checker_complains(ended.output):
            raise NotRun(f"it did not end within {limit} s; until then there was no complaint")
        return judge.memory_checker(ended.code, ended.output)
