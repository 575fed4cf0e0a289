"""The metrics that there are, as docs/metrics.md has them."""

import dataclasses
import pathlib
import re

DOCUMENT = pathlib.Path(__file__).resolve().parents[1] / "docs" / "metrics.md"

# What a scrape adds to every series: the run and the process (docs/dashboards.md).
OF_THE_SCRAPE = ("job", "instance")


@dataclasses.dataclass(frozen=True)
class Metric:
    name: str
    type: str      # counter, gauge or histogram
    unit: str
    labels: tuple  # without those of the scrape
    meaning: str


def read(document=DOCUMENT):
    """All metrics by name."""
    row = re.compile(r"^\| `(ballast_\w+)` \| (\w+) \| ([^|]+?) \| ([^|]*?) ?\| (.*) \|$", re.MULTILINE)
    found = {name: Metric(name, kind, unit, tuple(labels.split(", ")) if labels else (), meaning)
             for name, kind, unit, labels, meaning in row.findall(document.read_text(encoding="utf-8"))}
    if not found:
        raise ValueError(f"{document}: no table of metrics; the unit test `metrics` writes it with BALLAST_UPDATE=1")
    return found


def named_in(expression, metrics):
    """The metrics that a PromQL expression reads; a histogram's series stand for the histogram. Names that are none are
    given as they are."""
    names = set()
    for name in re.findall(r"\bballast_\w+", expression):
        bare = re.sub(r"_(bucket|sum|count)$", "", name)
        names.add(bare if metrics.get(bare) and metrics[bare].type == "histogram" else name)
    return names
