"""An SVG of what all lives used, with the faults below."""

import watch

WIDTH, HEIGHT = 1200, 220
LEFT, TOP, GAP = 70, 30, 40
COLOURS = {"s": "#b03a2e", "w": "#1f618d"}


def _panel(out, kind, unit, lives, seconds, top):
    most = max((values[kind] for samples in lives.values() for _, values in samples), default=1) or 1
    out.append(f'<text x="{LEFT}" y="{top - 8}">{kind}{f", {unit}" if unit else ""}</text>')
    for part in range(5):
        y = top + HEIGHT * (4 - part) / 4
        out.append(f'<line x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y}" y2="{y}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{most * part / 4:.0f}</text>')
    for (name, _, _), samples in lives.items():
        points = " ".join(f"{LEFT + WIDTH * now / seconds:.1f},{top + HEIGHT * (1 - values[kind] / most):.1f}"
                          for now, values in samples)
        out.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[name[0]]}" stroke-width="1" opacity="0.7">'
                   f"<title>{name}</title></polyline>")


def write(file, lives, faults, title):
    """`lives` as Watch has them; `faults`: (seconds, kind)."""
    seconds = max([samples[-1][0] for samples in lives.values()] + [1.0])
    out = []
    for number, (kind, (unit, _, _)) in enumerate(watch.ALLOWANCE.items()):
        _panel(out, kind, unit, lives, seconds, TOP + 20 + number * (HEIGHT + GAP))
    bottom = TOP + 20 + len(watch.ALLOWANCE) * (HEIGHT + GAP)
    for at, kind in faults:
        x = LEFT + WIDTH * at / seconds
        out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{bottom - 20}" y2="{bottom - 8}" stroke="#555"><title>{kind}'
                   "</title></line>")
    out.append(f'<text x="{LEFT}" y="{bottom + 10}">faults, over {seconds / 60:.0f} minutes; servers red, workers blue</text>')
    body = "\n".join(out)
    file.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 30}" height="{bottom + 30}" '
                    f'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>'
                    f'<text x="{LEFT}" y="16" font-size="14">{title}</text>\n{body}\n</svg>\n', encoding="utf-8")
