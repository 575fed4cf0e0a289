"""Files are compiled together, so a function in an anonymous namespace must not hide one that a header declares:
whoever calls that one, in another file of the same library, would silently call the other."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

TREES = ("cli", "common", "protocol", "server", "storage", "tests", "worker")
NAMESPACE = re.compile(r"^(?:inline )?namespace ?([\w:]*) \{$|^\}  // namespace", re.M)
# At the beginning of a line: what it gives, its name and the parenthesis.
FUNCTION = re.compile(r"^(?!using |namespace |template |class |struct |enum |TEST_CASE)"
                      r"[A-Za-z_][\w:<>,&*\[\] ()]*?[ &*>](\w+)\(", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def numbers_of_parameters(text, begin):
    """With how many the function may be called whose parenthesis ends before `begin`."""
    depth, count, defaults = 0, 1, 0
    for at in range(begin, len(text)):
        letter = text[at]
        if letter in "(<{[":
            depth += 1
        elif letter in ")>}]":
            if depth == 0:
                most = count if text[begin:at].strip() else 0
                return set(range(most - defaults, most + 1))
            depth -= 1
        elif letter == "," and depth == 0:
            count += 1
        elif letter == "=" and depth == 0:
            defaults += 1
    return set()


def functions(text):
    """(namespace, is it anonymous, name, numbers of parameters) of each function at the beginning of a line."""
    events = sorted([(found.start(), "space", found) for found in NAMESPACE.finditer(text)] +
                    [(found.start(), "function", found) for found in FUNCTION.finditer(text)], key=lambda x: x[0])
    spaces = []
    for _, kind, found in events:
        if kind == "function":
            yield ("::".join(name for name in spaces if name), "" in spaces, found[1],
                   numbers_of_parameters(text, found.end()))
        elif found[0].startswith("}"):
            spaces = spaces[:-1]
        else:
            spaces.append(found[1])


class Library:
    """The files that may be compiled as one: those of a meson.build's folder, and the headers that these see."""

    def __init__(self, files):
        self.files = files  # texts by path

    def headers(self, texts):
        """All that the library's files include, directly or by others."""
        seen, left = set(), [name for text in self.files.values() for name in INCLUDE.findall(text)]
        while left:
            name = left.pop()
            if name in texts and name not in seen:
                seen.add(name)
                left += INCLUDE.findall(texts[name])
        return seen

    def judge(self, texts):
        declared = {}  # by namespace and name: header and numbers of parameters
        for header in sorted(self.headers(texts)):
            for space, anonymous, name, counts in functions(texts[header]):
                if not anonymous:
                    declared.setdefault((space, name), []).append((header, counts))
        return [f"{file}: {name} hides that of {header}"
                for file, text in sorted(self.files.items())
                for space, anonymous, name, counts in functions(text) if anonymous
                for header, others in declared.get((space, name), []) if counts & others]


def library_of(file, builds):
    """The nearest folder above that says how it is built."""
    return next((folder for folder in file.parents if folder.as_posix() in builds), ROOT)


def all_texts():
    return {file.relative_to(ROOT).as_posix(): file.read_text()
            for tree in TREES for file in sorted((ROOT / tree).rglob("*")) if file.suffix in (".h", ".cpp")}


def libraries(texts):
    builds = {file.parent.relative_to(ROOT).as_posix() for tree in TREES for file in (ROOT / tree).rglob("meson.build")}
    found = {}
    for file, text in texts.items():
        if file.endswith(".cpp"):
            found.setdefault(library_of(pathlib.PurePosixPath(file), builds), {})[file] = text
    return [Library(files) for files in found.values()]


class HiddenNames(unittest.TestCase):
    def test_no_function_of_one_file_hides_one_that_a_header_declares(self):
        texts = all_texts()
        hidden = [line for library in libraries(texts) for line in library.judge(texts)]
        self.assertEqual(hidden, [], "\n" + "\n".join(hidden))

    def test_a_hidden_function_is_found(self):
        header = "namespace ballast {\nstd::string text(double number, int digits = 9);\n}  // namespace ballast\n"
        source = ('#include "common/a.h"\nnamespace ballast {\nnamespace {\nstd::string text(float number) {\n}\n'
                  "}  // namespace\n}  // namespace ballast\n")
        found = ["common/b.cpp: text hides that of common/a.h"]

        def judged(header, source):
            return Library({"common/b.cpp": source}).judge({"common/a.h": header})

        self.assertEqual(judged(header, source), found)
        self.assertEqual(judged(header, source.replace("float number", "std::pair<int, int> both, int digits")), found)
        self.assertEqual(judged(header, source.replace("float number", "")), [])
        self.assertEqual(judged(header, source.replace("float number", "int a, int b, int c")), [])
        self.assertEqual(judged(header.replace("namespace ballast {", "namespace other {"), source), [])
        self.assertEqual(judged(header, source.replace("common/a.h", "common/c.h")), [])


if __name__ == "__main__":
    unittest.main()
