"""Causes that are planted in a job of the rig, each by a seed: how large it is, where, when it begins, and what must be said of it."""

import random
import signal
import time

LINK = 62.5e6     # bytes a second, of a worker
SLOT = 0.04       # seconds
SHARDS = 2
CLIPS = "  clip: {global_norm: 1000000}\n"


class Shape:
    """A job in which causes are planted, or none: how many workers, how the lead divides, where the shards are."""

    def __init__(self, generator, mode="sync"):
        self.mode = mode
        self.workers = generator.choice([3, 4, 5, 6])
        self.balanced = generator.random() < 0.5
        self.apart = generator.random() < 0.5  # each shard has a host of its own
        self.wired = generator.randrange(self.workers)  # whose link is a wire, in jobs that need one

    def servers(self):
        """Bytes a second of each shard's link, where they are apart."""
        return [LINK * self.workers / 2 / SHARDS] * SHARDS

    def told(self):
        return {"mode": self.mode, "workers": self.workers, "balanced": self.balanced, "apart": self.apart}


class Cause:
    """One of them. What a subclass does not say is as in a sound job."""

    training = ""      # more lines of the job's
    durability = "mode: final"
    wired = False      # it needs a wire
    passes = False     # what it costs is told in seconds
    free = False       # it costs nothing

    def __init__(self, generator, shape):
        self.shape = shape
        self.at = shape.wired if self.wired else generator.randrange(shape.workers)
        self.worker = self.at  # None: it is no worker's
        self.size = self.drawn(generator)

    def drawn(self, generator):
        """How large it is."""
        raise NotImplementedError

    def told(self):
        """What it is, of whom: (who, cause), any of them."""
        raise NotImplementedError

    def delays(self, _first):
        """Of BALLAST_DELAY, from the step `first` on."""
        return []

    def reading(self, _first):
        """Likewise of BALLAST_READ_DELAY."""
        return []

    def begin(self, job):
        """It begins."""

    def during(self, job, over):
        """From its begin on, in a thread of its own, until the event `over` is set."""


class Compute(Cause):
    """A worker's slots take `size` times as long."""

    def drawn(self, generator):
        return generator.uniform(1.4, 3)

    def told(self):
        return [(f"worker w{self.at}", "compute")]

    def delays(self, first):
        return [f"w{self.at}:{round(1000 * SLOT * (self.size - 1))}@{first}"]


class Link(Cause):
    """A worker's link carries 1 / `size` of the others'."""

    def drawn(self, generator):
        return generator.uniform(4, 15)

    def told(self):
        return [(f"worker w{self.at}", "link")]

    def begin(self, job):
        job.links[self.at] = LINK / self.size
        job.set_rates()


class Delay(Cause):
    """What goes over a worker's link takes `size` seconds longer, there and back together."""

    wired = True

    def drawn(self, generator):
        return generator.uniform(0.03, 0.08)

    def told(self):
        return [(f"worker w{self.at}", "link")]

    def begin(self, job):
        job.hosts.wires[f"w{self.at}"].set(delay=self.size / 2)


class Loss(Cause):
    """A worker's link loses `size` of all frames, both ways."""

    wired = True

    def drawn(self, generator):
        return generator.uniform(0.007, 0.02)

    def told(self):
        return [(f"worker w{self.at}", "link")]

    def begin(self, job):
        job.hosts.wires[f"w{self.at}"].set(loss=self.size)


class Data(Cause):
    """A worker's slots are read in `size` times what they are computed in."""

    def drawn(self, generator):
        return generator.uniform(1.3, 2.5)

    def told(self):
        return [(f"worker w{self.at}", "data wait")]

    def reading(self, first):
        return [f"w{self.at}:{round(1000 * SLOT * self.size)}@{first}"]


class OfShard(Cause):
    """Of one of the shards."""

    def __init__(self, generator, shape):
        super().__init__(generator, shape)
        self.at = generator.randrange(SHARDS)
        self.worker = None


class Servers(OfShard):
    """A shard's link carries 1 / `size` of the other's, each on a host of its own."""

    def drawn(self, generator):
        return generator.uniform(3, 6)

    def told(self):
        return [(f"shard {self.at}", "server link")]

    def begin(self, job):
        job.apart[self.at] /= self.size
        job.set_rates()


class Processor(OfShard):
    """A shard has `size` of a processor."""

    def drawn(self, generator):
        return generator.uniform(0.03, 0.06)

    def told(self):
        return [(f"shard {self.at} lane 0", "processor")]

    def begin(self, job):
        job.limit_processor(f"s{self.at}", self.size)


class Lead(OfShard):
    """The lead, which decides on each step, has `size` of a processor, and so has its lane."""

    training = CLIPS

    def __init__(self, generator, shape):
        super().__init__(generator, shape)
        self.at = 0

    def drawn(self, generator):
        return generator.uniform(0.03, 0.06)

    def told(self):
        return [("lead", "decisions"), ("shard 0 lane 0", "processor")]

    def begin(self, job):
        job.limit_processor("s0", self.size)


class IdleLead(OfShard):
    """The lead, for whom nobody waits, has `size` of a processor: it costs nothing."""

    free = True

    def drawn(self, generator):
        return generator.uniform(0.01, 0.02)

    def told(self):
        return []

    def begin(self, job):
        job.limit_thread("s0", "lead", self.size)


class Disk(OfShard):
    """Each call of a shard that waits for its disk takes `size` seconds more, while snapshots are taken: it costs nothing."""

    free = True
    durability = "mode: snapshot, every_steps: 10"

    def drawn(self, generator):
        return generator.uniform(0.05, 0.2)

    def told(self):
        return []

    def begin(self, job):
        job.slow_disk(self.at, round(1000 * self.size))


class Storage(Disk):
    """The same in a job in items, whose updates wait for the journal."""

    free = False
    durability = "mode: journal, fsync: always"

    def drawn(self, generator):
        return generator.uniform(0.02, 0.1)

    def told(self):
        return [(f"shard {self.at}", "storage")]


class Journal(Disk):
    """All shards keep a journal, on disks that are as fast as they are."""

    free = False
    durability = Storage.durability

    def told(self):
        return [(f"shard {shard}", "storage") for shard in range(SHARDS)]

    def begin(self, job):
        """Nothing is slow."""


class Stops(Cause):
    """A worker stands still for a while, now and then."""

    passes = True
    seconds = 0.0
    apart_by = 0.0

    def drawn(self, generator):
        return generator.uniform(0, 1)

    def told(self):
        return [(f"worker w{self.at}", "passing stops")]

    def during(self, job, over):
        if over.wait(self.size):
            return
        while True:
            job.signal(self.at, signal.SIGSTOP)
            time.sleep(self.seconds)
            job.signal(self.at, signal.SIGCONT)
            if over.wait(self.apart_by - self.seconds):
                return


class Pause(Stops):
    """Two seconds, once, `size` seconds after its begin."""

    seconds = 2.0
    apart_by = 1000.0


class Hiccups(Stops):
    """200 ms of each 1.5 s, from `size` seconds on."""

    seconds = 0.2
    apart_by = 1.5


class Rare(Cause):
    """Now and then somebody stands still for a tenth of a second, whoever it is: of nobody is to be said that he is slow."""

    free = True
    seconds = 0.1
    apart_by = 4.0  # in the mean

    def drawn(self, generator):
        return generator.uniform(0, 1)

    def told(self):
        return []

    def during(self, job, over):
        generator = random.Random(self.size)
        while not over.wait(generator.expovariate(1 / self.apart_by)):
            worker = generator.randrange(self.shape.workers)
            job.signal(worker, signal.SIGSTOP)
            time.sleep(self.seconds)
            job.signal(worker, signal.SIGCONT)


# What means something in a job in items.
OF_ITEMS = ("compute", "link", "delay", "data", "processor", "storage")
CAUSES = {"compute": Compute, "link": Link, "delay": Delay, "loss": Loss, "data": Data, "servers": Servers,
          "processor": Processor, "lead": Lead, "idle_lead": IdleLead, "disk": Disk, "storage": Storage, "journal": Journal,
          "pause": Pause, "hiccups": Hiccups, "rare": Rare}


class Plant:
    """Some causes at once, or none, all from the step `first` on."""

    def __init__(self, shape, first, causes=(), names=(), training="", durability="", wired=False, spread=0.05):
        self.shape = shape
        self.spread = spread  # of a slot's time: a standard deviation
        self.first = first
        self.causes = causes
        self.names = names
        self.training = training or "".join(sorted({cause.training for cause in causes}))
        self.durability = durability or next((cause.durability for cause in causes if cause.durability != Cause.durability),
                                             Cause.durability)
        self.wired = wired or any(cause.wired for cause in causes)

    def sound(self, first):
        """The same job without them. A journal costs something however fast its disk is, and is a part of what is planted."""
        return Plant(self.shape, first, training=self.training, durability=self._durability_without(), wired=self.wired)

    def _durability_without(self):
        return Cause.durability if self.durability == Storage.durability else self.durability

    def is_like(self, other):
        """Both are the same job but for what is planted."""
        return ((self.shape, self.training, self._durability_without(), self.wired)
                == (other.shape, other.training, other.durability, other.wired))

    def told(self):
        return {"causes": [{"cause": name, "at": cause.at, "size": round(cause.size, 3), "told": cause.told(), "passes": cause.passes}
                           for name, cause in zip(self.names, self.causes)], **self.shape.told()}

    def with_also(self, other):
        return Plant(self.shape, self.first, (*self.causes, *other.causes), (*self.names, *other.names))

    def can_be_with(self, other):
        """Both are seen apart: not twice the same, and not of one worker, one shard."""
        return not set(self.names) & set(other.names) and all(
            (one.worker, one.at) != (two.worker, two.at) for one in self.causes for two in other.causes)


def drawn(generator, shape, names):
    possible = [name for name in sorted(names) if shape.apart or name != "servers"]
    name = generator.choice(possible)
    cause = CAUSES[name](generator, shape)
    return Plant(shape, generator.randrange(20, 41), (cause,), (name,))


def twins(generator, shape):
    """Two workers that compute as slowly."""
    one, two = Compute(generator, shape), Compute(generator, shape)
    two.size = one.size
    two.at = (one.at + 1 + generator.randrange(shape.workers - 1)) % shape.workers
    return Plant(shape, 30, (one, two), ("compute", "compute"))


def generator_of(seed):
    return random.Random(seed)
