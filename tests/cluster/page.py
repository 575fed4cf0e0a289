"""The commands, files and outputs of a page of docs/, read from the page itself, so that page and test cannot drift apart.

A block begins with three backticks, a language, a place and, if it is not of the page's main course, the word of its case:

    sh MACHINE             commands to run there one after the other; each ends well
    sh MACHINE:TERMINAL    a command that stays there in a terminal of its own
    text MACHINE[:TERMINAL]  lines that appear there, in this order, others between them; figures may differ
    yaml MACHINE,...:FILE  a file that is there
"""

import pathlib
import re

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


class Block:
    def __init__(self, heading, info, text):
        words = info.split()
        self.heading = heading
        self.language = words[0]
        self.machine, _, self.terminal = words[1].partition(":")
        self.case = words[2] if len(words) > 2 else ""
        self.text = text

    @property
    def lines(self):
        return self.text.splitlines()


def blocks(name):
    """Those blocks of docs/NAME that say where they belong."""
    found = []
    heading = ""
    fence = None
    for line in (DOCS / name).read_text().splitlines():
        if fence is None and line.startswith("#"):
            heading = line.lstrip("# ")
        elif fence is None and line.startswith("```"):
            fence, text = line[3:], []
        elif fence is not None and line == "```":
            if len(fence.split()) > 1:
                found.append(Block(heading, fence, "\n".join(text) + "\n"))
            fence = None
        elif fence is not None:
            text.append(line)
    return found


def pattern(line):
    """A line of the page as a regular expression: every figure, time, free port and hash is another the next time."""
    text = re.escape(line)
    text = re.sub(r"^[0-9]{4}\\-[0-9]{2}\\-[0-9]{2}T[0-9:.\\]+Z", lambda _: r"\S+Z", text)
    text = re.sub(r"(tcp://[0-9.\\]+):[3-6][0-9]{4}\b", lambda found: found[1] + r":\d+", text)
    text = re.sub(r"float32\\-[0-9a-f]+", lambda _: r"float32\-\w+", text)
    text = re.sub(r"(?<![0-9.:/\\a-z-])[0-9]+(\\\.[0-9]+)?(?![0-9:]|\\\.[0-9])", lambda _: r"[\d.]+", text)
    return re.compile(f"^{text}$", re.M)


def missing(expected, output):
    """The first of the expected lines that does not appear in the output, after those before it; None if all do."""
    at = 0
    for line in expected:
        found = pattern(line).search(output, at)
        if found is None:
            return line
        at = found.end()
    return None
