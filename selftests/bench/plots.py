# SPDX-License-Identifier: GPL-2.0
"""Plots: matplotlib, to SVG.  What is on them is panels.py's to say.

The same results give the same bytes: nothing of the time, of chance or of the user's own
settings is in them.  Text stays text, to be found and read aloud.
"""

import contextlib

import matplotlib
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

import axes
import panels
from judge import shown

PX = 72 / 96            # points, in which matplotlib counts
WIDTH = 860             # px, as are all of these
HEIGHTS = (305, 250, 180, 150)      # of a panel: the only one; in one row, a few, many
MOST_BESIDE = (3, 2)            # panels
BELOW = 0.22            # of a panel's height: segments sent again, if they are drawn
TITLE, NAME, LEFT, RIGHT, BETWEEN, FOOT = 26, 22, 82, 24, 34, 30
LEADER = 36             # from the end of a line to its name
LAST = 60               # for what a line ends with, "868 of 942"
THIN = 1.2              # points: a model's line over a measured one
# Dark to light: they can be told apart in grey, too
COLOURS = ("#111111", "#0a3d91", "#b83227", "#35a06a", "#ef9a20", "#93cdf5")
MARKERS = ("o", "s", "^", "D", "v", "P")
STYLES = ("-", (0, (7, 1.5)), (0, (1.5, 1)), (0, (7, 1.5, 1.5, 1.5)), (0, (3, 1)),
          (0, (5, 1, 1, 1, 1, 1)))
HATCHES = ("", "//", "--", "\\\\", "xx", "||")
GREY = "#777777"
BEHIND = "#cfcfcf"
DASHES = (0, (2, 1))    # a model's, wide: seen under a line that lies on it
SETTINGS = {
    "svg.fonttype": "none", "svg.hashsalt": "tcp_circuit", "font.family": "sans-serif",
    "font.size": 12.5 * PX, "axes.titlesize": 12.5 * PX, "axes.grid": True,
    "axes.grid.axis": "y", "grid.color": "#dddddd", "grid.linewidth": 0.6,
    "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False,
    "lines.linewidth": 1.5, "lines.markersize": 4.5, "hatch.linewidth": 0.5,
    "hatch.color": "white", "legend.frameon": False, "axes.unicode_minus": False}


def draw(experiment, path):
    """The experiment's plot; False when it has none."""
    if not experiment["description"].get("plot"):
        return False
    with settings():
        write(figure_of(experiment["description"]["plot"]["kind"],
                        panels.plot_of(experiment)), path)
    return True


@contextlib.contextmanager
def settings(these=None):
    """What is drawn within looks as all plots here do, or by @these, wherever it is drawn"""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(these or SETTINGS)
        yield


def write(figure, path):
    """To SVG: the same figure gives the same bytes"""
    figure.savefig(path, format="svg",
                   metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))


def licensed(text):
    """An SVG that is kept in the tree"""
    return text.replace("<svg", "<!-- SPDX-License-Identifier: GPL-2.0 -->\n<svg", 1)


def write_licensed(figure, path):
    """To SVG, for the tree"""
    write(figure, path)
    path.write_text(licensed(path.read_text(encoding="utf-8")), encoding="utf-8")


def figure_of(kind, plot):
    """Title, panels, and what explains them below"""
    spans = panels.spans_of(plot)
    if kind == "bars":
        spans = (-0.6, len(plot.ticks) - 0.4), spans[1]
    at_ends = kind in ("over_time", "windows", "against") and panels.labelled(plot, spans[0])
    room = Room(plot, spans, at_ends)
    figure = Figure(figsize=(WIDTH * PX / 72, room.height * PX / 72), facecolor="white")
    figure.text(8 / WIDTH, 1 - 8 / room.height, room.title, weight="bold", va="top")
    for at, (panel, pair) in enumerate(zip(plot.panels, axes_of(figure, plot, room))):
        set_axes(pair, plot, spans, room)
        if len(plot.panels) > 1:
            pair.set_title(panel.name, loc="left")
        KINDS[kind](pair, panel, plot, spans)
        if room.most_resent is not None:
            draw_below(pair, panel, room.most_resent[at // room.columns])
    if at_ends:
        name_ends(figure.axes[0], plot, spans, room)
    explain(figure, room, kind, plot)
    return figure


class Room:
    """How much of the picture each part takes, in px"""

    def __init__(self, plot, spans, at_ends):
        several = len(plot.panels) > 1
        self.names = {line.name: axes.wrapped(line.name, 22)
                      for line in plot.panels[0].lines} if at_ends else {}
        self.right = RIGHT + max((LEADER + axes.width_of(name)
                                  for name in self.names.values()), default=0)
        self.right += LAST * plot.last
        self.apart = BETWEEN + LAST * plot.last
        self.beside(plot, spans)
        self.high = HEIGHTS[several + (self.rows > 1) + (self.rows > 3)]
        self.most_resent = panels.most_resent(plot, self.columns)
        self.title = axes.wrapped(plot.title, 100)
        self.legend = panels.legend_of(plot, at_ends)
        self.in_row = columns_of([name for name, _ in self.legend])
        self.between = NAME + 14 + 8 * (self.most_resent is not None)
        self.top = TITLE - 10 + axes.height_of(self.title) + NAME * several
        self.below = axes.room_below(self.labels, self.turned) + 10
        self.bottom = self.below + FOOT + self.legend_height()
        self.height = (self.top + self.bottom + self.rows * self.high +
                       (self.rows - 1) * self.between)

    def beside(self, plot, spans):
        """So many panels beside one another that labels of the axis are not turned"""
        for most in (plot.columns,) if plot.columns else MOST_BESIDE:
            self.rows, self.columns = panels.grid_of(len(plot.panels), most)
            self.wide = (WIDTH - LEFT - self.right -
                         self.apart * (self.columns - 1)) / self.columns
            self.labels, self.turned = axes.fitted(plot.ticks or {}, spans[0],
                                                   "x" in plot.log, self.wide)
            if not self.turned:
                break

    def legend_height(self):
        """px"""
        if not self.legend:
            return 0
        return -(-len(self.legend) // self.in_row) * (axes.LINE + 5) + 6


def columns_of(names):
    """How many of them stand beside one another in the legend"""
    widest = max((axes.width_of(name) for name in names), default=1) + 60
    return max(1, min(len(names), int((WIDTH - 40) / widest)))


def axes_of(figure, plot, room):
    """matplotlib's axes, one for each panel; only those at the edge have words"""
    grid = figure.add_gridspec(
        room.rows, room.columns, left=LEFT / WIDTH, right=1 - room.right / WIDTH,
        top=1 - room.top / room.height, bottom=room.bottom / room.height,
        wspace=room.apart / room.wide, hspace=room.between / room.high)
    found = []
    for n in range(len(plot.panels)):
        pair = figure.add_subplot(grid[divmod(n, room.columns)])
        pair.tick_params(labelleft=n % room.columns == 0,
                         labelbottom=n + room.columns >= len(plot.panels))
        found.append(pair)
    middle = (LEFT + WIDTH - room.right) / 2 / WIDTH
    figure.text(middle, (room.bottom - room.below - 4) / room.height, plot.x,
                ha="center", va="top")
    figure.text(8 / WIDTH, (room.bottom + room.height - room.top) / 2 / room.height,
                plot.y, rotation=90, va="center")
    return found


def set_axes(pair, plot, spans, room):
    """Logarithms, limits, and a tick at every value there is"""
    for name, axis in (("x", pair.xaxis), ("y", pair.yaxis)):
        if name in plot.log:
            getattr(pair, f"set_{name}scale")("log")
            axis.set_minor_locator(NullLocator())
    pair.set_xlim(spans[0])
    pair.set_ylim(spans[1])
    if "y" in plot.log:
        pair.yaxis.set_major_locator(FixedLocator(axes.decades(*spans[1])))
    else:
        pair.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    pair.yaxis.set_major_formatter(FuncFormatter(lambda y, _: shown(float(f"{y:.10g}"))))
    if plot.ticks:
        pair.set_xticks(list(room.labels), list(room.labels.values()),
                        rotation=90 if room.turned else 0)


def looks_of(look):
    """How a line looks"""
    return {"color": COLOURS[look], "marker": MARKERS[look], "linestyle": STYLES[look]}


def draw_lines(pair, panel, plot, spans):
    """Measured, with the range of the seeds; the model behind, the paper before it"""
    for line in panel.behind:
        pair.plot(*columns(line.points), color=BEHIND, linewidth=1)
    for look, model in panels.models_of(panel.lines):
        pair.plot(*columns(model), **model_of(plot, look))
    for line in panel.lines:
        often = max(1, len(line.points) // 10)
        pair.plot(*columns(line.points), **looks_of(line.look),
                  markevery=(line.look * often // panels.MOST, often))
        draw_errors(pair, panels.errors_of(line.points, spans[1]), COLOURS[line.look])
    draw_peaks(pair, panels.above(panel.lines, plot), spans)
    for x, y, text in filter(None, map(panels.last_of, panel.lines if plot.last else [])):
        pair.annotate(text, (x, y), (9, 0), textcoords="offset points", va="center",
                      annotation_clip=False)
    for line in panel.lines:
        draw_crosses(pair, line.paper, COLOURS[line.look])


def model_of(plot, look):
    """How a model looks: wide, behind the line; or, where the two nowhere are far from one
    another and what they end with is written, thin and before it"""
    if plot.last:
        return {"linestyle": DASHES, "linewidth": THIN, "color": COLOURS[4], "zorder": 2.5}
    return {"linestyle": DASHES, "linewidth": 3.5, "alpha": 0.5,
            "color": GREY if look is None else COLOURS[look]}


def draw_below(pair, panel, most):
    """In a strip of its own along the foot of the panel, on the same times: segments that
    were sent again, as strokes from 0"""
    whole = pair.get_subplotspec()
    place = whole.subgridspec(2, 1, height_ratios=(1 - BELOW, BELOW), hspace=0.14)
    strip = pair.figure.add_subplot(place[1], sharex=pair)
    pair.set_subplotspec(place[0])
    for line in panel.lines:
        there = [(x, n) for x, n in line.resent if n > 0]
        strip.vlines([x for x, _ in there], 0, [n for _, n in there],
                     color=COLOURS[line.look], linewidth=1.2)
    # Room above the highest tick, whose number else meets the 0 of the panel
    strip.set_ylim(0, max(most, 1) * 1.3)
    strip.yaxis.set_major_locator(MaxNLocator(2, steps=[1, 2, 5, 10], integer=True))
    strip.tick_params(labelleft=whole.is_first_col())
    pair.tick_params(labelbottom=False)


def columns(points):
    """[x], [y]; nothing is drawn at None"""
    return [x for x, *_ in points], [float("nan") if y is None else y
                                     for _, y, *_ in points]


def draw_errors(pair, errors, colour):
    """From the lowest to the highest of several seeds"""
    for x, value, low, high in errors:
        pair.errorbar([x], [value], [[value - low], [high - value]], fmt="none",
                      ecolor=colour, elinewidth=1, capsize=3)


def draw_peaks(pair, texts, spans, beside=True):
    """What is above the end of the axis: an arrow there, and how much it is"""
    for x, text in texts.items():
        away = (-7 if axes.part_of(x, spans[0], False) > 0.5 else 7) if beside else 0
        pair.plot([x], [spans[1][1]], marker="^", markersize=7, color=COLOURS[0],
                  clip_on=False)
        pair.annotate(text, (x, spans[1][1]), (away, 3 if beside else -7), va="top",
                      ha="right" if away < 0 else "left" if away else "center",
                      textcoords="offset points",
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})


def draw_crosses(pair, points, colour):
    """The paper's, to be seen on whatever is below"""
    for colour, width in (("white", 3.6), (colour, 1.8)):
        pair.plot(*columns(points), linestyle="none", marker="x", markersize=8,
                  markeredgewidth=width, color=colour, zorder=3, clip_on=False)


def draw_points(pair, panel, plot, spans):
    """A point for each frame."""
    for line in panel.lines:
        pair.plot(*columns(line.points), linestyle="none", marker=MARKERS[line.look],
                  markersize=2.5, color=COLOURS[line.look])


def draw_bars(pair, panel, plot, spans):
    """Clusters of bars, what each is worth written on it"""
    offsets, wide = panels.offsets_of(len(panel.lines))
    floor = spans[1][0] if "y" in plot.log else 0
    for offset, line in zip(offsets, panel.lines):
        points = [(x + offset, *more) for x, *more in line.points]
        there = [(x, y) for x, y, *_ in points if y is not None]
        pair.bar([x for x, _ in there], [y - floor for _, y in there], wide * 0.92,
                 floor, color=COLOURS[line.look], hatch=HATCHES[line.look])
        draw_errors(pair, panels.errors_of(points, spans[1]), GREY)
        draw_peaks(pair, {x + offset: text for x, text in
                          panels.above([line], plot).items()}, spans, beside=False)
        draw_numbers(pair, panels.numbers_of(line, plot, spans[1]), offset)
    for offset, line in zip(offsets, panel.lines):
        draw_levels(pair, [(x + offset, y) for x, y in line.model],
                    wide * 0.92)
        draw_crosses(pair, [(x + offset, y) for x, y in line.paper], "black")


def draw_levels(pair, points, wide):
    """The model's of bars: dashes across each, on white, to be seen on the bar, too"""
    there = [(x, y) for x, y in points if y is not None]
    for colour, style in (("white", "-"), (GREY, DASHES)) if there else ():
        pair.hlines([y for _, y in there], [x - wide / 2 for x, _ in there],
                    [x + wide / 2 for x, _ in there], color=colour, linestyle=style,
                    linewidth=3.5, zorder=2.5)


def draw_numbers(pair, numbers, offset):
    """Above each bar, and above a cross that is there"""
    for x, value, above, crossed in numbers:
        pair.annotate(panels.brief(value), (x + offset, above), (0, 8 if crossed else 2),
                      textcoords="offset points", ha="center", va="bottom",
                      fontsize=10.5 * PX)


def name_ends(pair, plot, spans, room):
    """Each line's name beside its end, one above the other"""
    lines = plot.panels[0].lines
    ends = [panels.end_of(line) for line in lines]
    middles = axes.spread(
        [axes.part_of(y, spans[1], "y" in plot.log) * room.high for _, y in ends],
        [axes.height_of(room.names[line.name]) for line in lines], room.high)
    edge = 1 + LEADER / room.wide
    for line, (x, y), middle in zip(lines, ends, middles):
        look = looks_of(line.look)
        pair.plot([edge - 4 / room.wide], [middle / room.high], marker=look["marker"],
                  color=look["color"], transform=pair.transAxes, clip_on=False)
        pair.annotate(room.names[line.name], (x, min(y, spans[1][1])),
                      (edge + 4 / room.wide, middle / room.high), va="center",
                      textcoords="axes fraction", annotation_clip=False, arrowprops={
                          "arrowstyle": "-", "color": look["color"], "linewidth": 0.8,
                          "shrinkA": 6, "shrinkB": 4, "relpos": (0, 0.5)})


def sample_of(name, look, kind, plot):
    """What stands before a name in the legend"""
    if (name, look) == ("model", None) and plot.last:
        return Line2D([], [], **model_of(plot, None))
    if look is None:
        return Line2D([], [], **{
            "paper": {"linestyle": "none", "marker": "x", "markeredgewidth": 1.8},
            "model": {"linestyle": DASHES, "linewidth": 3.5, "alpha": 0.5},
            "the others": {"color": BEHIND},
            panels.WAITED: {"linestyle": "none", "marker": "^", "markersize": 7,
                            "color": COLOURS[0]}}[name] | (
                {"color": GREY} if name in ("paper", "model") else {}))
    if kind == "bars":
        return Patch(facecolor=COLOURS[look], hatch=HATCHES[look])
    return Line2D([], [], **looks_of(look))


def explain(figure, room, kind, plot):
    """The legend, below all panels"""
    if room.legend:
        figure.legend([sample_of(name, look, kind, plot) for name, look in room.legend],
                      [name for name, _ in room.legend], loc="lower center",
                      ncol=room.in_row, borderaxespad=0.2, handlelength=3)


KINDS = {"over_time": draw_lines, "windows": draw_lines, "against": draw_lines,
         "arrivals": draw_points, "bars": draw_bars}
