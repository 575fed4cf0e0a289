"""Peers of other versions of the protocol: one too old or too new is told so in one line with both versions, on both sides,
and ends with a code of its own instead of asking for ever; what one of the version before says counts.

The peers are the test's own: they send recorded frames (tests/wire13), of their version or with another one's number. What
programs of the version before do beside these is tests/cluster/old_binaries.py.
"""

import pathlib
import struct
import sys
import threading

import harness
import jobs
import zmtp

WIRE = pathlib.Path(__file__).resolve().parents[1] / "wire13"
sys.path.insert(0, str(WIRE))

import frames  # noqa: E402

PREVIOUS, NEWEST = 13, 14
TOO_OLD, TOO_NEW = PREVIOUS - 1, NEWEST + 1
SCHEMA = frames.Schema(WIRE / "wire13.fbs")
RECORDED = [frames.Frame(SCHEMA, data) for data in frames.read_all(WIRE / "recorded.frames")]
BOTH = f"versions {PREVIOUS} to {NEWEST}"


def recorded(kind, version=PREVIOUS, holds=""):
    """The first recorded frame of the kind that says `holds`, as if it were of the version."""
    frame = next(frame for frame in RECORDED if frame.kind == kind and holds in "\n".join(frame.lines()))
    return frame.of_version(version)


def refusal(version):
    """Of the version of what was heard."""
    return frames.Frame(SCHEMA, recorded("Refused", version, "unknown_session")).with_word("code", "wrong_protocol")


def session(number):
    return b"w" + struct.pack("<Q", number)


class Versions(harness.ClusterCase):
    def expect_line(self, text, *words):
        """One line has all the words, and no other line says the same again."""
        lines = [line for line in text.splitlines() if all(word in line for word in words)]
        self.assertEqual(len(lines), 1, text)

    # ---- who connects to a lead of another version

    def refused_by(self, version, *words):
        """How a program ends that asks a lead which refuses its version, in this version; and what the lead heard."""
        router = zmtp.Router(lambda _: refusal(version), self.patience)
        self.addCleanup(router.close)
        thread = threading.Thread(target=router.serve_one, daemon=True)
        thread.start()
        answer = harness.call(*[router.address if word == "LEAD" else word for word in words], timeout=self.patience)
        thread.join(self.patience)
        return answer, router.heard

    def check_ends(self, *words):
        for version, what in ((TOO_OLD, "too old"), (TOO_NEW, "too new")):
            with self.subTest(version=version, program=str(words[0])):
                answer, heard = self.refused_by(version, *words)
                self.assertEqual(answer.returncode, 4, answer.stderr)
                self.expect_line(answer.stderr, f"speaks protocol version {version}, {what}", BOTH)
                self.assertEqual({frames.Frame(SCHEMA, message[0]).version for message in heard}, {NEWEST})

    def test_a_worker_ends(self):
        self.check_ends(harness.WORKER, "--lead", "LEAD", "--name", "new")

    def test_a_server_ends_and_leaves_nothing_behind(self):
        job = self.job(jobs.glyphs(steps=2).replace("shards: 1", "shards: 2"))
        database = self.folder / "shard-1"
        self.check_ends(harness.SERVER, "--job", job, "--shard", "1", "--lead", "LEAD", "--bind", "tcp://127.0.0.1:*",
                        "--database", database)
        self.assertFalse(database.exists())

    def test_commands_end(self):
        for command in ("status", "watch", "stop", "pause", "resume"):
            self.check_ends(harness.BALLAST, command, "LEAD")

    def test_a_lead_that_speaks_none_of_ours_says_so_in_our_own_version(self):
        answer, heard = self.refused_by(NEWEST, harness.WORKER, "--lead", "LEAD", "--name", "new")
        self.assertEqual(answer.returncode, 4, answer.stderr)
        self.expect_line(answer.stderr, "does not speak this process's protocol", BOTH)
        self.assertEqual({frames.Frame(SCHEMA, message[0]).version for message in heard}, {NEWEST})

    def test_a_lead_of_the_version_before_is_asked_again_in_its_own(self):
        def old(header):
            heard = frames.Frame(SCHEMA, header)
            return refusal(PREVIOUS) if heard.version != PREVIOUS else recorded("Status")
        router = zmtp.Router(old, self.patience)
        self.addCleanup(router.close)
        threading.Thread(target=router.serve_one, daemon=True).start()
        answer = harness.call(harness.BALLAST, "status", "--json", router.address, timeout=self.patience)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn('"phase"', answer.stdout)

    # ---- who is connected to by peers of other versions

    def start_lead(self):
        job = self.job(jobs.glyphs(steps=2))
        self.address_file = self.folder / "lead.address"
        _, self.log = self.start_by_hand("server", harness.SERVER, "--job", job, "--shard", "0", "--lead",
                                         "tcp://127.0.0.1:*", "--bind", "tcp://127.0.0.1:*", "--address-file",
                                         self.address_file, "--database", self.folder / "shard-0")
        self.wait_for("the lead", self.address_file.exists)
        return self.address_file.read_text().strip()

    def ask(self, address, identity, *headers):
        """The answers, each read."""
        with zmtp.dealer(address, identity, self.patience) as peer:
            answers = []
            for header in headers:
                peer.send(header)
                answers.append(frames.Frame(SCHEMA, peer.receive()[0]))
            return answers

    def test_a_worker_of_the_version_before_is_welcome_in_its_own(self):
        lead = self.start_lead()
        self.wait_for("the lane", lambda: "lane 0 listens on" in self.log())
        welcome = self.wait_for_answer(lead, session(7), recorded("WorkerHello"), "WorkerWelcome")
        self.assertEqual(welcome.version, PREVIOUS)
        self.assertIn("speaks protocol version 13, and is answered in it", self.log())
        status, = self.ask(lead, b"c" + 8 * b"\1", recorded("StatusRequest"))
        self.assertEqual((status.kind, status.version), ("Status", PREVIOUS))

    def wait_for_answer(self, lead, identity, header, kind):
        found = []

        def asked():
            with zmtp.dealer(lead, identity, self.patience) as peer:
                peer.connection.settimeout(1)
                peer.send(header)
                try:
                    frame = frames.Frame(SCHEMA, peer.receive()[0])
                except TimeoutError:
                    return False
            found.append(frame)
            return frame.kind == kind
        self.wait_for(kind, asked)
        return found[-1]

    def test_a_peer_that_is_too_old_is_told_so_in_its_own_version(self):
        lead = self.start_lead()
        for identity, kind in ((session(7), "WorkerHello"), (b"c" + 8 * b"\1", "StatusRequest")):
            refused, = self.ask(lead, identity, recorded(kind, TOO_OLD))
            self.assertEqual((refused.kind, refused.version), ("Refused", TOO_OLD))
            text = "\n".join(refused.lines())
            self.assertIn("Refused.code = wrong_protocol", text)
            self.expect_line(text, f"version is {TOO_OLD}, too old", BOTH)
            self.assertIn(f"version is {TOO_OLD}, too old", self.log())

    def test_a_peer_that_is_newer_hears_the_newest_version_and_may_go_on_in_it(self):
        lead = self.start_lead()
        refused, status = self.ask(lead, b"c" + 8 * b"\1", recorded("StatusRequest", TOO_NEW), recorded("StatusRequest", NEWEST))
        self.assertEqual((refused.kind, refused.version), ("Refused", NEWEST))
        self.expect_line("\n".join(refused.lines()), f"version is {TOO_NEW}, too new", BOTH)
        self.assertIn(f"version is {TOO_NEW}, too new", self.log())
        self.assertEqual((status.kind, status.version), ("Status", NEWEST))


if __name__ == "__main__":
    harness.main()
