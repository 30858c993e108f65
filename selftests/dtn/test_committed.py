# SPDX-License-Identifier: GPL-2.0
"""The page that is in the tree is that of its results."""

import json
import tempfile
import unittest
from pathlib import Path

import compare
import page
import picture
import scenario
from dtn import DOCS
from matplotlib.figure import Figure


class Committed(unittest.TestCase):
    """docs/dtn"""

    @classmethod
    def setUpClass(cls):
        cls.text = (DOCS / "results.json").read_text(encoding="utf-8")
        cls.results = json.loads(cls.text)

    def test_page_is_made_from_its_results(self):
        self.assertEqual((DOCS / "README.md").read_text(encoding="utf-8"),
                         page.readme(self.results))

    def test_what_the_page_computes(self):
        said = " ".join(page.readme(self.results).split())
        for part in ("To the slow remotes 978 segments are sent again instead of 17087, at 2.47 "
                     "Mbit/s instead of 2.47 on average.",
                     "Its slow hops are 35 to 42 times slower than it",
                     "by a median of +0.00 %; sent again to them are 10104"):
            self.assertIn(part, said)

    def test_results_are_as_they_are_written(self):
        self.assertEqual(page.text_of(self.results), self.text)

    def test_plot(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "dtn.svg"
            picture.draw(self.results, path)
            drawn = path.read_text(encoding="utf-8")
        self.assertIn("segments sent again, so far", drawn)
        self.assertIn("segments sent again, so far",
                      (DOCS / "dtn.svg").read_text(encoding="utf-8"))

    def test_plot_of_each_remote_is_of_what_changes(self):
        pair = Figure().subplots()
        picture.each_remote(pair, self.results)
        drawn = {line.get_label(): line for line in pair.lines}
        for name, slow in ("slow", True), ("others", False):
            some = [r for r in compare.compared(self.results) if r.slow == slow]
            self.assertEqual(list(drawn[name].get_xdata()), [r.before / 1e6 for r in some])
            for y, r in zip(drawn[name].get_ydata(), some, strict=True):
                self.assertAlmostEqual(y, 100 * (r.after - r.before) / r.before)
        self.assertIn("change with act, %", pair.get_ylabel())
        self.assertIn("change with act, %", (DOCS / "dtn.svg").read_text(encoding="utf-8"))

    def test_all_that_is_asked_holds(self):
        self.assertEqual([text for ok, text in compare.held(self.results) if not ok], [])

    def test_of_the_scenario_in_the_tree(self):
        about = self.results["about"]
        self.assertEqual((about["seconds"], about["node"]), (scenario.SECONDS, scenario.NODE))
        drawn = scenario.remotes_of(about["seed"])
        self.assertEqual(self.results["remotes"],
                         [{key: remote[key] for key in self.results["remotes"][0]}
                          for remote in drawn])
        for remote in drawn:
            for name in compare.RUNS:
                made = self.results["runs"][name]["transfers"].get(str(remote["number"]), [])
                asked = scenario.transfers_of(about["seed"], remote)
                self.assertEqual([t[0] for t in made], [next(asked)[1] for _ in made])

    def test_totals_are_those_of_the_transfers(self):
        for run in self.results["runs"].values():
            every = [t for some in run["transfers"].values() for t in some]
            ended = [sum(t[i] for t in every) for i in (0, 2)]
            self.assertLessEqual(ended[0], run["acked"])
            self.assertLess(run["acked"] - ended[0], 0.05 * run["acked"])
            self.assertLessEqual(ended[1], run["resent"])
            self.assertEqual(run["series"][-1][1:], [run["acked"], run["resent"]])
