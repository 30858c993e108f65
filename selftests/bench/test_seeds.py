# SPDX-License-Identifier: GPL-2.0
"""Which seed a plot over time shows."""

import math
import unittest
from pathlib import Path
from unittest import mock

import bench
import panels
import report
import seeds
from small import small

FOUND = [({"label": label, "seed": seed, "axes": [label]}, {"goodput": figure, "lost": seed})
         for label, some in (("a", [198.6, 61.3, 53.2]), ("b", [5.0]))
         for seed, figure in enumerate(some, 1)]


def over_time(**more):
    """A description with such a plot"""
    return {**small(vary=[]), "id": "X", "plot": {"kind": "over_time"}, **more}


class Seeds(unittest.TestCase):
    """Which seed a plot over time shows"""

    def test_nearest_the_median(self):
        self.assertEqual(seeds.typical({1: 198.6, 2: 61.3, 3: 53.2}), 2)
        self.assertEqual(seeds.typical({1: 9, 2: 1, 3: 2, 4: 3, 5: 8}), 4)

    def test_of_two_as_near_the_lower(self):
        self.assertEqual(seeds.typical({1: 7, 2: 3}), 1)
        self.assertEqual(seeds.typical({1: 9, 2: 3, 3: 1, 4: 2}), 2)
        self.assertEqual(seeds.typical({2: 4, 1: 4, 3: 4}), 1)

    def test_what_never_came(self):
        self.assertEqual(seeds.typical({1: math.inf, 2: 3, 3: math.inf}), 1)
        self.assertEqual(seeds.typical({1: math.inf, 2: 3, 3: 4}), 3)

    def test_by_what_the_verdict_quotes_first(self):
        self.assertEqual(seeds.measure_of(over_time()), "goodput")
        quoting = over_time(verdict={"word": "partly", "because": "b", "figures": [
            ["lost", "a"], ["goodput", "a"]]})
        self.assertEqual(seeds.measure_of(quoting), "lost")
        self.assertEqual(seeds.drawn(quoting, FOUND), {"a": 2, "b": 1})
        self.assertEqual(seeds.drawn(over_time(), FOUND[:3][::-1]), {"a": 2})
        self.assertEqual(seeds.drawn(over_time(), FOUND[:3] + [
            ({"label": "a", "seed": 4}, {})]), {"a": 2})

    def test_told_of_runs_with_several(self):
        self.assertEqual(seeds.told(over_time(), FOUND), {"by": "goodput", "seeds": {"a": 2}})
        self.assertIsNone(seeds.told(over_time(), FOUND[3:]))
        self.assertIsNone(seeds.told(over_time(plot={"kind": "bars"}), FOUND))
        self.assertEqual(seeds.drawn(over_time(plot={"kind": "bars"}), FOUND),
                         {"a": 1, "b": 1})
        for kind in "windows", "arrivals":
            self.assertEqual(seeds.drawn(over_time(plot={"kind": kind}), FOUND),
                             {"a": 2, "b": 1})

    def test_the_series_are_that_seed_s(self):
        experiment = {"description": over_time(plot={"kind": "over_time", "resent": True}),
                      "series": {}}
        folders = [({**run, "plan": {"flows": []}}, Path(str(run["seed"])))
                   for run, _ in FOUND]
        with mock.patch.object(bench, "points_of", lambda raw, _: raw.folder.name), \
                mock.patch.object(bench, "resent", lambda raw, _: raw.folder.name):
            bench.keep_series(experiment, folders, {"a": 2, "b": 1})
        self.assertEqual(experiment["series"], {"a": "2", "b": "1"})
        self.assertEqual(experiment["resent"], {"a": "2", "b": "1"})

    def experiment(self, **plot):
        return {"description": over_time(plot={"kind": "over_time", **plot}), "rows": [],
                "axes": {"a": ["a"], "b": ["b"]},
                "series": {"a": {"f": [[0, 1]]}, "b": {"f": [[0, 1]]}},
                "drawn": {"by": "goodput", "seeds": {"a": 2}}}

    def test_its_reader_is_told(self):
        said = 'Of runs with several seeds the one is drawn whose "goodput" is nearest the ' \
            'median: seed 2 of a.'
        one = self.experiment()
        self.assertEqual(seeds.caption(one), said)
        with mock.patch("tables.of", lambda _: []):
            lines = report.markdown(one, "X.svg")
            self.assertEqual(lines[lines.index("![t](X.svg)") + 2], said)
            self.assertNotIn(said, report.markdown(one, None))
        self.assertEqual(panels.plot_of(one).x, "time, s; of several seeds the one whose "
                         '"goodput" is nearest the median')
        one["drawn"]["seeds"] = {"all": 3}
        self.assertTrue(seeds.caption(one).endswith("median: seed 3."))
        one["drawn"]["seeds"] = {"a": 3, "b": 1, "c": 3}
        self.assertTrue(seeds.caption(one).endswith("median: seed 3 of a and c; 1 of b."))

    def test_runs_that_are_not_drawn(self):
        one = self.experiment(runs=["b"])
        self.assertEqual((seeds.caption(one), panels.plot_of(one).x), ("", "time, s"))
        del one["drawn"]
        self.assertEqual(seeds.caption(one), "")
