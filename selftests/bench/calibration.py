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
MTU = 1500
TIMING = ("gap", "burst_frames", "together")


def points_of(description, rows, results):
    """[(axis, value, held)]"""
    axis = description["calibrates"]
    held = {}
    for row in rows:
        ok = all(v[0] for v in row["verdicts"])
        held[row["label"]] = held.get(row["label"], True) and ok
    plans = {run["label"]: run["plan"] for run, _ in results}
    return [(*proven(axis, plan), held[label]) for label, plan in plans.items()]


def proven(axis, plan):
    """(axis, value) that a run shows.  Behind a switch's port the port is what was
    looked at, and where frames are reordered, that."""
    if axis == "rate" and plan["line"]:
        return port_name(plan), plan["line"]
    if axis == "loss" and plan["reorder"]:
        return "reorder", plan["reorder"]
    return axis_name(axis, plan), value_on(axis, plan)


def axis_name(axis, plan):
    """A packet costs the same whatever its size, be it a frame of 1500 bytes, one of
    9000, a GSO packet, or one of BIG TCP: four ranges of rates."""
    if axis == "rate":
        if plan["gso"] > GSO:
            return "rate, BIG TCP"
        jumbo = plan["mtu"] > MTU and not plan["offloads"]
        return "rate, " + offloads(plan) + ", jumbo frames" * jumbo
    return axis


def port_name(plan):
    """The axis of what a switch's port sends and holds"""
    return "port, " + offloads(plan)


def offloads(plan):
    """Words for an axis' name"""
    return "offloads " + ("on" if plan["offloads"] else "off")


def value_on(axis, plan):
    """Where on its axis a run lies."""
    return plan["rate" if axis == "spacing" else axis]


def remember(kernel, name, points):
    """What the calibration of this name says of this kernel, instead of what it said the
    last time, and the ranges that follow from all."""
    kernels = load_all()
    known = kernels.setdefault(kernel, {"calibrations": {}, "ranges": {}})
    known["calibrations"][name] = [list(p) for p in points]
    found = sum(known["calibrations"].values(), [])
    known["ranges"] = {axis: span([p[1:] for p in found if p[0] == axis])
                       for axis in sorted({p[0] for p in found})}
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps({"kernels": kernels}, indent=1))


def load_all():
    """{kernel: {"calibrations": {name: [[axis, value, held]]},
    "ranges": {axis: span}}}"""
    try:
        kernels = json.loads(FILE.read_text())["kernels"]
        return {name: one for name, one in kernels.items() if one["calibrations"]}
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
    # Rarer loss takes too many frames to calibrate; who counts what was lost needs not
    counted = any(m["metric"] == "path_drops" for m in measures)
    rarest = (ranges.get("loss") or [0])[0] if counted else 0
    if plan["loss"] and plan["loss"] >= rarest:
        asked.append(("loss", plan["loss"], f"a loss of {plan['loss']:g}"))
    if plan["line"]:
        asked.append((port_name(plan), plan["line"],
                      f"a port of {plan['line'] / 1e6:g} Mbit/s"))
    if plan["reorder"]:
        asked.append(("reorder", plan["reorder"],
                      f"{plan['reorder']:g} of the frames reordered"))
    for axis, value, words in asked:
        name = axis_name(axis, plan)
        known = ranges.get(name)
        if not known:
            return f"{words}: {name} was not calibrated"
        if not known[0] * 0.999 <= value <= known[1] * 1.001:
            return (f"{words} is outside of what the lab was calibrated for "
                    f"({name}: {known[0]:g} to {known[1]:g})")
    return None
