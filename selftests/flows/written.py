# SPDX-License-Identifier: GPL-2.0
"""The verdicts' report, as text and as Markdown, and their results as JSON."""

import json

import confusion
import scored
from confusion import VERDICTS, percent

LICENCE = "SPDX-License-Identifier: GPL-2.0"     # JSON has no comments
OF = ("number", "word", "policy")
OPENING = """\
<!-- SPDX-License-Identifier: GPL-2.0 -->

# ctcpd's verdicts, on labelled flows

Written by `make verdicts` (selftests/flows/verdicts.py); results.json has every flow. {count}
flows of the virtual-time lab, each drawn from a seed and kept only where the counters of its path
agree with its label: scoring set {number}, drawn by the word "{word}", which was
new when the policy of commit {policy} was done, and scored by that policy once.
selftests/flows/README.md has all such sets and what each policy made of them.
A verdict is right if it is the label, or is true of that flow, too, as with a path that
carries its whole rate in spite of a loss in 100,000. Recall and precision of overruns
count the label alone; an overrun that is called unknown is missed.
"""


def _table(head, rows):
    """Of Markdown: numbers to the right"""
    lines = ["| " + " | ".join(head) + " |",
             "|" + "|".join("---" if i == 0 else "---:" for i in range(len(head))) + "|"]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def _matrix(rows):
    found = confusion.matrix(rows)
    return _table(["label, verdict →", *VERDICTS],
                  [[label, *(found[label][v] or "" for v in VERDICTS)] for label in VERDICTS])


def _labels(rows):
    return _table(
        ["label", "flows", "same", "right", "recall", "precision"],
        [[label, n["flows"], n["same"], n["right"],
          percent(confusion.ratio(n["right"], n["flows"])),
          percent(confusion.ratio(n["said_right"], n["said"]))]
         for label, n in confusion.by_label(rows).items()])


def _breakdown(rows, key):
    return _table([key, "flows", "right", "overruns", "found", "false overruns"],
                  confusion.breakdown(rows, key))


def wrong(rows):
    """A line for each verdict that is not right, those that matter most first"""
    found = [r for r in rows if not confusion.is_right(r)]
    found.sort(key=lambda r: (r["verdict"] != "overrun", r["label"] != "overrun", r["seed"]))
    return [[r["seed"], r["scenario"], r["label"], f"{r['verdict']} ({r['reason']})", r["cc"],
             r["kernel"], f"{r['rtt'] * 1e3:.3g} ms"] for r in found]


def report(rows, sets):
    """docs/verdicts/README.md; @sets: scored.load()"""
    parts = [OPENING.format(count=len(rows), **scored.last(sets)), "![](confusion.svg)",
             "\n".join(f"- {'holds' if ok else '**does not hold**'}: {sentence}"
                       for ok, sentence in confusion.held(rows)),
             "One set has few overruns, and its interval is wide. Over several sets:",
             scored.together(sets),
             "## Each label, each verdict", _matrix(rows), _labels(rows),
             "## By round trip, sender, kernel and scenario"]
    parts += [_breakdown(rows, key) for key in confusion.KEYS]
    flows, even = confusion.most_even(rows)
    parts += ["## Regular losses",
              f"Of {flows} flows that lost something and overran nothing, the most even one has "
              f"an evenness of {even:.2g}: -ln of the probability that chance spaces losses so "
              "evenly, less ln 4, and 0 where their variance is more than half of chance's "
              "(results.json has each). From 6.9 on ctcpd calls them regular."]
    parts += ["## What was wrong",
              _table(["seed", "scenario", "label", "verdict (reason)", "sender", "kernel",
                      "round trip"], wrong(rows)) if wrong(rows) else "Nothing."]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def results(rows, of=None):
    """results.json: a flow a line; @of: the scoring set, if it is one"""
    which = f'"set": {json.dumps({key: of[key] for key in OF})},\n' if of else ""
    flows = ",\n".join(json.dumps(row) for row in rows)
    return (f'{{"licence": "{LICENCE}",\n{which}"matrix": {json.dumps(confusion.matrix(rows))},\n'
            f'"recall": {json.dumps(confusion.recall(rows))},\n'
            f'"precision": {json.dumps(confusion.precision(rows))},\n'
            f'"flows": [\n{flows}\n]}}\n')


def text(rows):
    """For a terminal"""
    wide = max(map(len, VERDICTS))
    found = confusion.matrix(rows)
    lines = [" " * wide + "".join(f"{v[:10]:>12}" for v in VERDICTS)]
    lines += [f"{label:{wide}}" + "".join(f"{found[label][v] or '.':>12}" for v in VERDICTS)
              for label in VERDICTS]
    for key in confusion.KEYS:
        lines += ["", f"{key:24} flows  right  overruns  found  false overruns"]
        lines += [f"{value:24} {n:5} {right:6} {overruns:9} {hits:6} {wrong_ones:15}"
                  for value, n, right, overruns, hits, wrong_ones
                  in confusion.breakdown(rows, key)]
    lines += [""] + ["wrong: " + ", ".join(map(str, row)) for row in wrong(rows)]
    lines += [("holds: " if ok else "DOES NOT HOLD: ") + sentence
              for ok, sentence in confusion.held(rows)]
    return "\n".join(lines)
