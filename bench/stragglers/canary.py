"""Waits as an emulated slot does, again and again: a line for each, its end on the steady clock and the seconds it took."""

import sys
import time

PARTS = 9  # a third before the gradients, then one wait for each tensor


def main(slot):
    while True:
        begin = time.monotonic()
        for part in range(PARTS):
            share = 1 / 3 + 2 / 3 * part / (PARTS - 1)
            time.sleep(max(0.0, begin + slot * share - time.monotonic()))
        end = time.monotonic()
        print(end, end - begin, flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]))
