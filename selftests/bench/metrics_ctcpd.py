# SPDX-License-Identifier: GPL-2.0
"""Figures of ctcpd on the sending host, which steps start, and ask.

What they leave in the run's folder: `began`, the host's uptime (s) at the first flow's
start; `ctcpd.log`, the daemon's log, the uptime before each line; `classes.FLOW.before` and
`classes.FLOW.after`, tc's words of src's classes; `report.json`, that of ctcpd.
"""

import json
import re

from errors import BenchError

CLASS = re.compile(r"^class htb c7c0:1 .*\n\s+Sent (\d+) bytes", re.MULTILINE)
HEADER = 66                 # bytes of a segment that are no data: Ethernet, IPv4, TCP


def _lines(raw):
    """[(s since the first flow began, what was said)]"""
    began = float(raw.text("began"))
    found = [line.split(" ", 1) for line in raw.text("ctcpd.log").splitlines()]
    return [(float(time) - began, said) for time, said in found]


def _of_pacing(raw):
    """The same, of lines that tell what a remote is paced at"""
    return [(time, said) for time, said in _lines(raw)
            if ": paced at " in said or ": kept at " in said or "not paced" in said]


def paced_after(raw, _):
    """s until ctcpd paced the remote for the first time"""
    return next((time for time, _ in _of_pacing(raw)), float("inf"))


def settled_after(raw, _):
    """s until ctcpd kept a rate, having tried others"""
    return next((time for time, said in _of_pacing(raw) if "hardly retransmits" in said),
                float("inf"))


def rates_tried(raw, _):
    """changes of what the remote is paced at, by ctcpd's log"""
    return len(_of_pacing(raw))


def kept_at(raw, _):
    """the rate that is kept, percent of what the last hop carries; 0: none"""
    rates = [one["rate_bytes_s"] for one in json.loads(raw.text("report.json"))["paced"]
             if one["state"] == "kept" and one["rate_bytes_s"]]
    return 100 * sum(rates) * 8 / raw.plan["rate"]


def _class_bytes(raw, name):
    """Of the class of the one remote; 0: it has none"""
    found = CLASS.search(raw.text(name))
    return int(found[1]) if found else 0


def through_class(raw, measure):
    """bytes that the remote's class sent while the flow lasted, percent of the bytes of its
    frames at the receiver"""
    flow = measure.get("flow") or raw.only_flow()
    sent = (_class_bytes(raw, f"classes.{flow}.after")
            - _class_bytes(raw, f"classes.{flow}.before"))
    got = sum(part[2] for part in raw.received(flow))
    if not got:
        raise BenchError(f'{raw.folder.name}: flow "{flow}" brought nothing')
    return 100 * sent / (got * (raw.plan["mss"] + HEADER) / raw.plan["mss"])


def hop_drops(raw, _):
    """packets dropped by the last hop before the receiver"""
    return raw.drops("wan-dst", "on")


METRICS = {f.__name__: f for f in (paced_after, settled_after, rates_tried, kept_at,
                                   through_class, hop_drops)}
