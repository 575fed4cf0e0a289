"""Tests that the last lines of a test program's stderr name what failed, however much it has said before."""

import subprocess
import sys
import unittest

PROGRAM = sys.argv.pop(1)


class LastWords(unittest.TestCase):
    def run_it(self, *arguments):
        done = subprocess.run([PROGRAM, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=50)
        return done.returncode, done.stderr.splitlines()

    def test_failures_are_the_last_lines(self):
        status, lines = self.run_it()
        self.assertEqual(status, 1)
        last = lines[-21:]
        self.assertIn("fails.cpp:10: a check that does not hold: two == 3 (2 == 3)", last[0])
        self.assertIn("it throws: threw: the reason", last[1])
        self.assertIn("many fail: i < 0 (0 <  0)", last[2])
        self.assertEqual(last[-1], "FAILED: 82 more")
        self.assertEqual([line for line in lines[:-21] if "FAILED" in line], [])

    def test_nothing_is_said_where_nothing_failed(self):
        self.assertEqual(self.run_it("--test-case=none"), (0, []))


if __name__ == "__main__":
    unittest.main()
