"""Charts of lines, as one SVG file."""

import dataclasses
import html
import pathlib

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 260, 60, 200, 36, 40
COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b")


@dataclasses.dataclass
class Chart:
    title: str
    along: str    # what the horizontal axis is of
    upward: str   # the vertical one
    lines: dict   # by name: points (x, y), by x
    limit: float  # a level line; None: there is none


def write(charts, path):
    height = HEIGHT * len(charts)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="11">',
             f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>']
    for number, chart in enumerate(charts):
        parts += [f'<g transform="translate(0 {number * HEIGHT})">', *drawn(chart), "</g>"]
    pathlib.Path(path).write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")


def drawn(chart):
    points = [point for line in chart.lines.values() for point in line]
    first, last = min(x for x, _ in points), max(x for x, _ in points)
    top = 1.1 * max([y for _, y in points] + [chart.limit or 0])
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def at(x, y):
        return LEFT + (right - LEFT) * (x - first) / max(1, last - first), bottom - (bottom - TOP) * y / top

    yield text(LEFT, 20, chart.title, weight="bold")
    yield text((LEFT + right) / 2, HEIGHT - 8, chart.along, anchor="middle")
    yield text(8, TOP - 4, chart.upward)
    for part in range(5):
        y = at(first, top * part / 4)[1]
        yield f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#dddddd"/>'
        yield text(LEFT - 6, y + 4, f"{top * part / 4:.0f}", anchor="end")
        x = first + (last - first) * part / 4
        yield text(at(x, 0)[0], bottom + 16, f"{x:.0f}", anchor="middle")
    if chart.limit:
        y = at(first, chart.limit)[1]
        yield f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#000000" stroke-dasharray="5 4"/>'
        yield text(right + 6, y + 4, f"{chart.limit:.0f}")
    for colour, (number, (name, line)) in zip(COLOURS, enumerate(chart.lines.items())):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*point) for point in line))
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        yield f'<path d="M{right + 50} {TOP + 16 * number}h14" stroke="{colour}" stroke-width="3"/>'
        yield text(right + 68, TOP + 4 + 16 * number, name)


def text(x, y, words, anchor="start", weight="normal"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}">{html.escape(words)}</text>'
