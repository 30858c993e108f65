# SPDX-License-Identifier: GPL-2.0
"""What the counters of a flow's path and programs say of its label.

@counters is what guest.py left: `drops` by place at the end (hop, police, path, back,
local), `series` of the same over time, what the senders and the receiver said.
"""

from paths import FRAME, MSS

WINDOWS = 2             # of EVERY s (guest.py) in which an overrun drops
DROPS = 10              # frames: less is no overrun, and no congestion
FEW = 5                 # losses: nobody can tell from so few
FULL = 0.9              # of the path's rate
ENDS = ("remote-window", "send-buffer", "application", "application-window")


def rate_of(flow):
    """What the path carries, as payload: bytes/s"""
    slowest = min(r for r in (flow["nic"], flow["line"], flow["police"]) if r)
    return slowest / 8 * MSS / FRAME


def told(counters, key):
    """Of all streams' senders"""
    return sum(s[key] for s in counters["sent"])


def goodput(flow, counters):
    """bytes/s"""
    return sum(r["bytes"] for r in counters["received"]) / flow["seconds"]


def share(flow, counters, key):
    """Of the flow's time, by its senders' own account"""
    return told(counters, key) / 1e6 / flow["seconds"] / max(1, len(counters["sent"]))


def queue(drops):
    """Frames that the slow hop dropped, or its policer"""
    return drops["hop"] + drops.get("police", 0)


def recorded(flow, counters):
    """Drops while ctcpd looked on, by place"""
    at = dict(counters["series"])
    first, last = (at[t] for t in flow["record"])
    return {place: last[place] - first[place] for place in last}


def _overrun(flow, counters, drops):
    at = [queue(d) for _, d in sorted(counters["series"], key=lambda p: p[0])]
    windows = sum(b > a for a, b in zip(at, at[1:]))
    if queue(drops) < DROPS or told(counters, "retrans") < DROPS:
        return f"the hop dropped {queue(drops)} frames: no overrun"
    if windows < WINDOWS:
        return "the hop dropped frames at one time only"
    if drops["path"] > queue(drops) / 5:
        return f"the path lost {drops['path']} frames, the hop {queue(drops)}"
    if told(counters, "retrans") < queue(drops) / 2:
        return f"{told(counters, 'retrans')} of the hop's {queue(drops)} drops were its own"
    return None


def _loss(flow, counters, drops):
    if flow["others"]:
        if queue(drops) < DROPS or told(counters, "retrans") < DROPS:
            return f"{told(counters, 'retrans')} segments sent again: no congestion"
    elif not drops["path"]:
        return "the path lost nothing"
    elif queue(drops) > drops["path"] / 50:
        return f"the path lost {drops['path']} frames, the hop {queue(drops)}"
    return None


def _unlost(flow, drops):
    """What nothing but the path's random loss may take"""
    if queue(drops):
        return f"the hop dropped {queue(drops)} frames"
    if drops["path"] and not flow["loss"]:
        return f"the path lost {drops['path']} frames"
    return None


def _end(flow, counters, drops):
    lost = _unlost(flow, drops)
    if lost:
        return lost
    if flow["scenario"] == "several" and not drops["path"]:
        return "the path lost nothing"
    busy = share(flow, counters, "busy")
    held = {"remote-window": "rwnd", "send-buffer": "sndbuf"}.get(flow["label"])
    if held and told(counters, held) < 0.5 * told(counters, "busy"):
        return f"{held} held it for {share(flow, counters, held):.0%} of its time only"
    if flow["scenario"] == "app-pauses" and busy > 0.7:
        return f"it had data for {busy:.0%} of its time: no pauses"
    used = goodput(flow, counters) / rate_of(flow)
    if used > 0.7:
        return f"it took {used:.0%} of the path: nothing limited it"
    if flow["window"]:
        window = goodput(flow, counters) * flow["rtt"] / flow["window"]
        if not 0.3 < window < 1.1:
            return f"a mean of {window:.0%} of its window was under way"
    return None


def _local(flow, counters, drops):
    if drops["local"] < FEW:
        return f"its own qdisc dropped {drops['local']} frames"
    return _unlost(flow, drops)


def _clean(flow, counters, drops):
    while_seen = recorded(flow, counters)
    if flow["heal"] and drops["path"] < DROPS:
        return f"it had lost {drops['path']} frames before it was seen"
    if any(while_seen.values()) or (any(drops.values()) and not flow["heal"]):
        return f"something dropped frames: {drops}"
    used = goodput(flow, counters) / rate_of(flow)
    if used < 0.8 and not flow["heal"]:
        return f"it took {used:.0%} of the path only"
    return None


def _unknown(flow, counters, drops):
    got = sum(r["bytes"] for r in counters["received"])
    if flow["bytes"] and got != flow["bytes"]:
        return f"{got} of {flow['bytes']} bytes arrived"
    if not flow["bytes"] and queue(dict(counters["series"])[flow["record"][0]]) < DROPS:
        return "it had lost nothing before it was seen"
    return None


CHECKS = {"overrun": _overrun, "loss": _loss, "local-drops": _local, "clean": _clean,
          "unknown": _unknown, **dict.fromkeys(ENDS, _end)}


def objection(flow, counters):
    """Why the flow is not what its label says; None: it is"""
    drops = counters["drops"]
    if drops["local"] and flow["label"] != "local-drops":
        return f"its own qdisc dropped {drops['local']} frames"
    if drops["back"]:
        return f"the way back lost {drops['back']} frames"
    return CHECKS[flow["label"]](flow, counters, drops)


def also(flow, counters):
    """Verdicts that are right, too, as its counters show"""
    drops, found = counters["drops"], list(flow["acceptable"])
    if flow["label"] == "loss" and not flow["others"]:
        if drops["path"] < FEW:
            found += ["unknown", "clean"]
        elif goodput(flow, counters) > FULL * rate_of(flow):
            found += ["clean"]
    if flow["label"] == "local-drops" and \
            told(counters, "retrans") < FEW * len(counters["sent"]):
        found += ["clean"]
    return found
