"""The tools of dashboards/: targets of local runs, variables put into queries, pictures."""

import fcntl
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "dashboards"))

import all_boards  # pylint: disable=wrong-import-position
import panels  # pylint: disable=wrong-import-position
import picture  # pylint: disable=wrong-import-position
import prometheus  # pylint: disable=wrong-import-position

PROCESSES = [
    {"role": "server", "index": 0, "pid": 7, "addresses": {"metrics": "http://127.0.0.1:1001/metrics"}},
    {"role": "worker", "index": 1, "pid": 8, "addresses": {"metrics": "http://127.0.0.1:1002/metrics"}},
    {"role": "worker", "index": 2, "pid": 0, "addresses": {"metrics": "http://127.0.0.1:1003/metrics"}},  # about to be started
    {"role": "worker", "index": 3, "pid": 9, "addresses": {}},                                            # without --metrics
]


class Targets(unittest.TestCase):
    def setUp(self):
        self.runs = pathlib.Path(tempfile.mkdtemp(prefix="ballast-targets-"))
        self.addCleanup(subprocess.run, ["rm", "-rf", self.runs], check=True)

    def make_run(self, name, is_running, text=json.dumps(PROCESSES)):
        folder = self.runs / name
        folder.mkdir()
        (folder / "processes.json").write_text(text)
        lock = open(folder / "lock", "w", encoding="ascii")  # pylint: disable=consider-using-with
        self.addCleanup(lock.close)
        if is_running:
            fcntl.flock(lock, fcntl.LOCK_EX)

    def call(self, *words):
        return subprocess.run([sys.executable, str(ROOT / "dashboards" / "targets"), *map(str, words)], capture_output=True, text=True,
                              check=False, timeout=60)

    def test_processes_that_run_are_targets_of_their_run(self):
        self.make_run("mnist-1", True)
        self.make_run("over", False)
        self.make_run("begins", True, '[{"role": "ser')
        found = json.loads(self.call(self.runs).stdout)
        self.assertEqual(found, [
            {"targets": ["127.0.0.1:1001"], "labels": {"job": "mnist-1", "instance": "shard-0"}},
            {"targets": ["127.0.0.1:1002"], "labels": {"job": "mnist-1", "instance": "worker-1"}}])
        self.assertEqual(json.loads(self.call(self.runs / "mnist-1").stdout), found)

    def test_a_file_is_written_whole_and_only_if_it_differs(self):
        self.make_run("mnist-1", True)
        out = self.runs / "new" / "runs.json"
        self.assertEqual(self.call(self.runs, "--out", out).returncode, 0)
        before = out.stat()
        self.assertEqual(self.call(self.runs, "--out", out).returncode, 0)
        self.assertEqual(out.stat().st_ino, before.st_ino)
        self.assertEqual([file.name for file in out.parent.iterdir()], ["runs.json"])

    def test_words_that_make_no_sense_are_refused(self):
        answer = self.call(self.runs, "--watch", "1")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("--out FILE", answer.stderr)


class Variables(unittest.TestCase):
    def test_all_is_everything_and_names_are_taken_as_they_are(self):
        query = 'x{job="$job",worker=~"$worker"}[$__rate_interval]'
        self.assertEqual(prometheus.substituted(query, "m", 15, 15), 'x{job="m",worker=~".*"}[60s]')
        self.assertEqual(prometheus.substituted(query, "m", 15, 120, worker="a.b"), 'x{job="m",worker=~"a\\\\.b"}[135s]')
        self.assertEqual(prometheus.substituted(query, "m", 5, 5, worker=["a", "b"]), 'x{job="m",worker=~"(a|b)"}[20s]')

    def test_an_unknown_variable_is_none(self):
        with self.assertRaises(KeyError):
            prometheus.substituted('x{job="$jbo"}', "m")


class Server:
    """Answers every query with two series that grow to a value."""

    def __init__(self, value):
        self.value = value

    def labels(self):
        return [{"instance": name, "worker": name, "job": "m"} for name in ("worker-0", "worker-<1>")]

    def range(self, _, begin, end, step):
        count = int((end - begin) / step) + 1
        return [(labels, [(begin + step * place, self.value * place / (count - 1)) for place in range(count)])
                for labels in self.labels()]

    def instant(self, _, __):
        return [(labels, self.value) for labels in self.labels()]


class Pictures(unittest.TestCase):
    def draw(self, board, value):
        text = picture.board(board, picture.Source(Server(value), "m", 0, 600, 5))
        xml.etree.ElementTree.fromstring(text)
        return text

    def test_every_board_can_be_drawn(self):
        for board in all_boards.BOARDS:
            for value in (0.0, 0.1, 1e12, float("nan")):
                text = self.draw(board, value)
                for panel in board.panels:
                    self.assertIn(picture.html.escape(panel.title), text)

    def test_a_threshold_that_is_passed_is_coloured_and_none_else(self):
        quiet = panels.number("n", "short", "x", about="", warning=2, bad=5)
        board = panels.Board("b", "b", "", (panels.Row("r", (quiet,)),))
        for value, colour in ((1.0, None), (2.0, panels.WARNING), (5.0, panels.BAD)):
            text = self.draw(board, value)
            for name, shown in picture.COLOURS.items():
                self.assertEqual(shown in text, name == colour, value)

    def test_values_are_written_with_their_units(self):
        for value, unit, text in ((0.25, "percentunit", "25 %"), (0.0125, "s", "12.5 ms"), (90, "s", "1.5 min"),
                                  (3 * 2**20, "bytes", "3 MiB"), (2.5e9, "hertz", "2.5 GHz"), (0, "s", "0 s"), (12, "cps", "12 /s")):
            self.assertEqual(picture.shown(value, unit), text)


if __name__ == "__main__":
    unittest.main()
