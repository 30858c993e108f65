# SPDX-License-Identifier: GPL-2.0
"""Figures, each from the raw results of one run.

Goodput is what the receiver got, in Mbit/s of 10^6: the sender counts what it
has put into its own buffer.  A metric is a function of (raw, measure) in METRICS;
its first line of documentation is what the report prints under the table.
"""

import json
import re
import statistics

from errors import BenchError
from raw import NETS, nuttcp_fields, tshark

BACK_TO_BACK = 0.5      # of a frame's time at the rate: closer is one burst
FULL = 0.95             # of the line's payload: "at full rate"


def within(parts, start, end):
    """Those of [(start, end, value)] that begin in [start, end)."""
    edge = 0.02             # s; intervals of 0.1 s do not end to the microsecond
    return [p for p in parts if start - edge <= p[0] < end - edge]


def _window(raw, measure):
    flow = measure.get("flow") or raw.only_flow()
    seconds = raw.flows[flow]["seconds"] or float("inf")
    return (flow, measure.get("from", 0),
            min(measure.get("until", seconds), seconds))


def mean_rate(parts, start, end):
    """Mbit/s over a stretch; a transfer that ended earlier, to its end."""
    chosen = within(parts, start, end)
    if not chosen:
        raise BenchError(f"no interval between {start} and {end} s")
    span = min(end, chosen[-1][1]) - start
    return sum(p[2] for p in chosen) * 8 / 1e6 / span


def goodput(raw, measure):
    """Mbit/s at the receiver"""
    flow, start, end = _window(raw, measure)
    return mean_rate(raw.received(flow), start, end)


def share(raw, measure):
    """goodput as percent of the payload that the line carries"""
    return 100 * goodput(raw, measure) * 1e6 / raw.plan["payload_rate"]


def total(raw, measure):
    """Mbit/s at the receivers, all flows together"""
    start, end = measure["from"], measure["until"]
    return sum(got_by(raw, f["name"], start, end)
               for f in raw.flows.values()) * 8 / 1e6 / (end - start)


def got_by(raw, flow, start, end):
    """bytes of a flow over a stretch of the run's clock, not of its own"""
    began = raw.flows[flow]["start"]
    return sum(p[2] for p in within(raw.received(flow), start - began,
                                    end - began))


def part(raw, measure):
    """what the flow carried, percent of what all carried"""
    got = {f: sum(p[2] for p in raw.received(f)) for f in raw.flows}
    return 100 * got[measure["flow"]] / sum(got.values())


def streams_of(raw, measure):
    """Mbit/s of each stream, over the stretch"""
    flow, start, end = _window(raw, measure)
    return [mean_rate(parts, start, end) for parts in raw.streams(flow)]


def slowest_stream(raw, measure):
    """Mbit/s at the receiver, of the stream that had least"""
    return min(streams_of(raw, measure))


def fastest_stream(raw, measure):
    """Mbit/s at the receiver, of the stream that had most"""
    return max(streams_of(raw, measure))


def filled(raw, measure):
    """s from the first data to the end of the first tenth of a second in which 95 %
    (FULL) of the line's payload came"""
    flow, _, _ = _window(raw, measure)
    wanted = FULL * raw.plan["payload_rate"]
    first = None
    for start, end, size in raw.received(flow):
        first = start if first is None and size else first
        # The last one, cut short, is no tenth
        if end - start > 0.05 and size * 8 >= wanted * (end - start):
            return end - first
    return float("inf")


def lowest(raw, measure):
    """the worst second, Mbit/s"""
    flow, start, end = _window(raw, measure)
    parts = raw.received(flow)
    steps = range(round(start), round(end))
    return min(mean_rate(parts, s, s + 1) for s in steps)


def spread(raw, measure):
    """standard deviation of the seconds' goodput, percent of its mean"""
    flow, start, end = _window(raw, measure)
    parts = raw.received(flow)
    rates = [mean_rate(parts, s, s + 1)
             for s in range(round(start), round(end))]
    return 100 * statistics.pstdev(rates) / statistics.mean(rates)


def recovery(raw, measure):
    """s from `from` until half a second at 95 % (FULL) of the rate before it"""
    flow, start, end = _window(raw, measure)
    parts = raw.received(flow)
    wanted = FULL * mean_rate(parts, 0 if start < 3 else 1, start)
    low, now = False, start
    while now + 0.5 <= end:
        full = mean_rate(parts, now, now + 0.5) >= wanted
        if low and full:
            return now - start
        low = low or not full
        now += 0.1
    return float("inf") if low else 0.0


def resent(raw, measure):
    """segments sent again, as iperf3 reads TCP_INFO"""
    flow, start, end = _window(raw, measure)
    return sum(p[2] for p in within(raw.resent(flow), start, end))


def resent_percent(raw, measure):
    """segments sent again, percent of those that carried the goodput"""
    flow, start, end = _window(raw, measure)
    got = sum(p[2] for p in within(raw.received(flow), start, end))
    return 100 * resent(raw, measure) / (got / raw.plan["mss"])


def shaper_drops(raw, _):
    """packets dropped by tc on the sender"""
    return raw.drops("src", "eth1")


def limit(raw, _):
    """what the shaper's queue may hold, kB"""
    return raw.plan["limit"] / 1e3


def limit_part(raw, _):
    """what the shaper's queue may hold, as a part of the window, counted in frames"""
    return raw.plan["limit"] / (raw.plan["fcwnd"] * raw.plan["wire"])


def switch_drops(raw, _):
    """packets dropped by the switch's port"""
    return raw.drops("sw", "to-dst")


def port_frames(raw, _):
    """full frames that the switch's port may hold"""
    return raw.plan["buffer"] / raw.plan["wire"]


def path_drops(raw, _):
    """packets that netem lost"""
    return raw.drops("wan-dst", "on")


def ack_drops(raw, _):
    """packets that netem lost on their way back to the sender: ACKs"""
    return raw.drops("wan-dst", "back")


def receiver_drops(raw, _):
    """packets dropped by the receiver's own shaper, tc on ifb1"""
    return raw.drops("dst", "ifb1")


def receiver_passed(raw, _):
    """packets that went through the receiver's own shaper, tc on ifb1"""
    return raw.by_tc("dst", "ifb1", "packets")


def _port_between(raw, measure):
    """(s, bytes, packets, drops) of the switch's port, between two of its samples"""
    found = [[float(n) for n in line.split()] for line in raw.text("port").splitlines()]
    inside = [p for p in found
              if measure["from"] - 0.001 <= p[0] <= measure["until"] + 0.001]
    if len(inside) < 2:
        raise BenchError(f"{raw.folder.name}: the port was not sampled between "
                         f"{measure['from']} and {measure['until']} s")
    return [b - a for a, b in zip(inside[0], inside[-1])]


def utilisation(raw, measure):
    """what the switch's port sent, percent of what its line carries"""
    seconds, sent, _, _ = _port_between(raw, measure)
    return 100 * sent * 8 / seconds / raw.plan["line"]


def unused(raw, measure):
    """what the switch's port could have sent more, percent of what its line carries"""
    return 100 - utilisation(raw, measure)


def port_drop_percent(raw, measure):
    """packets that the switch's port dropped, percent of those that came to it"""
    _, _, packets, drops = _port_between(raw, measure)
    return 100 * drops / (packets + drops)


def kernel_resent(raw, _):
    """segments that the sending host sent again, by its kernel's count (RetransSegs)"""
    return raw.counters["src"]["RetransSegs"]


def trips(raw, _):
    """times that the breaker of a circuit tripped on the sending host"""
    return int(re.search(r"\btrips[= ](\d+)", raw.counters["src"]["module"])[1])


def cwnd_swing(raw, measure):
    """largest less mean congestion window (ss cwnd), segments"""
    flow, _, _ = _window(raw, measure)
    began = raw.flows[flow]["start"]
    start, end = measure.get("from", 0) + began, measure["until"] + began
    found = [int(n) for t, s in raw.samples if start <= t < end
             for n in re.findall(r"\bcwnd:(\d+)", s) if int(n) > 10]
    if not found:
        raise BenchError(f"{raw.folder.name}: ss showed no window from {start} s on")
    return max(found) - statistics.mean(found)


def cwnd_mean(raw, measure):
    """mean congestion window (ss cwnd), segments"""
    flow, start, end = _window(raw, measure)
    found = [n for t, n in raw.windows(flow) if start <= t < end]
    if not found:
        raise BenchError(f"{raw.folder.name}: ss showed no window of {flow} from {start} s on")
    return statistics.mean(found)


def udp_lost(raw, measure):
    """UDP datagrams that did not arrive, percent"""
    flow, _, _ = _window(raw, measure)
    return raw.iperf(flow, "client")["end"]["sum"]["lost_percent"]


def loss_sigmas(raw, measure):
    """(lost - n p) / sqrt(n p (1 - p)): of n UDP frames those that did not arrive,
    or of n TCP segments those that were sent again"""
    flow, _, _ = _window(raw, measure)
    end = raw.iperf(flow, "client")["end"]
    if raw.flows[flow]["tool"] == "udp":
        n, lost = end["sum"]["packets"], end["sum"]["lost_packets"]
    else:
        n = end["sum_received"]["bytes"] / raw.plan["mss"]
        lost = end["sum_sent"]["retransmits"]
    p = raw.plan["loss"]
    return (lost - n * p) / (n * p * (1 - p)) ** 0.5


def full_rate(raw, measure):
    """round trips from the first SYN until 95 % of the line (FULL) arrives for a
    whole one"""
    rtt = raw.plan["rtt"]
    flow, _, _ = _window(raw, measure)
    frames = raw.frames(measure.get("where", "dst"), flow)
    syn = raw.first_syn(flow)
    wanted = FULL * raw.plan["rate"] / 8 * rtt
    frames = [f for f in frames if f[0] >= syn]
    held, first = 0, 0
    for time, size in frames:
        held += size
        while frames[first][0] <= time - rtt:
            held -= frames[first][1]
            first += 1
        if held >= wanted:
            return (time - rtt - syn) / rtt
    return float("inf")


def full_time(raw, measure):
    """s from the first SYN until 95 % of the line (FULL) arrives for a whole round
    trip"""
    return full_rate(raw, measure) * raw.plan["rtt"]


def gaps(raw):
    """s between data frames at the receiver"""
    if not raw.captured_all("dst"):
        raise BenchError(f"{raw.folder.name}: tcpdump missed frames")
    times = [t for t, _ in raw.frames("dst")]
    return [b - a for a, b in zip(times, times[1:])]


def burst_frames(raw, _):
    """frames that arrived back to back at the start"""
    between = gaps(raw)
    apart = BACK_TO_BACK * raw.plan["wire"] * 8 / raw.plan["rate"]
    for i, seconds in enumerate(between):
        if seconds > apart:
            return i + 1
    return len(between) + 1


def gap(raw, measure):
    """ms between frames after the first burst: the median, refined by the mean of
    those within a tenth of it, as tcpdump rounds each to a microsecond"""
    between = gaps(raw)[burst_frames(raw, measure):]
    if len(between) < 3:
        raise BenchError(f"{raw.folder.name}: too few frames after the burst")
    middle = statistics.median(between)
    return 1e3 * statistics.mean(g for g in between
                                 if abs(g - middle) <= middle / 10)


def together(raw, measure):
    """frames after the first burst that came right behind the one before, percent"""
    apart = BACK_TO_BACK * raw.plan["wire"] * 8 / raw.plan["rate"]
    between = gaps(raw)[burst_frames(raw, measure):]
    return 100 * sum(g < apart for g in between) / len(between)


def _largest(raw, measure, pattern, factor=1):
    """Of a number of ss, over all sockets of the flow's port or all."""
    _ = measure
    found = [int(n) * factor for _, s in raw.samples
             for n in re.findall(pattern, s)]
    if not found:
        raise BenchError(f"{raw.folder.name}: ss never showed {pattern}")
    return max(found)


def rwnd_max(raw, measure):
    """largest receive window that the sender saw (ss snd_wnd), bytes"""
    return _largest(raw, measure, r"\bsnd_wnd:(\d+)")


def cwnd_max(raw, measure):
    """largest congestion window (ss cwnd x mss), bytes"""
    return _largest(raw, measure, r"\bcwnd:(\d+)", raw.plan["mss"])


def ping(raw, _):
    """ms, the second of two: the first also asks for addresses"""
    return float(re.findall(r"time=([0-9.]+) ms",
                            raw.text("ping.src.dst"))[-1])


def tool_resent(raw, measure):
    """segments sent again, as the tool itself reports them"""
    flow, _, _ = _window(raw, measure)
    if raw.flows[flow]["tool"] == "stream":
        return json.loads(raw.text(f"{flow}.client"))["retransmits"]
    if raw.flows[flow]["tool"] == "nuttcp":
        last = nuttcp_fields(raw.text(f"{flow}.client").splitlines()[-1])
        return int(last.get("retrans", 0))
    return raw.iperf(flow, "client")["end"]["sum_sent"]["retransmits"]


def trace_resent(raw, measure):
    """segments that tshark takes for sent again, in a trace at `where`"""
    host = measure.get("where", "src")
    if not raw.captured_all(host):
        raise BenchError(f"{raw.folder.name}: tcpdump missed frames")
    out = tshark(raw.folder / f"{host}.pcap", "-Y",
                 "(tcp.analysis.retransmission || tcp.analysis.out_of_order)"
                 f" && ip.dst == {NETS['dst']}", "-T", "fields", "-e",
                 "frame.number")
    return len(out.split())


def trace_excess(raw, measure):
    """segments that tshark takes for sent again, beyond those that the tool reports"""
    return trace_resent(raw, measure) - tool_resent(raw, measure)


METRICS = {f.__name__: f for f in (
    goodput, total, part, share, slowest_stream, fastest_stream, filled, lowest,
    spread, recovery, resent, resent_percent,
    shaper_drops, limit, limit_part, switch_drops, path_drops, udp_lost, loss_sigmas,
    full_rate, full_time, burst_frames, gap, together, rwnd_max, cwnd_max, ping,
    tool_resent, trace_resent, trace_excess, utilisation, unused, port_drop_percent, port_frames,
    kernel_resent, trips, cwnd_swing, cwnd_mean, ack_drops, receiver_drops, receiver_passed)}
