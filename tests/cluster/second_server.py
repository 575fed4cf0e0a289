"""Two servers for one shard, and servers that come without their database: the job that works goes on, what lacks the
snapshot is never taken, and everybody is told what to do."""

import re
import signal

import harness
import jobs


class ServerByHand:
    """A ballast-server that the test starts, with its log."""

    def __init__(self, case, job, shard, lead, database, name):
        self.case = case
        self.name = name
        self.process, self.text = case.start_by_hand(name, harness.SERVER, "--job", job, "--shard", shard, "--lead", lead,
                                                     "--database", database, "--bind", f"ipc://{case.folder}/{name}")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def wait_for(self, pattern):
        """Until the log holds it."""
        self.case.wait_for(f"{pattern!r} in the log of {self.name}", lambda: re.search(pattern, self.text()))


class SecondServer(harness.ClusterCase):
    """Beside a healthy run."""

    def start_run(self, steps=90, shards=2):
        self.file = self.job(jobs.emulated(steps=steps, every_steps=10))
        return self.start(self.file, options=["--workers", "2", "--shards", str(shards)])

    def second(self, run, shard, database, name="second"):
        return ServerByHand(self, run.folder / "job.yaml", shard, run.lead(), self.folder / database, name)

    def expect_undisturbed(self, run):
        summary = run.finish()
        self.expect_equal_bits(summary, self.reference(self.file, jobs.AT_ONCE))
        self.assertEqual((summary["timeline"], summary["rollbacks"], summary["restarted_shards"]), (1, 0, 0), summary)

    def check_beside_a_live_one(self, wait):
        run = self.start_run()
        wait(run)
        second = self.second(run, 1, "empty")
        second.wait_for("the lead does not take this server")
        own = re.search(r"database [0-9a-f]{16}, life 1", second.text())[0]
        trouble = run.wait_until("the lead's word of it", lambda: (run.status() or {}).get("trouble"))
        for text in (trouble, second.text()):
            self.assertIn(f"shard 1: the server at ipc://{self.folder}/second", text)
            self.assertIn(own, text)
            self.assertRegex(text, r"for the one at \S+ \(database [0-9a-f]{16}, life 1\) is heard of")
            self.assertIn("--shard", text)
        self.expect_undisturbed(run)
        self.assertEqual(second.process.wait(harness.PATIENCE), 1)
        self.assertIn("holds nothing of its end", second.text())

    def test_beside_a_live_one_after_a_snapshot(self):
        self.check_beside_a_live_one(lambda run: run.wait_for_snapshot(10))

    def test_beside_a_live_one_before_any_snapshot(self):
        self.check_beside_a_live_one(lambda run: run.wait_for_phase("training"))

    def test_with_the_database_of_another_shard(self):
        run = self.start_run(shards=3)
        run.wait_for_phase("training")
        second = self.second(run, 1, "of-shard-1")
        second.wait_for("the lead does not take this server")
        second.kill()
        mistyped = self.second(run, 2, "of-shard-1", "mistyped")
        self.assertEqual(mistyped.process.wait(harness.PATIENCE), 1)
        self.assertIn("shard index: 1 there, 2 here", mistyped.text())
        self.expect_undisturbed(run)


class WithoutItsVolume(harness.ClusterCase):
    """Servers and a worker started by hand, as a container runtime does it."""

    def setUp(self):
        super().setUp()
        self.file = self.job(jobs.emulated(steps=90, every_steps=10).replace("shards: 1", "shards: 2"))
        self.lead = f"ipc://{self.folder}/lead"
        self.lives = 0

    def server(self, shard, database=None):
        self.lives += 1
        return ServerByHand(self, self.file, shard, self.lead, self.folder / (database or f"shard-{shard}"),
                            f"server-{shard}-{self.lives}")

    def status(self):
        return harness.status_of(self.lead) or {}

    def check_of(self, lost, waits_for):
        servers = [self.server(0), self.server(1)]
        worker = self.start_process(harness.WORKER, "--lead", self.lead, "--name", "worker",
                                    out=self.folder / "worker.log")
        self.wait_for("a snapshot", lambda: self.status().get("snapshot", 0) >= 10)
        servers[lost].kill()
        empty = self.server(lost, "empty")
        self.wait_for(waits_for, lambda: re.search(waits_for, self.status().get("waits_for", "")))
        self.assertIn("ballast restore", self.status()["waits_for"])
        empty.kill()
        servers[lost] = self.server(lost)
        for server in servers:
            self.assertEqual(server.process.wait(harness.PATIENCE), 0, server.text())
        self.assertEqual(worker.wait(harness.PATIENCE), 0)
        self.expect_equal_bits(self.digest_of(self.folder), self.reference(self.file, jobs.AT_ONCE))

    def test_of_a_shard(self):
        self.check_of(1, r"shard 1: the server at \S+ \(database [0-9a-f]{16}, life 1\) is not taken, for its database "
                         r"lacks the snapshot of step \d+ \(timeline 1\)")

    def test_of_shard_0_and_the_ledger(self):
        self.check_of(0, r"shard 0's ledger, for its database has none, but shard 1's holds timeline 1 of this job")


if __name__ == "__main__":
    harness.main()
