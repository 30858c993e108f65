# SPDX-License-Identifier: GPL-2.0
"""Labelled flows, each drawn from its seed alone.

A seed's scenario is its place in SCHEDULE; all else of the flow comes from a generator
seeded with it.  Even seeds are the half for tuning, odd ones that for scoring.  A flow whose
counters contradict its label (truth.py) is drawn again with the seed + AGAIN.

The labels are verdicts (tools/ctcpd/verdict.h).  Where several things limit a flow, its
label is that of which the policy says so first, and `acceptable` has what is true, too.

    s ---- r ---- w ---- d      s: sends by a device of rate `nic`, tbf without drops
           |                    r: `line` and `buffer` of the port towards w, or `police`
           b                    w: netem, half the round trip each way, `loss` towards d
                                b: other people
"""

import random

from paths import (FRAME, MSS, RTT, SENDERS, PACKETS, bdp_of, log_uniform, rate_within,
                   regrowth, response, seconds_of)

AGAIN = 100_000         # from a refused seed to the next
TRIES = 400             # draws of one flow until it suits its scenario


class Unsuited(Exception):
    """These numbers do not make the scenario: other ones are drawn"""


def suited(condition):
    """Else: draw again"""
    if not condition:
        raise Unsuited


def flow(draw, rtt, nic, **more):
    """With what is the same for most"""
    return {"rtt": rtt, "nic": round(nic), "cc": draw.choice(SENDERS),
            "seconds": seconds_of(rtt), "line": 0, "buffer": 0, "police": 0,
            "police_burst": 0, "loss": 0.0, "local_loss": 0.0, "local_limit": 0,
            "streams": 1, "burst": 0, "period": 0.0, "window": 0, "answer": 0, "bytes": 0,
            "sndbuf": 0, "rcvbuf": 0, "rmem": 0, "read": 0, "others": [],
            "record": [0, seconds_of(rtt) + 2], "heal": 0, **more}


# --- overruns ------------------------------------------------------------------------


def slow_hop(draw, ratio, room, frames):
    """The last hop is so many times slower; its buffer, in BDP and at least in frames"""
    rtt = log_uniform(draw, *RTT)
    line = rate_within(draw, rtt)
    f = flow(draw, rtt, ratio * line, line=round(line))
    f["buffer"] = round(max(draw.uniform(*room) * bdp_of(line, rtt),
                            draw.uniform(*frames) * FRAME))
    window = (bdp_of(line, rtt) + f["buffer"]) / FRAME
    suited(regrowth(f["cc"], window, rtt + f["buffer"] * 8 / line) < f["seconds"] / 6)
    if f["cc"] == "bbr":    # it fills a quarter of the BDP in a probe
        suited(rtt >= 5e-3 and f["buffer"] < 0.2 * bdp_of(line, rtt))
    return f


def slow_receiver_4(draw):
    """4:1, small buffer"""
    return slow_hop(draw, 4, (0.03, 0.25), (6, 30))


def slow_receiver_10(draw):
    """10:1, small buffer"""
    return slow_hop(draw, 10, (0.03, 0.25), (6, 30))


def slow_receiver_medium(draw):
    """A buffer that carries the path for most of the time"""
    return slow_hop(draw, draw.choice((3, 4, 10)), (0.15, 1.0), (20, 80))


def shallow_switch(draw):
    """A switch of a few frames between ports that differ little"""
    return slow_hop(draw, draw.uniform(1.5, 4), (0, 0), (5, 40))


def policer(draw):
    """A provider's policer: no queue at all"""
    rtt = log_uniform(draw, *RTT)
    rate = rate_within(draw, rtt)
    f = flow(draw, rtt, draw.uniform(2, 10) * rate, police=round(rate))
    f["police_burst"] = round(max(draw.uniform(0.05, 0.5) * bdp_of(rate, rtt),
                                  draw.uniform(8, 60) * FRAME))
    suited(regrowth(f["cc"], bdp_of(rate, rtt) / FRAME, rtt) < f["seconds"] / 6)
    return f


def slow_receiver_also(draw):
    """A slow receiver behind a path that loses a little, or shared now and then"""
    f = slow_hop(draw, draw.choice((4, 10)), (0.03, 0.3), (6, 40))
    if draw.random() < 0.6:
        f["loss"] = log_uniform(draw, 1e-5, 2e-4)
    else:
        f["others"] = tcp_bursts(draw, f["seconds"], 1)
        suited(f["cc"] != "bbr")
    f["acceptable"] = ["loss"]
    return f


def slow_receiver_in_bursts(draw):
    """Of an application that pauses: each burst overruns the hop"""
    f = slow_hop(draw, draw.choice((4, 10)), (0.03, 0.2), (6, 30))
    f["period"] = max(2.0, 40 * f["rtt"])
    f["burst"] = round(draw.uniform(0.5, 0.8) * f["period"] * f["line"] / 8)
    f["acceptable"] = ["application"]
    return f


# --- the network loses ---------------------------------------------------------------


def random_loss_far(draw):
    """Loss keeps the window far from what the path carries"""
    rtt = log_uniform(draw, 2e-3, RTT[1])
    f = flow(draw, rtt, 0, cc=draw.choice(("cubic", "reno", "htcp")))
    f["loss"] = log_uniform(draw, 1e-4, 1e-2)
    window = response(f["cc"], f["loss"], rtt)
    packets = window / rtt * f["seconds"]
    suited(packets < PACKETS and packets * f["loss"] > 8)
    f["nic"] = round(draw.uniform(3, 6) * window * FRAME * 8 / rtt)
    suited(f["nic"] < 1e9)
    if draw.random() < 0.5:     # the path is slower than we are, but its queue never fills
        f["line"], f["nic"] = f["nic"], 4 * f["nic"]
        f["buffer"] = round(3 * bdp_of(f["line"], rtt) + 100 * FRAME)
    return f


def random_loss_reached(draw):
    """Loss that leaves the path full all the same, or nearly"""
    rtt = log_uniform(draw, *RTT)
    line = rate_within(draw, rtt)
    f = flow(draw, rtt, line)
    packets = line / 8 / FRAME * f["seconds"]
    f["loss"] = log_uniform(draw, max(1e-5, 10 / packets), 1e-2)
    suited(response(f["cc"], f["loss"], rtt) > 1.5 * bdp_of(line, rtt) / FRAME)
    return f


def random_loss_rare(draw):
    """A bad fibre: so rare that a poll often sees none"""
    rtt = log_uniform(draw, *RTT)
    line = rate_within(draw, rtt, low=40e6)
    packets = line / 8 / FRAME * seconds_of(rtt)
    low = max(1e-5, 3 / packets)
    return flow(draw, rtt, line, loss=log_uniform(draw, low, max(2e-4, 1.5 * low)))


def tcp_bursts(draw, seconds, most):
    """Other people's connections, coming and going"""
    found, at = [], draw.uniform(0, 4)
    while at < seconds:
        long = draw.uniform(2, 10)
        found += [{"kind": "tcp", "at": at, "seconds": long,
                   "cc": draw.choice(("cubic", "cubic", "reno"))}
                  for _ in range(draw.randint(1, most))]
        at += long + draw.uniform(2, 8)
    return found


def background_tcp(draw):
    """Others share the bottleneck: without them we could not fill its queue"""
    rtt = log_uniform(draw, 1e-3, RTT[1])
    line = rate_within(draw, rtt)
    f = flow(draw, rtt, line, line=round(line))
    f["buffer"] = round(max(draw.uniform(0.2, 1.2) * bdp_of(line, rtt),
                            draw.uniform(20, 60) * FRAME))
    f["others"] = tcp_bursts(draw, f["seconds"], 4)
    return f


def background_udp(draw):
    """The same of senders that do not yield"""
    f = background_tcp(draw)
    f["others"], at = [], draw.uniform(0, 4)
    while at < f["seconds"]:
        long = draw.uniform(1, 6)
        f["others"].append({"kind": "udp", "at": at, "seconds": long,
                            "rate": round(draw.uniform(0.3, 0.9) * f["line"])})
        at += long + draw.uniform(1, 8)
    return f


# --- the ends ------------------------------------------------------------------------


def paused(draw, f, rate):
    """Bursts that take at most a third of the time"""
    f["period"] = log_uniform(draw, 0.5, 8)
    suited(f["period"] > 25 * f["rtt"])
    f["burst"] = round(draw.uniform(0.05, 0.35) * f["period"] * rate / 8)
    suited(f["burst"] > 2 * MSS)
    return f


def behind_a_queue(f, line):
    """The path is slower than the device, and has room for all that comes"""
    f["nic"], f["line"] = round(4 * line), round(line)
    f["buffer"] = round(4 * bdp_of(line, f["rtt"]) + 2 * f["burst"] + 200 * FRAME)
    return f


def app_pauses(draw):
    """Reads a slow disk by large blocks, say"""
    rtt = log_uniform(draw, *RTT)
    line = rate_within(draw, rtt)
    f = paused(draw, flow(draw, rtt, line), line)
    return behind_a_queue(f, line) if draw.random() < 0.3 else f


def app_slow(draw):
    """Small writes at a rate of its own.  Those that come more often than a round trip
    keep the same in flight all the time, as a window of the application's would."""
    rtt = log_uniform(draw, *RTT)
    line = rate_within(draw, rtt)
    f = flow(draw, rtt, line, period=round(log_uniform(draw, 5e-3, 0.2), 3))
    f["burst"] = round(draw.uniform(0.05, 0.5) * f["period"] * line / 8)
    suited(f["burst"] > 500)
    f["acceptable"] = ["application-window"] if f["period"] < 2 * rtt else []
    return f


def limited(draw, rtt_low=5e-3):
    """A path that a small window does not fill: flow, and the window in bytes"""
    rtt = log_uniform(draw, rtt_low, RTT[1])
    share = draw.uniform(0.05, 0.5)
    line = rate_within(draw, rtt, share=share)
    f = flow(draw, rtt, line)
    window = share * bdp_of(line, rtt)
    suited(window > 8 * MSS)
    return f, round(window)


def remote_window(draw):
    """A receiver with small buffers, or one that reads slowly"""
    f, window = limited(draw)
    if draw.random() < 0.7:
        f[draw.choice(("rcvbuf", "rmem"))] = window
    else:
        f["read"] = round(draw.uniform(0.1, 0.6) * f["nic"])
        f["rmem"] = round(log_uniform(draw, 256e3, 4e6))
    return f


def send_buffer(draw):
    """SO_SNDBUF, which the kernel doubles and counts with its overhead"""
    f, window = limited(draw)
    f["sndbuf"] = round(window * 0.8)
    suited(f["sndbuf"] > 8000)
    return f


def app_window(draw):
    """A channel's window within the connection"""
    f, window = limited(draw)
    f["window"] = max(window, 16384)
    suited(f["window"] < 0.6 * bdp_of(f["nic"], f["rtt"]))
    f["answer"] = f["window"] // draw.choice((1, 2, 4, 8))
    return f


def tiny(draw):
    """Too short to tell, whatever the path does"""
    rtt = log_uniform(draw, *RTT)
    f = flow(draw, rtt, rate_within(draw, rtt), bytes=round(log_uniform(draw, 300, 20e3)))
    f["seconds"], f["record"] = 10, [0, 12]
    what = draw.random()
    if what < 0.3:
        f["loss"] = 0.05
    elif what < 0.6:
        f["line"] = round(f["nic"] / 10)
        f["buffer"] = 4 * FRAME
    return f


def local_drops(draw):
    """Our own qdisc: a queue too short for many streams, or one that drops at random"""
    rtt = log_uniform(draw, 1e-3, 0.1)
    nic = rate_within(draw, rtt)
    f = flow(draw, rtt, nic)
    if draw.random() < 0.5:
        f["streams"] = draw.randint(6, 16)
        f["local_limit"] = draw.randint(4, 12) * FRAME
    else:
        f["local_loss"] = log_uniform(draw, 5e-4, 1e-2)
    return f


def clean(draw):
    """Nothing but the path's rate: that of our own device, or BBR behind a deep buffer"""
    rtt = log_uniform(draw, *RTT)
    line = rate_within(draw, rtt)
    f = flow(draw, rtt, line)
    if f["cc"] == "bbr" and draw.random() < 0.5:
        f = behind_a_queue(f, line)
    elif f["cc"] == "reno":
        suited(bdp_of(line, rtt) / FRAME < 1000)
    return f


def first_sample(draw):
    """It had lost much before it was first seen.  Then it loses nothing more, or is seen
    once only."""
    rtt = log_uniform(draw, 1e-3, 0.05)
    line = rate_within(draw, rtt)
    if draw.random() < 0.5:
        f = flow(draw, rtt, line, loss=draw.uniform(0.01, 0.03), heal=8)
        f["record"], f["seconds"] = [12, 47], 45
        f["acceptable"] = ["unknown"]
        return f
    f = flow(draw, rtt, 4 * line, line=round(line), buffer=20 * FRAME, label="unknown")
    f["record"], f["seconds"] = [12, 16], 20
    return f


def several(draw):
    """A window or a pause of an end's, behind a path that loses a little"""
    make, others = draw.choice((
        (remote_window, ["loss"]), (send_buffer, ["loss"]), (app_window, ["loss"]),
        (app_pauses, ["loss"]), (app_slow, ["loss"]), (local_drops, ["loss"])))
    f = make(draw)
    packets = f["nic"] / 8 / FRAME * f["seconds"] * 0.3
    f["loss"] = log_uniform(draw, max(1e-5, 4 / packets), max(2e-4, 8 / packets))
    suited(f["loss"] < 2e-3)
    f["label"] = LABELS[make]
    f["acceptable"] = others + f.get("acceptable", [])
    return f


LABELS = {
    slow_receiver_4: "overrun", slow_receiver_10: "overrun", slow_receiver_medium: "overrun",
    slow_receiver_also: "overrun", slow_receiver_in_bursts: "overrun",
    shallow_switch: "overrun", policer: "overrun",
    random_loss_far: "loss", random_loss_reached: "loss", random_loss_rare: "loss",
    background_tcp: "loss", background_udp: "loss",
    app_pauses: "application", app_slow: "application",
    remote_window: "remote-window", send_buffer: "send-buffer",
    app_window: "application-window", local_drops: "local-drops", clean: "clean",
    first_sample: "clean", tiny: "unknown", several: None,
}

# A round: three groups of GROUP flows
SCHEDULE = (
    slow_receiver_4, random_loss_far, app_pauses, policer, background_tcp, remote_window,
    tiny, shallow_switch,
    slow_receiver_10, random_loss_reached, app_slow, clean, send_buffer, background_udp,
    app_window, local_drops,
    slow_receiver_medium, random_loss_rare, slow_receiver_also, several, first_sample,
    slow_receiver_in_bursts, background_tcp, app_window,
)
GROUP = 8               # flows of one machine
ROUNDS = 7              # of SCHEDULE in a half
HALVES = {"tune": 0, "score": 1}
KERNELS = ("6.1", "newest")


def seeds_of(half):
    """All of it"""
    return [2 * n + HALVES[half] for n in range(ROUNDS * len(SCHEDULE))]


def place_of(seed):
    """(group, place in SCHEDULE)"""
    n = seed % AGAIN // 2
    return n // GROUP, n % len(SCHEDULE)


# What the halves are drawn by, tune and score: who has read any of the latter draws another
# scoring set, by another word
WORDS = ("ctcpd flow", "ctcpd flow, scoring set 16")


def kernel_of(seed):
    """Each scenario meets both, by turns"""
    return KERNELS[place_of(seed)[0] % 2]


def flow_of(seed):
    """The flow of a seed, with its label"""
    draw = random.Random(f"{WORDS[seed % 2]} {seed}")
    make = SCHEDULE[place_of(seed)[1]]
    for _ in range(TRIES):
        try:
            found = make(draw)
        except Unsuited:
            continue
        return {"label": LABELS[make], "acceptable": [], **found, "seed": seed,
                "scenario": make.__name__.replace("_", "-"), "kernel": kernel_of(seed)}
    raise RuntimeError(f"seed {seed}: {TRIES} draws of {make.__name__}, none suits")
