"""The boards of dashboards/ against a live Prometheus: every panel's query of every board gives data from real jobs, and the
panels that are about faults show those that are planted. Needs Debian's package prometheus."""

import harness
import jobs
import monitoring
import shown

SYNC = "rounds"
ITEMS = "items"
# What each job has of what panels need.
HAS = {SYNC: frozenset({"rounds", "evaluation", "metrics", "copies"}),
       ITEMS: frozenset({"items", "evaluation", "metrics", "journal"})}
STRAGGLER = "worker-2"
SNAPSHOTS_APART = 8  # steps, of some 300 ms
WIDE = 15  # seconds from point to point where an event is to be seen: a scrape that fails does not hide it
LATE = {"BALLAST_DELAY": f"{STRAGGLER}:150,*:15"}
# So that its slots are not given to others: it is to be seen how late it is. Where training begins without it, it has none.
ALL_ALIKE = {"cluster.divide_by_speed": "false", "cluster.redistribute": "false", "cluster.workers": 3,
             "cluster.start_workers": 3}


class Boards(harness.ClusterCase):
    patience = 3 * harness.PATIENCE  # the rate interval of the slowest panel, on a machine that is busy with other tests

    def start_jobs(self):
        """A job in rounds, with evaluations and copies, and one of items, with a journal; both with a straggler."""
        self.monitor = monitoring.Monitor(self)
        options = ["--workers", "3", "--shards", "2", "--metrics"]
        text = jobs.glyphs(steps=100000, slots=6, job=SYNC)
        self.runs = {SYNC: self.start(self.job(text, "rounds.yaml"), name=SYNC, options=options, environment=LATE, overrides={
            **ALL_ALIKE, "durability.every_steps": SNAPSHOTS_APART, "durability.copy_to": self.folder / "copies"})}
        text = jobs.glyphs(steps=100000, slots=6, job=ITEMS, training="mode: ssp\n  staleness: {bound: 4}\n  " + jobs.MOMENTUM)
        self.runs[ITEMS] = self.start(self.job(text, "items.yaml"), name=ITEMS, options=options, environment=LATE, overrides={
            "durability.mode": "journal", "durability.every_steps": 20, "data.validation_examples": 60})
        for name, run in self.runs.items():
            run.wait_for_step(10)
            self.monitor.wait_for_targets(name, 5)
        self.jobs = {name: shown.Job(self.monitor.server, name, has, monitoring.SCRAPE, self.monitor.begun)
                     for name, has in HAS.items()}

    def wait_until_full(self):
        gaps = shown.Gaps(self.jobs.values())
        if not harness.wait_for(lambda: not gaps.left(), self.patience):
            self.fail(f"without data: {gaps.left()}\n{self.logs()}")

    def greatest(self, title, job):
        """The greatest value that a panel has shown, by worker, else cause, else process."""
        greatest = {}
        for query in shown.panel_of(title).queries:
            for labels, values in self.jobs[job].values(query.promql, step=WIDE):
                who = labels.get("worker") or labels.get("cause") or labels.get("instance", "")
                greatest[who] = max([greatest.get(who, 0.0), *values])
        return greatest

    def wait_to_see(self, title, job, who=None):
        """That a panel shows something above zero, of whom it is."""
        def found():
            seen = self.greatest(title, job)
            return max(seen.values(), default=0) > 0 if who is None else seen.get(who, 0) > 0
        self.wait_for(f"{title} of {job}", found)

    def test_every_panel_has_data_and_shows_the_faults_that_are_planted(self):
        self.start_jobs()
        self.wait_until_full()
        self.expect_needs()
        # Beside other tests its first rates may have little of how late it is and what it costs.
        self.wait_for("the straggler as the one that is latest", lambda: self.is_latest(STRAGGLER))
        warning = shown.panel_of("Part of a step").warning
        self.wait_for("the part of a step that the straggler costs",
                      lambda: self.greatest("Part of a step", SYNC).get(STRAGGLER, 0) > warning)
        self.wait_to_see("Distance to the foremost worker", ITEMS, STRAGGLER)
        # In the midst of two snapshots: at the very step of one there is nothing to be trained again.
        self.runs[SYNC].wait_for_step(SNAPSHOTS_APART * (self.runs[SYNC].status()["step"] // SNAPSHOTS_APART + 1) + 3)
        for run in self.runs.values():
            self.assertIsNotNone(run.kill("server", 1))
            self.assertIsNotNone(run.kill("worker", 0))
        for title in ("Rollbacks", "Steps trained again", "Given up"):
            self.wait_to_see(title, SYNC)
        self.wait_to_see("Shards that came back", ITEMS)
        self.assertEqual(max(self.greatest("Timeline", ITEMS).values()), 1)
        for run in self.runs.values():
            self.assertEqual(run.control("stop").returncode, 0)

    def is_latest(self, worker):
        late = self.greatest("Later than the median worker", SYNC)
        return late.get(worker, 0) > 0 and max(late, key=late.get) == worker

    def expect_needs(self):
        """What a panel says that it needs is what it is empty without."""
        for panel in shown.panels():
            for job in self.jobs.values():
                if panel.needs not in shown.NOBODY_HAS and not job.has_what_it_needs(panel):
                    self.assertFalse(any(map(job.gives_numbers, panel.queries)), f"{panel.title} of {job.name}")


if __name__ == "__main__":
    harness.main(monitoring.unfit)
