# SPDX-License-Identifier: GPL-2.0
"""What was measured, as JSON: docs/bench/results.json, from which the report is made.

One object: `licence`, `about`, as report.opening() has it, and `experiments`, a line
for each, in the order in which they were made: description, rows, series, axes, again,
runs (how many), seconds (of all their machines), and searched, what a search tried. A
figure that is infinite, as of what never came, is the string "never": JSON has no such
number.
"""

import json
import math

from errors import BenchError
from expand import runs_of
from judge import rows_again
from search import runs_again

NEVER = "never"
LICENCE = "SPDX-License-Identifier: GPL-2.0"     # JSON has no comments
DIGITS = 6          # of a point in a series; rows are kept as they are


def _plain(value):
    """What JSON can hold"""
    if isinstance(value, float):
        if math.isnan(value):
            raise BenchError("a figure is not a number")
        return NEVER if math.isinf(value) else value
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value


def kept(points):
    """A series as it is kept"""
    return [[float(f"{number:.{DIGITS}g}") for number in point] for point in points]


def text_of(experiment):
    """One line"""
    over_time = {name: {label: {flow: kept(points) for flow, points in flows.items()}
                        for label, flows in experiment.get(name, {}).items()}
                 for name in ("series", "resent") if name == "series" or name in experiment}
    return json.dumps(_plain({**experiment, **over_time}), allow_nan=False)


def write(path, about, experiments):
    """All of them"""
    lines = ",\n".join(text_of(experiment) for experiment in experiments)
    path.write_text(f'{{"licence": "{LICENCE}",\n'
                    f'"about": {json.dumps(_plain(about))},\n"experiments": [\n'
                    f"{lines}\n]}}\n", encoding="utf-8")


def _number(value):
    """As it was before it was kept"""
    return math.inf if value == NEVER else value


def _searched(experiment):
    """{"searched": what was tried}, if it has a search"""
    return {"searched": {label: [[value, seed, _number(figure), at]
                                 for value, seed, figure, at in tries]
                         for label, tries in experiment["searched"].items()}} \
        if "searched" in experiment else {}


def _figures(row):
    """A row whose figures are numbers again"""
    return {key: _number(value) if key in ("value", "low", "high") else value
            for key, value in row.items()}


def refreshed(experiment, description):
    """With the words of the description as it is now: sentences, the papers' figures,
    what is asserted.  It has to describe the same runs."""
    runs = runs_of(description)
    if [made_by(run) for run in runs] != [
            made_by(run) for run in runs_of(experiment["description"])]:
        raise BenchError(f'{description["id"]}: the description has other runs than '
                         "those that were made; make bench makes them")
    if measured_by(description) != measured_by(experiment["description"]):
        raise BenchError(f'{description["id"]}: what was measured is not what its '
                         "description asks for now; make bench measures it")
    rows = [] if experiment.get("refused") else rows_again(
        description, runs_again(description, experiment), experiment["rows"])
    return {**experiment, "description": description, "rows": rows}


def made_by(run):
    """What a run's figures depend on"""
    return [run.get(key) for key in ("label", "seed", "kernel", "memory", "plan", "search")]


def measured_by(description):
    """What its figures are, by the names that they have"""
    return {m["name"]: [m["metric"], m.get("at", "found"),
                        *(m.get(key) for key in ("flow", "from", "until", "where"))]
            for m in description["measure"]}


def read(path):
    """(about, experiments)"""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return data["about"], [{**e, "rows": [_figures(row) for row in e["rows"]],
                                **_searched(e)}
                               for e in data["experiments"]]
    except OSError as error:
        raise BenchError(f"{path}: {error.strerror}; make bench writes it") from None
    except (ValueError, KeyError, TypeError) as error:
        raise BenchError(f"{path}: not results of the bench: {error}") from None
