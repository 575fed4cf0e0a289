"""What gpu-tests does with its arguments, before any device is looked for."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCES = pathlib.Path(__file__).resolve().parents[1]


class Arguments(unittest.TestCase):
    def setUp(self):
        """A bundle without programs: whatever looks for a device fails."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "bin").mkdir()
        (self.root / "bin" / "ballast").touch()
        shutil.copytree(SOURCES, self.root / "tests" / "gpu")

    def run_with(self, *words):
        return subprocess.run([sys.executable, "-B", self.root / "tests" / "gpu", *words], cwd=self.root,
                              capture_output=True, text=True, timeout=30, check=False)

    def test_parts_are_named_without_a_device(self):
        ended = self.run_with("--list", "--only", "bits", "--skip", "bfloat16")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(ended.stdout.splitlines(),
                         ["the same bits again", "the same bits with two workers", "the same bits with two shards",
                          "tf32: the same bits again"])
        self.assertFalse((self.root / "gpu-tests-runs").exists())

    def test_a_choice_of_nothing_cannot_begin(self):
        ended = self.run_with("--only", "no such part")
        self.assertEqual((ended.returncode, ended.stderr),
                         (2, "gpu-tests: --only and --skip leave no part; --list names them\n"))

    def test_data_that_are_not_there_cannot_begin(self):
        ended = self.run_with("--data", "/nowhere")
        self.assertEqual((ended.returncode, ended.stderr),
                         (2, "gpu-tests: --data /nowhere: there is no such folder\n"))

    def test_what_is_no_bundle_cannot_begin(self):
        (self.root / "bin" / "ballast").unlink()
        ended = self.run_with()
        self.assertEqual((ended.returncode, "is not a bundle" in ended.stderr), (2, True))


if __name__ == "__main__":
    unittest.main()
