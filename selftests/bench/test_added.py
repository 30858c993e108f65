# SPDX-License-Identifier: GPL-2.0
"""Experiments that are added to what docs/bench has."""

import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import bench
import calibration
import report
from errors import BenchError
from small import small

ABOUT = {"hashes": ["uml-6.1-x"], "tools": {words[0]: "1.0" for words in bench.TOOLS}}


def experiment(name, **more):
    """As it is kept"""
    return {"description": {"id": name}, **more}


class Added(unittest.TestCase):
    """An experiment beside those of docs/bench"""

    def same_lab(self, kernel="uml-6.1-x", version="1.0", about=None):
        labs = unittest.mock.Mock()
        labs.on.return_value.kernel_hash.return_value = kernel
        with unittest.mock.patch.object(bench, "version_of", lambda *words: version):
            bench.same_lab(labs, [{**small(), "id": "X"}], about or ABOUT)

    def test_of_the_same_lab_only(self):
        self.same_lab()
        with self.assertRaisesRegex(BenchError, "is of kernel uml-6.1-x, .* uml-6.1-y"):
            self.same_lab(kernel="uml-6.1-y")
        with self.assertRaisesRegex(BenchError, 'is of "1.0", this machine has "2.0"'):
            self.same_lab(version="2.0")

    def test_with_a_tool_that_was_not_there(self):
        older = {**ABOUT, "tools": {**ABOUT["tools"]}}
        del older["tools"]["tcptrace"]
        self.same_lab(about=older)
        with self.assertRaisesRegex(BenchError, 'is of "1.0", this machine has "2.0"'):
            self.same_lab(version="2.0", about=older)
        for tool in ABOUT["tools"]:
            with self.assertRaisesRegex(BenchError, 'is of "0.9", this machine has "1.0"'):
                self.same_lab(about={**ABOUT, "tools": {**ABOUT["tools"], tool: "0.9"}})
        with unittest.mock.patch.object(bench, "version_of", lambda *words: " ".join(words)):
            self.assertEqual(bench.tools_beside(older), {"tcptrace": "tcptrace -v"})
            self.assertEqual(bench.tools_beside(ABOUT), {})

    def test_its_tools_are_recorded(self):
        older = {"hashes": [], "kernels": {}, "tools": {"iperf3": "kept"}}
        wrote = self.added(older)
        self.assertEqual(wrote["tools"], {words[0]: "1.0" for words in bench.TOOLS}
                         | {"iperf3": "kept"})

    def added(self, about):
        """What --add writes of @about"""
        d = {**small(), "id": "X"}
        with unittest.mock.patch.multiple(
                bench, Labs=unittest.mock.DEFAULT, Machines=unittest.mock.DEFAULT,
                Progress=unittest.mock.DEFAULT, same_lab=unittest.mock.DEFAULT,
                OUT=unittest.mock.DEFAULT, chosen=lambda *_: (None, [d]),
                made=lambda *_: ([1, 0, 0], [experiment("X")], {}), keep=lambda e: None,
                kept_now=lambda kept, again: kept, about_of=lambda labs: {"commit": "abc"},
                version_of=lambda *words: "1.0", write_reports=unittest.mock.DEFAULT) as mocks, \
                unittest.mock.patch.object(bench.results, "read", lambda path: (about, [])):
            bench.add(unittest.mock.Mock(ids=["X"]))
        return mocks["write_reports"].call_args[0][0]

    def test_in_its_place_or_last(self):
        kept = [experiment("a", seconds=1), experiment("b", seconds=1)]
        found = bench.joined(kept, [experiment("c"), experiment("a", seconds=2)], "abc")
        self.assertEqual(found, [experiment("a", seconds=2, commit="abc"), kept[1],
                                 experiment("c", commit="abc")])

    def test_with_runs_that_were_not_there(self):
        one = {**small(vary=[]), "id": "X"}
        with unittest.mock.patch.object(bench.descriptions, "load_all",
                                        lambda: [{**one, "seeds": 2}]):
            kept = [{"description": one, "rows": []}]
            self.assertEqual(bench.kept_now(kept, ["X"]), kept)
            with self.assertRaisesRegex(BenchError, "X: the description has other runs"):
                bench.kept_now(kept, ["Y"])

    def test_its_commit_is_told(self):
        self.assertEqual(report.later(experiment("a")), "")
        self.assertEqual(report.later(experiment("a", commit="abc")),
                         " Made from commit abc, on the same kernel.")

    def test_held_to_the_ranges_that_are_given(self):
        labs = unittest.mock.Mock()
        labs.on.return_value.kernel_hash.return_value = "k"
        d = {**small(vary=[]), "id": "X"}
        wide = {"rate, offloads off": [1e6, 1e10], "rtt": [1e-3, 1]}
        self.assertEqual(bench.objections(labs, d, {"k": wide}.get), {"6.1": None})
        why = bench.objections(labs, d, {"k": {**wide, "rtt": [0.5, 1]}}.get)["6.1"]
        self.assertIn("10 ms is outside", why)
        with unittest.mock.patch.object(calibration, "load_all", lambda: {}):
            self.assertIn("not calibrated", bench.objections(labs, d)["6.1"])


class About(unittest.TestCase):
    """What results were made with"""

    def git(self, top, *words):
        subprocess.run(["git", "-C", top, "-c", "user.name=a", "-c", "user.email=a@b",
                        "-c", "commit.gpgsign=false", *words], check=True, capture_output=True)

    def commit(self, top):
        """As results tell it"""
        with unittest.mock.patch.object(bench, "TOP", top), \
                unittest.mock.patch.object(bench, "version_of", lambda *words: "1.0"):
            return bench.about_of(unittest.mock.Mock(made={}))["commit"]

    def test_tree_with_changes(self):
        with tempfile.TemporaryDirectory() as top:
            file = Path(top) / "file"
            file.write_text("1")
            self.git(top, "init", "-q")
            self.git(top, "add", "file")
            self.git(top, "commit", "-q", "-m", "m")
            clean = self.commit(top)
            self.assertRegex(clean, "^[0-9a-f]{7,}$")
            file.write_text("2")
            self.assertEqual(self.commit(top), clean + "-dirty")
