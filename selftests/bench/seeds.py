# SPDX-License-Identifier: GPL-2.0
"""Which of a run's seeds a plot over time shows.

All seeds are measured, and one can be drawn: of the measure that the verdict quotes first, the
one whose figure is nearest the median of them all; of two that are equally near, as with two
seeds, the lower one.
"""

IN_TIME = ("over_time", "windows", "arrivals")     # plots of what one run was at each time


def measure_of(description):
    """By which the seed is chosen"""
    quoted = description.get("verdict", {}).get("figures")
    return quoted[0][0] if quoted else description["measure"][0]["name"]


def typical(figures):
    """The seed nearest the median, @figures: {seed: figure}.  By rank: of an odd number the
    median is one of them, and of an even one it is as far from either in the middle."""
    ranked = sorted(figures.values())
    middle = ranked[(len(ranked) - 1) // 2], ranked[len(ranked) // 2]
    return min(seed for seed, figure in figures.items() if figure in middle)


def drawn(description, found):
    """{label: seed}; @found: [(run, {measure: figure})].  What is not drawn over time keeps
    its first seed."""
    if description.get("plot", {}).get("kind") not in IN_TIME:
        return {run["label"]: 1 for run, _ in found}
    by, figures = measure_of(description), {}
    for run, measured in found:
        if by in measured:      # a search measures some of its runs only
            figures.setdefault(run["label"], {})[run["seed"]] = measured[by]
    return {label: typical(mine) for label, mine in figures.items()}


def told(description, found):
    """{"by": measure, "seeds": {label: seed}} of runs that have several; None: none has"""
    if description.get("plot", {}).get("kind") not in IN_TIME:
        return None
    labels = [run["label"] for run, _ in found]
    several = {label: seed for label, seed in drawn(description, found).items()
               if labels.count(label) > 1}
    return {"by": measure_of(description), "seeds": several} if several else None


def caption(experiment):
    """What stands below its plot; "" where no run that is on it has several seeds"""
    said = experiment.get("drawn") or {"seeds": {}}
    on_it = experiment["description"].get("plot", {}).get("runs", said["seeds"])
    labels = {}
    for label, seed in said["seeds"].items():
        if label in on_it:
            labels.setdefault(seed, []).append(label)
    found = "; ".join(str(seed) + (f' of {" and ".join(mine)}' if mine != ["all"] else "")
                      for seed, mine in labels.items())
    return (f'Of runs with several seeds the one is drawn whose "{said["by"]}" is nearest the '
            f"median: seed {found}.") if found else ""
