"""A job whose servers were started by hand goes on elsewhere, in a folder that `ballast gather` made of their databases."""

import os
import signal

import harness
import jobs

STEPS = 120
JOURNALED = f"mode: async\n  {jobs.MOMENTUM}"


class Gathered(harness.ClusterCase):
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
            status = harness.status_of(lead)
            return status and status["step"] >= step and status["snapshot"] > 0
        self.wait_for(f"step {step}", reached)

    def gather(self, first, second, run, *more):
        """What it says."""
        return self.ballast("gather", self.folder / first, self.folder / second, "--run-dir", self.folder / run, *more).stdout

    def gather_and_resume(self, options, *more):
        """What the run says, and its summary."""
        self.assertIn("go on with it here: ballast run --resume run\n", self.gather("beta", "alpha", "run", *more))
        run = self.start(None, options=options)
        summary = run.finish()
        return run.out.read_text(), summary

    def check_stopped(self, *more):
        lead = self.begin(jobs.emulated(steps=STEPS, every_steps=10))
        self.trained(lead, 15)
        self.assertIn("with a snapshot", self.ballast("stop", lead).stdout)
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
        self.assertIn("it has not finished", self.gather("alpha", "beta", "again"))

    def test_and_where_its_databases_are(self):
        self.check_stopped("--link")
        self.assertIn("the job has finished", self.gather("alpha", "beta", "again"))

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
