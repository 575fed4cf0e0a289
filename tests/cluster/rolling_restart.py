"""Servers that are told to end: the job holds at a snapshot for each, and no step is computed twice."""

import os
import re
import signal
import time

import harness
import jobs

STEPS = 240
OPTIONS = ["--workers", "3", "--shards", "3"]
# No snapshot comes by itself, so that going back to one would be noticed.
NEVER = 100000


class RollingRestart(harness.ClusterCase):
    expected = None  # of the job that all cases have

    def setUp(self):
        super().setUp()
        self.file = self.job(jobs.emulated(steps=STEPS, compute_ms=12, every_steps=NEVER))

    def expect_bits(self, summary):
        RollingRestart.expected = self.expected or self.reference(self.file, jobs.AT_ONCE, patience=3 * self.patience)
        self.expect_equal_bits(summary, self.expected)

    def begun(self, **arguments):
        run = self.start(self.file, options=OPTIONS, **arguments)
        run.wait_for_step(2)
        return run

    def tell(self, run, role, index, number=signal.SIGTERM):
        pid = run.entry(role, index)["pid"]
        os.kill(pid, number)
        return pid

    def wait_for_next_life(self, run, role, index, told):
        run.wait_until(f"the next life of {role} {index}",
                       lambda: run.entry(role, index)["pid"] not in (None, told))

    def wait_to_train_on(self, run, timeline=None):
        """Past where it is now, in that timeline if one is given."""
        def stands():
            status = run.status()
            return status if status and status["phase"] == "training" and timeline in (None, status["timeline"]) else None
        before = run.wait_until("training to go on", stands)["step"]
        run.wait_until("more steps", lambda: (stands() or {"step": 0})["step"] > before)

    def expect_held(self, run, server):
        log = run.folder / "logs" / f"shard-{server}.log"
        self.assertIn("told to end: the job holds at its newest snapshot until this server is started again", log.read_text())
        self.assertIn(f"shard {server} left as it was told to; starting it again", run.errors() + run.out.read_text())

    def expect_drained(self, run, worker):
        log = run.folder / "logs" / f"worker-{worker}.log"
        self.assertIn("stopped by SIGTERM: it has delivered what it had begun; the job goes on without it", log.read_text())
        self.assertIn(f"worker {worker} left as it was told to; starting it again",
                      run.errors() + run.out.read_text())

    def computed_slots(self, run):
        """Of all workers' lives, each of which ended well."""
        logs = [file.read_text() for file in run.folder.glob("logs/worker-*.log")]
        return sum(int(number) for log in logs for number in re.findall(r" it has computed (\d+) slots$", log, re.M))

    def expect_nothing_twice(self, run):
        summary = run.finish()
        self.expect_bits(summary)
        self.assertEqual(summary["rolled_back_steps"], 0, summary)
        self.assertEqual(summary["rollbacks"], 0, summary)
        return summary

    def test_one_process_after_the_other(self):
        run = self.begun()
        for server in (1, 0, 2):
            told = self.tell(run, "server", server)
            self.wait_for_next_life(run, "server", server, told)
            self.wait_to_train_on(run, timeline=2 + (1, 0, 2).index(server))
            self.expect_held(run, server)
        for worker in range(3):
            told = self.tell(run, "worker", worker)
            self.wait_for_next_life(run, "worker", worker, told)
            self.expect_drained(run, worker)
            self.wait_to_train_on(run)
        summary = self.expect_nothing_twice(run)
        self.assertEqual(summary["timeline"], 4, summary)

    def test_workers_finish_what_is_in_hand(self):
        """One after the other, while the others do their slots; slots are long, so that each is told in the midst of one.
        Without tails and copies, which may meet a slot that its holder has just begun: what a worker gives back alone
        comes to others."""
        text = jobs.emulated(steps=60, slots=12, compute_ms=60)
        file = self.job(text.replace("workers: 1", "workers: 1, redistribute: false"), "workers.yaml")
        run = self.start(file, options=OPTIONS)
        run.wait_for_step(2)
        for worker in (1, 0, 2):
            told = self.tell(run, "worker", worker)
            self.wait_for_next_life(run, "worker", worker, told)
            self.expect_drained(run, worker)
            self.wait_to_train_on(run)
        summary = run.finish()
        self.expect_equal_bits(summary, self.reference(file, jobs.AT_ONCE))
        self.expect_all_slots(summary, 12)
        self.assertEqual(summary["lost_workers"], 0, summary)
        # A new life is tried with slots that another one has as well, and may have begun by then.
        given_twice = summary["backups"] + summary["slots_tried"]
        self.assertIn(self.computed_slots(run) - 60 * 12, range(given_twice + 1), summary)

    def test_two_at_once_and_the_lead_among_them(self):
        run = self.begun()
        told = {server: self.tell(run, "server", server) for server in (1, 0)}
        for server, pid in told.items():
            self.wait_for_next_life(run, "server", server, pid)
        self.wait_to_train_on(run)
        for server in told:
            self.expect_held(run, server)
        self.expect_nothing_twice(run)

    def test_in_a_pause_which_outlives_it(self):
        run = self.begun()
        self.assertEqual(run.control("pause").returncode, 0)
        paused = run.status()
        told = self.tell(run, "server", 1, signal.SIGINT)
        self.wait_for_next_life(run, "server", 1, told)
        run.wait_until("the pause", lambda: (run.status() or {}).get("timeline") == 2 and run.status()["phase"] == "paused")
        self.assertEqual(run.status()["step"], paused["step"])
        self.assertEqual(run.control("resume").returncode, 0)
        self.expect_nothing_twice(run)

    def stand_still(self, run):
        """No step ends any more, and so no snapshot is complete. Returns what lets the workers go on."""
        workers = [run.entry("worker", worker)["pid"] for worker in range(3)]
        for pid in workers:
            os.kill(pid, signal.SIGSTOP)
        return lambda: [os.kill(pid, signal.SIGCONT) for pid in workers]

    def test_patience_with_a_snapshot_that_does_not_come(self):
        run = self.begun(overrides={"cluster.hold_patience": 1})
        go_on = self.stand_still(run)
        told = self.tell(run, "server", 1)
        self.wait_for_next_life(run, "server", 1, told)
        go_on()
        log = (run.folder / "logs" / "shard-1.log").read_text()
        self.assertRegex(log, r"told to end, and no snapshot was complete in the 1 s since \(cluster.hold_patience\): the "
                              r"job goes back to the snapshot of step 0, and steps 0 to \d+ are lost and computed again")
        self.assertIn("shard 1 exited with code 143; starting it again", run.errors() + run.out.read_text())
        summary = run.finish()
        self.expect_bits(summary)
        self.assertGreater(summary["rolled_back_steps"], 0, summary)
        self.assertEqual(summary["rollbacks_by_cause"]["shard"], 1, summary)

    def test_a_second_signal_ends_it_at_once(self):
        run = self.begun()
        go_on = self.stand_still(run)
        told = self.tell(run, "server", 2)
        time.sleep(0.5)
        self.assertTrue(harness.is_alive(told))
        began = time.monotonic()
        self.tell(run, "server", 2)
        run.wait_until("its end", lambda: not harness.is_alive(told))
        self.assertLess(time.monotonic() - began, 10)
        self.wait_for_next_life(run, "server", 2, told)
        go_on()
        self.expect_bits(run.finish())

    def test_others_wait_and_say_for_whom(self):
        run = self.begun()
        run.process.send_signal(signal.SIGSTOP)  # nobody starts it again meanwhile
        try:
            told = self.tell(run, "server", 1)
            self.wait_for("its end", lambda: not harness.is_alive(told))
            held = self.wait_for("word of it", lambda: re.search(r"shard 1.*, which was told to stop and is expected back",
                                                                (run.status() or {}).get("waits_for", ""))
                                 and run.status())
            time.sleep(1)
            self.assertEqual(run.status()["step"], held["step"])
            self.assertEqual(held["snapshot"], held["step"])
        finally:
            run.process.send_signal(signal.SIGCONT)
        self.wait_for_next_life(run, "server", 1, told)
        self.expect_nothing_twice(run)

    def test_with_a_journal_nobody_waits(self):
        file = self.job(jobs.in_small_chunks(jobs.emulated(60, 8, 20, "journal", f"mode: async\n  {jobs.MOMENTUM}", NEVER)),
                        "journal.yaml")
        run = self.start(file, options=["--workers", "2", "--shards", "2"])
        run.wait_for_step(2)
        told = self.tell(run, "server", 1)
        self.wait_for_next_life(run, "server", 1, told)
        self.wait_to_train_on(run)
        self.assertIn("stopped by SIGTERM: started again with the same command line it goes on from all that its journal",
                      (run.folder / "logs" / "shard-1.log").read_text())
        summary = run.finish()
        self.assertEqual((summary["timeline"], summary["resumed_shards"], summary["rolled_back_steps"]), (1, 1, 0), summary)
        self.expect_all_slots(summary, 8)


if __name__ == "__main__":
    harness.main()
