"""The alerting rules against series that must and must not make them fire, by promtool; and their runbooks."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "dashboards"))

import alert_cases  # pylint: disable=wrong-import-position
import alerts  # pylint: disable=wrong-import-position
import rules_file  # pylint: disable=wrong-import-position

RULES = ROOT / "dashboards" / "prometheus" / "rules"
BY_NAME = {alert.name: alert for alert in alerts.ALERTS}


def expected(name, labels, description):
    """As promtool wants it, all annotations included."""
    alert = BY_NAME[name]
    summary = re.sub(r"{{ \$labels\.(\w+) }}", lambda found: labels[found[1]], alert.summary)
    return {"exp_labels": labels | {"severity": alert.severity},
            "exp_annotations": {"summary": summary, "description": description,
                                "runbook_url": f"{rules_file.RUNBOOKS}#{alert.anchor}"}}


def test_of(case):
    """A promtool test: every alert is looked at, whatever the case is about."""
    series = {name: values for name, values in (alert_cases.healthy() | case.series).items() if values is not None}
    fires = {name: [] for name in BY_NAME}
    for name, labels, description in case.fires:
        fires[name].append(expected(name, labels, description))
    return {"name": case.about, "interval": "15s",
            "input_series": [{"series": name, "values": values} for name, values in series.items()],
            "alert_rule_test": [{"eval_time": case.at, "alertname": name, "exp_alerts": wanted} for name, wanted in fires.items()]}


class Cases(unittest.TestCase):
    def test_every_alert_has_a_case_in_which_it_fires(self):
        fired = {name for case in alert_cases.CASES for name, _, _ in case.fires}
        self.assertEqual(fired, set(BY_NAME))

    def test_most_alerts_have_a_series_of_their_own_that_makes_none_fire(self):
        """A fault that comes near and is none; the healthy run is one for all."""
        quiet = [case for case in alert_cases.CASES if not case.fires]
        self.assertGreater(len(quiet), 20)
        self.assertEqual(len({case.about for case in alert_cases.CASES}), len(alert_cases.CASES))


class Runbooks(unittest.TestCase):
    def setUp(self):
        self.text = (ROOT / "docs" / "alerts.md").read_text(encoding="utf-8")
        self.sections = {found[1]: found[2] for found in re.finditer(r"^### (\w+)\n(.*?)(?=^##|\Z)", self.text, re.M | re.S)}

    def test_every_alert_has_a_section_and_no_section_is_of_none(self):
        self.assertEqual(set(self.sections), set(BY_NAME))

    def test_every_section_says_what_it_means_and_what_to_do(self):
        for name, section in self.sections.items():
            with self.subTest(alert=name):
                for words in ("**Means**", "**Look**", "**Do**"):
                    self.assertIn(words, section)
                self.assertIn(f"({BY_NAME[name].severity})", section)

    def test_descriptions_name_who_it_is(self):
        for alert in alerts.ALERTS:
            self.assertRegex(alert.summary + alert.description, r"\$labels\.(worker|instance|index|job)", alert.name)
            self.assertIn("$labels.job", alert.summary, alert.name)


@unittest.skipUnless(shutil.which("promtool"), "needs promtool (Debian's package prometheus)")
class Promtool(unittest.TestCase):
    def call(self, *words):
        answer = subprocess.run(["promtool", *map(str, words)], capture_output=True, text=True, check=False, timeout=600)
        return answer.returncode, answer.stdout + answer.stderr

    def test_rules_are_rules(self):
        code, text = self.call("check", "rules", *sorted(RULES.glob("*.yml")))
        self.assertEqual(code, 0, text)

    def test_rules_at_another_pace_are_rules(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in rules_file.files(pace=30).items():
                (pathlib.Path(folder) / name).write_text(text, encoding="utf-8")
            code, text = self.call("check", "rules", *sorted(pathlib.Path(folder).glob("*.yml")))
            self.assertEqual(code, 0, text)

    def run_cases(self, cases):
        """How promtool ends, and what it says."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "cases.yml"
            file.write_text(json.dumps({"rule_files": [str(name) for name in sorted(RULES.glob("*.yml"), reverse=True)],
                                        "evaluation_interval": "30s", "tests": [test_of(case) for case in cases]}),
                            encoding="utf-8")
            return self.call("test", "rules", file)

    def test_series_make_fire_what_they_must_and_nothing_else(self):
        code, text = self.run_cases(alert_cases.CASES)
        self.assertEqual(code, 0, text)

    def test_an_alert_that_fires_unasked_is_noticed(self):
        fault = next(case for case in alert_cases.CASES if case.fires)
        code, text = self.run_cases([alert_cases.Case("unasked", fault.series, fault.at)])
        self.assertNotEqual(code, 0)
        self.assertIn(fault.fires[0][0], text)

    def test_an_alert_that_does_not_fire_is_noticed(self):
        fault = next(case for case in alert_cases.CASES if case.fires)
        code, _ = self.run_cases([alert_cases.Case("in vain", {}, fault.at, fault.fires)])
        self.assertNotEqual(code, 0)


if __name__ == "__main__":
    unittest.main()
