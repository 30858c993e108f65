#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A run of the node, inside the virtual-time machine.

Reads /lab/plan.json (machine.py): seed, seconds and whether ctcpd paces.  Leaves in /lab
transfers.json, ctcpd.log, and report.json, ctcpd's own.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "bench"))
from network import Wires, enter, in_ns, inside, one_packet_is_one_frame, run, sysctl  # noqa: E402
from scenario import FRAME, NODE, address_of, remotes_of, transfers_of  # noqa: E402
from traffic import Node, listener  # noqa: E402

LAB = "/lab/"
DEEP = 10_000_000       # bytes of a queue that is to drop nothing
SOCKET = "/run/ctcpd/control"
# As it is installed, but for the mode and where the history is
CONFIG = """[ctcpd]
mode = act
[history]
file = /run/ctcpd/history.db
"""


def lay(remotes):
    """The network: drawn in scenario.py"""
    wires = Wires({"mtu": 1500, "gso": 65536, "ipv6": False})
    wires.add("node", "nic", "rtr")
    wires.link("node", "eth1", "nic", "in", "10.0.1")
    wires.link("nic", "out", "rtr", "in", "10.0.2")
    wires.route("node", "default", "10.0.1.2")
    wires.route("nic", "10.1.0.0/16", "10.0.2.2")
    wires.route("rtr", "10.0.1.0/24", "10.0.2.1")
    wires.qdisc("nic", "out", tbf(NODE, DEEP))
    for remote in remotes:
        name = f"r{remote['number']}"
        wires.add(name)
        wires.link("rtr", f"to-{name}", name, "eth1", f"10.1.{remote['number']}")
        wires.route(name, "default", f"10.1.{remote['number']}.1")
        wires.qdisc("rtr", f"to-{name}", tbf(remote["line"], remote["buffer"]))
        wires.qdisc(name, "eth1", f"netem limit 100000 delay {remote['rtt'] * 1e6:.0f}us")
    wires.make()
    for name in wires.namespaces:
        sysctl(name, "net.ipv4.ip_forward", 1)
        sysctl(name, "net.ipv4.tcp_no_metrics_save", 1)
    one_packet_is_one_frame(wires)


def tbf(rate, limit):
    """A port of that rate: two frames of tokens"""
    return f"tbf rate {rate:.0f}bit burst {2 * FRAME} limit {limit}"


def begin_ctcpd():
    """As an operator would, beside the node's programs"""
    os.makedirs("/run/ctcpd", mode=0o700, exist_ok=True)
    Path("/run/ctcpd.conf").write_text(CONFIG, encoding="ascii")
    with open(LAB + "ctcpd.log", "w", encoding="utf-8") as log:
        subprocess.Popen(in_ns("node", ["ctcpd", "run", "--config", "/run/ctcpd.conf",
                                        "--socket", SOCKET]), stdout=log, stderr=log)
    for _ in range(100):
        if Path(SOCKET).exists():
            return
        time.sleep(0.1)
    sys.exit("ctcpd does not answer: " + Path(LAB + "ctcpd.log").read_text(encoding="utf-8"))


def keep(name, content):
    """In the host's folder"""
    Path(LAB + name).write_text(json.dumps(content), encoding="ascii")


def main():
    """One run"""
    plan = json.loads(Path(LAB + "plan.json").read_text(encoding="ascii"))
    remotes = remotes_of(plan["seed"])
    os.getrandom(1)     # a machine that has just booted has none for some seconds
    run(["modprobe", "tcp_circuit"])
    lay(remotes)
    listeners = []
    for remote in remotes:
        with inside(f"r{remote['number']}"):
            listeners.append(listener())
    if plan["paced"]:
        begin_ctcpd()
    enter("/run/netns/node")
    node = Node({remote["number"]: (address_of(remote["number"]),
                                    transfers_of(plan["seed"], remote))
                 for remote in remotes}, listeners, plan["seconds"])
    node.go()
    keep("transfers.json", {"ended": node.ended, "unfinished": node.unfinished(),
                            "series": node.series})
    if plan["paced"]:
        keep("report.json", json.loads(run(["ctcpd", "report", "--json", "--socket",
                                            SOCKET])))


main()
