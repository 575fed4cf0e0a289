"""Boards as SVG: what Grafana's panels show of the same queries, drawn plainly and in its dark colours."""

import html
import math
import time

import prometheus
from panels import BAD, PLAIN, QUIET, VALUES, WARNING

COLUMN, LINE, GAP = 50, 32, 6  # pixels of Grafana's grid of 24 columns
POINTS = 100                   # of a series at most
BACKGROUND, PANEL, TEXT, DIM, GRID = "#111217", "#181b1f", "#ccccdc", "#8e8e9a", "#2c2e33"
COLOURS = {WARNING: "#ff9830", BAD: "#f2495c"}
SHADES = (PLAIN, "#8ab8ff", "#3274d9", "#c0d8ff", "#1f60c4")  # as Grafana's `shades` of the plain colour


class Source:
    """What a board's panels ask, within a span of time."""

    def __init__(self, server, job, begin, end, scrape):
        self.server, self.job, self.begin, self.end, self.scrape = server, job, begin, end, scrape
        self.step = max(scrape, math.ceil((end - begin) / POINTS))

    def series(self, panel):
        """[(legend, [(time, value)])] of all queries; numbers only."""
        found = []
        for query in panel.queries:
            promql = prometheus.substituted(query.promql, self.job, self.scrape, self.step)
            for labels, values in self.server.range(promql, self.begin, self.end, self.step):
                values = [(at, value) for at, value in values if math.isfinite(value)]
                if values:
                    found.append((prometheus.legend(query, labels), values))
        return sorted(found) if panel.kind == "heatmap" else found

    def newest(self, panel):
        """[(legend, value, labels, place of the query)]."""
        found = []
        for place, query in enumerate(panel.queries):
            promql = prometheus.substituted(query.promql, self.job, self.scrape, self.step)
            found += [(prometheus.legend(query, labels), value, labels, place)
                      for labels, value in self.server.instant(promql, self.end)]
        return found


def shown(value, unit):
    """As Grafana writes it, about."""
    if math.isnan(value):
        return "–"
    if unit == "percentunit":
        return f"{100 * value:.3g} %"
    if unit == "s":
        for factor, name in ((3600, "h"), (60, "min"), (1, "s"), (1e-3, "ms")):
            if abs(value) >= factor:
                return f"{value / factor:.3g} {name}"
        return "0 s" if value == 0 else f"{value * 1e6:.3g} µs"
    base, names = (1024, ("", "Ki", "Mi", "Gi", "Ti")) if unit in ("bytes", "Bps") else (1000, ("", "k", "M", "G", "T"))
    ends = {"bytes": "B", "Bps": "B/s", "cps": "/s", "hertz": "Hz"}
    place = 0
    while abs(value) >= base * (10 if base == 1000 and place == 0 else 1) and place < len(names) - 1:
        value, place = value / base, place + 1
    return f"{value:.4g} {names[place]}{ends.get(unit, '')}".rstrip()


def words(x, y, text, size=11, fill=TEXT, anchor="start", weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{fill}" text-anchor="{anchor}" font-weight="{weight}">'
            f"{html.escape(str(text))}</text>")


def box(x, y, width, height, fill, more=""):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}" fill="{fill}"{more}/>'


def colour_of(panel, value, usual):
    """A warning's only if its threshold has been passed."""
    if panel.bad is not None and value >= panel.bad:
        return COLOURS[BAD]
    if panel.warning is not None and value >= panel.warning:
        return COLOURS[WARNING]
    return usual


def times(source, x, y, width):
    """The axis of time, with five marks."""
    text = ""
    for mark in range(5):
        at = source.begin + (source.end - source.begin) * mark / 4
        anchor = "start" if mark == 0 else "end" if mark == 4 else "middle"
        text += words(x + width * mark / 4, y, time.strftime("%H:%M:%S", time.gmtime(at)), 9, DIM, anchor)
    return text


def timeseries(panel, source, x, y, width, height):
    series = source.series(panel)
    if not series:
        return nothing(panel, x, y, width, height)
    legends = [name for name, _ in series][:12]
    rows = [legends[place:place + max(1, int(width // 130))] for place in range(0, len(legends), max(1, int(width // 130)))]
    left, bottom = x + 52, y + height - 18 - 13 * len(rows)
    right, top = x + width - 10, y + 6
    if panel.stacked:
        series = stacked(series)
    most = max(max(value for _, value in values) for _, values in series)
    least = min(0.0, min(min(value for _, value in values) for _, values in series))
    limits = [limit for limit in (panel.warning, panel.bad) if limit is not None and limit <= 2 * most]
    most = max([most, *limits]) * 1.05 or 1.0
    text = ""
    for mark in range(4):
        value = least + (most - least) * mark / 3
        at = bottom - (bottom - top) * mark / 3
        text += f'<path d="M{left} {at:.1f}H{right}" stroke="{GRID}"/>' + words(left - 4, at + 3, shown(value, panel.unit), 9, DIM, "end")
    for limit in limits:
        at = bottom - (bottom - top) * (limit - least) / (most - least)
        stroke = COLOURS[WARNING if limit == panel.warning else BAD]
        text += f'<path d="M{left} {at:.1f}H{right}" stroke="{stroke}" stroke-dasharray="4 3" opacity="0.6"/>'
    many = any("{{worker}}" in query.legend or query.legend in VALUES for query in panel.queries)
    palette = QUIET if many or len({query.legend for query in panel.queries}) > 1 else SHADES

    def point(at, value):
        across = left + (right - left) * (at - source.begin) / (source.end - source.begin)
        return f"{across:.1f} {bottom - (bottom - top) * (value - least) / (most - least):.1f}"
    for place, (_, values) in enumerate(series):
        path, before = "", None
        for at, value in values:
            path += ("L" if before is not None and at - before <= 1.5 * source.step else "M") + point(at, value)
            before = at
        text += f'<path d="{path}" fill="none" stroke="{palette[place % len(palette)]}" stroke-width="1.4"/>'
    for line, names in enumerate(rows):
        for place, name in enumerate(names):
            across = x + 10 + place * (width - 20) / len(rows[0])
            at = bottom + 26 + 13 * line
            text += box(across, at - 5, 10, 3, palette[(line * len(rows[0]) + place) % len(palette)]) + words(across + 14, at, name, 10)
    return text + times(source, left, bottom + 12, right - left)


def stacked(series):
    """Each one on top of those before it; the last one first, so that all can be seen."""
    below, made = {}, []
    for name, values in series:
        raised = [(at, value + below.get(at, 0.0)) for at, value in values]
        below |= dict(raised)
        made.append((name, raised))
    return made


def heatmap(panel, source, x, y, width, height):
    series = source.series(panel)
    if not series:
        return nothing(panel, x, y, width, height)
    most = max(value for _, values in series for _, value in values) or 1.0
    left, right, top, bottom = x + 110, x + width - 10, y + 4, y + height - 34
    row = (bottom - top) / len(series)
    cell = (right - left) * source.step / (source.end - source.begin)
    text = ""
    for place, (name, values) in enumerate(series):
        text += words(left - 6, top + (place + 0.5) * row + 4, name, 11, TEXT, "end")
        for at, value in values:
            across = left + (right - left) * (at - source.begin) / (source.end - source.begin)
            text += box(across, top + place * row + 1, cell - 0.5, row - 2, heat(value / most))
    text += times(source, left, bottom + 14, right - left)
    for mark in range(60):
        text += box(left + 3 * mark, bottom + 20, 3, 8, heat(mark / 59))
    return text + words(left - 4, bottom + 28, "0", 9, DIM, "end") + words(left + 186, bottom + 28, shown(most, panel.unit), 9, DIM)


def heat(part):
    """From the panel's own colour to a bright blue: no warning's colour."""
    part = max(0.0, part) ** 0.5
    low, high = (29, 33, 40), (158, 202, 255)
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in zip(low, high))


def stat(panel, source, x, y, width, height):
    newest = source.newest(panel)
    if not newest:
        return nothing(panel, x, y, width, height)
    text = ""
    for place, (name, value, _, _) in enumerate(newest[:2]):
        said = (panel.words or {}).get(int(value) if value == value else 0) or shown(value, panel.unit)
        middle = x + width * (2 * place + 1) / (2 * min(2, len(newest)))
        size = min(26, 1.5 * width / len(newest[:2]) / max(len(str(said)), 1))
        text += words(middle, y + height / 2 + 6, said, round(size), colour_of(panel, value, TEXT), "middle", "bold")
        if len(newest) > 1:
            text += words(middle, y + height - 8, name, 9, DIM, "middle")
    return text


def bargauge(panel, source, x, y, width, height):
    newest = sorted((one for one in source.newest(panel) if math.isfinite(one[1])), key=lambda one: -one[1])[:8]
    if not newest:
        return nothing(panel, x, y, width, height)
    most = max(newest[0][1], 1e-9)
    row = min(34, (height - 8) / len(newest))
    text = ""
    for place, (name, value, _, _) in enumerate(newest):
        at = y + 4 + place * row
        text += words(x + 104, at + row / 2 + 4, name, 11, TEXT, "end") + box(x + 110, at + 3, width - 210, row - 6, GRID)
        text += box(x + 110, at + 3, (width - 210) * max(value, 0) / most, row - 6, PLAIN)
        text += words(x + width - 94, at + row / 2 + 4, shown(value, panel.unit), 11)
    return text


def table(panel, source, x, y, width, height):
    rows = {}
    for _, value, labels, place in source.newest(panel):
        key = tuple(sorted((name, text) for name, text in labels.items() if name != "__name__"))
        rows.setdefault(key, dict(key))[f"Value #{'ABCDEFGHIJ'[place]}"] = shown(value, panel.unit)
    text = ""
    wide = (width - 20) / len(panel.columns)
    for place, (_, heading) in enumerate(panel.columns):
        text += words(x + 10 + place * wide, y + 14, heading, 10, DIM)
    for line, (_, row) in enumerate(sorted(rows.items())[:int((height - 22) / 16)]):
        for place, (name, _) in enumerate(panel.columns):
            text += words(x + 10 + place * wide, y + 32 + 16 * line, row.get(name, ""), 11)
    return text


def nothing(panel, x, y, width, height):
    return words(x + width / 2, y + height / 2, "No data", 12, DIM, "middle")


_KINDS = {"timeseries": timeseries, "stat": stat, "heatmap": heatmap, "bargauge": bargauge, "table": table}


def board(of, source, rows=None):
    """The whole board, or its first rows."""
    text, y = "", 44.0
    width = 24 * COLUMN
    for row in of.rows[:rows]:
        text += words(10, y + 20, row.title, 14, TEXT, weight="bold")
        y, x, height = y + LINE, 0, 0
        for panel in row.panels:
            if x + panel.width > 24:
                y, x, height = y + height * LINE, 0, 0
            text += one_panel(panel, source, x * COLUMN, y)
            x, height = x + panel.width, max(height, panel.height)
        y += height * LINE
    head = words(10, 28, of.title, 18, TEXT, weight="bold") + words(width - 10, 28, f"Run: {source.job}", 13, DIM, "end")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y + 10:.0f}" font-family="sans-serif">'
            f'{box(0, 0, width, y + 10, BACKGROUND)}{head}{text}</svg>\n')


def one_panel(panel, source, x, y):
    width, height = panel.width * COLUMN - GAP, panel.height * LINE - GAP
    text = box(x + GAP / 2, y, width, height, PANEL, ' rx="3"') + words(x + 12, y + 17, panel.title, 12)
    return text + _KINDS[panel.kind](panel, source, x + GAP / 2, y + 24, width, height - 24)
