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
agree with its label: scoring set {number}, drawn by the word "{word}". The verdicts
are those of the policy of commit {policy}, and are this set's first scoring. A word is chosen when
a policy is done, but the words of the sets so far were committed together with their results: the
history of this tree does not show which came first. selftests/flows/README.md has all such sets
and what each policy made of them.

A verdict is right if it is the label, or is true of that flow, too: as "clean" is of one that
carries nine tenths of its rate or more in spite of loss. Recall of overruns counts the verdict
"overrun" alone: one that is called unknown is missed, and so is one whose verdict is another that
is true. Precision counts each "overrun" that is right.

Of the flows {share} overrun, and precision is that of this mix: where fewer do, it is lower for the
same share of false ones. An overrun of the set loses again and again, at least six times while it
lasts, as estimated from its algorithm, window and round trip. Rarer ones are not drawn; nor, with
BBR, slow hops nearer than 5 ms, or whose queue is a fifth of a BDP or deeper. {again} in for
one whose counters did not agree with its label. Not in the set: lasting random losses above
1 %, and flows of others that last as long as ours; see selftests/flows/README.md.
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


def opening(rows, of):
    """What was scored; @of: the scoring set"""
    overruns = sum(r["label"] == "overrun" for r in rows)
    again = confusion.drawn_again(rows)
    return OPENING.format(count=len(rows), share=f"{100 * overruns / len(rows):.0f} %",
                          again="1 flow stands" if again == 1 else f"{again} flows stand", **of)


def missed(rows):
    """Where overruns are missed, by scenario, as their share over all of them hides it"""
    found = confusion.found_by_scenario(rows)
    parts = [f"{name} {hits} of {of}" for name, (hits, of) in found.items() if hits < of]
    whole = len(found) - len(parts)
    if whole:
        parts.append(f"all of {whole} {'others' if parts else 'scenarios'}")
    return f"Overruns found, by scenario: {', '.join(parts)}."


def report(rows, sets):
    """docs/verdicts/README.md; @sets: scored.load()"""
    parts = [opening(rows, scored.last(sets)), "![](confusion.svg)",
             "\n".join(f"- {'holds' if ok else '**does not hold**'}: {sentence}"
                       for ok, sentence in confusion.held(rows)),
             missed(rows),
             "One set has few overruns, and its interval is wide. Over several sets:",
             scored.together(sets) + "\n" + scored.all_sets(sets),
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
