#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""dtn.py [--seconds S] [--jobs N]: a data transfer node with ctcpd and without.

Makes both runs in the virtual-time lab (what has been made is kept, so that an interrupted
one goes on with the other) and writes docs/dtn/.  With fewer seconds than the node has,
build/dtn/ instead: to try something.  Exit 1: what is asked of the runs does not hold.
"""

import argparse
import concurrent.futures
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]
sys.path += [str(HERE.parent / "bench")]
import compare  # noqa: E402
import page  # noqa: E402
import picture  # noqa: E402
from machine_of_node import OUT, TOP, DtnError, Lab  # noqa: E402
from scenario import NODE, SECONDS, remotes_of  # noqa: E402

SEED = 1
DOCS = TOP / "docs" / "dtn"
ABOUT = ("number", "slow", "line", "rtt", "buffer")


def run_of(folder):
    """What a run left, by remote"""
    told = json.loads((folder / "transfers.json").read_text())
    transfers = {}
    for number, _, seconds, size, resent in told["ended"]:
        transfers.setdefault(str(number), []).append([size, round(seconds, 6), resent])
    _, acked, resent = told["series"][-1]
    return {"acked": acked, "resent": resent,
            "series": [[round(t, 3), a, r] for t, a, r in told["series"]],
            "transfers": transfers}


def paced_of(folder):
    """[{"number", "rate" (bit/s), "state"}] of ctcpd's own report"""
    report = json.loads((folder / "report.json").read_text())
    return [{"number": int(one["to"].split(".")[2]), "rate": one["rate_bytes_s"] * 8,
             "state": one["state"]} for one in report["paced"] if one["rate_bytes_s"]]


def ever_paced(folder):
    """Numbers of all remotes that ctcpd's log says it paced at some time"""
    log = (folder / "ctcpd.log").read_text(encoding="utf-8")
    return sorted({int(n) for n in re.findall(r"^ctcpd: 10\.1\.(\d+)\.2: paced at ", log, re.M)})


def results_of(lab, folders, seconds):
    """All that the page is made from"""
    commit = subprocess.run(["git", "-c", f"safe.directory={TOP}", "-C", TOP, "describe",
                             "--always", "--dirty"], capture_output=True, text=True,
                            check=False)
    return {"about": {"commit": commit.stdout.strip() or "unknown", "kernel": lab.name(),
                      "seed": SEED, "seconds": seconds, "node": NODE},
            "remotes": [{key: remote[key] for key in ABOUT} for remote in remotes_of(SEED)],
            "paced": paced_of(folders["act"]), "ever_paced": ever_paced(folders["act"]),
            "runs": {name: run_of(folder) for name, folder in folders.items()}}


def make(lab, seconds, jobs):
    """{run: its folder}"""
    plans = {name: {"seed": SEED, "seconds": seconds, "paced": name == "act"}
             for name in compare.RUNS}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return dict(zip(plans, pool.map(lab.carry_out, plans.values())))


def write(results, folder):
    """The page, its plot and its figures"""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(page.text_of(results), encoding="utf-8")
    (folder / "README.md").write_text(page.readme(results), encoding="utf-8")
    picture.draw(results, folder / "dtn.svg")


def main():
    """Words of the command line"""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=int, default=SECONDS)
    parser.add_argument("--jobs", type=int, default=1, help="machines at once")
    options = parser.parse_args()
    try:
        lab = Lab()
        results = results_of(lab, make(lab, options.seconds, options.jobs), options.seconds)
    except DtnError as error:
        print(f"dtn: {error}", file=sys.stderr)
        return 1
    folder = DOCS if options.seconds == SECONDS else OUT
    write(results, folder)
    for ok, sentence in compare.held(results):
        print(("holds: " if ok else "DOES NOT HOLD: ") + sentence)
    print(f"dtn: {folder.relative_to(TOP)}/README.md")
    return 0 if all(ok for ok, _ in compare.held(results)) else 1


if __name__ == "__main__":
    sys.exit(main())
