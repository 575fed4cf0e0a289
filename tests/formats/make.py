"""Makes the fixtures of a database format with the programs that write it; run once, before the format changes.

    BALLAST_BUILD=build tests/formats/make.py tests/formats/format-2.tar.gz

The archive holds four folders: `stopped` (a run that was stopped half-way, two shards, Adam), `copies` (the copies of its
snapshots), `journaled` (a run with a journal whose processes were all killed) and `finished` (a network that has learnt,
with evaluations). about.json says what the programs themselves read in them, and what the stopped job ends with.
The emulated model's gradients are the same on every machine, so that its weights can be held against constants.
"""

import json
import os
import pathlib
import shutil
import sys
import tarfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))
import harness  # pylint: disable=wrong-import-position
import jobs  # pylint: disable=wrong-import-position

LEFT_OUT = ("logs", "lead.address", "processes.json", "LOCK", "run.lock")
SHARDS = 2


def small(steps, training):
    """Eight chunks of at most 640 bytes, and the statistics."""
    text = jobs.emulated(steps, slots=4, compute_ms=10, training=training, every_steps=10)
    layers = "".join(f"""
    - {{name: layer{i}.weight, shape: [{8 + i}, 16]}}
    - {{name: layer{i}.bias, shape: [16]}}""" for i in range(4))
    head, rest = text.split("  parameters:", 1)
    return head + "  parameters:" + layers + "\ndata:" + rest.split("\ndata:", 1)[1]


class Make(harness.ClusterCase):
    def newest(self, folder):
        """The digests of its newest complete snapshot."""
        steps = [snapshot["step"] for snapshot in json.loads(self.ballast("inspect", folder, "--json").stdout)["snapshots"]
                 if snapshot["complete"]]
        return self.digest_of(folder, "--step", max(steps))

    def begin(self, text, name, workers="2", **overrides):
        return self.start(self.job(text, f"{name}.yaml"), name=name, options=["--workers", workers, "--shards", str(SHARDS)],
                          overrides={key.replace("__", "."): value for key, value in overrides.items()})

    def stopped(self):
        text = small(60, jobs.OPTIMIZERS["adam"])
        whole = self.begin(text, "whole").finish()
        run = self.begin(text, "stopped", durability__copy_to=self.folder / "copies")
        run.wait_for_snapshot(20)
        run.control("stop")
        run.wait()
        return {"stopped": self.newest(run.folder), "end": {key: whole[key] for key in (
            "weights_sha256", "optimizer_sha256")}}

    def journaled(self):
        text = small(80, "mode: async\n  " + jobs.MOMENTUM)
        run = self.begin(text, "journaled", durability__mode="journal")
        run.wait_for_snapshot(20)
        run.wait_for_step(25)
        run.kill_all()
        return {"journaled": self.newest(run.folder)}

    def finished(self):
        text = jobs.glyphs(slots=4, training=jobs.OPTIMIZERS["adam"]).replace("[48]", "[3]")
        run = self.begin(text, "finished", durability__keep=1)
        run.finish()
        return {"finished": self.digest_of(run.folder)}

    def test_make(self):
        about = self.stopped() | self.journaled() | self.finished()
        (self.folder / "about.json").write_text(json.dumps(about, indent=2) + "\n")
        shutil.rmtree(self.folder / "whole")
        # The copies' folder is named in the stopped job's file and goes with it.
        with tarfile.open(os.environ["BALLAST_FIXTURE"], "w:gz", compresslevel=9) as archive:
            for name in ("about.json", "stopped", "copies", "journaled", "finished"):
                archive.add(self.folder / name, name,
                            filter=lambda entry: None if pathlib.Path(entry.name).name in LEFT_OUT else entry)


if __name__ == "__main__":
    os.environ["BALLAST_FIXTURE"] = sys.argv.pop(1)
    unittest.main(verbosity=2)
