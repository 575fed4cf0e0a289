"""What `ballast analyze` says of the traces that are kept with docs/measurements/what_if.md is as near to what was measured as it
says there: whoever changes the analysis hears of it here."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import judge  # pylint: disable=wrong-import-position

KEPT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "measurements" / "what_if"
# What is not reached, and how far it is.
SHORT_OF = {"both named": 0.64}


class Kept(unittest.TestCase):
    def test_figures_are_reached(self):
        jobs, sound = [], []
        for folder in sorted(folder for folder in KEPT.iterdir() if folder.is_dir()):
            planted, without = judge.judge_all(folder)
            kept = sum(len(group["jobs"]) for group in judge.newest(folder / "groups.jsonl").values())
            self.assertTrue(planted, folder)
            self.assertEqual(len(planted) + len(without), kept, f"traces are missing in {folder}")
            jobs += planted
            sound += without
        for figure in judge.figures(jobs, sound):
            with self.subTest(figure.what):
                if figure.what in SHORT_OF:
                    self.assertGreaterEqual(figure.share, SHORT_OF[figure.what])
                else:
                    self.assertTrue(figure.is_reached, str(figure))


if __name__ == "__main__":
    unittest.main()
