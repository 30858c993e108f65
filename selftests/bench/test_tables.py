# SPDX-License-Identifier: GPL-2.0
"""Tables: a line for each run, or pivoted."""

import unittest

import judge
import tables
from expand import runs_of
from small import small

RTTS = ["1ms", "2ms", "3ms", "4ms", "5ms", "6ms"]
NAMES = ["reno", "cubic", "bbr"]


def many(value=lambda run: run["plan"]["rtt"] * 1e3, **measure):
    """An experiment of 18 runs on two axes"""
    one = small(vary=[{"path.rtt": RTTS}, {"flow.f.cc": NAMES}],
                measure=[{"name": "goodput", "metric": "goodput", "unit": "Mbit/s",
                          **measure}])
    runs = runs_of(one)
    return {"description": one, "axes": {run["label"]: run["axes"] for run in runs},
            "rows": judge.rows_of(one, [(run, {"goodput": value(run)}) for run in runs])}


class Tables(unittest.TestCase):
    """Tables of figures"""

    def test_pivoted(self):
        head, *lines = tables.of(many())[0]
        self.assertEqual(head, ["goodput, Mbit/s", *NAMES])
        self.assertEqual([line[0] for line in lines], RTTS)
        self.assertEqual(lines[2], ["3ms", "3", "3", "3"])

    def test_model_of_a_line(self):
        head, *lines = tables.of(many(model="rtt * 2e3"))[0]
        self.assertEqual(head[-1], "model")
        self.assertEqual(lines[2], ["3ms", "3", "3", "3", "6"])

    def test_value_that_is_missing(self):
        one = many()
        one["rows"] = [row for row in one["rows"] if row["label"] != "3ms cubic"]
        self.assertEqual(tables.of(one)[0][3], ["3ms", "3", "", "3"])

    def test_left_as_it_is(self):
        for one in (many(paper={"3ms": 4}), many(model={"cubic": 7})):
            self.assertEqual(len(tables.of(one)[0]), 19)
        few = many()
        few["rows"] = few["rows"][:16]
        self.assertEqual(len(tables.of(few)[0]), 17)
        two = self.with_lost(paper=3)
        self.assertEqual([len(table) for table in tables.of(two)], [19])

    def wide(self, measures, model, labels=2):
        """So many measures of so many runs, @model(n) of the nth"""
        one = small(vary=[{"path.rtt": [f"{n + 1}ms" for n in range(labels)]}],
                    measure=[{"name": f"m{n}", "metric": "goodput", "model": model(n)}
                             for n in range(measures)])
        runs = runs_of(one)
        return {"description": one, "axes": {run["label"]: run["axes"] for run in runs},
                "rows": judge.rows_of(one, [(run, {f"m{n}": n for n in range(measures)})
                                            for run in runs])}

    def test_wide(self):
        [table] = tables.of(self.wide(6, lambda n: "rtt * 1e3"))
        self.assertEqual(table[0], ["", "1ms", "2ms"])
        self.assertEqual(table[2], ["m1: here", "1", "1"])
        self.assertEqual(table[-1], ["model", "1", "2"])
        self.assertEqual(len(table), 8)

    def test_wide_with_models(self):
        [table] = tables.of(self.wide(6, lambda n: f"{n}"))
        self.assertEqual(table[4], ["m1: model", "1", "1"])
        self.assertEqual(len(table), 13)

    def test_not_wide(self):
        [table] = tables.of(self.wide(5, lambda n: "7"))
        self.assertEqual(len(table), 3)
        [table] = tables.of(self.wide(6, lambda n: "7", labels=13))
        self.assertEqual(len(table), 14)

    def test_a_paper_s_figure_that_is_computed(self):
        """A formula is, a number is not; none is nothing"""
        table = tables.of(many(paper={"1ms reno": "100 * 9.4 / 10", "1ms cubic": 94}))[0]
        self.assertEqual([line[1] for line in table[1:4]], [r"94\*", "94", ""])

    def with_lost(self, **more):
        """A second measure of the same runs"""
        two = many()
        two["description"]["measure"].append({"name": "lost", "metric": "path_drops"})
        two["rows"] = two["rows"] + [{**row, "measure": "lost", "value": 7, **more}
                                     for row in two["rows"]]
        return two

    def test_one_for_each_measure(self):
        goodput, lost = tables.of(self.with_lost(low=7, high=7))
        self.assertEqual(goodput[0], ["goodput, Mbit/s", *NAMES])
        self.assertEqual(goodput[1], ["1ms", "1", "1", "1"])
        self.assertEqual(lost[0], ["lost", *NAMES])
        self.assertEqual(lost[1], ["1ms", "7", "7", "7"])
