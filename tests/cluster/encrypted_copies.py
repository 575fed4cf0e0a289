"""Copies that are encrypted before they leave the servers: nothing of the job is found in them, who has the key restores them to
equal bits, and who has not is told so and gets nothing."""

import re
import shutil
import urllib.parse

import copies
import harness
import jobs
from copies import STEPS

MARKS = [b"emulated", b"first.weight", b"max_steps"]  # of the job's text, which each part has


class EncryptedCopies(copies.CopiesCase):
    def windows_of(self, run):
        """Bytes of weights, here and there, as a run's folder has them."""
        exported = self.folder / "weights.safetensors"
        self.ballast("export", run, "-o", exported)
        content = exported.read_bytes()
        return [content[at:at + 24] for at in range(len(content) // 7, len(content) - 24, len(content) // 7)]

    def objects(self, folder):
        return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}

    def expect_nothing_in(self, objects, windows):
        self.assertGreaterEqual(len([name for name in objects if "shard-" in str(name)]), 2)
        for name, content in objects.items():
            self.assertTrue(content.startswith(b"BLSTSEAL"), name)
            # Names are for all: an object has its own in its head.
            place = urllib.parse.unquote(str(name))
            own = place[place.rindex("emulated-"):].encode()
            for mark in [*MARKS, *windows]:
                self.assertFalse(mark in content.replace(own, b""), (mark, name))

    def expect_refused_without(self, key_id, file):
        back = self.folder / "refused"
        another = self.folder / "another.key"
        self.ballast("keygen", "--copies", another)
        without = self.place[:self.place.index("--copy-key-file")]
        for place, told in ((without, "name the file that has it: --copy-key-file"),
                            ([*without, "--copy-key-file", another], f"{another} has ")):
            answer = harness.ballast("restore", *place, "--run-dir", back)
            self.assertEqual(answer.returncode, 1)
            self.assertIn(f"is encrypted by the key {key_id}", answer.stderr)
            self.assertIn(told, answer.stderr)
            self.assertEqual([entry for entry in back.rglob("*") if entry.name.startswith("shard-")], [])
        self.assertNotIn(re.search(r"secret (\S+)", file.read_text())[1], answer.stderr)

    def restore_to_equal_bits(self):
        back = self.folder / "back"
        newest = max(self.listed())
        self.assertLess(newest, STEPS)
        self.assertIn(f"restored step {newest} ", self.restore(back))
        windows = self.windows_of(back)
        self.ballast("run", "--resume", back)  # its job file names the key's file
        self.expect_equal_bits(self.digest_of(back), self.reference(self.job_file, jobs.AT_ONCE))
        return windows

    def test_in_a_folder(self):
        file, key_id = self.encrypt()
        self.lose_the_run(self.start_two_shards())
        self.expect_refused_without(key_id, file)
        left = self.objects(self.copies)
        windows = self.restore_to_equal_bits()
        self.expect_nothing_in(left | self.objects(self.copies), windows)

    def test_what_is_looked_for_is_found_where_nothing_is_encrypted(self):
        """Or else the search above would find nothing anywhere."""
        self.lose_the_run(self.start_two_shards())
        left = self.objects(self.copies)
        self.restore(self.folder / "back")
        windows = self.windows_of(self.folder / "back")
        everything = b"".join(content for name, content in left.items() if "shard-" in name.name)
        self.assertEqual([mark for mark in [*MARKS, *windows] if mark not in everything], [])

    def test_in_a_storage_that_wants_all_objects_to_be_encrypted_by_it_as_well(self):
        kept = self.folder / "kept"
        kept.mkdir()
        self.start_storage("--encryption", "aws:kms", "--kms-key", "alias/copies", "--keep", kept)
        self.durability |= {"durability.s3_encryption": "aws:kms", "durability.s3_kms_key_id": "alias/copies"}
        file, key_id = self.encrypt()
        self.lose_the_run(self.start_two_shards())
        self.expect_refused_without(key_id, file)
        windows = self.restore_to_equal_bits()
        self.expect_nothing_in(self.objects(kept), windows)

    def test_disks_that_are_lost_after_the_key_was_replaced(self):
        """A run that names itself restores its shards, from copies of the new key and losses of the old one."""
        file, _ = self.encrypt()
        self.copies.mkdir()
        self.durability |= {"durability.run": "the-first", "cluster.patience": 30}
        run = self.start_two_shards()
        first = run.wait_until("a copy", self.listed)
        told = self.ballast("keygen", "--copies", file, "--next").stdout
        run.wait_until("a newer copy", lambda: max(self.listed()) > max(first))
        for shard in range(2):
            shutil.rmtree(run.folder / f"shard-{shard}")
        for shard in range(2):
            run.kill("server", shard)
        summary = run.finish(patience=2 * harness.PATIENCE)
        self.expect_equal_bits(summary, self.reference(self.job_file, jobs.AT_ONCE))
        self.assertIn("is fetched from the copies", harness.text_of(run.folder / "logs" / "shard-1.log"))
        self.assertIn(re.match("key ([0-9a-f]{16}) now encrypts", told)[1], harness.text_of(run.folder / "logs" / "shard-1.log"))
        self.assertIn(STEPS, self.listed())

    def test_a_run_whose_key_is_another_one_does_not_begin_anew(self):
        file, key_id = self.encrypt()
        self.copies.mkdir()
        self.durability |= {"durability.run": "the-first"}
        self.lose_the_run(self.start_two_shards())
        file.rename(self.folder / "right.key")
        before = self.objects(self.copies)
        words = ["run", self.job_file, "--run-dir", self.folder / "again", "--workers", "2", "--shards", "2",
                 *harness.set_options(self.durability)]
        self.assertIn("cannot be read", self.expect_failure(*words))
        self.ballast("keygen", "--copies", file)
        shutil.rmtree(self.folder / "again")
        self.assertIn(f"is encrypted by the key {key_id}, and {file} has ", self.expect_failure(*words))
        self.assertEqual(self.objects(self.copies), before)
        (self.folder / "right.key").rename(file)
        shutil.rmtree(self.folder / "again")
        self.ballast(*words)
        self.expect_equal_bits(self.digest_of(self.folder / "again"), self.reference(self.job_file, jobs.AT_ONCE))

    def expect_failure(self, *words):
        answer = harness.ballast(*words)
        self.assertNotEqual(answer.returncode, 0, answer.stdout)
        return answer.stdout + answer.stderr


if __name__ == "__main__":
    harness.main()
