# SPDX-License-Identifier: GPL-2.0
"""Figures of users.py: what its users would have offered, and what each file had.

Each is a function of (raw, measure), as in metrics.py; from and until are those of the
run's clock.
"""

import json
import math
import statistics

import metrics
from users import User

SMALL, LARGE = 50e3, 500e3      # bytes: figures 4.6 and 4.7 of the paper
FIRST = 3                       # segments of the first flight (RFC 3390)


def flow_of(raw, measure):
    """(the flow, what users.py said of it)"""
    name = measure.get("flow") or raw.only_flow()
    return raw.flows[name], json.loads(raw.text(f"{name}.client"))


def flights(size, mss):
    """bytes of each round trip of slow start in which nothing is lost"""
    sent, n = 0, 0
    while sent < size:
        now = min(size - sent, mss * FIRST * 2**n)
        yield now
        sent, n = sent + now, n + 1


def passing(user, plan, until):
    """(s, bytes on the wire) of each flight of one user, were there neither loss nor
    queue: the SYN takes half a round trip to the server, the request another one"""
    now, rtt, mss = 0, plan["rtt"], plan["mss"]
    while (now := now + user.think()) < until:
        now += 1.5 * rtt
        for size in flights(user.size(), mss):
            yield now, size + math.ceil(size / mss) * (plan["wire"] - mss)
            now += rtt
        # The last one still needs the other half
        now -= rtt / 2


def offered_rate(raw, measure):
    """Mbit/s"""
    flow, said = flow_of(raw, measure)
    start, end = measure["from"] - flow["start"], measure["until"] - flow["start"]
    users = [User(said["seed"], n) for n in range(said["users"])]
    sent = sum(size for user in users for now, size in passing(user, raw.plan, end)
               if start <= now < end)
    return sent * 8 / 1e6 / (end - start)


def offered(raw, measure):
    """what the same users would send over the switch's port by Reno, were there neither
    loss nor queue, percent of what its line carries"""
    return 100 * offered_rate(raw, measure) * 1e6 / raw.plan["line"]


def carried(raw, measure):
    """what the switch's port sent, percent of what the same users would send were there
    neither loss nor queue"""
    return 100 * metrics.utilisation(raw, measure) / offered(raw, measure)


def _rates(raw, measure, least, most):
    """Mbit/s of the files larger than least and no larger than most, that came whole
    over the stretch: size / duration"""
    flow, said = flow_of(raw, measure)
    start, end = measure["from"] - flow["start"], measure["until"] - flow["start"]
    return [size * 8 / 1e6 / seconds for asked, size, seconds in said["files"]
            if least < size <= most and start <= asked + seconds < end]


def small_files(raw, measure):
    """mean of size / duration over the files of up to 50 kB that came whole, Mbit/s; 0:
    there was none"""
    return statistics.mean(_rates(raw, measure, 0, SMALL) or [0])


def large_files(raw, measure):
    """mean of size / duration over the files of more than 500 kB that came whole,
    Mbit/s; 0: there was none"""
    return statistics.mean(_rates(raw, measure, LARGE, math.inf) or [0])


METRICS = {f.__name__: f for f in (offered, carried, small_files, large_files)}
