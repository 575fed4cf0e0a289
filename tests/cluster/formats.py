"""Databases and copies of older formats are read, resumed and restored by today's programs.

tests/formats holds an archive for each older format, made with the programs that wrote it (tests/formats/make.py). The
weights of its emulated jobs are the same on every machine, so that they are held against what those programs gave.
"""

import hashlib
import json
import pathlib
import tarfile

import harness

FORMATS = pathlib.Path(__file__).resolve().parents[1] / "formats"
TODAY = 3
SHARDS = 2


def content_of(folder):
    """Every file of the databases, by name."""
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in sorted(folder.glob("shard-*/**/*")) if file.is_file()}


class OfFormat2(harness.ClusterCase):
    FORMAT = 2

    def setUp(self):
        super().setUp()
        with tarfile.open(FORMATS / f"format-{self.FORMAT}.tar.gz") as archive:
            archive.extractall(self.folder)
        self.about = json.loads((self.folder / "about.json").read_text())

    def digest(self, folder, *options):
        found = self.digest_of(folder, *options)
        return {key: found[key] for key in ("job", "step", "weights_sha256", "optimizer_sha256")}

    def format_of(self, folder):
        for line in self.ballast("inspect", folder).stdout.splitlines():
            if "database format" in line:
                return int(line.rsplit(" ", 1)[1])
        return self.fail("inspect names no format")

    def go_on(self, name):
        """`ballast run --resume`; the copies, if the job makes some, go to a folder of this test."""
        overrides = {"durability.copy_to": self.folder / "copies"} if name in ("stopped", "restored") else {}
        return self.start(None, name=name, overrides=overrides).finish()

    def expect_the_end(self, summary):
        for key, value in self.about["end"].items():
            self.assertEqual(summary[key], value, summary)

    def test_commands_read_databases_and_change_nothing(self):
        for name in ("stopped", "journaled", "finished"):
            with self.subTest(name):
                folder = self.folder / name
                before = content_of(folder)
                step = self.about[name]["step"]
                self.assertEqual(self.format_of(folder), self.FORMAT)
                self.assertEqual(self.digest(folder, "--step", str(step)), self.about[name])
                self.assertIn("0 problems", self.ballast("inspect", folder, "--verify").stdout)
                self.ballast("export", folder, "--step", str(step), "-o", self.folder / f"{name}.safetensors")
                self.assertEqual(content_of(folder), before)
        self.assertIn("accuracy", self.ballast("inspect", self.folder / "finished").stdout)

    def test_a_stopped_run_goes_on_to_the_same_bits(self):
        self.expect_the_end(self.go_on("stopped"))
        folder = self.folder / "stopped"
        self.assertEqual(self.format_of(folder), TODAY)
        self.assertIn("0 problems", self.ballast("inspect", folder, "--verify").stdout)

    def test_a_journaled_run_goes_on_in_its_timeline(self):
        summary = self.go_on("journaled")
        self.assertEqual((summary["timeline"], summary["rollbacks"], summary["resumed_shards"]), (1, 0, SHARDS), summary)
        self.assertEqual(self.format_of(self.folder / "journaled"), TODAY)

    def test_copies_are_restored_and_go_on_to_the_same_bits(self):
        self.ballast("restore", self.folder / "copies", "--run-dir", self.folder / "restored")
        self.assertEqual(self.format_of(self.folder / "restored"), TODAY)
        self.expect_the_end(self.go_on("restored"))


if __name__ == "__main__":
    harness.main()
