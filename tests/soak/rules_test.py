"""The rule by which a soak says that something grows (watch.py), over series whose answer is known."""

import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import watch  # pylint: disable=wrong-import-position


def walk(chance, count, level, step, back):
    """What keeps near a level, and moves slowly about it."""
    value, values = level, []
    for _ in range(count):
        value += chance.gauss(0, step) - back * (value - level)
        values.append(value)
    return values


class Rules(unittest.TestCase):
    def setUp(self):
        self.chance = random.Random(1)

    def test_what_grows_steadily_is_seen(self):
        for count in (watch.LEAST_SAMPLES, 600, 5000):
            with self.subTest(samples=count):
                leak = [100 + 20 * at / count + self.chance.gauss(0, 1) for at in range(count)]
                self.assertAlmostEqual(watch.grows("memory", leak), 20 * 2 / 3, delta=4)
                self.assertIsNotNone(watch.grows("descriptors", [40 + 30 * at // count for at in range(count)]))
                self.assertIsNotNone(watch.grows("threads", [9 + 12 * at // count for at in range(count)]))

    def test_what_moves_about_a_level_is_not(self):
        false = sum(watch.grows("memory", walk(self.chance, 600, 100, 1.5, 0.05)) is not None for _ in range(300))
        self.assertLessEqual(false, 3)

    def test_warming_up_is_not(self):
        warm = [20 + min(80, at) + self.chance.gauss(0, 1) for at in range(300)]
        self.assertIsNone(watch.grows("memory", warm))

    def test_steps_up_and_down_and_a_last_jump_are_not(self):
        waves = [100 + 30 * (at // 50 % 2) for at in range(600)]
        self.assertIsNone(watch.grows("memory", waves))
        self.assertIsNone(watch.grows("descriptors", [40] * 590 + [1100] * 10))

    def test_less_than_allocators_do_by_themselves_is_not(self):
        self.assertIsNone(watch.grows("memory", [100 + 3 * at / 600 for at in range(600)]))
        self.assertIsNone(watch.grows("memory", [1000 + 40 * at / 600 for at in range(600)]))

    def test_what_a_database_fills_is_not_and_what_is_more_is(self):
        filling = [33 + 12 * at / 600 for at in range(600)]
        self.assertIsNotNone(watch.grows("memory", filling))
        self.assertIsNone(watch.grows("memory", filling, watch.DATABASE))
        self.assertIsNotNone(watch.grows("memory", [33 + 120 * at / 600 for at in range(600)], watch.DATABASE))
        self.assertIsNotNone(watch.grows("threads", [17 + 12 * at // 600 for at in range(600)], watch.DATABASE))

    def test_ties_are_no_trend(self):
        self.assertEqual(watch.trend([5] * 12), (0.0, 0.0))


if __name__ == "__main__":
    unittest.main()
