# SPDX-License-Identifier: GPL-2.0
"""Figures of what is no flow of a description: transfers that a step makes in a loop.

The loop leaves what the tool said, one transfer after the other, in the file
"transfers" of the run, and the sender's trace has them all: each is one connection.
"""

import collections
import functools
import json

from errors import BenchError
from raw import NETS, nuttcp_fields, tshark


def _said(raw):
    """[(source port or None, segments sent again)] of each transfer, as the tool says"""
    text = raw.text("transfers").strip()
    if not text.startswith("{"):
        return [(None, int(nuttcp_fields(line)["retrans"])) for line in text.splitlines()
                if "tx_cpu" in line]
    found, read = [], json.JSONDecoder()
    while text:
        data, end = read.raw_decode(text)
        if "error" in data:
            raise BenchError(f"{raw.folder.name}: transfer {len(found) + 1}: "
                             f"{data['error']}")
        found.append((data["start"]["connected"][0]["local_port"],
                      data["end"]["sum_sent"]["retransmits"]))
        text = text[end:].lstrip()
    return found


def _connections(raw, which):
    """[(tshark's number of its connection, source port)] of each frame towards dst that
    it finds so.  A port may be a second connection's, and a SYN be sent again."""
    lines = tshark(raw.folder / "src.pcap", "-Y", f"({which}) && ip.dst == {NETS['dst']}",
                   "-T", "fields", "-e", "tcp.stream", "-e", "tcp.srcport").splitlines()
    return [tuple(map(int, line.split())) for line in lines]


@functools.lru_cache(maxsize=1)      # tshark reads all of a trace, twice
def _counts(raw):
    """[(the tool's count, the trace's)] of each transfer"""
    if not raw.captured_all("src"):
        raise BenchError(f"{raw.folder.name}: tcpdump missed frames")
    again = collections.Counter(number for number, _ in _connections(
        raw, "tcp.analysis.retransmission || tcp.analysis.out_of_order"))
    begun = list(dict.fromkeys(_connections(
        raw, "tcp.flags.syn == 1 && tcp.dstport in {5001, 5201}")))
    counts = []
    for port, count in _said(raw):
        # nuttcp does not say its port: its data connections come in turn
        found = next((one for one in begun if port in (None, one[1])), None)
        if not found:
            raise BenchError(f"{raw.folder.name}: a transfer is not in the trace")
        begun.remove(found)
        counts.append((count, again[found[0]]))
    return counts


def transfers(raw, _):
    """transfers that the step made"""
    return len(_counts(raw))


def miscounted(raw, _):
    """transfers of which the tool reports another number of segments sent again than
    tshark finds in the sender's trace"""
    return sum(said != traced for said, traced in _counts(raw))


def transfers_said(raw, _):
    """segments sent again, as the tool reports them, of all transfers"""
    return sum(said for said, _ in _counts(raw))


def transfers_traced(raw, _):
    """segments that tshark finds sent again in the sender's trace, of all transfers"""
    return sum(traced for _, traced in _counts(raw))


METRICS = {f.__name__: f for f in (transfers, miscounted, transfers_said,
                                   transfers_traced)}
