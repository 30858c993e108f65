#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""One run, inside the virtual-time machine: network, hosts, flows, raw results.

Reads /lab/plan.json (expand.py's plan), leaves in /lab what the tools said:
FLOW.client, FLOW.server, ss, port, qdiscs.json, counters.json, ping,
HOST.pcap.  What a run needs is started and stopped by one clock; nothing here computes a
figure.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from network import in_ns, inside, lay, run, sysctl

LAB = "/lab/"
HERE = Path(__file__).resolve().parent
GRACE = 600     # s of virtual time that a flow may last beyond its end


def prepare_machine(plan):
    """What is one for all namespaces."""
    run(["modprobe", "tcp_circuit"])
    listed = open("/proc/sys/net/ipv4/tcp_available_congestion_control").read()
    run(["sysctl", "-qw", "net.ipv4.tcp_allowed_congestion_control=" +
         " ".join(listed.split())])
    if plan["shaper"] != "ctcp-setup":
        # Else a large window meets the machine's memory limit, not the network's.
        run(["sysctl", "-qw", "net.ipv4.tcp_mem=600000 800000 1000000"])


def prepare_hosts(plan, hosts):
    """Buffers, windows and sysctls of the ends; the sender's shaper."""
    for host in hosts:
        if plan["buffers"] and plan["shaper"] != "ctcp-setup":
            top = plan["buffers"]
            sysctl(host, "net.ipv4.tcp_rmem", f"4096 131072 {top}")
            sysctl(host, "net.ipv4.tcp_wmem", f"4096 16384 {top}")
    shape(plan, hosts)
    for host, values in plan["sysctl"].items():
        for name, value in values.items():
            sysctl(host, name, value)
    if plan["fcwnd"]:
        sysctl("src", "net.ipv4.tcp_circuit_fcwnd", plan["fcwnd"])
    if plan["pace"]:
        # A rate is a circuit's; this one has all that src sends with circuit.
        run(in_ns("src", ["circuit_nl", "new", "pace", "prefix", "0.0.0.0/0",
                          "window", str(plan["fcwnd"]),
                          "rate", str(plan["pace"] // 8)]))


def shape(plan, hosts):
    """ctcp-setup itself at both ends, or tbf by hand at the sender."""
    if plan["txqueuelen"] is not None:
        run(in_ns("src", ["ip", "link", "set", "eth1", "txqueuelen",
                          str(plan["txqueuelen"])]))
    if plan["shaper"] == "ctcp-setup":
        said = []
        for host in ("src", "dst"):
            out = run(in_ns(host, [
                "ctcp-setup", "--json", "--rate", plan["rate_text"], "--rtt",
                plan["rtt_text"], *plan["options"], "eth1"]))
            keep(host + ".setup", out)
            said.append(json.loads(out))
        heed(said)
    elif plan["shaper"] == "tbf":
        run(in_ns("src", ["tc", "qdisc", "add", "dev", "eth1", "root", "tbf",
                          "rate", f"{plan['rate']}bit",
                          "burst", str(plan["burst"] or 2 * plan["wire"]),
                          "limit", str(plan["limit"])]))


def heed(said):
    """What ctcp-setup cannot set from a namespace and asks its reader to: the largest
    buffers, and the memory that TCP may have, which here is that of all hosts
    together.  Never less than there is."""
    buffers = max(plan["buffer_bytes"] for plan in said)
    wanted = {"net/core/rmem_max": [buffers],
              "net/core/wmem_max": [buffers],
              "net/ipv4/tcp_mem": map(sum, zip(*(plan["tcp_mem_pages"]
                                                 for plan in said)))}
    for key, values in wanted.items():
        path = Path("/proc/sys") / key
        now = [int(n) for n in path.read_text(encoding="ascii").split()]
        path.write_text(" ".join(str(max(*pair)) for pair in zip(now, values)),
                        encoding="ascii")


def wait_for_random_numbers():
    """A machine that has just booted has none for some seconds, and the first
    program that asks for one would start so much later than the others."""
    os.getrandom(1)


def keep(name, content):
    with open(LAB + name, "w", encoding="utf-8") as file:
        file.write(content)


def ends_of(flow):
    """(who listens, who connects): the data go from `from` to `to`, and users ask for
    them."""
    if flow["tool"] == "users":
        return flow["from"], flow["to"]
    return flow["to"], flow["from"]


def woken_by(lowat, words):
    """A program that is woken by so many bytes of a connection (lowat.c)."""
    if lowat <= 1:
        return words
    return ["env", f"LD_PRELOAD={HERE.parents[1]}/build/bin/lowat.so",
            f"LOWAT={lowat}", *words]


def server_of(flow, port, lowat):
    """The program of a flow that listens."""
    if flow["tool"] == "nuttcp":
        return woken_by(lowat, ["nuttcp", "-1", "-P", str(port), "-p", str(port + 500)])
    if flow["tool"] in ("stream", "users"):
        return [HERE / f"{flow['tool']}.py", "serve", str(port), flow["cc"],
                *flow["options"]]
    return woken_by(lowat, ["iperf3", "-s", "-1", "-i", "0.1", "-J", "-p", str(port),
                            *file_of(flow, "writes")])


def client_of(flow, port, address):
    """The program of a flow that connects."""
    if flow["tool"] == "stream":
        return [HERE / "stream.py", "send", address, str(port), flow["cc"],
                str(flow["bytes"])]
    if flow["tool"] == "users":
        return [HERE / "users.py", "ask", address, str(port), str(flow["streams"]),
                str(flow["seconds"]), *flow["options"]]
    long = ["-t", str(flow["seconds"])]
    if flow["bytes"]:
        long = ["-n", str(flow["bytes"])]
    if flow["tool"] == "nuttcp":
        long[0] = long[0].replace("t", "T")
        return ["nuttcp", "-P", str(port), "-p", str(port + 500), *long, "-i",
                "0.1", "-fparse", *flow["options"], address]
    words = ["iperf3", "-c", address, "-p", str(port), "-i", "0.1", "-J",
             *long, "-P", str(flow["streams"])]
    if flow["tool"] == "udp":
        return [*words, "-u", "-b", str(flow["rate"]), *flow["options"]]
    if flow["rate"]:
        words += ["-b", str(flow["rate"])]
    return [*words, "-C", flow["cc"], *file_of(flow, "reads"), *flow["options"]]


def file_of(flow, side):
    """iperf3's words for a disk of a given rate, if the flow has one there."""
    return ["-F", disk(flow, side)] if flow[side] else []


def disk(flow, side):
    """Where iperf3 finds it."""
    return f"/run/{flow['name']}.{side}"


class Clock:
    """Things to do at their time, s from the first flow's start."""

    def __init__(self):
        self.todo = []
        self.began = time.monotonic()

    def at(self, when, what):
        self.todo.append((when, len(self.todo), what))

    def now(self):
        return time.monotonic() - self.began

    def go(self):
        self.began = time.monotonic()
        for when, _, what in sorted(self.todo, key=lambda t: t[:2]):
            time.sleep(max(0, when - self.now()))
            what()


class Transfers:
    """The flows' processes."""

    def __init__(self, plan, addresses):
        self.addresses = addresses
        self.lowat = plan["lowat"]
        self.running = []
        self.ports = {f["name"]: 5201 + i for i, f in enumerate(plan["flows"])}

    def spawn(self, host, words, name):
        """Its output goes to the host's folder as it comes."""
        with open(LAB + name, "w", encoding="utf-8") as out:
            process = subprocess.Popen(in_ns(host, words), stdout=out,
                                       stderr=subprocess.STDOUT)
        self.running.append((process, words))
        return process

    def turn(self, flow, side, start, end):
        """A disk: what its reader or writer sees of one is its rate."""
        if not flow[side]:
            return
        path = disk(flow, side)
        os.mkfifo(path)
        subprocess.Popen(["sh", "-c", f"pv -q -L {flow[side] // 8} "
                          f"<{start or path} >{end or path}"],
                         stderr=subprocess.DEVNULL)

    def listen(self, flow):
        self.turn(flow, "writes", "", "/dev/null")
        self.spawn(ends_of(flow)[0], server_of(flow, self.ports[flow["name"]], self.lowat),
                   flow["name"] + ".server")

    def start(self, flow):
        if flow["tool"] == "nuttcp":
            # It has no option for the algorithm, and takes the namespace's.
            for host in (flow["from"], flow["to"]):
                sysctl(host, "net.ipv4.tcp_congestion_control", flow["cc"])
        self.turn(flow, "reads", "/dev/zero", "")
        listener, asking = ends_of(flow)
        self.spawn(asking, client_of(flow, self.ports[flow["name"]],
                                     self.addresses[listener]),
                   flow["name"] + ".client")

    def wait(self, longest):
        limit = time.monotonic() + longest + GRACE
        for process, words in self.running:
            left = max(0.1, limit - time.monotonic())
            if process.wait(left) != 0:
                sys.exit(f"exit {process.returncode}: {' '.join(words)}")


def wait_listening(plan):
    """Until every server is there: poll, never merely sleep."""
    wanted = len(plan["flows"])
    for _ in range(100):
        ready = 0
        for host in {ends_of(f)[0] for f in plan["flows"]}:
            with inside(host):
                ready += len(run(["ss", "-Hltn"]).splitlines())
        if ready >= wanted:
            return
        time.sleep(0.1)
    sys.exit("the receiving programs do not listen")


class Sampler:
    """ss of the sending host, again and again, '# TIME' before each; and what the
    switch's port has sent and dropped by then: 'TIME BYTES PACKETS DROPS'."""

    def __init__(self, clock):
        self.clock = clock
        self.file = open(LAB + "ss", "w", encoding="utf-8")
        self.port = open(LAB + "port", "w", encoding="utf-8")

    def __call__(self):
        now = self.clock.now()
        with inside("src"):
            out = run(["ss", "-tinHO"])
        self.file.write(f"# {now:.6f}\n{out}")
        self.file.flush()
        with inside("sw"):
            root = next((q for q in json.loads(run(["tc", "-j", "-s", "qdisc", "show",
                                                    "dev", "to-dst"]))
                         if q.get("root")), {})
        self.port.write(f"{now:.6f} " + " ".join(
            str(root.get(key, 0)) for key in ("bytes", "packets", "drops")) + "\n")
        self.port.flush()


def start_traces(plan):
    """tcpdump of headers, with room enough that the kernel drops none."""
    started = []
    for host in plan["trace"]:
        process = subprocess.Popen(
            in_ns(host, ["tcpdump", "-i", "eth1", "-s", "96", "-B", "262144",
                         "-Z", "root", "-U", "-w", f"/run/{host}.pcap",
                         "ip"]),
            stderr=subprocess.PIPE, text=True)
        while "listening" not in process.stderr.readline():
            if process.poll() is not None:
                sys.exit("tcpdump did not start")
        started.append((host, process))
    return started


def stop_traces(started):
    """Its last words say what it missed: nothing may be.  The kernel hands over
    what it has captured once in a second, and a process that is ended does not
    ask for the rest."""
    if started:
        time.sleep(2)
    for host, process in started:
        process.terminate()
        said = process.communicate()[1]
        keep(host + ".tcpdump", said)
        with open(f"/run/{host}.pcap", "rb") as source, \
                open(f"{LAB}{host}.pcap", "wb") as target:
            target.write(source.read())


def qdiscs(hosts):
    """tc's counters everywhere, by namespace."""
    return {host: json.loads(run(["tc", "-n", host, "-j", "-s", "qdisc",
                                  "show"]) or "[]")
            for host in hosts}


def counters(ends):
    """The kernel's own, of TCP, by host: {host: {"RetransSegs": n}}; and what the module
    counts, in its words."""
    found = {}
    for host in ends:
        found[host] = {"module": run(in_ns(host, ["circuit_nl", "stats"]))}
        with inside(host):
            for name in ("snmp", "netstat"):
                # /proc/net is this thread's own
                lines = Path(f"/proc/thread-self/net/{name}").read_text(
                    encoding="ascii").splitlines()
                for names, values in zip(lines[::2], lines[1::2]):
                    kind, *names = names.split()
                    if kind in ("Tcp:", "TcpExt:"):
                        found[host].update(zip(names, map(int, values.split()[1:])))
    return found


def greet(ends, addresses):
    """Every pair once: that also fills the neighbour tables, whose first question
    would cost a round trip."""
    for end in [e for e in ends if e.startswith("dst")]:
        for host in [e for e in ends if not e.startswith("dst")]:
            with inside(host):
                keep(f"ping.{host}.{end}", run(["ping", "-c", "2", "-W", "5",
                                                addresses[end]]))


def schedule(plan, clock, transfers, last):
    """All that has its time: flows, steps, samples."""
    for flow in plan["flows"]:
        transfers.listen(flow)
        clock.at(flow["start"], lambda f=flow: transfers.start(f))
    for step in plan["steps"]:
        words = in_ns(step["on"], ["sh", "-ec", step["do"]])
        clock.at(step["at"], lambda w=words: run(w))
    if plan["sample"]:
        sampler = Sampler(clock)
        for i in range(int((last + 1) / plan["sample"])):
            clock.at(i * plan["sample"], sampler)


def main():
    with open(LAB + "plan.json", encoding="utf-8") as file:
        plan = json.load(file)
    prepare_machine(plan)
    wait_for_random_numbers()
    namespaces, addresses = lay(plan)
    ends = [n for n in namespaces if n in ("src", "cross", "dst", "dst2")]
    greet(ends, addresses)
    prepare_hosts(plan, ends)

    clock, transfers = Clock(), Transfers(plan, addresses)
    last = max([f["start"] + (f["seconds"] or 0) for f in plan["flows"]],
               default=0)
    schedule(plan, clock, transfers, last)
    if plan["flows"]:
        wait_listening(plan)
    traces = start_traces(plan)
    clock.go()
    transfers.wait(last)
    stop_traces(traces)
    keep("qdiscs.json", json.dumps(qdiscs(namespaces)))
    keep("counters.json", json.dumps(counters(ends)))


main()
