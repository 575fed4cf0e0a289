"""What is right and what is wrong, told from numbers and texts alone. Every function returns a sentence about what it
found where all is well, and raises Wrong with one where it is not."""

import math
import re

LOSSES = 50          # training losses that are compared, from step 0 on
LOSS_DIFFERENCE = 1e-3   # of two backends' losses, over the larger one
ACCURACY = 0.99      # share of test examples that lenet5 and mlp must learn of MNIST
PRECISION_COSTS = 0.01   # of accuracy, at most, that factors with fewer bits may cost
EARLY = 0.9          # of a slot's time: by then its first gradient must have left
WATCHED_STEPS = 300  # at least, while memory is watched


class Wrong(Exception):
    """Something was judged and found wrong."""


def lines_from(output, mark, most):
    """So many lines of it, from the first with the mark on; all of them said anew, for nobody may see the rest."""
    lines = output.splitlines()
    first = next((number for number, line in enumerate(lines) if mark in line), None)
    return "" if first is None else "\n" + "\n".join(lines[first:first + most])


def test_program(code, output):
    """A program of tests that ended: doctest's count must be there and name no failure."""
    counted = re.search(r"test cases:\s*(\d+) \|\s*(\d+) passed \|\s*(\d+) failed", output)
    if counted is None:
        raise Wrong(f"no count of test cases; it ended with code {code}:\n{output.strip()[-600:]}")
    cases, passed, failed = map(int, counted.groups())
    if code != 0 or failed or passed != cases or cases == 0:
        raise Wrong(f"{failed} of {cases} test cases failed, exit code {code}" + lines_from(output, "TEST CASE:", 40))
    return f"{cases} test cases"


def losses(expected, found, steps=LOSSES, bound=LOSS_DIFFERENCE):
    """The losses of the first steps, by backend."""
    if len(expected) < steps or len(found) < steps:
        raise Wrong(f"{len(found)} losses, and {len(expected)} to compare with; {steps} of each are needed")
    worst, at = 0.0, 0
    for step, (one, other) in enumerate(zip(expected[:steps], found[:steps])):
        if not (math.isfinite(one) and math.isfinite(other)):
            raise Wrong(f"the loss of step {step} is {other}, that of the cpu {one}")
        difference = abs(one - other) / max(abs(one), abs(other), 1e-30)
        if difference > worst:
            worst, at = difference, step
    text = f"{steps} losses ({found[0]:.4f} to {found[steps - 1]:.4f}), the largest difference {worst:.1e} at step {at}"
    if worst > bound:
        raise Wrong(f"{text}; {bound:.0e} is allowed")
    if not found[steps - 1] < found[0]:
        raise Wrong(f"{text}: nothing was learnt")
    return text


def accuracy(found, wanted=ACCURACY):
    """Of the final weights, on the test split."""
    if not isinstance(found, float) or not math.isfinite(found):
        raise Wrong(f"test accuracy {found}")
    text = f"test accuracy {100 * found:.2f} %"
    if found < wanted:
        raise Wrong(f"{text}; {100 * wanted:.2f} % is wanted")
    return text


def same_bits(one, other):
    """Weights and optimizer state of two runs, by their summaries."""
    for what in ("weights_sha256", "optimizer_sha256"):
        digests = one.get(what), other.get(what)
        if not all(isinstance(digest, str) and re.fullmatch("[0-9a-f]{64}", digest) for digest in digests):
            raise Wrong(f"no {what} to compare: {digests[0]}, {digests[1]}")
        if digests[0] != digests[1]:
            raise Wrong(f"{what} differ: {digests[0][:16]}..., {digests[1][:16]}...")
    return f"weights {one['weights_sha256'][:16]}..."


def everybody_worked(summary, workers):
    """That many workers had slots of the job, and no life of one was lost."""
    busy = sum(1 for slots in summary["slots_by_session"].values() if slots > 0)
    if busy != workers or summary["worker_restarts"] or summary["lost_workers"]:
        raise Wrong(f"{busy} of {workers} workers computed, {summary['worker_restarts']} were started again")
    return f"{workers} workers"


def precision(float32, lower, has_effect):
    """A job whose factors have fewer bits, held against the same job in float32. `has_effect`: on this device it must
    show in the weights."""
    found, wanted = lower["test_accuracy"], float32["test_accuracy"] - PRECISION_COSTS
    text = accuracy(found, wanted) + f", float32 {100 * float32['test_accuracy']:.2f} %"
    if has_effect and lower["weights_sha256"] == float32["weights_sha256"]:
        raise Wrong(f"{text}, but the weights are float32's: it had no effect")
    return text


def gradients_leave_early(speed, share=EARLY):
    """By model-speed's line: the first gradient of a slot is in host memory while others are yet to be computed."""
    first, last = speed["first_gradient_us"], speed["last_gradient_us"]
    text = f"the first after {first} us, the last after {last} us"
    if not 0 < first <= share * last:
        raise Wrong(f"{text}; the first is wanted within {share} of the time")
    return text


def steps_watched(samples):
    return samples[-1][0] - samples[0][0] if samples else 0


def steady_memory(samples, tolerance):
    """Samples of (steps done, bytes in use) after the warm-up: the second half must not need more than the first."""
    steps = steps_watched(samples)
    if len(samples) < 6 or steps < WATCHED_STEPS:
        raise Wrong(f"{len(samples)} samples over {steps:.0f} steps; 6 over {WATCHED_STEPS} are needed")
    used = [sample[1] for sample in samples]
    middle = len(used) // 2
    before, after = max(used[:middle]), max(used[middle:])
    text = f"{before / 2**20:.1f} MiB, later {after / 2**20:.1f} MiB, over {steps:.0f} steps"
    if after > before + tolerance:
        raise Wrong(f"{text}: it grows")
    return text


def gpu_metrics(values):
    """What a worker tells of its GPU while it trains."""
    told = {}
    for name in ("utilization", "memory_used_bytes", "memory_bytes", "clock_hertz", 'throttled{reason="heat"}'):
        if f"ballast_worker_gpu_{name}" not in values:
            raise Wrong(f"ballast_worker_gpu_{name} is not served")
        told[name] = values[f"ballast_worker_gpu_{name}"]
    used, total = told["memory_used_bytes"], told["memory_bytes"]
    text = (f"utilization {told['utilization']:.2f}, {used / 2**30:.1f} of {total / 2**30:.1f} GiB, "
            f"{told['clock_hertz'] / 1e6:.0f} MHz")
    if not (0 < told["utilization"] <= 1 and 0 < used <= total and 1e8 < told["clock_hertz"] < 1e10):
        raise Wrong(text)
    return text


TOO_LARGE = re.compile(r"does not fit into the device's memory with (\d+) examples at once; with (\d+) it would")


def too_large(text, asked):
    """The sentence about a micro-batch without room; returns what would fit."""
    found = TOO_LARGE.search(text)
    if found is None:
        raise Wrong(f"nothing says which micro-batch fits; the end of what was said: {text.strip()[-300:]}")
    refused, fits = map(int, found.groups())
    if refused != asked or not 0 < fits < asked:
        raise Wrong(f"{asked} examples were asked for: {found.group(0)}")
    return fits


def says(text, wanted):
    """A sentence that must be there."""
    if wanted not in text:
        raise Wrong(f"'{wanted}' is not said; the end of what was said: {text.strip()[-300:]}")
    return wanted


REFUSED = ("Device not supported", "Target application terminated before first instrumented API call")


def refused(output):
    """Why the memory checker cannot work on this machine; None if it can."""
    return next((reason for reason in REFUSED if reason in output), None)


def checker_complains(output):
    """Whether there is a complaint in what compute-sanitizer has said so far: lines that begin with its mark."""
    marks = ("Invalid", "Uninitialized", "Error:", "Race reported", "Leaked", "Program hit", "Misaligned")
    return any(line.startswith("=========") and any(mark in line for mark in marks) for line in output.splitlines())


def memory_checker(code, output):
    """What compute-sanitizer and the test program under it said. A leak is an error."""
    leaked = re.search(r"LEAK SUMMARY: (\d+) bytes leaked in (\d+) allocations", output)
    if leaked and int(leaked.group(1)) > 0:
        raise Wrong(leaked.group(0))
    found = re.search(r"(?:ERROR|RACECHECK) SUMMARY: (\d+) (?:errors?|hazards? displayed)", output)
    if found is None:
        raise Wrong(f"the checker gave no summary; it ended with code {code}: {output.strip()[-300:]}")
    if int(found.group(1)) > 0:
        complaints = "\n".join(line for line in output.splitlines() if line.startswith("=========") and
                               "COMPUTE-SANITIZER" not in line)
        raise Wrong(f"{found.group(0)}" + lines_from(complaints, "=", 30))
    return f"{test_program(code, output)}, {found.group(0)}" + (", no leak" if leaked else "")
