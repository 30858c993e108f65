# SPDX-License-Identifier: GPL-2.0
"""How far a bench is, and how long what is left will take."""

import results
from errors import BenchError


def seconds_left(known, done, todo):
    """By how long the machines of each took before, and how much slower or faster those
    of now are; None where nothing tells.  @known, @done: {id: s}; @todo: [id].  What
    took less than a second was there already."""
    both = [name for name in done if known.get(name) and done[name] >= 1]
    if not both:
        return None
    pace = sum(done[name] for name in both) / sum(known[name] for name in both)
    usual = sum(known.values()) / len(known)
    return pace * sum(known.get(name) or usual for name in todo)


class Progress:
    """Of experiments; @folders: where earlier results may be, the later ones the more
    telling."""

    def __init__(self, folders):
        self.todo, self.n = [], 0
        self.done = {}
        self.known = {}
        for folder in folders:
            try:
                _, experiments = results.read(folder / "results.json")
            except BenchError:
                continue
            self.known.update((e["description"]["id"], e["seconds"])
                              for e in experiments if e.get("seconds"))

    def begin(self, names):
        """These are to be made, in this order"""
        self.todo = list(names)
        self.n = len(self.todo)

    def ended(self, name, seconds):
        """One more"""
        self.todo.remove(name)
        self.done[name] = seconds

    def said(self):
        """3 of 51, 85 min left"""
        words = f"{len(self.done)} of {self.n}"
        left = seconds_left(self.known, self.done, self.todo)
        return words if left is None else f"{words}, {left / 60:.0f} min left"
