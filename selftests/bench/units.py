# SPDX-License-Identifier: GPL-2.0
"""Quantities as a person writes them, into base units.

    rate   4gbit                bit/s
    time   26ms                 s
    size   100kB 14.8MiB        bytes; 1000p: frames of the path's MTU;
                                1.3bdp: times rate x rtt; 0.2fcwnd: times the window
    part   0.1% 1e-5 1/22000    of 1

kB is 1000 bytes and KiB 1024: tc(8) calls the latter kb, so both are written out.
"""

import re

from errors import BenchError

RATES = {"bit": 1, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9}
TIMES = {"us": 1e-6, "ms": 1e-3, "s": 1}
SIZES = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9,
         "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def _number(text, units, what, example):
    match = re.fullmatch(r"([0-9]+\.?[0-9]*)\s*([A-Za-z]+)", str(text))
    if not match or match[2] not in units:
        raise BenchError(f'"{text}" is not a {what}; write it as {example}')
    return float(match[1]) * units[match[2]]


def rate(text):
    """bit/s"""
    return round(_number(text, RATES, "rate", "4gbit, 500mbit or 64kbit"))


def time(text):
    """seconds"""
    return _number(text, TIMES, "time", "26ms, 500us or 0.5s")


def size(text, wire, bdp, fcwnd=None):
    """bytes; wire is the bytes of a full frame, bdp those of rate x rtt, fcwnd those of the
    window, where what has the size may be a part of it"""
    units = dict(SIZES, p=wire, bdp=bdp) | ({"fcwnd": fcwnd} if fcwnd else {})
    return round(_number(text, units, "size",
                         "100kB, 14.8MiB, 1000p (frames) or 1.3bdp"))


def part(text):
    """a probability"""
    words = str(text).strip()
    try:
        if words.endswith("%"):
            value = float(words[:-1]) / 100
        elif "/" in words:
            above, below = words.split("/")
            value = float(above) / float(below)
        else:
            value = float(words)
    except (ValueError, ZeroDivisionError):
        value = -1
    if not 0 <= value < 1:
        raise BenchError(f'"{text}" is not a part of the packets; '
                         "write it as 0.1%, 1e-5 or 1/22000")
    return value
