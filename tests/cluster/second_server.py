"""Two servers for one shard, and servers that come without their database: the job that works goes on, what lacks the
snapshot is never taken, and everybody is told what to do."""

import json
import os
import re
import signal
import subprocess
import time

import harness
import jobs


class ServerByHand:
    """A ballast-server that the test starts, with its log."""

    def __init__(self, case, job, shard, lead, database, name):
        self.case = case
        self.log = case.folder / f"{name}.log"
        command = [harness.SERVER, "--job", job, "--shard", str(shard), "--lead", lead, "--database", database,
                   "--bind", f"ipc://{case.folder}/{name}", "--log-file", self.log]
        with open(case.folder / f"{name}.err", "wb") as err:
            self.process = subprocess.Popen([os.fspath(word) for word in command], stdout=err, stderr=err,
                                            stdin=subprocess.DEVNULL)
        case.addCleanup(self.process.wait)
        case.addCleanup(self.process.kill)

    def text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def wait_for(self, pattern):
        """Until the log holds it."""
        limit = time.monotonic() + harness.PATIENCE
        while time.monotonic() < limit:
            if re.search(pattern, self.text()):
                return
            time.sleep(0.05)
        self.case.fail(f"waited {harness.PATIENCE} s for {pattern!r} in {self.log}:\n{self.text()}")


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
        answer = subprocess.run([harness.BALLAST, "status", "--json", self.lead], capture_output=True, check=False,
                                timeout=harness.PATIENCE)
        return json.loads(answer.stdout) if answer.returncode == 0 else {}

    def wait_until(self, what, holds):
        limit = time.monotonic() + harness.PATIENCE
        while time.monotonic() < limit:
            status = self.status()
            if holds(status):
                return status
            time.sleep(0.05)
        logs = "\n".join(f"---- {log.name}\n{log.read_text()[-3000:]}" for log in sorted(self.folder.glob("*.log")))
        return self.fail(f"waited {harness.PATIENCE} s for {what}; {status}\n{logs}")

    def check_of(self, lost, waits_for):
        servers = [self.server(0), self.server(1)]
        worker = subprocess.Popen([harness.WORKER, "--lead", self.lead, "--name", "worker"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        self.wait_until("a snapshot", lambda status: status.get("snapshot", 0) >= 10)
        servers[lost].kill()
        empty = self.server(lost, "empty")
        status = self.wait_until("the right database", lambda status: status.get("waits_for"))
        self.wait_until(waits_for, lambda status: re.search(waits_for, status.get("waits_for", "")))
        self.assertIn("ballast restore", self.status()["waits_for"], status)
        empty.kill()
        servers[lost] = self.server(lost)
        for server in servers:
            self.assertEqual(server.process.wait(harness.PATIENCE), 0, server.text())
        self.assertEqual(worker.wait(harness.PATIENCE), 0)
        answer = subprocess.run([harness.BALLAST, "digest", self.folder], capture_output=True, text=True,
                                check=False, timeout=harness.PATIENCE)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.expect_equal_bits(json.loads(answer.stdout), self.reference(self.file, jobs.AT_ONCE))

    def test_of_a_shard(self):
        self.check_of(1, r"shard 1: the server at \S+ \(database [0-9a-f]{16}, life 1\) is not taken, for its database "
                         r"lacks the snapshot of step \d+ \(timeline 1\)")

    def test_of_shard_0_and_the_ledger(self):
        self.check_of(0, r"shard 0's ledger, for its database has none, but shard 1's holds timeline 1 of this job")


if __name__ == "__main__":
    harness.main()
