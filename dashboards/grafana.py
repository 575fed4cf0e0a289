"""Grafana's dashboard JSON of boards: the classic format, which Grafana 9 to 12 read from files."""

import json

from panels import BAD, NUMBER, PLAIN, QUIET, VALUES, VARIABLES, WARNING

SCHEMA = 38  # schemaVersion, of Grafana 10
_SOURCE = {"type": "prometheus", "uid": "${source}"}
_WIDE = 24


def _thresholds(panel):
    """Grey below, so that nothing is coloured while all is well."""
    steps = [{"color": "text", "value": None}]
    steps += [{"color": colour, "value": value} for colour, value in ((WARNING, panel.warning), (BAD, panel.bad))
              if value is not None]
    return {"mode": "absolute", "steps": steps}


def _mappings(panel):
    if not panel.words:
        return []
    return [{"type": "value", "options": {str(value): {"index": place, "text": word}
                                          for place, (value, word) in enumerate(panel.words.items())}}]


def _targets(panel):
    letters = "ABCDEFGHIJ"
    return [{"refId": letters[place], "datasource": _SOURCE, "expr": query.promql, "legendFormat": query.legend or "__auto",
             "editorMode": "code", "range": not query.instant, "instant": query.instant,
             "format": "table" if panel.kind == "table" else "time_series"} for place, query in enumerate(panel.queries)]


def _colour(panel):
    """One series for each worker, each by its value: the one that differs stands out. All others in shades of one colour."""
    if any("{{worker}}" in query.legend for query in panel.queries):
        return {"mode": "continuous-BlPu", "seriesBy": "last"}
    return {"mode": "shades", "fixedColor": PLAIN}


def _timeseries(panel):
    custom = {"drawStyle": "line", "lineWidth": 1, "fillOpacity": 30 if panel.stacked else 0, "showPoints": "never",
              "spanNulls": False, "stacking": {"mode": "normal" if panel.stacked else "none", "group": "A"},
              "axisSoftMin": 0, "thresholdsStyle": {"mode": "off" if panel.warning is panel.bad else "line"}}
    custom["lineInterpolation"] = "stepAfter" if panel.words else "linear"
    defaults = {"unit": panel.unit, "custom": custom, "color": _colour(panel)}
    options = {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
               "tooltip": {"mode": "multi", "sort": "desc"}}
    return defaults, options


def _stat(panel):
    defaults = {"unit": panel.unit, "color": {"mode": "thresholds"}}
    options = {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}, "colorMode": "value",
               "graphMode": "none", "justifyMode": "auto", "textMode": "auto", "orientation": "auto", "wideLayout": True,
               "showPercentChange": False, "percentChangeColorMode": "standard"}
    return defaults, options


def _heatmap(panel):
    """A row for each series: the queries' format is that of time series, and nothing is calculated."""
    options = {"calculate": False, "cellGap": 1, "cellValues": {"unit": panel.unit},
               "color": {"mode": "scheme", "scheme": "Blues", "steps": 64, "exponent": 0.5, "fill": "dark-blue", "reverse": False,
                         "min": 0},
               "exemplars": {"color": "rgba(128,128,128,0.7)"}, "filterValues": {"le": -1e-9}, "legend": {"show": True},
               "rowsFrame": {"layout": "auto", "value": "value"}, "showValue": "never",
               "tooltip": {"mode": "single", "showColorScale": True, "yHistogram": False}, "yAxis": {"axisPlacement": "left"}}
    return {"custom": {"hideFrom": {"legend": False, "tooltip": False, "viz": False},
                       "scaleDistribution": {"type": "linear"}}}, options


def _bargauge(panel):
    defaults = {"unit": panel.unit, "min": 0, "color": {"mode": "fixed", "fixedColor": PLAIN}}
    options = {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}, "displayMode": "basic",
               "orientation": "horizontal", "showUnfilled": True, "valueMode": "text", "namePlacement": "auto",
               "sizing": "auto",
               "legend": {"displayMode": "list", "placement": "bottom", "showLegend": False, "calcs": []}, "minVizHeight": 16, "minVizWidth": 8, "maxVizHeight": 300}
    return defaults, options


def _table(panel):
    return {"unit": panel.unit, "custom": {"align": "auto", "cellOptions": {"type": "auto"}, "inspect": False}}, {
        "showHeader": True, "cellHeight": "sm", "frameIndex": 0}


_KINDS = {"timeseries": _timeseries, "stat": _stat, "heatmap": _heatmap, "bargauge": _bargauge, "table": _table}


def _overrides(panel):
    """Series of one panel are told apart by colours of which none is like a warning's, where their number is known."""
    names = [query.legend for query in panel.queries if query.legend and "{{" not in query.legend]
    names += [name for query in panel.queries for name in VALUES.get(query.legend, ())]
    if panel.kind != "timeseries" or len(names) < 2:
        return []
    return [{"matcher": {"id": "byName", "options": name},
             "properties": [{"id": "color", "value": {"mode": "fixed", "fixedColor": QUIET[place % len(QUIET)]}}]}
            for place, name in enumerate(names)]


def _transformations(panel):
    if panel.kind != "table":
        return []
    names = [name for name, _ in panel.columns]
    places = {name: place for place, name in enumerate(names)}
    return [{"id": "merge", "options": {}},
            {"id": "filterFieldsByName", "options": {"include": {"names": names}}},
            {"id": "organize", "options": {"excludeByName": {}, "renameByName": dict(panel.columns), "indexByName": places}}]


def _panel(panel, number, x, y):
    defaults, options = _KINDS[panel.kind](panel)
    defaults = {**defaults, "thresholds": _thresholds(panel), "mappings": _mappings(panel)}
    if panel.unit == NUMBER:
        defaults["decimals"] = 0 if panel.words or panel.kind == "stat" else None
    return {"id": number, "type": panel.kind, "title": panel.title, "description": panel.description, "datasource": _SOURCE,
            "gridPos": {"x": x, "y": y, "w": panel.width, "h": panel.height}, "targets": _targets(panel),
            "fieldConfig": {"defaults": {key: value for key, value in defaults.items() if value is not None},
                            "overrides": _overrides(panel)},
            "options": options, "transformations": _transformations(panel)}


def _panels(board):
    """Rows from top to bottom, and in each its panels from left to right as far as there is room."""
    made = []
    y = 0
    for row in board.rows:
        made.append({"id": len(made) + 1, "type": "row", "title": row.title, "collapsed": False, "panels": [],
                     "gridPos": {"x": 0, "y": y, "w": _WIDE, "h": 1}})
        y, x, height = y + 1, 0, 0
        for panel in row.panels:
            if x + panel.width > _WIDE:
                y, x, height = y + height, 0, 0
            made.append(_panel(panel, len(made) + 1, x, y))
            x, height = x + panel.width, max(height, panel.height)
        y += height
    return made


def _query_variable(name, label, query, several):
    text = {"type": "query", "name": name, "label": label, "datasource": _SOURCE, "definition": query, "hide": 0,
            "query": {"query": query, "refId": "StandardVariableQuery"}, "refresh": 2, "regex": "", "sort": 7,
            "skipUrlSync": False, "multi": several, "includeAll": several, "options": []}
    if several:
        text |= {"allValue": ".*", "current": {"selected": True, "text": ["All"], "value": ["$__all"]}}
    return text


def _variables(board):
    source = {"type": "datasource", "name": "source", "label": "Data source", "query": "prometheus", "hide": 0, "refresh": 1,
              "regex": "", "multi": False, "includeAll": False, "options": [], "skipUrlSync": False}
    job = _query_variable("job", "Run", "label_values(ballast_lead_step, job)", several=False)
    chosen = [(name, *VARIABLES[name]) for name in board.variables]
    return [source, job] + [_query_variable(name, label, f"label_values({series}, {of})", several=True)
                            for name, label, of, series in chosen]


def dashboard(board, boards):
    others = [{"type": "link", "title": other.title.removeprefix("Ballast: "), "tooltip": other.about,
               "url": f"/d/{other.uid}?${{source:queryparam}}&${{job:queryparam}}", "keepTime": True, "includeVars": False,
               "asDropdown": False, "targetBlank": False, "icon": "external link", "tags": []}
              for other in boards if other is not board]
    return {"uid": board.uid, "title": board.title, "description": board.about, "tags": ["ballast"], "timezone": "browser",
            "editable": True, "graphTooltip": 1, "refresh": "10s", "schemaVersion": SCHEMA, "version": 1,
            "time": {"from": "now-30m", "to": "now"}, "fiscalYearStartMonth": 0, "liveNow": False, "weekStart": "",
            "annotations": {"list": []}, "links": others, "templating": {"list": _variables(board)}, "panels": _panels(board)}


def text(board, boards):
    return json.dumps(dashboard(board, boards), indent=1, ensure_ascii=False) + "\n"
