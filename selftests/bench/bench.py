#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""bench.py [--quick [--part K/N [--round R] [--within MINUTES]]] [ID ...]: the experiments, all
or some, and a report.

Writes build/bench/ID.json, ID.svg, results.json, report.html and report.md.  When all
of them were made, and only then, docs/bench/ too.  Last line: "bench: N passed,
N failed, N skipped", counting assertions; exit 1 when one failed.

--part: the quick ones and a part of the others, with one seed (or all, where medians are
asserted), asserted but not held against the calibration, which takes longer than they do.
--within: begin no run of the part that is expected to end later; an experiment for which no time
is left is named in the output and not counted.  --round: begin the part with the Rth of its
experiments, so that another one comes first ten changes later.

bench.py --parts N: print which experiments each part has, for K from 0 to N - 1, and make nothing.
This follows from docs/bench/results.json and the descriptions, so it is that of one commit.

bench.py --add ID ...: make these and put them into docs/bench/, without making again what is
there; only with the kernels and the tools of docs/bench, whose calibration it then uses.

bench.py --report FILE: make the report of kept results (results.json), without a run.
"""

import argparse
import concurrent.futures
import contextlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import calibration
import description as descriptions
import figures
import metrics
import plots
import report
import results
import rotation
import search
import seeds
import units
from errors import BenchError, TimeIsOver
from expand import made_for, runs_of
from judge import check_tables, is_of, rows_of, verdicts_of
from machine import OUT, TOP, Labs
from progress import Progress
from raw import Raw

DOCS = TOP / "docs" / "bench"
TOOLS = (("iperf3", "--version"), ("nuttcp", "-V"), ("tc", "-V"), ("tshark", "--version"),
         ("tcptrace", "-v"))


def chosen(ids, quick):
    """(all that may be needed, what was asked for); calibration first"""
    known = descriptions.names_of()
    for name in ids:
        if name not in known:
            raise BenchError(f'no experiment is called "{name}"; there are '
                             + ", ".join(known))
    every = descriptions.load_all(ids=ids)
    return every, wanted_of(every, ids, quick)


def wanted_of(every, ids, quick):
    """The descriptions that were asked for"""
    if ids:
        return [d for d in every if d["id"] in ids]
    return [d for d in every if d.get("quick") or not quick]


def objections(labs, d, ranges_of=None):
    """{kernel: why a run on it must not be reported, or None}"""
    found = {}
    for run in runs_of(d):
        kernel = run["kernel"]
        known = (ranges_of or calibration.ranges_of)(labs.on(kernel).kernel_hash())
        why = calibration.objection(known, run["plan"], d["measure"])
        found[kernel] = found.get(kernel) or why and f"kernel {kernel}: {why}"
    return found


def needs_calibration(labs, every, wanted, whole=False):
    """Calibrations to make first: of each kernel on which something wanted would be
    refused (or is wanted at all, for a whole report), but for those wanted anyway."""
    kernels = set()
    for d in (d for d in wanted if "calibrates" not in d):
        # A kernel that cannot be had fails its own experiments, not all of them
        with contextlib.suppress(BenchError):
            kernels |= {kernel for kernel, why in objections(labs, d).items()
                        if why or whole}
    asked = {d["id"] for d in wanted}
    found = [d if kernel == descriptions.KERNELS[0] else calibration.on(kernel, d)
             for kernel in descriptions.KERNELS if kernel in kernels
             for d in every if "calibrates" in d]
    return [d for d in found if d["id"] not in asked]


def busy():
    """[process]: load on every processor; the processes end with this program, however that
    ends"""
    return [subprocess.Popen(["sh", "-c", "while kill -0 $PPID 2>/dev/null; do :; done"])
            for _ in range(os.cpu_count())]


def same_again(labs, run, folder):
    """Whether the same seed gives the same bytes on a busy machine."""
    load = busy()
    try:
        second = labs.carry_out(run, "loaded")
    finally:
        for process in load:
            process.kill()
            process.wait()
    names = [p.name for p in folder.iterdir()
             if p.suffix in (".client", ".server", ".json") or p.name == "ss"]
    different = [n for n in names if (folder / n).read_bytes() !=
                 (second / n).read_bytes()]
    what = f"{run['label']}: the same again on a busy machine"
    if different:
        return False, f"{what}: {', '.join(different)} differ"
    return True, f"{what}, {len(names)} files to the last byte"


def in_bins(parts, start, every):
    """[[s, sum]] of [(s, s, value)] of a flow, in bins of so many seconds"""
    last = parts[-1][1] if parts else 0
    return [[start + (i + 0.5) * every,
             sum(p[2] for p in metrics.within(parts, i * every, (i + 1) * every))]
            for i in range(int(last / every + 0.1))]


def series(raw, every):
    """{flow: [[s, Mbit/s]]}, means of so many seconds each; not of stream.py, which reports
    its whole only"""
    return {name: [[t, size * 8 / 1e6 / every] for t, size in
                   in_bins(raw.received(name), flow["start"], every)]
            for name, flow in raw.flows.items() if flow["tool"] != "stream"}


def resent(raw, every):
    """{flow: [[s, segments sent again]]} of so many seconds each, as iperf3 has them"""
    return {name: in_bins(raw.resent(name), flow["start"], every)
            for name, flow in raw.flows.items() if flow["tool"] == "iperf3"}


def arrivals(raw, most=200):
    """{"frames": [[s since the first, how many]]} of the first ones at dst"""
    times = [t for t, _ in raw.frames("dst")][:most]
    return {"frames": [[t - times[0], i + 1] for i, t in enumerate(times)]}


def windows(raw):
    """{flow: [[s from its start, segments]]}: congestion windows, each sample of ss"""
    return {name: [list(point) for point in raw.windows(name)] for name in raw.flows}


def points_of(raw, plot):
    """What a plot over time shows of a run."""
    if plot.get("kind") == "arrivals":
        return arrivals(raw)
    if plot.get("kind") == "windows":
        return windows(raw)
    return series(raw, every_of(plot))


def every_of(plot):
    """s of a point of a plot over time"""
    return units.time(plot.get("every", "0.5s"))


def seconds_of(folder):
    """Seconds of real time that the run's machine took"""
    return float((folder / "done").read_text(encoding="utf-8"))


class Machines:
    """All runs of all that was asked for, as many machines at once as BENCH_JOBS says:
    while one experiment's last run is made, the next one's first are."""

    def __init__(self, labs, wanted, progress, not_held_to_it=(), ranges_of=None,
                 deadline=None):
        self.labs = labs
        self.progress = progress
        self.deadline = deadline or rotation.Deadline()
        self.not_held_to_it = not_held_to_it
        self.ranges_of = ranges_of
        jobs = int(os.environ.get("BENCH_JOBS") or os.cpu_count())
        self.dropped = set()    # ids
        progress.begin(len(wanted), jobs)
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)
        self.started = {d["id"]: self._start(d) for d in wanted}

    def _start(self, d):
        runs = runs_of(d)
        check_tables(d, runs)
        try:
            for run in runs:
                self.labs.on(run["kernel"])     # built here, not by several threads
        except BenchError:
            return runs, None
        self._count(d, runs)
        return runs, self._begin(d, runs)

    def _begin(self, d, runs):
        """[future], each with [(run, its folder)]: of one run, or of all that a search makes
        for a label"""
        if "search" in d:
            return [self.pool.submit(self._search, d, runs, run)
                    for run in runs if run["seed"] == 1]
        return [self.pool.submit(lambda run: [(run, self._make(d["id"], run))], run)
                for run in runs]

    def _search(self, d, runs, what):
        """Search for one label, then correct the number of runs left: the search may have
        needed fewer"""
        found = search.carry_out(d, what, lambda run: self._make(d["id"], run))
        self._count(d, runs)
        return found

    def _count(self, d, runs):
        """Tell the progress how many runs of it are left"""
        if "search" in d:
            todo = sum(search.left(d, run, self._kept) for run in runs if run["seed"] == 1)
        else:
            todo = sum(self._kept(run) is None for run in runs)
        self.progress.wants(d["id"], todo)

    def _kept(self, run):
        """The run's folder if an earlier bench or this one has made it, else None"""
        folder = self.labs.on(run["kernel"]).folder_of(run)
        return folder if (folder / "done").exists() else None

    def _make(self, name, run):
        """The run's folder, made if it is not there yet"""
        if folder := self._kept(run):
            return folder
        if name in self.dropped:    # a search that had begun
            raise concurrent.futures.CancelledError
        if self.deadline.is_over_for(name, self.progress.run_takes(name)):
            raise TimeIsOver
        began, folder = time.monotonic(), None
        try:
            folder = self.labs.carry_out(run)
            return folder
        finally:
            self.progress.run_ended(name, time.monotonic() - began if folder else None)

    def folders(self, d):
        """[(run, its folder)], when all of them are there"""
        runs, futures = self.started[d["id"]]
        if futures is None:
            futures = self._begin(d, runs)
        return [pair for future in futures for pair in future.result()]

    def drop(self, d):
        """Cancel the experiment's runs that have not started"""
        self.dropped.add(d["id"])
        for future in self.started[d["id"]][1] or ():
            future.cancel()

    def end(self):
        """Start no more runs, and wait for those that have begun"""
        self.dropped.update(self.started)
        self.pool.shutdown(cancel_futures=True)


def keep_series(experiment, folders, drawn):
    """Keep each run's series over time, of one seed: @drawn, {label: seed}"""
    plot = experiment["description"].get("plot", {})
    for run, folder in folders:
        if run["seed"] != drawn.get(run["label"]) or run.get("at", "found") != "found":
            continue
        raw = Raw(folder, run["plan"])
        experiment["series"][run["label"]] = points_of(raw, plot)
        if plot.get("resent"):
            experiment.setdefault("resent", {})[run["label"]] = resent(raw, every_of(plot))


def perform(labs, machines, d):
    """One experiment: its results, or why there are none."""
    experiment = {"description": d, "rows": [], "series": {}, "again": [],
                  "seconds": 0}
    if "calibrates" not in d and d["id"] not in machines.not_held_to_it:
        whys = filter(None, objections(labs, d, machines.ranges_of).values())
        experiment["refused"] = next(whys, None)
        if experiment["refused"]:
            machines.drop(d)
            return experiment, []
    folders = machines.folders(d)
    found = [(run, {m["name"]: figures.figure(Raw(folder, run["plan"]), m)
                    for m in d["measure"] if is_of(m, run)}) for run, folder in folders]
    if told := seeds.told(d, found):
        experiment["drawn"] = told
    keep_series(experiment, folders, seeds.drawn(d, found))
    if d.get("twice"):
        experiment["again"] += [same_again(labs, run, folder) for run, folder in folders
                                if run["seed"] == 1]
    experiment["seconds"] = round(sum(seconds_of(folder)
                                      for _, folder in folders), 1)
    experiment["runs"] = len(folders)
    experiment["axes"] = {run["label"]: run["axes"] for run, _ in found}
    experiment["rows"] = rows_of(d, found)
    if "search" in d:
        experiment["searched"] = search.kept(run for run, _ in folders)
    return experiment, found


def tell(experiment, progress, quick):
    """What held and what did not: (passed, failed, skipped).  What must not be
    reported is a failure where everything is known to be within range."""
    d = experiment["description"]
    verdicts = verdicts_of(experiment)
    refused = experiment.get("refused")
    if refused and quick:
        verdicts.append((False, f"not reported: {refused}"))
    failed = [text for held, text in verdicts if not held]
    print(f'{d["id"]:14} {len(verdicts) - len(failed):3} passed, '
          f'{len(failed)} failed ({experiment["seconds"]:.0f} s)  {d["title"]}'
          f'  [{progress.said()}]', flush=True)
    for text in failed:
        print(f"    {text}", flush=True)
    if refused and not quick:
        print(f"    skipped, not reported: {refused}", flush=True)
    return len(verdicts) - len(failed), len(failed), int(bool(refused and not quick))


def keep(experiment):
    """Results as JSON, and the plot."""
    name = experiment["description"]["id"]
    (OUT / f"{name}.json").write_text(results.text_of(experiment) + "\n")
    picture = OUT / f"{name}.svg"
    if experiment.get("refused") or not plots.draw(experiment, picture):
        return None
    return picture


def version_of(*words):
    """The first line of a tool's version"""
    said = subprocess.run(words, capture_output=True, text=True, check=False)
    return ((said.stdout or said.stderr).splitlines() or ["unknown"])[0].strip()


def about_of(labs):
    """What all of it was made with"""
    commit = subprocess.run(
        ["git", "-c", f"safe.directory={TOP}", "-C", TOP, "describe",
         "--always", "--dirty"], capture_output=True, text=True, check=False)
    return {"commit": commit.stdout.strip() or "unknown",
            "kernels": {name: calibration.ranges_of(lab.kernel_hash())
                        for name, lab in labs.made.items()},
            "hashes": [lab.kernel_hash() for lab in labs.made.values()],
            "tools": {words[0]: version_of(*words) for words in TOOLS}}


def write_reports(about, done, pictures, docs):
    """build/bench/report.* and results.json, and docs/bench/ when all were made."""
    report.write_html(OUT / "report.html", about, done, pictures)
    report.write_markdown(OUT / "report.md", about, done, pictures)
    results.write(OUT / "results.json", about, done)
    if not docs:
        return
    shutil.rmtree(DOCS, ignore_errors=True)
    DOCS.mkdir(parents=True)
    report.write_markdown(DOCS / "README.md", about, done, pictures)
    results.write(DOCS / "results.json", about, done)
    for picture in filter(None, pictures.values()):
        (DOCS / picture.name).write_text(
            plots.licensed(picture.read_text(encoding="utf-8")), encoding="utf-8")


def others_of(every, wanted, each):
    """(those that a part may have, {id: description}, with one seed unless what they assert is
    of medians; {id: s that all its runs take}); @each: {id: s that one of its runs takes}"""
    others = {d["id"]: d if d.get("medians") else {**d, "seeds": 1}
              for d in every if d not in wanted}
    return others, {name: each[name] * made_for(d) for name, d in others.items()
                    if name in each}


def by_turns(every, wanted, each, part, first=0):
    """The experiments of this part of the others, if one is asked for, from the @first-th on"""
    if not part:
        return []
    others, seconds = others_of(every, wanted, each)
    names = rotation.from_there(rotation.chosen(sorted(others), seconds, part), first)
    print(f"part {part}: " + " ".join(names), flush=True)
    return [others[name] for name in names]


def print_parts(n, every, wanted, each):
    """Which experiments --part K/n makes, a line for each K"""
    others, seconds = others_of(every, wanted, each)
    for k, names in enumerate(rotation.divided(sorted(others), seconds, n)):
        print(f"part {k}/{n}: " + " ".join(names))


def bench(options):
    """Everything that was asked for: [passed, failed, skipped]"""
    every, wanted = chosen(options.ids, options.quick)
    progress = Progress([DOCS, OUT])
    # Not OUT: what this machine has measured since would move experiments from part to part.
    turn = by_turns(every, wanted, Progress([DOCS]).each, options.part, options.round)
    names = [d["id"] for d in turn]
    OUT.mkdir(parents=True, exist_ok=True)
    labs = Labs()
    labs.on(descriptions.KERNELS[0])
    if not options.quick:
        wanted = needs_calibration(labs, every, wanted, not options.ids) + wanted
    wanted += turn
    machines = Machines(labs, wanted, progress, names,
                        deadline=rotation.Deadline(options.within, names))
    try:
        return carry_out(options, labs, machines, wanted, progress)
    finally:
        machines.end()


def carry_out(options, labs, machines, wanted, progress):
    """One experiment after the other, and the report: [passed, failed, skipped]"""
    counts, done, pictures = made(labs, machines, wanted, progress, options.quick)
    whole = not options.ids and not options.quick and len(done) == len(wanted)
    write_reports(about_of(labs), done, pictures, whole)
    return counts


def made(labs, machines, wanted, progress, quick):
    """([passed, failed, skipped], the experiments that were made, {id: plot})"""
    counts = [0, 0, 0]
    done, pictures = [], {}
    for d in wanted:
        try:
            experiment, found = perform(labs, machines, d)
            if "calibrates" in d:
                calibration.remember(
                    labs.on(found[0][0]["kernel"]).kernel_hash(), d["id"],
                    calibration.points_of(d, experiment["rows"], found))
            pictures[d["id"]] = keep(experiment)
        except TimeIsOver:
            print(f'{d["id"]:14} left to another change: no time is left for it', flush=True)
            progress.experiment_ended(d["id"])
            continue
        except BenchError as error:
            print(f'{d["id"]:14} failed: {error}', flush=True)
            counts[1] += 1
            progress.experiment_ended(d["id"])
            continue
        done.append(experiment)
        progress.experiment_ended(d["id"])
        told = tell(experiment, progress, quick)
        counts = [a + b for a, b in zip(counts, told)]
    return counts, done, pictures


def same_lab(labs, wanted, about):
    """Raise BenchError unless kernels and tools are those that docs/bench was made with; a tool
    that it does not name (tools_beside) none of its experiments has used"""
    for d in wanted:
        for kernel in {run["kernel"] for run in runs_of(d)}:
            if labs.on(kernel).kernel_hash() not in about["hashes"]:
                raise BenchError(
                    f'docs/bench is of kernel {" and ".join(about["hashes"])}, this machine '
                    f"has {labs.on(kernel).kernel_hash()}; make bench makes all of it")
    for words in TOOLS:
        there = about["tools"].get(words[0])
        if there is not None and (here := version_of(*words)) != there:
            raise BenchError(f'docs/bench is of "{there}", this machine has "{here}"; '
                             "make bench makes all of it")


def tools_beside(about):
    """{tool: version} of those that docs/bench does not name yet: they came with an experiment
    that is to be added"""
    return {words[0]: version_of(*words) for words in TOOLS if words[0] not in about["tools"]}


def joined(kept, done, commit):
    """@kept, with what was made now, and its commit, in the place of what it replaces or last"""
    now = {e["description"]["id"]: {**e, "commit": commit} for e in done}
    found = [now.pop(e["description"]["id"], e) for e in kept]
    return found + list(now.values())


def add(options):
    """Some experiments, and docs/bench/ with them: [passed, failed, skipped]"""
    about, kept = results.read(DOCS / "results.json")
    wanted = chosen(options.ids, False)[1]
    OUT.mkdir(parents=True, exist_ok=True)
    labs, progress = Labs(), Progress([DOCS, OUT])
    same_lab(labs, wanted, about)
    ranges = dict(zip(about["hashes"], about["kernels"].values()))
    machines = Machines(labs, wanted, progress, ranges_of=ranges.get)
    try:
        counts, done, pictures = made(labs, machines, wanted, progress, False)
    finally:
        machines.end()
    if counts[1] or counts[2] or len(done) < len(wanted):
        return counts
    every = joined(kept_now(kept, [d["id"] for d in wanted]), done, about_of(labs)["commit"])
    about["tools"] |= tools_beside(about)
    pictures |= {e["description"]["id"]: keep(e) for e in every}
    write_reports(about, every, pictures, docs=True)
    return counts


def current(description, now):
    """The tree's present description of an experiment; @now: {id: description}"""
    name, _, kernel = description["id"].partition(".")
    if kernel in descriptions.KERNELS:
        return calibration.on(kernel, now[name])
    return now.get(description["id"], description)


def kept_now(done, again=()):
    """@done, each with the tree's present description; but not those of @again, which new
    results are to replace: their descriptions may have other runs now"""
    now = {d["id"]: d for d in descriptions.load_all()}
    return [e if e["description"]["id"] in again
            else results.refreshed(e, current(e["description"], now)) for e in done]


def made_again(path):
    """Make the report of @path again, in docs/ too if @path is there: [passed, failed, skipped]"""
    about, done = results.read(path)
    done = kept_now(done)
    OUT.mkdir(parents=True, exist_ok=True)
    write_reports(about, done, {e["description"]["id"]: keep(e) for e in done},
                  path.resolve() == DOCS / "results.json")
    held = [ok for e in done for ok, _ in verdicts_of(e)]
    return [sum(held), len(held) - sum(held),
            len([e for e in done if e.get("refused")])]


def main():
    """Words of the command line, and the last line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true",
                        help="only those marked quick")
    parser.add_argument("--part", metavar="K/N",
                        help="and the Kth of N parts of the others, from 0")
    parser.add_argument("--round", metavar="R", type=int, default=0,
                        help="the Rth experiment of the part first, from 0")
    parser.add_argument("--within", metavar="MINUTES", type=float,
                        help="begin no run of the part that would end later")
    parser.add_argument("--parts", metavar="N", type=int,
                        help="print what --part K/N makes, for each K; make nothing")
    parser.add_argument("--add", action="store_true",
                        help="to docs/bench/, beside what is there")
    parser.add_argument("--report", type=Path, metavar="FILE",
                        help="of results that were kept, without a run")
    parser.add_argument("ids", nargs="*", metavar="ID")
    options = parser.parse_args()
    if options.part and not options.quick:
        parser.error("--part is for --quick: without it all are made")
    if (options.round or options.within is not None) and not options.part:
        parser.error("--round and --within are for --part")
    if options.add and (options.quick or not options.ids):
        parser.error("--add wants the IDs of what is to be added: bench.py --add T3.2")
    if options.parts is not None:
        if options.parts < 1:
            parser.error("--parts wants a number from 1 on")
        print_parts(options.parts, *chosen((), True), Progress([DOCS]).each)
        return 0
    name = "bench-quick" if options.quick else "bench"
    try:
        passed, failed, skipped = made_again(options.report) if options.report \
            else add(options) if options.add else bench(options)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        passed, failed, skipped = 0, 1, 0
    print(f"report: {OUT.relative_to(TOP)}/report.html")
    print(f"{name}: {passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
