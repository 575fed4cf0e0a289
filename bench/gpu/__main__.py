"""gpu-bench: the cuda backend against PyTorch on the same card, in turns, and what a whole job makes of it.

speed   images a second of one model: model-speed (forward and backward; weights, batch, gradients and loss travel
        between host and device each time, as a worker must) against PyTorch doing the same (worker), against its
        forward and backward alone with weights and gradients left on the device (pass). TF32 and bfloat16 alike,
        deterministic algorithms alike (CUBLAS_WORKSPACE_CONFIG=:4096:8, no search by time).
job     a server and a worker: images a second against PyTorch's whole loop (training), and the share of the worker's
        step outside compute, by its own phase metrics.

Prints a line of JSON for each, then tables; the file of --json has everything. Exit code: 0; 1 something could not be
measured; 2 it could not begin; 3 without PyTorch.
"""

import argparse
import datetime
import json
import os
import pathlib
import select
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tests" / "gpu")]

import figures  # pylint: disable=wrong-import-position
from bundle import Bundle, end_when_told, wait_for, worker_metrics  # pylint: disable=wrong-import-position
from judge import Wrong  # pylint: disable=wrong-import-position

# (model, examples at once): small ones, where launching kernels is what takes time, and larger ones.
SPEEDS = (("lenet5", 128), ("lenet5", 1024), ("lenet5", 16), ("mlp:512,256", 128), ("mlp:512,256", 1024),
          ("mlp:4096,4096", 1024))
ON_THE_CPU = (("lenet5", 16), ("mlp:64,32", 64))  # a rehearsal
JOBS = (("lenet5", "lenet5", 256), ("mlp:512,256", "mlp", 256))
# Drawn digits, one slot a step, nothing evaluated on the way, no snapshots.
JOB = ("training.epochs=1000000", "training.evaluate_every_epochs=1000000", "training.slots=1", "durability.mode=final",
       "data.train_examples=19200")


class Torch:
    """torch_speed.py, asked again and again."""

    def __init__(self, python, device):
        self.facts, self._process = None, None
        try:
            self._process = subprocess.Popen([python, "-B", HERE / "torch_speed.py", device], stdin=subprocess.PIPE,
                                             stdout=subprocess.PIPE, text=True, start_new_session=True)
            self.facts = self._answer(120)
        except (OSError, ValueError) as error:
            print(f"no comparison with PyTorch: {python} torch_speed.py: {error or 'it ended'}")
            self.end()

    def _answer(self, limit):
        if not select.select([self._process.stdout], [], [], limit)[0]:
            raise ValueError(f"no answer within {limit} s")
        line = self._process.stdout.readline()
        if not line:
            raise ValueError("it ended")
        return json.loads(line)

    def images_per_second(self, **request):
        """Examples a second, and the operation that is not deterministic, if any."""
        if self.facts is None:
            return None, None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            answer = self._answer(60 + 10 * request["seconds"])
        except (OSError, ValueError) as error:
            self.end()
            raise Wrong(f"PyTorch: {error}") from None
        if "error" in answer:
            raise Wrong(f"PyTorch: {answer['error']}")
        return answer["examples_per_s"], answer.get("not_deterministic")

    def end(self):
        self.facts = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


class Bench:
    def __init__(self, options, bundle, torch):
        self.options, self.bundle, self.torch = options, bundle, torch
        self.results = {"speed": [], "job": []}
        self.failures = 0
        self._until = time.monotonic() + options.limit

    def measure(self, kind, name, function, *arguments):
        if self.options.only and not any(text in f"{kind} {name}" for text in self.options.only):
            return
        try:
            if time.monotonic() > self._until:
                raise Wrong("no time is left (--limit)")
            result = function(*arguments)
            self.results[kind].append(result)
        except (Wrong, ValueError) as wrong:
            result = {"name": name, "error": str(wrong)}
            self.failures += 1
        print(json.dumps({"kind": kind, **result}))

    def speed(self, model, examples, precision):
        seconds = self.options.seconds
        ours, theirs, also = [], {"worker": [], "pass": []}, None
        for _ in range(self.options.rounds):
            ours.append(self.bundle.model_speed(model, examples, seconds, precision)[0]["examples_per_s"])
            for work, rates in theirs.items():
                rate, loose = self.torch.images_per_second(model=model, examples=examples, seconds=seconds,
                                                           precision=precision, work=work)
                also = also or loose
                rates += [rate] if rate else []
        result = {"model": model, "examples": examples, "precision": precision,
                  "ours": figures.median(ours)}
        for work, rates in theirs.items():
            if rates:
                result[work] = figures.compared(ours, rates)
        return {**result, **({"pytorch_not_deterministic": also} if also else {})}

    def job(self, model, name, examples):
        """`model` as model-speed names it; `name` of the job file's model."""
        settings = [*JOB, f"model.name={name}", f"training.batch={examples}"]
        settings += ["model.hidden=[512, 256]"] if name == "mlp" else []
        process, folder = self.bundle.start_job(f"job-{name}", "quickstart.yaml", settings=settings,
                                                options=("--workers", "1", "--shards", "1", "--metrics"))
        try:
            def steps():
                return worker_metrics(folder).get("ballast_worker_steps_total", 0)
            wait_for("the warm-up", lambda: steps() >= 50, process, 90, lambda: self.bundle.story(f"job-{name}"))
            before, begin = worker_metrics(folder), time.monotonic()
            time.sleep(self.options.job_seconds)
            after, seconds = worker_metrics(folder), time.monotonic() - begin
            if not after:
                raise Wrong("the worker serves no metrics any more")
        finally:
            self.bundle.end_job(process, folder)
        result = {"model": model, "examples": examples, **figures.share_outside_compute(before, after, seconds)}
        ours = result["steps"] * examples / seconds
        theirs, _ = self.torch.images_per_second(model=model, examples=examples, seconds=3, precision="float32", work="training")
        return {**result, "ours": round(ours), **({"training": figures.compared([ours], [theirs])} if theirs else {})}

    def run(self):
        """The most wanted first: time may run out."""
        self.speeds("float32")
        for model, name, examples in JOBS:
            self.measure("job", f"{model} {examples}", self.job, model, name, examples)
        self.speeds("tf32")
        self.speeds("bfloat16")

    def speeds(self, precision):
        for model, examples in SPEEDS if self.bundle.backend == "cuda" else ON_THE_CPU:
            self.measure("speed", f"{model} {examples} {precision}", self.speed, model, examples, precision)

    def print_tables(self):
        rows = [{**row, "theirs": row.get("worker", {}).get("theirs"), "ratio": row.get("worker", {}).get("ratio"),
                 "pass_theirs": row.get("pass", {}).get("theirs"), "pass_ratio": row.get("pass", {}).get("ratio")}
                for row in self.results["speed"]]
        print("\nimages/s, medians; PyTorch doing a worker's work, and its pass alone")
        print("\n".join(figures.table(rows, (("model", "model"), ("examples", "examples"), ("precision", "precision"),
                                             ("ours", "ours"), ("PyTorch worker", "theirs"), ("ratio", "ratio"),
                                             ("PyTorch pass", "pass_theirs"), ("ratio", "pass_ratio")))))
        rows = [{**row, "theirs": row.get("training", {}).get("theirs"), "ratio": row.get("training", {}).get("ratio"),
                 "percent": f"{100 * row['outside']:.1f} %", **row["phases_ms"]} for row in self.results["job"]]
        print("\na server and a worker, images/s; milliseconds of a step")
        print("\n".join(figures.table(rows, (("model", "model"), ("examples", "examples"), ("ours", "ours"),
                                             ("PyTorch training", "theirs"), ("ratio", "ratio"), ("step", "step_ms"),
                                             *((phase, phase) for phase in figures.PHASES),
                                             ("outside compute", "percent")))))
        for operation in sorted({row.get("pytorch_not_deterministic", "") for row in self.results["speed"]} - {""}):
            print(f"PyTorch has no deterministic {operation}: it was measured with the other one")


def arguments():
    parser = argparse.ArgumentParser(prog="gpu-bench", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--backend", choices=("cuda", "cpu"), default="cuda", help="cpu rehearses it where there is no GPU")
    parser.add_argument("--python", default=sys.executable, help="a python3 with PyTorch (default: this one)")
    parser.add_argument("--seconds", type=int, default=1, help="of each measurement (default: 1)")
    parser.add_argument("--rounds", type=int, default=2, help="of each, in turns (default: 2)")
    parser.add_argument("--job-seconds", type=float, default=8, help="of watching a job (default: 8)")
    parser.add_argument("--limit", type=float, default=330, help="seconds after which nothing new begins (default: 330)")
    parser.add_argument("--only", action="append", metavar="TEXT", help="only what has this in 'KIND MODEL EXAMPLES PRECISION'")
    parser.add_argument("--runs", default="gpu-bench-runs", help="folder for the runs (default: ./gpu-bench-runs)")
    parser.add_argument("--json", help="file for the results (default: results.json in the folder of these runs)")
    return parser.parse_args()


def main():
    end_when_told()
    options = arguments()
    root = HERE.parents[1]
    if not (root / "bin" / "ballast").exists():
        print(f"gpu-bench: {root} is not a bundle: ./dev bundle makes one", file=sys.stderr)
        return 2
    name = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    runs = pathlib.Path(options.runs).absolute() / f"{name}-{os.getpid()}"
    runs.mkdir(parents=True)
    bundle = Bundle(root, options.backend, runs)
    facts = bundle.facts()
    if facts["device"].startswith("NONE"):
        print(f"gpu-bench: there is no device to measure: {facts['device']}")
        return 2
    torch = Torch(options.python, options.backend)
    facts["pytorch"] = torch.facts
    print(json.dumps({"kind": "facts", **facts}))
    bench = Bench(options, bundle, torch)
    try:
        bench.run()
    finally:
        torch.end()
    print()
    for key, value in facts.items():
        print(f"{key + ':':<10} {value}")
    bench.print_tables()
    with open(options.json or runs / "results.json", "w", encoding="utf-8") as out:
        json.dump({"facts": facts, **bench.results}, out, indent=2)
        out.write("\n")
    if bench.failures:
        return 1
    return 0 if facts["pytorch"] else 3


if __name__ == "__main__":
    sys.exit(main())
