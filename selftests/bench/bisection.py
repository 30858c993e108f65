# SPDX-License-Identifier: GPL-2.0
"""The lowest rung of a ladder that holds, found with few tries.

It assumes that the rungs above one that holds hold, too, so that it need not try most of them.
It assumes nothing about the answer itself: that holds with every seed, and the rung below was
tried.
"""

import math


def ladder(low, high, within):
    """[value] from @low to @high, each larger than the one before by the same part, @within
    at most, as far as four digits say it"""
    steps = math.ceil(math.log(high / low) / math.log(1 + within) - 1e-9)
    return [float(f"{low * (high / low) ** (i / steps):.4g}") for i in range(steps + 1)]


def tries(rungs, seeds):
    """How many it takes at most, where the first seed's answer holds with the others, too"""
    return math.ceil(math.log2(rungs + 1)) + seeds - 1


def lowest(rungs, seeds, holds):
    """(the answer, a seed with which the rung below does not hold).  @rungs: how many there
    are; the answer is @rungs where none holds, and the seed None where there is no rung
    below; @holds: a function of a rung, from 0, and a seed, from 1 to @seeds"""
    below, answer, why = -1, rungs, None
    held = {rungs}          # by the first seed
    while True:
        while answer - below > 1:
            middle = (below + answer) // 2
            if holds(middle, 1):
                answer = middle
                held.add(middle)
            else:
                below, why = middle, 1
        if answer == rungs:
            return answer, why
        bad = next((s for s in range(2, seeds + 1) if not holds(answer, s)), None)
        if bad is None:
            return answer, why
        below, why = answer, bad
        answer = min(rung for rung in held if rung > below)
