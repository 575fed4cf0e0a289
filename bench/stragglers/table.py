"""Rows for people: a line of a Markdown table each, as docs/measurements/stragglers.md has them."""

_THROUGHPUT = "| case | variant | slots/s | of streamed | of the ceiling | aimed at | models up | computed twice a step | steps | scatter | load |"
_KILL = "| case | variant | cost, mean | cost, most | limit | step | step of the others | kills | load |"
_DRAIN = "| case | variant | slots computed twice | left after | load |"


def _rule(head):
    return "|" + " --- |" * (head.count("|") - 1)


def _throughput(row):
    aimed = f"{row['target']:.2f}" if row["target"] else \
        f"{row['target_of_ceiling']:.2f} of the ceiling" if row["target_of_ceiling"] else ""
    return (f"| {row['case']}: {row['about']}, {row['slots']} slots{' (quick)' if row['quick'] else ''} | {row['variant']} | "
            f"{row['slots_per_second']:.2f} of {row['streamed']:.2f} | {row['of_streamed']:.3f} | {row['of_ceiling']:.3f} | "
            f"{aimed} | {row['models_up']:.2f} | {row['duplicate_slots_per_step']:.1f} | "
            f"{row['steps']} in {row['seconds']:.0f} s | {100 * row['machine_scatter']:.1f} % | {row['load']:.1f} |")


def _kill(row):
    limit = f"{row['limit_ms']:.0f} ms" if row["limit_ms"] else "a step, detection, two chunks"
    return (f"| {row['case']}: {row['about']} | {row['variant']} | {row['cost_ms']['mean']:.0f} ms | "
            f"{row['cost_ms']['max']:.0f} ms | {limit} | {row['step_ms']:.0f} ms | {row['step_ms_of_others']:.0f} ms | "
            f"{row['repetitions']} | {row['load']:.1f} |")


def _drain(row):
    return (f"| {row['case']}: {row['about']} | {row['variant']} | {', '.join(map(str, row['computed_twice']))} | "
            f"{', '.join(map(str, row['left_after_ms']))} ms | {row['load']:.1f} |")


_KINDS = (("of_streamed", _THROUGHPUT, _throughput), ("cost_ms", _KILL, _kill), ("computed_twice", _DRAIN, _drain))


def show(rows, head=True):
    """One table for each kind of row, in the order of the rows."""
    rows = list(rows)
    for key, title, line in _KINDS:
        of_kind = [row for row in rows if key in row]
        if of_kind and head:
            print(f"{title}\n{_rule(title)}")
        for row in of_kind:
            print(line(row), flush=True)
