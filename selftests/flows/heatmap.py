# SPDX-License-Identifier: GPL-2.0
"""The confusion matrix as a plot: greys, and each cell's number in it.

The same matrix gives the same bytes, as with the bench's plots.
"""

import sys
from pathlib import Path

from matplotlib.figure import Figure

from confusion import VERDICTS

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))
from plots import settings, write_licensed      # noqa: E402 - of the bench

SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "ctcpd", "font.family": "sans-serif",
            "font.size": 9}
DARK = 0.5              # of a label's flows: numbers are white from there on


def shares(matrix):
    """[[share of the label's flows]]: a label with few flows is as dark as one with many"""
    return [[matrix[label][v] / max(1, sum(matrix[label].values())) for v in VERDICTS]
            for label in VERDICTS]


def _draw(figure, matrix):
    plot = figure.add_axes((0.22, 0.04, 0.75, 0.72))
    dark = shares(matrix)
    plot.imshow(dark, cmap="Greys", vmin=0, vmax=1, aspect="auto")
    for i, label in enumerate(VERDICTS):
        for j, verdict in enumerate(VERDICTS):
            if matrix[label][verdict]:
                plot.text(j, i, str(matrix[label][verdict]), ha="center", va="center",
                          color="white" if dark[i][j] > DARK else "black")
    places = range(len(VERDICTS))
    plot.set_xticks(places, VERDICTS, rotation=40, ha="left", rotation_mode="anchor")
    plot.set_yticks(places, VERDICTS)
    plot.xaxis.set_ticks_position("top")
    plot.set_ylabel("label")
    plot.set_title("verdict", fontsize=9)
    plot.tick_params(length=0)


def draw(matrix, path):
    """To SVG"""
    with settings(SETTINGS):
        figure = Figure(figsize=(7.2, 5.4))
        _draw(figure, matrix)
        write_licensed(figure, path)
