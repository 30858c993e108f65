#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""scale.py [--json] [--quick] FOLDER: the figures that scale.sh left there, as a table.

Medians of wall time.  A bar is what is aimed at; one that is missed says by how much.
"""

import json
import os
import statistics
import sys
from pathlib import Path

# layout, circuits, what, most: seconds, or (what it is held against, which part of it)
BARS = [
    ("htb", 4096, "apply", ("tc -batch", 1 / 3)),
    ("module", 4096, "apply", 0.3),
    ("module", 4096, "apply again", 0.05),
    ("htb", 4096, "apply again", 0.05),
    ("module", 4096, "add one", 0.005),
    ("htb", 4096, "add one", 0.005),
    ("module", 4096, "show", 0.3),
    ("htb", 4096, "show", 0.3),
    ("routes", 200000, "add one", 0.01),
]
# layout, few, many, what, how many times as long at most
GROWTH = [
    ("module", 4096, 60000, "apply", 60000 / 4096),
    ("htb", 1, 60000, "packet", 1.1),
]


def medians(found):
    """{(layout, circuits, what): (seconds, how often)}"""
    return {(p["layout"], p["circuits"], p["what"]):
            (statistics.median(p["s"]), len(p["s"])) for p in found["points"]}


def verdict(what, got, most, unit):
    """A bar beside what was measured, for programs."""
    return {"what": what, "got": got, "most": most, "unit": unit, "held": got <= most}


def verdicts(figures):
    """Each bar of which there are figures"""
    found = []
    for layout, circuits, what, most in BARS:
        key = (layout, circuits, what)
        if key not in figures:
            continue
        name = f"{layout}, {circuits}: {what}"
        if isinstance(most, tuple):
            other, part = most
            ratio = figures[key][0] / figures[(layout, circuits, other)][0]
            found.append(verdict(f"{name} / {other}", ratio, part, ""))
        else:
            found.append(verdict(name, figures[key][0], most, "s"))
    for layout, few, many, what, most in GROWTH:
        if {(layout, few, what), (layout, many, what)} <= figures.keys():
            growth = figures[(layout, many, what)][0] / figures[(layout, few, what)][0]
            found.append(verdict(f"{layout}: {what} of {many} / of {few}",
                                 growth, most, ""))
    return found


def load(folder):
    """The part of this host's processors that was busy meanwhile, with the machine"""
    def ticks(name):
        return [int(n) for n in (folder / name).read_text().split()[1:9]]

    spent = [b - a for a, b in zip(ticks("before"), ticks("after"))]
    idle = spent[3] + spent[4]
    return 1 - idle / sum(spent) if sum(spent) else 0


def against(figures, layout, circuits, what):
    """How it compares with tc and ip, of those that do the same"""
    peers = {"apply": ["tc -batch", "ip -batch"], "show": ["tc -s class"]}.get(what, [])
    took = [figures[(layout, circuits, peer)][0] for peer in peers
            if (layout, circuits, peer) in figures]
    return f"{figures[(layout, circuits, what)][0] / sum(took):.2f}" if took else ""


def table(found, figures, busy):
    """Lines"""
    yield (f"kernel {found['kernel']}, medians of wall time; {os.cpu_count()} "
           f"processors were {busy:.0%} busy, with the machine itself")
    yield (f"{'layout':8} {'number':>7} {'what':16} {'ms':>10} {'times':>6} "
           f"{'/ tc, ip':>9}")
    for (layout, circuits, what), (seconds, times) in figures.items():
        places = 6 if what.startswith("packet") else 1
        yield (f"{layout:8} {circuits:7} {what:16} {1000 * seconds:10.{places}f} "
               f"{times:6} {against(figures, layout, circuits, what):>9}")


def bars(judged):
    """Lines"""
    yield f"{'bar':42} {'at most':>9} {'got':>9}"
    for v in judged:
        by = "held" if v["held"] else f"missed by {v['got'] / v['most']:.1f} times"
        yield f"{v['what']:42} {v['most']:9.3f} {v['got']:9.3f}  {by}"


def main(words):
    """0 whether bars are held or not: seconds of a busy host's are no failure."""
    folder = Path([word for word in words if not word.startswith("--")][0])
    found = json.loads((folder / "scale.json").read_text())
    figures = medians(found)
    busy = load(folder)
    judged = verdicts(figures)
    if "--json" in words:
        json.dump({"kernel": found["kernel"], "busy": round(busy, 3), "bars": judged,
                   "points": found["points"]}, sys.stdout, indent=1)
        print()
        return 0
    for lines in (table(found, figures, busy), bars(judged)):
        print("\n".join(lines), end="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
