# SPDX-License-Identifier: GPL-2.0
"""What an experiment found: figures by label, beside the paper, judged.

A measure asserts when it has an expected value with a tolerance (or else the
paper's), or `least` or `most`.  Each is a number, a formula, which may name the
measure's own model, or a table of them: by a run's label, or for all runs that
have a value on their axes.  `apart` asserts of each row how far its seeds may differ.
"""

import statistics

from errors import BenchError
from formula import evaluate, names_of


def rows_of(description, results):
    """One row for each label and measure; results: [(run, {measure: value})]"""
    labels = list(dict.fromkeys(run["label"] for run, _ in results))
    rows = []
    for label in labels:
        for measure in description["measure"]:
            mine = [(run, values[measure["name"]]) for run, values in results
                    if run["label"] == label and measure["name"] in values]
            rows.append(_row(mine[0][0], measure, [value for _, value in mine]))
    return rows


def is_of(measure, run):
    """Whether it is measured in that run: of a search, in the runs with the value that was
    found, or in that with the one below it"""
    return "at" not in run or run["at"] == measure.get("at", "found")


def rows_again(description, runs, rows):
    """The rows of figures that were kept, with what the description says of them now"""
    kept = {(row["label"], row["measure"]): row for row in rows}
    wanted = [(label, measure) for label in dict.fromkeys(r["label"] for r in runs)
              for measure in description["measure"]]
    if set(kept) != {(label, m["name"]) for label, m in wanted}:
        raise BenchError(f'{description["id"]}: what was measured is not what its '
                         "description asks for now; make bench measures it")
    return [_row(next(r for r in runs if r["label"] == label and is_of(measure, r)),
                 measure, [kept[label, measure["name"]][key]
                           for key in ("low", "value", "high")])
            for label, measure in wanted]


def check_tables(description, runs):
    """A table's key that names no run would assert nothing, and say so nowhere;
    of two that name one run, only one."""
    known = {key for run in runs for key in [run["label"], *run["axes"]]}
    for _, label in description.get("verdict", {}).get("figures", []):
        if label not in {run["label"] for run in runs}:
            raise BenchError(f'verdict.figures names "{label}", and no run is called so')
    for of, part in [(f'measure "{m["name"]}"', m) for m in description["measure"]] + [
            ("search", description.get("search", {}))]:
        for key, table in part.items():
            if not isinstance(table, dict):
                continue
            what = f'{of}: {key} is given for '
            for name in set(table) - known:
                raise BenchError(f'{what}"{name}", and no run is called so')
            for run in runs:
                both = [f'"{a}"' for a in dict.fromkeys(run["axes"])
                        if a in table]
                if run["label"] not in table and len(both) > 1:
                    raise BenchError(what + " and for ".join(both) + ", and run "
                                     f'"{run["label"]}" is both')


def _row(run, measure, values):
    row = {"label": run["label"], "measure": measure["name"],
           "unit": measure.get("unit", ""), "value": statistics.median(values),
           "low": min(values), "high": max(values),
           "paper": number_for(measure.get("paper"), run)}
    if isinstance(asked_for(measure.get("paper"), run), str):
        row["computed"] = True      # by a formula, of other figures of the paper's
    if "model" in measure:
        row["model"] = number_for(measure["model"], run)
    row["verdicts"] = _verdicts(measure, run, row)
    return row


def asked_for(asked, run):
    """A number or a formula, or what a table of them has for this run; None: nothing"""
    if isinstance(asked, dict):
        return next((asked[key] for key in [run["label"], *run["axes"]]
                     if key in asked), None)
    return asked


def number_for(asked, run, model=None):
    """A number, a formula, or a table of them; None: none for this run"""
    asked = asked_for(asked, run)
    if isinstance(asked, str):
        return evaluate(asked, names_of(run["plan"]) |
                        ({} if model is None else {"model": model}))
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


def _verdicts(measure, run, row):
    """[(held, sentence)] of what this measure asserts for this run"""
    said, value, model = [], row["value"], row.get("model")
    what = f"{row['label']}: {row['measure']} {shown(value)} {row['unit']}".rstrip()
    if "tolerance" in measure:
        wanted = number_for(measure["expect"], run, model) \
            if "expect" in measure else row["paper"]
        if wanted is not None:
            by = slack(measure["tolerance"], wanted)
            said.append((abs(value - wanted) <= by,
                         f"{what} (expected {shown(wanted)} "
                         f"within {measure['tolerance']})"))
    for key, holds in (("least", lambda a, b: a >= b),
                       ("most", lambda a, b: a <= b)):
        bound = number_for(measure.get(key), run, model)
        if bound is not None:
            said.append((holds(value, bound),
                         f"{what} (at {key} {shown(bound)})"))
    if "apart" in measure:
        low, high = row["low"], row["high"]
        said.append((high - low <= slack(measure["apart"], value),
                     f"{what}, {shown(low)} to {shown(high)} by seed (at most "
                     f"{measure['apart']} apart)"))
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
