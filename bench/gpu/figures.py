"""What is made of measurements. Pure."""

import statistics


def median(series):
    return round(statistics.median(series))


def compared(ours, theirs):
    """Medians of two series that were taken in turns, and how many times as fast ours is."""
    ratio = statistics.median(ours) / statistics.median(theirs)
    return {"ours": median(ours), "theirs": median(theirs), "ratio": round(ratio, 3), "ours_all": [round(x) for x in ours],
            "theirs_all": [round(x) for x in theirs]}


PHASES = ("data_wait", "pull", "forward", "backward", "push")


def share_outside_compute(before, after, seconds):
    """Of a worker's time between two looks at its metrics: what is not forward or backward. Phases in milliseconds of a
    step, the step by the clock as well; waiting for data, weights and receipts overlaps with computing in part."""
    steps = after["ballast_worker_steps_total"] - before["ballast_worker_steps_total"]
    if steps <= 0:
        raise ValueError("no step was done between two looks at the metrics")
    phases = {}
    for phase in PHASES:
        total, count = (after.get(name, 0) - before.get(name, 0)
                        for name in (f'ballast_worker_phase_seconds_{part}{{phase="{phase}"}}' for part in ("sum", "count")))
        if count <= 0:
            raise ValueError(f"no step's {phase} was measured")
        phases[phase] = 1000 * total / count
    step = 1000 * seconds / steps
    computing = phases["forward"] + phases["backward"]
    return {"steps": int(steps), "step_ms": round(step, 4), "outside": round(1 - computing / step, 4),
            "phases_ms": {name: round(value, 4) for name, value in phases.items()}}


def table(rows, columns):
    """Lines of text; `columns`: (title, key). What a row lacks is a dash."""
    texts = [[title for title, _ in columns]]
    texts += [[shown(row.get(key)) for _, key in columns] for row in rows]
    widths = [max(len(line[i]) for line in texts) for i in range(len(columns))]
    return ["  ".join(word.rjust(width) for word, width in zip(line, widths)) for line in texts]


def shown(value):
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else str(value)
