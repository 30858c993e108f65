#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""demo_table.py: does README's table say what make demo has just measured?  TAP

README prints a part of the demonstration's report.  Its lines are read here as a reader
would, and held against build/demo/results.json.

Where no packet is lost, and for algorithms that do not give way to loss, the same figures
come to within SAME.  Which packets are lost depends on the tree's version, and what CUBIC and
H-TCP make of it differs by up to MORE.
"""

import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

from tap import Points  # noqa: E402

TOP = os.path.dirname(os.path.dirname(HERE))
SAME = 0.02
MORE = 2.0  # times as much, or as little
GIVES_WAY = ("cubic", "htcp")

TITLE = re.compile(r" +(\d+) Gbit/s, (\d+) ms, (no loss|one packet lost in 22,000), (\d+) s:$")
ROW = re.compile(r" +(\w+) +(\d+) Mbit/s +([\d.]+) % +(\d+) Mbit/s +(\d+)$")
NAMES = {(4, 26, "no loss"): "wide", (4, 26, "one packet lost in 22,000"): "lossy",
         (1, 50, "one packet lost in 22,000"): "long"}


def rows(text):
    """{name of a run: (goodput, % of the line, first second, resent)} of README's lines"""
    found, prefix = {}, None
    for line in text.splitlines():
        title, row = TITLE.match(line), ROW.match(line)
        if title:
            rate, rtt, loss, _ = title.groups()
            prefix = NAMES.get((int(rate), int(rtt), loss))
        elif row and prefix:
            found[f"{prefix}-{row[1]}"] = tuple(float(x) for x in row.groups()[1:])
        elif line.strip() and not line.lstrip().startswith("goodput"):
            prefix = None
    return found


def most_off(run):
    """By what factor README's figures of this run may differ from it"""
    return MORE if run["loss"] and run["alg"] in GIVES_WAY else 1 + SAME


def differences(row, run):
    """In words, what README's row has otherwise than the run"""
    found = []
    most = most_off(run)
    for what, ours, theirs in (("goodput, Mbit/s", row[0], run["mean"]),
                               ("of line, %", row[1], run["share"])):
        if not theirs / most <= ours <= theirs * most:
            found.append(f"{what}: README {ours:g}, measured {theirs:.1f}, factor {most}")
    if not run["loss"]:
        if not run["first_second"] / most <= row[2] <= run["first_second"] * most:
            found.append(f"first second, Mbit/s: README {row[2]:g}, measured "
                         f"{run['first_second']:.1f}, factor {most}")
        if row[3] != run["retransmissions"]:
            found.append(f"resent: README {row[3]:g}, measured {run['retransmissions']}")
    return found


def main():
    """A point for each row of README"""
    points = Points()
    with open(os.path.join(TOP, "README.md"), encoding="utf-8") as f:
        table = rows(f.read())
    with open(os.path.join(TOP, "build/demo/results.json"), encoding="utf-8") as f:
        runs = {run["name"]: run for run in json.load(f)}
    points.point({"wide-circuit", "long-circuit"} <= set(table),
                 "README has the demonstration's rows of circuit")
    for name, row in table.items():
        wrong = differences(row, runs[name]) if name in runs else ["no such run"]
        points.point(not wrong, f"README's row of {name}", "\n".join(wrong))
    return points.finish()


if __name__ == "__main__":
    sys.exit(main())
