# SPDX-License-Identifier: GPL-2.0
"""The page's plot: how each remote's goodput changes, and what was sent again over time."""

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

import compare
from plots import COLOURS, settings, write_licensed     # of the bench

LOOKS = {False: (COLOURS[3], "o", "others"), True: (COLOURS[2], "s", "slow")}
LINES = {"without": (COLOURS[2], "-"), "act": (COLOURS[1], "--")}


def each_remote(pair, results):
    """Above 0: better with act"""
    found = compare.compared(results)
    for at, style in ((0, "-"), (-100 * compare.WORSE, (0, (2, 1)))):
        pair.axhline(at, color="#777777", linewidth=0.8, linestyle=style)
    for slow, (colour, marker, name) in LOOKS.items():
        some = [r for r in found if r.slow == slow]
        pair.plot([r.before / 1e6 for r in some], [100 * r.change() for r in some],
                  linestyle="none", marker=marker, markersize=4, color=colour, label=name)
    pair.set_xscale("log")
    pair.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    pair.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    pair.xaxis.set_minor_locator(NullLocator())
    pair.set_xlabel("goodput without ctcpd, Mbit/s")
    pair.set_ylabel("change with act, %; dashes: the least allowed")
    pair.set_title("each remote, while it is sent to", loc="left")
    pair.legend()


def over_time(pair, results):
    """All that was sent again so far"""
    for name in compare.RUNS:
        colour, style = LINES[name]
        series = results["runs"][name]["series"]
        pair.plot([t / 60 for t, *_ in series], [again for _, _, again in series],
                  color=colour, linestyle=style, label=name)
    pair.set_xlabel("time, min")
    pair.set_ylabel("segments sent again, so far")
    pair.set_title("the whole node", loc="left")
    pair.set_ylim(bottom=0)
    pair.legend()


def draw(results, path):
    """The same results give the same bytes"""
    with settings():
        figure = Figure(figsize=(9, 3.6), facecolor="white", layout="constrained")
        for pair, part in zip(figure.subplots(1, 2), (each_remote, over_time)):
            part(pair, results)
        write_licensed(figure, path)
