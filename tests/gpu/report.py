"""Counts what passed, what failed and what was not run, and tells each as it comes."""

import datetime
import json
import time
import traceback

from judge import Wrong

PASSED, FAILED, NOT_RUN = "passed", "failed", "not run"


class NotRun(Exception):
    """A part that cannot be run here, and why. It does not count as passed."""


class Report:
    def __init__(self, facts, limit):
        self.facts = facts
        self.parts = []
        self._until = time.monotonic() + limit
        for name, value in facts.items():
            print(f"{name + ':':<10} {value}")
        print()

    def time_left(self):
        return self._until - time.monotonic()

    def run(self, name, part):
        """`part` returns a sentence, or raises; whatever it does, the next one runs."""
        begin = time.monotonic()
        try:
            if self.time_left() <= 0:
                raise NotRun("no time is left (--limit)")
            outcome, text = PASSED, part()
        except NotRun as reason:
            outcome, text = NOT_RUN, str(reason)
        except Wrong as wrong:
            outcome, text = FAILED, str(wrong)
        except Exception:  # pylint: disable=broad-except
            outcome, text = FAILED, traceback.format_exc().strip()
        seconds = time.monotonic() - begin
        self.parts.append({"part": name, "outcome": outcome, "seconds": round(seconds, 1), "text": text})
        print(f"{outcome:<7}  {name} ({seconds:.1f} s): {text}")

    def count(self, outcome):
        return sum(part["outcome"] == outcome for part in self.parts)

    def write(self, file):
        with open(file, "w", encoding="utf-8") as out:
            json.dump({"facts": self.facts, "parts": self.parts}, out, indent=2)
            out.write("\n")

    def finish(self):
        """Prints the count, and returns the exit code."""
        print()
        left_out = self.count(NOT_RUN)
        print(f"{self.count(PASSED)} passed, {self.count(FAILED)} failed" + (f", {left_out} not run" if left_out else ""))
        if self.count(FAILED):
            return 1
        return 3 if left_out or not self.parts else 0


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
