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
            hits, of, _ = scored.totals(self.sets, one)
            least, most = confusion.interval(hits, of)
            between = f"{100 * least:.1f} to {confusion.percent(most)}"
            self.assertRegex(said, f"policy of {one['policy']}")
            self.assertRegex(said, rf"{confusion.percent(hits / of)} \((95 % interval )?{between}")
            self.assertIn(f"{hits} of their {of} overruns", said)
        self.assertIn("Of all 16 sets, each by the policy of its day, 5 reach 95 %.", said)

    def test_what_is_pooled_is_of_the_sets(self):
        self.assertEqual([scored.sets_of(one) for one in self.sets["pooled"]],
                         [[15, 16], [12, 13, 14]])
        self.assertEqual([scored.totals(self.sets, one) for one in self.sets["pooled"]],
                         [(94, 98, 0), (139, 147, 1)])

    def test_a_set_of_another_policy_is_pooled_as_this_one_found_it(self):
        by_number = {one["number"]: one["policy"] for one in self.sets["set"]}
        for one in self.sets["pooled"]:
            others = [n for n in scored.sets_of(one) if by_number[n] != one["policy"]]
            self.assertEqual([again["number"] for again in one["again"]], others)
        said = scored.together(self.sets).splitlines()
        self.assertEqual(said[0], "- policy of 49997fa, over sets 15 to 16 (set 15 was scored by "
                         "an earlier policy first), with none of which it was tuned: recall of "
                         "overruns 95.9 % (94 of 98; 95 % interval 90.0 to 98.4 %); false ones: 0")
        self.assertIn("over sets 12 to 14 (set 12 was", said[1])
        self.assertRegex(said[1], r"94\.6 % \(139 of 147; .*\); false ones: 1$")

    def test_all_sets_are_counted_too(self):
        self.assertEqual(scored.all_sets(self.sets),
                         "- all 16 sets, each by the policy of its day: 5 reach 95.0 %; together "
                         "recall of overruns 93.0 % (729 of 784; 95 % interval 91.0 to 94.6 %); "
                         "false ones: 4")
        sets = {"set": [{"found": 19, "of": 20, "false": 0}, {"found": 18, "of": 20, "false": 2}]}
        self.assertIn("- all 2 sets, each by the policy of its day: 1 reach 95.0 %",
                      scored.all_sets(sets))

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
                     f'policy of commit {one["policy"]}, and are this set\'s first scoring',
                     "95.9 % (94 of 98; 95 % interval 90.0 to 98.4 %)",
                     "94.6 % (139 of 147; 95 % interval 89.6 to 97.2 %)",
                     "95.0 % asked, by the point estimate: the interval reaches below that",
                     "Of the flows 29 % overrun, and precision is that of this mix",
                     "9 flows stand in for one whose counters",
                     "Overruns found, by scenario: policer 5 of 7, all of 6 others.",
                     "no overrun: 0 of 119 (95 % interval 0.0 to 3.1 %)"):
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
