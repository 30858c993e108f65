# SPDX-License-Identifier: GPL-2.0
"""What the tools of a run said, read: iperf3's JSON, nuttcp's lines, ss, tc, tshark.

Times are s from the start of the first flow; a flow's intervals begin when its
tool says that the transfer began, which is a few round trips (the tool's own
control connection) after its start.
"""

import json
import math
import re
import subprocess
from functools import cached_property
from pathlib import Path

from errors import BenchError


NETS = {"src": "10.77.0.0/16", "dst": "10.79.0.0/16"}     # network.py


class Raw:
    """The folder of one run."""

    def __init__(self, folder, plan):
        self.folder = Path(folder)
        self.plan = plan
        self.flows = {f["name"]: f for f in plan["flows"]}
        self.read = {}

    def text(self, name):
        """A file of it."""
        path = self.folder / name
        if not path.exists():
            raise BenchError(f"{path.parent.name}/{name} was not recorded; "
                             "does the description ask for it?")
        return path.read_text(encoding="utf-8", errors="replace")

    def only_flow(self):
        """The flow that is meant when a measure names none."""
        return next(iter(self.flows))

    def port(self, flow):
        """Where the flow's data goes (guest.py)."""
        data = 500 if self.flows[flow]["tool"] == "nuttcp" else 0
        return 5201 + data + list(self.flows).index(flow)

    def iperf(self, flow, side):
        """What iperf3 said at that side."""
        data = json.loads(self.text(f"{flow}.{side}"))
        if "error" in data:
            raise BenchError(f'{self.folder.name}: iperf3, flow "{flow}": '
                             f'{data["error"]}')
        return data

    def receiving(self, flow):
        """The end of a flow that receives: the server, but with -R."""
        return ("client" if "-R" in self.flows[flow]["options"] else "server")

    def sums(self, flow, sending):
        """iperf3's intervals at the end that sends or the one that receives."""
        side = self.receiving(flow)
        if sending:
            side = "client" if side == "server" else "server"
        return [i["sum"] for i in self.iperf(flow, side)["intervals"]]

    def received(self, flow):
        """[(start, end, bytes)] at the receiver."""
        if self.flows[flow]["tool"] == "nuttcp":
            return nuttcp_intervals(self.text(f"{flow}.client"))
        parts = self.sums(flow, sending=False)
        return [(p["start"], p["end"], p["bytes"]) for p in parts]

    def streams(self, flow):
        """The same, for each stream of a flow of iperf3's."""
        side = self.iperf(flow, self.receiving(flow))["intervals"]
        return [[(p["start"], p["end"], p["bytes"]) for p in parts]
                for parts in zip(*(i["streams"] for i in side))]

    def resent(self, flow):
        """[(start, end, segments)] as iperf3's sender reads TCP_INFO."""
        parts = self.sums(flow, sending=True)
        return [(p["start"], p["end"], p.get("retransmits", 0))
                for p in parts]

    @cached_property
    def counters(self):
        """{host: {"RetransSegs": n, "module": its words}} at the end of the run"""
        return json.loads(self.text("counters.json"))

    @cached_property
    def samples(self):
        """[(time, text of ss)]"""
        parts = re.split(r"^# ([0-9.]+)\n", self.text("ss"), flags=re.M)[1:]
        return [(float(t), s) for t, s in zip(parts[::2], parts[1::2])]

    def windows(self, flow):
        """[(s from the flow's start, segments)]: its congestion window, as ss had it, while the
        program wrote: what it left behind is sent when it has ended.  Not of iperf3, whose own
        words go to the port of its data."""
        if self.flows[flow]["tool"] == "iperf3":
            raise BenchError(f'{self.folder.name}: windows of "{flow}": ss shows iperf3\'s control '
                             "connection with the same port; nuttcp's has its own")
        to = re.compile(rf":{self.port(flow)}\s.*\bcwnd:(\d+)")
        began, long = self.flows[flow]["start"], self.flows[flow]["seconds"] or math.inf
        return [(t - began, int(found[1])) for t, lines in self.samples if t - began <= long
                for found in map(to.search, lines.splitlines()) if found]

    def drops(self, namespace, device):
        """Packets dropped by a device's qdiscs.  The kernel counts a drop at the qdisc
        that dropped and at each above it, so the root's count is that of all."""
        return self.by_tc(namespace, device, "drops")

    def by_tc(self, namespace, device, what):
        """What tc counted at a device's root."""
        data = json.loads(self.text("qdiscs.json"))
        return sum(q.get(what, 0) for q in data.get(namespace, [])
                   if q["dev"] == device and q.get("root"))

    def frames(self, host, flow=None):
        """[(time, bytes)] of the full frames that came to a host: not the tool's
        own words."""
        net = NETS[host]
        return [(float(t), int(n)) for t, n, ports in self.packets(
            host, f"ip.dst == {net} && frame.len > 1000 && !icmp")
            if not flow or str(self.port(flow)) in ports.split(",")]

    def first_syn(self, flow):
        """When src asked for the flow's connection: iperf3's second."""
        return [float(t) for t, _, ports in self.packets(
            "src", "tcp.flags.syn == 1 && tcp.flags.ack == 0")
            if str(self.port(flow)) in ports.split(",")][-1]

    def packets(self, host, which):
        """[[time, bytes, both TCP ports]] of a trace; read once, whatever flows
        ask."""
        if (host, which) not in self.read:
            out = tshark(self.folder / f"{host}.pcap", "-Y", which, "-T", "fields",
                         "-e", "frame.time_epoch", "-e", "frame.len", "-e",
                         "tcp.port")
            self.read[host, which] = [(line + "\t").split("\t")[:3]
                                      for line in out.splitlines()]
        return self.read[host, which]

    def captured_all(self, host):
        """True when tcpdump says that the kernel dropped nothing."""
        said = self.text(f"{host}.tcpdump")
        return re.search(r"\b0 packets dropped by kernel", said) is not None


def tshark(path, *words):
    """tshark over one trace, without resolving any name."""
    done = subprocess.run(["tshark", "-n", "-r", str(path), *words],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchError(f"tshark: {done.stderr.strip()}")
    return done.stdout


def nuttcp_fields(line):
    """name=value words of nuttcp -fparse"""
    return dict(re.findall(r"([A-Za-z_]+)=([-0-9.]+)", line))


def nuttcp_intervals(text):
    """nuttcp -i -fparse: a line an interval, each with its own seconds."""
    found, now = [], 0.0
    for line in text.splitlines():
        fields = nuttcp_fields(line)
        if "real_sec" not in fields:
            continue
        if "tx_cpu" in fields:      # the last line, of the whole
            break
        seconds = float(fields["real_sec"])
        size = float(fields["megabytes"]) * 2**20
        found.append((now, now + seconds, size))
        now += seconds
    return found
