"""Databases and copies of an older format are refused by name, by every command, and stay as they are.

tests/formats holds an archive for each older format, made with the programs that wrote it (tests/formats/make.py).
"""

import hashlib
import pathlib
import tarfile

import harness

FORMATS = pathlib.Path(__file__).resolve().parents[1] / "formats"
REFUSAL = "this database was made by another version of Ballast: it has format 2, and this version reads format 3"
REMEDY = "begin a run of its own from them (training.init_from)"


def content_of(folder):
    """Every file of the databases, by name."""
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in sorted(folder.glob("shard-*/**/*")) if file.is_file()}


class OfFormat2(harness.ClusterCase):
    def setUp(self):
        super().setUp()
        with tarfile.open(FORMATS / "format-2.tar.gz") as archive:
            archive.extractall(self.folder)

    def expect_refused(self, text):
        self.assertIn(REFUSAL, text)
        self.assertIn(REMEDY, text)

    def test_commands_refuse_databases_by_name_and_change_nothing(self):
        for name in ("stopped", "journaled", "finished"):
            folder = self.folder / name
            before = content_of(folder)
            out = self.folder / f"{name}.safetensors"
            for command in (["inspect"], ["digest"], ["export", "-o", out], ["evaluate"],
                            ["reshard", "--shards", "3"],
                            ["reshard", "--shards", "3", "-o", self.folder / "new"]):
                with self.subTest(name, command=command[0]):
                    self.expect_refused(self.ballast(command[0], folder, *command[1:], code=1).stderr)
            self.assertEqual(content_of(folder), before)
            self.assertFalse(out.exists())
            self.assertFalse((self.folder / "new").exists())

    def test_a_run_is_not_resumed(self):
        for name in ("stopped", "journaled"):
            with self.subTest(name):
                folder = self.folder / name
                before = content_of(folder)
                self.expect_refused(self.ballast("run", "--resume", folder, code=1).stderr)
                self.assertEqual(content_of(folder), before)

    def test_copies_are_not_restored(self):
        answer = self.ballast("restore", self.folder / "copies", "--run-dir", self.folder / "restored", code=1)
        self.expect_refused(answer.stderr)


if __name__ == "__main__":
    harness.main()
