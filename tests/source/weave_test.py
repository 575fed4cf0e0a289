"""Tests that mutants that are woven into one program are the mutants: tests/mutants/weave.py."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

WEAVE = pathlib.Path(__file__).resolve().parents[1] / "mutants" / "weave.py"
SOURCE = """#include "told.h"

#include <vector>

namespace {

constexpr int kStep = 10;

int twice(int value) { return 2 * value; }

bool is_less(int first, int second) { return [&](int value) { return first < value; }(second); }

template <typename Value>
Value next(const Value& value) {
  return value + kStep;
}

}  // namespace

Told::Told(int value)
    : value_(value) {
  value_ += 1;
}

std::vector<int> Told::all(
    int first, int second) const {
  if (!is_less(first, second)) {
    return {second, first};
  }
  return {first, next(second), twice(value_)};
}
"""
HEADER = """#pragma once
#include <vector>
struct Told {
  explicit Told(int value);
  std::vector<int> all(int first, int second) const;
  int value_;
};
"""
MAIN = """#include <cstdio>
#include "told.h"
int main() {
  for (const int each : Told(1).all(1, 2)) std::printf("%d ", each);
  for (const int each : Told(1).all(4, 3)) std::printf("%d ", each);
}
"""
PLAIN = "1 12 4 3 4 "
# By the patch's name: what of the source it changes into what, and what the program says then.
MUTANTS = {
    "body": ((("!is_less(", "is_less("),), "2 1 4 13 4 "),
    "one-line": ((("2 * value", "3 * value"),), "1 12 6 3 4 "),
    "lambda": ((("first < value", "first > value"),), "2 1 4 13 4 "),
    "template": ((("value + kStep", "value - kStep"),), "1 -8 4 3 4 "),
    "constructor": ((("  value_ += 1;\n", ""),), "1 12 2 3 4 "),
    "two": ((("2 * value", "value"), ("value_ += 1", "value_ += 2")), "1 12 3 3 4 "),
    "same-body": ((("{second, first}", "{}"),), "1 12 4 "),
    "constant": ((("kStep = 10", "kStep = 20"),), None),
    "initializer": (((": value_(value)", ": value_(0)"),), None),
    "signature": ((("int twice(int value)", "int twice(long value)"),), None),
}


def make_patch(path, before, after, name):
    with tempfile.TemporaryDirectory() as folder:
        for side, text in (("a", before), ("b", after)):
            (pathlib.Path(folder) / side).mkdir()
            (pathlib.Path(folder) / side / name).write_text(text)
        answer = subprocess.run(["diff", "-u", f"a/{name}", f"b/{name}"], cwd=folder, capture_output=True, check=False)
        path.write_bytes(answer.stdout)


class Weave(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.tree = self.folder / "tree"
        self.tree.mkdir()
        for name, text in (("told.cpp", SOURCE), ("told.h", HEADER), ("main.cpp", MAIN)):
            (self.tree / name).write_text(text)

    def patch(self, name, changes, file="told.cpp", text=SOURCE):
        changed = text
        for old, new in changes:
            self.assertEqual(changed.count(old), 1, old)
            changed = changed.replace(old, new)
        make_patch(self.folder / f"{name}.patch", text, changed, file)
        return self.folder / f"{name}.patch"

    def weave(self, patches):
        subprocess.run([sys.executable, WEAVE, self.tree, *patches], check=True)
        woven = dict(reversed(line.split()) for line in (self.tree / "woven").read_text().splitlines())
        single = [pathlib.Path(line).stem for line in (self.tree / "single").read_text().splitlines()]
        return woven, single

    def test_each_is_what_its_patch_makes_and_none_is_the_core(self):
        woven, single = self.weave([self.patch(name, changes) for name, (changes, _) in MUTANTS.items()])
        self.assertEqual(set(single), {name for name, (_, said) in MUTANTS.items() if said is None})
        self.assertEqual(set(woven) | set(single), set(MUTANTS))
        program = self.folder / "program"
        sources = [self.tree / name for name in ("told.cpp", "main.cpp", "units/mutant_at_work.cpp")]
        subprocess.run(["g++", "-std=c++20", "-Werror", "-Wall", "-o", program, *sources], check=True)
        expected = {"0": PLAIN} | {woven[name]: said for name, (_, said) in MUTANTS.items() if said is not None}
        for number, said in expected.items():
            with self.subTest(number=number):
                environment = os.environ | {"MUTANT": number}
                self.assertEqual(subprocess.run([program], env=environment, capture_output=True, text=True,
                                                check=True).stdout, said)

    def test_what_changes_headers_or_does_not_apply_is_compiled_by_itself(self):
        header = self.patch("header", (("int value_", "long value_"),), "told.h", HEADER)
        stale = self.patch("stale", (("2 * number", "3 * number"),), text=SOURCE.replace("2 * value", "2 * number"))
        gone = self.patch("gone", MUTANTS["body"][0], "gone.cpp")
        body = self.patch("body", MUTANTS["body"][0])
        woven, single = self.weave([header, stale, gone, body])
        self.assertEqual((list(woven), single), (["body"], ["header", "stale", "gone"]))


if shutil.which("patch") is None or shutil.which("g++") is None:
    print("weaving mutants needs patch and g++")
    sys.exit(77)
unittest.main()
