"""Peers that anybody may be: what they send, and what they do not read, grows no server, and the job goes on to the same
bits."""

import contextlib
import re
import threading
import time

import harness
import jobs
import keys
import metrics
import zmtp

MEBIBYTE = 1 << 20
PART = bytes([zmtp.MORE | zmtp.LONG]) + MEBIBYTE.to_bytes(8, "big") + bytes(MEBIBYTE)  # of a message that goes on
SMALL_MESSAGES = 20_000 * b"\x00\x01x"


class Stranger(threading.Thread):
    """Sends the same bytes again and again, and reads nothing; connects anew whenever it is cut."""

    def __init__(self, address, identity, burst, pause):
        super().__init__(daemon=True)
        self.address, self.identity, self.burst, self.pause = address, identity, burst, pause
        self.sent = 0
        self.connected = 0
        self.over = threading.Event()

    def run(self):
        while not self.over.is_set():
            with contextlib.suppress(OSError, AssertionError):  # cut, or refused
                with self.greeted() as connection:
                    self.connected += 1
                    while not self.over.is_set():
                        connection.sendall(self.burst)
                        self.sent += len(self.burst)
                        time.sleep(self.pause)

    @contextlib.contextmanager
    def greeted(self):
        """A connection after its handshake."""
        with zmtp.dealer(self.address, self.identity, 1) as peer:
            yield peer.connection

    def end(self):
        self.over.set()
        self.join()


class Hasty(Stranger):
    """Greets as who has a key does, and waits for nothing: what follows is no handshake."""

    @contextlib.contextmanager
    def greeted(self):
        with zmtp.connected(self.address, 1) as connection:
            connection.sendall(zmtp.greeting(b"CURVE"))
            yield connection


class Bounds(harness.ClusterCase):
    def begin(self, transport="ipc"):
        """Over ipc, where a run has no keys."""
        self.text = self.job(jobs.emulated(steps=150, compute_ms=20))
        run = self.start(self.text, options=["--workers", "2", "--lanes", "2", "--metrics"],
                         overrides={"cluster.transport": transport})
        run.wait_for_step(1)
        return run

    def addresses(self, run):
        """Of the lead and of each lane."""
        lanes = re.findall(r"lane \d listens on ((?:tcp|ipc)://\S+)", self.log(run))
        self.assertEqual(len(lanes), 2, lanes)
        return [run.lead(), *lanes]

    def log(self, run):
        return "".join(path.read_text() for path in sorted((run.folder / "logs").glob("shard-0.log*")))

    def strangers(self, run, burst, pause, kind=Stranger):
        found = [kind(address, b"w" + number.to_bytes(8, "little"), burst, pause)
                 for number, address in enumerate(self.addresses(run), 1)]
        for stranger in found:
            self.addCleanup(stranger.end)
            stranger.start()
        return found

    def growth_until(self, run, what, holds):
        """Of the server's resident memory at most, in MiB, until something holds."""
        status = f"/proc/{run.entry('server', 0)['pid']}/status"

        def resident():
            with open(status, encoding="utf-8") as lines:
                return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) // 1024

        before = most = resident()

        def checked():
            nonlocal most
            most = max(most, resident())
            return holds()

        run.wait_until(what, checked)
        return most - before

    def expect_undisturbed(self, run):
        summary = run.finish(patience=240)
        self.expect_equal_bits(summary, self.reference(self.text, jobs.AT_ONCE, patience=300))
        self.assertEqual(summary["worker_restarts"], 0, run.logs())
        self.assertEqual(summary["rollbacks"], 0, run.logs())

    def test_messages_that_never_end_are_cut_before_they_fill_the_memory(self):
        run = self.begin()
        strangers = self.strangers(run, PART, pause=0.005)
        growth = self.growth_until(run, "two GiB that were sent",
                                   lambda: sum(stranger.sent for stranger in strangers) >= 2048 * MEBIBYTE)
        for stranger in strangers:
            stranger.end()
        self.assertLess(growth, 1024, self.log(run))
        self.assertTrue(all(stranger.connected > 1 for stranger in strangers), [each.connected for each in strangers])
        self.assertRegex(self.log(run), r"\d+ MiB are allocated, \d+ more than .*: somebody sends what never ends")
        for who in ("lead", "lane 0", "lane 1"):
            self.assertRegex(self.log(run), who + r": cuts all who are connected to it: \d+ are connected: process \d+")
        self.expect_undisturbed(run)

    def test_small_messages_without_end_grow_neither_memory_nor_logs(self):
        run = self.begin()
        log_before = len(self.log(run))
        strangers = self.strangers(run, SMALL_MESSAGES, pause=0)
        until = time.monotonic() + 8
        growth = self.growth_until(run, "the end of eight seconds", lambda: time.monotonic() >= until)
        for stranger in strangers:
            stranger.end()
        self.assertTrue(all(stranger.sent > MEBIBYTE for stranger in strangers), [each.sent for each in strangers])
        self.assertLess(growth, 160, [each.sent for each in strangers])
        self.assertLess(len(self.log(run)) - log_before, MEBIBYTE)
        self.expect_undisturbed(run)

    def floods(self):
        """Parts without end, small messages, and pulls of a version that is gone."""
        pull = bytes.fromhex(self.told_by(harness.HOSTILE, "-", "pull"))
        self.assertLess(len(pull), 256)
        return [PART, SMALL_MESSAGES, 1000 * (bytes([0, len(pull)]) + pull)]

    def told_by(self, *words):
        answer = harness.call(*words)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return answer.stdout.strip()

    def unknown_key(self, run):
        """Made for this run's servers, which do not allow it."""
        self.ballast("keygen", self.folder / "elsewhere")
        of_the_run = (run.folder / "keys" / "worker.key").read_text()
        unknown = self.folder / "unknown.key"
        unknown.write_text("".join(f"{name} {value}\n" for name, value in (
            ("secret", keys.secret_of(self.folder / "elsewhere" / "worker.key")),
            ("server", re.search("^server (.+)$", of_the_run, re.M)[1]))))
        return unknown

    def with_unknown_key(self, run):
        """Processes that send parts without end once they are let in, which they are not."""
        key = self.unknown_key(run)
        return [self.start_process(harness.HOSTILE, address, "parts", key, 0, 600, out=self.folder / "unknown.log")
                for address in self.addresses(run)]

    def refused(self, run, *reasons):
        """How many handshakes for each of these reasons, by the lead and by each lane."""
        page = metrics.of(run, "server")
        return {reason: [metrics.value(page, "ballast_refused_handshakes_total", loop=loop, reason=reason)
                         for loop in ("lead", "lane 0", "lane 1")] for reason in reasons}

    def expect_few_lines(self, run, log_before):
        """Far fewer than there were refusals."""
        log = self.log(run)
        self.assertLess(len(log) - log_before, MEBIBYTE)
        told = log.count("refused a handshake") + log.count("more handshakes")
        count = sum(map(sum, self.refused(run, "unencrypted", "malformed", "unknown_key").values()))
        self.assertGreater(told, 0)
        self.assertGreater(count, 4 * told, log[-10_000:])
        self.assertLess(count, 1_000_000)  # each was a connection

    def test_a_server_with_keys_takes_in_nothing_of_strangers(self):
        """Who has no key, who greets as if there were one and floods at once, and who has one that is not allowed: nothing but
        refused handshakes."""
        run = self.begin("tcp")
        log_before = len(self.log(run))
        floods = self.floods()
        waiting = [one for flood in floods for one in self.strangers(run, flood, pause=0)]
        hasty = [one for flood in floods for one in self.strangers(run, flood, pause=0, kind=Hasty)]
        processes = self.with_unknown_key(run)

        def are_refused():
            counts = self.refused(run, "unencrypted", "malformed", "unknown_key")
            return (min(counts["unencrypted"] + counts["malformed"]) >= 100 and min(counts["unknown_key"]) >= 1
                    and sum(one.sent for one in hasty) >= 256 * MEBIBYTE)

        growth = self.growth_until(run, "refused handshakes", are_refused)
        for stranger in waiting + hasty:
            stranger.end()
        self.assertTrue(all(process.poll() is None for process in processes), harness.text_of(self.folder / "unknown.log"))
        for process in processes:
            process.kill()
        self.assertEqual([stranger.sent for stranger in waiting], [0] * len(waiting))
        self.assertTrue(all(stranger.sent > 0 for stranger in hasty), [stranger.sent for stranger in hasty])
        self.assertLess(growth, 64, self.log(run))
        self.expect_few_lines(run, log_before)
        page = metrics.of(run, "server")
        self.assertEqual(metrics.value(page, "ballast_lead_messages_refused_total"), 0)
        self.assertEqual(metrics.value(page, "ballast_shard_messages_refused_total"), 0)
        self.assertEqual(sorted(session["name"] for session in run.status()["sessions"]), ["worker-0", "worker-1"])
        self.expect_undisturbed(run)


class Keys(keys.ByHand):
    """With a key of its own one may speak: who sends what does not end is found by it."""

    WATCHED = 10  # seconds in which nothing more happens

    def setUp(self):
        super().setUp()
        self.ballast("keygen", self.made, "--add-worker", "hostile")
        self.hand_out()

    def told(self, text):
        return self.logs_of["server-0"]().count(text)

    def test_a_key_that_fills_connections_that_nobody_reads_is_refused(self):
        """ZeroMQ passes over a connection whose name another one has, and keeps what came by it after its end."""
        self.begin()
        workers = [self.worker("one"), self.worker("two")]
        self.train_on()
        lane = re.search(r"lane 0 listens on (tcp://\S+)", self.logs_of["server-0"]())[1]
        self.start_process(harness.HOSTILE, lane, "twins", self.made / "hostile.key", 600)
        blamed = ", over connections that nobody reads, with the key hostile alone: "
        self.wait_for("the first time", lambda: self.told(blamed + "if that happens again soon") == 1)
        self.wait_for("the second time", lambda: self.told(blamed + "it is refused for 60 s") == 1)
        self.train_on()
        stopped = self.ask("stop", "operator.key", 0)
        for process in [*workers, *self.servers.values()]:
            self.assertEqual(process.wait(self.patience), 0, self.logs())
        self.expect_bits_so_far(self.file, stopped, [self.folder / "shard-0", self.folder / "shard-1"])

    def send_parts(self, address, says_hello):
        return self.start_process(harness.HOSTILE, address, "parts", self.made / "hostile.key", says_hello, 600)

    def test_a_key_that_sends_messages_without_end_again_and_again_is_refused(self):
        """One connection has said hello, and one nothing that is whole."""
        self.begin()
        workers = [self.worker("one"), self.worker("two")]
        self.train_on()
        lane = re.search(r"lane 0 listens on (tcp://\S+)", self.logs_of["server-0"]())[1]
        hostile = [self.send_parts(self.lead, 1), self.send_parts(lane, 0)]
        blamed = ", with the key hostile alone: "
        self.wait_for("the first time", lambda: self.told(blamed + "if that happens again soon") == 1)
        self.wait_for("the second time", lambda: self.told(blamed + "it is refused for 60 s") == 1)
        self.wait_for("a refusal", lambda: self.told("its key is refused for a while"))
        before = self.told("MiB are allocated")
        self.assertGreaterEqual(before, 2, self.logs())  # more where a worker had been let in and not yet spoken
        until = time.monotonic() + self.WATCHED
        while time.monotonic() < until:
            self.train_on()
        self.assertEqual(self.told("MiB are allocated"), before, self.logs())
        self.assertTrue(all(each.poll() is None for each in hostile), "nobody has tried any more")
        self.assertEqual(self.status()["timeline"], 1)
        stopped = self.ask("stop", "operator.key", 0)
        for process in [*workers, *self.servers.values()]:
            self.assertEqual(process.wait(self.patience), 0, self.logs())
        self.expect_bits_so_far(self.file, stopped, [self.folder / "shard-0", self.folder / "shard-1"])


if __name__ == "__main__":
    harness.main()
