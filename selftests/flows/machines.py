# SPDX-License-Identifier: GPL-2.0
"""A group of flows is one machine of the lab; what it left is kept.

Its folder is named by a hash of all that the traces depend on: the flows, the guest's
scripts, the programs of the traffic, what of ctcpd records, and the kernel.  As the machine
is the same for the same seed (uml.sh -s), a group that is there is not made again.
"""

import hashlib
import json
import os
import re
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
OUT = TOP / "build" / "flows"
LAB = HERE.parent / "lab"
BIN = TOP / "build" / "bin"
MEMORY = "2G"
LIMIT = 7200            # s of real time for a group: a busy host is no failure
# What of ctcpd records.  Another policy judges the same traces, but for the flows that it
# wants looks at.
RECORDS = ("record", "diag", "sample", "trace", "qdrops", "flows", "interval")
LOOKS = re.compile(rb"^bool judge_wants_looks.*?^}", re.DOTALL | re.MULTILINE)


class FlowsError(Exception):
    """Says what is wrong, and what would be right"""


def said(words, more):
    """The last word that a command said"""
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, text=True,
                          check=False, env={**os.environ, **more})
    if done.returncode:
        raise FlowsError(f"{Path(words[0]).name} failed (see above)")
    return done.stdout.split()[-1]


def recording():
    """The source of what records"""
    folder = TOP / "tools" / "ctcpd"
    files = [folder / f"{name}{end}" for name in RECORDS for end in (".c", ".h")]
    looks = LOOKS.search((folder / "judge.c").read_bytes())
    if not looks:
        raise FlowsError("tools/ctcpd/judge.c has no judge_wants_looks()")
    return b"".join(f.read_bytes() for f in files if f.exists()) + looks.group()


class Lab:
    """A kernel and all that is the same for each group on it"""

    def __init__(self, kernel):
        self.words = {"LAB_KERNEL": "" if kernel == "6.1" else kernel}
        folder = said([LAB / "uml-kernel.sh"], self.words)
        self.module = said([LAB / "uml-module.sh", folder], self.words)
        depends = [HERE / "guest.py", HERE / "guest.sh", HERE.parent / "bench" / "network.py",
                   BIN / "ctcpd_traffic", BIN / "circuit_arrivals", LAB / "uml.sh",
                   LAB / "uml-init.sh", LAB / "uml-seed.c"]
        self.base = hashlib.sha256(Path(folder).name.encode() + recording() +
                                   b"".join(Path(d).read_bytes() for d in depends))

    def folder_of(self, seed, flows):
        """Where the raw files of a group are"""
        key = self.base.copy()
        key.update(json.dumps([seed, MEMORY, flows], sort_keys=True).encode())
        return OUT / "raw" / key.hexdigest()[:16]

    def carry_out(self, seed, flows):
        """(the folder with what the group left, s of real time that it took now)"""
        folder = self.folder_of(seed, flows)
        if (folder / "done").exists():
            return folder, 0.0
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "plan.json").write_text(json.dumps(flows, indent=1, sort_keys=True))
        began = time.monotonic()
        words = [LAB / "uml.sh", "-m", MEMORY, "-t", LIMIT, "-s", seed, "-o", folder,
                 HERE / "guest.sh"]
        with open(folder / "log", "w", encoding="utf-8") as log:
            done = subprocess.run([str(w) for w in words], stdout=log, stderr=log,
                                  check=False,
                                  env={**os.environ, **self.words, "LAB_KO": self.module})
        if done.returncode:
            tail = (folder / "log").read_text().splitlines()[-6:]
            raise FlowsError(f"the machine in {folder.relative_to(TOP)} failed "
                             f"(exit {done.returncode}): " + " / ".join(tail))
        took = time.monotonic() - began
        (folder / "done").write_text(f"{took:.1f}\n")
        return folder, took
