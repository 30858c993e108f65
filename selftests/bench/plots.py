# SPDX-License-Identifier: GPL-2.0
"""Plots: gnuplot, to SVG.

over_time   goodput of every flow, half a second each or `every`: a line for each
against     a measure against the first axis, a line for each label of the others;
            crosses are the paper's, dashes the model's
arrivals    the first frames at the receiver, each at its time
bars        for what lies on no line: a cluster for each value of the first axis, a
            bar in it for each measure and value of the others; crosses are the
            paper's
"""

import re
import subprocess
import tempfile
from pathlib import Path

from errors import BenchError

HEAD = """set terminal svg size 860,420 font "sans-serif,13" background "white"
set encoding utf8
set grid ytics lc rgb "#dddddd"
set border 3
set tics nomirror
set key outside right top
set datafile missing "-"
"""
COLOURS = ("#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf",
           "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22")
UNITS = {"bit": 1, "kbit": 1e-3, "mbit": 1, "gbit": 1e3, "us": 1e-3, "ms": 1,
         "s": 1e3, "p": 1, "kB": 1, "MB": 1e3, "B": 1e-3, "KiB": 1.024,
         "MiB": 1048.576, "bdp": 1, "%": 1, "": 1}


def draw(experiment, path):
    """The experiment's plot; False when it has none."""
    plot = experiment["description"].get("plot")
    if not plot:
        return False
    with tempfile.TemporaryDirectory() as folder:
        script = KINDS[plot["kind"]](experiment, plot, Path(folder))
        script = f'{HEAD}set output "{path}"\n{script}'
        done = subprocess.run(["gnuplot"], input=script, capture_output=True,
                              text=True, check=False)
    if done.returncode:
        raise BenchError(f"gnuplot: {done.stderr.strip()}")
    return True


def _title(text):
    return text.replace('"', "'").replace("_", " ")


def _line(path, columns, title, i, style="lines lw 2"):
    return (f'"{path}" using {columns} with {style} lc rgb '
            f'"{COLOURS[i % len(COLOURS)]}" title "{_title(title)}"')


def line_name(label, flow, flows):
    """What tells this line from the others: run, flow, or both"""
    words = [label] * (label != "all") + [flow] * (len(flows) > 1)
    return ", ".join(words) or flow


def over_time(experiment, plot, folder):
    """Means over `every`: what stood behind a hole comes all at once."""
    return _in_time(experiment, plot, folder, "goodput, Mbit/s", "lines lw 2")


def arrivals(experiment, plot, folder):
    """A point for each frame."""
    return _in_time(experiment, plot, folder, "frames that have arrived",
                    "points pt 7 ps 0.5")


def _in_time(experiment, plot, folder, what, style):
    """The series of each flow in each run, or of those that the plot names"""
    lines = []
    for label, flows in experiment["series"].items():
        if plot.get("runs") and label not in plot["runs"]:
            continue
        for flow, points in flows.items():
            path = folder / str(len(lines))
            path.write_text("\n".join(f"{t} {r}" for t, r in points))
            lines.append(_line(path, "1:2", line_name(label, flow, flows),
                               len(lines), style))
    return (f'set xlabel "seconds"\nset ylabel "{what}"\n'
            "set yrange [0:*]\nplot " + ", \\\n".join(lines) + "\n")


def _x(text):
    """The number in a label, for an axis; its units differ within an axis."""
    match = re.match(r"([0-9.eE+-]+)/?([0-9.]*)([A-Za-z%]*)", text)
    if not match:
        return None
    value = float(match[1]) * UNITS.get(match[3], 1)
    return value / float(match[2]) if match[2] else value


def names_of(plot):
    """The measures that a plot shows: one, or several in one unit."""
    return plot.get("measures") or [plot["measure"]]


def groups_of(experiment, names):
    """{measure, if several, and the other axes' values: [(first axis' value, row)]}"""
    groups = {}
    for row in experiment["rows"]:
        if row["measure"] in names:
            first, *rest = experiment["axes"][row["label"]] or [row["label"]]
            which = [row["measure"]] if len(names) > 1 else []
            groups.setdefault(" ".join(which + rest), []).append((first, row))
    return groups


def _write_points(path, points):
    """x, measured, paper, model; a dash is what gnuplot leaves out"""
    path.write_text("\n".join(
        " ".join("-" if v in (None, float("inf")) else f"{v:g}"
                 for v in point) for point in sorted(points, key=lambda p: p[0])))


def _points_of(groups):
    """({group: [(x, measured, paper, model)]}, {x: its label})"""
    numeric = all(_x(first) is not None
                  for rows in groups.values() for first, _ in rows)
    found, tics = {}, {}
    for group, rows in groups.items():
        found[group] = []
        for n, (first, row) in enumerate(rows):
            x = _x(first) if numeric else n
            tics[x] = first
            found[group].append((x, row["value"], row["paper"], row.get("model")))
    return found, tics


def models_of(found):
    """{group: its model's name}: one for each model, however many groups it is
    for, and no group's name where it is everybody's"""
    groups = {}
    for group, points in found.items():
        if any(model is not None for *_, model in points):
            key = tuple((x, model) for x, *_, model in points)
            groups.setdefault(key, []).append(group)
    return {mine[0]: "model" if len(mine) == len(found) > 1
            else f"{mine[0]} model".strip() for mine in groups.values()}


def _lines_of(path, points, group, model, i):
    """Measured, and the paper's and the model's where there are any"""
    lines = [_line(path, "1:2", group or "measured", i, "linespoints pt 7 lw 2")]
    if any(paper is not None for _, _, paper, _ in points):
        lines.append(_line(path, "1:3", f"{group} paper".strip(), i,
                           "points pt 2 ps 1.3 lw 2"))
    if model:
        lines.append(_line(path, "1:4", model, i, "lines dt 2"))
    return lines


def against(experiment, plot, folder):
    """One line for each measure and combination of the other axes."""
    found, tics = _points_of(groups_of(experiment, names_of(plot)))
    models = models_of(found)
    lines = []
    for i, (group, points) in enumerate(found.items()):
        _write_points(folder / str(i), points)
        lines += _lines_of(folder / str(i), points, group, models.get(group), i)
    return _axes(experiment, plot, tics) + "\nplot " + \
        ", \\\n".join(lines) + "\n"


def _axes(experiment, plot, tics):
    """Labels, ticks at the values there are, logarithms"""
    name, *more = names_of(plot)
    unit = next(r["unit"] for r in experiment["rows"] if r["measure"] == name)
    shown = ", ".join(filter(None, [plot.get("y", "" if more else name), unit]))
    words = [f'set ylabel "{_title(shown)}"',
             f'set xlabel "{_title(plot.get("x", ""))}"',
             "set xtics (" + ", ".join(f'"{t}" {x:g}' for x, t in
                                       tics.items()) + ")"]
    words += [f"set logscale {axis}" for axis in plot.get("log", "")]
    if "y" not in plot.get("log", ""):
        words.append("set yrange [0:*]")
    return "\n".join(words)


def clusters_of(groups):
    """([first axis' value], width of a cluster: its bars and a gap,
    {group: [(where on x, row)]})"""
    labels = list(dict.fromkeys(first for rows in groups.values()
                                for first, _ in rows))
    wide = len(groups) + (len(groups) > 1)
    return labels, wide, {
        name: [(labels.index(first) * wide + i, row) for first, row in rows]
        for i, (name, rows) in enumerate(groups.items())}


def bars(experiment, plot, folder):
    """Clusters of bars."""
    labels, wide, found = clusters_of(groups_of(experiment, names_of(plot)))
    tics = {n * wide + (len(found) - 1) / 2: name for n, name in enumerate(labels)}
    lines, crosses = [], []
    for i, (bar, points) in enumerate(found.items()):
        path = folder / str(i)
        _write_points(path, [(x, r["value"], r["paper"], None)
                             for x, r in points])
        lines.append(_line(path, "1:2", bar or names_of(plot)[0], i, "boxes"))
        if any(r["paper"] is not None for _, r in points):
            crosses.append(f'"{path}" using 1:3 with points pt 2 ps 1.3 lw 2 '
                           f'lc rgb "black" title "{"" if crosses else "paper"}"')
    return (_axes(experiment, plot, tics) + "\nset boxwidth 0.8\n"
            "set style fill solid 0.6\n"
            f"set xrange [-1:{(len(labels) - 1) * wide + len(found)}]\n"
            "set xtics rotate by -20\nplot " +
            ", \\\n".join(lines + crosses) + "\n")


KINDS = {"over_time": over_time, "against": against, "arrivals": arrivals,
         "bars": bars}
