"""The soak's switch, with pipes in the place of TAP devices and a clock of the test's own."""

import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import switch as soak_switch  # pylint: disable=wrong-import-position


def frame(receiver, size=100):
    """For one host, from 0 on; None: for all."""
    address = b"\xff" * 6 if receiver is None else bytes([2, 0, 0, 0, 0, receiver + 1])
    return address.ljust(size, b".")


class SwitchCase(unittest.TestCase):
    def setUp(self):
        pipes = [os.pipe() for _ in range(3)]
        for pair in pipes:
            for end in pair:
                os.set_blocking(end, False)
                self.addCleanup(os.close, end)
        self.ends = [reader for reader, _ in pipes]
        self.switch = soak_switch.Switch([writer for _, writer in pipes])

    def obey(self, **order):
        self.switch.obey(json.dumps(order).encode())

    def send(self, sender, receiver, now=0.0, size=100):
        self.switch.take(sender, frame(receiver, size), now)

    def received(self, host):
        """Bytes that have come."""
        try:
            return len(os.read(self.ends[host], 1 << 16))
        except BlockingIOError:
            return 0

    def test_a_frame_reaches_its_host_alone_and_one_for_all_the_others(self):
        self.send(0, 2)
        self.assertEqual([self.received(host) for host in range(3)], [0, 0, 100])
        self.send(1, None)
        self.assertEqual([self.received(host) for host in range(3)], [100, 0, 100])

    def test_a_link_that_is_down_passes_nothing_either_way(self):
        self.obey(host=2, policy={"down": True})
        self.send(0, 2)
        self.send(2, 0)
        self.assertEqual([self.received(host) for host in range(3)], [0, 0, 0])
        self.obey(host=2, policy={})
        self.send(0, 2)
        self.assertEqual(self.received(2), 100)

    def test_one_direction_alone_is_cut(self):
        self.obey(sender=0, receiver=1, blocked=True)
        self.send(0, 1)
        self.send(1, 0)
        self.send(0, 2)
        self.assertEqual([self.received(host) for host in range(3)], [100, 0, 100])
        self.obey(sender=0, receiver=1, blocked=False)
        self.send(0, 1)
        self.assertEqual(self.received(1), 100)

    def test_a_delay_holds_frames_in_their_order(self):
        self.obey(host=1, policy={"delay": 0.5})
        self.send(0, 1, now=10.0, size=100)
        self.send(0, 1, now=10.1, size=200)
        self.switch.give_due(10.4)
        self.assertEqual(self.received(1), 0)
        self.switch.give_due(10.55)
        self.assertEqual(self.received(1), 100)
        self.switch.give_due(10.65)
        self.assertEqual(self.received(1), 200)

    def test_a_rate_spaces_frames_and_drops_what_its_queue_cannot_hold(self):
        self.obey(host=0, policy={"rate": 1000.0})
        for _ in range(5):
            self.send(0, 1, now=0.0, size=1000)
        self.switch.give_due(2.5)
        self.assertEqual(self.received(1), 2000)
        waits = [at for at, *_ in sorted(self.switch.waiting)]
        self.assertEqual(waits, [3.0, 4.0, 5.0])
        self.switch.up[0].free_at = 2000.0
        self.send(0, 1, now=0.0, size=1000)
        self.assertEqual(len(self.switch.waiting), 3)

    def test_about_as_many_are_lost_as_is_said(self):
        self.obey(host=0, policy={"loss": 0.25})
        for _ in range(400):
            self.send(0, 1, size=20)
        self.assertAlmostEqual(self.received(1) / 20 / 400, 0.75, delta=0.1)


if __name__ == "__main__":
    unittest.main()
