# SPDX-License-Identifier: GPL-2.0
"""The network of a run, in namespaces of the virtual-time machine.

    +-----+ eth1                              +---------+      +-----+
    | src +-------+ +----+ port to dst        | wan-dst |      |     |
    +-----+       +-+ sw +--------------------+         +------+ dst |
    +-------+     | +-+--+  tbf: line, buffer |  netem  | eth1 |     |
    | cross +-----+   |                       +---------+      +-----+
    +-------+         +--- the same to wan-dst2 and dst2

sw is the switch: its port towards dst sends at `line` and has room for `buffer`.
wan-dst has the delay, half each way, and the loss, towards dst.  The sender's
shaper is on src's eth1.  Hosts that no flow names are not there.
"""

import subprocess
import sys


def run(words, stdin=None):
    """A command that has to succeed; what it printed."""
    done = subprocess.run(words, input=stdin, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"exit {done.returncode}: {' '.join(words)}\n"
                 f"{done.stdout}{done.stderr}")
    return done.stdout


def in_ns(name, words):
    """The same command, in a namespace."""
    return ["ip", "netns", "exec", name, *words]


class Wires:
    """Commands for ip, gathered: one program started instead of fifty."""

    def __init__(self, plan):
        self.plan = plan
        self.namespaces = []
        self.ports = []         # (namespace, device)
        self.links = 0

    def add(self, *names):
        for name in names:
            run(["ip", "netns", "add", name])
            run(["ip", "-n", name, "link", "set", "lo", "up"])
            self.namespaces.append(name)

    def link(self, left, left_port, right, right_port, net):
        """A veth pair; .1 on the left, .2 on the right."""
        mtu = str(self.plan["mtu"])
        a, b = f"a{self.links}", f"b{self.links}"
        self.links += 1
        run(["ip", "link", "add", a, "mtu", mtu, "netns", left, "type",
             "veth", "peer", "name", b, "mtu", mtu, "netns", right])
        for ns, old, port, last in ((left, a, left_port, 1),
                                    (right, b, right_port, 2)):
            run(["ip", "-n", ns, "-batch", "-"],
                f"link set {old} name {port}\nlink set {port} up\n"
                f"addr add {net}.{last}/24 dev {port}\n")
            self.ports.append((ns, port))

    def route(self, ns, net, via):
        run(["ip", "-n", ns, "route", "add", net, "via", via])


def qdisc(ns, port, *words):
    run(in_ns(ns, ["tc", "qdisc", "add", "dev", port, "root", *words]))


def delay(ns, port, rtt, *more):
    """Half a round trip, in ns; room for whatever is under way."""
    qdisc(ns, port, "netem", "limit", "10000000", "delay",
          f"{rtt / 2 * 1e6:.3f}us", *more)


def towards(wires, plan, dst, number, rtt):
    """sw -- wan-dst -- dst"""
    wan, port = "wan-" + dst, "to-" + dst
    wires.add(wan, dst)
    wires.link("sw", port, wan, "back", f"10.78.{number}")
    wires.link(wan, "on", dst, "eth1", f"10.79.{number}")
    wires.route("sw", f"10.79.{number}.0/24", f"10.78.{number}.2")
    wires.route(wan, "10.77.0.0/16", f"10.78.{number}.1")
    wires.route(dst, "default", f"10.79.{number}.1")
    damage = []
    if plan["loss"]:
        damage += ["loss", f"{plan['loss'] * 100:.9f}%"]
    if plan["reorder"]:
        damage += ["reorder", f"{plan['reorder'] * 100:.9f}%"]
    delay(wan, "on", rtt, *damage)
    delay(wan, "back", rtt)
    if plan["line"]:
        # Two frames of tokens, or one GSO packet where there are such: tbf
        # would cut it up in software
        burst = 2 * plan["wire"] if not plan["offloads"] else 80000
        qdisc("sw", port, "tbf", "rate", f"{plan['line']}bit", "burst",
              str(burst), "limit", str(plan["buffer"]))


def one_packet_is_one_frame(wires):
    """netem and tbf take a GSO packet of 64 KB for a single one."""
    for ns, port in wires.ports:
        run(in_ns(ns, ["ethtool", "-K", port, "tso", "off", "gso", "off",
                       "gro", "off"]))


def lay(plan):
    """Build it; its namespaces, and the receivers' addresses."""
    wires = Wires(plan)
    sources = sorted({"src"} | {f["from"] for f in plan["flows"]},
                     reverse=True)
    wires.add("sw", *sources)
    for i, name in enumerate(sources, 1):
        wires.link(name, "eth1", "sw", "from-" + name, f"10.77.{i}")
        wires.route(name, "default", f"10.77.{i}.2")
    towards(wires, plan, "dst", 1, plan["rtt"])
    addresses = {"dst": "10.79.1.2"}
    if plan["rtt2"] is not None:
        towards(wires, plan, "dst2", 2, plan["rtt2"])
        addresses["dst2"] = "10.79.2.2"
    for ns in wires.namespaces:
        run(in_ns(ns, ["sysctl", "-qw", "net.ipv4.ip_forward=1",
                       "net.ipv4.tcp_no_metrics_save=1"]))
    if not plan["offloads"]:
        one_packet_is_one_frame(wires)
    return wires.namespaces, addresses
