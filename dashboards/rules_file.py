"""Prometheus' rule files, as YAML that people can read."""

import json

from alerts import GROUPS, RECORDINGS, paced

RUNBOOKS = "docs/alerts.md"
_HEAD = "# Written by dashboards/generate from dashboards/alerts.py: change it there.\ngroups:\n"


def _block(key, text, indent):
    """A text of one line or more, as it stands."""
    space = " " * indent
    if "\n" not in text:
        return f"{space}{key}: {json.dumps(text)}\n"
    return f"{space}{key}: |-\n" + "".join(f"{space}  {line}\n" for line in text.split("\n"))


def recording_rules(pace=1.0):
    text = _HEAD + "  - name: ballast-recordings\n    rules:\n"
    for rule in RECORDINGS:
        text += f"      - record: {rule.name}\n" + _block("expr", paced(rule.expression, pace), 8)
    return text


def alerting_rules(runbooks=RUNBOOKS, pace=1.0):
    """`runbooks`: where docs/alerts.md is read, an address of your own."""
    text = _HEAD
    for group, alerts in GROUPS.items():
        text += f"  - name: ballast-{group}\n    rules:\n"
        for alert in alerts:
            text += f"      - alert: {alert.name}\n" + _block("expr", paced(alert.expression, pace), 8)
            text += f"        for: {paced(alert.lasts, pace)}\n        labels:\n          severity: {alert.severity}\n"
            text += "        annotations:\n" + _block("summary", alert.summary, 10)
            text += _block("description", alert.description, 10)
            text += _block("runbook_url", f"{runbooks}#{alert.anchor}", 10)
    return text


def files(runbooks=RUNBOOKS, pace=1.0):
    return {"recording.yml": recording_rules(pace), "alerts.yml": alerting_rules(runbooks, pace)}
