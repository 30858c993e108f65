# SPDX-License-Identifier: GPL-2.0
"""What a plot shows: its panels, their lines, and what stands beside the axes.

over_time   goodput of every flow, in steps of half a second or `every`: a line for each
            flow, of several seeds that which seeds.py chooses; for a program that
            works in bursts, means over `mean`
windows     congestion windows of every flow, from the samples of ss
against     a measure against the first axis, a line for each label of the others;
            crosses are the paper's, dashes the model's
arrivals    the first frames at the receiver, each at its time
bars        for values that lie on no line: a cluster for each value of the first axis,
            with a bar for each measure and value of the others; crosses are the
            paper's

More than MOST lines cannot be told apart in one panel: then there are several panels, with
the same axes.  Nothing here draws (plots.py does).
"""

import math
import statistics
from dataclasses import dataclass, field, replace

import axes
import results
import seeds
import units
from errors import BenchError
from judge import shown

MOST = 6
# Above the line's rate: when a hole is filled, the data behind it arrive at once
WAITED = "with what had waited behind a lost frame"
WAYS = ("one", "run", "flow", "line")      # into panels, the first that is enough


@dataclass
class Line:
    """What was measured along x, with the paper's and the model's figures.  `where`: for
    each way to make panels, the panel's name and its own there."""
    where: dict
    points: list                            # [(x, value, low, high)]
    paper: list = field(default_factory=list)       # [(x, value)]
    model: list = field(default_factory=list)
    nothing: list = field(default_factory=list)     # [x]: 0, and the axis has none
    resent: list = field(default_factory=list)      # [(x, segments sent again)]
    name: str = ""
    look: int = 0


@dataclass
class Panel:
    """Lines on one pair of axes; behind them, for comparison, those of the others"""
    name: str
    lines: list
    behind: list = field(default_factory=list)


@dataclass
class Plot:
    """All that is drawn.  ticks: {x: what is written there}, None: by the time"""
    title: str
    x: str
    y: str
    panels: list
    ticks: dict = None
    log: str = ""
    clip: float = None
    columns: int = None     # of panels, None: as many as there is room for
    last: bool = False      # what a line ends with is written beside its end


def plot_of(experiment):
    """What the experiment's plot shows."""
    asked = experiment["description"]["plot"]
    plot = KINDS[asked["kind"]](experiment, asked)
    name_as(asked.get("names", {}), plot)
    if not plot.panels:
        raise BenchError(f'plot of "{plot.title}": it has no line; are plot.runs or '
                         "plot.measures named as they are?")
    return plot


def name_as(names, plot):
    """@names: {a panel's or line's name: what is written instead}"""
    named = plot.panels + [line for panel in plot.panels for line in panel.lines]
    for name in set(names) - {one.name for one in named}:
        raise BenchError(f'plot.names: no panel and no line is called "{name}"; there are '
                         + ", ".join(dict.fromkeys(f'"{one.name}"' for one in named)))
    for one in named:
        one.name = names.get(one.name, one.name)


def line_name(label, flow, flows):
    """What tells this line from the others: run, flow, or both"""
    words = [label] * (label != "all") + [flow] * (len(flows) > 1)
    return ", ".join(words) or flow


def _ways_of(label, values, flow, flows):
    """Where a flow of a run is, in each way to make panels of many"""
    several = [flow] * (len(flows) > 1)
    name = line_name(label, flow, flows)
    return {"one": ("", name), "run": (label, flow), "flow": (flow, label),
            "first": (values[0] if values else label,
                      ", ".join(values[1:] + several) or flow),
            "line": (name, "")}


def over_time(experiment, asked):
    """Means over `every`, as data behind a hole are delivered all at once"""
    what = "goodput, Mbit/s"
    if asked.get("resent"):
        what += f"; below: segments sent again in {asked.get('every', '0.5s')}"
    return _in_time(experiment, asked, what)


def windows(experiment, asked):
    """Congestion windows, each by its flow's own time: flows that ran one after another begin
    together"""
    return _in_time(experiment, asked, "congestion window, segments",
                    "time since the flow began, s")


def arrivals(experiment, asked):
    """A point for each frame."""
    return alone(_in_time(experiment, asked, "frames that have arrived"))


def alone(plot):
    """Points and bars are not to be seen behind others"""
    for panel in plot.panels:
        panel.behind = []
    return plot


def _in_time(experiment, asked, what, x="time, s"):
    """The series of each flow in each run, or of those that the plot names; of a run
    and of what was kept of it the same"""
    lines = [Line(_ways_of(" and ".join(labels), experiment["axes"].get(labels[0], []),
                           flow, flows),
                  [(t, value, value, value)
                   for t, value in drawn_of(results.kept(points), asked)],
                  resent=resent_of(experiment, labels[0], flow))
             for labels, flows in runs_of(experiment, asked)
             for flow, points in flows.items()]
    if seeds.caption(experiment):
        x += f'; of several seeds the one whose "{experiment["drawn"]["by"]}" is nearest the median'
    return Plot(experiment["description"]["title"], x, what,
                panels_of(lines, asked.get("panels")), clip=asked.get("clip"),
                columns=asked.get("columns"), log=asked.get("log", ""))


def runs_of(experiment, asked):
    """[([label], {flow: points})] of the runs that the plot names; where it asks for `same`, runs
    that are equal to the last point are one"""
    found = []
    for label, flows in experiment["series"].items():
        if label not in asked.get("runs", [label]):
            continue
        mine = next((labels for labels, other in found if other == flows), None)
        if mine and asked.get("same"):
            mine.append(label)
        else:
            found.append(([label], flows))
    return found


def drawn_of(points, asked):
    """The points before `until`; where the plot asks for means, the mean of each stretch, at
    its middle.  A last stretch of less than half the points is left out."""
    points = [(t, y) for t, y in points if t < asked.get("until", math.inf)]
    if "mean" not in asked:
        return points
    long, stretches = units.time(asked["mean"]), {}
    for t, y in points:
        stretches.setdefault(math.floor(t / long), []).append(y)
    most = max(map(len, stretches.values()), default=0)
    return [((n + 0.5) * long, statistics.fmean(ys)) for n, ys in stretches.items()
            if 2 * len(ys) >= most]


def resent_of(experiment, label, flow):
    """[(x, segments sent again)], where a plot has them"""
    return [(t, n) for t, n in experiment.get("resent", {}).get(label, {}).get(flow, [])]


def most_resent(plot, columns):
    """Largest number of resent segments at one point, for each row of panels: each row has its own
    scale, so that few stay visible when another row has hundreds.  None: it is not drawn"""
    rows = [plot.panels[at:at + columns] for at in range(0, len(plot.panels), columns)]
    numbers = [[n for panel in row for line in panel.lines for _, n in line.resent]
               for row in rows]
    return [max(row, default=0) for row in numbers] if any(numbers) else None


def names_of(asked):
    """The measures that a plot shows: one, or several in one unit."""
    return asked.get("measures") or [asked["measure"]]


def common_of(names):
    """The beginning, up to a comma, that all names share: written once, beside the axis"""
    heads = {name.split(", ")[0] for name in names}
    return heads.pop() if len(heads) == 1 and all(", " in n for n in names) else ""


def groups_of(experiment, names):
    """{measure, if several, and the other axes' values: [(first axis' value, row)]}"""
    groups, common = {}, common_of(names)
    for row in experiment["rows"]:
        if row["measure"] in names:
            first, *rest = experiment["axes"][row["label"]] or [row["label"]]
            which = [row["measure"].removeprefix(common).lstrip(", ")] \
                if len(names) > 1 else []
            groups.setdefault(" ".join(which + rest), []).append((first, row))
    return groups


def kept(value, log):
    """The value, or None if this axis has no place for it, so that it is not drawn"""
    if value is None or math.isinf(value) or "y" in log and value <= 0:
        return None
    return value


def _point_of(x, row, log):
    """(x, value, low, high)"""
    value = row["value"]
    return x, kept(value, log), row.get("low", value), row.get("high", value)


def _line_of(group, rows, places, log):
    """Measured, and the paper's and the model's where there are any"""
    rows = sorted(((places[first], row) for first, row in rows), key=lambda r: r[0])
    more = {key: [(x, kept(row.get(key), log)) for x, row in rows
                  if row.get(key) is not None] for key in ("paper", "model")}
    nothing = [x for x, row in rows if row["value"] == 0 and "y" in log]
    return Line({"one": ("", group), "line": (group, "")},
                [_point_of(x, row, log) for x, row in rows], nothing=nothing, **more)


def against(experiment, asked):
    """One line for each measure and combination of the other axes."""
    groups = groups_of(experiment, names_of(asked))
    places, ticks, unit = axes.ticks_of(f for rows in groups.values() for f, _ in rows)
    return _by_axis(experiment, asked, groups, (places, ticks, unit))


def bars(experiment, asked):
    """Clusters of bars."""
    groups = groups_of(experiment, names_of(asked))
    labels = list(dict.fromkeys(f for rows in groups.values() for f, _ in rows))
    places = {label: i for i, label in enumerate(labels)}
    return alone(_by_axis(experiment, asked, groups,
                          (places, dict(enumerate(labels)), "")))


def _by_axis(experiment, asked, groups, scale):
    """Measures, by the first axis"""
    places, ticks, unit = scale
    log = asked.get("log", "")
    if list(places.values()) == list(range(len(places))):
        log = log.replace("x", "")      # words, which have no logarithm
    if "x" in log:
        groups = {group: [(first, row) for first, row in rows if places[first] > 0]
                  for group, rows in groups.items()}
        ticks = {x: text for x, text in ticks.items() if x > 0}
    lines = alike_of([_line_of(group, rows, places, log) for group, rows in groups.items()],
                     asked.get("alike", -1))
    names = names_of(asked)
    what = asked.get("y", common_of(names) if len(names) > 1 else names[0])
    measured = next((r["unit"] for r in experiment["rows"] if r["measure"] in names), "")
    return Plot(experiment["description"]["title"],
                axes.with_unit(asked.get("x", ""), unit), axes.with_unit(what, measured),
                panels_of(lines, asked.get("panels")), ticks, log, asked.get("clip"),
                last=asked.get("last", False))


def _differ(one, other):
    """The most by which two lines differ, of the larger; infinite: not on the same points"""
    if [x for x, *_ in one.points] != [x for x, *_ in other.points]:
        return math.inf
    pairs = [(a, b) for (_, a, *_), (_, b, *_) in zip(one.points, other.points)]
    if any(value is None for pair in pairs for value in pair):
        return math.inf
    return max((abs(a - b) / (max(a, b) or 1) for a, b in pairs), default=math.inf)


def _merged(lines):
    """Their medians, from the lowest to the highest of all"""
    names = [line.where["one"][1] for line in lines]
    name = (" and " if any("," in name for name in names) else ", ").join(names)
    points = [(column[0][0], statistics.median(value for _, value, *_ in column),
               min(low for *_, low, _ in column), max(high for *_, high in column))
              for column in zip(*(line.points for line in lines))]
    return replace(lines[0], where={"one": ("", name), "line": (name, "")}, points=points)


def alike_of(lines, within):
    """Lines that differ by no more than that, as a part, are one"""
    groups = []
    for line in lines:
        mine = next((g for g in groups if all(_differ(x, line) <= within for x in g)), None)
        if mine:
            mine.append(line)
        else:
            groups.append([line])
    return [_merged(group) if len(group) > 1 else group[0] for group in groups]


def models_of(lines):
    """[(line's look, model)]: one for each model, however many lines it is for, and
    no line's look where it is everybody's"""
    looks = {}
    for line in lines:
        if line.model:
            looks.setdefault(tuple(line.model), []).append(line.look)
    return [(None if len(mine) == len(lines) > 1 else mine[0], list(model))
            for model, mine in looks.items()]


def _split(lines, way):
    """{panel's name: [line]}"""
    found = {}
    for line in lines:
        found.setdefault(line.where[way][0], []).append(line)
    return found


def way_of(lines, asked):
    """How panels are made: as asked, if these have few enough lines"""
    for way in [asked] * bool(asked) + list(WAYS):
        if all(way in line.where for line in lines) and (way == "line" or all(
                len(mine) + len(models_of(mine)) <= MOST
                for mine in _split(lines, way).values())):
            break
    return way


def panels_of(lines, asked=None):
    """[Panel]; a line of one name looks the same in all of them"""
    way = way_of(lines, asked)
    names = list(dict.fromkeys(line.where[way][1] for line in lines))
    for line in lines:
        line.name = line.where[way][1]
        line.look = names.index(line.name) % MOST
    return [Panel(name, mine,
                  [x for x in lines if x is not mine[0]] if way == "line" else [])
            for name, mine in _split(lines, way).items()]


def values_of(plot):
    """([x], [y]) of all that is drawn"""
    xs, ys = list(plot.ticks or [0]), []
    for line in (line for panel in plot.panels for line in panel.lines):
        xs += [x for x, *_ in line.points]
        ys += [y for _, *three in line.points for y in three]
        ys += [y for _, y in line.paper + line.model]
    return xs, [y for y in ys if kept(y, plot.log) is not None]


def spans_of(plot):
    """((first, last) of x, the same of y)"""
    xs, ys = values_of(plot)
    return (axes.x_span(xs, "x" in plot.log),
            axes.y_span(ys, "y" in plot.log, plot.clip))


def errors_of(points, span):
    """[(x, value, low, high)] where seeds differ; what is beyond the axis ends there"""
    return [(x, value, max(low, span[0]), min(high, span[1]))
            for x, value, low, high in points
            if value is not None and low != high and value <= span[1]]


def peaks_of(points, clip, each):
    """[(x, value)] above where the axis ends: each, or of those in a row the highest"""
    found, last = [], None
    for x, value, *_ in points:
        above = clip is not None and value is not None and value > clip
        if above and (last is None or each):
            found.append((x, value))
        elif above and value > found[-1][1]:
            found[-1] = (x, value)
        last = value if above else None
    return found


def above(lines, plot):
    """{x: what is written there, of what is above the end of the axis}"""
    found = {}
    for line in lines:
        for x, value in peaks_of(line.points, plot.clip, plot.ticks):
            found.setdefault(x, []).append(shown(value))
    return {x: ", ".join(texts) for x, texts in found.items()}


def end_of(line):
    """Its last point that is drawn; None: there is none"""
    return next(((x, y) for x, y, *_ in reversed(line.points) if y is not None), None)


def last_of(line):
    """(x, y, what is written there): its last value, and the model's there; None: it has none"""
    if not (end := end_of(line)):
        return None
    model = dict(line.model).get(end[0])
    return *end, brief(end[1]) + (f" of {brief(model)}" if model is not None else "")


def labelled(plot, span):
    """Whether names stand at the ends of lines: all of them end at the right"""
    if plot.last or len(plot.panels) != 1 or len(plot.panels[0].lines) < 2:
        return False
    ends = [end_of(line) for line in plot.panels[0].lines]
    return all(end and axes.part_of(end[0], span, "x" in plot.log) > 0.85 for end in ends)


def legend_of(plot, at_ends):
    """[(name, look)] to explain below; look None: a word of its own, "paper", "model",
    "the others" or WAITED"""
    lines = [line for panel in plot.panels for line in panel.lines]
    names = dict((line.name, line.look) for line in lines if line.name)
    found = [] if at_ends or len(lines) == 1 or len(names) < 2 else list(names.items())
    found += [(word, None) for word in ("paper", "model")
              if any(y is not None for line in lines for _, y in getattr(line, word))]
    found += [("the others", None)] * any(panel.behind for panel in plot.panels)
    return found + [(WAITED, None)] * (plot.ticks is None and bool(above(lines, plot)))


def grid_of(n, most):
    """(rows, columns) of so many panels"""
    columns = 2 if n == 4 else min(n, most)
    return math.ceil(n / columns), columns


def offsets_of(n):
    """Where in its cluster each of @n bars is, and how wide"""
    wide = 0.8 / n
    return [(i - (n - 1) / 2) * wide for i in range(n)], wide


def numbers_of(line, plot, span):
    """[(x, value, above what it is written, whether a cross of the paper's is there)];
    what is beyond the axis has an arrow instead"""
    points = line.points + [(x, 0, 0, span[0]) for x in line.nothing]
    paper, found = dict(line.paper), []
    for x, value, _, high in points:
        if value is not None and value <= span[1]:
            top, cross = min(high, span[1]), paper.get(x)
            up = [axes.part_of(y, span, "y" in plot.log) for y in (top, cross or 0)]
            crossed = cross is not None and -0.02 < up[1] - up[0] < 0.06
            found.append((x, value, max(top, cross) if crossed else top, crossed))
    return found


def brief(value):
    """A number beside its bar: three digits that matter"""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


KINDS = {"over_time": over_time, "windows": windows, "against": against, "arrivals": arrivals,
         "bars": bars}
