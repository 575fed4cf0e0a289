"""A run's folder is lost; a copy of its snapshots brings it back, and the job ends with the same bits."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import harness
import jobs

S3_SERVER = pathlib.Path(__file__).resolve().parents[1] / "unit" / "copies" / "s3_server.py"
STEPS = 60
KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret/+KEY",
        "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


class Restore(harness.ClusterCase):
    def setUp(self):
        super().setUp()
        self.job_file = self.job(jobs.emulated(steps=STEPS, compute_ms=20))
        self.copies = self.folder / "copies"
        self.place = [str(self.copies)]
        self.durability = {"durability.every_steps": 10, "durability.copy_to": self.copies}

    def ballast(self, *words, code=0):
        answer = subprocess.run([harness.BALLAST, *map(os.fspath, words)], capture_output=True, text=True,
                                timeout=harness.PATIENCE, check=False, cwd=self.folder)
        self.assertEqual(answer.returncode, code, answer.stdout + answer.stderr)
        return answer.stdout + answer.stderr

    def listed(self):
        """The steps of the complete copies."""
        answer = subprocess.run([harness.BALLAST, "restore", "--list", *self.place], capture_output=True, text=True,
                                timeout=harness.PATIENCE, check=False)
        rows = [line.split() for line in answer.stdout.splitlines()[2:]]
        return [int(row[0]) for row in rows if "incomplete:" not in row]

    def start_two_shards(self):
        return self.start(self.job_file, options=["--workers", "2", "--shards", "2"], overrides=self.durability)

    def lose_the_run(self, run):
        run.wait_until("a copy", self.listed)
        run.end()
        shutil.rmtree(run.folder)

    def go_on(self, folder):
        """Resumes the run in the folder to its end, and holds its weights against the reference's."""
        self.ballast("run", "--resume", folder)
        digest = json.loads(self.ballast("digest", folder))
        self.assertEqual(digest["step"], STEPS)
        self.expect_equal_bits(digest, self.reference(self.job_file, jobs.AT_ONCE))

    def test_of_a_folder(self):
        self.lose_the_run(self.start_two_shards())
        back = self.folder / "back"
        newest = max(self.listed())
        self.assertLess(newest, STEPS)
        text = self.ballast("restore", *self.place, "--run-dir", back)
        self.assertIn(f"restored step {newest} ", text)
        self.assertIn("0 problems", self.ballast("inspect", back, "--verify"))
        self.go_on(back)
        self.assertIn("holds the databases of a run already",
                      self.ballast("restore", *self.place, "--run-dir", back, code=1))

    def test_of_an_s3_storage(self):
        os.environ.update(KEYS)
        server = subprocess.Popen([sys.executable, S3_SERVER, KEYS["AWS_ACCESS_KEY_ID"], KEYS["AWS_SECRET_ACCESS_KEY"]],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.wait)
        self.addCleanup(server.stdin.close)
        self.addCleanup(server.stdout.close)
        endpoint = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        self.place = ["s3://models/copies", "--s3-endpoint", endpoint]
        self.durability |= {"durability.copy_to": self.place[0], "durability.s3_endpoint": endpoint}
        self.lose_the_run(self.start_two_shards())
        back = self.folder / "back"
        self.ballast("restore", *self.place, "--run-dir", back)
        self.go_on(back)

    def test_of_an_older_copy_where_the_newest_is_damaged(self):
        self.start_two_shards().finish()
        steps = self.listed()
        self.assertEqual(steps, [STEPS - 10, STEPS])
        newest = max(self.copies.glob("*/*/shard-1-of-2"))
        content = bytearray(newest.read_bytes())
        content[len(content) // 2] ^= 1
        newest.write_bytes(content)
        back = self.folder / "back"
        text = self.ballast("restore", *self.place, "--run-dir", back)
        self.assertIn(f"restored step {STEPS - 10} ", text)
        self.assertIn(str(newest), text)
        self.assertIn("the record is damaged", text)
        self.go_on(back)

    def test_a_place_that_fails_does_not_stop_the_job(self):
        self.copies.write_text("a file where the folder should be")
        run = self.start_two_shards()
        self.expect_equal_bits(run.finish(), self.reference(self.job_file, jobs.AT_ONCE))
        log = (run.folder / "logs" / "shard-1.log").read_text()
        self.assertIn("was not copied (the next one will be tried)", log)
        self.assertIn(str(self.copies), log)


if __name__ == "__main__":
    harness.main()
