# SPDX-License-Identifier: GPL-2.0
"""The table of an experiment.

A line for each run, or, where there are many runs on two axes, a table for each measure,
with a line for each value of the first and a column for each of the second.  Where that line
would be too wide to read, and there are fewer runs than figures, a column for each run.
"""

from judge import shown

LONG = 16           # runs: a table of more is pivoted
WIDE = 11           # figures in a line: one of more is turned
MODEL = ": model"


def of(experiment):
    """[[[cell]]]: its tables, of each the head first"""
    tables = [pivoted(experiment, m) for m in experiment["description"]["measure"]]
    more = [tried(experiment)] if "searched" in experiment else []
    return (tables if all(tables) else [turned_if_wide(by_run(experiment))]) + more


def cell(row):
    """Our figure; with several seeds, the median and the range."""
    if row["low"] != row["high"]:
        return (f'{shown(row["value"])} ({shown(row["low"])} to '
                f'{shown(row["high"])})')
    return shown(row["value"])


def paper_of(row):
    """The paper's figure, marked where it is computed; Markdown would make a lone star one of
    two that stress what is between them."""
    return shown(row.get("paper")) + r"\*" * row.get("computed", False)


def by_run(experiment):
    """[[cell]]: a line a label; for each measure paper, ours, model."""
    measures = experiment["description"]["measure"]
    rows = experiment["rows"]
    head, columns = [""], []
    for measure in measures:
        mine = [r for r in rows if r["measure"] == measure["name"]]
        unit = f', {measure["unit"]}' if measure.get("unit") else ""
        for key, word in (("paper", "paper"), ("value", "here"),
                          ("model", "model")):
            if any(r.get(key) is not None for r in mine):
                head.append(f'{measure["name"]}{unit}: {word}')
                columns.append((measure["name"], key))
    lines = [head]
    written = {"paper": paper_of, "value": cell, "model": lambda row: shown(row.get("model"))}
    for label in dict.fromkeys(r["label"] for r in rows):
        by = {r["measure"]: r for r in rows if r["label"] == label}
        lines.append([label] + [written[key](by[name]) for name, key in columns])
    return lines


def turned_if_wide(table):
    """[[cell]]: of a line for each figure; a model that they all have is one line"""
    if not WIDE < len(table[0]) - 1 >= len(table) - 1:
        return table
    head, *lines = [list(line) for line in zip(*table)]
    models = [line for line in lines if line[0].endswith(MODEL)]
    if len(models) > 1 and len({tuple(line[1:]) for line in models}) == 1:
        lines = [line for line in lines if line not in models]
        lines.append(["model", *models[0][1:]])
    return [head, *lines]


def tried(experiment):
    """[[cell]]: a line a label; the values that a search tried, on both sides of what it
    found, each with what came of it: of several seeds the largest"""
    search = experiment["description"]["search"]
    head = [f'tried, {search["key"].split(".")[-1]} in {search["unit"]}: {search["measure"]}',
            "not enough", "enough"]
    lines = [head]
    for label, tries in experiment["searched"].items():
        worst = {}
        for value, _, figure, _ in tries:
            worst[value] = max(worst.get(value, figure), figure)
        # What was tried below it failed with one seed at least (bisection.py)
        enough = next(value for value, _, _, at in tries if at == "found")
        sides = [[value for value in sorted(worst) if (value >= enough) is good]
                 for good in (False, True)]
        lines.append([label, *(", ".join(f"{value:g}: {shown(worst[value])}" for value in side)
                               for side in sides)])
    return lines


def pivoted(experiment, measure):
    """None where that would leave something out: the axes have to be two, with no paper's
    figure, and a model that is the same in all columns; or where there are few runs."""
    axes = experiment.get("axes", {})
    rows = [row for row in experiment["rows"] if row["measure"] == measure["name"]]
    if len(rows) <= LONG or any(
            len(axes[row["label"]]) != 2 or row["paper"] is not None for row in rows):
        return None
    columns = list(dict.fromkeys(axes[row["label"]][1] for row in rows))
    lines = {}
    for row in rows:
        first, second = axes[row["label"]]
        lines.setdefault(first, {})[second] = row
    models = {first: {row.get("model") for row in line.values()}
              for first, line in lines.items()}
    if any(len(values) > 1 for values in models.values()):
        return None
    with_model = any(values != {None} for values in models.values())
    head = [name_of(measure), *columns] + ["model"] * with_model
    return [head] + [
        [first, *(cell(line[name]) if name in line else "" for name in columns)] +
        [shown(next(iter(models[first])))] * with_model
        for first, line in lines.items()]


def name_of(measure):
    """With its unit"""
    return measure["name"] + (f', {measure["unit"]}' if measure.get("unit") else "")
