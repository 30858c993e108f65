# SPDX-License-Identifier: GPL-2.0
"""What tcptrace and tshark, each, say of one trace: of a host, or of one with frames missing.

A step may start a second tcpdump on src, which is to miss frames: it leaves missing.pcap and,
with tcpdump's last words, missing.tcpdump in the folder of the run.
"""

import csv
import functools
import ipaddress
import re
import subprocess

from errors import BenchError
from metrics import tool_resent
from raw import NETS, tshark

AGAIN, LATE = "rexmt_data_pkts", "outoforder_pkts"      # tcptrace's names


def trace_of(raw, measure):
    """The file that a measure is about; but for "missing" it has to be complete"""
    where = measure.get("where", "src")
    if where != "missing" and not raw.captured_all(where):
        raise BenchError(f"{raw.folder.name}: tcpdump missed frames")
    return raw.folder / f"{where}.pcap"


@functools.lru_cache(maxsize=1)     # each figure is one of its columns
def connections(path):
    """[{column: value}] of what tcptrace prints, a line for each connection"""
    done = subprocess.run(["tcptrace", "-n", "-l", "--csv", str(path)],
                          capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.strip()
             and not line.startswith("#")]
    if done.returncode or not lines:
        raise BenchError(f"tcptrace: {path.parent.name}/{path.name}: "
                         + (done.stderr.strip() or "no connection"))
    return list(csv.DictReader(lines, skipinitialspace=True))


def towards_dst(found, column):
    """Sum of a column of packets that go to dst"""
    net = ipaddress.ip_network(NETS["dst"])
    ways = ("a2b" if ipaddress.ip_address(one["host_b"]) in net else "b2a" for one in found)
    return sum(int(one[f"{column}_{way}"]) for one, way in zip(found, ways))


def tcptrace_again(raw, measure):
    """tcptrace's "rexmt data pkts" towards dst, in a trace at `where`: data that the trace
    has a second time"""
    return towards_dst(connections(trace_of(raw, measure)), AGAIN)


def tcptrace_late(raw, measure):
    """tcptrace's "outoforder pkts" towards dst, in a trace at `where`: data that fill a gap"""
    return towards_dst(connections(trace_of(raw, measure)), LATE)


def tcptrace_found(raw, measure):
    """tcptrace's "rexmt data pkts" and "outoforder pkts" together, percent of the segments that
    the tool sent again"""
    return 100 * (tcptrace_again(raw, measure) + tcptrace_late(raw, measure)) \
        / tool_resent(raw, measure)


@functools.lru_cache(maxsize=1)     # as above
def marks(path):
    """(frames towards dst that tshark calls retransmissions, those out of order)"""
    names = "tcp.analysis.retransmission", "tcp.analysis.out_of_order"
    lines = tshark(path, "-Y", f"({' || '.join(names)}) && ip.dst == {NETS['dst']}", "-T", "fields",
                   "-e", names[0], "-e", names[1]).splitlines()
    return tuple(sum(bool(line.split("\t")[i]) for line in lines) for i in range(2))


def tshark_again(raw, measure):
    """frames towards dst that tshark calls retransmissions, in a trace at `where`"""
    return marks(trace_of(raw, measure))[0]


def tshark_late(raw, measure):
    """frames towards dst that tshark calls out of order, in a trace at `where`"""
    return marks(trace_of(raw, measure))[1]


def tshark_found(raw, measure):
    """frames that tshark calls retransmissions or out of order, together, percent of the segments
    that the tool sent again"""
    return 100 * sum(marks(trace_of(raw, measure))) / tool_resent(raw, measure)


def missed(raw, _):
    """frames of those that its filter let pass which the second tcpdump of src missed,
    percent"""
    said = raw.text("missing.tcpdump")
    passed, dropped = (int(re.search(rf"(\d+) packets? {what}", said)[1])
                       for what in ("received by filter", "dropped by kernel"))
    return 100 * dropped / passed


METRICS = {f.__name__: f for f in (tcptrace_again, tcptrace_late, tcptrace_found, tshark_again,
                                   tshark_late, tshark_found, missed)}
