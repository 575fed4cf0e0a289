"""Causes that are planted in a job of the rig, each by a seed: how large it is, where, and what must be said of it."""

import random
import signal
import time

LINK = 125e6      # bytes a second, of a worker
SLOT = 0.1        # seconds
SHARDS = 2
CLIPS = "  clip: {global_norm: 1000000}\n"


class Cause:
    """One of them, or none of them while it is not `planted`. What a subclass does not say is as in a sound job."""

    training = ""      # more lines of the job's
    apart = False      # each shard has a host of its own
    wired = False      # the worker's link is a wire
    passes = False     # what it costs is told in seconds

    def __init__(self, generator, workers):
        self.workers = workers
        self.at = generator.randrange(workers)
        self.size = self.drawn(generator)

    def drawn(self, generator):
        """How large it is."""
        raise NotImplementedError

    def told(self):
        """What it is, of whom: (who, cause), any of them."""
        raise NotImplementedError

    def links(self):
        """Bytes a second of each worker's link."""
        return [LINK] * self.workers

    def delays(self):
        return {}

    def environment(self):
        return {}

    def servers(self):
        """Bytes a second of each shard's link, where they are apart."""
        return [LINK * self.workers / 2 / SHARDS] * SHARDS

    def begin(self, job):
        """When all train."""

    def during(self, job, over):
        """While steps are timed, in a thread of its own, until the event `over` is set."""


class Compute(Cause):
    """A worker's slots take `size` times as long."""

    def drawn(self, generator):
        return generator.uniform(1.5, 3)

    def told(self):
        return [(f"worker w{self.at}", "compute")]

    def delays(self):
        return {self.at: round(1000 * SLOT * (self.size - 1))}


class Link(Cause):
    """A worker's link carries 1 / `size` of the others'."""

    def drawn(self, generator):
        return generator.uniform(4, 15)

    def told(self):
        return [(f"worker w{self.at}", "link")]

    def links(self):
        return [LINK / (self.size if worker == self.at else 1) for worker in range(self.workers)]


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

    def environment(self):
        return {"BALLAST_READ_DELAY": f"w{self.at}:{round(1000 * SLOT * self.size)}"}


class Servers(Cause):
    """A shard's link carries 1 / `size` of the other's."""

    apart = True

    def drawn(self, generator):
        self.at = generator.randrange(SHARDS)
        return generator.uniform(3, 6)

    def told(self):
        return [(f"shard {self.at}", "server link")]

    def servers(self):
        return [rate / (self.size if shard == self.at else 1) for shard, rate in enumerate(super().servers())]


class Processor(Cause):
    """A shard has `size` of a processor."""

    def drawn(self, generator):
        self.at = generator.randrange(SHARDS)
        return generator.uniform(0.04, 0.08)

    def told(self):
        return [(f"shard {self.at} lane 0", "processor")]

    def begin(self, job):
        job.limit_processor(f"s{self.at}", self.size)


class Lead(Cause):
    """The lead, which decides on each step, has `size` of a processor, and so has its lane."""

    training = CLIPS

    def drawn(self, generator):
        return generator.uniform(0.04, 0.08)

    def told(self):
        return [("lead", "decisions"), ("shard 0 lane 0", "processor")]

    def begin(self, job):
        job.limit_processor("s0", self.size)


class Stops(Cause):
    """A worker stands still for a while, now and then."""

    passes = True
    seconds = 0.0
    apart_by = 0.0

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
    """Two seconds, once, `size` seconds after the begin of the window that is looked at."""

    seconds = 2.0
    apart_by = 1000.0

    def drawn(self, generator):
        return generator.uniform(1, 4)


class Hiccups(Stops):
    """200 ms of each 1.5 s, from `size` seconds on."""

    seconds = 0.2
    apart_by = 1.5

    def drawn(self, generator):
        return generator.uniform(0, 1.5)


CAUSES = {"compute": Compute, "link": Link, "delay": Delay, "loss": Loss, "data": Data, "servers": Servers,
          "processor": Processor, "lead": Lead, "pause": Pause, "hiccups": Hiccups}


def drawn(generator, names):
    """A cause and whether the lead balances."""
    name = generator.choice(sorted(names))
    workers = generator.choice([3, 4, 5])
    return name, CAUSES[name](generator, workers), generator.random() < 0.5


def generator_of(seed):
    return random.Random(seed)
