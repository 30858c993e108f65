# SPDX-License-Identifier: GPL-2.0
"""A run of the node is one machine of the lab; what it left is kept.

Its folder is named by a hash of all that its figures depend on: the guest's scripts, the
kernel, ctcpd where it paces, and the plan.  As the machine is the same for the same seed
(uml.sh -s), a run that is there is not made again.
"""

import hashlib
import json
import os
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
OUT = TOP / "build" / "dtn"
LAB = HERE.parent / "lab"
CTCPD = TOP / "build" / "bin" / "ctcpd"
KERNEL = "newest"
MEMORY = "3G"
LIMIT = 14400           # s of real time for a run: a busy host is no failure


class DtnError(Exception):
    """Says what is wrong, and what would be right"""


def said(words):
    """The last word that a command said"""
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, text=True,
                          check=False, env={**os.environ, "LAB_KERNEL": KERNEL})
    if done.returncode:
        raise DtnError(f"{Path(words[0]).name} failed (see above)")
    return done.stdout.split()[-1]


class Lab:
    """The kernel and all that is the same for each run on it"""

    def __init__(self):
        self.kernel = said([LAB / "uml-kernel.sh"])
        self.module = said([LAB / "uml-module.sh", self.kernel])
        depends = [HERE / "guest.py", HERE / "guest.sh", HERE / "scenario.py",
                   HERE / "traffic.py", HERE.parent / "bench" / "network.py", self.module,
                   LAB / "uml.sh", LAB / "uml-init.sh", LAB / "uml-seed.c"]
        self.base = hashlib.sha256(Path(self.kernel).name.encode() +
                                   b"".join(Path(d).read_bytes() for d in depends))

    def name(self):
        """The cache's name of the kernel: version and hash of its configuration"""
        return Path(self.kernel).name

    def folder_of(self, plan):
        """Where the raw files of a run are"""
        key = self.base.copy()
        key.update(json.dumps([plan, MEMORY], sort_keys=True).encode())
        if plan["paced"]:
            key.update(CTCPD.read_bytes())
        return OUT / "raw" / key.hexdigest()[:16]

    def carry_out(self, plan):
        """The folder with what the run left"""
        folder = self.folder_of(plan)
        if (folder / "done").exists():
            return folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "plan.json").write_text(json.dumps(plan, sort_keys=True))
        began = time.monotonic()
        words = [LAB / "uml.sh", "-m", MEMORY, "-t", LIMIT, "-s", plan["seed"], "-o", folder,
                 HERE / "guest.sh"]
        with open(folder / "log", "w", encoding="utf-8") as log:
            done = subprocess.run([str(w) for w in words], stdout=log, stderr=log, check=False,
                                  env={**os.environ, "LAB_KERNEL": KERNEL,
                                       "LAB_KO": self.module})
        if done.returncode:
            tail = (folder / "log").read_text().splitlines()[-6:]
            raise DtnError(f"the machine in {folder.relative_to(TOP)} failed "
                           f"(exit {done.returncode}): " + " / ".join(tail))
        (folder / "done").write_text(f"{time.monotonic() - began:.1f}\n")
        return folder
