"""A bundle runs by itself, and gives the bits that the build gives."""

import atexit
import functools
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

import harness
import jobs

BUNDLE = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "bundle"


@functools.lru_cache(maxsize=None)
def made_bundle():
    """Its folder, made once for all cases. Fails where a file in it would take a library from this machine."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ballast-test-bundle-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    subprocess.run([BUNDLE, harness.BUILD, folder], capture_output=True, text=True, timeout=3 * harness.PATIENCE,
                   check=True)
    (bundle,) = (entry for entry in folder.iterdir() if entry.is_dir())
    return bundle


class Bundle(harness.ClusterCase):
    def test_a_job_runs_from_it(self):
        bundle = made_bundle()
        self.assertTrue(bundle.with_name(bundle.name + ".tar.gz").is_file())
        job = self.job(jobs.glyphs(steps=3))
        summary = self.folder / "summary.json"
        ran = subprocess.run([bundle / "bin" / "ballast", "run", job, "--run-dir", self.folder / "run", "--summary",
                              summary], capture_output=True, text=True, timeout=harness.PATIENCE, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.expect_equal_bits(json.loads(summary.read_text()), self.reference(job))

    def gpu_tests(self, bundle, *words):
        """With an empty environment."""
        return subprocess.run([bundle / "gpu-tests", *words], capture_output=True, text=True, cwd=self.folder, env={},
                              timeout=3 * harness.PATIENCE, check=False)

    def test_its_gpu_tests_say_so_where_there_is_no_gpu(self):
        bundle = made_bundle()
        module = bundle / "lib" / "ballast" / "ballast-cuda.so"
        if module.exists():
            away = module.rename(module.with_suffix(".away"))
            self.addCleanup(away.rename, module)
        ran = self.gpu_tests(bundle)
        self.assertEqual(ran.returncode, 2, ran.stdout)
        self.assertIn("this build of Ballast has no cuda backend", ran.stdout + ran.stderr)

    def test_its_gpu_tests_pass_on_the_cpu_and_do_not_count_what_they_cannot_run(self):
        ran = self.gpu_tests(made_bundle(), "--backend", "cpu", "--skip", "every operation", "--skip", "tf32", "--skip",
                             "bfloat16")
        self.assertEqual(ran.returncode, 3, ran.stdout + ran.stderr)
        passed, failed, left_out = map(int, re.search(r"^(\d+) passed, (\d+) failed, (\d+) not run$", ran.stdout,
                                                      re.M).groups())
        self.assertEqual((passed, failed), (8, 0), ran.stdout)
        self.assertEqual(left_out, 14, ran.stdout)
        self.assertIn("MNIST is not there", ran.stdout)

    def test_its_benchmark_measures_the_cpu(self):
        results = self.folder / "results.json"
        ran = subprocess.run([made_bundle() / "gpu-bench", "--backend", "cpu", "--python", "/usr/bin/python3", "--only",
                              "16 float32", "--only", "job lenet5", "--rounds", "1", "--job-seconds", "2", "--json", results],
                             capture_output=True, text=True, cwd=self.folder, env={}, timeout=3 * harness.PATIENCE, check=False)
        self.assertIn(ran.returncode, (0, 3), ran.stdout + ran.stderr)  # 3: without PyTorch
        measured = json.loads(results.read_text())
        (speed,), (job,) = measured["speed"], measured["job"]
        self.assertGreater(speed["ours"], 0)
        self.assertEqual("worker" in speed and "pass" in speed, ran.returncode == 0, speed)
        self.assertEqual("training" in job, ran.returncode == 0, job)
        self.assertTrue(job["outside"] < 1 and job["phases_ms"]["backward"] > 0, job)


if __name__ == "__main__":
    harness.main()
