# SPDX-License-Identifier: GPL-2.0
"""What a reader gets: the report."""

import unittest

import judge
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
