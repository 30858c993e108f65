# SPDX-License-Identifier: GPL-2.0
"""What stands in docs/bench and in README is what docs/bench/results.json says."""

import collections
import tomllib
import unittest

import bench
import description
import prose
import report
import results
import seeds
from expand import runs_of
from machine import TOP

CLAIMS = TOP / "selftests" / "bench" / "claims.toml"


def experiments():
    """(about, all that were made, with the words of the tree)"""
    about, done = results.read(bench.DOCS / "results.json")
    now = {d["id"]: d for d in description.load_all()}
    return about, [results.refreshed(e, bench.current(e["description"], now))
                   for e in done]


class Committed(unittest.TestCase):
    """The report that is in the tree"""

    @classmethod
    def setUpClass(cls):
        cls.about, cls.done = experiments()
        cls.by_id = {e["description"]["id"]: e for e in cls.done}

    def test_every_experiment_is_there(self):
        made = {name.removesuffix("." + description.KERNELS[1]) for name in self.by_id}
        self.assertEqual(made, set(description.names_of()))

    def test_report_is_made_from_its_results(self):
        pictures = {name: f"{name}.svg" if (bench.DOCS / f"{name}.svg").exists() else None
                    for name in self.by_id}
        text = "\n".join(report.body(self.about, self.done, pictures)).rstrip() + "\n"
        self.assertEqual((bench.DOCS / "README.md").read_text(encoding="utf-8"), text)

    def test_a_picture_for_each_plot(self):
        for name, e in self.by_id.items():
            with self.subTest(name):
                self.assertEqual((bench.DOCS / f"{name}.svg").exists(),
                                 bool(e["description"].get("plot"))
                                 and not e.get("refused"))

    def test_plots_over_time_show_the_seed_nearest_the_median(self):
        """Of the measure that the verdict quotes first now"""
        for name, e in self.by_id.items():
            asked = e["description"].get("plot", {}).get("kind")
            count = collections.Counter(run["label"] for run in runs_of(e["description"]))
            several = {label for label, n in count.items() if n > 1}
            with self.subTest(name):
                if asked in seeds.IN_TIME and several:
                    self.assertEqual(e["drawn"]["by"], seeds.measure_of(e["description"]))
                    self.assertEqual(set(e["drawn"]["seeds"]), several)
                else:
                    self.assertNotIn("drawn", e)

    def test_all_that_it_asserts_holds(self):
        for name, e in self.by_id.items():
            failed = [text for ok, text in bench.verdicts_of(e) if not ok]
            self.assertEqual(failed, [], name)

    def test_what_is_held_against_a_paper_can_fail(self):
        """So can each figure that a verdict quotes"""
        for name, e in self.by_id.items():
            quoted = e["description"].get("verdict", {}).get("figures", [])
            for row in e["rows"]:
                if row["paper"] is not None or [row["measure"], row["label"]] in quoted:
                    self.assertTrue(row["verdicts"], (name, row["label"], row["measure"]))

    def test_the_reason_of_a_verdict_is_short(self):
        """It stands in the first table, beside the figures"""
        for name, e in self.by_id.items():
            why = e["description"].get("verdict", {}).get("because", "")
            with self.subTest(name):
                self.assertLessEqual(len(prose.filled(why, e["rows"])), 110)

    def test_numbers_in_prose_are_filled_in(self):
        for name, e in self.by_id.items():
            self.assertEqual(prose.strangers(e["description"]), [], name)

    def test_claims_elsewhere(self):
        for claim in tomllib.loads(CLAIMS.read_text(encoding="utf-8"))["claim"]:
            said = prose.filled(claim["text"], self.by_id[claim["id"]]["rows"])
            text = (TOP / claim["file"]).read_text(encoding="utf-8")
            with self.subTest(claim["file"]):
                self.assertIn(" ".join(said.split()), " ".join(text.split()))
