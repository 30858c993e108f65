# SPDX-License-Identifier: GPL-2.0
"""What is said of the scoring sets, in README.md and docs/verdicts, is what scored.toml has."""

import json
import unittest
from pathlib import Path
from unittest import mock

import confusion
import scenarios
import scored
import verdicts
import written

HERE = Path(__file__).parent


def words_of(text):
    """On one line"""
    return " ".join(text.split())


class Scored(unittest.TestCase):
    """Scoring sets"""

    @classmethod
    def setUpClass(cls):
        cls.sets = scored.load()
        cls.readme = (HERE / "README.md").read_text(encoding="utf-8")
        cls.results = json.loads((verdicts.DOCS / "results.json").read_text(encoding="utf-8"))

    def test_table_of_the_readme(self):
        self.assertIn("\n" + scored.table(self.sets) + "\n", self.readme)

    def test_what_the_readme_says_of_several_sets(self):
        said = words_of(self.readme)
        self.assertEqual(len(self.sets["pooled"]), 2)
        for one in self.sets["pooled"]:
            hits, of = scored.totals(one)
            least, most = confusion.interval(hits, of)
            between = f"{100 * least:.1f} to {confusion.percent(most)}"
            self.assertRegex(said, f"policy of {one['policy']}")
            self.assertRegex(said, rf"{confusion.percent(hits / of)} \((95 % interval )?{between}")
            for part in one["parts"]:
                self.assertRegex(said, rf"\b{part['found']}\b")
        self.assertIn("94 of their 98 overruns", said)
        self.assertIn("139 of the 147 of sets 12 to 14, and 94 of sets 15 and 16", said)

    def test_what_is_pooled_is_of_the_sets(self):
        by_number = {one["number"]: one for one in self.sets["set"]}
        self.assertEqual([scored.sets_of(one) for one in self.sets["pooled"]],
                         [[15, 16], [12, 13, 14, 15, 16]])
        for one in self.sets["pooled"]:
            for part in one["parts"]:
                sets = [by_number[n] for n in scored.sets_of({"parts": [part]})]
                self.assertEqual(part["of"], sum(s["of"] for s in sets))
        self.assertEqual([scored.totals(one) for one in self.sets["pooled"]],
                         [(94, 98), (233, 245)])

    def test_the_last_one_is_that_of_the_tree(self):
        one = scored.last(self.sets)
        self.assertEqual(one["word"], scenarios.WORDS[1])
        self.assertEqual(self.sets["pooled"][0]["policy"], one["policy"])
        self.assertEqual(scored.sets_of(self.sets["pooled"][0])[-1], one["number"])

    def test_docs_are_of_it(self):
        one = scored.last(self.sets)
        self.assertEqual(self.results["set"], {key: one[key] for key in written.OF})
        self.assertIsNone(scored.differs(self.sets, self.results["flows"]))
        self.assertEqual(written.results(self.results["flows"], one),
                         (verdicts.DOCS / "results.json").read_text(encoding="utf-8"))
        page = (verdicts.DOCS / "README.md").read_text(encoding="utf-8")
        self.assertEqual(page, written.report(self.results["flows"], self.sets))
        for part in (f'scoring set {one["number"]}, drawn by the word "{one["word"]}"',
                     f'policy of commit {one["policy"]} was done',
                     "95.9 % (94 of 98; 95 % interval 90.0 to 98.4 %)",
                     "95.1 % (233 of 245; 95 % interval 91.6 to 97.2 %)"):
            self.assertIn(part, words_of(page))

    def test_another_policy_s_verdicts_are_not_written(self):
        rows = [dict(row) for row in self.results["flows"]]
        miss = next(r for r in rows if r["label"] == "overrun" and r["verdict"] != "overrun")
        miss["verdict"] = "overrun"
        self.assertIn("48 of 49 overruns found and 0 false, where the policy of 49997fa had 47",
                      scored.differs(self.sets, rows))
        clean = next(r for r in self.results["flows"] if r["label"] == "clean")
        wrong = [r if r is not clean else {**r, "verdict": "overrun"}
                 for r in self.results["flows"]]
        self.assertIn("and 1 false", scored.differs(self.sets, wrong))
        for these, written_ in (self.results["flows"], 1), (wrong, 0):
            with mock.patch("verdicts.rows_of", return_value=these), \
                    mock.patch("verdicts.write") as write, \
                    mock.patch("verdicts.print", create=True), \
                    mock.patch("verdicts.OUT", mock.MagicMock()), \
                    mock.patch("sys.argv", ["verdicts.py", "--score"]):
                verdicts.main()
            self.assertEqual(write.call_count, written_)

    def test_a_policy_of_two_sets_is_named_once(self):
        sets = {"set": [{"number": n, "word": "w", "policy": policy, "found": 1, "of": 2,
                         "false": 0} for n, policy in ((1, "a"), (2, "a"), (3, "b"))]}
        self.assertEqual(scored.table(sets).splitlines()[2:], [
            "| 1 | w | a | 1 of 2 | 0 |", "| 2 | w | the same | 1 of 2 | 0 |",
            "| 3 | w | b | 1 of 2 | 0 |"])
