# SPDX-License-Identifier: GPL-2.0
"""What a reader sees: plots, what is on them and how they are drawn."""

import math
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

from matplotlib.backends.backend_agg import FigureCanvasAgg

import axes
import panels
import plots
from errors import BenchError


def experiment(values, names=("goodput",), **plot):
    """An experiment with a plot, of {label of the first axis: {of the second: value}}"""
    rows = [{"measure": name, "label": f"{first} {second}", "value": value,
             "low": value, "high": value, "paper": None, "unit": "Mbit/s"}
            for first, others in values.items() for second, value in others.items()
            for name in names]
    return {"description": {"title": "A title", "plot": {
                "kind": "against", "measures": list(names), "x": "round trip", **plot}},
            "rows": rows, "series": {},
            "axes": {row["label"]: row["label"].split(" ", 1) for row in rows}}


def in_time(runs, flows, **plot):
    """An experiment with a plot over time, of runs with two axes"""
    series = {run: {flow: [[0, i], [1, i + 1], [2, i]] for i, flow in enumerate(flows)}
              for run in runs}
    return {"description": {"title": "A title", "plot": {"kind": "over_time", **plot}},
            "rows": [], "series": series, "axes": {run: run.split(" ") for run in runs}}


def line(points, **more):
    """A line through [(x, value)]"""
    return panels.Line({"one": ("", "a"), "line": ("a", "")},
                       [(x, y, y, y) for x, y in points], **more)


class Axes(unittest.TestCase):
    """Axes of a plot"""

    def test_numbers_stand_where_they_belong(self):
        places, ticks, unit = axes.ticks_of(["200kB", "10MB", "200kB"])
        self.assertEqual(places, {"200kB": 2e5, "10MB": 1e7})
        self.assertEqual((ticks, unit), ({2e5: "200kB", 1e7: "10MB"}, ""))
        self.assertEqual(list(axes.ticks_of(["1/4", "1e-3"])[1]), [0.25, 0.001])

    def test_words_stand_in_their_order(self):
        for labels in ["on", "off"], ["16ms", "64 KB packets"], ["1.3x", "2x"]:
            places, ticks, unit = axes.ticks_of(labels)
            self.assertEqual(places, {labels[0]: 0, labels[1]: 1})
            self.assertEqual((ticks, unit), ({0: labels[0], 1: labels[1]}, ""))

    def test_a_unit_of_all_is_said_once(self):
        self.assertEqual(axes.ticks_of(["16ms", "320ms"])[1:],
                         ({0.016: "16", 0.32: "320"}, "ms"))
        self.assertEqual(axes.with_unit("round trip", "ms"), "round trip, ms")
        self.assertEqual(axes.with_unit("buffer", "p"), "buffer, frames")
        self.assertEqual(axes.with_unit("rate", "mbit"), "rate, Mbit/s")
        self.assertEqual(axes.with_unit("buffer, frames", "p"), "buffer, frames")
        self.assertEqual((axes.with_unit("window", ""), axes.with_unit("", "%")),
                         ("window", "%"))

    def test_no_tick_at_the_edge(self):
        for values, log in ([10, 1000], True), ([10, 1000], False), ([5], False), \
                ([5], True):
            low, high = axes.x_span(values, log)
            self.assertLess(low, min(values))
            self.assertGreater(high, max(values))
            self.assertTrue(not log or low > 0)

    def test_span_of_values(self):
        low, high = axes.y_span([3, 50], False)
        self.assertEqual(low, 0)
        self.assertTrue(50 < high < 60)
        self.assertLess(axes.y_span([-2, 5], False)[0], -1)
        low, high = axes.y_span([3, 50], True)
        self.assertTrue(0 < low < 3 and 50 < high < 100)
        self.assertEqual(axes.y_span([1, 14899], False, 150), (0, 150))
        self.assertLess(axes.y_span([1, 9], False, 150)[1], 10)
        self.assertEqual(axes.y_span([0], False), (0, 1))

    def test_ticks_of_a_logarithm(self):
        self.assertEqual(axes.decades(0.5, 2000), [1, 10, 100, 1000])
        self.assertEqual(axes.decades(4, 130), [10, 30, 100])
        self.assertEqual(axes.decades(4, 11), [5, 10])

    def test_how_far_up(self):
        self.assertEqual(axes.part_of(5, (0, 10), False), 0.5)
        self.assertAlmostEqual(axes.part_of(10, (1, 100), True), 0.5)
        self.assertEqual([axes.part_of(v, (1, 100), True) for v in (0, 1000)], [0, 1])

    def test_labels_are_spread(self):
        self.assertEqual(axes.spread([50, 10], [20, 20], 100), [50, 10])
        self.assertEqual(axes.spread([50, 50, 50], [20, 20, 20], 100), [50, 70, 90])
        self.assertEqual(axes.spread([99, 98], [20, 20], 100), [90, 70])
        self.assertEqual(axes.spread([0, 1], [10, 30], 100), [5, 25])

    def test_labels_fit(self):
        ticks = {0: "some long words", 1: "b"}
        self.assertEqual(axes.fitted(ticks, (-0.5, 1.5), False, 800), (ticks, False))
        lines, turned = axes.fitted(ticks, (-0.5, 1.5), False, 150)
        self.assertEqual((lines[0], turned), ("some long\nwords", False))
        self.assertEqual(axes.fitted(ticks, (-0.5, 1.5), False, 40), (ticks, True))
        self.assertEqual(axes.room_below(lines, False), 2 * axes.LINE)
        self.assertEqual(axes.room_below(ticks, True), 15 * axes.LETTER)
        self.assertEqual(axes.room_below({}, False), axes.LINE)
        self.assertEqual(axes.fitted({}, (0, 1), False, 100), ({}, False))


class Panels(unittest.TestCase):
    """What a plot shows"""

    def test_names_of_lines(self):
        self.assertEqual(panels.line_name("all", "first", [1, 2]), "first")
        self.assertEqual(panels.line_name("all", "first", [1]), "first")
        self.assertEqual(panels.line_name("H-TCP", "first", [1]), "H-TCP")
        self.assertEqual(panels.line_name("H-TCP", "first", [1, 2]),
                         "H-TCP, first")

    def test_lines_are_measures_and_axes(self):
        rows = [{"measure": m, "label": lab} for lab in ("1 x", "2 x")
                for m in ("a", "b", "c")]
        one = {"rows": rows, "axes": {"1 x": ["1", "x"], "2 x": ["2", "x"]}}
        groups = panels.groups_of(one, panels.names_of({"measure": "a"}))
        self.assertEqual({k: [v[0] for v in vs] for k, vs in groups.items()},
                         {"x": ["1", "2"]})
        two = panels.groups_of(one, panels.names_of({"measures": ["a", "c"]}))
        self.assertEqual(sorted(two), ["a x", "c x"])
        self.assertEqual(list(panels.groups_of(
            {"rows": [{"measure": "a", "label": "all"}], "axes": {"all": []}}, ["a"])),
            [""])

    def test_what_names_begin_with_is_said_once(self):
        plot = panels.plot_of(experiment({"1ms": {"x": 1}}, ("part, a", "part, b")))
        self.assertEqual([x.name for x in plot.panels[0].lines], ["a x", "b x"])
        self.assertEqual(plot.y, "part, Mbit/s")
        self.assertEqual(panels.common_of(["part", "part, b"]), "")

    def test_what_stands_beside_the_axes(self):
        plot = panels.plot_of(experiment({"1ms": {"x": 1}, "5ms": {"x": 2}}))
        self.assertEqual((plot.title, plot.x, plot.y),
                         ("A title", "round trip, ms", "goodput, Mbit/s"))
        self.assertEqual(plot.ticks, {0.001: "1", 0.005: "5"})
        plot = panels.plot_of(in_time(["a b"], ["f"]))
        self.assertEqual((plot.title, plot.x, plot.y),
                         ("A title", "time, s", "goodput, Mbit/s"))
        self.assertEqual(plot.log, "")
        plot = panels.plot_of(in_time(["a b"], ["f"], kind="windows", log="y"))
        self.assertEqual((plot.x, plot.y, plot.log), (
            "time since the flow began, s", "congestion window, segments", "y"))

    def test_one_line_for_a_model(self):
        def models(*models):
            lines = [line([], model=model) for model in models]
            for i, one in enumerate(lines):
                one.look = i
            return [look for look, _ in panels.models_of(lines)]
        same, other = [(1, 6), (2, 7)], [(1, 1), (2, 2)]
        self.assertEqual(models(same, same), [None])
        self.assertEqual(models(same, same, other), [0, 2])
        self.assertEqual(models([]), [])
        self.assertEqual(models(same), [0])
        self.assertEqual(models([], same), [1])

    def test_points_in_order_of_x(self):
        plot = panels.plot_of(experiment({"5ms": {"x": 2}, "1ms": {"x": 3}}))
        self.assertEqual([p[:2] for p in plot.panels[0].lines[0].points],
                         [(0.001, 3), (0.005, 2)])

    def test_seeds_have_a_range(self):
        one = experiment({"1ms": {"x": 5}, "9ms": {"x": 6}})
        one["rows"][0].update(low=4, high=8)
        del one["rows"][1]["low"]
        self.assertEqual([p[1:] for p in panels.plot_of(one).panels[0].lines[0].points],
                         [(5, 4, 8), (6, 6, 6)])

    def test_a_kept_series_is_the_same(self):
        one = in_time(["a 1"], "f")
        one["series"]["a 1"]["f"] = [[0.1 + 0.2, 123.4567]]
        self.assertEqual(panels.plot_of(one).panels[0].lines[0].points[0][:2],
                         (0.3, 123.457))

    def test_never_and_nothing_are_left_out(self):
        self.assertEqual([panels.kept(v, "x") for v in (None, math.inf, 0, -1, 2)],
                         [None, None, 0, -1, 2])
        self.assertEqual([panels.kept(v, "xy") for v in (None, math.inf, 0, -1, 2)],
                         [None, None, None, None, 2])
        plot = panels.plot_of(experiment({"1ms": {"x": math.inf}, "5ms": {"x": 0},
                                          "9ms": {"x": 4}}, log="y"))
        one = plot.panels[0].lines[0]
        self.assertEqual([y for _, y, *_ in one.points], [None, None, 4])
        self.assertEqual(one.nothing, [0.005])
        self.assertEqual(panels.values_of(plot)[1], [4, 4, 4])

    def test_words_have_no_logarithm(self):
        self.assertEqual(panels.plot_of(experiment(
            {"on": {"x": 1}, "off": {"x": 1}}, log="xy")).log, "y")
        self.assertEqual(panels.plot_of(experiment(
            {"1ms": {"x": 1}, "5ms": {"x": 1}}, log="xy")).log, "xy")

    def test_0_is_not_on_a_logarithmic_axis(self):
        values = {"0%": {"x": 9}, "1%": {"x": 8}}
        plot = panels.plot_of(experiment(values, log="x"))
        self.assertEqual(plot.ticks, {0.01: "1"})
        self.assertEqual([p[1] for p in plot.panels[0].lines[0].points], [8])
        self.assertEqual(len(panels.plot_of(experiment(values)).ticks), 2)

    def test_more_than_six_lines_are_panels(self):
        six = {"1ms": {str(n): n for n in range(6)}}
        found = panels.plot_of(experiment(six)).panels
        self.assertEqual([(p.name, len(p.lines), p.behind) for p in found], [("", 6, [])])
        six["1ms"]["6"] = 6
        found = panels.plot_of(experiment(six)).panels
        self.assertEqual([(p.name, len(p.lines), len(p.behind)) for p in found],
                         [(str(n), 1, 6) for n in range(7)])
        found = panels.plot_of(experiment(six, kind="bars")).panels
        self.assertEqual([len(p.behind) for p in found], [0] * 7)

    def test_lines_that_are_alike_are_one(self):
        values = {"1ms": {"a": 100, "b": 105, "c": 50, "d": 106},
                  "2ms": {"a": 200, "b": 195, "c": 50, "d": 200}}
        one = experiment(values)
        self.assertEqual(len(panels.plot_of(one).panels[0].lines), 4)
        one["description"]["plot"]["alike"] = 0.05
        lines = panels.plot_of(one).panels[0].lines
        self.assertEqual([line.name for line in lines], ["a, b", "c", "d"])
        self.assertEqual(lines[0].points, [(0.001, 102.5, 100, 105), (0.002, 197.5, 195, 200)])
        del one["rows"][-1]         # d has one point: it is like nothing
        one["description"]["plot"]["alike"] = 1e9
        self.assertEqual([line.name for line in panels.plot_of(one).panels[0].lines],
                         ["a, b, c", "d"])

    def test_names_with_a_comma_are_joined_by_a_word(self):
        one = experiment({"1ms": {"a": 9, "a, off": 9, "b": 5}}, alike=0.05)
        self.assertEqual([line.name for line in panels.plot_of(one).panels[0].lines],
                         ["a and a, off", "b"])

    def test_what_panels_and_lines_are_called(self):
        one = in_time(["a 1", "b 1"], "fg", panels="run", names={"f": "TCP", "a 1": "first"})
        plot = panels.plot_of(one)
        self.assertEqual([panel.name for panel in plot.panels], ["first", "b 1"])
        self.assertEqual([[x.name for x in panel.lines] for panel in plot.panels],
                         [["TCP", "g"], ["TCP", "g"]])
        one["description"]["plot"]["names"]["h"] = "UDP"
        with self.assertRaisesRegex(BenchError, 'no line is called "h"; there are "a 1", '):
            panels.plot_of(one)

    def test_runs_that_are_the_same_are_one(self):
        one = in_time(["a 1", "b 1", "c 1"], "f")
        one["series"]["b 1"] = {"f": [[0, 0], [1, 1], [2, 0.001]]}
        self.assertEqual(len(panels.plot_of(one).panels[0].lines), 3)
        one["description"]["plot"]["same"] = True
        self.assertEqual([x.name for x in panels.plot_of(one).panels[0].lines],
                         ["a 1 and c 1", "b 1"])

    def test_what_a_line_ends_with(self):
        self.assertEqual(panels.last_of(line([(1, 9), (2, 8.1234), (3, None)])),
                         (2, 8.1234, "8.12"))
        self.assertEqual(panels.last_of(line([(1, 9), (2, 8)], model=[(1, 50), (2, 40)]))[2],
                         "8 of 40")
        self.assertIsNone(panels.last_of(line([(1, None)])))

    def test_models_count_as_lines(self):
        one = experiment({"1ms": {str(n): n for n in range(4)}})
        self.assertEqual(len(panels.plot_of(one).panels), 1)
        for row in one["rows"]:
            row["model"] = row["value"]
        self.assertEqual(len(panels.plot_of(one).panels), 4)

    def test_panels_of_runs_and_flows(self):
        runs = ["a 1", "a 2", "b 1", "b 2"]
        names = {"run": runs, "flow": ["f", "g"], "first": ["a", "b"]}
        for way, wanted in names.items():
            found = panels.plot_of(in_time(runs, "fg", panels=way)).panels
            self.assertEqual([p.name for p in found], wanted)
        self.assertEqual([x.name for x in found[0].lines],
                         ["1, f", "1, g", "2, f", "2, g"])
        for these, flows, wanted in ((runs, "fg", runs), (runs[:3], "fg", [""]),
                                     (["a 1", "b 1"], "fghijkl", list("fghijkl"))):
            found = panels.plot_of(in_time(these, flows)).panels
            self.assertEqual([p.name for p in found], wanted)

    def test_runs_of_a_plot(self):
        some = in_time(["a 1", "b 1", "c 1"], "f")
        some["description"]["plot"]["runs"] = ["a 1", "c 1"]
        self.assertEqual([x.name for x in panels.plot_of(some).panels[0].lines],
                         ["a 1", "c 1"])
        some["description"]["plot"]["runs"] = ["d 1"]
        with self.assertRaisesRegex(BenchError, "no line; are plot.runs"):
            panels.plot_of(some)

    def test_means_over_time(self):
        points = [(0.1, 4), (0.6, 8), (1.1, 1), (1.6, 3), (2.1, 5)]
        self.assertEqual(panels.drawn_of(points, {}), points)
        self.assertEqual(panels.drawn_of(points, {"until": 1.1}), points[:2])
        self.assertEqual(panels.drawn_of(points, {"mean": "1s"}),
                         [(0.5, 6), (1.5, 2), (2.5, 5)])
        more = [(0.3, 0), (0.9, 0)] + points        # the last: one of four
        self.assertEqual(panels.drawn_of(more, {"mean": "1s"}), [(0.5, 3), (1.5, 2)])
        plot = panels.plot_of(in_time(["a b"], "f", mean="2s", until=2))
        self.assertEqual(plot.panels[0].lines[0].points, [(1, 0.5, 0.5, 0.5)])

    def test_a_name_looks_the_same_in_all_panels(self):
        both = in_time(["a 1", "b 1"], "fg", panels="run")
        both["series"]["b 1"].pop("f")
        found = panels.plot_of(both).panels
        self.assertEqual([[(x.name, x.look) for x in p.lines] for p in found],
                         [[("f", 0), ("g", 1)], [("g", 1)]])

    def test_errors(self):
        points = [(1, 5, 4, 7), (2, 5, 5, 5), (3, None, 1, 2), (4, 9, 0, math.inf),
                  (5, 50, 1, 60)]
        self.assertEqual(panels.errors_of(points, (1, 20)), [(1, 5, 4, 7), (4, 9, 1, 20)])

    def test_peaks(self):
        points = [(0, 1), (1, 20), (2, 30), (3, 25), (4, 9), (5, None), (6, 11)]
        self.assertEqual(panels.peaks_of(points, 10, False), [(2, 30), (6, 11)])
        self.assertEqual([x for x, _ in panels.peaks_of(points, 10, True)], [1, 2, 3, 6])
        self.assertEqual(panels.peaks_of(points, None, True), [])
        plot = panels.Plot("", "", "", [], {0: "0"}, clip=10)
        self.assertEqual(panels.above([line([(0, 20)]), line([(0, 14899.2), (1, 5)])],
                                      plot), {0: "20, 14899"})

    def test_time_begins_at_0(self):
        one = in_time(["a 1"], "f")
        one["series"]["a 1"]["f"] = [[5, 1], [9, 1]]
        self.assertLess(panels.spans_of(panels.plot_of(one))[0][0], 0)

    def test_names_at_ends(self):
        one = panels.plot_of(experiment({t: {"x": 1, "y": 3} for t in ("1ms", "9ms")}))
        span = panels.spans_of(one)[0]
        self.assertTrue(panels.labelled(one, span))
        self.assertEqual(panels.legend_of(one, True), [])
        self.assertEqual(panels.legend_of(one, False), [("x", 0), ("y", 1)])
        first = one.panels[0].lines[0]
        self.assertEqual(panels.end_of(first), first.points[1][:2])
        first.points[-1] = (first.points[-1][0], None, 1, 1)
        self.assertEqual(panels.end_of(first), (0.001, 1))
        self.assertFalse(panels.labelled(one, span))
        one.panels[0].lines = one.panels[0].lines[1:]
        self.assertFalse(panels.labelled(one, span))
        self.assertEqual(panels.legend_of(one, False), [])

    def test_legend_has_what_is_drawn(self):
        one = panels.plot_of(experiment({"1ms": {"x": 1}}))
        first = one.panels[0].lines[0]
        first.paper, first.model = [(1, None)], [(1, 5)]
        self.assertEqual(panels.legend_of(one, False), [("model", None)])
        first.paper, one.panels[0].behind = [(1, 5)], [first]
        self.assertEqual([name for name, _ in panels.legend_of(one, False)],
                         ["paper", "model", "the others"])

    def test_legend_has_what_is_above_the_axis(self):
        one = panels.plot_of(in_time(["a b"], ["x"], clip=0.5))
        self.assertEqual(panels.legend_of(one, False), [(panels.WAITED, None)])
        one.clip = 1
        self.assertEqual(panels.legend_of(one, False), [])
        one = panels.plot_of(experiment({"1ms": {"x": 9}, "2ms": {"x": 1}}, clip=2))
        self.assertEqual(panels.legend_of(one, False), [])      # not over time

    def test_grid(self):
        self.assertEqual([panels.grid_of(n, 3) for n in (1, 2, 3, 4, 5, 6, 8)],
                         [(1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (2, 3), (3, 3)])
        self.assertEqual(panels.grid_of(8, 2), (4, 2))

    def test_bars_beside_one_another(self):
        self.assertEqual(panels.offsets_of(1), ([0], 0.8))
        offsets, wide = panels.offsets_of(2)
        self.assertEqual((offsets, wide), ([-0.2, 0.2], 0.4))
        self.assertEqual([panels.brief(v) for v in (0, 7.944, 22449, 166.2)],
                         ["0", "7.94", "22449", "166"])

    def test_numbers_of_bars(self):
        plot = panels.Plot("", "", "", [], {0: "0"}, "y")
        one = line([(0, 50), (1, None), (3, 500)], paper=[(0, 55)], nothing=[2])
        self.assertEqual(panels.numbers_of(one, plot, (1, 100)),
                         [(0, 50, 55, True), (2, 0, 1, False)])
        one.paper = [(0, 49.5), (2, 1.2)]
        self.assertEqual(panels.numbers_of(one, plot, (1, 100)),
                         [(0, 50, 50, True), (2, 0, 1.2, True)])


class Plots(unittest.TestCase):
    """What a reader sees"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "plot.svg"

    def drawn(self, one):
        """([text], the whole) of its plot"""
        self.assertTrue(plots.draw(one, self.path))
        words = self.path.read_text(encoding="utf-8")
        return ["".join(e.itertext()).strip() for e in ElementTree.fromstring(words).iter(
            "{http://www.w3.org/2000/svg}text")], words

    def test_none_is_asked_for(self):
        self.assertFalse(plots.draw({"description": {}}, self.path))
        self.assertFalse(self.path.exists())

    def test_every_kind_is_drawn(self):
        values = {"1ms": {"x": 2.0, "y": 1.0}, "5ms": {"x": 3.0, "y": 0.0}}
        for kind in plots.KINDS:
            one = {**in_time(["1ms x"], "fg"), **experiment(values, kind=kind)}
            one["series"] = in_time(["1ms x"], "fg")["series"]
            one["rows"][0].update(low=1.0, high=9.0, paper=2.5, model=3.0)
            texts, words = self.drawn(one)
            self.assertIn("A title", texts)
            self.assertEqual([t for t in texts if t.endswith((", ms", ", s", "/s"))],
                             {"against": ["round trip, ms", "goodput, Mbit/s"],
                              "bars": ["goodput, Mbit/s"],
                              "over_time": ["time, s", "goodput, Mbit/s"],
                              "windows": ["time since the flow began, s"],
                              "arrivals": ["time, s"]}[kind])
            self.assertGreater(words.count("<path"), 4)
            self.assertEqual(words, self.drawn(one)[1])

    def test_windows_are_drawn_as_goodput_is(self):
        goodput, windows = (self.drawn(in_time(["a 1"], "fg", kind=kind))
                            for kind in ("over_time", "windows"))
        for what in "<path", "<use", "stroke-linecap":
            self.assertEqual(windows[1].count(what), goodput[1].count(what))
        self.assertEqual(len(windows[0]), len(goodput[0]))

    def test_nothing_of_the_time_or_the_tool(self):
        _, words = self.drawn(in_time(["a 1"], "f"))
        self.assertNotIn("<metadata", words)
        self.assertEqual(words.count("<svg"), 1)
        self.assertIn('width="645pt"', words)      # 860 px

    def test_a_tick_at_every_value(self):
        labels = ["10p", "30p", "100p", "300p", "1000p"]
        for log in "x", "xy":
            texts, _ = self.drawn(experiment({p: {"x": 5} for p in labels}, log=log))
            self.assertEqual([t for t in texts if t + "p" in labels],
                             ["10", "30", "100", "300", "1000"] +
                             ["10"] * ("10" in texts[5:]))

    def test_panels_have_one_pair_of_axes(self):
        texts, _ = self.drawn(in_time([f"{n} x" for n in range(4)], "fg"))
        self.assertEqual([t for t in texts if t.endswith(" x")],
                         ["0 x", "1 x", "2 x", "3 x"])
        self.assertEqual([texts.count(t) for t in ("time, s", "goodput, Mbit/s", "f")],
                         [1, 1, 1])

    def test_what_was_sent_again_is_below(self):
        one = in_time(["a 1", "b 1"], "fg", resent=True, panels="run", every="1s")
        before = self.drawn(one)[1].count('id="axes_')
        one["resent"] = {"a 1": {"f": [[0, 3], [1, 0]], "g": []}, "b 1": {"f": [[0, 7]]}}
        plot = panels.plot_of(one)
        self.assertEqual(plot.y, "goodput, Mbit/s; below: segments sent again in 1s")
        self.assertEqual([x.resent for x in plot.panels[0].lines], [[(0, 3), (1, 0)], []])
        self.assertEqual(panels.most_resent(plot, 2), [7])
        self.assertEqual(panels.most_resent(plot, 1), [3, 7])
        words = self.drawn(one)[1]
        self.assertEqual((before, words.count('id="axes_')), (2, 4))
        # f's and g's in a, though g has none; f's and g's in b
        self.assertEqual(words.count('id="LineCollection'), 4)

    def test_what_was_sent_again_has_a_scale_for_each_row(self):
        one = in_time(["a 1", "b 1"], "f", resent=True, panels="run", every="1s", columns=1)
        one["resent"] = {"a 1": {"f": [[0, 3]]}, "b 1": {"f": [[0, 700]]}}
        self.assertEqual([t for t in self.drawn(one)[0] if t in ("2", "500")], ["2", "500"])

    def test_numbers_beside_what_was_sent_again_meet_no_others(self):
        one = in_time(["a 1", "b 1", "c 1", "d 1"], "f", resent=True, panels="run", every="1s",
                      columns=1)
        for most in 10, 6, 300:
            one["resent"] = {"a 1": {"f": [[0, most]]}}
            with plots.settings():
                figure = plots.figure_of("over_time", panels.plot_of(one))
                draw = FigureCanvasAgg(figure).get_renderer()
                figure.draw(draw)
                ends = [[t.get_window_extent(draw) for t in pair.get_yticklabels()
                         if pair.get_ylim()[0] <= t.get_position()[1] <= pair.get_ylim()[1]]
                        for pair in figure.axes[::4]]     # a panel, its strip
            self.assertGreater(min(b.y0 for b in ends[0]) - max(b.y1 for b in ends[1]), 3, most)

    def test_what_lines_end_with_is_written(self):
        one = experiment({"1ms": {"x": 4, "y": 9}, "5ms": {"x": 5, "y": 8}}, panels="line")
        for row in one["rows"]:
            row["model"] = 10
        room = plots.Room(panels.plot_of(one), ((0, 1), (0, 1)), False)
        self.assertNotIn("5 of 10", self.drawn(one)[0])
        one["description"]["plot"]["last"] = True
        self.assertLessEqual({"5 of 10", "8 of 10"}, set(self.drawn(one)[0]))
        wider = plots.Room(panels.plot_of(one), ((0, 1), (0, 1)), False)
        self.assertEqual(2 * (room.wide - wider.wide), 2 * plots.LAST)
        one["description"]["plot"].pop("panels")
        self.assertFalse(panels.labelled(panels.plot_of(one), (0, 0.005)))

    def test_so_many_panels_beside_one_another(self):
        for asked, columns in (None, 3), (2, 2), (1, 1):
            plot = panels.plot_of(in_time(["a 1", "b 1", "c 1"], "fg", panels="run",
                                          **{"columns": asked} if asked else {}))
            room = plots.Room(plot, panels.spans_of(plot), False)
            self.assertEqual(room.columns, columns)

    def test_what_is_above_is_written(self):
        values = {"1ms": {"x": 14899}, "5ms": {"x": 3}}
        for kind in "against", "bars":
            texts, _ = self.drawn(experiment(values, kind=kind, clip=150))
            self.assertIn("14899", texts)
            self.assertIn("150", texts)

    def test_errors_are_drawn(self):
        values = {"1ms": {"x": 4}, "5ms": {"x": 5}}
        before = self.drawn(experiment(values))[1]
        one = experiment(values)
        one["rows"][0].update(low=3)
        self.assertGreater(self.drawn(one)[1].count('id="LineCollection'),
                           before.count('id="LineCollection'))

    def test_models_of_bars_are_drawn(self):
        one = experiment({"1ms": {"x": 4}, "5ms": {"x": 5}}, kind="bars")
        before = self.drawn(one)[1]
        self.assertEqual(before.count('id="LineCollection'), 0)
        one["rows"][0].update(model=4.5)
        self.assertEqual(self.drawn(one)[1].count('id="LineCollection'), 2)

    def test_colours_differ_in_grey(self):
        def lightness(colour):
            parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
            parts = [p / 12.92 if p < 0.04045 else ((p + 0.055) / 1.055) ** 2.4
                     for p in parts]
            return 116 * sum(p * w for p, w in zip(
                parts, (0.2126, 0.7152, 0.0722))) ** (1 / 3) - 16
        light = [lightness(colour) for colour in plots.COLOURS]
        self.assertGreater(min(b - a for a, b in zip(light, light[1:])), 8)
        self.assertLess(light[-1], 85)
        for looks in plots.COLOURS, plots.MARKERS, plots.STYLES:
            self.assertEqual(len(set(looks)), panels.MOST)

    def test_labels_are_turned_last(self):
        plot = panels.plot_of(experiment(
            {f"{n}ms": {str(i): n for i in range(8)} for n in (16, 40, 80, 120, 320)}))
        room = plots.Room(plot, panels.spans_of(plot), False)
        self.assertEqual((room.rows, room.columns, room.turned), (4, 2, False))
        self.assertEqual(plots.columns_of(["a" * 30] * 5), 2)
        self.assertEqual(plots.columns_of([]), 1)
