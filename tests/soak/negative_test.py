"""A soak that is given a reference of another job says that the bits differ, keeps the logs, and ends with 1."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOAK = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(SOAK))

import cluster as soak_cluster  # pylint: disable=wrong-import-position

BUILD = soak_cluster.harness.BUILD
PATIENCE = 900  # seconds


class Negative(unittest.TestCase):
    def test_other_bits_are_told(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="ballast-soak-"))
        self.addCleanup(shutil.rmtree, folder)
        build = folder / "build"
        (build / "tests" / "reference").mkdir(parents=True)
        for name in ("server", "worker", "cli", "tests/soak"):
            (build / name).symlink_to(BUILD / name)
        (build / "tests" / "reference" / "ballast-replay").symlink_to(BUILD / "tests" / "reference" / "ballast-replay")
        other = build / "tests" / "reference" / "ballast-reference"
        other.write_text(f'#!/bin/sh\nexec {BUILD}/tests/reference/ballast-reference "$@" --set training.seed=6\n')
        other.chmod(0o755)
        answer = subprocess.run([sys.executable, SOAK, "--minutes", "0.3", "--modes", "sync", "--out", folder / "out"],
                                env={**os.environ, "BALLAST_BUILD": str(build)}, capture_output=True, text=True,
                                timeout=PATIENCE, check=False)
        self.assertEqual(answer.returncode, 1, answer.stdout + answer.stderr)
        summary = json.loads((folder / "out" / "summary.json").read_text())
        self.assertRegex(summary["jobs"][0]["wrong"], "^'[0-9a-f]{64}' != '[0-9a-f]{64}'")
        self.assertTrue(list((folder / "out" / "job-0" / "logs").glob("s0.log")))
        self.assertTrue((folder / "out" / "soak.svg").is_file())


if __name__ == "__main__":
    soak_cluster.harness.main(soak_cluster.unfit)
