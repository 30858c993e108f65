# SPDX-License-Identifier: GPL-2.0
"""Gaps between frames before a switch's port, as "Routers with tiny buffers", figures 4.9 and
4.10, has them: a step traces them at the switch, into sw.pcap and sw.tcpdump of the run.

A gap is in units of the time that a full frame takes on the line.  Times are s since the
first frame of the trace, which is that of the first answer.
"""

import functools

from errors import BenchError
from raw import tshark

NEAR = 0.1      # of a frame's time: what is taken for one, or for two of them


@functools.lru_cache(maxsize=1)
def _times(raw):
    """s"""
    if not raw.captured_all("sw"):
        raise BenchError(f"{raw.folder.name}: tcpdump missed frames")
    return [float(t) for t in tshark(raw.folder / "sw.pcap", "-T", "fields", "-e",
                                     "frame.time_epoch").split()]


def _gaps(raw, measure):
    """in frames' times"""
    frame = raw.plan["wire"] * 8 / raw.plan["line"]
    start, end = (_times(raw)[0] + measure[key] for key in ("from", "until"))
    times = [t for t in _times(raw) if start <= t < end]
    return [(b - a) / frame for a, b in zip(times, times[1:])]


def _part(raw, measure, least, most):
    """percent of the gaps that are between these, in frames' times"""
    gaps = _gaps(raw, measure)
    return 100 * sum(least <= gap < most for gap in gaps) / len(gaps)


def gaps_short(raw, measure):
    """gaps shorter than a full frame's time on the line, percent"""
    return _part(raw, measure, 0, 1 - NEAR)


def gaps_one(raw, measure):
    """gaps of one full frame's time on the line, percent"""
    return _part(raw, measure, 1 - NEAR, 1 + NEAR)


def gaps_two(raw, measure):
    """gaps of two full frames' time on the line, percent"""
    return _part(raw, measure, 2 - NEAR, 2 + NEAR)


METRICS = {f.__name__: f for f in (gaps_short, gaps_one, gaps_two)}
