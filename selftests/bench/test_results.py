# SPDX-License-Identifier: GPL-2.0
"""What is kept of a bench, and how far one is."""

import json
import math
import tempfile
import unittest
from pathlib import Path

import judge
import progress
import report
import results
from errors import BenchError
from expand import runs_of
from small import small


def measured(value):
    """An experiment of one run, as bench.perform() leaves it"""
    one = {**small(vary=[]), "id": "X"}
    rows = judge.rows_of(one, [(run, {"goodput": value}) for run in runs_of(one)])
    return {"description": one, "rows": rows, "again": [], "axes": {"all": []},
            "series": {"all": {"f": [[0.5, 123.45678901]]}}, "seconds": 2.5}


class Results(unittest.TestCase):
    """Results as JSON"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "results.json"

    def test_there_and_back(self):
        about = {"commit": "c", "hashes": ["k"], "kernels": {"6.1": {"rtt": [0.1, 0.2]}}}
        before = [measured(900.0), measured(math.inf)]
        results.write(self.path, about, before)
        after_about, after = results.read(self.path)
        self.assertEqual(after_about, about)
        self.assertEqual([e["rows"][0]["value"] for e in after], [900.0, math.inf])
        self.assertEqual(after[0]["series"]["all"]["f"], [[0.5, 123.457]])
        self.assertEqual(after[0]["seconds"], 2.5)
        for one, other in zip(before, after):
            self.assertEqual(report.markdown(one, None), report.markdown(other, None))

    def test_what_was_sent_again_is_kept(self):
        before = {**measured(1.0), "resent": {"all": {"f": [[0.1 + 0.2, 3]]}}}
        results.write(self.path, {}, [before, measured(1.0)])
        after = results.read(self.path)[1]
        self.assertEqual([e.get("resent") for e in after], [{"all": {"f": [[0.3, 3]]}},
                                                            None])

    def test_words_of_today(self):
        before = {**measured(900.0), "refused": None}
        words = {**before["description"], "result": "new", "measure": [
            {"name": "goodput", "metric": "goodput", "paper": 1, "most": 800}]}
        after = results.refreshed(before, words)
        self.assertEqual(after["description"]["result"], "new")
        self.assertEqual((after["rows"][0]["paper"], after["rows"][0]["value"]),
                         (1, 900.0))
        self.assertFalse(after["rows"][0]["verdicts"][0][0])
        path = {**words["path"], "rtt": "11ms"}
        with self.assertRaisesRegex(BenchError, "X: the description has other runs"):
            results.refreshed(before, {**words, "path": path})
        with self.assertRaisesRegex(BenchError, "X: what was measured is not"):
            results.refreshed(before, {**words, "measure": [
                {"name": "else", "metric": "goodput"}]})
        refused = results.refreshed({**before, "refused": "r", "rows": []}, words)
        self.assertEqual(refused["rows"], [])

    def test_range_of_seeds_stays(self):
        one = {**small(vary=[], seeds=3), "id": "X"}
        rows = judge.rows_of(one, [(run, {"goodput": v}) for run, v in
                                   zip(runs_of(one), (5.0, 9.0, 6.0))])
        self.assertEqual(judge.rows_again(one, runs_of(one), rows), rows)

    def test_json_that_anybody_reads(self):
        text = results.text_of({**measured(math.inf), "why": "Infinity is a word"})
        self.assertIn("Infinity is a word", text)
        rows = json.loads(text, parse_constant=self.fail)["rows"]
        self.assertEqual(rows[0]["value"], "never")

    def test_refused(self):
        with self.assertRaisesRegex(BenchError, "not a number"):
            results.text_of(measured(math.nan))
        with self.assertRaisesRegex(BenchError, "No such file.*make bench writes it"):
            results.read(self.path)
        for text in "", "[]", '{"about": {}}', '{"about": {}, "experiments": [{}]}':
            self.path.write_text(text)
            with self.assertRaisesRegex(BenchError, "not results of the bench"):
                results.read(self.path)


class Progress(unittest.TestCase):
    """How far a bench is"""

    def test_left(self):
        known = {"a": 10, "b": 20, "c": 30}
        self.assertIsNone(progress.seconds_left({}, [], {"b": 1}, 2))
        self.assertAlmostEqual(progress.seconds_left(known, [], {"b": 3}, 2), 30)
        self.assertAlmostEqual(
            progress.seconds_left(known, [("a", 5)], {"b": 1, "c": 4}, 1), 70)
        # one that is new takes as long as they do on average
        self.assertAlmostEqual(progress.seconds_left(known, [], {"new": 2}, 1), 40)
        self.assertAlmostEqual(
            progress.seconds_left(known, [("a", 5), ("b", 15)], {"new": 2}, 1), 20)

    def test_said(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "results.json"
            results.write(path, {}, [
                {**measured(1.0), "description": {**small(), "id": name}, "seconds": 600,
                 "runs": 10} for name in ("a", "b")])
            way = progress.Progress([Path(folder) / "none", Path(folder)])
            self.assertEqual(way.each, {"a": 60, "b": 60})
            self.assertEqual(way.run_takes("a"), 60)
            self.assertEqual(progress.Progress([]).run_takes("a"), 0)
            way.begin(2, 2)
            self.assertEqual(way.said(), "0 of 2")
            way.wants("a", 3)
            way.wants("b", 4)
            self.assertEqual(way.said(), "0 of 2, 7 runs to be made, 4 min left")
            way.run_ended("a", 120)
            self.assertEqual(way.said(), "0 of 2, 6 runs to be made, 6 min left")
            self.assertEqual(way.run_takes("b"), 120)
            way.run_ended("a", None)
            way.experiment_ended("a")
            self.assertEqual(way.said(), "1 of 2, 4 runs to be made, 4 min left")
