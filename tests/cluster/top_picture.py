"""A picture of `ballast top` for docs/, of a real run with a slow worker: top_picture.py [FOLDER]. What a terminal of 112 columns
shows, live and after `a` (what the job's measurements say), as text in an SVG that fits light and dark pages."""

import html
import pathlib
import re
import sys

import harness
import jobs
import top

PICTURES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "pictures"
SLOW = {"BALLAST_DELAY": "worker-2:30"}
COLUMNS = 112
LINES = 22
WIDTH = 7.83  # of a character of 13 px, as most monospaced fonts have it
HEIGHT = 18


def svg(lines):
    width, height = COLUMNS * WIDTH + 24, len(lines) * HEIGHT + 24
    rows = "\n".join(f'<text x="12" y="{24 + HEIGHT * number}" textLength="{len(line) * WIDTH:g}">{html.escape(line)}</text>'
                     for number, line in enumerate(lines) if line.strip())
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" width="{width:g}" height="{height}" role="img">
<title>ballast top</title>
<style>text {{ font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre; fill: #e6e6e6 }}</style>
<rect width="100%" height="100%" rx="8" fill="#16181c"/>
{rows}
</svg>
"""


class Picture(harness.ClusterCase):
    folder_of_pictures = PICTURES

    def keep(self, terminal, name):
        lines = [line.rstrip() for line in terminal.frame()]
        while lines and not lines[-1]:
            lines.pop()
        (self.folder_of_pictures / name).write_text(svg(lines), encoding="utf-8")

    def test_picture(self):
        run = self.start(self.job(jobs.emulated(steps=100000, slots=16, compute_ms=20, job="emulated-four")),
                         options=["--workers", "4", "--shards", "2"], environment=SLOW)
        run.wait_for_step(70)
        terminal = top.Terminal(self, [harness.BALLAST, "top", run.folder, "--every", "0.5"], COLUMNS, LINES)
        self.wait_for("rates", lambda: any(re.match(r"worker-2 +\d+ +[1-9]", line) for line in terminal.frame()))
        terminal.press(b">>>")
        self.wait_for("workers by their slots", lambda: any(">slot ms" in line for line in terminal.frame()))
        self.keep(terminal, "top.svg")
        terminal.press(b"a")
        self.wait_for("an analysis", lambda: any(line.startswith("advice: ") for line in terminal.frame()))
        self.keep(terminal, "top-analysis.svg")
        terminal.press(b"q")
        self.assertEqual(terminal.process.wait(30), 0)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Picture.folder_of_pictures = pathlib.Path(sys.argv.pop(1)).resolve()
    harness.main()
