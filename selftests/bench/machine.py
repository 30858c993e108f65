# SPDX-License-Identifier: GPL-2.0
"""Boots a virtual-time machine for a run, and keeps what came of it.

A run's folder is named by a hash of all that its figures depend on: plan, seed,
kernel, module, ctcp-setup, the lab's scripts and these.  As the machine is the
same for the same seed (uml.sh -s), a run that is there already is not made again,
so that a bench that was interrupted goes on where it was.
"""

import hashlib
import json
import os
import subprocess
import time
from pathlib import Path

from description import KERNELS
from errors import BenchError

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
OUT = TOP / "build" / "bench"
LAB = HERE.parent / "lab"
# Of runs that name them
TOOLS = {name: TOP / "build" / "bin" / name for name in ("ctcp-setup", "ctcpd", "nuttcp8",
                                                         "tcp_per_ack.ko")}
PROGRAMS = {name: HERE / f"{name}.py" for name in ("stream", "users")}
LIMIT = 1800        # s of real time for one run
SEEDS = 4           # a run is made with, at most: a UDP flow's first frame may be lost
APART = 1000        # between them, beyond those that a description asks for


class Lab:
    """What all runs on a kernel share: it and the module, built once."""

    def __init__(self, kernel):
        self.words = {"LAB_KERNEL": "" if kernel == KERNELS[0] else kernel}
        self.kernel = _said([LAB / "uml-kernel.sh"], self.words)
        self.module = _said([LAB / "uml-module.sh", self.kernel], self.words)
        depends = [self.module, TOP / "build" / "bin" / "circuit_nl",
                   TOP / "build" / "bin" / "lowat.so",
                   HERE / "guest.sh", HERE / "guest.py", HERE / "network.py",
                   LAB / "uml.sh", LAB / "uml-init.sh", LAB / "uml-seed.c"]
        self.base = hashlib.sha256(
            Path(self.kernel).name.encode() +
            b"".join(Path(d).read_bytes() for d in depends))

    def kernel_hash(self):
        """The cache's name of it: version and hash of its configuration."""
        return Path(self.kernel).name

    def folder_of(self, run):
        """Where the run's raw results are."""
        key = self.base.copy()
        for tool in {f["tool"] for f in run["plan"]["flows"]} & PROGRAMS.keys():
            key.update(PROGRAMS[tool].read_bytes())
        said = json.dumps([run["plan"], run["seed"], run["memory"]], sort_keys=True)
        for name, tool in TOOLS.items():
            if name in said:
                key.update(tool.read_bytes())
        key.update(said.encode())
        return OUT / "raw" / key.hexdigest()[:16]

    def carry_out(self, run, again=None):
        """The folder with what the run left; `again` names a second one."""
        folder = self.folder_of(run)
        if again:
            folder = folder.with_name(folder.name + "." + again)
        elif (folder / "done").exists():
            return folder
        folder.mkdir(parents=True, exist_ok=True)
        plan = json.dumps(run["plan"], indent=1, sort_keys=True)
        (folder / "plan.json").write_text(plan)
        began = time.monotonic()
        for seed in range(run["seed"], run["seed"] + SEEDS * APART, APART):
            self._boot(folder, {**run, "seed": seed})
            if not unanswered(folder, run["plan"]["flows"]):
                break
            print(f"{folder.name}: its UDP flow never began with seed {seed}", flush=True)
        (folder / "done").write_text(f"{time.monotonic() - began:.1f}\n")
        return folder

    def _boot(self, folder, run):
        words = [LAB / "uml.sh", "-m", run["memory"], "-t", str(LIMIT), "-s",
                 str(run["seed"]), "-o", folder, HERE / "guest.sh"]
        with open(folder / "log", "w", encoding="utf-8") as log:
            done = subprocess.run(
                [str(w) for w in words], stdout=log, stderr=log, check=False,
                env={**os.environ, **self.words, "LAB_KO": self.module})
        if done.returncode:
            tail = (folder / "log").read_text().splitlines()[-6:]
            raise BenchError(f"the run in {folder.relative_to(TOP)} failed "
                             f"(exit {done.returncode}): " + " / ".join(tail))


def unanswered(folder, flows):
    """Whether a UDP flow of the run never began: iperf3's client asks for it with one
    frame, the server answers with one, and it gives up if either is lost.  No figure of
    the path comes of that, so the run is made with another seed, always the same."""
    said = [(folder / f"{f['name']}.client").read_text(errors="replace")
            for f in flows if f["tool"] == "udp"]
    return any("unable to read from stream socket" in text for text in said)


class Labs:
    """A lab for each kernel, from when it is first asked for."""

    def __init__(self):
        self.made = {}
        self.missing = set()

    def on(self, kernel):
        """The lab with that kernel (description.KERNELS); one that cannot be had
        is not tried twice."""
        if kernel in self.missing:
            raise BenchError(f"the {kernel} kernel cannot be had (see above)")
        if kernel not in self.made:
            self.missing.add(kernel)
            self.made[kernel] = Lab(kernel)
            self.missing.remove(kernel)
        return self.made[kernel]

    def carry_out(self, run, again=None):
        """The run, on the kernel that it asks for."""
        return self.on(run["kernel"]).carry_out(run, again)


def _said(words, more):
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE,
                          text=True, check=False, env={**os.environ, **more})
    if done.returncode:
        raise BenchError(f"{Path(words[0]).name} failed (see above)")
    return done.stdout.split()[-1]
