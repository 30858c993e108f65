# SPDX-License-Identifier: GPL-2.0
"""What a Grafana dashboard asks of Prometheus, filled in as Grafana fills it in; and what
its panels make of the answers' labels."""

import re

SCRAPE_S = 0.5
# Four scrapes, as Grafana has it, unless one point of a graph is longer than that
RATE_INTERVAL = f"{4 * SCRAPE_S:g}s"
VARIABLE = re.compile(r"\$\{?(\w+)\}?")
LABEL = re.compile(r"\{\{\s*(.+?)\s*\}\}")
LABEL_VALUES = re.compile(r"label_values\((.+),\s*(\w+)\)")


class Wrong(Exception):
    """What is wrong with the dashboard"""


def one_of(values):
    """A variable whose values are all chosen: a regular expression, as a string of PromQL"""
    escaped = [re.sub(r"[\\^$*+?.()|{}\[\]]", r"\\\\\g<0>", v) for v in values]
    return escaped[0] if len(escaped) == 1 else f"({'|'.join(escaped)})"


def fill(text, variables):
    """@text with each $NAME or ${NAME} as it is in @variables"""
    def value(match):
        if match[1] not in variables:
            raise Wrong(f"there is no variable ${match[1]}")
        return variables[match[1]]
    return VARIABLE.sub(value, text)


def legend(target, labels):
    """The name of a series with these labels"""
    def value(match):
        if match[1] not in labels:
            raise Wrong(f'"{target["legendFormat"]}": a series has no such label, but '
                        f"{labels or 'none'}")
        return labels[match[1]]
    return LABEL.sub(value, target.get("legendFormat", ""))


def values_asked_for(variable):
    """The series and the label that a variable's values are from"""
    match = LABEL_VALUES.fullmatch(variable["query"]["query"])
    if not match:
        raise Wrong(f'"{variable["query"]["query"]}" is not label_values(SERIES, LABEL)')
    return match[1], match[2]


def transformation(panel, name):
    """The options of a table's transformation"""
    return next(t["options"] for t in panel["transformations"] if t["id"] == name)


def columns(panel, labels):
    """A table's, by the names that a reader sees; @labels: {refId: those of its series}"""
    joined = transformation(panel, "joinByField")["byField"]
    without = [ref for ref, names in labels.items() if joined not in names]
    if without:
        raise Wrong(f'they are joined by "{joined}", which {without} have not')
    # joined, each query has a Time of its own
    fields = {f"Time {n + 1}" for n in range(len(labels))}
    fields |= {f"Value #{ref}" for ref in labels}.union(*labels.values())
    organize = transformation(panel, "organize")
    named = {n for key in ("excludeByName", "renameByName", "indexByName")
             for n in organize[key]}
    if named - fields - {"Time"}:
        raise Wrong(f"no column is {sorted(named - fields)}: there are {sorted(fields)}")
    shown = fields - {n for n, is_hidden in organize["excludeByName"].items() if is_hidden}
    if shown - set(organize["renameByName"]):
        raise Wrong(f"shown as they are: {sorted(shown - set(organize['renameByName']))}")
    return {organize["renameByName"][n] for n in shown}


def rows(panel, series):
    """{refId: what its rows are joined by}; @series: {refId: [labels]}"""
    joined = transformation(panel, "joinByField")["byField"]
    return {ref: {labels[joined] for labels in some} for ref, some in series.items()}


def columns_asked_for(panel):
    """Those that have a unit of their own, or that rows are sorted by"""
    return {o["matcher"]["options"] for o in panel["fieldConfig"]["overrides"]} | {
        s["displayName"] for s in panel["options"]["sortBy"]}
