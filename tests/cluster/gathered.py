"""A job whose servers were started by hand goes on elsewhere, in a folder that `ballast gather` made of their databases."""

import json
import os
import signal
import subprocess

import harness
import jobs

STEPS = 120
JOURNALED = "mode: async\n  optimizer: {name: sgd, learning_rate: 0.05, momentum: 0.9}"


class Gathered(harness.ClusterCase):
    def ballast(self, *words):
        answer = subprocess.run([harness.BALLAST, *map(str, words)], capture_output=True, text=True,
                                timeout=harness.PATIENCE, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return answer.stdout

    def begin(self, text):
        """Two servers and a worker, and the lead's address. The databases have names that say nothing."""
        job = self.job(text.replace("shards: 1", "shards: 2"))
        lead_file = self.folder / "lead.address"
        server = [harness.SERVER, "--job", job]
        self.processes = [self.start_by_hand("server-0", *server, "--shard", "0", "--lead", "tcp://127.0.0.1:*",
                                             "--address-file", lead_file, "--database", self.folder / "alpha")[0]]
        self.wait_for("the lead", lead_file.exists)
        lead = lead_file.read_text().strip()
        self.processes.append(self.start_by_hand("server-1", *server, "--shard", "1", "--lead", lead, "--database",
                                                 self.folder / "beta")[0])
        self.processes.append(self.start_by_hand("worker", harness.WORKER, "--lead", lead)[0])
        return lead

    def trained(self, lead, step):
        def reached():
            answer = subprocess.run([harness.BALLAST, "status", "--json", lead], capture_output=True, text=True,
                                    timeout=harness.PATIENCE, check=False)
            status = json.loads(answer.stdout) if answer.returncode == 0 else {"step": 0, "snapshot": 0}
            return status["step"] >= step and status["snapshot"] > 0
        self.wait_for(f"step {step}", reached)

    def gather_and_resume(self, options, *more):
        """What the run says, and its summary."""
        said = self.ballast("gather", self.folder / "beta", self.folder / "alpha", "--run-dir", self.folder / "run", *more)
        self.assertIn(f"go on with it here: ballast run --resume {self.folder / 'run'}", said)
        run = self.start(None, options=options)
        summary = run.finish()
        return run.out.read_text(), summary

    def check_stopped(self, *more):
        lead = self.begin(jobs.emulated(steps=STEPS, every_steps=10))
        self.trained(lead, 15)
        self.assertIn("with a snapshot", self.ballast("stop", lead))
        for process in self.processes:
            self.assertEqual(process.wait(timeout=harness.PATIENCE), 0)
        said, summary = self.gather_and_resume(["--workers", "3"], *more)
        self.assertRegex(said, "goes on from the snapshot of step [1-9]")
        self.assertEqual(summary["steps"], STEPS, summary)
        self.assertGreater(summary["base_step"], 0, summary)
        self.expect_equal_bits(summary, self.reference(self.folder / "job.yaml", jobs.AT_ONCE))

    def test_a_stopped_job_goes_on_to_the_same_bits(self):
        self.check_stopped()
        # The copies went on; what they were made of is as it was.
        again = self.ballast("gather", self.folder / "alpha", self.folder / "beta", "--run-dir", self.folder / "again")
        self.assertIn("it has not finished", again)

    def test_and_where_its_databases_are(self):
        self.check_stopped("--link")
        again = self.ballast("gather", self.folder / "alpha", self.folder / "beta", "--run-dir", self.folder / "again")
        self.assertIn("the job has finished", again)

    def test_one_whose_machines_died_goes_on_from_its_journals(self):
        lead = self.begin(jobs.emulated(steps=STEPS, every_steps=10, training=JOURNALED).replace(
            "durability: {", "durability: {mode: journal, "))
        self.trained(lead, 15)
        for process in self.processes:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        said, summary = self.gather_and_resume([])
        self.assertIn(", and from the journals of what came after it", said)
        self.assertEqual(summary["steps"], STEPS, summary)
        self.assertEqual(summary["rollbacks"], 0, summary)


if __name__ == "__main__":
    harness.main()
