"""`ballast run --watch`: a Prometheus of the run's own asks all its processes, also those that are started again, and ends with it.
Needs Debian's package prometheus for that; where there is none the run goes on without."""

import json
import os
import re
import shutil
import urllib.request

import harness
import jobs


class WatchedRun(harness.ClusterCase):
    def begin(self, environment=None):
        self.run_ = self.start(self.job(jobs.emulated(steps=100000, slots=4, compute_ms=10)),
                               options=["--workers", "2", "--shards", "1", "--watch"], environment=environment)
        self.run_.wait_for_step(3)

    def targets(self):
        return {group["labels"]["instance"]: group["targets"][0]
                for group in json.loads((self.run_.folder / "targets.json").read_text())}

    def test_its_prometheus_has_all_processes(self):
        if shutil.which("prometheus") is None:
            self.skipTest("no prometheus is installed (Debian: prometheus)")
        self.begin()
        address = re.search(r"^Prometheus at (http://127\.0\.0\.1:\d+)$", self.run_.out.read_text(), re.MULTILINE)[1]

        def up():
            try:
                with urllib.request.urlopen(f"{address}/api/v1/query?query=ballast_process_info%20and%20on(instance)%20up==1") as answer:
                    found = json.load(answer)["data"]["result"]
            except OSError:
                return None
            return {(one["metric"]["job"], one["metric"]["instance"]) for one in found}
        all_of_it = {(self.run_.folder.name, name) for name in ("shard-0", "worker-0", "worker-1")}
        self.wait_for("all processes", lambda: up() == all_of_it)
        self.assertEqual(set(self.targets()), {"shard-0", "worker-0", "worker-1"})
        before = self.targets()["worker-1"]
        self.run_.kill("worker", 1)
        self.wait_for("its next life", lambda: self.targets().get("worker-1") not in (None, before))
        self.wait_for("all processes again", lambda: up() == all_of_it)
        self.assertEqual(self.run_.control("stop").returncode, 0)
        self.run_.wait()
        self.assertEqual(self.targets(), {})
        with self.assertRaises(OSError):
            urllib.request.urlopen(address)
        self.assertTrue(any((self.run_.folder / "prometheus").iterdir()))

    def test_without_one_the_run_goes_on(self):
        self.begin(environment={"PATH": str(self.folder)})
        self.assertIn("no Prometheus is installed", self.run_.out.read_text())
        self.assertEqual(len(self.targets()), 3)


if __name__ == "__main__":
    harness.main()
