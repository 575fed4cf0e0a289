"""File descriptors: connections of strangers may take all that a server has, and the job goes on."""

import os
import resource
import select
import socket
import subprocess
import sys
import threading

import harness
import jobs

STRANGERS = 1092
USUAL = 1024  # the usual soft limit
NONE_FREE = "no file descriptor is free (1024 may be open)"
ENOUGH = 1500  # files that this test itself has open


def processor_seconds(pid):
    """What the process has used so far."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Strangers:
    """So many connections to an address that never say anything; one that is cut is made anew."""

    def __init__(self, address, count=STRANGERS):
        host, port = address.removeprefix("tcp://").rsplit(":", 1)
        self.to = (host, int(port))
        self.leaving = threading.Event()
        self.sockets = {}  # by descriptor
        self.poll = select.poll()
        self.thread = threading.Thread(target=self.knock, args=(count,), daemon=True)
        self.thread.start()

    def knock(self, count):
        while not self.leaving.is_set():
            while len(self.sockets) < count and not self.leaving.is_set():
                one = socket.socket()
                one.settimeout(0.5)
                try:
                    one.connect(self.to)
                except OSError:  # nobody lets it in now
                    one.close()
                    break
                self.sockets[one.fileno()] = one
                self.poll.register(one, select.POLLIN)
            for descriptor, _ in self.poll.poll(100):
                if not self.said_something(self.sockets[descriptor]):
                    self.poll.unregister(descriptor)
                    self.sockets.pop(descriptor).close()

    @staticmethod
    def said_something(one):
        try:
            return one.recv(1 << 12) != b""
        except OSError:
            return False

    def leave(self):
        self.leaving.set()
        self.thread.join()
        for one in self.sockets.values():
            one.close()
        self.sockets.clear()


class Descriptors(harness.ClusterCase):
    def setUp(self):
        super().setUp()
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        if before[1] < ENOUGH + USUAL:
            self.skipTest(f"at most {before[1]} files may be open here")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(before[0], ENOUGH), before[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, before)

    def strangers(self, run):
        strangers = Strangers(run.lead())
        self.addCleanup(strangers.leave)
        return strangers

    def log(self, run):
        return (run.folder / "logs" / "shard-0.log").read_text()

    @staticmethod
    def used_beside_a_spinner(pid):
        """Seconds of a processor while a process that spins has half a second: on a busy machine both have less."""
        with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as spinner:
            try:
                before = processor_seconds(pid)
                harness.wait_for(lambda: processor_seconds(spinner.pid) >= 0.5)
                return processor_seconds(pid) - before
            finally:
                spinner.kill()

    def test_where_the_limit_cannot_be_raised_a_full_server_waits_for_room_and_goes_on(self):
        job = self.job(jobs.emulated(steps=150, every_steps=5))
        run = self.start(job, options=["--workers", "2", "--lanes", "4", "--hold-start"],
                         overrides={"cluster.transport": "tcp"}, files=(USUAL, USUAL))
        run.wait_for_step(5)
        self.assertEqual(run.control("pause").returncode, 0)
        server = run.entry("server", 0)["pid"]
        idle = self.used_beside_a_spinner(server)
        strangers = self.strangers(run)
        run.wait_until("trouble", lambda: f"trouble: shard 0: {NONE_FREE}" in run.out.read_text())
        self.assertLess(self.used_beside_a_spinner(server), idle + 0.25, "the server spins")
        strangers.leave()
        run.wait_until("the end of it", lambda: "there are free file descriptors again" in self.log(run))
        resumed = run.control("resume")
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        # Those stay until the job has ended, and others come whenever there is room.
        shut = self.log(run).count(NONE_FREE)
        self.strangers(run)
        run.wait_until("trouble again", lambda: self.log(run).count(NONE_FREE) > shut)
        summary = run.finish()
        self.expect_equal_bits(summary, self.reference(job, jobs.AT_ONCE))
        self.assertEqual(summary["worker_restarts"], 0, run.logs())
        self.assertEqual(summary["rollbacks"], 0, run.logs())

    def test_the_soft_limit_is_raised_and_nobody_notices_the_strangers(self):
        job = self.job(jobs.emulated(steps=40))
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        run = self.start(job, options=["--workers", "2", "--lanes", "4", "--hold-start"],
                         overrides={"cluster.transport": "tcp"}, files=(USUAL, hard))
        run.wait_for_step(1)
        self.strangers(run)
        summary = run.finish()
        self.expect_equal_bits(summary, self.reference(job, jobs.AT_ONCE))
        self.assertNotIn("no file descriptor", run.out.read_text() + self.log(run))
        self.assertIn(f"{hard} files may be open", self.log(run))

    def test_a_job_that_declares_more_workers_than_there_are_files_for_is_refused_at_the_start(self):
        job = self.job(jobs.emulated(steps=4).replace("workers: 1", "workers: 200, lanes: 4"))
        address = f"ipc://{self.folder}/lead"
        answer = harness.call(harness.SERVER, "--job", job, "--shard", "0", "--lead", address, "--bind",
                              f"ipc://{self.folder}/lane", "--database", self.folder / "database",
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (USUAL, USUAL)))
        self.assertEqual(answer.returncode, 1, answer.stderr)
        self.assertRegex(answer.stderr, r"1024 files open, which hold \d+ workers \(5 connections each")
        self.assertIn("ulimit -n", answer.stderr)
        self.assertFalse((self.folder / "database").exists())


if __name__ == "__main__":
    harness.main()
