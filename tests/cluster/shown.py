"""What the panels of dashboards/ show of jobs that a Prometheus asks. Grafana itself is not run: its variables are put in as
it does (dashboards/prometheus.py)."""

import dataclasses
import time

import monitoring

import all_boards  # of dashboards/, by monitoring
import prometheus

# No machine of the tests has a GPU, and the harness keeps those that do from using it; jobs that are well refuse nothing.
NOBODY_HAS = {"gpu", "refusals"}


def panels():
    return [panel for board in all_boards.BOARDS for panel in board.panels]


def panel_of(title):
    return next(panel for panel in panels() if panel.title == title)


@dataclasses.dataclass(frozen=True)
class Job:
    """One that a Prometheus asks. `has`: of what panels need (panels.NEEDS), what this job has."""

    server: prometheus.Prometheus
    name: str
    has: frozenset
    scrape: float  # seconds from one to the next
    begun: float   # when it may have been asked first

    def values(self, promql, step=None):
        """All values that a panel has shown so far, by series: [(labels, [value])], one for each scrape, with the rate interval
        of points that are `step` seconds apart."""
        query = prometheus.substituted(promql, self.name, self.scrape, step or self.scrape)
        series = self.server.range(query, self.begun, time.time(), self.scrape)
        return [(labels, [value for _, value in values if value == value]) for labels, values in series]  # NaN: none

    def gives_numbers(self, query):
        return any(values for _, values in self.values(query.promql))

    def has_what_it_needs(self, panel):
        return not panel.needs or panel.needs in self.has


class Gaps:
    """Where no number has been seen yet: in a panel, of a job that has what it needs; in a query of one, of no job at all."""

    def __init__(self, jobs):
        wanted = [panel for panel in panels() if panel.needs not in NOBODY_HAS]
        self._gaps = [(f"{panel.title} of {job.name}", [(job, query) for query in panel.queries])
                      for panel in wanted for job in jobs if job.has_what_it_needs(panel)]
        self._gaps += [(query.promql, [(job, query) for job in jobs]) for panel in wanted for query in panel.queries]

    def left(self):
        """Their names, as things stand now."""
        self._gaps = [(what, ways) for what, ways in self._gaps if not any(job.gives_numbers(query) for job, query in ways)]
        return [what for what, _ in self._gaps]
