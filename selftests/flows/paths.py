# SPDX-License-Identifier: GPL-2.0
"""What scenarios.py draws from: paths, and what an algorithm makes of them.

Rates are bit/s, times s, sizes bytes, windows full frames.
"""

import math

FRAME = 1514            # bytes of a full frame, as qdiscs count it
MSS = 1448
RTT = (0.2e-3, 0.3)     # the range of all flows
PACKETS = 200_000       # that a flow may send: what it costs in real time
RATES = (4e6, 400e6)    # of a bottleneck; PACKETS may leave less
SENDERS = ("cubic", "bbr", "reno", "htcp")


def log_uniform(draw, low, high):
    """As likely between 1 and 2 as between 10 and 20"""
    return math.exp(draw.uniform(math.log(low), math.log(high)))


def seconds_of(rtt):
    """A flow's length: six polls, and more where a round trip is long"""
    return round(30 + 150 * rtt)


def bdp_of(rate, rtt):
    """bytes"""
    return rate * rtt / 8


def rate_within(draw, rtt, low=RATES[0], share=1.0):
    """A rate that the flow may take `share` of, all its time"""
    most = PACKETS * FRAME * 8 / seconds_of(rtt) / share
    return log_uniform(draw, low, max(2 * low, min(RATES[1], most)))


def regrowth(sender, window, rtt):
    """s from a loss at that window until the next, where only the queue's end stops it"""
    if sender == "reno":
        return window / 2 * rtt
    if sender == "cubic":
        friendly = window * 0.3 * rtt / 0.53
        return min((window * 0.3 / 0.4) ** (1 / 3), friendly)
    if sender == "htcp":
        return 1 + (window * rtt / 10) ** 0.5
    return 8 * rtt      # bbr's gain cycle


def response(sender, loss, rtt):
    """The mean window that random loss leaves (RFC 8312, 5.1; Mathis); inf: bbr's, which
    does not heed it"""
    reno = 1.22 / loss ** 0.5
    if sender == "bbr":
        return math.inf
    if sender == "reno":
        return reno
    cubic = max(reno, 1.054 * (rtt / loss) ** 0.75)
    return cubic if sender == "cubic" else 2 * cubic
