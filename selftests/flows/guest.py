#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A group of flows, inside the virtual-time machine, each on a network of its own.

Reads /lab/plan.json, a list of flows (scenarios.py), and leaves of each in /lab
SEED.trace, what ctcpd recorded in the sender's namespace, and SEED.counters: what the
path's counters and the two programs said.

Time is virtual, and no program takes any: the flows share the machine's memory and its
random numbers, and nothing that they would wait for.
"""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "bench"))
from network import Wires, inside, one_packet_is_one_frame, run, sysctl  # noqa: E402

LAB = "/lab/"
FRAME = 1514
PORT = 5201
BUFFERS = 64 << 20      # bytes: tcp_rmem and tcp_wmem where the flow names none
DEEP = 10_000_000       # bytes: of a queue that is to drop nothing
EVERY = 5               # s between two looks at the counters
DISCARD = 9             # where others' UDP goes


class FlowPath:
    """The network of one flow: drawn in scenarios.py"""

    def __init__(self, number, flow):
        self.flow = flow
        self.net = f"10.{number + 1}"
        self.s, self.r, self.w, self.d, self.b = (f"{c}{number}" for c in "srwdb")
        self.hosts = [self.s, self.r, self.w, self.d] + ([self.b] if flow["others"] else [])

    def wire(self, wires):
        """Links, addresses and queues"""
        f, net = self.flow, self.net
        wires.add(*self.hosts)
        wires.link(self.s, "eth1", self.r, "in", f"{net}.1")
        wires.link(self.r, "out", self.w, "back", f"{net}.2")
        wires.link(self.w, "on", self.d, "eth1", f"{net}.3")
        wires.route(self.s, "default", f"{net}.1.2")
        wires.route(self.r, f"{net}.3.0/24", f"{net}.2.2")
        wires.route(self.w, "default", f"{net}.2.1")
        wires.route(self.d, "default", f"{net}.3.1")
        if f["others"]:
            wires.link(self.b, "eth1", self.r, "beside", f"{net}.4")
            wires.route(self.b, "default", f"{net}.4.2")
            wires.qdisc(self.b, "eth1", tbf(f["nic"], DEEP))
        self.queues(wires)

    def queues(self, wires):
        """The sender's device, the hop, the delay"""
        f = self.flow
        if f["local_loss"]:
            wires.qdisc(self.s, "eth1", f"netem limit 100000 rate {f['nic']}bit "
                        f"loss {f['local_loss'] * 100:.9f}%")
        else:
            wires.qdisc(self.s, "eth1", tbf(f["nic"], f["local_limit"] or DEEP))
        if f["line"]:
            wires.qdisc(self.r, "out", tbf(f["line"], f["buffer"]))
        wires.qdisc(self.w, "on", self.netem(f["loss"]))
        wires.qdisc(self.w, "back", self.netem(0))

    def netem(self, loss):
        """Half a round trip"""
        return (f"netem limit 1000000 delay {self.flow['rtt'] / 2 * 1e6:.3f}us"
                + (f" loss {loss * 100:.9f}%" if loss else ""))

    def prepare(self):
        """Buffers, and the policer"""
        f = self.flow
        for host in (self.s, self.d, *self.hosts[4:]):
            most = f["rmem"] if f["rmem"] and host == self.d else BUFFERS
            sysctl(host, "net.ipv4.tcp_rmem", f"4096 {min(131072, most)} {most}")
            sysctl(host, "net.ipv4.tcp_wmem", f"4096 16384 {BUFFERS}")
        if f["police"]:
            run(["tc", "-n", self.r, "qdisc", "add", "dev", "in", "clsact"])
            run(["tc", "-n", self.r, "filter", "add", "dev", "in", "ingress", "matchall",
                 "action", "police", "rate", f"{f['police']}bit",
                 "burst", str(f["police_burst"]), "conform-exceed", "drop/pipe"])

    def heal(self):
        """The path loses nothing any more"""
        run(["tc", "-n", self.w, "qdisc", "change", "dev", "on", "root",
             *self.netem(0).split(), "loss", "0%"])

    def drops(self):
        """By place, so far"""
        found = {"hop": dropped(self.r, "out"), "path": dropped(self.w, "on"),
                 "back": dropped(self.w, "back"), "local": dropped(self.s, "eth1")}
        if self.flow["police"]:
            found["police"] = dropped(self.r, "in", "clsact")
        return found


def tbf(rate, limit):
    """A device of that rate: two frames of tokens"""
    return f"tbf rate {rate}bit burst {2 * FRAME} limit {limit}"


def dropped(host, port, kind=None):
    """Frames, by the root qdisc or the one of that kind"""
    listed = json.loads(run(["tc", "-n", host, "-s", "-j", "qdisc", "show", "dev", port]))
    return sum(q["drops"] for q in listed
               if (q["kind"] == kind if kind else q.get("root")) and "drops" in q)


class Clock:
    """Things to do at their time, s from the flows' start"""

    def __init__(self):
        self.todo = []

    def at(self, when, what, *args):
        self.todo.append((when, len(self.todo), what, args))

    def go(self):
        """All of them"""
        began = time.monotonic()
        for when, _, what, args in sorted(self.todo, key=lambda t: t[:2]):
            time.sleep(max(0, began + when - time.monotonic()))
            what(*args)


class Running:
    """The programs of one flow"""

    def __init__(self, path):
        self.path = path
        self.flow = path.flow
        self.servers, self.senders, self.others = [], [], []
        self.recorder = None
        self.sink = None
        self.series = []

    def file(self, name):
        """In the host's folder"""
        return open(f"{LAB}{self.flow['seed']}.{name}", "w", encoding="ascii")

    def spawn(self, host, words):
        """A program whose words are read at the end"""
        with inside(host):
            return subprocess.Popen([str(w) for w in words], stdout=subprocess.PIPE,
                                    text=True)

    def listen(self):
        """Both servers: ours, and that of the others, which reads as fast as it can"""
        f = self.flow
        ours = []
        if f["rcvbuf"]:
            ours += ["-r", f["rcvbuf"]]
        if f["read"]:
            ours += ["-q", round(65536 * 8e6 / f["read"])]
        if f["answer"]:
            ours += ["-a", f["answer"]]
        self.servers = [self.spawn(self.path.d, ["ctcpd_traffic", "serve", *words, port])
                        for words, port in ((ours, PORT), ([], PORT + 1))]
        with inside(self.path.d):
            self.sink = socket.socket(type=socket.SOCK_DGRAM)
            self.sink.bind(("", DISCARD))   # nobody reads it, and no ICMP says so

    def record(self):
        """ctcpd, as an operator would"""
        with inside(self.path.s), self.file("trace") as out:
            self.recorder = subprocess.Popen(
                ["ctcpd", "record", "--every", "5s", "--look", "200ms"], stdout=out)

    def stop_recording(self):
        """As an operator would"""
        self.recorder.terminate()
        if self.recorder.wait(10) not in (0, -15):
            sys.exit(f"ctcpd record: exit {self.recorder.returncode}")

    def send(self):
        """All its streams"""
        f = self.flow
        words = ["-C", f["cc"], "-t", round(f["seconds"] * 1000)]
        for key, name in (("-n", "bytes"), ("-s", "sndbuf"), ("-b", "burst"),
                          ("-w", "window"), ("-a", "answer")):
            words += [key, f[name]] if f[name] else []
        if f["burst"]:
            words += ["-p", round(f["period"] * 1000)]
        self.senders = [self.spawn(self.path.s, ["ctcpd_traffic", "send", *words,
                                                 f"{self.path.net}.3.2", PORT])
                        for _ in range(f["streams"])]

    def disturb(self, other):
        """Others' traffic"""
        to, ms = f"{self.path.net}.3.2", round(other["seconds"] * 1000)
        if other["kind"] == "udp":
            gap = max(1, round(1442 * 8e6 / other["rate"]))     # of 1400 bytes' frames
            words = ["circuit_arrivals", "send", "-g", gap, "-t", ms, to, DISCARD]
        else:
            words = ["ctcpd_traffic", "send", "-C", other["cc"], "-t", ms, to, PORT + 1]
        self.others.append(self.spawn(self.path.b, words))

    def look(self, now):
        """Drops by then"""
        self.series.append([now, self.path.drops()])

    def plan(self, clock):
        """What happens when"""
        f = self.flow
        clock.at(f["record"][0], self.record)
        clock.at(f["record"][1], self.stop_recording)
        clock.at(0.5, self.send)
        if f["heal"]:
            clock.at(f["heal"], self.path.heal)
        for other in f["others"]:
            clock.at(0.5 + other["at"], self.disturb, other)
        looks = range(0, f["seconds"], EVERY) if f["label"] == "overrun" else ()
        for now in (*looks, *f["record"]):
            clock.at(now, self.look, now)

    def finish(self):
        """Everything that was counted"""
        sent = [numbers(p) for p in self.senders]
        for process in self.others:
            numbers(process)
        for process in self.servers:
            process.terminate()
        got = [fields(line) for line in self.servers[0].communicate()[0].splitlines()]
        self.servers[1].communicate()
        with self.file("counters") as out:
            json.dump({"drops": self.path.drops(), "series": self.series, "sent": sent,
                       "received": got}, out)


def fields(line):
    """{"port": 5201, ...} of "port=5201 ..." """
    return {k: int(v) for k, v in (word.split("=") for word in line.split())}


def numbers(process):
    """What a sender said"""
    out = process.communicate(timeout=600)[0]
    if process.returncode:
        sys.exit(f"exit {process.returncode}: {' '.join(process.args)}")
    return fields(out)


def prepare_machine():
    """What is one for all namespaces"""
    Path("/proc/sys/net/ipv4/tcp_mem").write_text("600000 800000 1000000")
    for name in ("rmem_max", "wmem_max"):
        Path(f"/proc/sys/net/core/{name}").write_text(str(BUFFERS))


def main():
    with open(LAB + "plan.json", encoding="ascii") as file:
        flows = json.load(file)
    prepare_machine()
    os.getrandom(1)     # a machine that has just booted has none for some seconds
    paths = [FlowPath(i, flow) for i, flow in enumerate(flows)]
    wires = Wires({"mtu": 1500, "gso": 65536, "ipv6": False})
    for path in paths:
        path.wire(wires)
    wires.make()
    for ns in wires.namespaces:
        sysctl(ns, "net.ipv4.ip_forward", 1)
    one_packet_is_one_frame(wires)
    clock, running = Clock(), [Running(path) for path in paths]
    for path, one in zip(paths, running):
        path.prepare()
        one.listen()
        one.plan(clock)
    time.sleep(1)       # the servers listen
    clock.go()
    time.sleep(6)       # ctcpd_traffic's END_MS
    for one in running:
        one.finish()


main()
