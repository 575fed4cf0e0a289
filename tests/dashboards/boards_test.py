"""dashboards/ against docs/metrics.md, against what is committed, and against what a quiet board is."""

import importlib.machinery
import importlib.util
import json
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DASHBOARDS = ROOT / "dashboards"
sys.path.insert(0, str(DASHBOARDS))

import alerts  # pylint: disable=wrong-import-position
import all_boards  # pylint: disable=wrong-import-position
import metrics_table  # pylint: disable=wrong-import-position
import panels  # pylint: disable=wrong-import-position


def load(name):
    """A command of dashboards/ as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(DASHBOARDS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


GENERATE = load("generate")
METRICS = metrics_table.read()
EVERYWHERE = {*metrics_table.OF_THE_SCRAPE, "exported_job"}  # the info's own label `job`, as a scrape renames it


def each_query():
    for board in all_boards.BOARDS:
        for panel in board.panels:
            for query in panel.queries:
                yield board, panel, query


def allowed_units(metric, expression):
    """What a panel may show of a metric as it is used in an expression."""
    name = re.escape(metric.name)
    by_second = metric.type == "counter" and re.search(rf"\b(rate|irate)\({name}\b", expression)
    if metric.unit == "seconds":
        return {"percentunit"} if by_second else {"s"}
    if metric.unit == "bytes":
        return {"Bps"} if by_second else {"bytes"}
    own = {"bytes per second": {"Bps"}, "ratio": {"percentunit"}, "hertz": {"hertz"}}
    return own.get(metric.unit, {"cps"} if by_second else {"short"})


def selectors(expression):
    """(metric's series, label) of each matcher."""
    for name, matchers in re.findall(r"\b(ballast_\w+)\{([^}]*)\}", expression):
        for label in re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", re.sub(r'"[^"]*"', '""', matchers)):
            yield name, label


class AgainstTheTable(unittest.TestCase):
    def test_every_metric_has_a_panel_and_no_panel_reads_what_is_none(self):
        used = set().union(*(metrics_table.named_in(query.expression, METRICS) for _, _, query in each_query()))
        self.assertEqual(used, set(METRICS))

    def test_rules_read_only_metrics_that_there_are(self):
        for rule in (*alerts.RECORDINGS, *alerts.ALERTS):
            plain = re.sub(r"\b\w+:ballast\w*(:\w+)+", "", rule.expression)
            self.assertLessEqual(metrics_table.named_in(plain, METRICS), set(METRICS), rule.name)

    def test_rules_use_recordings_that_there_are(self):
        known = {rule.name for rule in alerts.RECORDINGS}
        for rule in (*alerts.RECORDINGS, *alerts.ALERTS):
            self.assertLessEqual(set(re.findall(r"\b\w+:ballast\w*(?::\w+)+", rule.expression)), known, rule.name)

    def expect_labels(self, expression, legend, what):
        for name, label in selectors(expression):
            bare = re.sub(r"_(bucket|sum|count)$", "", name)
            metric = METRICS.get(name) or METRICS[bare]
            self.assertIn(label, {*metric.labels, *EVERYWHERE}, f"{what}: {name}")
        known = {"le", *EVERYWHERE}
        for name in metrics_table.named_in(expression, METRICS):
            known |= set(METRICS[name].labels)
        grouped = re.findall(r"\b(?:by|on|group_left|group_right|without)\s*\(([^)]*)\)", expression)
        names = {label for group in grouped for label in re.findall(r"\w+", group)} | set(re.findall(r"{{(\w+)}}", legend))
        self.assertLessEqual(names, known, what)

    def test_labels_are_those_of_the_table(self):
        for board, panel, query in each_query():
            with self.subTest(board=board.title, panel=panel.title):
                self.expect_labels(query.promql, query.legend, panel.title)
                for label, _ in panel.columns:
                    self.assertTrue(label.startswith("Value #") or label in {"role", "index", *EVERYWHERE}, label)
        for rule in alerts.RECORDINGS[:-2]:
            self.expect_labels(rule.expression, "", rule.name)

    def test_labels_of_alerts_texts_are_in_their_expressions(self):
        for alert in alerts.ALERTS:
            for label in re.findall(r"\$labels\.(\w+)", alert.summary + alert.description):
                with self.subTest(alert=alert.name, label=label):
                    self.assertTrue(label in ("job", "instance") or re.search(rf"\b{label}\b", alert.expression)
                                    or "job_worker:" in alert.expression and label == "worker")

    def test_units_follow_the_table(self):
        for board, panel, query in each_query():
            if panel.derived or panel.kind == "table":
                continue
            for name in metrics_table.named_in(query.expression, METRICS):
                with self.subTest(board=board.title, panel=panel.title, metric=name):
                    self.assertIn(panel.unit, allowed_units(METRICS[name], query.expression))

    def test_counters_are_shown_as_what_they_grow_by(self):
        """Or as their newest value, in a stat; what a counter has come to says nothing over time."""
        for board, panel, query in each_query():
            if panel.kind not in ("timeseries", "heatmap") or panel.title == "Corrupt examples":
                continue
            for name in metrics_table.named_in(query.expression, METRICS):
                if METRICS[name].type == "counter":
                    with self.subTest(board=board.title, panel=panel.title):
                        self.assertRegex(query.expression, rf"\b(rate|increase)\({name}\b")


class Boards(unittest.TestCase):
    def setUp(self):
        self.files = {name: json.loads(text) for name, text in GENERATE.written().items() if name.endswith(".json")}

    def test_what_is_committed_is_what_is_generated(self):
        self.assertEqual(GENERATE.stale(DASHBOARDS, GENERATE.written()), [], "run dashboards/generate")

    def test_a_stale_file_is_noticed(self):
        files = GENERATE.written()
        name = next(iter(files))
        self.assertEqual(GENERATE.stale(DASHBOARDS, files | {name: files[name] + " "}), [name])
        del files[name]
        self.assertEqual(GENERATE.stale(DASHBOARDS, files), [name])

    def test_uids_ids_and_titles_are_each_another(self):
        uids = [board["uid"] for board in self.files.values()]
        self.assertEqual(len(uids), len(set(uids)))
        for name, board in self.files.items():
            for key in ("id", "title"):
                values = [panel[key] for panel in board["panels"]]
                self.assertEqual(len(values), len(set(values)), f"{name}: {key}")
            self.assertLessEqual(max(map(len, uids)), 40)  # Grafana's limit

    def test_panels_lie_beside_and_below_each_other(self):
        for name, board in self.files.items():
            taken = set()
            for panel in board["panels"]:
                at = panel["gridPos"]
                cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
                self.assertFalse(cells & taken, f"{name}: {panel['title']}")
                self.assertLessEqual(at["x"] + at["w"], 24)
                taken |= cells

    def test_queries_use_variables_that_the_board_has(self):
        for name, board in self.files.items():
            known = {variable["name"] for variable in board["templating"]["list"]} | {"__rate_interval"}
            used = set(re.findall(r"\$\{?(\w+)", json.dumps([panel.get("targets") for panel in board["panels"]])))
            self.assertLessEqual(used, known, name)
            self.assertLessEqual(known - {"__rate_interval"}, used | {"job", "source"}, f"{name}: a variable that nothing uses")

    def test_every_range_is_the_rate_interval(self):
        for board, panel, query in each_query():
            self.assertEqual(set(re.findall(r"\[([^\]]*)\]", query.promql)) - {"$__rate_interval"}, set(),
                             f"{board.title}: {panel.title}")

    def test_every_panel_says_what_it_shows(self):
        for board in all_boards.BOARDS:
            for panel in board.panels:
                self.assertRegex(panel.description, r"\.$", panel.title)
                self.assertTrue(not panel.needs or panel.needs in panels.NEEDS)


class Quiet(unittest.TestCase):
    """Nothing has a warning's colour unless a threshold has been passed."""

    WARNS = ("red", "orange", "yellow")

    def loud(self, value, path=""):
        """Places where such a colour, or a palette that has them, stands outside of thresholds."""
        if path.endswith("/matcher"):
            return []  # names of series
        if isinstance(value, dict):
            if path.endswith("/thresholds"):
                self.assertEqual(value["steps"][0], {"color": "text", "value": None})
                return []
            return [found for key, below in value.items() for found in self.loud(below, f"{path}/{key}")]
        if isinstance(value, list):
            return [found for place, below in enumerate(value) for found in self.loud(below, f"{path}/{place}")]
        is_loud = isinstance(value, str) and "/fieldConfig/" in path + "/" and (
            any(word in value.lower() for word in self.WARNS) or value.startswith("palette"))
        return [path] if is_loud else []

    def test_colours(self):
        for name, text in GENERATE.written().items():
            if name.endswith(".json"):
                self.assertEqual(self.loud(json.loads(text)), [], name)

    def test_colours_that_warn_are_found(self):
        self.assertEqual(self.loud({"fieldConfig": {"defaults": {"color": {"mode": "palette-classic"}}}}),
                         ["/fieldConfig/defaults/color/mode"])
        self.assertEqual(self.loud({"fieldConfig": {"overrides": [{"fixedColor": "dark-red"}]}}),
                         ["/fieldConfig/overrides/0/fixedColor"])


if __name__ == "__main__":
    unittest.main()
