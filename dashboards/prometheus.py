"""Asks a Prometheus what a board's panels would ask it, with Grafana's variables put in as Grafana does."""

import json
import math
import re
import urllib.error
import urllib.parse
import urllib.request

PATIENCE = 30  # seconds


class Refused(Exception):
    """Prometheus did not take a query; says what it says."""


def rate_interval(scrape_interval, step):
    """Grafana's $__rate_interval, in seconds: never less than four scrapes, so that there are always two samples."""
    return max(step + scrape_interval, 4 * scrape_interval)


def substituted(promql, job, scrape_interval=15, step=15, **chosen):
    """The query with the board's variables in it; those that are not chosen stand for everything. A name or a list of
    names, which Grafana joins as a regular expression."""
    values = {"job": job, "shard": ".*", "lane": ".*", "worker": ".*"}
    for name, names in chosen.items():
        names = [names] if isinstance(names, str) else names
        escaped = [re.sub(r"([\\^$.*+?()\[\]{}|])", r"\\\\\1", one) for one in names]
        values[name] = escaped[0] if len(escaped) == 1 else "(" + "|".join(escaped) + ")"
    values["__rate_interval"] = f"{math.ceil(rate_interval(scrape_interval, step))}s"
    return re.sub(r"\$(__rate_interval|\w+)", lambda found: values[found[1]], promql)


class Prometheus:
    """A server at an address such as http://127.0.0.1:9090, asked past any proxy."""

    def __init__(self, address):
        self.address = address.rstrip("/")
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def ask(self, path, **parameters):
        # By POST, as Grafana does: long queries fit into no URL.
        body = urllib.parse.urlencode(parameters).encode() if parameters else None
        try:
            with self._opener.open(f"{self.address}/api/v1/{path}", data=body, timeout=PATIENCE) as answer:
                return json.loads(answer.read())["data"]
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors="replace")
            try:
                text = json.loads(text)["error"]
            except (ValueError, KeyError):
                pass
            raise Refused(f"{parameters.get('query', path)}: {text}") from None

    def instant(self, promql, at=None):
        """[(labels, value)] as it stands now, or at a time."""
        found = self.ask("query", query=promql, **({} if at is None else {"time": at}))
        if found["resultType"] == "scalar":
            return [({}, float(found["result"][1]))]
        return [(one["metric"], float(one["value"][1])) for one in found["result"]]

    def range(self, promql, begin, end, step):
        """[(labels, [(time, value)])]."""
        found = self.ask("query_range", query=promql, start=begin, end=end, step=step)
        return [(one["metric"], [(float(at), float(value)) for at, value in one["values"]]) for one in found["result"]]

    def alerts(self):
        """Those that are pending or firing: labels and all."""
        return self.ask("alerts")["alerts"]


def legend(query, labels):
    """What Grafana writes beside a series."""
    if query.legend:
        return re.sub(r"{{\s*(\w+)\s*}}", lambda found: labels.get(found[1], ""), query.legend)
    return ", ".join(f"{key}={value}" for key, value in sorted(labels.items()) if key != "__name__") or "value"
