"""What comes again and again is told by its number."""

import contextlib
import http.server
import os
import re
import signal
import socket
import subprocess
import threading
import time

import harness
import jobs

MEBIBYTE = 1 << 20
LINGER = 6           # seconds
HELLOS = 5_000        # whose names have twenty times the bytes that a log may grow by
LONGEST_NAME = 4096  # bytes, as a message may have it
GREETING = b"\xff" + 8 * b"\0" + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + 32 * b"\0"  # of ZMTP 3.0


def stranger(lead):
    """A raw connection to a lead over ipc; over tcp a run has keys, and hears no stranger."""
    peer = socket.socket(socket.AF_UNIX)
    peer.settimeout(harness.PATIENCE)
    peer.connect(lead.removeprefix("ipc://"))
    return peer


def command(name, body):
    content = bytes([len(name)]) + name + body
    return b"\x04" + bytes([len(content)]) + content


def ready():
    name, value = b"Socket-Type", b"DEALER"
    return command(b"READY", bytes([len(name)]) + name + len(value).to_bytes(4, "big") + value)


class Http(http.server.BaseHTTPRequestHandler):
    """Answers whatever comes as HTTP servers do, and counts the connections."""

    connections = 0

    def setup(self):
        Http.connections += 1
        super().setup()

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass


class Floods(harness.ClusterCase):
    def test_a_worker_that_is_pointed_at_an_http_server_does_not_fill_the_disk(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Http)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        log = self.folder / "worker.log"
        address = f"tcp://127.0.0.1:{server.server_port}"
        self.start_process(harness.WORKER, "--lead", address, "--name", "w", "--log-file", log)
        self.wait_for("connections", lambda: Http.connections >= 4)
        self.wait_for("the silence", lambda: f"no lead has answered at {address}" in log.read_text())
        lines = log.read_text().splitlines()
        self.assertLess(len(lines), 10, lines[-5:])
        self.assertRegex(log.read_text(), f"what answers at the lead's address {address} (cannot be read|does not let this worker in: "
                                          "it breaks off the handshake: it is no server of Ballast)")

    def test_a_stranger_that_talks_nonsense_does_not_fill_the_disk(self):
        run = self.start(self.job(jobs.emulated(steps=2000)), options=["--workers", "1"])
        run.wait_for_step(1)
        log = run.folder / "logs" / "shard-0.log"
        before = log.read_text().count("\n")
        with stranger(run.lead()) as peer:
            peer.sendall(GREETING)
            peer.recv(64, socket.MSG_WAITALL)
            peer.sendall(ready())
            drain = threading.Thread(target=lambda: [None for _ in iter(lambda: peer.recv(1 << 16), b"")], daemon=True)
            drain.start()
            for number in range(20):
                peer.sendall(b"".join(b"\x00\x08" + (1000 * number + i).to_bytes(8, "big") for i in range(1000)))
            self.wait_for("the count", lambda: "more lines like this in" in log.read_text())
            peer.shutdown(socket.SHUT_RDWR)
            drain.join()
        lines = log.read_text().splitlines()[before:]
        self.assertLess(len(lines), 200, lines[-5:])
        told = sum(int(line.split(" more lines like this")[0].rsplit(" ", 1)[1])
                   for line in lines if "more lines like this" in line)
        self.assertGreater(told, 10_000, lines[-5:])
        self.assertEqual(run.control("stop").returncode, 0)
        run.wait()

    def test_names_that_anybody_may_invent_do_not_fill_the_disk(self):
        """Each hello is welcomed, and so has been heard; its name may be in the log, and in a status."""
        run = self.start(self.job(jobs.emulated(steps=2000)), options=["--workers", "1"])
        run.wait_for_step(1)
        log = run.folder / "logs" / "shard-0.log"
        before = log.stat().st_size
        answer = harness.call(harness.HOSTILE, run.lead(), "names", HELLOS, LONGEST_NAME)
        self.assertEqual(answer.stdout, f"{HELLOS} welcomed\n", answer.stderr + run.logs())
        self.wait_for("a long name in the log", lambda: "x" * (LONGEST_NAME - 10) in log.read_text())
        self.assertLess(log.stat().st_size - before, MEBIBYTE)
        self.assertEqual(run.control("stop").returncode, 0)
        run.wait()

    def test_a_server_ends_though_strangers_connect_to_what_has_ended(self):
        """The job is over, and the lead lingers: its lane lets nobody in any more."""
        file = self.folder / "lead"
        server, log = self.start_by_hand(
            "server", harness.SERVER, "--job", self.job(jobs.glyphs(steps=2)), "--shard", "0", "--lead", "tcp://127.0.0.1:*",
            "--address-file", file, "--database", self.folder / "shard-0", "--linger", LINGER)
        self.wait_for("the lead", file.exists)
        self.start_by_hand("worker", harness.WORKER, "--lead", file.read_text().strip())
        self.wait_for("the end of the job", lambda: "lead: finished" in log())
        lane = int(re.search(r"lane 0 listens on tcp://127.0.0.1:(\d+)", log())[1])
        for _ in range(2000):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", lane), timeout=1).close()
        self.assertEqual(self.ballast("status", file.read_text().strip()).returncode, 0)
        self.assertEqual(server.wait(self.patience), 0, self.logs())

    def test_a_stop_that_waits_for_a_shard_says_so_once(self):
        run = self.start(self.job(jobs.emulated(steps=2000)), options=["--workers", "1", "--shards", "2"])
        run.wait_for_step(1)
        shard = run.entry("server", 1)["pid"]
        os.kill(shard, signal.SIGSTOP)
        told = []
        try:
            run.wait_until("a silent shard", lambda: "shard 1" in (run.status() or {}).get("waits_for", ""))
            with subprocess.Popen([harness.BALLAST, "stop", run.folder], stderr=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True) as stop:
                time.sleep(4)
                os.kill(shard, signal.SIGCONT)
                told = stop.communicate(timeout=harness.PATIENCE)[1].splitlines()
        finally:
            if not told:
                os.kill(shard, signal.SIGCONT)
        self.assertLess(len(told), 8, told)
        self.assertTrue(any("shard 1" in line for line in told), told)
        run.wait()


if __name__ == "__main__":
    harness.main()
