"""docs/ and README.md against the tree: links lead somewhere, named files exist, quoted transcripts are real."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
NOTEBOOK = DOCS / "measurements"  # tells of files as they were
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
FOLDERS = sorted(p.name for p in ROOT.iterdir()
                 if p.is_dir() and not p.name.startswith((".", "build")) and p.name not in ("runs", "shared"))


def headings(page):
    """The anchors of a page, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in re.findall(r"^#+ (.*?)\s*$", text, re.M)}


def exists(name):
    """Whether a name is of a file, of a folder, or of files that differ in their endings."""
    return any(True for _ in ROOT.glob(name.rstrip("/"))) or any(True for _ in ROOT.glob(name.rstrip("/") + ".*"))


class Pages(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for page in PAGES:
            for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
                if re.match(r"[a-z]+:", link):
                    continue
                file, _, anchor = link.partition("#")
                target = page.parent / file if file else page
                with self.subTest(page=page.name, link=link):
                    self.assertTrue(target.exists())
                    if anchor:
                        self.assertIn(anchor, headings(target))

    def test_named_files_exist(self):
        path = re.compile(rf"`((?:{'|'.join(map(re.escape, FOLDERS))})/[\w/.*-]*)`")
        for page in PAGES:
            if NOTEBOOK in page.parents:
                continue
            for name in path.findall(page.read_text()):
                if re.search(r"\b[A-Z]{3,}\b", name):
                    continue  # tests/fuzz/TARGET.cpp
                with self.subTest(page=page.name, name=name):
                    self.assertTrue(exists(name))

    def test_files_to_look_in_exist(self):
        text = (DOCS / "architecture.md").read_text()
        table = text[text.index("## Where to look"):]
        known = set()
        for folder in FOLDERS:
            for file in (ROOT / folder).rglob("*"):
                known |= {file.name, file.stem}
        for name in re.findall(r"`([\w.]+)/?`", table):
            with self.subTest(name=name):
                self.assertTrue(name in known or (ROOT / name).exists())

    def test_quoted_transcripts_are_real(self):
        text = (DOCS / "protocol.md").read_text()
        transcripts = "".join((ROOT / file).read_text() for file in set(re.findall(r"tests/scenarios/[\w-]+\.txt", text)))
        said = {re.sub(r"\s+", " ", line.strip()) for line in transcripts.splitlines()}
        quoted = re.findall(r"^ +(\d+\.\d{3}  .*)$", text, re.M)
        self.assertGreater(len(quoted), 10)
        for line in quoted:
            parts = [re.escape(part) for part in re.sub(r"\s+", " ", line).split(" ...")]
            with self.subTest(line=line):
                self.assertTrue(any(re.fullmatch(r".*".join(parts), real) for real in said))


if __name__ == "__main__":
    unittest.main()
