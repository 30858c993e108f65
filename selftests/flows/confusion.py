# SPDX-License-Identifier: GPL-2.0
"""What verdicts make of labels: counts, and nothing else.

A row is one flow: {"seed", "scenario", "label", "acceptable", "verdict", "reason", "cc",
"kernel", "rtt"}.  Its verdict is right if it is the label or one of `acceptable`.
"""

import math

from scenarios import AGAIN

# As verdict.h has them, the one that matters most first
VERDICTS = ("overrun", "loss", "remote-window", "send-buffer", "application",
            "application-window", "local-drops", "clean", "unknown")
# Where "overrun" must never be said
NEVER = ("random-loss-far", "random-loss-reached", "random-loss-rare", "app-pauses",
         "app-slow", "tiny", "first-sample")
RTTS = ((1e-3, "below 1 ms"), (10e-3, "1 to 10 ms"), (100e-3, "10 to 100 ms"),
        (float("inf"), "100 ms and more"))
RECALL, PRECISION = 0.95, 0.95      # what is asked of overruns
Z = 1.96                            # deviations of a normal distribution, for 95 %


def is_right(row):
    """Whether the verdict holds of that flow"""
    return row["verdict"] == row["label"] or row["verdict"] in row["acceptable"]


def matrix(rows):
    """{label: {verdict: flows}}"""
    found = {label: dict.fromkeys(VERDICTS, 0) for label in VERDICTS}
    for row in rows:
        found[row["label"]][row["verdict"]] += 1
    return found


def ratio(part, whole):
    """None of nothing"""
    return part / whole if whole else None


def by_label(rows):
    """{label: {"flows", "same": the label itself, "right": that or as good,
    "said": verdicts of that name, "said_right"}}"""
    found = {}
    for label in VERDICTS:
        of, said = ([r for r in rows if r[key] == label] for key in ("label", "verdict"))
        found[label] = {"flows": len(of),
                        "same": sum(r["verdict"] == label for r in of),
                        "right": sum(map(is_right, of)),
                        "said": len(said), "said_right": sum(map(is_right, said))}
    return found


def recall(rows):
    """Of overruns, those that were said to be: unknown is a miss"""
    overruns = [r for r in rows if r["label"] == "overrun"]
    return ratio(sum(r["verdict"] == "overrun" for r in overruns), len(overruns))


def precision(rows):
    """Of what was said to overrun, what does"""
    said = [r for r in rows if r["verdict"] == "overrun"]
    return ratio(sum(map(is_right, said)), len(said))


def false_overruns(rows):
    """By seed"""
    return sorted((r for r in rows if r["verdict"] == "overrun" and not is_right(r)),
                  key=lambda r: r["seed"])


def forbidden(rows):
    """Those of them that must not be at all"""
    return [r for r in false_overruns(rows) if r["scenario"] in NEVER]


def rtt_class(rtt):
    """Its name"""
    return next(name for below, name in RTTS if rtt < below)


KEYS = {"round trip": lambda r: rtt_class(r["rtt"]), "sender": lambda r: r["cc"],
        "kernel": lambda r: r["kernel"], "scenario": lambda r: r["scenario"]}


def breakdown(rows, key):
    """[(value, flows, right, overruns, found, false overruns)], of one of KEYS"""
    order = [name for _, name in RTTS]
    values = sorted({KEYS[key](r) for r in rows},
                    key=lambda v: (order.index(v) if v in order else 0, v))
    found = []
    for value in values:
        of = [r for r in rows if KEYS[key](r) == value]
        overruns = [r for r in of if r["label"] == "overrun"]
        found.append((value, len(of), sum(map(is_right, of)), len(overruns),
                      sum(r["verdict"] == "overrun" for r in overruns),
                      len(false_overruns(of))))
    return found


def interval(hits, of):
    """Wilson's, of 95 %: (least, most) of the share that `hits` of `of` are drawn from"""
    middle = (hits + Z * Z / 2) / (of + Z * Z)
    half = Z / (of + Z * Z) * math.sqrt(hits * (of - hits) / of + Z * Z / 4)
    return max(0.0, middle - half), min(1.0, middle + half)


def counted(hits, of):
    """98.0 % (48 of 49; 95 % interval 89.3 to 99.6 %)"""
    if not of:
        return "none"
    least, most = interval(hits, of)
    return (f"{percent(hits / of)} ({hits} of {of}; 95 % interval {100 * least:.1f} to "
            f"{percent(most)})")


def of_none(hits, of):
    """0 of 119 (95 % interval 0.0 to 3.1 %)"""
    if not of:
        return "none"
    least, most = interval(hits, of)
    return f"{hits} of {of} (95 % interval {100 * least:.1f} to {percent(most)})"


def _reaches(hits, of, asked):
    """What the interval adds to a point estimate that is enough"""
    if not of or hits / of < asked or interval(hits, of)[0] >= asked:
        return ""
    return ", by the point estimate: the interval reaches below that"


def held(rows):
    """[(whether it holds, sentence)] of what is asked"""
    overruns = [r for r in rows if r["label"] == "overrun"]
    said = [r for r in rows if r["verdict"] == "overrun"]
    hits = sum(r["verdict"] == "overrun" for r in overruns)
    found, exact = recall(rows), precision(rows)
    never = forbidden(rows)
    of = sum(r["scenario"] in NEVER for r in rows)
    rest = sum(r["label"] != "overrun" for r in rows)
    exactly = sum(map(is_right, said))
    return [(found is not None and found >= RECALL,
             f"recall of overruns {counted(hits, len(overruns))}, "
             f"at least {percent(RECALL)} asked{_reaches(hits, len(overruns), RECALL)}"),
            (exact is not None and exact >= PRECISION,
             f"precision of overruns {counted(exactly, len(said))}, at least "
             f"{percent(PRECISION)} asked{_reaches(exactly, len(said), PRECISION)}"),
            (not never, f"false overruns among flows of random loss, slow applications, tiny "
             f"flows and first samples: {of_none(len(never), of)}, none asked; among all flows "
             f"that are no overrun: {of_none(len(false_overruns(rows)), rest)}")]


def found_by_scenario(rows):
    """{scenario: (overruns found, overruns)}, of scenarios that have any"""
    return {name: (hits, overruns)
            for name, _, _, overruns, hits, _ in breakdown(rows, "scenario") if overruns}


def drawn_again(rows):
    """Flows that stand in for one whose counters did not agree with its label"""
    return sum(r["seed"] >= AGAIN for r in rows)


def most_even(rows):
    """(flows that lost something and overran nothing, the largest evenness of one, as
    ctcpd(8) has it); what was never seen has none"""
    even = [r["evenness"] for r in rows
            if r["label"] != "overrun" and r.get("evenness") is not None]
    return len(even), max(even, default=0.0)


def percent(part):
    """97.9 %"""
    return "none" if part is None else f"{100 * part:.1f} %"
