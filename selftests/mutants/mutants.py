#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""mutants.py [--list] [--share K/N] [NAME ...]: does a test fail for each wrong line?

A mutant is one wrong line, and the test that must fail because of it (*.toml beside this
file; module.toml's head explains the keys).  Put each into a copy of the tree, build that, and
run the one test there by selftests/lab/check.sh.  A mutant is killed when a point of the test
fails, or the test hangs or dies; before its mutants, each test must pass on the unchanged copy.
A mutant that does not build is an error of the list.

--list: check that the list fits the tree, and run nothing; TAP.
--share K/N: every Nth mutant, from the Kth on (0 to N - 1).

Last line: "mutants: N killed, N survived, N in error"; exit 1 unless all were killed.
"""

import argparse
import concurrent.futures
import dataclasses
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import tap  # noqa: E402  (of the folder above)

TOP = HERE.parent.parent
OUT = TOP / "build" / "mutants"
LOOK_S = 0.2		# from one look at a running test to the next
HANGS = 4		# a test hangs when it takes so many times as long as without the mutant,
HANGS_S = 60		# and so many seconds more
# tests of many files, which take minutes: a mutant may name the file that must fail
PARTS = {
    "unit": (("tools/tests", "selftests/unit"), ".c"),
    "bench": (("selftests/bench",), ".py"),
    "flows": (("selftests/flows",), ".py"),
    "dtn": (("selftests/dtn",), ".py"),
}
OF_THE_MODULE = ("circuit/", "tcp_circuit.c", "include/")


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One wrong line: in @file, @old (once) becomes @new; @test must fail, in its @part."""
    name: str
    file: str
    old: str
    new: str
    test: str
    part: str = ""

    def objection(self):
        """Why it does not fit the tree, or None"""
        path = TOP / self.file
        if not path.is_file():
            return f'there is no file "{self.file}"'
        times = path.read_text(encoding="utf-8").count(self.old)
        if times != 1:
            return f'"{self.old}" is {times} times in {self.file}, once is right'
        if self.old == self.new:
            return "it changes nothing"
        if not is_test(self.test):
            return f'"{self.test}" is no test of make check'
        if self.part and self.test not in PARTS:
            return f"{self.test} has no parts"
        if self.part and not is_part(self.test, self.part):
            return f'"{self.part}" is no file with tests of {self.test}'
        return None


def is_test(name):
    """Whether a mutant may name this test: make check runs it, and whether it passes depends on
    the tree alone."""
    return name in ("unit", "tap", "kept", "alone", "chosen", "seed", "processor", "bench",
                    "flows", "dtn", "dashboard") or has_lab(TOP / "selftests" / f"{name}.sh", "uml")


def has_lab(path, lab):
    """Whether the script is a test that names this lab in its head"""
    return path.is_file() and \
        re.search(rf"^# labs:.*\b{lab}\b", path.read_text(encoding="utf-8"), re.MULTILINE)


def is_part(test, part):
    """Whether check.sh finds this file, a part of the test"""
    folders, end = PARTS[test]
    return part.startswith("test_") and \
        any((TOP / folder / f"{part}{end}").is_file() for folder in folders)


def read_lists():
    """All mutants, in the order of the lists."""
    found = []
    for path in sorted(HERE.glob("*.toml")):
        with open(path, "rb") as file:
            for entry in tomllib.load(file)["mutant"]:
                found.append(Mutant(**entry))
    return found


def list_points(mutants):
    """[(fits, what)] for each, and whether the names are different"""
    points = []
    seen = set()
    for mutant in mutants:
        why = mutant.objection()
        if mutant.name in seen:
            why = "another has its name"
        seen.add(mutant.name)
        points.append((why is None, f"{mutant.name}: {why or mutant.test}"))
    return points


def print_tap(points):
    """As `make check` reads it; 0 if all are ok"""
    said = tap.Points()
    for is_ok, what in points:
        said.point(is_ok, what)
    return said.finish()


class Copy:
    """A copy of the tree, to be mutated by one worker."""

    def __init__(self, number):
        self.top = OUT / str(number)
        self.log = OUT / f"{number}.log"
        shutil.rmtree(self.top, ignore_errors=True)
        # without what was built in the tree, as it has paths of the tree in it
        left = {str(TOP): {"build", ".git"}}
        shutil.copytree(TOP, self.top, symlinks=True,
                        ignore=lambda folder, _: left.get(folder, set()))

    def build(self, mutant=None):
        """Build what has changed; False if that fails"""
        commands = []
        if mutant is None or not mutant.file.endswith(".py"):
            commands.append(["make", "-s", "tools", "tests-bin"])
        if mutant is None or mutant.file.startswith(OF_THE_MODULE):
            commands.append(["selftests/lab/uml-module.sh"])
        with open(self.log, "a", encoding="utf-8") as log:
            return all(subprocess.run(command, cwd=self.top, stdout=log, stderr=log,
                                      check=False).returncode == 0
                       for command in commands)

    def put(self, mutant, old, new):
        """Replace @old by @new; the file is then newer than all that was built from it"""
        path = self.top / mutant.file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1 or not old
        path.write_text(text.replace(old, new), encoding="utf-8")

    def fails(self, test, part, limit_s):
        """"" if the test passes, or why it fails: a point, a timeout, or that it died"""
        said = self.top / "build" / "check" / f"{test}.tap"
        said.unlink(missing_ok=True)
        with open(self.log, "a", encoding="utf-8") as log, \
                subprocess.Popen(["selftests/lab/check.sh", test], cwd=self.top,
                                 env={**os.environ, "PART": part}, stdout=log, stderr=log,
                                 start_new_session=True) as process:
            until = time.monotonic() + limit_s
            while process.poll() is None:
                point = failed_point(said)
                if point or time.monotonic() > until:
                    os.killpg(process.pid, signal.SIGKILL)
                    return point or f"it runs for more than {limit_s:.0f} s"
                time.sleep(LOOK_S)
        if process.returncode == 0:
            return ""
        return failed_point(said) or "it dies"


def failed_point(path):
    """The first point of a test that is not ok, or None"""
    if not path.exists():
        return None
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("not ok"):
            return line.removeprefix("not ok").strip()
    return None


class Run:
    """All mutants, on as many copies as there are processors."""

    def __init__(self, mutants):
        self.mutants = mutants
        self.began = time.monotonic()
        self.copies = queue.SimpleQueue()
        self.limits = {}
        self.done = 0
        self.count = {"killed": 0, "survived": 0, "in error": 0}

    def say(self, verdict, mutant, text):
        """Print the result of a mutant, and how much time is left."""
        self.done += 1
        self.count[verdict] += 1
        gone = time.monotonic() - self.began
        left = gone / self.done * (len(self.mutants) - self.done)
        print(f"[{gone:4.0f} s, {left / 60:3.0f} min left] {mutant.name:36} {verdict:8}"
              f" {mutant.test}: {text}", flush=True)

    def begin(self, workers):
        """Make the copies and build them."""
        for number in range(workers):
            copy = Copy(number)
            if not copy.build():
                raise SystemExit(f"mutants: the tree as it is does not build: {copy.log}")
            self.copies.put(copy)

    def baseline(self, tested):
        """Run @tested, a test and its part, without a mutant: it has to pass, and how long it
        takes limits the runs with one."""
        copy = self.copies.get()
        began = time.monotonic()
        why = copy.fails(*tested, 1800)
        self.copies.put(copy)
        if why:
            raise SystemExit(f"mutants: {' '.join(tested)} fails on the tree as it is: {why}")
        self.limits[tested] = (time.monotonic() - began) * HANGS + HANGS_S

    def one(self, mutant):
        """Put it in, build, test, take it out."""
        copy = self.copies.get()
        try:
            before = (copy.top / mutant.file).read_text(encoding="utf-8")
            copy.put(mutant, mutant.old, mutant.new)
            if not copy.build(mutant):
                self.say("in error", mutant, f"it does not build: {copy.log}")
                return
            tested = (mutant.test, mutant.part)
            why = copy.fails(*tested, self.limits[tested])
            self.say("killed" if why else "survived", mutant, why or "nothing fails")
        finally:
            (copy.top / mutant.file).write_text(before, encoding="utf-8")
            self.copies.put(copy)

    def all(self, workers):
        """Exit status"""
        self.begin(workers)
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            list(pool.map(self.baseline, sorted({(m.test, m.part) for m in self.mutants})))
            # those of one file one after the other, so that little is built each time
            list(pool.map(self.one, sorted(self.mutants, key=lambda m: (m.file, m.name))))
        print("mutants: " + ", ".join(f"{n} {verdict}"
                                      for verdict, n in self.count.items()))
        return 0 if self.count["killed"] == len(self.mutants) else 1


def chosen(mutants, names, share):
    """The mutants that were asked for"""
    unknown = set(names) - {m.name for m in mutants}
    if unknown:
        raise SystemExit(f"mutants: none is called {', '.join(sorted(unknown))}")
    if names:
        return [m for m in mutants if m.name in names]
    first, step = (int(word) for word in share.split("/"))
    return mutants[first::step]


def main():
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--list", action="store_true", help="look at the list only")
    parser.add_argument("--share", default="0/1", metavar="K/N",
                        help="every Nth from K on")
    parser.add_argument("name", nargs="*")
    args = parser.parse_args()
    mutants = read_lists()
    if args.list:
        return print_tap(list_points(mutants))
    bad = [what for is_ok, what in list_points(mutants) if not is_ok]
    if bad:
        raise SystemExit("mutants: the list does not fit the tree:\n" + "\n".join(bad))
    os.environ.setdefault("LAB_KERNEL", "newest")  # as check.sh does
    OUT.mkdir(parents=True, exist_ok=True)
    for log in OUT.glob("*.log"):
        log.unlink()
    return Run(chosen(mutants, args.name, args.share)).all(
        int(os.environ.get("MUTANTS_JOBS", os.cpu_count())))


if __name__ == "__main__":
    sys.exit(main())
