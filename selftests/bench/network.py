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

With ipv6 each address has one like it: 10.79.1.2 is fd00:10:79:1::2, too.
"""

import contextlib
import ctypes
import os
import subprocess
import sys

GSO = 65536         # bytes of a packet where nothing else is said (expand.py)
HOP_BY_HOP = 8      # bytes of the header that says how long such a packet is
LIBC = ctypes.CDLL(None, use_errno=True)


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


def enter(path):
    """This process' network namespace from now on."""
    fd = os.open(path, os.O_RDONLY)
    if LIBC.setns(fd, 0):
        sys.exit(f"setns {path}: {os.strerror(ctypes.get_errno())}")
    os.close(fd)


@contextlib.contextmanager
def inside(name):
    """What is done here, or started, is done in that namespace."""
    enter(f"/run/netns/{name}")
    try:
        yield
    finally:
        enter("/proc/1/ns/net")


def sysctl(name, key, value):
    """In a namespace, without a program: there are many."""
    with inside(name):
        path = "/proc/sys/" + key.replace(".", "/")
        try:
            with open(path, "w", encoding="ascii") as file:
                file.write(str(value))
        except OSError as error:
            sys.exit(f"{name}: {key} = {value}: {error.strerror}")


def ipv6_of(net):
    """fd00:10:79:1:: of 10.79.1, and fd00:10:79:: of 10.79.0.0/16, with its length"""
    parts = [p for p in net.split("/")[0].split(".") if p != "0"]
    return "fd00:" + ":".join(parts) + "::", 16 * (len(parts) + 1)


class Wires:
    """What ip and tc are to do, gathered: to start a program is what costs."""

    def __init__(self, plan):
        self.plan = plan
        self.namespaces = []
        self.ports = []         # (namespace, device)
        self.first = []         # for ip in the machine's own namespace
        self.ip = {}            # for ip, by namespace
        self.tc = {}

    def add(self, *names):
        for name in names:
            self.first.append(f"netns add {name}")
            self.namespaces.append(name)
            self.ip[name], self.tc[name] = ["link set lo up"], []

    def mtu(self, ns):
        """Of a port there.  Who forwards BIG TCP's packets takes their extension
        header, which no frame on the wire has, for a part of each segment."""
        forwards = ns.startswith(("sw", "wan-"))
        big = self.plan["gso"] > GSO
        return self.plan["mtu"] + (HOP_BY_HOP if forwards and big else 0)

    def link(self, left, left_port, right, right_port, net):
        """A veth pair; .1 on the left, .2 on the right."""
        self.first.append(f"link add {left_port} mtu {self.mtu(left)} netns {left} "
                          f"type veth peer name {right_port} "
                          f"mtu {self.mtu(right)} netns {right}")
        for ns, port, last in ((left, left_port, 1), (right, right_port, 2)):
            self.ip[ns] += [f"link set {port} up",
                            f"addr add {net}.{last}/24 dev {port}"]
            if self.plan["ipv6"]:
                prefix, length = ipv6_of(net)
                self.ip[ns].append(f"addr add {prefix}{last}/{length} dev {port} "
                                   "nodad")
            self.ports.append((ns, port))

    def route(self, ns, net, via):
        self.ip[ns].append(f"route add {net} via {via}")
        if self.plan["ipv6"]:
            prefix, length = ipv6_of(net)
            target = net if net == "default" else f"{prefix}/{length}"
            near, last = via.rsplit(".", 1)
            self.ip[ns].append(f"route add {target} via {ipv6_of(near)[0]}{last}")

    def qdisc(self, ns, port, words):
        self.tc[ns].append(f"qdisc add dev {port} root {words}")

    def usable_at_once(self):
        """Link-local addresses, without which no neighbour is asked for: their duplicate
        address detection takes up to two seconds."""
        for ns in self.namespaces:
            sysctl(ns, "net.ipv6.conf.all.accept_dad", 0)
        for ns, port in self.ports:
            sysctl(ns, f"net.ipv6.conf.{port}.accept_dad", 0)

    def make(self):
        """All links before any address: a route wants both ends up."""
        run(["ip", "-batch", "-"], "\n".join(self.first) + "\n")
        if self.plan["ipv6"]:
            self.usable_at_once()
        for ns in self.namespaces:
            run(["ip", "-n", ns, "-batch", "-"], "\n".join(self.ip[ns]) + "\n")
        for ns, words in self.tc.items():
            if words:
                run(["tc", "-n", ns, "-batch", "-"], "\n".join(words) + "\n")


def delay(wires, ns, port, rtt, more=""):
    """Half a round trip, in us; room for whatever is under way."""
    wires.qdisc(ns, port, "netem limit 10000000 delay "
                f"{rtt / 2 * 1e6:.3f}us {more}")


def towards(wires, plan, dst, number, rtt):
    """sw -- wan-dst -- dst"""
    wan, port = "wan-" + dst, "to-" + dst
    wires.add(wan, dst)
    wires.link("sw", port, wan, "back", f"10.78.{number}")
    wires.link(wan, "on", dst, "eth1", f"10.79.{number}")
    wires.route("sw", f"10.79.{number}.0/24", f"10.78.{number}.2")
    wires.route(wan, "10.77.0.0/16", f"10.78.{number}.1")
    wires.route(dst, "default", f"10.79.{number}.1")
    damage = [f"{word} {plan[word] * 100:.9f}%"
              for word in ("loss", "reorder") if plan[word]]
    delay(wires, wan, "on", rtt, " ".join(damage))
    delay(wires, wan, "back", rtt)
    if plan["line"]:
        # Two frames of tokens, or one GSO packet where there are such: tbf
        # would cut it up in software
        burst = (2 * plan["wire"] if not plan["offloads"]
                 else plan["gso"] * 5 // 4)
        wires.qdisc("sw", port, f"tbf rate {plan['line']}bit burst {burst} "
                    f"limit {plan['buffer']}")


def one_packet_is_one_frame(wires):
    """netem and tbf take a GSO packet of 64 KB for a single one."""
    for ns, port in wires.ports:
        with inside(ns):
            run(["ethtool", "-K", port, "tso", "off", "gso", "off", "gro",
                 "off"])


def packets_of(wires, size):
    """What the kernel hands on as one packet: more than 64 KB is BIG TCP"""
    for ns, port in wires.ports:
        run(["ip", "-n", ns, "link", "set", port, "gso_max_size", str(size),
             "gro_max_size", str(size)])


def address(plan, net, last):
    """Of a host, as its flows use it"""
    return ipv6_of(net)[0] + str(last) if plan["ipv6"] else f"{net}.{last}"


def lay(plan):
    """Build it; its namespaces, and the hosts' addresses."""
    wires = Wires(plan)
    sources = sorted({"src"} | {f["from"] for f in plan["flows"]},
                     reverse=True)
    wires.add("sw", *sources)
    for i, name in enumerate(sources, 1):
        wires.link(name, "eth1", "sw", "from-" + name, f"10.77.{i}")
        wires.route(name, "default", f"10.77.{i}.2")
    towards(wires, plan, "dst", 1, plan["rtt"])
    addresses = {name: address(plan, f"10.77.{i}", 1)
                 for i, name in enumerate(sources, 1)}
    addresses["dst"] = address(plan, "10.79.1", 2)
    if plan["rtt2"] is not None:
        towards(wires, plan, "dst2", 2, plan["rtt2"])
        addresses["dst2"] = address(plan, "10.79.2", 2)
    wires.make()
    for ns in wires.namespaces:
        sysctl(ns, "net.ipv4.ip_forward", 1)
        sysctl(ns, "net.ipv6.conf.all.forwarding", int(plan["ipv6"]))
        sysctl(ns, "net.ipv4.tcp_no_metrics_save", 1)
    if not plan["offloads"]:
        one_packet_is_one_frame(wires)
    elif plan["gso"] != GSO:
        packets_of(wires, plan["gso"])
    return wires.namespaces, addresses
