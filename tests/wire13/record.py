"""Records the frames of this folder: record.py BINARIES, with the programs of protocol version 13 as a build has them
(cli/ballast, server/ballast-server, worker/ballast-worker).

Real jobs run with record.so loaded into every process; of all frames they sent, a few of each kind are kept: the smallest,
and those that fill the most fields which no frame kept before fills.
"""

import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
binaries = pathlib.Path(os.environ.get("BALLAST_BUILD") or sys.argv[1]).resolve()
os.environ["BALLAST_BUILD"] = str(binaries)
sys.path.insert(0, str(HERE.parents[1] / "tests" / "cluster"))
sys.path.insert(0, str(HERE))

import frames  # noqa: E402
import harness  # noqa: E402
import jobs  # noqa: E402

MOST_BYTES = 3000  # of a frame that is kept, unless its kind has none so small
MOST_OF_A_KIND = 6


class Recording(harness.ClusterCase):
    """Not checks: what is to be recorded. Each case's processes write to $BALLAST_FRAMES."""

    def test_1_sync_with_evaluations_and_control(self):
        text = jobs.glyphs(steps=40).replace("training:\n", "training:\n  evaluate_every_epochs: 1\n  clip: {global_norm: 0.4}\n")
        run = self.start(self.job(text), options=["--workers", "2", "--shards", "2", "--lanes", "2"])
        run.wait_until("it runs", lambda: (run.status() or {}).get("step", 0) > 1)
        run.control("pause")
        run.control("resume")
        run.finish()

    def test_2_ssp_with_a_journal(self):
        text = jobs.glyphs(steps=24).replace("training:\n", "training:\n  mode: ssp\n  staleness: {bound: 4, damping: inverse}\n")
        run = self.start(self.job(text), options=["--workers", "3", "--shards", "2", "--lanes", "2"],
                         overrides={"durability.mode": "journal", "durability.every_steps": 5})
        run.wait_until("it trains", lambda: (run.status() or {}).get("step", 0) > 3)
        run.kill("server", 1)
        run.finish()

    def test_3_deaths_and_a_rollback(self):
        run = self.start(self.job(jobs.emulated(steps=120, every_steps=20)), options=["--workers", "3", "--shards", "2"])
        run.wait_for_step(10)
        sleeper = run.entry("worker", 1)["pid"]
        os.kill(sleeper, signal.SIGSTOP)
        run.wait_for_step(run.status()["step"] + 8)
        os.kill(sleeper, signal.SIGCONT)
        run.kill("worker", 0)
        run.wait_for_snapshot(20)
        run.kill("server", 1)
        run.wait_for_step(45)
        run.kill("server", 0)
        run.wait_for_step(60)
        sleeper = run.entry("worker", 1)["pid"]
        os.kill(sleeper, signal.SIGSTOP)
        timeline = run.status()["timeline"]
        run.kill("server", 1)
        run.wait_until("the next timeline", lambda: (run.status() or {}).get("timeline", 0) > timeline)
        os.kill(sleeper, signal.SIGCONT)
        run.wait_for_step(80)
        os.kill(run.entry("worker", 2)["pid"], signal.SIGTERM)
        run.finish()

    def test_4_a_stop_and_a_failure(self):
        text = jobs.emulated(steps=400).replace("shards: 1", "shards: 2")
        run = self.start(self.job(text), options=["--workers", "1"])
        run.wait_for_step(3)
        other = self.job(text.replace("steps: 400", "steps: 300"), name="other.yaml")
        harness.call(harness.SERVER, "--job", other, "--shard", "1", "--lead", run.lead(), "--bind",
                     "tcp://127.0.0.1:*", "--database", self.folder / "other")
        run.control("stop")
        run.wait()

    def test_5_copies_averages_and_a_measured_metric(self):
        text = jobs.glyphs(steps=24).replace("training:\n", "training:\n  evaluate_every_epochs: 1\n"
                                             "  weight_average: {decay: 0.9}\n")
        text = text.replace("test_examples: 60", "test_examples: 60, validation_examples: 60")
        run = self.start(self.job(text), options=["--workers", "2", "--shards", "2"],
                         overrides={"durability.every_steps": 5, "durability.copy_to": str(self.folder / "copies")})
        run.finish()

    def test_6_a_slow_worker(self):
        run = self.start(self.job(jobs.emulated(steps=60, compute_ms=5)), options=["--workers", "3", "--shards", "1"],
                         environment={"BALLAST_DELAY": "worker-0:150"})
        run.wait_for_step(12)
        os.kill(run.entry("worker", 1)["pid"], signal.SIGSTOP)
        run.wait_for_step(run.status()["step"] + 5)
        os.kill(run.entry("worker", 1)["pid"], signal.SIGCONT)
        run.finish()


def signature(lines):
    """Which fields are filled."""
    return {re.sub(r"\[\d+\]", "[]", line.split(" ")[0]) for line in lines}


def choose(schema, recorded):
    """By kind, the bytes of the frames to keep."""
    kinds = {}
    for data in recorded:
        frame = frames.Frame(schema, data)
        kinds.setdefault(frame.kind, {})[data] = signature(frame.lines())
    chosen = {}
    for kind, of_kind in kinds.items():
        small = sorted((data for data in of_kind if len(data) <= MOST_BYTES), key=len) or sorted(of_kind, key=len)[:1]
        kept = [small[0]]
        seen = set(of_kind[small[0]])
        while len(kept) < MOST_OF_A_KIND:
            newest = max(small, key=lambda data: len(of_kind[data] - seen))
            if not of_kind[newest] - seen:
                break
            kept.append(newest)
            seen |= of_kind[newest]
        chosen[kind] = kept
    return chosen


def main():
    schema = frames.Schema(HERE / "wire13.fbs")
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(os.environ.get("KEEP_FRAMES") or scratch)
        library = scratch / "record.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-Wall", "-o", library, HERE / "record.c", "-ldl"], check=True)
        environment = {"LD_PRELOAD": str(library), "BALLAST_FRAMES": str(scratch)}
        if not list(scratch.glob("*.frames")):
            subprocess.run([sys.executable, "-m", "unittest", "-v", "record"], cwd=HERE, check=True,
                           env={**os.environ, **environment})
        recorded = [data for file in sorted(scratch.glob("*.frames")) for data in frames.read_all(file)]
    chosen = [(kind, data) for kind, kept in sorted(choose(schema, recorded).items()) for data in kept]
    (HERE / "recorded.frames").write_bytes(b"".join(struct.pack("<I", len(data)) + data for _, data in chosen))
    lines = [line for kind, data in chosen for line in [f"frame {kind}", *frames.Frame(schema, data).lines()]]
    (HERE / "recorded.txt").write_text("\n".join(lines) + "\n")
    print(len(chosen), "frames of", len({kind for kind, _ in chosen}), "kinds")


if __name__ == "__main__":
    main()
