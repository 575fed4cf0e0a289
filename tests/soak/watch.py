"""What processes use over time: memory, descriptors and threads, life by life; and whether that is bounded.

The rule, for each life that is long enough: the first third is its warming up and does not count. The rest is cut into BLOCKS
spans, of each of which the median counts, so that neighbouring samples, which are alike, do not count as many. Something grows
without bound if all of these hold:

- Mann and Kendall's test sees a trend upwards, with a probability of error of 0.001 (one-sided, normal approximation);
- Sen's slope (the median of all pairs' slopes) makes more of it over the span than allocators and reconnections do by
  themselves (ALLOWANCE, absolute and as a part of the median);
- the last quarter of the blocks lies above all of the first quarter.
"""

import itertools
import math
import os
import statistics

BLOCKS = 12
LEAST_SAMPLES = 4 * BLOCKS  # of a life that is judged
Z = 3.09                    # of a probability of 0.001
PAGE = os.sysconf("SC_PAGE_SIZE")

# What is sampled, its unit, and how much more may come over a life for no reason: absolute, part of the median.
ALLOWANCE = {"memory": ("MiB", 4.0, 0.05), "descriptors": ("", 6.0, 0.1), "threads": ("", 2.0, 0.1)}
# MiB that a server's database fills little by little and never exceeds: its memtables and its cache (storage/store/rocksdb_limits.h).
DATABASE = 52.0


def sample(pid):
    """Memory (MiB, resident), descriptors, threads; None if it is gone."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as statm:
            resident = int(statm.read().split()[1])
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            threads = int(stat.read().rsplit(")", 1)[1].split()[17])
        return {"memory": resident * PAGE / (1 << 20), "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
                "threads": threads} if resident else None
    except (OSError, IndexError):
        return None


def trend(values):
    """Mann and Kendall's z, with the correction for ties, and Sen's slope by index."""
    pairs = list(itertools.combinations(range(len(values)), 2))
    score = sum((values[b] > values[a]) - (values[b] < values[a]) for a, b in pairs)
    count = len(values)
    ties = [len(list(group)) for _, group in itertools.groupby(sorted(values))]
    variance = (count * (count - 1) * (2 * count + 5) - sum(t * (t - 1) * (2 * t + 5) for t in ties)) / 18
    slope = statistics.median((values[b] - values[a]) / (b - a) for a, b in pairs)
    if variance == 0:
        return 0.0, slope
    return (score - (score > 0) + (score < 0)) / math.sqrt(variance), slope


def blocks_of(values):
    values = values[len(values) // 3:]
    cuts = [len(values) * block // BLOCKS for block in range(BLOCKS + 1)]
    return [statistics.median(values[a:b]) for a, b in itertools.pairwise(cuts)]


def grows(kind, values, database=0.0):
    """By how much it grew over the span that counts if it grows without bound; None if it does not. `database`: MiB that
    one may fill."""
    blocks = blocks_of(values)
    z, slope = trend(blocks)
    _, absolute, part = ALLOWANCE[kind]
    absolute += database if kind == "memory" else 0.0
    growth = slope * (BLOCKS - 1)
    quarter = BLOCKS // 4
    if z > Z and growth > max(absolute, part * statistics.median(blocks)) and min(blocks[-quarter:]) > max(blocks[:quarter]):
        return growth
    return None


class Watch:
    """Samples of all lives: (name, number of the life, job) -> [(time, sample)]."""

    def __init__(self):
        self.lives = {}

    def look(self, job, processes, now):
        for process in processes:
            if process.is_alive() and not process.stopped:
                found = sample(process.process.pid)
                if found:
                    self.lives.setdefault((process.name, process.lives, job), []).append((now, found))

    def judged(self):
        """Lives that are long enough."""
        return {life: samples for life, samples in self.lives.items() if len(samples) >= LEAST_SAMPLES}

    def growing(self):
        """What grows, in words."""
        found = []
        for (name, life, job), samples in self.judged().items():
            for kind, (unit, _, _) in ALLOWANCE.items():
                growth = grows(kind, [values[kind] for _, values in samples], DATABASE if name.startswith("s") else 0.0)
                if growth is not None:
                    seconds = samples[-1][0] - samples[0][0]
                    found.append(f"{kind} of {name}, life {life} of job {job}, grew by {growth:.1f} {unit or 'of them'} in the last "
                                 f"two thirds of {seconds:.0f} s")
        return found

    def write(self, file):
        with open(file, "w", encoding="utf-8") as out:
            out.write("job,process,life,seconds,memory_mib,descriptors,threads\n")
            for (name, life, job), samples in self.lives.items():
                for now, values in samples:
                    out.write(f"{job},{name},{life},{now:.1f},{values['memory']:.1f},{values['descriptors']},"
                              f"{values['threads']}\n")
