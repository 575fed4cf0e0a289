"""What `ballast analyze` says of the traces that are kept with docs/measurements/what_if.md is as near to what was measured as it
says there: whoever changes the analysis hears of it here."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import judge  # pylint: disable=wrong-import-position

KEPT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "measurements" / "what_if"
# What is not reached, and how far it is.
SHORT_OF = {"both named within 20 steps": 0.72}
USUAL = 0.05  # what slots scatter by in a job in which nobody is to be named


def folders_with(name):
    return sorted(file.parent for file in KEPT.glob(f"*/{name}"))


class Kept(unittest.TestCase):
    def test_figures_are_reached(self):
        jobs, sound = [], []
        folders = folders_with("groups.jsonl")
        self.assertEqual([folder.name for folder in folders], ["causes", "free", "items", "twins"])
        for folder in folders:
            planted, without = judge.judge_all(folder)
            kept = sum(len(group["jobs"]) for group in judge.newest(folder / "groups.jsonl").values())
            self.assertTrue(planted, folder)
            self.assertEqual(len(planted) + len(without), kept, f"traces are missing in {folder}")
            jobs += planted
            sound += without
        for figure in judge.figures(jobs, sound):
            with self.subTest(figure.what):
                self.assertTrue(figure.outcomes)
                if figure.what in SHORT_OF:
                    self.assertGreaterEqual(figure.share, SHORT_OF[figure.what])
                else:
                    self.assertTrue(figure.is_reached, str(figure))

    def test_sound_jobs_raise_no_alarm(self):
        jobs = [(job, folder) for folder in folders_with("sound.jsonl") for job in judge.rows(folder / "sound.jsonl")]
        usual = [(job, folder) for job, folder in jobs if job["spread"] <= USUAL and not job["causes"]]
        self.assertGreaterEqual(len(usual), 10)
        for job, folder in usual:
            with self.subTest(job["name"]):
                self.assertEqual(judge.alarms(job, folder)[0], [])

    def test_rare_stops_seldom_raise_one(self):
        rare = [judge.alarms(job, folder)[0] for folder in folders_with("sound.jsonl") for job in judge.rows(folder / "sound.jsonl")
                if job["causes"]]
        self.assertGreaterEqual(len(rare), 10)
        self.assertLessEqual(sum(map(bool, rare)), 2)


if __name__ == "__main__":
    unittest.main()
