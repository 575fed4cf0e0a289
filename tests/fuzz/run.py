#!/usr/bin/env python3
"""Runs fuzz targets that are built: run.py [--minutes N | --short] BUILD_FOLDER [TARGET...]

Several run side by side, one a processor. What a target finds lies in BUILD_FOLDER/fuzz/TARGET: `inputs` that reach
something new (the next run starts from them), `found` with what it failed on, `log`. --short runs a fixed number of
executions from a fixed seed and from the committed inputs alone: the same on every machine, for tests.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MORE_INPUTS = {"job": [ROOT / "configs"]}
# About 10 s of processor time each: the same ones each time.
SHORT_RUNS = {"http": 130_000, "idx": 27_000, "images": 13_000, "job": 4_700, "journal": 1_700, "records": 100_000,
              "safetensors": 53_000, "tables": 27_000, "wire": 67_000, "worker": 13_000}
SHORT_SECONDS = 60  # at most, on a machine that is slower
LIMITS = ["-timeout=60", "-rss_limit_mb=2560", "-malloc_limit_mb=1100"]


def all_targets(build):
    return sorted(path.name.removesuffix("-fuzz") for path in (build / "tests/fuzz").glob("*-fuzz"))


class Target:
    def __init__(self, build, name):
        self.name = name
        self.build = build
        self.program = build / "tests/fuzz" / f"{name}-fuzz"
        self.folder = build / "fuzz" / name
        self.found = self.folder / "found"
        self.log = self.folder / "log"
        self.found.mkdir(parents=True, exist_ok=True)

    def committed_inputs(self):
        return [HERE / "corpus" / self.name, *MORE_INPUTS.get(self.name, [])]

    def dictionary(self):
        words = subprocess.run([self.build / "tests/fuzz/fuzz-dictionary", self.name], check=True, capture_output=True)
        path = self.folder / "dictionary"
        path.write_bytes(words.stdout)
        return [f"-dict={path}"] if words.stdout else []

    def run(self, bounds, inputs):
        """Returns whether nothing was found."""
        inputs.mkdir(exist_ok=True)
        before = set(self.found.iterdir())
        command = [self.program, *bounds, *LIMITS, *self.dictionary(), "-use_value_profile=1", "-print_final_stats=1",
                   f"-artifact_prefix={self.found}/", inputs, *self.committed_inputs()]
        # Where memory was allocated takes long to record; running the input again tells.
        environment = os.environ | {"ASAN_OPTIONS": "malloc_context_size=2", "UBSAN_OPTIONS": "print_stacktrace=1"}
        with self.log.open("w") as log:
            status = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                    env=environment).returncode
        new = sorted(set(self.found.iterdir()) - before)
        text = self.log.read_text(errors="replace")
        print(f"{self.name}: {self.figures(text)}; " + ("nothing found" if status == 0 else f"FAILED, see {self.log}"),
              flush=True)
        if status != 0:
            self.tell(text, new)
        return status == 0

    @staticmethod
    def figures(text):
        def last(pattern):
            found = re.findall(pattern, text)
            return int(found[-1]) if found else 0
        executions = last(r"stat::number_of_executed_units:\s*(\d+)") or last(r"#(\d+)")
        rate = last(r"stat::average_exec_per_sec:\s*(\d+)")
        edges = last(r"cov: (\d+)")
        return f"{executions:,} executions, {rate:,} a second, {edges:,} edges"

    def tell(self, text, new):
        print("\n".join("    " + line for line in text.splitlines()[-40:]))
        for path in new:
            print(f"  found: {path}\n"
                  f"  again: {self.program} {path}\n"
                  f"  smaller: {self.program} -minimize_crash=1 -runs=100000 -exact_artifact_path=SMALLER {path}\n"
                  f"  once mended, keep it as a test: cp {path} {HERE / 'corpus' / self.name}/NAME", flush=True)


def run_short(target):
    bounds = [f"-runs={SHORT_RUNS[target.name]}", "-seed=1", f"-max_total_time={SHORT_SECONDS}"]
    inputs = pathlib.Path(tempfile.mkdtemp())
    try:
        return target.run(bounds, inputs)
    finally:
        shutil.rmtree(inputs)


def run_long(target, minutes):
    return target.run([f"-max_total_time={max(1, round(minutes * 60))}"], target.folder / "inputs")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    bound = parser.add_mutually_exclusive_group()
    bound.add_argument("--minutes", type=float, default=3, help="for each target (default 3)")
    bound.add_argument("--short", action="store_true")
    options = parser.parse_args()
    build = options.build.resolve()
    names = options.targets or all_targets(build)
    unknown = set(names) - set(all_targets(build))
    if unknown or not names:
        sys.exit(f"run.py: no target {', '.join(sorted(unknown)) or 'built'} in {build}; "
                 f"there are: {', '.join(all_targets(build))}")
    jobs = int(os.environ.get("BALLAST_JOBS") or os.cpu_count())
    run = run_short if options.short else lambda target: run_long(target, options.minutes)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        held = list(pool.map(run, [Target(build, name) for name in names]))
    sys.exit(0 if all(held) else 1)


if __name__ == "__main__":
    main()
