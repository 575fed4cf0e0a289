"""What does not fit together is refused before anything is touched."""

import json
import subprocess

import harness
import jobs


class Refusals(harness.ClusterCase):
    def serve(self, job, database):
        address = f"ipc://{self.folder}/lead"
        return subprocess.run([harness.SERVER, "--job", job, "--shard", "0", "--lead", address, "--bind",
                               f"ipc://{self.folder}/lane", "--database", database], capture_output=True, text=True,
                              timeout=harness.PATIENCE, stdin=subprocess.DEVNULL, check=False)

    def digest(self, run):
        """The digests of the run's databases, read once more."""
        answer = subprocess.run([harness.BALLAST, "digest", run.folder], capture_output=True, text=True,
                                timeout=harness.PATIENCE, check=False)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return json.loads(answer.stdout)

    def test_a_database_of_another_job_is_left_as_it_was(self):
        job = self.job(jobs.glyphs(steps=2))
        run = self.start(job)
        summary = run.finish()
        database = run.folder / "shard-0"
        other = self.job(jobs.glyphs(steps=2, seed=4), name="other.yaml")
        answer = self.serve(other, database)
        self.assertEqual(answer.returncode, 1, answer.stderr)
        last = answer.stderr.strip().splitlines()[-1]
        self.assertIn("seed", last)
        self.assertIn(str(database), last)
        self.expect_equal_bits(summary, self.digest(run))
        again = self.serve(job, database)  # its own job, which it tells whoever asks has finished
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("finished at step 2 of 2", again.stderr)
        self.expect_equal_bits(summary, self.digest(run))

    def test_a_run_folder_with_a_database_is_not_used_again(self):
        job = self.job(jobs.glyphs(steps=2))
        self.start(job).finish()
        again = self.start(job)
        self.assertEqual(again.wait(), 1)
        self.assertIn("holds the database", again.errors())
        self.assertIn("--run-dir", again.errors())

    def test_a_bad_job_file_is_no_run(self):
        run = self.start(self.job(jobs.glyphs().replace("slots: 8", "slots: 9")))
        self.assertEqual(run.wait(), 2)
        self.assertIn("job.yaml:7", run.errors())
        self.assertFalse(run.folder.exists())


if __name__ == "__main__":
    harness.main()
