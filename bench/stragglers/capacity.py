"""How fast a cluster could train at best: the model of ../../docs/measurements/stragglers.md. Times in seconds, sizes in
bytes, rates in bytes per second.

A worker can give a step that closes at T after the one before only the time that is left when the newest weights have come
(all chunks but one while others still go up) and before its last sums must go up: both together are its overhead x.

- Streamed capacity: slots per second M / T, T the least for which the sum over the workers of a * max(0, T - x) / t is M; a is the
  share of the time in which the worker is there, t its slot's time.
- Ceiling: whole slots only, step by step, and with the times at which workers were away. No policy passes it.
"""

import dataclasses
import math

CLOSER = 60  # halvings of an interval of at most a thousand seconds


@dataclasses.dataclass
class Worker:
    slot: float        # of one slot
    spread: float      # over which a slot's gradients become ready, its last part
    up: float
    down: float
    away: list = dataclasses.field(default_factory=list)  # (from, to), ascending, in the time of the measurement
    by_the_clock: bool = False  # a slot in hand goes on while the worker stands still, as a wait does

    def overhead(self, size, chunks, latency):
        """x: from the step's begin until it can compute, and from its last slot's end until all has come."""
        chunk = size / chunks
        return max(chunk / self.up, size / self.up - self.spread * (1 - 1 / chunks)) + chunk / self.down + latency

    def absences(self):
        """`away`, less what a slot in hand goes on by the clock: half a slot on average."""
        saved = self.slot / 2 if self.by_the_clock else 0
        return [(min(begin + saved, end), end) for begin, end in self.away]

    def present(self, begin, end):
        return end - begin - sum(max(0.0, min(end, to) - max(begin, of)) for of, to in self.absences())


def streamed(workers, slots, size, chunks, latency, begin, end):
    """Slots per second, with each worker's share of [begin, end)."""
    shares = [worker.present(begin, end) / (end - begin) for worker in workers]
    overheads = [worker.overhead(size, chunks, latency) for worker in workers]

    def enough(time):
        return sum(share * max(0.0, time - overhead) / worker.slot
                   for worker, share, overhead in zip(workers, shares, overheads)) >= slots
    return slots / _least(enough, 0.0)


def ceiling(workers, slots, size, chunks, latency, begin, end):
    """Slots per second: each step closes as early as its whole slots and the times away allow, from `begin` on."""
    overheads = [worker.overhead(size, chunks, latency) for worker in workers]
    downs = [size / chunks / worker.down for worker in workers]
    now, steps = begin, 0
    while now < end:
        def enough(close, now=now):
            whole = 0
            for worker, overhead, down in zip(workers, overheads, downs):
                active = max(0.0, worker.present(now + down, close - (overhead - down)))
                whole += math.floor(active / worker.slot + 1e-9)
            return whole >= slots
        now = _least(enough, now)
        steps += 1
    return steps * slots / (now - begin)


def _least(enough, of):
    """The least time after `of` that is enough."""
    low, high = of, of + 1000
    if not enough(high):
        raise ValueError("no time is enough: nobody is there to compute")
    for _ in range(CLOSER):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
