"""The boards against Grafana's own types, by tests/dashboards/grafana_types.mjs.

Needs node, and a folder node_modules with the npm packages @grafana/grafana-foundation-sdk and typescript: that of
$BALLAST_NODE_MODULES, else of this project or npm's global one.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BOARDS = sorted((ROOT / "dashboards" / "grafana" / "boards").glob("*.json"))
PACKAGES = ("@grafana/grafana-foundation-sdk", "typescript")
CANNOT_BE_TRIED = 77
PATIENCE = 600  # seconds


def node_modules():
    """The folder that has the packages; None if there is none."""
    places = [os.environ.get("BALLAST_NODE_MODULES"), ROOT / "node_modules", "/usr/local/lib/node_modules", "/usr/lib/node_modules"]
    return next((str(place) for place in places if place and all((pathlib.Path(place) / name).is_dir() for name in PACKAGES)), None)


def unfit():
    if shutil.which("node") is None:
        return "needs node"
    if node_modules() is None:
        return f"needs the npm packages {' and '.join(PACKAGES)} in $BALLAST_NODE_MODULES"
    return None


def check(*boards):
    return subprocess.run(["node", str(HERE / "grafana_types.mjs"), node_modules(), *map(str, boards)], capture_output=True,
                          text=True, check=False, timeout=PATIENCE)


class Types(unittest.TestCase):
    def test_every_board_is_of_grafanas_types(self):
        answer = check(*BOARDS)
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        self.assertIn(f"{len(BOARDS)} boards looked at", answer.stdout)

    def test_what_is_not_is_named(self):
        board = json.loads(BOARDS[0].read_text(encoding="utf-8"))
        panel = next(panel for panel in board["panels"] if panel["type"] == "timeseries")
        panel["options"]["legend"]["placement"] = "below"
        panel["fieldConfig"]["defaults"]["custom"]["lineWidht"] = 1
        panel["targets"][0]["expr"] = 7
        del board["templating"]
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "wrong.json"
            file.write_text(json.dumps(board), encoding="utf-8")
            answer = check(file)
        self.assertEqual(answer.returncode, 1, answer.stdout + answer.stderr)
        for words in ('"below" is no known value', "lineWidht: no such key", "expr: 7 is no string", "templating: missing"):
            self.assertIn(words, answer.stdout)


if __name__ == "__main__":
    if reason := unfit():
        print(f"types_test: {reason}")
        sys.exit(CANNOT_BE_TRIED)
    unittest.main()
