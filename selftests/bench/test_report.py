# SPDX-License-Identifier: GPL-2.0
"""What a reader gets: the report and its plots."""

import tempfile
import unittest
from pathlib import Path

import judge
import plots
import report
import tables
from small import small


class Report(unittest.TestCase):
    """What a reader gets"""

    def test_tables_and_escapes(self):
        out = report.to_html(["# a<b", "", "| x | y |", "|---|---|",
                              "| 1 | **2** |", "", "text"])
        self.assertEqual(out, "<h1>a&lt;b</h1>\n<table><tr><th>x</th>"
                         "<th>y</th></tr><tr><td>1</td><td><strong>2"
                         "</strong></td></tr></table>\n<p>text</p>")

    def test_refused_has_no_figure(self):
        lines = report.markdown({"description": {**small(), "id": "X"},
                                 "refused": "too fast", "rows": []}, None)
        self.assertIn("**Not reported: too fast.**", lines)
        self.assertFalse([line for line in lines if line.startswith("|")])

    def test_contents(self):
        rows = [{"verdicts": [(True, ""), (False, "")]}, {"verdicts": [(True, "")]}]
        every = report.in_order([
            {"description": {**small(), "id": "cal", "calibrates": "rtt"},
             "rows": rows, "again": []},
            {"description": {**small(), "id": "X"}, "rows": rows,
             "again": [(True, "")]}])
        self.assertEqual(report.contents(every)[2:],
                         ["| X | t | s | 3 of 4 |", "| cal | t | s | 2 of 3 |", ""])

    def test_range_of_seeds(self):
        self.assertEqual(tables.cell({"value": 3, "low": 2, "high": 4}), "3 (2 to 4)")
        self.assertEqual(tables.cell({"value": 3, "low": 3, "high": 3}), "3")

    def test_what_failed_is_told(self):
        row = {"label": "all", "measure": "goodput", "value": 3, "low": 3, "high": 3,
               "verdicts": [(True, "good"), (False, "bad")]}
        lines = report.markdown({"description": {**small(), "id": "X"},
                                 "rows": [row]}, None)
        self.assertIn("**Outside of its tolerance: bad**", lines)
        self.assertFalse([line for line in lines if "good**" in line])

    def test_opening(self):
        lines = report.opening({"commit": "abc", "hashes": ["uml-6.1-x"],
                                "tools": {"iperf3": "iperf 3.12", "tc": "tc 6.1"},
                                "kernels": {"6.1": {"rtt": [0.001, 0.3], "loss": None}}})
        self.assertIn("from commit abc on kernel uml-6.1-x,", lines[4])
        self.assertIn("real tools (iperf 3.12; tc 6.1) and", lines[4])
        self.assertIn("| rtt | 6.1 | 0.001 | 0.3 |", lines)
        self.assertIn("| loss | 6.1 | nothing | held |", lines)

    def test_numbers(self):
        self.assertEqual([judge.shown(v) for v in
                          (None, 0, 3, 3805.6, 0.00171, float("inf"), 99.54)],
                         ["", "0", "3", "3806", "0.00171", "never", "99.54"])


class Plots(unittest.TestCase):
    """What a reader sees"""

    def test_names_of_lines(self):
        self.assertEqual(plots.line_name("all", "first", [1, 2]), "first")
        self.assertEqual(plots.line_name("all", "first", [1]), "first")
        self.assertEqual(plots.line_name("H-TCP", "first", [1]), "H-TCP")
        self.assertEqual(plots.line_name("H-TCP", "first", [1, 2]),
                         "H-TCP, first")

    def test_lines_are_measures_and_axes(self):
        rows = [{"measure": m, "label": lab} for lab in ("1 x", "2 x")
                for m in ("a", "b", "c")]
        experiment = {"rows": rows, "axes": {"1 x": ["1", "x"], "2 x": ["2", "x"]}}
        one = plots.groups_of(experiment, plots.names_of({"measure": "a"}))
        self.assertEqual({k: [v[0] for v in vs] for k, vs in one.items()},
                         {"x": ["1", "2"]})
        two = plots.groups_of(experiment, plots.names_of({"measures": ["a", "c"]}))
        self.assertEqual(sorted(two), ["a x", "c x"])

    def test_one_line_for_a_model(self):
        same = {"reno": [(1, 5, None, 6), (2, 5, None, 7)],
                "bbr": [(1, 4, None, 6), (2, 4, None, 7)]}
        self.assertEqual(plots.models_of(same), {"reno": "model"})
        more = same | {"off": [(1, 4, None, 1), (2, 4, None, 2)]}
        self.assertEqual(plots.models_of(more),
                         {"reno": "reno model", "off": "off model"})
        self.assertEqual(plots.models_of({"": [(1, 2, 3, None)]}), {})
        self.assertEqual(plots.models_of({"": [(1, 2, 3, 4)]}), {"": "model"})
        self.assertEqual(plots.models_of({"bbr": [(1, 2, None, None)],
                                          "reno": [(1, 2, None, 4)]}),
                         {"reno": "reno model"})

    def test_clusters_of_bars(self):
        groups = {"a": [("x", 1), ("y", 2)], "c": [("x", 3), ("y", 4)]}
        labels, wide, found = plots.clusters_of(groups)
        self.assertEqual((labels, wide), (["x", "y"], 3))
        self.assertEqual(found, {"a": [(0, 1), (3, 2)], "c": [(1, 3), (4, 4)]})
        one = plots.groups_of({"rows": [{"measure": "m", "label": "all"}],
                               "axes": {"all": []}}, ["m"])
        self.assertEqual(plots.clusters_of(one)[0], ["all"])
        _, wide, found = plots.clusters_of({"": [("x", 1), ("y", 2)]})
        self.assertEqual((wide, found), (1, {"": [(0, 1), (1, 2)]}))

    def test_every_kind_is_drawn(self):
        rows = [{"measure": m, "label": lab, "value": 2.0, "paper": 1.0,
                 "unit": "s"} for lab in ("1", "2") for m in ("a", "b")]
        experiment = {"rows": rows, "axes": {"1": ["1"], "2": ["2"]},
                      "series": {"1": {"f": [[0, 1], [1, 2]]}}}
        with tempfile.TemporaryDirectory() as folder:
            for kind in plots.KINDS:
                path = Path(folder) / f"{kind}.svg"
                experiment["description"] = {
                    "plot": {"kind": kind, "measures": ["a", "b"]}}
                self.assertTrue(plots.draw(experiment, path))
                self.assertGreater(path.read_text().count("<path"), 4)
