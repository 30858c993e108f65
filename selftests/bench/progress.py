# SPDX-License-Identifier: GPL-2.0
"""How far a bench is, and how long what is left will take.

Counted by runs and not by experiments: one experiment has two runs, another a hundred, and
runs that an earlier bench has made are not made again.
"""

import sys
import threading

import results
from errors import BenchError


def seconds_of_run(known, made):
    """A function of an id: the s of real time that one of its runs takes, or None where
    nothing tells.  @known: {id: s that a run of it took before}; @made: [(id, s)], runs made
    now.  A run takes what it took before, times how much slower or faster those made now
    are; what is new takes as long as the others on average."""
    both = [(known[name], s) for name, s in made if known.get(name)]
    pace = sum(s for _, s in both) / sum(k for k, _ in both) if both else 1
    if made:
        usual = sum(s for _, s in made) / len(made)
    elif known:
        usual = sum(known.values()) / len(known)
    else:
        usual = None
    return lambda name: pace * known[name] if known.get(name) else usual


def seconds_left(known, made, todo, jobs):
    """Of real time, or None where nothing tells.  @todo: {id: how many runs}; @jobs: so many
    at once; the others as in seconds_of_run()"""
    each = seconds_of_run(known, made)
    if not known and not made:
        return None
    return sum(n * each(name) for name, n in todo.items()) / jobs


class Progress:
    """The progress of a bench; @folders: where earlier results may be, the last one that knows
    an experiment counts"""

    def __init__(self, folders):
        self.each = {}          # id: s that one of its runs took
        self.experiments = 0
        self.ended = 0
        self.jobs = 1
        self.todo = {}          # id: runs that are not there yet
        self.made = []          # (id, s)
        self.lock = threading.Lock()
        for folder in folders:
            try:
                _, experiments = results.read(folder / "results.json")
            except BenchError:
                continue
            for e in experiments:
                self._learn(e["description"]["id"], e.get("seconds"), e.get("runs"))

    def _learn(self, name, seconds, runs):
        if seconds and runs:
            self.each[name] = seconds / runs

    def begin(self, experiments, jobs):
        """So many of them, with so many machines at once"""
        self.experiments, self.jobs = experiments, jobs

    def wants(self, name, runs):
        """So many runs of this experiment are to be made"""
        with self.lock:
            self.todo[name] = runs

    def run_ended(self, name, seconds):
        """One of its runs; @seconds: that it took, None where it failed"""
        with self.lock:
            self.todo[name] = max(self.todo.get(name, 0) - 1, 0)
            if seconds is not None:
                self.made.append((name, seconds))
            if sys.stderr.isatty():
                print(f"\r    {self._said()}\033[K", end="\r", file=sys.stderr,
                      flush=True)

    def experiment_ended(self, name):
        """Count the experiment, and none of its runs as left."""
        with self.lock:
            self.todo.pop(name, None)
            self.ended += 1

    def run_takes(self, name):
        """The s of real time that a run of this experiment is expected to take; 0 where
        nothing tells"""
        with self.lock:
            return seconds_of_run(self.each, self.made)(name) or 0

    def said(self):
        """3 of 51, 190 runs to be made, 85 min left"""
        with self.lock:
            return self._said()

    def _said(self):
        words, runs = f"{self.ended} of {self.experiments}", sum(self.todo.values())
        left = seconds_left(self.each, self.made, self.todo, self.jobs)
        if runs:
            words += f", {runs} runs to be made"
        return words if not runs or left is None else f"{words}, {left / 60:.0f} min left"
