"""gpu-tests' judging, shown on made-up results: what is right passes, and each thing that can be wrong is noticed."""

import contextlib
import io
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import judge  # pylint: disable=wrong-import-position
import parts  # pylint: disable=wrong-import-position
from bundle import Ended, Job  # pylint: disable=wrong-import-position
from judge import Wrong  # pylint: disable=wrong-import-position
from report import NotRun, Report  # pylint: disable=wrong-import-position

ONE, OTHER = "1" * 64, "2" * 64
DOCTEST = "[doctest] test cases: {} | {} passed | {} failed | 0 skipped"
NO_ERRORS = "========= LEAK SUMMARY: 0 bytes leaked in 0 allocations\n========= ERROR SUMMARY: 0 errors\n"


def summary(weights=ONE, optimizer=OTHER, accuracy=0.992, slots=None):
    return {"weights_sha256": weights, "optimizer_sha256": optimizer, "test_accuracy": accuracy, "worker_restarts": 0,
            "lost_workers": 0, "steps": 10, "training_seconds": 1.0, "slots_by_session": slots or {"worker-0": 80}}


class Judging(unittest.TestCase):
    def wrong(self, pattern, function, *arguments, **named):
        with self.assertRaisesRegex(Wrong, pattern):
            function(*arguments, **named)

    def test_a_program_of_tests(self):
        self.assertIn("40", judge.test_program(0, DOCTEST.format(40, 40, 0)))
        self.wrong("1 of 40", judge.test_program, 1, DOCTEST.format(40, 39, 1))
        self.wrong("exit code 1", judge.test_program, 1, DOCTEST.format(40, 40, 0))
        self.wrong("0 of 0", judge.test_program, 0, DOCTEST.format(0, 0, 0))
        self.wrong("no count(.|\n)*terminated", judge.test_program, -11, "terminated")
        told = "TEST CASE:  operations: conv2d\nCHECK( 1 == 2 )\n" + DOCTEST.format(40, 39, 1)
        self.wrong("operations: conv2d\nCHECK", judge.test_program, 1, "much before\n" + told)

    def test_losses(self):
        cpu = [2.3 - 0.03 * step for step in range(60)]
        judge.losses(cpu, [loss * (1 + 9e-4) for loss in cpu])
        off = list(cpu)
        off[17] *= 1 + 2e-3
        self.wrong("step 17", judge.losses, cpu, off)
        self.wrong("30 losses", judge.losses, cpu, cpu[:30])
        self.wrong("30 to compare", judge.losses, cpu[:30], cpu)
        self.wrong("step 3", judge.losses, cpu, cpu[:3] + [math.nan] + cpu[4:])
        self.wrong("nothing was learnt", judge.losses, [2.3] * 50, [2.3] * 50)
        after = list(cpu)
        after[50] = 9.0  # is not looked at
        judge.losses(cpu, after)

    def test_accuracy(self):
        judge.accuracy(0.99)
        self.wrong("98.99 %", judge.accuracy, 0.9899)
        self.wrong("None", judge.accuracy, None)
        self.wrong("nan", judge.accuracy, math.nan)

    def test_bits(self):
        judge.same_bits(summary(), summary())
        self.wrong("weights_sha256 differ", judge.same_bits, summary(), summary(weights=OTHER))
        self.wrong("optimizer_sha256 differ", judge.same_bits, summary(), summary(optimizer=ONE))
        self.wrong("no optimizer_sha256", judge.same_bits, summary(optimizer=None), summary(optimizer=None))

    def test_everybody_works(self):
        judge.everybody_worked(summary(slots={"worker-0": 4, "worker-1": 4}), 2)
        self.wrong("1 of 2", judge.everybody_worked, summary(slots={"worker-0": 8, "worker-1": 0}), 2)
        self.wrong("3 were started", judge.everybody_worked, {**summary(), "worker_restarts": 3}, 1)

    def test_precision(self):
        judge.precision(summary(), summary(weights=OTHER, accuracy=0.983), has_effect=True)
        self.wrong("98.10 %", judge.precision, summary(), summary(weights=OTHER, accuracy=0.981), has_effect=True)
        self.wrong("no effect", judge.precision, summary(), summary(), has_effect=True)
        judge.precision(summary(), summary(), has_effect=False)

    def test_gradients_leave_early(self):
        judge.gradients_leave_early({"first_gradient_us": 80, "last_gradient_us": 100})
        self.wrong("wanted", judge.gradients_leave_early, {"first_gradient_us": 95, "last_gradient_us": 100})
        self.wrong("wanted", judge.gradients_leave_early, {"first_gradient_us": 0, "last_gradient_us": 0})

    def test_memory(self):
        steady = [(100 * i, 5000) for i in range(10)]
        judge.steady_memory(steady, 0)
        self.wrong("grows", judge.steady_memory, steady[:9] + [(900, 5001)], 0)
        judge.steady_memory(steady[:9] + [(900, 5001)], 1)
        judge.steady_memory([(0, 6000)] + steady[1:], 0)
        self.wrong("5 samples", judge.steady_memory, steady[:5], 0)
        self.wrong("over 90 steps", judge.steady_memory, [(10 * i, 5000) for i in range(10)], 0)
        self.wrong("0 samples", judge.steady_memory, [], 0)

    def test_metrics_of_a_gpu(self):
        told = {"ballast_worker_gpu_utilization": 0.4, "ballast_worker_gpu_memory_used_bytes": 2e9,
                "ballast_worker_gpu_memory_bytes": 8e10, "ballast_worker_gpu_clock_hertz": 1.98e9,
                'ballast_worker_gpu_throttled{reason="heat"}': 0.0}
        self.assertIn("1980 MHz", judge.gpu_metrics(told))
        for name in told:
            self.wrong("not served", judge.gpu_metrics, {key: value for key, value in told.items() if key != name})
        self.wrong("1 MHz", judge.gpu_metrics, {**told, "ballast_worker_gpu_clock_hertz": 1.4e6})
        self.wrong("utilization 40", judge.gpu_metrics, {**told, "ballast_worker_gpu_utilization": 40})
        self.wrong("utilization 0.00", judge.gpu_metrics, {**told, "ballast_worker_gpu_utilization": 0})

    def test_what_does_not_fit(self):
        said = ("allocating 3 GB. The model does not fit into the device's memory with 100000 examples at once; with 18211 "
                "it would. A slot has ...")
        self.assertEqual(judge.too_large(said, 100000), 18211)
        self.wrong("asked for", judge.too_large, said, 50000)
        self.wrong("asked for", judge.too_large, said.replace("18211", "100000"), 100000)
        self.wrong("asked for", judge.too_large, said.replace("18211", "0"), 100000)
        self.wrong("out of memory", judge.too_large, "CUDA: out of memory", 100000)

    def test_the_memory_checker(self):
        good = DOCTEST.format(7, 7, 0) + "\n" + NO_ERRORS
        self.assertIn("no leak", judge.memory_checker(0, good))
        judge.memory_checker(0, DOCTEST.format(7, 7, 0) + "\n========= RACECHECK SUMMARY: 0 hazards displayed (0 errors)")
        self.wrong("2 errors", judge.memory_checker, 0, good.replace("0 errors", "2 errors"))
        written = "========= COMPUTE-SANITIZER\n========= Invalid __global__ write of size 4 bytes\n=========     at relu\n"
        self.wrong("Invalid(.|\n)*at relu", judge.memory_checker, 0, written + good.replace("0 errors", "1 errors"))
        self.wrong("512 bytes leaked", judge.memory_checker, 0, good.replace("0 bytes leaked in 0", "512 bytes leaked in 1"))
        self.wrong("1 of 7", judge.memory_checker, 1, good.replace("7 passed | 0", "6 passed | 1"))
        self.wrong("no summary", judge.memory_checker, 0, DOCTEST.format(7, 7, 0))
        self.wrong("3 hazards", judge.memory_checker, 0, "========= RACECHECK SUMMARY: 3 hazards displayed (3 errors)")
        self.assertTrue(judge.checker_complains("========= Invalid __global__ write of size 4 bytes\n"))
        self.assertFalse(judge.checker_complains("========= COMPUTE-SANITIZER\nInvalid arguments are tested\n"))
        self.assertEqual(judge.refused("========= Error: Device not supported. Please ..."), "Device not supported")


class Counting(unittest.TestCase):
    def counted(self, *outcomes, limit=60):
        def part(outcome):
            def run():
                if isinstance(outcome, Exception):
                    raise outcome
                return outcome
            return run
        with contextlib.redirect_stdout(io.StringIO()):
            report = Report({}, limit)
            for number, outcome in enumerate(outcomes):
                report.run(f"part {number}", part(outcome))
            return report, report.finish()

    def test_exit_codes(self):
        self.assertEqual(self.counted("well")[1], 0)
        self.assertEqual(self.counted("well", NotRun("no data"))[1], 3)
        self.assertEqual(self.counted("well", NotRun("no data"), Wrong("differs"))[1], 1)
        self.assertEqual(self.counted()[1], 3)

    def test_the_rest_runs_on_after_a_failure(self):
        report, code = self.counted(ValueError("a mistake of the tests"), Wrong("differs"), "well")
        self.assertEqual([part["outcome"] for part in report.parts], ["failed", "failed", "passed"])
        self.assertIn("a mistake of the tests", report.parts[0]["text"])
        self.assertEqual(code, 1)

    def test_nothing_begins_after_the_limit(self):
        report, code = self.counted("well", limit=-1)
        self.assertEqual((report.count("not run"), code), (1, 3))


class MadeUpBundle:
    """Answers as told; `jobs`: name to summary or Wrong, in the place of whole runs."""

    backend = "cuda"

    def __init__(self, folder, jobs=None, gpus=1):
        self.runs, self.root, self.jobs = pathlib.Path(folder), pathlib.Path(folder), jobs or {}
        self.started, self.gpus = [], lambda: gpus

    def job(self, name, *_, **named):
        self.started.append((name, named.get("settings", ())))
        outcome = self.jobs[name]
        if isinstance(outcome, Exception):
            raise outcome
        (self.runs / name / "logs").mkdir(parents=True, exist_ok=True)
        for worker, log in enumerate(outcome.get("logs", [])):
            (self.runs / name / "logs" / f"worker-{worker}.log").write_text(log)
        return Job(self.runs / name, outcome)

    def start_job(self, name, *_, **__):
        (self.runs / name / "logs").mkdir(parents=True)
        (self.runs / name / "logs" / "worker-0.log").write_text(self.jobs[name])
        return subprocess.Popen(["sleep", "30"]), self.runs / name  # pylint: disable=consider-using-with

    @staticmethod
    def end_job(process, _):
        process.kill()
        process.wait()

    def losses(self, job):
        return job.summary["losses"]

    def environment(self, **_):
        return {}

    @staticmethod
    def program(name):
        return name

    @staticmethod
    def config(name):
        return name

    @staticmethod
    def run(*_, **__):
        return Ended(0, "", False)


class Parts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def outcomes(self, jobs, *names, **settings):
        """{name: its sentence or exception} of the parts whose names begin so."""
        suite = parts.Suite(MadeUpBundle(self.folder, jobs, **settings), self.folder, lambda: 60)
        self.bundle = suite.bundle
        found = {}
        for name, part in suite.parts():
            if any(name.startswith(wanted) for wanted in names):
                try:
                    found[name] = part()
                except (Wrong, NotRun) as raised:
                    found[name] = raised
        return list(found.values())

    def test_other_bits_are_noticed(self):
        two = summary(slots={"worker-0": 4, "worker-1": 4})
        jobs = {"one": summary(), "one-again": summary(weights=OTHER), "two-workers": two, "two-shards": two}
        again, workers, shards = self.outcomes(jobs, "the same bits")
        self.assertIsInstance(again, Wrong)
        self.assertIn("2 workers", workers)
        self.assertIn("2 workers", shards)
        jobs["one-again"], jobs["two-shards"] = summary(), {**two, "optimizer_sha256": ONE}
        again, workers, shards = self.outcomes(jobs, "the same bits")
        self.assertIsInstance(again, str)
        self.assertIsInstance(shards, Wrong)

    def test_workers_on_the_wrong_device_are_noticed(self):
        logs = ["... computes on GPU 0, A card, float32", "... computes on GPU 1, A card, float32"]
        jobs = {"two-workers": {**summary(), "logs": logs}}
        self.assertIsInstance(self.outcomes(jobs, "workers take", gpus=2)[0], str)
        self.assertIsInstance(self.outcomes(jobs, "workers take", gpus=1)[0], Wrong)
        jobs["two-workers"]["logs"] = [logs[0], "no GPU is used: ...\ncomputes on the cpu (oneDNN, 1 thread)"]
        self.assertIsInstance(self.outcomes(jobs, "workers take", gpus=2)[0], Wrong)

    def test_a_job_that_fails_is_run_once_and_fails_both_of_its_parts(self):
        found = self.outcomes({"lenet5": Wrong("the job lenet5 ended with code 1")}, "lenet5")
        self.assertTrue(all(isinstance(outcome, Wrong) for outcome in found), found)
        self.assertEqual(len(found), 2)
        self.assertEqual([name for name, _ in self.bundle.started], ["lenet5"])

    def test_losses_and_accuracy_of_one_job(self):
        curve = [2.3 - 0.03 * step for step in range(60)]
        jobs = {"mlp": {**summary(accuracy=0.98), "losses": curve}, "mlp-on-the-cpu": {**summary(), "losses": curve[:50]}}
        losses, accuracy = self.outcomes(jobs, "mlp")
        self.assertIsInstance(losses, str)
        self.assertIsInstance(accuracy, Wrong)

    def test_what_fits_is_tried(self):
        said = "x error worker does not fit into the device's memory with 100000 examples at once; with 18211 it would."
        told, tried = self.outcomes({"too-large": said, "what-fits": summary()}, "a micro-batch", "the micro-batch")
        self.assertIn("18211", told)
        self.assertIn("18211", tried)
        self.assertIn("training.batch=18211", self.bundle.started[-1][1])

    def test_without_a_number_nothing_is_tried(self):
        told, tried = self.outcomes({"too-large": "x error worker CUDA: out of memory"}, "a micro-batch", "the micro-batch")
        self.assertIsInstance(told, Wrong)
        self.assertIsInstance(tried, NotRun)

    def checked(self, script):
        """The memory checker's parts with this script in its place."""
        tool = pathlib.Path(self.folder) / "compute-sanitizer"
        tool.write_text("#!/bin/sh\n" + script)
        tool.chmod(0o755)
        with mock.patch("shutil.which", return_value=str(tool)):
            return self.outcomes({}, "memory checker")

    def test_the_memory_checker_is_heard(self):
        good = DOCTEST.format(7, 7, 0) + "\n" + NO_ERRORS
        self.assertTrue(all(isinstance(outcome, str) for outcome in self.checked(f"cat <<'E'\n{good}E\n")))
        bad = good.replace("0 errors", "1 errors")
        self.assertTrue(all(isinstance(outcome, Wrong) for outcome in self.checked(f"cat <<'E'\n{bad}E\n")))
        refused = self.checked("echo '========= Error: Device not supported'; exit 1")
        self.assertTrue(all(isinstance(outcome, NotRun) for outcome in refused))
        with mock.patch("shutil.which", return_value=None):
            self.assertTrue(all(isinstance(outcome, NotRun) for outcome in self.outcomes({}, "memory checker")))


if __name__ == "__main__":
    unittest.main()
