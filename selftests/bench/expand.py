# SPDX-License-Identifier: GPL-2.0
"""From a description to its runs, each with all numbers in base units.

The axes of vary are crossed; the keys of one axis change together.  A run's label
is made of the axes' values (or of the axis' own label).

A search makes a run for each value that it tries, and earlier runs decide which value is
next: runs_of() has what is searched for each label, and with_value() is the description of
the runs of one value.
"""

import copy
import itertools
import math
from decimal import Decimal

import bisection
import units
from description import KERNELS, LISTS, key_of
from errors import BenchError
from judge import number_for, slack

ETHERNET = 14       # bytes of link header, as a qdisc counts them
HEADERS = 52        # IPv4, TCP with timestamps
HEADERS_6 = 72      # IPv6 instead
GSO = 65536         # bytes in a GSO packet, if nothing else is said
LOWAT_TIME = 1e-3   # s
LOWAT_MOST = 65536  # bytes; twice that is tcp_rmem's default, which a larger one would raise
LOWAT_BUFFERS = 16 << 20    # bytes, beside which LOWAT_MOST is little
MEMORY = "6G"       # of the machine; sparse: only what the windows fill is ever there


def runs_of(description):
    """All runs: dicts with label, seed and the plan for the guest."""
    result = []
    axes = description.get("vary", [])
    steps = [range(len(next(iter(axis.values())))) for axis in axes]
    for choice in itertools.product(*steps):
        varied = copy.deepcopy(description)
        labels = [_apply(varied, axis, i) for axis, i in zip(axes, choice)]
        label = " ".join(filter(None, labels)) or "all"
        for seed in range(1, seeds_of(description, [label, *labels]) + 1):
            machine = varied.get("machine", {})
            run = {"label": label, "seed": seed, "axes": labels,
                   "kernel": machine.get("kernel", KERNELS[0]),
                   "memory": machine.get("memory", MEMORY),
                   "plan": plan_of(varied)}
            result.append({**run, "search": _search(varied, run)} if "search" in varied
                          else run)
    return result


def _search(varied, run):
    """The values that a search tries for a run, and the bound of its measure; its result depends
    on all of this"""
    search = varied["search"]
    low, high = ends = [number_for(search[key], run) for key in ("from", "to")]
    if not all(isinstance(end, (int, float)) for end in ends) or not 0 < low < high < math.inf:
        raise BenchError(f"search: from {low} to {high}, for {run['label']}, are no two "
                         "numbers above 0, the smaller one first")
    most = number_for(search["most"], run)
    if not isinstance(most, (int, float)):
        raise BenchError(f"search: most is {most} for {run['label']}; it has to be a number")
    values = bisection.ladder(low, high, slack(search["within"], 1))
    for value in values[0], values[-1]:
        try:
            plan_of(with_value(varied, value))
        except BenchError as error:
            raise BenchError(f"search: from {low} to {high}, for {run['label']}: {error}") \
                from None
    measure = next(m for m in varied["measure"] if m["name"] == search["measure"])
    return {"key": search["key"], "unit": search["unit"], "most": most,
            "measure": {key: value for key, value in measure.items()
                        if key in ("metric", "flow", "from", "until", "where")},
            "values": values}


def with_value(description, value):
    """The description without its search, with this value of the key that is searched"""
    search = description["search"]
    found = copy.deepcopy({key: part for key, part in description.items()
                           if key != "search"})
    # without an exponent, which no quantity has
    _put(found, search["key"], f"{Decimal(f'{value:g}'):f}{search['unit']}")
    return found


def tries_of(description, what):
    """How many runs a search makes at most, if what the first seed finds holds with all;
    @what: a run of its label in runs_of()"""
    return bisection.tries(len(what["search"]["values"]),
                           seeds_of(description, [what["label"], *what["axes"]]))


def made_for(description):
    """How many runs are made for it, searches taking as many as they may"""
    runs = runs_of(description)
    if "search" not in description:
        return len(runs)
    return sum(tries_of(description, run) for run in runs if run["seed"] == 1)


def seeds_of(description, names):
    """How many seeds a run with these names has"""
    asked = description.get("seeds", 1)
    if not isinstance(asked, dict):
        return asked
    return next((asked[name] for name in names if name in asked), asked.get("else", 1))


def _apply(varied, axis, i):
    """Set one axis' keys to their i-th values; returns the label that they give."""
    for key, values in axis.items():
        if key == "label":
            continue
        _put(varied, key, values[i])
    if "label" in axis:
        return str(axis["label"][i])
    value = next(iter(axis.values()))[i]
    return str(value)


def _put(varied, key, value):
    """Set what a dotted key names to this value."""
    kind, name = key_of(key)
    if kind in LISTS:
        which = key.split(".")[1]
        target = next(f for f in varied[kind] if f.get("name") == which)
    else:
        target = varied.setdefault(kind, {})
    target[name] = value


def plan_of(varied):
    """What the guest is to do, in bit/s, s and bytes."""
    path = _path(varied["path"])
    bdp = path["rate"] * path["rtt"] / 8

    def size(section, key, default=None, window=None):
        value = section.get(key, default)
        return None if value is None else units.size(value, path["wire"], bdp, window)

    return {
        **path, "buffer": size(varied["path"], "buffer"),
        "gso": size(varied["path"], "gso", f"{GSO}B"),
        **_sender(varied.get("sender", {}), size, path["wire"]),
        **_hosts(varied.get("hosts", {}), size, path["rate"]),
        "flows": [_flow(f, size) for f in varied.get("flow", [])],
        "steps": [{k: s[k] for k in ("at", "on", "do")}
                  for s in varied.get("step", [])],
    }


def _path(path):
    mtu = path.get("mtu", 1500)
    wire = mtu + ETHERNET
    mss = mtu - (HEADERS_6 if path.get("ipv6") else HEADERS)
    rate = units.rate(path["rate"])
    rtt = units.time(path["rtt"])
    return {"rate": rate, "rtt": rtt, "mtu": mtu, "wire": wire, "mss": mss,
            "bdp": round(rate * rtt / 8), "payload_rate": rate * mss / wire,
            "rtt_text": path["rtt"], "rate_text": path["rate"],
            "rtt2": units.time(path["rtt2"]) if "rtt2" in path else None,
            "line": units.rate(path["line"]) if "line" in path else None,
            "loss": units.part(path.get("loss", 0)),
            "reorder": units.part(path.get("reorder", 0)),
            "offloads": path.get("offloads", False),
            "ipv6": path.get("ipv6", False)}


def _sender(sender, size, wire):
    fcwnd = size(sender, "fcwnd")
    frames = max(1, fcwnd // wire) if fcwnd else None
    return {"shaper": sender.get("shaper", "none"),
            "options": sender.get("options", []),
            "burst": size(sender, "burst"),
            "limit": size(sender, "limit", window=frames and frames * wire),
            "fcwnd": frames,
            "pace": units.rate(sender["pace"]) if "pace" in sender else None,
            "txqueuelen": sender.get("txqueuelen")}


def _lowat(hosts, size, rate):
    """SO_RCVLOWAT: how many bytes wake a receiver's program.  In virtual time each frame
    would wake it, which would take most of a run's real time.  The bytes of a millisecond
    are enough, and little beside a large buffer."""
    buffers = size(hosts, "buffers")
    if "lowat" in hosts or not buffers or buffers < LOWAT_BUFFERS:
        return size(hosts, "lowat", "1B")
    return max(1, min(LOWAT_MOST, round(rate / 8 * LOWAT_TIME)))


def _hosts(hosts, size, rate):
    return {"buffers": size(hosts, "buffers"), "lowat": _lowat(hosts, size, rate),
            "sysctl": {h: hosts.get(h, {}) for h in ("src", "dst")},
            "sample": units.time(hosts["sample"]) if "sample" in hosts else None,
            "trace": hosts.get("trace", [])}


def _flow(flow, size):
    return {"name": flow["name"], "from": flow["from"], "to": flow["to"],
            "tool": flow["tool"], "cc": flow.get("cc", "cubic"),
            "start": flow.get("start", 0), "seconds": flow.get("seconds"),
            "bytes": size(flow, "bytes"),
            "rate": units.rate(flow["rate"]) if "rate" in flow else None,
            "reads": units.rate(flow["reads"]) if "reads" in flow else None,
            "writes": units.rate(flow["writes"]) if "writes" in flow else None,
            "streams": flow.get("streams", 1),
            "options": flow.get("options", [])}
