#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""flows.py --half tune|score [--jobs N] [--rounds N] [--only SEED,SEED]: labelled flows.

Makes the flows of a half (scenarios.py) in the virtual-time lab, and leaves of each in
build/flows/HALF SEED.trace, what ctcpd recorded, and SEED.json, its label and what it was.
What has been made is kept, so that an interrupted run goes on where it was.  A flow that
is not what its label says (truth.py) is left out, which is said, and another one takes its
place: that of the seed + 100000.

Nobody looks at the scoring half while tuning.
"""

import argparse
import concurrent.futures
import json
import shutil
import sys
import time

import scenarios
import truth
from machines import OUT, FlowsError, Lab

# A flow is drawn again so often, at most: of small send buffers on 6.1 one in three suits
RETRIES = 20


def groups_of(seeds):
    """{group: all its seeds that are asked for}"""
    found = {}
    for seed in seeds:
        found.setdefault(scenarios.place_of(seed)[0], []).append(seed)
    return found


def whole_groups(half, only):
    """A group is made whole: the flows share their machine's random numbers"""
    seeds = scenarios.seeds_of(half)
    wrong = sorted(set(only) - set(seeds))
    if wrong:
        raise FlowsError(f"{wrong[0]} is no seed of the half \"{half}\": give some of "
                         f"{seeds[0]}, {seeds[1]} ... {seeds[-1]}")
    wanted = {scenarios.place_of(seed)[0] for seed in only}
    return [s for s in seeds if not only or scenarios.place_of(s)[0] in wanted]


def kept(folder, flow):
    """(what the flow's JSON holds, why it is refused or None)"""
    counters = json.loads((folder / f"{flow['seed']}.counters").read_text())
    why = truth.objection(flow, counters)
    about = {key: flow[key] for key in ("seed", "scenario", "label", "cc", "kernel", "rtt")}
    return {**about, "acceptable": truth.also(flow, counters), "port": 5201,
            "flow": flow, "counters": counters}, why


class Progress:
    """How many groups there are, and how long what is left takes"""

    def __init__(self, groups, jobs):
        self.groups, self.jobs = groups, jobs
        self.ended, self.took = 0, []
        self.began = time.monotonic()

    def said(self, took):
        """After a group that took so long; 0: it was there"""
        self.ended += 1
        if took:
            self.took.append(took)
        left = self.groups - self.ended
        words = f"{self.ended} of {self.groups} groups"
        if self.took and left:
            mean = sum(self.took) / len(self.took)
            words += f", {mean * left / self.jobs / 60:.0f} min left"
        return words


class Half:
    """One half, as far as it was asked for"""

    def __init__(self, name):
        self.name = name
        self.folder = OUT / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.labs = {}

    def lab(self, kernel):
        """Built once, and not by several threads"""
        if kernel not in self.labs:
            self.labs[kernel] = Lab(kernel)
        return self.labs[kernel]

    def group(self, seeds):
        """Made, or found: s that it took"""
        flows, total = [scenarios.flow_of(seed) for seed in seeds], 0.0
        for _ in range(RETRIES + 1):
            machine = flows[0]["seed"]
            folder, took = self.labs[flows[0]["kernel"]].carry_out(machine, flows)
            total += took
            flows = [scenarios.flow_of(seed + scenarios.AGAIN)
                     for seed in self.keep(folder, flows)]
            if not flows:
                return total
        raise FlowsError(f"seed {flows[0]['seed'] % scenarios.AGAIN} "
                         f"({flows[0]['scenario']}): not what its label says, "
                         f"{RETRIES + 1} times")

    def keep(self, folder, flows):
        """What is as its label says; the seeds of the others"""
        refused = []
        for flow in flows:
            about, why = kept(folder, flow)
            if why:
                print(f"    {flow['seed']} {flow['scenario']} ({flow['label']}) is drawn "
                      f"again: {why}", flush=True)
                refused.append(flow["seed"])
                continue
            name = str(flow["seed"])
            shutil.copy(folder / f"{name}.trace", self.folder / f"{name}.trace")
            (self.folder / f"{name}.json").write_text(json.dumps(about, indent=1) + "\n")
        return refused

    def clear(self, seeds):
        """What an earlier run left of these, whatever stood in for them"""
        for path in self.folder.iterdir():
            if path.stem.isdigit() and int(path.stem) % scenarios.AGAIN in seeds:
                path.unlink()

    def make(self, seeds, jobs):
        """All of them"""
        groups = groups_of(seeds)
        self.clear(set(seeds))
        for kernel in {scenarios.kernel_of(s) for s in seeds}:
            self.lab(kernel)
        progress = Progress(len(groups), jobs)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            futures = {pool.submit(self.group, some): number
                       for number, some in groups.items()}
            try:
                for future in concurrent.futures.as_completed(futures):
                    took = future.result()
                    print(f"group {futures[future]}: {took:.0f} s  "
                          f"[{progress.said(took)}]", flush=True)
            except FlowsError:
                pool.shutdown(cancel_futures=True)
                raise


def options_of():
    """Words of the command line"""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--half", choices=scenarios.HALVES, required=True)
    parser.add_argument("--jobs", type=int, default=1, help="machines at once")
    parser.add_argument("--rounds", type=int, default=scenarios.ROUNDS,
                        help="of all scenarios; without it the whole half")
    parser.add_argument("--only", default="", metavar="SEED,SEED",
                        help="these, and those of the same machines")
    return parser.parse_args()


def main():
    options = options_of()
    try:
        only = [int(word) for word in options.only.split(",") if word]
        seeds = whole_groups(options.half, only)
        last = options.rounds * len(scenarios.SCHEDULE)
        seeds = [s for s in seeds if s // 2 < last]
        Half(options.half).make(seeds, options.jobs)
    except (FlowsError, ValueError) as error:
        print(f"flows: {error}", file=sys.stderr)
        return 1
    print(f"flows: {len(seeds)} flows in {(OUT / options.half)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
