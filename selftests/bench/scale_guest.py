#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""scale_guest.py: what many circuits take, measured in the machine that scale.sh boots.

    SCALE_SIZES    how many circuits, in turn: "64,512,4096"
    SCALE_MOST     how many more where no class is needed, 0 = none: "60000"
    SCALE_ROUTES   routes of others on the host: "200000"
    SCALE_RUNS     how often each is done: "5"
    SCALE_INNER    how many classes in one htb, and in 16 below it, 0 = none: "4096"
    SCALE_CLASSES  how many circuits with a class each, for what a packet costs beside
                   them, 0 = none: "60000"

What ctcp-setup does is done in one namespace and what tc and ip do in another like it,
by turns, and who is first changes from run to run.  tc and ip get the very commands that
`ctcp-setup apply --dry-run` prints.  Writes /lab/scale.json: seconds of wall time, each
with the start of its program; "start" is that of `ctcp-setup -V`, which does no more.
"""

import ctypes
import ipaddress
import json
import os
import re
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

WORK = Path("/run/scale")
SETUP = str(Path("build/bin/ctcp-setup").resolve())
CLONE_NEWNET = 0x40000000
VIA = "--via 10.78.0.254 --rate 10mbit --rtt 10ms"
LIBC = ctypes.CDLL(None, use_errno=True)
AT_ONCE = 20000  # lines of a batch
SAMPLES = 5     # of what is over at once, in each run
BURST = 1000    # packets of one system call
BURSTS = 200    # of one sample


class Failed(Exception):
    """A command failed; its words."""


def run(*words):
    """What it printed, of a command that is not measured."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"{' '.join(words)}: {done.stderr[:300]}")
    return done.stdout


def measure(*words):
    """Seconds from its start to its end."""
    actions = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
               (os.POSIX_SPAWN_OPEN, 2, str(WORK / "err"),
                os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)]
    begin = time.monotonic()
    pid = os.posix_spawnp(words[0], words, os.environ, file_actions=actions)
    _, status = os.waitpid(pid, 0)
    end = time.monotonic()
    if status:
        raise Failed(f"{' '.join(words)}: {(WORK / 'err').read_text()[:300]}")
    return end - begin


class Host:
    """A namespace with eth1, whose other end is in it, too."""

    def __init__(self, name):
        self.name = name
        run("ip", "netns", "add", name)
        self.batch("ip", ["link set lo up",
                          "link add eth1 numtxqueues 1 numrxqueues 1 type veth "
                          "peer name far1", "link set eth1 up", "link set far1 up",
                          "addr add 10.78.0.1/24 dev eth1"])

    def enter(self):
        """This process, and what it starts from here on, is in it."""
        with open(f"/run/netns/{self.name}", "rb") as place:
            if LIBC.setns(place.fileno(), CLONE_NEWNET):
                raise Failed(f"setns: {os.strerror(ctypes.get_errno())}")

    def batch(self, program, lines):
        """Not measured; some at a time, as ip takes a page of memory for each, and a
        program of this machine has 65,530 (vm.max_map_count of the host)."""
        self.enter()
        lines = list(lines)
        for first in range(0, len(lines), AT_ONCE):
            some = lines[first:first + AT_ONCE]
            (WORK / "lines").write_text("".join(f"{line}\n" for line in some))
            run(program, "-batch", str(WORK / "lines"))

    def end(self):
        """With all that is in it, at once: the kernel would clear a namespace away later,
        beside what is measured then."""
        self.enter()
        run("ip", "link", "del", "eth1")
        with open("/proc/1/ns/net", "rb") as place:
            LIBC.setns(place.fileno(), CLONE_NEWNET)
        run("ip", "netns", "del", self.name)


def prefix(n):
    """The n-th circuit's."""
    return f"10.{96 + n // 256}.{n % 256}.0/24" if n < 40000 else \
        f"172.{16 + (n - 40000) // 256 // 16}.{(n - 40000) // 16 % 256}." \
        f"{(n - 40000) % 16 * 16}/28"


def line(name, n, shaper):
    """The words of one circuit."""
    return f"add {name} --to {prefix(n)} {VIA} --shaper {shaper} eth1"


class Points:
    """Figures: {(layout, circuits, what): [seconds]}"""

    def __init__(self):
        self.found = {}

    def take(self, layout, circuits, what, *words):
        """Measure it once more."""
        seconds = measure(*words)
        self.found.setdefault((layout, circuits, what), []).append(seconds)
        print(f"# {layout} {circuits} {what}: {1000 * seconds:.1f} ms", flush=True)

    def as_list(self):
        """For JSON"""
        return [{"layout": layout, "circuits": circuits, "what": what, "s": seconds}
                for (layout, circuits, what), seconds in self.found.items()]


def peer_files(host, shaper):
    """Lines for tc and for ip that make what the file would: (how many of tc, of ip)"""
    host.enter()
    printed = run(SETUP, "apply", "--dry-run", str(WORK / "circuits")).splitlines()
    count = []
    for program in ("tc", "ip"):
        lines = [words[len(program) + 1:] for words in printed
                 if words.startswith(program + " ")]
        (WORK / program).write_text("".join(f"{words}\n" for words in lines))
        count.append(len(lines))
    if shaper == "htb" and not count[0]:
        raise Failed("apply --dry-run prints no line of tc's")
    return count


def by_peers(points, layout, circuits):
    """The same by tc and ip, in a namespace that ends with it."""
    host = Host("peer")
    try:
        host.enter()
        if layout == "htb":
            points.take(layout, circuits, "tc -batch", "tc", "-batch", str(WORK / "tc"))
        points.take(layout, circuits, "ip -batch", "ip", "-batch", str(WORK / "ip"))
        if layout == "htb":
            points.take(layout, circuits, "tc -s class", "tc", "-s", "class", "show",
                        "dev", "eth1")
    finally:
        host.end()


def by_setup(points, layout, circuits, shaper, samples):
    """Every verb, in a namespace of its own."""
    one = ["add", "more", "--to", "10.95.0.0/24", *VIA.split(), "--shaper", shaper]
    file = str(WORK / "circuits")
    host = Host("ours")
    try:
        host.enter()
        points.take(layout, circuits, "apply", SETUP, "apply", "--quiet", file)
        points.take(layout, circuits, "apply again", SETUP, "apply", "--quiet", file)
        points.take(layout, circuits, "show", SETUP, "show")
        points.take(layout, circuits, "show --json", SETUP, "show", "--json")
        for _ in range(samples):
            points.take(layout, circuits, "start", SETUP, "-V")
            points.take(layout, circuits, "add one", SETUP, *one, "--quiet", "eth1")
            points.take(layout, circuits, "del one", SETUP, "del", "more", "--quiet")
            points.take(layout, circuits, "list", SETUP, "list")
        points.take(layout, circuits, "verify", SETUP, "verify")
        points.take(layout, circuits, "undo", SETUP, "undo", "--all", "--quiet")
    finally:
        host.end()


def layout_of(points, layout, shaper, circuits, runs):
    """One layout of so many circuits, by both."""
    (WORK / "circuits").write_text("".join(line(f"c{n}", n, shaper) + "\n"
                                           for n in range(circuits)))
    host = Host("dry")
    try:
        peer_files(host, shaper)
    finally:
        host.end()
    for n in range(runs):
        sides = [lambda: by_setup(points, layout, circuits, shaper, SAMPLES),
                 lambda: by_peers(points, layout, circuits)]
        for side in sides if n % 2 else sides[::-1]:
            side()


def among_routes(points, routes, runs):
    """One circuit more on a host that has many routes of others."""
    host = Host("routes")
    try:
        host.batch("ip", (f"route add 11.{n >> 16 & 255}.{n >> 8 & 255}.{n & 255}/32 "
                          "via 10.78.0.254" for n in range(routes)))
        for _ in range(runs * SAMPLES):
            points.take("routes", routes, "start", SETUP, "-V")
            points.take("routes", routes, "add one", SETUP,
                        *line("more", 0, "none").split(), "--quiet")
            points.take("routes", routes, "del one", SETUP, "del", "more", "--quiet")
    finally:
        host.end()


def class_lines(circuits, inner):
    """For tc: classes, queues, filters, in one htb or in @inner of them below it."""
    parts = {"classes": [], "queues": [], "filters": []}
    for n in range(inner):
        parts["classes"] += [
            f"class add dev eth1 parent c7c0: classid c7c0:{n + 1:x} htb rate 10gbit",
            f"qdisc add dev eth1 parent c7c0:{n + 1:x} handle d{n:03x}: htb"]
    for n in range(circuits):
        root = f"d{n % inner:03x}:" if inner else "c7c0:"
        # the root's own inner classes have the numbers below
        where = f"{root}{n + 1:x}"
        parts["classes"].append(f"class add dev eth1 parent {root} classid {where} "
                                "htb rate 10mbit ceil 10mbit quantum 1514")
        parts["queues"].append(f"qdisc add dev eth1 parent {where} bfifo limit 100kb")
        if inner:
            where = f"c7c0:{n % inner + 1:x} action skbedit priority {where}"
        parts["filters"].append("filter add dev eth1 parent c7c0: protocol ip prio 8 "
                                f"flower dst_ip {prefix(n)} classid {where}")
    return parts


def small_qdiscs(points, circuits, runs):
    """Would it pay to have many small htb below one?  By tc -batch alone"""
    for n in range(runs):
        for inner in (0, 16) if n % 2 else (16, 0):
            host = Host("inner")
            try:
                host.batch("tc", ["qdisc add dev eth1 root handle c7c0: htb"])
                for what, lines in class_lines(circuits, inner).items():
                    (WORK / "lines").write_text("".join(f"{words}\n" for words in lines))
                    points.take(f"{inner or 1} htb", circuits, what, "tc", "-batch",
                                str(WORK / "lines"))
            finally:
                host.end()


class IoVec(ctypes.Structure):
    """struct iovec"""
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]


class MsgHdr(ctypes.Structure):
    """struct msghdr"""
    _fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_uint),
                ("iov", ctypes.POINTER(IoVec)), ("iovlen", ctypes.c_size_t),
                ("control", ctypes.c_void_p), ("controllen", ctypes.c_size_t),
                ("flags", ctypes.c_int)]


class MMsgHdr(ctypes.Structure):
    """struct mmsghdr"""
    _fields_ = [("hdr", MsgHdr), ("len", ctypes.c_uint)]


class Sender:
    """Small packets from a namespace to the hosts of some circuits, BURST at a time"""

    def __init__(self, host, circuits):
        host.enter()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
        self.payload = ctypes.create_string_buffer(18)
        self.iov = IoVec(ctypes.addressof(self.payload), len(self.payload))
        self.names = [self.address(circuits[n % len(circuits)]) for n in range(BURST)]
        self.messages = (MMsgHdr * BURST)()
        for message, name in zip(self.messages, self.names):
            message.hdr.name = ctypes.addressof(name)
            message.hdr.namelen = len(name)
            message.hdr.iov = ctypes.pointer(self.iov)
            message.hdr.iovlen = 1

    @staticmethod
    def address(circuit):
        """struct sockaddr_in of a host of it"""
        to = int(ipaddress.ip_network(prefix(circuit))[1])
        raw = struct.pack("=H", socket.AF_INET) + struct.pack("!HI8x", 9, to)
        return (ctypes.c_char * len(raw)).from_buffer_copy(raw)

    def send(self):
        """Seconds for a packet"""
        begin = time.monotonic()
        for _ in range(BURSTS):
            if LIBC.sendmmsg(self.socket.fileno(), self.messages, BURST, 0) != BURST:
                raise Failed(f"sendmmsg: {os.strerror(ctypes.get_errno())}")
        return (time.monotonic() - begin) / (BURST * BURSTS)


def sent(host):
    """Packets that left by a class other than that of all else"""
    host.enter()
    shown = run("tc", "-s", "class", "show", "dev", "eth1")
    found = re.findall(r"^class htb c7c0:(\w+) .*\n Sent \d+ bytes (\d+) pkt", shown,
                       re.M)
    return sum(int(count) for minor, count in found if minor != "ffff")


def packets(points, circuits, runs):
    """What a packet costs that a class of one takes, and of so many, by turns"""
    hosts = {}
    senders = {}
    for n in (1, circuits):
        hosts[n] = Host(f"packets{n}")
        hosts[n].batch("ip", ["neigh add 10.78.0.254 lladdr 02:00:00:00:00:01 dev eth1"])
        (WORK / "circuits").write_text("".join(
            line(f"c{k}", k, "htb").replace("10mbit", "10gbit") + " --overbook\n"
            for k in range(n)))
        run(SETUP, "apply", "--quiet", str(WORK / "circuits"))
        senders[("htb", n, "packet")] = Sender(hosts[n], [n - 1])
    senders[("htb", circuits, "packet, of 1000")] = \
        Sender(hosts[circuits], range(0, circuits, max(1, circuits // BURST)))
    for sender in senders.values():
        sender.send()
    for _ in range(runs * SAMPLES):
        for key, sender in senders.items():
            points.found.setdefault(key, []).append(sender.send())
    for n, host in hosts.items():
        least = BURST * BURSTS * (runs * SAMPLES + 1) * (1 if n == 1 else 2)
        if sent(host) < least:
            raise Failed(f"{n} circuits: {sent(host)} packets by their classes, "
                         f"and not {least}")
        run(SETUP, "undo", "--all", "--quiet")
        host.end()


def keep(points, runs):
    """What was found so far: a machine that is ended for its time has left that much."""
    Path("/lab/scale.json").write_text(json.dumps({
        "kernel": os.uname().release, "runs": runs, "points": points.as_list()}))


def main():
    """All of it"""
    sizes = [int(n) for n in os.environ.get("SCALE_SIZES", "64,512,4096").split(",")]
    most = int(os.environ.get("SCALE_MOST", "60000"))
    routes = int(os.environ.get("SCALE_ROUTES", "200000"))
    runs = int(os.environ.get("SCALE_RUNS", "5"))
    inner = int(os.environ.get("SCALE_INNER", "4096"))
    classes = int(os.environ.get("SCALE_CLASSES", "60000"))
    points = Points()

    WORK.mkdir(parents=True, exist_ok=True)
    os.environ["CTCP_RUNDIR"] = str(WORK / "state")
    run("modprobe", "tcp_circuit")
    for circuits in sizes:
        for layout, shaper in (("module", "none"), ("htb", "htb")):
            layout_of(points, layout, shaper, circuits, runs)
            keep(points, runs)
    if inner:
        small_qdiscs(points, inner, runs)
        keep(points, runs)
    if classes:
        packets(points, classes, runs)
        keep(points, runs)
    if routes:
        among_routes(points, routes, runs)
        keep(points, runs)
    if most:
        layout_of(points, "module", "none", most, max(1, runs // 2))
        keep(points, runs)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as why:
        print(f"scale: {why}", file=sys.stderr)
        sys.exit(1)
