# SPDX-License-Identifier: GPL-2.0
"""A search: the runs that it makes, one after the other, and what they found.

Each is an ordinary run of the description with one value, and is kept as such.  In addition
it has its `value`, the `figure` that the search compared, and its place in the answer
(`at`): "found", one for each seed; "below", one with a seed with which the step below does
not hold; or "tried".
"""

import bisection
import expand
from errors import BenchError
from figures import figure
from raw import Raw


class NotMade(Exception):
    """A run that is not there yet"""


def run_with(description, label, value, seed):
    """The ordinary run with this value and seed"""
    return next(run for run in expand.runs_of(expand.with_value(description, value))
                if run["label"] == label and run["seed"] == seed)


def carry_out(description, what, make):
    """[(run, its folder)] of a label, in the order in which they were made.  @what: the first
    of the label in runs_of(); @make: a function of a run, its folder"""
    label, search = what["label"], what["search"]
    values, tried = search["values"], {}

    def holds(rung, seed):
        run = run_with(description, label, values[rung], seed)
        folder = make(run)
        said = figure(Raw(folder, run["plan"]), search["measure"])
        tried[rung, seed] = {**run, "value": values[rung], "figure": said}, folder
        return said <= search["most"]

    seeds = expand.seeds_of(description, [label, *what["axes"]])
    rung, why = bisection.lowest(len(values), seeds, holds)
    if rung == len(values):
        raise BenchError(f"{label}: not even {values[-1]:g}{search['unit']} is enough; "
                         "search.to has to be larger")
    if why is None:
        raise BenchError(f"{label}: {values[0]:g}{search['unit']} is enough, and nothing below "
                         "was tried; search.from has to be smaller")
    at = {(rung, seed): "found" for seed in range(1, seeds + 1)} | {(rung - 1, why): "below"}
    return [({**run, "at": at.get(key, "tried")}, folder)
            for key, (run, folder) in tried.items()]


def left(description, what, folder_of):
    """How many runs of it are to be made yet, at most, if what the first seed finds holds with
    all; @folder_of: a function of a run, None: it is not there"""
    made = 0

    def kept(run):
        nonlocal made
        folder = folder_of(run)
        if folder is None:
            raise NotMade
        made += 1
        return folder

    try:
        carry_out(description, what, kept)
    except NotMade:
        return max(expand.tries_of(description, what) - made, 1)
    except BenchError:      # reported when the experiment's turn comes
        pass
    return 0


def kept(runs):
    """{label: [[value, seed, figure, at]]} of all runs of a search, as results.json has it"""
    found = {}
    for run in runs:
        found.setdefault(run["label"], []).append(
            [run[key] for key in ("value", "seed", "figure", "at")])
    return found


def runs_again(description, experiment):
    """The runs that make the rows: all of them, or of a search those of its answer"""
    if "search" not in description:
        return expand.runs_of(description)
    return [{**run_with(description, label, value, seed), "at": at}
            for label, tries in experiment["searched"].items()
            for value, seed, _, at in tries if at != "tried"]
