"""What `ballast advise` says of a job before it runs, beside what its steps take then: on hosts of its own, with rates of their
links. And what it refuses. Needs root and iproute2 for the former."""

import json
import pathlib
import re
import sys
import unittest

import harness
import hosts

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "advise"))

import foretold  # pylint: disable=wrong-import-position

FACTOR = 1.5
JOB = """\
job: small
model: {name: emulated, compute_ms: 2, parameters: [{name: w, shape: [300, 1000]}]}
data: {name: none}
training: {slots: 4, batch: 4, max_steps: 5, optimizer: {name: sgd, learning_rate: 0.1}}
cluster: {workers: 2}
"""


class Advise(harness.ClusterCase):
    def job(self, text=JOB, name="job.yaml"):
        path = self.folder / name
        path.write_text(text)
        return path

    def probed(self, *words):
        path = self.folder / "probe.json"
        self.ballast("probe", self.job(), "--seconds", 0.1, "-o", path, *words)
        return path

    def refused(self, *words):
        return self.ballast("advise", *words, code=2).stderr

    @unittest.skipIf(hosts.unfit(), hosts.unfit())
    def test_a_step_takes_about_what_was_foretold(self):
        # Bound by the servers' link, which leaves the processors in peace.
        case = foretold.Case("link", workers=2, slots=8, slot=0.04, link=40e6, server=40e6)
        said, foretold_ms, measured_ms = foretold.compare(case, self.folder)
        print(f"foretold {foretold_ms:.0f} ms, measured {measured_ms:.0f} ms", said["limit"])
        self.assertLess(measured_ms, FACTOR * foretold_ms)
        self.assertLess(foretold_ms, FACTOR * measured_ms)

    def test_this_machine_is_probed_where_no_files_are_given(self):
        answer = self.ballast("advise", self.job(), "--workers", 2)
        self.assertRegex(answer.stdout, r"advised: \d workers?, 1 shard of \d lanes?; a step takes \d")
        self.assertIn("as the job says", answer.stdout)
        self.assertIn("not known: ", answer.stdout)
        told = json.loads(self.ballast("advise", self.job(), "--workers", 2, "--json").stdout)
        self.assertEqual((told["own"]["workers"], told["own"]["shards"]), (2, 1))
        self.assertGreaterEqual(told["own"]["step_ms"], 2 * 2)  # two slots of 2 ms each

    def test_a_probe_goes_to_standard_output_or_a_file(self):
        told = json.loads(self.ballast("probe", self.job(), "--seconds", 0.1).stdout)
        self.assertGreater(told["processors"], 0)
        self.assertGreaterEqual(min(told["worker"]["alone_us"]), 1900)
        probe = self.probed()
        answer = self.ballast("advise", self.job(), "--server", probe, "--worker", probe, "--servers", 2)
        self.assertRegex(answer.stdout, "up to 2 machines of servers(?s:.*)not known: what workers' links carry")

    def test_files_that_are_none_are_named_with_what_to_do(self):
        job, good, bad = self.job(), self.probed(), self.folder / "bad.json"
        for text, why in (("", "is no file of `ballast probe`"), ("{}", "is no file"), ("\0\1\2", "is no file"),
                          (good.read_text().replace('"ballast_probe": 1', '"ballast_probe": 7'), "is of version 7"),
                          (good.read_text().replace('"alone_us"', '"alone"'), "worker.alone_us is missing"),
                          (re.sub(r'"processors": [0-9.]+', '"processors": -1', good.read_text(), count=1), "processors")):
            bad.write_text(text)
            told = self.refused(job, "--server", good, "--worker", bad)
            self.assertIn(str(bad), told)
            self.assertIn(why, told)
            self.assertIn("make it anew with `ballast probe", told)
        self.assertIn("cannot be read", self.refused(job, "--server", good, "--worker", self.folder / "none"))

    def test_probes_of_another_job_or_for_something_else_are_refused(self):
        good = self.probed()
        other = self.job(JOB.replace("small", "other"), "other.yaml")
        self.assertIn("is of another job, small", self.refused(other, "--server", good, "--worker", good))
        changed = self.job(JOB.replace("[300, 1000]", "[400, 1000]"), "changed.yaml")
        self.assertIn("with other values", self.refused(changed, "--server", good, "--worker", good))
        server = self.probed("--as", "server")
        self.assertIn("says nothing of a worker", self.refused(self.job(), "--server", server, "--worker", server))
        self.assertIn("none of both", self.refused(self.job(), "--server", good))

    def test_options_that_would_say_nothing_are_refused(self):
        for option in ("--servers", "--server-mbit"):
            self.assertIn("say --server and --worker", self.refused(self.job(), option, 2))
        for words in (("--to", "127.0.0.1:1"), ("--as", "server"), ("-o", self.folder / "none")):
            self.assertIn(words[0], self.ballast("probe", "--listen", "127.0.0.1:0", *words, code=2).stderr)

    def test_of_jobs_in_items_a_bound_is_told_and_said_to_be_one(self):
        told = self.ballast("advise", self.job(), "--workers", 2, "--set", "training.mode=async").stdout
        self.assertIn("a replay of rounds does not stand for async and ssp", told)
        self.assertRegex(told, r"advised: \d workers?, 1 shard")

    def test_a_job_file_that_is_wrong_is_named(self):
        self.assertIn("job.yaml", self.refused(self.job(JOB.replace("slots: 4", "slots: none"))))
        self.ballast("probe", code=2)
        self.assertIn("ballast probe --listen", self.ballast("probe", self.job(), "--seconds", 0.1, "--to", "127.0.0.1:1",
                                                            code=1).stderr)


if __name__ == "__main__":
    harness.main()
