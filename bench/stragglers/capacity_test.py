"""The formulas of capacity.py against a direct search and against what can be told by hand."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import capacity  # pylint: disable=wrong-import-position

SIZE, CHUNKS, LATENCY = 8e6, 8, 0.0015
GIGABIT = 125e6


def worker(times=1.0, link=1.0, **more):
    return capacity.Worker(0.25 * times, 0.25 * 2 / 3, GIGABIT * link, GIGABIT * link, **more)


def periodic(seconds, period=20.0, until=400.0, phase=5.0):
    return [(phase + period * number, phase + period * number + seconds) for number in range(int(until / period))]


def streamed(workers, slots=64, begin=0.0, end=400.0):
    return capacity.streamed(workers, slots, SIZE, CHUNKS, LATENCY, begin, end)


def ceiling(workers, slots=64, begin=0.0, end=400.0):
    return capacity.ceiling(workers, slots, SIZE, CHUNKS, LATENCY, begin, end)


class Capacity(unittest.TestCase):
    def test_without_links_it_is_what_the_workers_compute(self):
        endless = [capacity.Worker(0.25, 0.25, 1e18, 1e18), capacity.Worker(1.0, 0.25, 1e18, 1e18)]
        self.assertAlmostEqual(capacity.streamed(endless, 64, SIZE, CHUNKS, 0.0, 0, 1), 4 + 1, places=6)

    def test_overhead_is_a_chunk_each_way_where_the_link_keeps_up_and_the_model_where_it_does_not(self):
        self.assertAlmostEqual(worker().overhead(SIZE, CHUNKS, LATENCY), 2 * 1e6 / GIGABIT + LATENCY)
        slow = worker(link=0.1).overhead(SIZE, CHUNKS, LATENCY)
        self.assertAlmostEqual(slow, 8e6 / 12.5e6 + 1e6 / 12.5e6 - 0.25 * 2 / 3 * 7 / 8 + LATENCY)

    def test_the_figures_of_an_independent_simulation(self):
        """Of its clairvoyant bound: slots per second, streamed and by whole slots, four workers and 64 slots."""
        for workers, is_streamed, is_ceiling in (
                ([worker()] * 4, 15.93, 15.93),
                ([worker(4)] + [worker()] * 3, 12.95, 12.75),
                ([worker(link=0.1)] + [worker()] * 3, 15.39, 14.99)):
            with self.subTest(streamed=is_streamed):
                self.assertAlmostEqual(streamed(workers), is_streamed, delta=0.01 * is_streamed)
                self.assertAlmostEqual(ceiling(workers), is_ceiling, delta=0.01 * is_ceiling)

    def test_who_stands_still_is_missed_by_his_share(self):
        away = periodic(2)
        workers = [worker(away=away)] + [worker()] * 3
        self.assertAlmostEqual(streamed(workers), 15.53, delta=0.02)
        self.assertAlmostEqual(ceiling(workers), 15.46, delta=0.08)
        self.assertLess(ceiling(workers), streamed(workers) * 1.001)

    def test_a_slot_in_hand_that_goes_on_by_the_clock_saves_half_a_slot_a_stop(self):
        away = periodic(2)
        still, waiting = worker(away=away), worker(away=away, by_the_clock=True)
        self.assertAlmostEqual(waiting.present(0, 400) - still.present(0, 400), 20 * 0.125)

    def test_whole_slots_bind_where_there_are_few(self):
        workers = [worker(4)] + [worker()] * 3
        # Eight slots on three workers are three each, whatever the fourth does in that time.
        self.assertAlmostEqual(ceiling(workers, 8), 8 / (0.75 + workers[1].overhead(SIZE, CHUNKS, LATENCY)), delta=0.02)
        self.assertLess(ceiling(workers, 8), streamed(workers, 8))

    def test_nobody_there_is_an_error_and_not_a_figure(self):
        with self.assertRaisesRegex(ValueError, "nobody is there"):
            ceiling([worker(away=[(0, 1e9)])])


if __name__ == "__main__":
    unittest.main()
