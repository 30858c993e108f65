# SPDX-License-Identifier: GPL-2.0
"""Parts of the bench for CI: each change makes one of ten, as far as its time allows."""

import time

from errors import BenchError


def parts_of(seconds, n):
    """[[id]]: @n parts that take about equally long; @seconds: {id: s}.  The longest first, each
    to the part that takes least so far: the same figures always give the same parts."""
    parts = [[] for _ in range(n)]
    loads = [0.0] * n
    for name in sorted(seconds, key=lambda one: (-seconds[one], one)):
        least = loads.index(min(loads))
        parts[least].append(name)
        loads[least] += seconds[name]
    return parts


def which(text):
    """(K, N) of "K/N", K from 0 to N - 1"""
    k, _, n = text.partition("/")
    if not k.isdigit() or not n.isdigit() or not int(n) > int(k):
        raise BenchError(f'"{text}" is no part; write it as 3/10, from 0/10 to 9/10')
    return int(k), int(n)


def divided(names, seconds, n):
    """parts_of() for @names; one without known seconds takes as long as the others on average"""
    known = [seconds[name] for name in names if seconds.get(name)]
    usual = sum(known) / len(known) if known else 1.0
    return parts_of({name: seconds.get(name) or usual for name in names}, n)


def chosen(names, seconds, part):
    """Those of @names that are in this part"""
    k, n = which(part)
    return divided(names, seconds, n)[k]


def from_there(names, n):
    """@names from the @n-th on, then those before it: one that came last and had no time left
    comes earlier in another round"""
    n %= max(len(names), 1)
    return names[n:] + names[:n]


class Deadline:
    """The time by which the runs of these experiments have to end"""

    def __init__(self, minutes=None, names=(), now=time.monotonic):
        self.names = set(names)
        self.now = now
        self.ends = None if minutes is None else now() + 60 * minutes

    def is_over_for(self, name, takes):
        """Whether a run of experiment @name, which takes @takes seconds, would end too late"""
        return self.ends is not None and name in self.names and self.now() + takes > self.ends
