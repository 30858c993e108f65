# SPDX-License-Identifier: GPL-2.0
"""What an experiment found: figures by label, beside the paper, judged.

A measure asserts when it has an expected value with a tolerance (a formula, a
number, a number for each label, or else the paper's), or `least` or `most`.
"""

import statistics

from errors import BenchError
from formula import evaluate, names_of


def rows_of(description, results):
    """One row for each label and measure; results: [(run, {measure: value})]"""
    labels = list(dict.fromkeys(run["label"] for run, _ in results))
    rows = []
    for label in labels:
        mine = [(run, values) for run, values in results
                if run["label"] == label]
        plan = mine[0][0]["plan"]
        for measure in description["measure"]:
            rows.append(_row(label, measure, plan,
                             [v[measure["name"]] for _, v in mine]))
    return rows


def _row(label, measure, plan, values):
    row = {"label": label, "measure": measure["name"],
           "unit": measure.get("unit", ""), "value": statistics.median(values),
           "low": min(values), "high": max(values),
           "paper": measure.get("paper", {}).get(label)}
    if "model" in measure:
        row["model"] = _number(measure["model"], label, plan)
    row["verdicts"] = _verdicts(measure, label, plan, row)
    return row


def _number(asked, label, plan):
    """A formula, a number, or a table of them by label; None: none for it."""
    if isinstance(asked, dict):
        asked = asked.get(label)
    if isinstance(asked, str):
        return evaluate(asked, names_of(plan))
    return asked


def slack(tolerance, expected):
    """2% of the expected value, or a plain number in its unit"""
    try:
        if tolerance.endswith("%"):
            return float(tolerance[:-1]) / 100 * abs(expected)
        return float(tolerance)
    except ValueError:
        raise BenchError(f'"{tolerance}" is not a tolerance; write it as 2% '
                         "or, in the measure's unit, as 0.5") from None


def _verdicts(measure, label, plan, row):
    """[(held, sentence)] of what this measure asserts for this label"""
    said, value = [], row["value"]
    what = f"{label}: {row['measure']} {shown(value)} {row['unit']}".rstrip()
    if "tolerance" in measure:
        wanted = _number(measure["expect"], label, plan) \
            if "expect" in measure else row["paper"]
        if wanted is not None:
            by = slack(measure["tolerance"], wanted)
            said.append((abs(value - wanted) <= by,
                         f"{what} (expected {shown(wanted)} "
                         f"within {measure['tolerance']})"))
    for key, holds in (("least", lambda a, b: a >= b),
                       ("most", lambda a, b: a <= b)):
        bound = _number(measure.get(key), label, plan)
        if bound is not None:
            said.append((holds(value, bound),
                         f"{what} (at {key} {shown(bound)})"))
    return said


def shown(value):
    """A number as a reader wants it: four digits that matter."""
    if value is None:
        return ""
    if value == float("inf"):
        return "never"
    if value == 0 or float(value).is_integer() and abs(value) < 1e15:
        return f"{value:.0f}"
    if abs(value) >= 100:
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.1f}"
    return f"{value:.4g}"


def verdicts_of(experiment):
    """[(held, sentence)]: all that an experiment asserted"""
    return [verdict for row in experiment["rows"]
            for verdict in row["verdicts"]] + experiment["again"]
