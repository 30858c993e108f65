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


def sets_of(pooled):
    """[number]: all sets that it is over"""
    return list(range(pooled["sets"][0], pooled["sets"][1] + 1))


def totals(scored, pooled):
    """(found, of, false) over its sets: as each was scored, or by this policy afterwards"""
    again = {one["number"]: one for one in pooled["again"]}
    parts = [{**one, **again.get(one["number"], {})} for one in scored["set"]
             if one["number"] in sets_of(pooled)]
    return tuple(sum(part[key] for part in parts) for key in ("found", "of", "false"))


def _afterwards(pooled):
    """Which of its sets had been scored by another policy before"""
    numbers = [str(one["number"]) for one in pooled["again"]]
    if not numbers:
        return ""
    return f' (set {" and ".join(numbers)} was scored by an earlier policy first)'


def together(scored):
    """A sentence for each policy that is pooled: one set has few overruns"""
    lines = []
    for one in scored["pooled"]:
        sets = sets_of(one)
        found, of, false = totals(scored, one)
        lines.append(f'- policy of {one["policy"]}, over sets {sets[0]} to {sets[-1]}'
                     f'{_afterwards(one)}, with none of which it was tuned: recall of overruns '
                     f'{confusion.counted(found, of)}; false ones: {false}')
    return "\n".join(lines)


def all_sets(scored):
    """How many of the sets reach what is asked, and all sets together"""
    sets = scored["set"]
    reach = sum(one["found"] >= confusion.RECALL * one["of"] for one in sets)
    found, of, false = (sum(one[key] for one in sets) for key in ("found", "of", "false"))
    return (f"- all {len(sets)} sets, each by the policy of its day: {reach} reach "
            f"{confusion.percent(confusion.RECALL)}; together recall of overruns "
            f"{confusion.counted(found, of)}; false ones: {false}")


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
