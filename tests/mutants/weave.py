#!/usr/bin/env python3
"""Weaves mutants into one program, so that not each of them is compiled by itself (mutant schemata, Untch et al. 1993).

    weave.py TREE PATCH...

Of each patch that changes nothing but bodies of functions in sources, both bodies are put into the source of TREE; the
number of the patch in TREE/woven decides which of them runs:

    if (mutant_at_work == 17) { the mutant's } else { the core's }

TREE/woven gets a line `NUMBER NAME` for each of them. The environment variable MUTANT has the number of the one at work,
which TREE/units/mutant_at_work.cpp reads. TREE/single gets the paths of the others, which are compiled by themselves, and
of those that do not apply, as is found out there.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

DECLARED = "extern const int mutant_at_work;\n"
DEFINED = """#include <cstdlib>
extern const int mutant_at_work;
const int mutant_at_work = std::getenv("MUTANT") == nullptr ? 0 : std::atoi(std::getenv("MUTANT"));
"""
ON_ONE_LINE = re.compile(r"(?P<head>[A-Za-z\[].*?\)[^{}]*?) \{ (?P<body>.+) \}")


def parts(text):
    """The text in parts, which are `(head, body)` of each function that begins at a line's beginning, as all do in
    sources that clang-format has laid out, and `(text, None)` of all else."""
    found = []
    lines = text.splitlines(keepends=True)
    at = 0
    while at < len(lines):
        end = _end_of_function(lines, at)
        if one := ON_ONE_LINE.fullmatch(lines[at].rstrip("\n")):
            found.append((one["head"], f"  {one['body']}\n"))
            at += 1
        elif end is None:
            found.append((lines[at], None))
            at += 1
        else:
            opens = next(i for i in range(at, end) if lines[i].endswith(" {\n"))
            found.append(("".join(lines[at:opens + 1])[:-len(" {\n")], "".join(lines[opens + 1:end])))
            at = end + 1
    return found


def _end_of_function(lines, at):
    """The line of its last brace, if a function begins at this line."""
    if not re.match(r"[A-Za-z\[]", lines[at]) or re.match(r"(namespace|struct|class|enum|union|using|extern)\b", lines[at]):
        return None
    for i in range(at, len(lines)):
        if lines[i].endswith(" {\n"):
            head = "".join(lines[at:i + 1])
            if "(" not in head or re.search(r"[=;]", re.sub(r"operator\W+\(|\([^()]*\)", "", head)):
                return None
            return next((j for j in range(i, len(lines)) if lines[j] == "}\n"), None)
        if lines[i].rstrip("\n").endswith((";", "}")) or not lines[i].strip():
            return None
    return None


def patched(tree, patch):
    """What each source that the patch names becomes; None if it does not apply."""
    named = re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(), re.M)
    if not all((tree / name).is_file() for name in named):
        return None
    with tempfile.TemporaryDirectory() as folder:
        for name in named:
            copy = pathlib.Path(folder, name)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(tree / name, copy)
        answer = subprocess.run(["patch", "-F0", "-p1", "-s", "-d", folder], input=patch.read_bytes(), check=False,
                                capture_output=True)
        if answer.returncode != 0:
            return None
        return {name: pathlib.Path(folder, name).read_text() for name in named}


def changed_bodies(before, after):
    """By the place of the part, the bodies that are others; None if anything else is."""
    after = parts(after)
    if [head for head, _ in after] != [head for head, _ in before]:
        return None
    changed = {i: body for i, (_, body) in enumerate(after) if body != before[i][1]}
    return None if any(before[i][1] is None for i in changed) else changed


def woven(before, bodies):
    """`bodies`: by the place of the part, `(number, body)` of each mutant."""
    text = DECLARED
    for i, (head, body) in enumerate(before):
        if body is None:
            text += head
            continue
        text += f"{head} {{\n"
        for number, mutant in bodies.get(i, []):
            text += f"if (mutant_at_work == {number}) {{\n{mutant}}} else "
        text += f"{{\n{body}}}\n}}\n" if i in bodies else f"{body}}}\n"
    return text


def main(tree, patches):
    before = {}  # by source, its parts
    bodies = {}  # by source, then by the place of the part
    numbers = []
    single = []
    for number, patch in enumerate(patches, 1):
        after = patched(tree, patch) or {}
        changed = {}
        for name, text in after.items():
            before.setdefault(name, parts((tree / name).read_text()))
            changed[name] = changed_bodies(before[name], text) if name.endswith(".cpp") else None
        if not changed or None in changed.values() or {} in changed.values():
            single.append(f"{patch}\n")
            continue
        numbers.append(f"{number} {patch.stem}\n")
        for name, new in changed.items():
            for i, body in new.items():
                bodies.setdefault(name, {}).setdefault(i, []).append((number, body))
    for name, by_part in bodies.items():
        (tree / name).write_text(woven(before[name], by_part))
    (tree / "units").mkdir()
    (tree / "units" / "mutant_at_work.cpp").write_text(DEFINED)
    (tree / "woven").write_text("".join(numbers))
    (tree / "single").write_text("".join(single))


main(pathlib.Path(sys.argv[1]), [pathlib.Path(word).resolve() for word in sys.argv[2:]])
