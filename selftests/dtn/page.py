# SPDX-License-Identifier: GPL-2.0
"""docs/dtn/README.md and its results.json, as text."""

import json
import statistics

import compare

LICENCE = "SPDX-License-Identifier: GPL-2.0"     # JSON has no comments


def mbit(rate, digits=2):
    """Of bit/s"""
    return f"{rate / 1e6:.{digits}f}"


def table(head, rows):
    """Of Markdown: numbers to the right"""
    lines = ["| " + " | ".join(head) + " |",
             "|" + "|".join("---" if i == 0 else "---:" for i in range(len(head))) + "|"]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def opening(results):
    """What was done"""
    about = results["about"]
    lines = [r["line"] for r in results["remotes"] if r["slow"]]
    ended = [sum(map(len, results["runs"][name]["transfers"].values()))
             for name in compare.RUNS]
    busy = 100 * compare.goodput(results, "without") / about["node"]
    return f"""\
<!-- SPDX-License-Identifier: GPL-2.0 -->

# A data transfer node for {about["seconds"] / 3600:g} hours, with ctcpd and without

Written by `make dtn` from commit {about["commit"]} on kernel {about["kernel"]}, in virtual
time, with seed {about["seed"]}: the same tree and seed give the same figures. All of them are in
[results.json](results.json), and this page is made from it.

A node of {mbit(about["node"], 0)} Mbit/s sends to {len(results["remotes"])} remotes by CUBIC.
{len(lines)} of them are slow: the hop before each has {mbit(min(lines), 1)} to
{mbit(max(lines), 1)} Mbit/s, and a queue of a few frames. The others have queues of two BDP and
200 frames. Each remote asks for one file after the other, with pauses in between; sizes
and pauses are those of the seed in both runs. On average the node sends {busy:.0f} % of its
rate: a device that is full is not tried here. {ended[0]} transfers ended without ctcpd, {ended[1]}
with `mode = act`, which has its other settings as they are installed, and is told nothing of
the remotes (selftests/dtn/scenario.py has all numbers). It paces by classes: what pacing by
sockets does to goodput and losses is not measured.

This is one node, by one seed. Its slow hops are {about["node"] / max(lines):.0f} to
{about["node"] / min(lines):.0f} times slower than it, and not 4 or 10 times as in
[H3](../bench/README.md#h3-a-slow-last-hop-found-and-paced-by-ctcpd)."""


def totals(results):
    """The node as a whole"""
    rows = []
    for name in compare.RUNS:
        which = {"without": "before", "act": "after"}[name]
        rows.append([name, mbit(compare.goodput(results, name)),
                     compare.resent(results, name),
                     mbit(compare.slow_rate(results, which))])
    return table(["run", "goodput of the node, Mbit/s", "segments sent again",
                  "goodput of a slow remote while it is sent to, Mbit/s"], rows)


def meaning(results):
    """What the totals do not say: who saves, and who has anything of it"""
    slow = [r for r in compare.compared(results) if r.slow]
    again = [sum(getattr(r, key) for r in slow) for key in ("resent_before", "resent_after")]
    rates = [mbit(compare.slow_rate(results, which)) for which in ("before", "after")]
    return (f"The node sends what it is asked for in either run, so that its goodput says little: "
            f"the time of each transfer tells. To the slow remotes {again[1]} segments are sent "
            f"again instead of {again[0]}, at {rates[1]} Mbit/s instead of {rates[0]} on average.")


def slow_ones(results):
    """A row for each slow remote, and for each that is paced"""
    kept = compare.paced(results)
    rows = [[r.number, mbit(r.line), mbit(kept[r.number]) if r.number in kept else "",
             r.transfers, mbit(r.before), mbit(r.after), f"{100 * r.change():+.1f}",
             r.resent_before, r.resent_after]
            for r in compare.compared(results) if r.slow or r.number in kept]
    return table(["slow remote", "its hop, Mbit/s", "paced at, Mbit/s", "transfers compared",
                  "goodput without, Mbit/s", "with act", "change, %", "sent again without",
                  "with act"], rows)


def others(results):
    """What became of those that are well"""
    rest = [r for r in compare.compared(results) if not r.slow]
    changes = sorted(100 * r.change() for r in rest)
    again = [sum(getattr(r, key) for r in rest) for key in ("resent_before", "resent_after")]
    return (f"Of the {len(rest)} others that ended a transfer the goodput changes by "
            f"{changes[0]:+.2f} to {changes[-1]:+.2f} %, "
            f"by a median of {statistics.median(changes):+.2f} %; sent again to them are "
            f"{again[0]} segments without ctcpd and {again[1]} with act. Conjecture: most are lost "
            "at the end of slow start, in which the window doubles past what these queues, too, "
            "have room for.")


def readme(results):
    """docs/dtn/README.md"""
    parts = [opening(results), "![Change of each remote's goodput, and segments sent again over "
             "time](dtn.svg)", totals(results),
             "\n".join(f"- {'holds' if ok else '**does not hold**'}: {sentence}"
                       for ok, sentence in compare.held(results)),
             meaning(results), "## The slow remotes", slow_ones(results),
             "## The others", others(results)]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def text_of(results):
    """results.json: a remote a line"""
    def lines(rows):
        return ",\n".join(json.dumps(row) for row in rows)

    def run(one):
        transfers = ",\n".join(f'"{number}": {json.dumps(some)}'
                               for number, some in one["transfers"].items())
        return (f'{{"acked": {one["acked"]}, "resent": {one["resent"]}, "series": '
                f'{json.dumps(one["series"])},\n"transfers": {{\n{transfers}}}}}')
    runs = ",\n".join(f'"{name}": {run(results["runs"][name])}' for name in compare.RUNS)
    return (f'{{"licence": "{LICENCE}",\n"about": {json.dumps(results["about"])},\n'
            f'"remotes": [\n{lines(results["remotes"])}],\n"paced": '
            f'[\n{lines(results["paced"])}],\n"ever_paced": {json.dumps(results["ever_paced"])},\n'
            f'"runs": {{\n{runs}}}}}\n')
