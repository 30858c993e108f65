# SPDX-License-Identifier: GPL-2.0
"""A data transfer node and its remotes, drawn from a seed.

    node ---- nic ---- rtr ---- r0
                        +------ r1 ...      each its own namespace

nic is the node's device, NODE, with room for all that waits.  rtr has a port towards each
remote: `line`, and a queue of `buffer`.  A remote delays its own answers by `rtt`.

Most remotes are well: the queue before them holds two BDP and 200 frames.
The slow ones have a queue of a few frames, so that what comes at the node's rate is lost.

A remote's transfers follow one another: each begins so long after the one before has
ended, as with a person who waits for a file.  Sizes and pauses are drawn from the seed and
the remote's number alone, so both runs are asked for the same.

Rates are bit/s, times s, sizes bytes.
"""

import math
import random

FRAME = 1514            # bytes of a full frame, as qdiscs count it
MSS = 1448
NODE = 100e6
SECONDS = 7200
REMOTES = 200
SLOW = 6
LINES = (1e6, 10e6)             # of the hops before remotes that are well
# The least is above the 1.2 Mbit/s at which an interval of ctcpd's, 5 s, has its 500 segments
SLOW_LINES = (2e6, 3e6)
RTTS = (3e-3, 0.12)
SLOW_RTTS = (10e-3, 100e-3)
SLOW_BUFFERS = (2, 10)          # frames
LASTS = 6               # s that a transfer's median size takes at the line's rate
PAUSE = 1500            # s, the mean
SLOW_LASTS = 30
SLOW_PAUSE = 90
SPREAD = 0.6            # of the logarithm of sizes


def log_uniform(draw, low, high):
    """As likely between 1 and 2 as between 10 and 20"""
    return math.exp(draw.uniform(math.log(low), math.log(high)))


def slow_remote(draw, number):
    """A few frames of queue"""
    line = log_uniform(draw, *SLOW_LINES)
    return {"number": number, "slow": True, "line": round(line),
            "rtt": log_uniform(draw, *SLOW_RTTS), "lasts": SLOW_LASTS, "pause": SLOW_PAUSE,
            "buffer": draw.randint(*SLOW_BUFFERS) * FRAME}


def good_remote(draw, number):
    """Two BDP of queue, and room for the first flights"""
    line, rtt = log_uniform(draw, *LINES), log_uniform(draw, *RTTS)
    return {"number": number, "slow": False, "line": round(line), "rtt": rtt,
            "lasts": LASTS, "pause": PAUSE, "buffer": round(2 * line * rtt / 8) + 200 * FRAME}


def remotes_of(seed):
    """All of them; which are slow is drawn, too"""
    draw = random.Random(f"remotes {seed}")
    slow = set(draw.sample(range(REMOTES), SLOW))
    return [(slow_remote if n in slow else good_remote)(draw, n) for n in range(REMOTES)]


def transfers_of(seed, remote):
    """(s of pause before it, bytes) of one transfer after the other, without end"""
    draw = random.Random(f"transfers {seed} {remote['number']}")
    middle = remote["line"] / 8 * remote["lasts"]
    while True:
        yield (draw.expovariate(1 / remote["pause"]),
               max(MSS, round(middle * draw.lognormvariate(0, SPREAD))))


def address_of(number):
    """Of a remote"""
    return f"10.1.{number}.2"
