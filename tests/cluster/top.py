"""`ballast top` in a terminal: it draws, sorts, scrolls, fits when the terminal is resized, analyzes, and leaves it as it was."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading

import harness
import jobs


class Terminal:
    """What a program has drawn last in a terminal of its own."""

    def __init__(self, case, words, columns=120, lines=24):
        self.host, self.guest = pty.openpty()
        self.resize(columns, lines)
        self.before = termios.tcgetattr(self.guest)
        self.process = subprocess.Popen(list(map(str, words)), stdin=self.guest, stdout=self.guest, stderr=subprocess.PIPE)
        self.all = b""
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        case.addCleanup(self.end)

    def _read(self):
        try:
            while chunk := os.read(self.host, 1 << 16):
                self.all += chunk
        except OSError:
            pass

    def resize(self, columns, lines):
        fcntl.ioctl(self.guest, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def press(self, keys):
        os.write(self.host, keys)

    def frame(self):
        """The last one that is whole: its lines."""
        frames = self.all.split(b"\x1b[H")
        whole = next((frame for frame in reversed(frames) if frame.endswith(b"\x1b[J")), b"")
        return whole.removesuffix(b"\x1b[J").replace(b"\x1b[K", b"").decode().replace("\r", "").split("\n")

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        for descriptor in (self.guest, self.host):
            os.close(descriptor)


class Top(harness.ClusterCase):
    def begin(self):
        self.run_ = self.start(self.job(jobs.emulated(steps=100000, slots=6, compute_ms=10)),
                               options=["--workers", "3", "--shards", "1"])
        self.run_.wait_for_step(10)

    def shown(self, terminal):
        return re.findall(r"^(worker-\d) ", "\n".join(terminal.frame()), re.MULTILINE)

    def test_in_a_terminal(self):
        self.begin()
        terminal = Terminal(self, [harness.BALLAST, "top", self.run_.folder, "--every", "0.2"])
        self.wait_for("rows", lambda: self.shown(terminal) == ["worker-0", "worker-1", "worker-2"])
        self.assertRegex(terminal.frame()[0], r"^job emulated, mode sync: training, step \d+ of \d+")
        self.wait_for("a rate", lambda: re.search(r"worker-0 +\d+ +\d+\.\d ", "\n".join(terminal.frame())))
        terminal.press(b"r")
        self.wait_for("the other order", lambda: self.shown(terminal) == ["worker-2", "worker-1", "worker-0"])
        terminal.press(b"r>")
        self.wait_for("another column", lambda: any(">step" in line for line in terminal.frame()))
        terminal.press(b"\x1b[C\x1b[D\x1b[D")
        self.wait_for("the first column", lambda: any(line.startswith(">worker") for line in terminal.frame()))
        terminal.resize(60, 6)
        self.wait_for("a small one", lambda: len(terminal.frame()) <= 6 and max(map(len, terminal.frame())) <= 60
                      and len(self.shown(terminal)) == 2)
        terminal.press(b"\x1b[B")
        self.wait_for("what is below", lambda: self.shown(terminal) == ["worker-1", "worker-2"])
        terminal.resize(160, 50)
        terminal.press(b"a")
        self.wait_for("an analysis", lambda: any(line.startswith("advice: ") for line in terminal.frame()))
        self.assertNotEqual(termios.tcgetattr(terminal.guest), terminal.before)
        terminal.press(b"q")
        self.assertEqual(terminal.process.wait(30), 0)
        self.assertEqual(termios.tcgetattr(terminal.guest), terminal.before)
        self.wait_for("its end", lambda: terminal.all.endswith(b"\x1b[?25h\x1b[?1049l"))

    def test_a_signal_and_a_lead_that_leaves(self):
        self.begin()
        terminal = Terminal(self, [harness.BALLAST, "top", self.run_.folder])
        self.wait_for("rows", lambda: self.shown(terminal))
        self.assertEqual(self.run_.control("stop").returncode, 0)
        self.wait_for("word of it", lambda: any("does not answer" in line for line in terminal.frame()))
        terminal.process.terminate()
        self.assertEqual(terminal.process.wait(30), 0)
        self.assertEqual(termios.tcgetattr(terminal.guest), terminal.before)

    def test_without_a_terminal(self):
        self.begin()
        plain = harness.ballast("top", self.run_.folder, "--once")
        self.assertEqual(plain.returncode, 0)
        self.assertRegex(plain.stdout, r"^job emulated, mode sync: training(?s:.*)\nworker-2 +\d")
        self.assertNotIn("\x1b", plain.stdout)
        for row in re.findall(r"(?m)^worker-\d .*$", plain.stdout):
            self.assertGreater(float(row.split()[2]), 0, "slots a second, of two looks")
        refused = harness.ballast("top", self.run_.folder)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--once", refused.stderr)
        self.assertEqual(harness.ballast("top", f"ipc://{self.folder}/nobody", "--once").returncode, 1)


if __name__ == "__main__":
    harness.main()
