"""The bundle's programs, run with a time limit each, on the device under test."""

import csv
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

from judge import Wrong
from report import now

LIBRARIES_MISSING = ("cuDNN is missing", "cuBLAS is missing", "a library that the cuda backend needs is missing")


class Ended:
    """A program that has ended, or was ended at its limit."""

    def __init__(self, code, output, timed_out):
        self.code, self.output, self.timed_out = code, output, timed_out


def run_program(command, limit, environment, cwd=None):
    """Standard output and error go into one text."""
    with subprocess.Popen([os.fspath(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", env=environment, cwd=cwd,
                          start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=max(limit, 1))
            return Ended(process.returncode, output, False)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            return Ended(process.returncode, output, True)
        except BaseException:  # we are to end: so is what we started, which has a session of its own
            os.killpg(process.pid, signal.SIGKILL)
            raise


def end_when_told():
    """SIGTERM ends a program as Ctrl-C does: what it started is ended first."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def python_libraries():
    """Folders of NVIDIA's libraries among python3's packages (nvidia-cublas, nvidia-cudnn-cu13)."""
    found = []
    for folder in sys.path:
        found += sorted(str(place) for place in pathlib.Path(folder).glob("nvidia/*/lib") if place.is_dir())
    return found


class Job:
    """What came of a `ballast run`."""

    def __init__(self, folder, summary):
        self.folder, self.summary = folder, summary

    def worker_logs(self):
        return {log.stem: log.read_text(errors="replace") for log in sorted((self.folder / "logs").glob("worker-*.log"))}


class Bundle:
    def __init__(self, root, backend, runs):
        self.root, self.backend, self.runs = pathlib.Path(root), backend, pathlib.Path(runs)
        self._changes = {"BALLAST_CUDA_MODULE": str(self.root / "lib" / "ballast" / "ballast-cuda.so")
                         if backend == "cuda" else "none"}
        self.library_folders = []

    def environment(self, **changes):
        """Ours, with the module of this bundle and, where it must be, with NVIDIA's Python packages."""
        environment = {**os.environ, "PATH": os.environ.get("PATH", os.defpath), **self._changes, **changes}
        if self.library_folders:
            known = [environment["LD_LIBRARY_PATH"]] if environment.get("LD_LIBRARY_PATH") else []
            environment["LD_LIBRARY_PATH"] = ":".join(known + self.library_folders)
        return environment

    def program(self, name):
        return self.root / ("tests" if name in ("numeric-tests", "model-speed") else "bin") / name

    def config(self, name):
        """One of tests/gpu's own jobs, or of configs/."""
        own = self.root / "tests" / "gpu" / name
        return own if own.exists() else self.root / "configs" / name

    def run(self, name, *words, limit, **changes):
        ended = run_program([self.program(name), *words], limit, self.environment(**changes))
        if ended.timed_out:
            raise Wrong(f"{name} did not end within {limit:.0f} s; the end of what it said: {ended.output.strip()[-300:]}")
        return ended

    # ---- jobs

    def start_job(self, name, config, settings=(), options=(), backend=None, **changes):
        """A `ballast run` in a folder of its own, going on: the process and the folder. On the device under test,
        unless `backend` names another; `changes` of the environment."""
        folder = self.runs / name
        command = [self.program("ballast"), "run", self.config(config), "--run-dir", folder, "--summary",
                   self.runs / f"{name}.json", "--backend", backend or self.backend, *options]
        command += [word for setting in settings for word in ("--set", setting)]
        with open(self.runs / f"{name}.out", "wb") as out:
            process = subprocess.Popen([os.fspath(word) for word in command], stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=out, env=self.environment(**changes), start_new_session=True)
        return process, folder

    def end_job(self, process, folder):
        """However it stands. Its servers and workers die with it; a moment later they have given their memory back."""
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        until = time.monotonic() + 10
        while time.monotonic() < until and any(is_alive(pid) for pid in process_ids(folder)):
            time.sleep(0.05)

    def output_of(self, name):
        return (self.runs / f"{name}.out").read_text(errors="replace")

    def story(self, name):
        """The ends of what a job and its workers said."""
        logs = sorted((self.runs / name / "logs").glob("worker-*.log"))
        texts = [self.output_of(name)[-600:]] + [f"{log.name}: {log.read_text(errors='replace')[-600:]}" for log in logs]
        return "\n".join(text.strip() for text in texts)

    def job(self, name, config, settings=(), options=(), backend=None, limit=60, **changes):
        """The same, to its good end."""
        process, folder = self.start_job(name, config, settings, options, backend, **changes)
        try:
            code = process.wait(timeout=max(limit, 1))
        except subprocess.TimeoutExpired:
            raise Wrong(f"the job {name} did not end within {limit:.0f} s:\n{self.story(name)}") from None
        finally:
            self.end_job(process, folder)
        if code != 0:
            raise Wrong(f"the job {name} ended with code {code}:\n{self.story(name)}")
        return Job(folder, json.loads((self.runs / f"{name}.json").read_text()))

    def losses(self, job):
        """The training loss of each step, from step 0 on."""
        ended = self.run("ballast", "losses", job.folder, limit=30)
        if ended.code != 0:
            raise Wrong(f"ballast losses: {ended.output}")
        rows = list(csv.DictReader(io.StringIO(ended.output)))
        if [int(row["step"]) for row in rows] != list(range(len(rows))):
            raise Wrong("ballast losses: steps are missing")
        return [float(row["loss"]) for row in rows]

    # ---- what there is

    def model_speed(self, model, examples, seconds, precision="float32", limit=120):
        """One line of model-speed, and what it said of the device."""
        ended = self.run("model-speed", model, "1", str(examples), "1", str(seconds), self.backend, precision, limit=limit)
        if ended.code != 0:
            raise Wrong(ended.output.strip()[-300:])
        (line,) = [line for line in ended.output.splitlines() if line.startswith("{")]
        said = [line for line in ended.output.splitlines() if line.startswith("computes on ")]
        return json.loads(line), (said[0][len("computes on "):] if said else "unknown")

    def gpus(self):
        """How many the driver shows."""
        ended = self.run("ballast", "plan", self.config("quickstart.yaml"), "--here", "--json", "--run-dir", self.runs,
                         limit=60)
        return json.loads(ended.output[ended.output.index("{"):ended.output.rindex("}") + 1])["gpus"]

    def facts(self):
        """What is measured, for the head of a report. Finds NVIDIA's libraries among Python's packages if need be."""
        facts = {"date": now(), "device": self._device()}
        facts.update(card_facts() if self.backend == "cuda" else {"note": "a rehearsal on the cpu: it proves no GPU"})
        if self.library_folders:
            facts["libraries"] = "from python3's packages: " + ":".join(self.library_folders)
        facts["cpu"] = f"{os.cpu_count()} cores" + cpu_model()
        return facts

    def _device(self):
        try:
            return self.model_speed("mlp", 16, 1)[1]
        except Wrong as wrong:
            if self.library_folders or not any(text in str(wrong) for text in LIBRARIES_MISSING):
                return f"NONE: {wrong}"
        self.library_folders = python_libraries()
        return self._device() if self.library_folders else "NONE: cuDNN or cuBLAS is missing"


def card_facts():
    """The card's name, its driver and memory, by nvidia-smi."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return {"card": "unknown: nvidia-smi is not in PATH"}
    query = run_program([tool, "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"], 30, dict(os.environ))
    cards = query.output.strip().splitlines()
    if query.code != 0 or not cards or cards[0].count(",") != 2:
        return {"card": f"unknown: {query.output.strip()[:200]}"}
    name, driver, memory = (word.strip() for word in cards[0].split(","))
    return {"card": f"{name}, {memory}" + (f", and {len(cards) - 1} more" if len(cards) > 1 else ""), "driver": driver}


def cpu_model():
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as facts:
            return next((", " + line.split(":", 1)[1].strip() for line in facts if line.startswith("model name")), "")
    except OSError:
        return ""


# ---- a job that goes on, watched from outside

def processes(folder):
    """What processes.json says; nothing while it is not there."""
    try:
        return json.loads((folder / "processes.json").read_text())
    except (OSError, ValueError):
        return []


def process_ids(folder):
    return [entry["pid"] for entry in processes(folder) if entry["pid"]]


def is_alive(pid):
    """A zombie that waits for its parent is not."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] not in ("Z", "X")


def worker_metrics(folder):
    """{metric: value} of the first worker, labels and all, and its `pid`; empty while it serves none."""
    try:
        entry = next(entry for entry in processes(folder) if entry["role"] == "worker")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(entry["addresses"]["metrics"], timeout=5) as page:
            lines = page.read().decode().splitlines()
    except (OSError, KeyError, StopIteration):
        return {}
    values = {}
    for line in lines:
        words = line.rsplit(" ", 1)
        if not line.startswith("#") and len(words) == 2:
            values[words[0]] = float(words[1])
    values["pid"] = entry["pid"]
    return values


def wait_for(what, holds, process, limit, told=None):
    """What holds() gives, once that is something; fails when the process ends before, or time does, with
    what `told()` has to say."""
    until = time.monotonic() + limit
    while time.monotonic() < until:
        ended = process.poll() is not None
        found = holds()
        if found:
            return found
        if ended:
            break
        time.sleep(0.1)
    raise Wrong(f"waited for {what}" + (", but the job ended" if process.poll() is not None else f" {limit:.0f} s") +
                (f":\n{told()}" if told else ""))
