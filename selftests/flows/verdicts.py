#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""verdicts.py --half tune|score, or --score: what ctcpd says of the labelled flows.

Replays every trace that flows.py has left of a half by `ctcpd replay --json`, prints the
confusion matrix and what is wrong, and writes all of it as JSON to
build/flows/HALF.verdicts.json.  --score is for the whole scoring half and writes
docs/verdicts/, too, if they are those that the set was scored by (scored.toml): the report,
results.json and a plot.  Exit 1: what is asked of the
verdicts (confusion.held()) does not hold.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import confusion
import scenarios
import scored
import written
from machines import BIN, OUT, TOP, FlowsError

DOCS = TOP / "docs" / "verdicts"
KEPT = ("seed", "scenario", "label", "acceptable", "cc", "kernel", "rtt")


def main_flow(replayed, port):
    """Of a trace's flows, that with the most bytes; None: it was never seen"""
    flows = [f for f in replayed if f["port"] == port]
    return max(flows, key=lambda f: f["judgement"]["acked_bytes"], default=None)


def row_of(about, replayed):
    """What confusion.py counts; a flow that was never seen is unknown"""
    flow = main_flow(replayed, about["port"])
    said = flow["judgement"] if flow else {"verdict": "unknown", "reason": "never-seen"}
    return {**{key: about[key] for key in KEPT},
            "verdict": said["verdict"], "reason": said["reason"],
            "evenness": said.get("loss_evenness")}


def replay(trace):
    """The flows of a trace, judged"""
    done = subprocess.run([BIN / "ctcpd", "replay", trace, "--json"], capture_output=True,
                          text=True, check=False)
    if done.returncode:
        raise FlowsError(f"ctcpd replay {trace}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def rows_of(folder):
    """All flows that are there, by seed"""
    paths = sorted(folder.glob("*.json"), key=lambda p: int(p.stem))
    if not paths:
        raise FlowsError(f"{folder} has no flows: flows.py makes them")
    return [row_of(json.loads(path.read_text()), replay(path.with_suffix(".trace")))
            for path in paths]


def whole(rows, half):
    """Every seed of the half, or the one that stands in for it"""
    missing = set(scenarios.seeds_of(half)) - {r["seed"] % scenarios.AGAIN for r in rows}
    if missing:
        raise FlowsError(f"{len(missing)} flows of the half \"{half}\" are missing, "
                         f"{min(missing)} the first: flows.py --half {half} makes them")


def write(rows):
    """docs/verdicts/"""
    sets = scored.load()
    import heatmap      # matplotlib is wanted only here
    DOCS.mkdir(parents=True, exist_ok=True)
    (DOCS / "README.md").write_text(written.report(rows, sets), encoding="utf-8")
    (DOCS / "results.json").write_text(written.results(rows, scored.last(sets)),
                                       encoding="utf-8")
    heatmap.draw(confusion.matrix(rows), DOCS / "confusion.svg")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--half", choices=scenarios.HALVES)
    which.add_argument("--score", action="store_true")
    parser.add_argument("--folder", type=Path, help="of the flows, not build/flows/HALF")
    options = parser.parse_args()
    half = options.half or "score"
    try:
        rows = rows_of(options.folder or OUT / half)
        if options.score:
            whole(rows, half)
            if why := scored.differs(scored.load(), rows):
                print(f"verdicts: {why}", file=sys.stderr)
            else:
                write(rows)
    except FlowsError as error:
        print(f"verdicts: {error}", file=sys.stderr)
        return 1
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / f"{half}.verdicts.json").write_text(written.results(rows), encoding="utf-8")
    print(written.text(rows))
    return 0 if all(ok for ok, _ in confusion.held(rows)) else 1


if __name__ == "__main__":
    sys.exit(main())
