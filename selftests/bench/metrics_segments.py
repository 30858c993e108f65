# SPDX-License-Identifier: GPL-2.0
"""What single segments of a trace have in their headers: payloads, and the windows that a
connection begins with."""

import collections

from errors import BenchError
from raw import NETS, tshark


def fields(raw, host, which, *names):
    """[[whole number of each field]] of the frames of a host's trace that tshark's filter finds"""
    if not raw.captured_all(host):
        raise BenchError(f"{raw.folder.name}: tcpdump missed frames")
    asked = [word for name in names for word in ("-e", name)]
    return [list(map(int, line.split("\t"))) for line in tshark(
        raw.folder / f"{host}.pcap", "-Y", which, "-T", "fields", *asked).splitlines()]


def payload(raw, measure):
    """bytes of payload of the most frequent kind of data segment towards dst, in a trace at
    `where`"""
    lengths = fields(raw, measure.get("where", "src"),
                     f"ip.dst == {NETS['dst']} && tcp.len > 0", "tcp.len")
    return collections.Counter(length for length, in lengths).most_common(1)[0][0]


def windows(raw, measure):
    """Bytes of window that the receiver of a flow announces, segment by segment from the SYN-ACK
    on: of its last connection, which is the one of data; src's trace has them"""
    flow = measure.get("flow") or raw.only_flow()
    found = fields(raw, "src", f"ip.src == {NETS['dst']} && tcp.srcport == {raw.port(flow)} && "
                   "tcp.flags.reset == 0", "tcp.stream", "tcp.window_size")
    last = max(stream for stream, _ in found)
    return [window for stream, window in found if stream == last]


def rwnd_syn(raw, measure):
    """receive window that the SYN-ACK announces, bytes"""
    return windows(raw, measure)[0]


def rwnd_first(raw, measure):
    """receive window that the receiver's first segment after the SYN-ACK announces, bytes"""
    return windows(raw, measure)[1]


METRICS = {f.__name__: f for f in (payload, rwnd_syn, rwnd_first)}
