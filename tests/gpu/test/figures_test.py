"""What gpu-bench makes of its measurements."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench" / "gpu"))

import figures  # pylint: disable=wrong-import-position


def metrics(steps, **phases):
    """As a worker serves them: each phase's sum of seconds; every other step is observed."""
    values = {"ballast_worker_steps_total": steps}
    for phase in figures.PHASES:
        values[f'ballast_worker_phase_seconds_sum{{phase="{phase}"}}'] = phases.get(phase, 0.0)
        values[f'ballast_worker_phase_seconds_count{{phase="{phase}"}}'] = steps / 2
    return values


class Figures(unittest.TestCase):
    def test_the_ratio_is_that_of_medians(self):
        found = figures.compared([100, 300, 200], [50, 1000, 100])
        self.assertEqual((found["ours"], found["theirs"], found["ratio"]), (200, 100, 2.0))

    def test_the_share_outside_compute(self):
        # 100 steps in a second; 50 of them were observed: 2 ms forward, 5 ms backward, 1 ms push of a step's 10 ms.
        before = metrics(20, forward=7.0, backward=7.0, push=7.0)
        after = metrics(120, forward=7.1, backward=7.25, push=7.05)
        found = figures.share_outside_compute(before, after, 1.0)
        self.assertEqual((found["steps"], found["step_ms"], found["outside"]), (100, 10.0, 0.3))
        self.assertEqual(found["phases_ms"], {"data_wait": 0.0, "pull": 0.0, "forward": 2.0, "backward": 5.0, "push": 1.0})

    def test_nothing_measured_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "no step"):
            figures.share_outside_compute(metrics(20), metrics(20), 1.0)
        with self.assertRaisesRegex(ValueError, "data_wait"):
            figures.share_outside_compute({"ballast_worker_steps_total": 1}, {"ballast_worker_steps_total": 9}, 1.0)

    def test_a_table(self):
        self.assertEqual(figures.table([{"a": 12345, "b": "x"}, {"a": 1}], (("first", "a"), ("b", "b"))),
                         [" first  b", "12,345  x", "     1  -"])


if __name__ == "__main__":
    unittest.main()
