"""Tests that the thread sanitizer is spared, as they start no thread: their programs import nothing that starts one."""

import subprocess
import sys
import unittest

PROGRAMS = sys.argv[1:]
STARTS = ("pthread_create", "_ZNSt6thread15_M_start_thread")  # std::thread, std::jthread, std::async


def starters(program):
    listed = subprocess.run(["nm", "--undefined-only", program], capture_output=True, text=True, check=True).stdout
    return [line.split()[-1] for line in listed.splitlines() if line.split()[-1].startswith(STARTS)]


class OneThread(unittest.TestCase):
    def test_nothing_starts_a_thread(self):
        self.assertGreater(len(PROGRAMS), 1)
        for program in PROGRAMS[1:]:
            with self.subTest(program=program):
                self.assertEqual(starters(program), [])

    def test_a_program_that_starts_threads_is_seen(self):
        self.assertNotEqual(starters(PROGRAMS[0]), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
