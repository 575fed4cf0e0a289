"""What is measured: who is slow, away, or on a thin link; and which parts of the balance are on."""

import dataclasses

GIGABIT = 125e6  # bytes per second
PERIOD = 20.0    # seconds from one stop of a worker to its next

# What the job's `cluster` says of the balance, by variant, after its other keys. `today` is for programs that know no such
# keys.
VARIANTS = {
    "today": "",
    "off": ", divide_by_speed: false, redistribute: false",
    "balancing": ", redistribute: false",
    "redistribution": ", divide_by_speed: false",
    "both": "",
}


@dataclasses.dataclass(frozen=True)
class Stop:
    """SIGSTOP for `seconds` of every PERIOD, for the first time at `phase` seconds of it."""
    seconds: float
    phase: float = 5.0


@dataclasses.dataclass(frozen=True)
class Case:
    about: str
    workers: int
    slots: int = 64
    slow: dict = dataclasses.field(default_factory=dict)   # worker: so many times as long for a slot
    stops: dict = dataclasses.field(default_factory=dict)  # worker: Stop
    links: dict = dataclasses.field(default_factory=dict)  # worker: its part of a gigabit per second
    target: float = 0.0       # of streamed capacity, with everything on
    of_ceiling: float = 0.0   # of the ceiling by whole slots
    size: float = 8e6         # bytes of the model

    def sound(self):
        """A worker of whom nothing is wrong: it sees when steps close."""
        return next(worker for worker in reversed(range(self.workers))
                    if worker not in self.slow and worker not in self.stops and worker not in self.links)


@dataclasses.dataclass(frozen=True)
class Kill:
    """One of `workers`, with `each` slots of step / each seconds, is killed, and comes back."""
    workers: int
    each: int
    step: float
    size: float

    def limit(self):
        """Seconds that a kill may cost; None: one step, its detection and two chunks, and not less."""
        return max(self.step, 0.3) if self.workers >= 3 and self.each >= 2 else None


_SLOW = {"about": "one of four 4 x slower", "workers": 4, "slow": {0: 4.0}}
_STOP = {"about": "one of four stopped 2 s of 20", "workers": 4, "stops": {1: Stop(2)}}
_LINK = {"about": "one of four on a link of a tenth", "workers": 4, "links": {2: 0.1}}
_ALL = {"about": "all three causes at once, four workers", "workers": 4, "slow": {0: 4.0}, "stops": {1: Stop(2)},
        "links": {2: 0.1}}
_TWO = {"about": "two of eight away 5 s of 20, ten seconds apart", "workers": 8, "stops": {0: Stop(5), 1: Stop(5, 15)}}

CASES = {
    "alike": Case("four workers alike", 4),
    "slow": Case(**_SLOW, target=0.95),
    "stop": Case(**_STOP, target=0.95),
    "link": Case(**_LINK, target=0.92),
    "two": Case(**_TWO, target=0.85),
    "all": Case(**_ALL, target=0.88),
}
# With few slots whole ones decide.
for _slots in (8, 16):
    for _name, _of in (("slow", _SLOW), ("stop", _STOP), ("link", _LINK), ("two", _TWO), ("all", _ALL)):
        CASES[f"{_name}-{_slots}"] = Case(**_of, slots=_slots, of_ceiling=0.9)
# Where so little is sent that it costs two cores nothing.
CASES["two-8-small"] = Case(**{**_TWO, "about": _TWO["about"] + ", a model of 1 MB"}, slots=8, of_ceiling=0.9, size=1e6)

KILLS = {f"kill-{round(step * 1000)}-{workers}x{each}": Kill(workers, each, step, size)
         for step, size in ((0.05, 2e6), (0.5, 8e6), (5.0, 8e6)) for workers, each in ((3, 2), (4, 4), (2, 4), (3, 1))}
DRAINS = {"drain": Kill(3, 4, 1.0, 8e6)}
