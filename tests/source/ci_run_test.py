"""Tests that .ci/run, ended by a signal, leaves nothing behind of the part that it was at."""

import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / ".ci" / "run"
RULER = "# " + 96 * "-" + " parts\n"
PATIENCE = 20


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


class CiRun(unittest.TestCase):
    def start(self, parts):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        ci = pathlib.Path(folder.name) / ".ci"
        ci.mkdir()
        head, ruler, rest = SCRIPT.read_text().partition(RULER)
        self.assertTrue(ruler, "the parts' heading has changed")
        (ci / "run").write_text(head + parts + rest[rest.index("# ---"):])
        return subprocess.Popen(["bash", ci / "run"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def test_a_part_ends_with_it(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal=number):
                script = self.start('part "long" bash -c "echo pid \\$\\$; exec sleep 1000"\n')
                self.addCleanup(script.stdout.close)
                child = 0
                while not child:
                    line = script.stdout.readline()
                    self.assertTrue(line, "the part has not begun")
                    child = int(line.split()[1]) if line.startswith("pid ") else 0
                self.addCleanup(lambda pid=child: is_alive(pid) and os.kill(pid, signal.SIGKILL))
                self.assertTrue(is_alive(child))
                script.send_signal(number)
                self.assertEqual(script.wait(timeout=PATIENCE), 128 + number)
                until = time.monotonic() + PATIENCE
                while is_alive(child) and time.monotonic() < until:
                    time.sleep(0.05)
                self.assertFalse(is_alive(child))

    def test_parts_are_counted(self):
        script = self.start('part "good" true\npart "bad" bash -c "echo why; exit 3"\n')
        said, _ = script.communicate(timeout=PATIENCE)
        self.assertEqual(script.returncode, 1, said)
        self.assertIn("1 passed, 1 failed", said)
        self.assertIn("failed: bad", said)
        self.assertEqual(said.count("why"), 3, said)  # in the part's line, as it comes, and in its last words

    def test_what_a_failed_test_said_is_said_again(self):
        scissors, line = 5 * "\u2015" + " \u2700  " + 5 * "\u2015", 15 * "\u2015"
        marked = f"echo {scissors}; echo stderr:; echo reason; echo {line}; seq 100; exit 1"
        script = self.start(f'part "tests" bash -c "{marked}"\n')
        said, _ = script.communicate(timeout=PATIENCE)
        reports = said[said.index("its last words"):]
        self.assertIn("stderr:\nreason\n", reports)
        self.assertEqual(reports.count("\n1\n"), 0, reports)


if __name__ == "__main__":
    unittest.main()
