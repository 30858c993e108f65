# SPDX-License-Identifier: GPL-2.0
"""Scoring sets and what policies made of them (scored.toml), in words."""

import tomllib
from pathlib import Path

import confusion

FILE = Path(__file__).parent / "scored.toml"


def load():
    """{"set": [...], "pooled": [...]}, oldest set and newest policy first"""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def last(scored):
    """The set that docs/verdicts is of"""
    return scored["set"][-1]


def table(scored):
    """Of selftests/flows/README.md"""
    lines = ["| scoring set | its word | policy of | overruns found | false overruns |",
             "|---|---|---|---|---|"]
    before = None
    for one in scored["set"]:
        policy = "the same" if one["policy"] == before else one["policy"]
        lines.append(f'| {one["number"]} | {one["word"]} | {policy} | {one["found"]} of '
                     f'{one["of"]} | {one["false"]} |')
        before = one["policy"]
    return "\n".join(lines) + "\n"


def totals(pooled):
    """(found, of) over all parts"""
    return tuple(sum(part[key] for part in pooled["parts"]) for key in ("found", "of"))


def sets_of(pooled):
    """[number]: all sets that it is over"""
    return [n for part in pooled["parts"]
            for n in range(part["sets"][0], part["sets"][1] + 1)]


def together(scored):
    """A sentence for each policy that is pooled: one set has few overruns"""
    lines = []
    for one in scored["pooled"]:
        sets = sets_of(one)
        lines.append(f'- policy of {one["policy"]}, over sets {sets[0]} to {sets[-1]}, with none '
                     f'of which it was tuned: recall of overruns '
                     f'{confusion.counted(*totals(one))}')
    return "\n".join(lines)


def differs(scored, rows):
    """Why these verdicts are not those that the set was scored by; None: they are"""
    one = last(scored)
    said = (sum(r["label"] == r["verdict"] == "overrun" for r in rows),
            sum(r["label"] == "overrun" for r in rows), len(confusion.false_overruns(rows)))
    kept = one["found"], one["of"], one["false"]
    if said == kept:
        return None
    return (f'{said[0]} of {said[1]} overruns found and {said[2]} false, where the policy of '
            f'{one["policy"]} had {kept[0]} of {kept[1]} and {kept[2]} of set {one["number"]} '
            f"({FILE.name}): docs/verdicts is left as it is, as a set that was read is no score")
