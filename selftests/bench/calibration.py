# SPDX-License-Identifier: GPL-2.0
"""What the lab carries without our code, and whether a run is within it.

Experiments with `calibrates` measure one thing each, with algorithms of the
kernel or UDP only.  A value whose assertions held is good; the range of an axis goes
from the smallest to the largest value between which nothing failed.  Kept by kernel:
another kernel is another lab.
"""

import json

from expand import GSO
from machine import OUT

FILE = OUT / "calibration.json"
TIMING = ("gap", "burst_frames", "together")


def points_of(description, rows, results):
    """[(axis, value, held)]"""
    axis = description["calibrates"]
    held = {}
    for row in rows:
        ok = all(v[0] for v in row["verdicts"])
        held[row["label"]] = held.get(row["label"], True) and ok
    plans = {run["label"]: run["plan"] for run, _ in results}
    return [(axis_name(axis, plan), value_on(axis, plan), held[label])
            for label, plan in plans.items()]


def axis_name(axis, plan):
    """A GSO packet costs as much as a frame, whatever its size: three ranges of
    rates."""
    if axis == "rate":
        if plan["gso"] > GSO:
            return "rate, BIG TCP"
        return "rate, offloads " + ("on" if plan["offloads"] else "off")
    return axis


def value_on(axis, plan):
    """Where on its axis a run lies."""
    return plan["rate" if axis == "spacing" else axis]


def remember(kernel, points):
    """Add to what is known of this kernel, and the ranges that follow."""
    kernels = load_all()
    known = kernels.setdefault(kernel, {"points": [], "ranges": {}})
    known["points"] += [list(p) for p in points
                        if list(p) not in known["points"]]
    known["ranges"] = {axis: span([p[1:] for p in known["points"]
                                   if p[0] == axis])
                       for axis in sorted({p[0] for p in known["points"]})}
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps({"kernels": kernels}, indent=1))


def load_all():
    """{kernel: {"points": [[axis, value, held]], "ranges": {axis: span}}}"""
    try:
        return json.loads(FILE.read_text())["kernels"]
    except (OSError, ValueError, KeyError):
        return {}


def ranges_of(kernel):
    """What is known of this kernel; nothing of another."""
    return load_all().get(kernel, {}).get("ranges", {})


def on(kernel, description):
    """The same calibration, of another kernel."""
    return {**description, "id": f'{description["id"]}.{kernel}',
            "title": f'{description["title"]}, on the {kernel} kernel',
            "machine": {"kernel": kernel}}


def span(points):
    """[low, high] of the longest stretch of values that all held, or None"""
    failed = {value for value, held in points if not held}
    best, now = [], []
    for value in sorted({value for value, _ in points}):
        now = [] if value in failed else now + [value]
        best = max(best, now, key=len)
    return [best[0], best[-1]] if best else None


def objection(ranges, plan, measures=()):
    """Why a run must not be reported, in a sentence; None: it may.  What only
    looks at when frames arrive needs no rate, but spacing."""
    rates = [r for r in (plan["rate"], plan["line"]) if r]
    timing = measures and all(m["metric"] in TIMING for m in measures)
    asked = [("spacing" if timing else "rate", r, f"{r / 1e6:g} Mbit/s")
             for r in rates]
    asked += [("rtt", t, f"{t * 1e3:g} ms")
              for t in (plan["rtt"], plan["rtt2"]) if t]
    if plan["loss"]:
        asked.append(("loss", plan["loss"], f"a loss of {plan['loss']:g}"))
    for axis, value, words in asked:
        known = ranges.get(axis_name(axis, plan))
        if not known:
            return f"{words}: {axis_name(axis, plan)} was not calibrated"
        if not known[0] * 0.999 <= value <= known[1] * 1.001:
            return (f"{words} is outside of what the lab was calibrated for "
                    f"({axis_name(axis, plan)}: {known[0]:g} to {known[1]:g})")
    return None
