"""Boards, rows and panels, before anybody makes JSON or pictures of them.

Queries are PromQL with a few words of our own in the selectors, which stand for the board's variables:

    {@job}     {job="$job"}: every process of the run
    {@shard}   the chosen shards, by the process
    {@lane}    the chosen lanes of the chosen shards
    {@worker}  what the lead tells of the chosen workers, or the shards
    {@own}     what the chosen workers tell of themselves

More matchers may follow after a comma. `[@]` is the range $__rate_interval.
"""

import dataclasses

SELECTORS = {
    "@job": 'job="$job"',
    "@shard": 'job="$job",instance=~"$shard"',
    "@lane": 'job="$job",instance=~"$shard",lane=~"$lane"',
    "@worker": 'job="$job",worker=~"$worker"',
    "@own": 'job="$job",instance=~"$worker"',
}

# Colours. Nothing is red, nor anything like it, unless a threshold has been passed.
PLAIN = "#5794F2"
QUIET = ("#5794F2", "#73BF69", "#B877D9", "#37872D", "#8AB8FF", "#3274D9", "#CA95E5", "#96D98D")
WARNING = "orange"
BAD = "red"

# Legends whose values are known beforehand: each value gets its colour.
VALUES = {
    "{{phase}}": ("data_wait", "pull", "forward", "backward", "push"),
    "{{outcome}}": ("accepted", "duplicate", "superseded", "stale", "expired", "durable", "failed", "done"),
    "{{stage}}": ("waiting", "reading", "summing", "applying", "replying", "storing", "other"),
    "{{cause}}": ("shard", "mark", "below_cut", "lives", "non_finite", "torn", "unknown"),
}

# What some panels need to have data.
NEEDS = {
    "evaluation": "the job evaluates",
    "metrics": "evaluations tell more than loss and accuracy",
    "copies": "the job has `durability.copy_to`",
    "rounds": "the job is of mode sync or local",
    "items": "the job is of mode async or ssp",
    "journal": "the job has a journal (`durability.mode: journal`)",
    "refusals": "a server has refused a message",
    "gpu": "a worker computes on a GPU whose driver tells",
}

# Units, as Grafana calls them.
SECONDS, BYTES, RATE_OF_BYTES, SHARE, NUMBER, HERTZ, EACH_SECOND = "s", "bytes", "Bps", "percentunit", "short", "hertz", "cps"


def expanded(expression):
    for word, matchers in SELECTORS.items():
        expression = expression.replace("{" + word, "{" + matchers)
    return expression.replace("[@]", "[$__rate_interval]")


@dataclasses.dataclass(frozen=True)
class Query:
    expression: str
    legend: str = ""
    instant: bool = False

    @property
    def promql(self):
        """With Grafana's variables in it."""
        return expanded(self.expression)


@dataclasses.dataclass(frozen=True)
class Panel:
    title: str
    kind: str                  # timeseries, stat, heatmap, bargauge, table
    unit: str
    queries: tuple
    about: str                 # what it shows, and what to make of it
    needs: str = ""            # a key of NEEDS
    warning: float = None      # from this value on it is a warning,
    bad: float = None          # and from this one on it is bad
    stacked: bool = False
    derived: str = ""          # how the unit comes of others than those of the metrics
    words: dict = None         # what is shown in place of a value
    columns: tuple = ()        # of a table: label or "Value #A", and its heading
    width: int = 8             # of 24
    height: int = 7

    @property
    def description(self):
        return self.about + (f" Empty unless {NEEDS[self.needs]}." if self.needs else "")


@dataclasses.dataclass(frozen=True)
class Row:
    title: str
    panels: tuple


@dataclasses.dataclass(frozen=True)
class Board:
    uid: str
    title: str
    about: str
    rows: tuple
    variables: tuple = ()  # of VARIABLES, besides data source and job

    @property
    def panels(self):
        return [panel for row in self.rows for panel in row.panels]


# Besides `source` and `job`, which every board has: the label, and the series whose values of it there are.
VARIABLES = {
    "shard": ("Shard", "instance", 'ballast_shard_serving{job="$job"}'),
    "lane": ("Lane", "lane", 'ballast_shard_serving{job="$job"}'),
    "worker": ("Worker", "worker", 'ballast_lead_worker_live{job="$job"}'),
}


def _queries(queries, instant=False):
    return tuple(Query(*((query,) if isinstance(query, str) else query), instant=instant) for query in queries)


def lines(title, unit, *queries, about, **more):
    """Over time. A query is an expression, or an expression with a legend."""
    return Panel(title, "timeseries", unit, _queries(queries), about, **more)


def number(title, unit, *queries, about, width=4, height=4, **more):
    """The newest value, large."""
    return Panel(title, "stat", unit, _queries(queries), about, width=width, height=height, **more)


def heat(title, unit, *queries, about, width=24, height=8, **more):
    """A row for each series, coloured by value: what stands out from the background is much."""
    return Panel(title, "heatmap", unit, _queries(queries), about, width=width, height=height, **more)


def ranking(title, unit, *queries, about, height=8, **more):
    """A bar for each series as it stands now, the longest first."""
    return Panel(title, "bargauge", unit, _queries(queries, instant=True), about, height=height, **more)


def table(title, *queries, columns, about, width=24, unit=NUMBER, **more):
    return Panel(title, "table", unit, _queries(queries, instant=True), about, columns=columns, width=width, **more)


# ---- expressions that come up again and again

def mean(histogram, selector, by):
    """Of a histogram's observations, over the rate interval."""
    return (f"sum by ({by}) (rate({histogram}_sum{{{selector}}}[@])) / "
            f"sum by ({by}) (rate({histogram}_count{{{selector}}}[@]))")


def quantile(share, histogram, selector, by=""):
    labels = f"le, {by}" if by else "le"
    return f"histogram_quantile({share}, sum by ({labels}) (rate({histogram}_bucket{{{selector}}}[@])))"


def each_second(counter, selector, by):
    return f"sum by ({by}) (rate({counter}{{{selector}}}[@]))"
