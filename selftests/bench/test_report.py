# SPDX-License-Identifier: GPL-2.0
"""What a reader gets: the report."""

import tempfile
import unittest
import unittest.mock
from pathlib import Path

import judge
import report
import tables
from small import small


ABOUT = {"commit": "abc", "hashes": ["uml-6.1-x"],
         "tools": {"iperf3": "iperf 3.12", "tc": "tc 6.1"},
         "kernels": {"6.1": {"rtt": [0.001, 0.3], "loss": None}}}


class Report(unittest.TestCase):
    """What a reader gets"""

    def test_tables_and_escapes(self):
        out = report.to_html(["# a<b", "", "| x | y |", "|---|---|",
                              "| 1 | **2** |", "", "text"])
        for part in ('<h1 id="ab">a&lt;b</h1>', "<th>y</th>",
                     "<td><strong>2</strong></td>", "<p>text</p>"):
            self.assertIn(part, out)

    def test_refused_has_no_figure(self):
        lines = report.markdown({"description": {**small(), "id": "X"},
                                 "refused": "too fast", "rows": []}, None)
        self.assertIn("**Not reported: too fast.**", lines)
        self.assertFalse([line for line in lines if line.startswith("|")])

    def test_contents(self):
        row = {"measure": "goodput", "label": "a", "unit": "Mbit/s", "value": 3.0,
               "low": 2.0, "high": 4.0, "paper": 5, "computed": True, "verdicts": []}
        verdict = {"word": "partly", "because": "{goodput @ a} is less",
                   "figures": [["goodput", "a"]]}
        lines = report.contents([
            {"description": {**small(), "id": "X", "verdict": verdict}, "rows": [row]},
            {"description": {**small(), "id": "Y", "verdict": verdict}, "rows": [],
             "refused": "too fast"},
            {"description": {**small(), "id": "Z", "verdict": verdict, "question": "lab"},
             "rows": [row]},
            {"description": {"title": "t", "id": "cal", "calibrates": "rtt"}, "rows": [row]}])
        self.assertEqual(lines[6:], [
            r"| [X](#x-t) t | goodput, Mbit/s (a) | 5\* | 3 (2 to 4) | **partly** | "
            "3 is less |", "| Y |  |  |  | not reported | too fast |", ""])

    def test_order(self):
        every = [{"description": {"id": name, **more}} for name, more in (
            ("cal", {"calibrates": "rtt"}), ("tools", {"question": "tools"}),
            ("none", {}), ("lab", {"question": "lab"}), ("window", {"question": "window"}))]
        self.assertEqual([e["description"]["id"] for e in report.in_order(every)],
                         ["window", "tools", "none", "lab", "cal"])

    def test_the_lab_is_the_appendix(self):
        every = [{"description": {**small(), "id": name, **more}, "refused": "too fast",
                  "rows": []} for name, more in (
                      ("cal", {"calibrates": "rtt", "question": None}),
                      ("lab", {"question": "lab"}), ("window", {"question": "window"}))]
        lines = report.body(ABOUT, every, {})
        heads = [line for line in lines if line.startswith("##")]
        self.assertEqual(heads[4:], ["## Window", "### window: t", "## Appendix: the lab",
                                     "### lab: t", "### cal: t"])
        self.assertGreater(lines.index("| loss | 6.1 | nothing | held |"),
                           lines.index("## Appendix: the lab"))

    def test_what_has_a_paper_is_first_in_its_question(self):
        every = [{"description": {"id": name, "question": question, "verdict": {"word": word}}}
                 for name, question, word in (
                     ("a", "shaper", "partly"), ("b", "window", "no paper"),
                     ("c", "window", "not possible here"), ("d", "window", "no paper"),
                     ("e", "window", "reproduced"))]
        self.assertEqual("".join(e["description"]["id"] for e in report.in_order(every)),
                         "cebda")

    def test_experiments_of_several_commits(self):
        every = [{}, {"commit": "def"}, {"commit": "abc"}, {"commit": "def"}, {"commit": "0a"}]
        self.assertIn("from commit abc on", report.opening(ABOUT, every[:1])[4])
        self.assertIn("from commit abc on", report.opening(ABOUT, every[2:3])[4])
        self.assertIn(
            "from 3 commits (2 of the 5 experiments from abc; 2 from def, 1 from 0a, each of which "
            "says so) on kernel", report.opening(ABOUT, every)[4])
        self.assertIn("from commit def on", report.opening(ABOUT, every[1:2])[4])
        self.assertIn("from 3 commits (2 of the 5 experiments", "\n".join(report.body(
            ABOUT, [{"description": {**small(), "id": "X"}, "refused": "too fast", "rows": [],
                     **more} for more in every], {})))

    def test_links_of_the_first_table(self):
        self.assertEqual(report.anchor_of({"id": "T3.2", "title": "1 Gbit/s, a-b"}),
                         "t32-1-gbits-a-b")

    def test_figures_are_filled_in(self):
        rows = [{"measure": "goodput", "label": "all", "value": 3.0, "low": 3.0,
                 "high": 3.0, "unit": "", "verdicts": []}]
        text = "\n".join(report.markdown(
            {"description": {**small(), "id": "X", "result": "It is {goodput @ all}.",
                             "difference": "",
                             "evidence": "None."}, "rows": rows, "axes": {"all": []}},
            None))
        self.assertIn("**Result.** It is 3.", text)
        self.assertIn("**Evidence.** None.", text)
        self.assertNotIn("Difference", text)

    def test_pictures_are_in_the_page(self):
        with tempfile.TemporaryDirectory() as folder:
            picture = Path(folder) / "X.svg"
            picture.write_text("<?xml?><svg>drawn</svg>", encoding="utf-8")
            experiment = {"description": {**small(), "id": "X"}, "rows": [],
                          "refused": None, "axes": {}}
            with unittest.mock.patch("tables.of", lambda _: [["", "x"], ["a", "1"]]):
                report.write_html(Path(folder) / "r.html", ABOUT, [experiment],
                                  {"X": picture})
            text = (Path(folder) / "r.html").read_text(encoding="utf-8")
        self.assertIn("<svg>drawn</svg>", text)
        self.assertNotIn("<img", text)

    def test_range_of_seeds(self):
        self.assertEqual(tables.cell({"value": 3, "low": 2, "high": 4}), "3 (2 to 4)")
        self.assertEqual(tables.cell({"value": 3, "low": 3, "high": 3}), "3")

    def test_what_failed_is_told(self):
        row = {"label": "all", "measure": "goodput", "value": 3, "low": 3, "high": 3,
               "unit": "", "verdicts": [(True, "good"), (False, "bad")]}
        lines = report.markdown({"description": {**small(), "id": "X"},
                                 "rows": [row], "axes": {"all": []}}, None)
        self.assertIn("**Outside of its tolerance: bad**", lines)
        self.assertFalse([line for line in lines if "good**" in line])

    def test_opening(self):
        lines = report.opening(ABOUT)
        self.assertIn("from commit abc on kernel uml-6.1-x,", lines[4])
        self.assertIn("the one nearest the median of the measure that the verdict quotes first",
                      lines[4])
        self.assertIn("real tools (iperf 3.12; tc 6.1) and", lines[4])
        lines = report.carried(ABOUT)
        self.assertIn("| rtt | 6.1 | 0.001 | 0.3 |", lines)
        self.assertIn("| loss | 6.1 | nothing | held |", lines)

    def test_words_and_what_is_not_made_come_before_the_experiments(self):
        lines = report.body(ABOUT, [], {})
        heads = [line for line in lines if line.startswith("## ")]
        self.assertEqual(heads, ["## Results", "## Words", "## The papers",
                                 "## What is not made"])
        said = "\n".join(lines)
        for word in "goodput", "fcwnd", "burst, limit", "BDP", "breaker", "of the line", \
                "semi-guaranteed":
            self.assertRegex(said, rf"\| \*\*[^|]*{word}")

    def test_numbers(self):
        self.assertEqual([judge.shown(v) for v in
                          (None, 0, 3, 3805.6, 0.00171, float("inf"), 99.54)],
                         ["", "0", "3", "3806", "0.00171", "never", "99.54"])
