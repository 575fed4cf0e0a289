"""Stopped, paused, killed as a whole and resumed: the job goes on from its newest snapshot, to the same bits."""

import contextlib
import re
import signal

import harness
import jobs

STEPS = 60


class Control(harness.ClusterCase):
    def setUp(self):
        super().setUp()
        self.file = self.job(jobs.emulated(steps=STEPS, every_steps=10))

    def started(self, *more, **arguments):
        return self.start(self.file, options=["--workers", "2", "--shards", "2", *more], **arguments)

    def expect_reference(self, summary):
        self.assertEqual(summary["steps"], STEPS)
        self.expect_equal_bits(summary, self.reference(self.file, jobs.AT_ONCE))

    # ---- stop and pause

    def test_stop_and_resume_with_other_workers_and_lanes(self):
        run = self.started()
        run.wait_for_step(3)
        answer = run.control("stop")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        stop = re.match(r"stopped at step \d+ of 60, with a snapshot of step (\d+); go on with: ballast run --resume",
                        answer.stdout)
        self.assertTrue(stop, answer.stdout)
        self.assertEqual(run.wait(), 3, run.logs())
        run.expect_no_process()
        again = self.start(None, options=["--workers", "3", "--lanes", "2"])
        summary = again.finish()
        self.expect_reference(summary)
        self.assertEqual(summary["base_step"], int(stop[1]), summary)
        self.assertEqual(summary["rolled_back_steps"], 0, summary)
        self.assertEqual((summary["workers"], summary["lanes"], summary["shards"]), (3, 2, 2))
        self.assertIn(f"goes on from the snapshot of step {stop[1]} of 60", again.out.read_text())

    def test_pause_and_resume(self):
        run = self.started()
        run.wait_for_step(3)
        answer = run.control("pause")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        paused = run.status()
        self.assertEqual(paused["phase"], "paused")
        self.assertEqual(paused["snapshot"], paused["step"])
        self.assertIn(f"paused at step {paused['step']} of 60", answer.stdout)
        self.assertEqual(run.status()["step"], paused["step"])
        answer = run.control("resume")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        summary = run.finish()
        self.expect_reference(summary)
        self.assertEqual(summary["timeline"], 1, "a pause needs no recovery")

    def test_pause_outlives_the_lead_and_the_shards(self):
        run = self.started()
        run.wait_for_step(3)
        self.assertEqual(run.control("pause").returncode, 0)
        paused = run.status()
        for shard in (0, 1):
            victim = run.kill("server", shard)
            run.wait_until("its second life", lambda: run.entry("server", shard)["pid"] not in (None, victim))
            run.wait_until("the pause", lambda: (run.status() or {}).get("timeline", 0) == shard + 2
                           and run.status()["phase"] == "paused")
            self.assertEqual(run.status()["step"], paused["step"])
        self.assertEqual(run.control("resume").returncode, 0)
        summary = run.finish()
        self.expect_reference(summary)
        self.assertEqual(summary["rolled_back_steps"], 0, summary)

    def test_a_run_that_is_resumed_is_not_paused_any_more(self):
        run = self.started()
        run.wait_for_step(3)
        self.assertEqual(run.control("pause").returncode, 0)
        run.kill_all()
        again = self.start(None)
        self.expect_reference(again.finish())
        self.assertIn("it was paused, which is over", again.out.read_text())

    def test_stop_of_a_paused_job(self):
        run = self.started()
        run.wait_for_step(3)
        self.assertEqual(run.control("pause").returncode, 0)
        self.assertEqual(run.control("stop").returncode, 0)
        self.assertEqual(run.wait(), 3, run.logs())
        self.expect_reference(self.start(None).finish())

    @contextlib.contextmanager
    def while_nothing_is_heard(self, run):
        """By `ballast run`, which is suspended, until all servers have left."""
        servers = [run.entry("server", shard)["pid"] for shard in (0, 1)]
        run.process.send_signal(signal.SIGSTOP)
        try:
            yield
            self.wait_for("the servers to leave", lambda: not any(map(harness.is_alive, servers)))
        finally:
            run.process.send_signal(signal.SIGCONT)

    def test_stop_of_which_nobody_told_the_run(self):
        run = self.started()
        run.wait_for_step(3)
        with self.while_nothing_is_heard(run):
            self.assertEqual(run.control("stop").returncode, 0)
        self.assertEqual(run.wait(), 3, run.logs())
        self.assertNotIn("starting it again", run.errors())
        self.assertRegex(harness.text_of(run.out), r"stopped without a snapshot of its own.*: durable is the snapshot of step \d+")
        self.expect_reference(self.start(None).finish())

    def test_end_of_which_nobody_told_the_run(self):
        run = self.started()
        run.wait_for_step(3)
        with self.while_nothing_is_heard(run):
            pass
        self.expect_reference(run.finish())

    def test_nobody_to_stop(self):
        run = self.started()
        self.expect_reference(run.finish())
        answer = run.control("stop")
        self.assertEqual(answer.returncode, 1)
        self.assertIn(f"no process of the run in {run.folder} lives, and its job has finished", answer.stderr)
        looked_at = harness.ballast("doctor", run.folder)
        self.assertEqual(looked_at.returncode, 0, looked_at.stdout)
        self.assertIn(f"finished, step {STEPS} of {STEPS}", looked_at.stdout)

    # ---- resume

    def test_after_the_death_of_everything(self):
        run = self.started()
        run.wait_for_snapshot(10)
        run.kill_all()
        again = self.start(None)
        summary = again.finish()
        self.expect_reference(summary)
        self.assertGreaterEqual(summary["base_step"], 10)

    def test_twice_over_tcp(self):
        run = self.started(overrides={"cluster.transport": "tcp"})
        for snapshot in (10, 20):
            run.wait_for_snapshot(snapshot)
            run.kill_all()
            run = self.start(None)
        summary = run.finish()
        self.expect_reference(summary)
        self.assertGreaterEqual(summary["base_step"], 20)
        self.assertEqual(summary["timeline"], 3)

    def test_before_anything_began(self):
        run = self.started()
        run.wait_until("the first database", (run.folder / "shard-0" / "CURRENT").exists)
        run.kill_all()
        self.expect_reference(self.start(None).finish())

    # ---- refusals

    def refusal(self, *arguments):
        run = self.start(None, options=arguments)
        self.assertEqual(run.wait(), 1, run.logs())
        return run.errors()

    def test_two_runs_on_one_folder(self):
        run = self.started(overrides={"training.max_steps": 5000})
        run.wait_for_step(1)
        for text in (self.refusal(), self.second_run()):
            self.assertIn(f"another run uses the folder {run.folder} (started by process {run.process.pid})", text)
        run.wait_for_step(run.status()["step"] + 1)  # it has not noticed

    def second_run(self):
        run = self.start(self.file)
        self.assertEqual(run.wait(), 1, run.logs())
        return run.errors()

    def test_what_cannot_be_resumed(self):
        self.assertIn("no job.yaml", self.refusal())
        run = self.started()
        run.wait_for_step(1)
        self.assertEqual(run.control("stop").returncode, 0)
        run.wait()
        self.assertIn("training.seed (5 against 9)", self.refusal("--set", "training.seed=9"))
        self.assertIn("in 2 shards and cannot be resumed with 3", self.refusal("--shards", "3"))
        summary = self.start(None).finish()
        self.expect_reference(summary)
        self.assertIn("has finished, at step 60", self.refusal())
        self.assertIn("holds the database", self.second_run())


if __name__ == "__main__":
    harness.main()
