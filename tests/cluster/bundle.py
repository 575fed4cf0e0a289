"""A bundle runs by itself, and gives the bits that the build gives."""

import json
import pathlib
import subprocess

import harness
import jobs

BUNDLE = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "bundle"


class Bundle(harness.ClusterCase):
    def make_bundle(self):
        """Its folder. Fails where a file in it would take a library from this machine."""
        made = subprocess.run([BUNDLE, harness.BUILD, self.folder], capture_output=True, text=True,
                              timeout=harness.PATIENCE, check=False)
        self.assertEqual(made.returncode, 0, made.stderr)
        (bundle,) = (entry for entry in self.folder.iterdir() if entry.is_dir())
        return bundle

    def test_a_job_runs_from_it(self):
        bundle = self.make_bundle()
        self.assertTrue(bundle.with_name(bundle.name + ".tar.gz").is_file())
        job = self.job(jobs.glyphs(steps=3))
        summary = self.folder / "summary.json"
        ran = subprocess.run([bundle / "bin" / "ballast", "run", job, "--run-dir", self.folder / "run", "--summary",
                              summary], capture_output=True, text=True, timeout=harness.PATIENCE, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.expect_equal_bits(json.loads(summary.read_text()), self.reference(job))

    def test_its_gpu_tests_fail_where_there_is_no_gpu(self):
        bundle = self.make_bundle()
        (bundle / "lib" / "ballast" / "ballast-cuda.so").unlink(missing_ok=True)
        ran = subprocess.run([bundle / "gpu-tests"], capture_output=True, text=True, cwd=self.folder,
                             timeout=harness.PATIENCE, check=False)
        self.assertNotEqual(ran.returncode, 0, ran.stdout)
        self.assertIn("this build of Ballast has no cuda backend", ran.stdout + ran.stderr)


if __name__ == "__main__":
    harness.main()
