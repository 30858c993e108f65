# SPDX-License-Identifier: GPL-2.0
"""The two runs of the node beside each other, from results.json alone.

Both runs are asked for the same transfers, one after the other.  What takes less time leaves
room for more of them, so a remote is compared by those that both runs have ended, and the
node by all that was acknowledged in its time.
"""

from dataclasses import dataclass

RUNS = ("without", "act")
WORSE = 0.02            # no remote may have so much less
AS_MUCH = 0.001         # of the node's goodput, which counts as no less


@dataclass
class Remote:
    """One remote in both runs: bit/s while it was sent to, segments sent again"""
    number: int
    slow: bool
    line: float
    transfers: int
    before: float
    after: float
    resent_before: int
    resent_after: int

    def change(self):
        """Of its goodput, as a part"""
        return self.after / self.before - 1


def rate_of(transfers):
    """bit/s, of [bytes, s, segments]"""
    return sum(t[0] for t in transfers) * 8 / sum(t[1] for t in transfers)


def compared(results):
    """[Remote] of those with a transfer that both runs ended"""
    found = []
    for remote in results["remotes"]:
        both = [results["runs"][name]["transfers"].get(str(remote["number"]), [])
                for name in RUNS]
        n = min(map(len, both))
        if not n:
            continue
        before, after = (some[:n] for some in both)
        if [t[0] for t in before] != [t[0] for t in after]:
            raise ValueError(f"remote {remote['number']} was not asked for the same twice")
        found.append(Remote(remote["number"], remote["slow"], remote["line"], n,
                            rate_of(before), rate_of(after),
                            sum(t[2] for t in before), sum(t[2] for t in after)))
    return found


def goodput(results, name):
    """bit/s of the whole node over the whole time"""
    return results["runs"][name]["acked"] * 8 / results["about"]["seconds"]


def resent(results, name):
    """segments, of the whole node"""
    return results["runs"][name]["resent"]


def behind(results):
    """[number]: of the remotes that ended fewer transfers with act, by more than the one that
    was under way at the end"""
    without, act = (results["runs"][name]["transfers"] for name in RUNS)
    return [int(n) for n, some in without.items() if len(act.get(n, [])) < len(some) - 1]


def worst(results):
    """The remote that lost most"""
    return min(compared(results), key=Remote.change)


def slow_rate(results, which):
    """bit/s, the mean over the slow remotes while they were sent to"""
    slow = [r for r in compared(results) if r.slow]
    return sum(getattr(r, which) for r in slow) / len(slow)


def paced(results):
    """{number: bit/s} at the end, kept or tried"""
    return {p["number"]: p["rate"] for p in results["paced"]}


def held(results):
    """[(whether it holds, sentence)]"""
    slow = {r["number"] for r in results["remotes"] if r["slow"]}
    one = worst(results)
    without, act = (goodput(results, name) for name in RUNS)
    again, less = (resent(results, name) for name in RUNS)
    return [
        (act >= without * (1 - AS_MUCH),
         f"the node's goodput with act is no more than {100 * AS_MUCH:g} % less: "
         f"{act / 1e6:.3f} Mbit/s, and {without / 1e6:.3f} without"),
        (less < again / 2,
         f"less than half is sent again: {less} segments with act, {again} without"),
        (one.change() >= -WORSE,
         f"no remote has more than {100 * WORSE:g} % less: the one that changes for the worse "
         f"most, {one.number}, has {100 * one.change():+.2f} %"),
        (not behind(results),
         "no remote ended fewer transfers with act, but for the one under way; fewer have: "
         f"{listed(behind(results))}"),
        (set(paced(results)) == slow and set(results["ever_paced"]) <= slow,
         f"paced at the end are the slow remotes, {listed(slow)}, and no others: "
         f"{listed(paced(results))}; paced at some time were {listed(results['ever_paced'])}")]


def listed(numbers):
    """In a sentence"""
    return ", ".join(map(str, sorted(numbers))) or "none"
