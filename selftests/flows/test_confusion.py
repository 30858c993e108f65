# SPDX-License-Identifier: GPL-2.0
"""Tests of confusion.py, verdicts.py and written.py"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import confusion
import heatmap
import scored
import verdicts
import written


def row(label, verdict, scenario="slow-receiver-4", seed=0, **more):
    """One flow"""
    return {"seed": seed, "scenario": scenario, "label": label, "acceptable": [],
            "verdict": verdict, "reason": "because", "cc": "cubic", "kernel": "6.1",
            "rtt": 0.02, **more}


ROWS = [row("overrun", "overrun", seed=0), row("overrun", "overrun", seed=2, rtt=0.2),
        row("overrun", "unknown", seed=4, cc="bbr"),
        row("overrun", "loss", seed=6, acceptable=["loss"]),
        row("loss", "overrun", "random-loss-far", seed=8),
        row("loss", "overrun", "background-tcp", seed=10, kernel="newest"),
        row("loss", "clean", "random-loss-rare", seed=12, acceptable=["clean"]),
        row("clean", "clean", "clean", seed=14)]
SETS = scored.load()


class Counts(unittest.TestCase):
    """confusion"""

    def test_matrix(self):
        found = confusion.matrix(ROWS)
        self.assertEqual(found["overrun"]["overrun"], 2)
        self.assertEqual(found["overrun"]["unknown"], 1)
        self.assertEqual(found["loss"]["overrun"], 2)
        self.assertEqual(sum(sum(line.values()) for line in found.values()), len(ROWS))

    def test_unknown_and_what_is_true_too_are_no_recall_of_overruns(self):
        self.assertEqual(confusion.recall(ROWS), 2 / 4)

    def test_precision(self):
        self.assertEqual(confusion.precision(ROWS), 2 / 4)

    def test_of_nothing_there_is_none(self):
        self.assertIsNone(confusion.recall([]))
        self.assertFalse(any(ok for ok, _ in confusion.held([])[:2]))

    def test_what_is_true_too_is_right(self):
        self.assertEqual([confusion.is_right(r) for r in ROWS],
                         [True, True, False, True, False, False, True, True])

    def test_false_overruns_by_seed(self):
        self.assertEqual([r["seed"] for r in confusion.false_overruns(ROWS)], [8, 10])

    def test_forbidden_ones_are_those_of_random_loss(self):
        self.assertEqual([r["seed"] for r in confusion.forbidden(ROWS)], [8])

    def test_held_needs_recall_precision_and_nothing_forbidden(self):
        self.assertEqual([ok for ok, _ in confusion.held(ROWS)], [False, False, False])
        self.assertEqual([ok for ok, _ in confusion.held(ROWS[:2])], [True, True, True])

    def test_ninety_five_percent_hold(self):
        most = [row("overrun", "overrun")] * 19
        self.assertTrue(confusion.held(most + [row("overrun", "loss")])[0][0])
        self.assertFalse(confusion.held(most[:18] + [row("overrun", "loss")])[0][0])

    def test_interval_is_wilson_s(self):
        for hits, of, least, most in ((48, 49, 0.893, 0.996), (45, 49, 0.808, 0.968),
                                      (0, 49, 0, 0.073), (49, 49, 0.927, 1)):
            low, high = confusion.interval(hits, of)
            self.assertAlmostEqual(low, least, 3)
            self.assertAlmostEqual(high, most, 3)

    def test_what_is_asked_is_said_with_counts(self):
        rows = [row("overrun", "overrun")] * 48 + [row("overrun", "loss")]
        said = [sentence for _, sentence in confusion.held(
            rows + [row("loss", "loss", "tiny"), row("clean", "clean", "clean")])]
        self.assertIn("98.0 % (48 of 49; 95 % interval 89.3 to 99.6 %)", said[0])
        self.assertIn("100.0 % (48 of 48; ", said[1])
        self.assertEqual(said[2], "false overruns among flows of random loss, slow applications, "
                         "tiny flows and first samples: 0 of 1 (95 % interval 0.0 to 79.3 %), none "
                         "asked; among all flows that are no overrun: 0 of 2 (95 % interval 0.0 to "
                         "65.8 %)")

    def test_an_interval_below_what_is_asked_is_said(self):
        below = "by the point estimate: the interval reaches below that"
        many = [row("overrun", "overrun")] * 990 + [row("overrun", "loss")] * 10
        for rows, said in ((many, False), (many[:49], True), (many[989:], False), ([], False)):
            self.assertEqual(below in confusion.held(rows)[0][1], said)
        self.assertNotIn(below, confusion.held(many)[1][1])
        self.assertIn(below, confusion.held(many[:49])[1][1])

    def test_overruns_by_scenario_and_flows_that_stand_in(self):
        rows = ROWS + [row("overrun", "loss", "policer", seed=confusion.AGAIN + 6)]
        self.assertEqual(confusion.found_by_scenario(rows),
                         {"policer": (0, 1), "slow-receiver-4": (2, 4)})
        self.assertEqual([confusion.drawn_again(some) for some in (ROWS, rows)], [0, 1])

    def test_most_even_is_of_flows_that_overrun_nothing(self):
        rows = [row("overrun", "overrun", evenness=20), row("loss", "loss", evenness=0.5),
                row("loss", "loss", evenness=3.2), row("clean", "clean", evenness=None),
                row("clean", "clean")]
        self.assertEqual(confusion.most_even(rows), (2, 3.2))
        self.assertEqual(confusion.most_even(rows[:1]), (0, 0.0))

    def test_by_label(self):
        found = confusion.by_label(ROWS)["loss"]
        self.assertEqual(found, {"flows": 3, "same": 0, "right": 1, "said": 1,
                                 "said_right": 1})

    def test_round_trips(self):
        self.assertEqual([confusion.rtt_class(t) for t in (9e-4, 1e-3, 0.0999, 0.1, 0.3)],
                         ["below 1 ms", "1 to 10 ms", "10 to 100 ms", "100 ms and more",
                          "100 ms and more"])

    def test_breakdown(self):
        self.assertEqual(confusion.breakdown(ROWS, "round trip"),
                         [("10 to 100 ms", 7, 4, 3, 1, 2), ("100 ms and more", 1, 1, 1, 1, 0)])
        self.assertEqual(confusion.breakdown(ROWS, "kernel"),
                         [("6.1", 7, 5, 4, 2, 1), ("newest", 1, 0, 0, 0, 1)])


class Rows(unittest.TestCase):
    """rows"""

    ABOUT = {**ROWS[0], "port": 5201}

    def test_the_flow_with_the_most_bytes_speaks_for_its_trace(self):
        said = [{"port": port, "judgement": {"acked_bytes": acked, "verdict": verdict,
                                             "reason": reason, "loss_evenness": acked}}
                for port, acked, verdict, reason in ((5201, 5, "loss", "a"),
                                                     (5201, 9, "clean", "b"),
                                                     (22, 99, "overrun", "c"))]
        row = verdicts.row_of(self.ABOUT, said)
        self.assertEqual((row["verdict"], row["reason"], row["evenness"]), ("clean", "b", 9))

    def test_what_was_never_seen_is_unknown(self):
        self.assertEqual(verdicts.row_of(self.ABOUT, [])["verdict"], "unknown")

    def test_a_half_is_whole_with_those_that_stand_in(self):
        seeds = verdicts.scenarios.seeds_of("score")
        rows = [row("loss", "loss", seed=s) for s in seeds]
        rows[0]["seed"] += verdicts.scenarios.AGAIN
        verdicts.whole(rows, "score")
        with self.assertRaisesRegex(verdicts.FlowsError, f"^1 flows .* {seeds[-1]} the first"):
            verdicts.whole(rows[:-1], "score")


class Words(unittest.TestCase):
    """words"""

    def test_the_report_has_every_wrong_flow_and_what_does_not_hold(self):
        text = written.report(ROWS, SETS)
        self.assertIn("**does not hold**: recall of overruns 50.0 %", text)
        self.assertIn("| 8 | random-loss-far | loss | overrun (because) |", text)
        self.assertEqual(len(written.wrong(ROWS)), 3)

    def test_what_evenness_is_stands_in_the_policy(self):
        policy = (Path(__file__).parents[2] / "tools/ctcpd/judge.c").read_text(encoding="utf-8")
        self.assertIn("against_chance - log(4)", policy)
        self.assertIn("#define AS_EVEN\t\t0.5\n", policy)
        self.assertRegex(written.report(ROWS, SETS), "less ln 4, and 0 where .* more than half of")

    def test_where_overruns_are_missed(self):
        found = "Overruns found, by scenario: "
        more = [row("overrun", "overrun", "policer")]
        for rows, said in ((ROWS, "slow-receiver-4 2 of 4."), (more, "all of 1 scenarios."),
                           (ROWS + more, "slow-receiver-4 2 of 4, all of 1 others.")):
            self.assertEqual(written.missed(rows), found + said)

    def test_the_opening_counts(self):
        text = " ".join(written.report(ROWS + [row("overrun", "loss", seed=confusion.AGAIN)] * 2,
                                       SETS).split())
        self.assertIn("Of the flows 60 % overrun", text)
        self.assertIn("deeper. 2 flows stand in", text)

    def test_nothing_wrong_is_said(self):
        self.assertTrue(written.report(ROWS[:2], SETS).endswith("Nothing.\n"))

    def test_results_are_json_with_every_flow(self):
        found = json.loads(written.results(ROWS))
        self.assertEqual(found["flows"], ROWS)
        self.assertEqual(found["recall"], 0.5)

    def test_a_terminal_reads_the_same_counts(self):
        self.assertIn("DOES NOT HOLD: precision of overruns 50.0 %", written.text(ROWS))

    def test_a_cell_is_as_dark_as_its_share_of_the_label(self):
        dark = heatmap.shares(confusion.matrix(ROWS))
        self.assertEqual(dark[0][0], 0.5)
        self.assertEqual(dark[confusion.VERDICTS.index("application")][0], 0)

    def test_the_report_is_written_by_the_program_alone(self):
        """verdicts.py finds the bench's plots without help, as these tests do not show"""
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, "-I", "-c",
                 "import json, pathlib, sys; sys.path.insert(0, sys.argv[1]); import verdicts; "
                 "verdicts.DOCS = pathlib.Path(sys.argv[2]); "
                 "verdicts.write(json.loads(sys.argv[3]))",
                 Path(verdicts.__file__).parent, folder, json.dumps(ROWS)],
                capture_output=True, text=True, check=False)
            self.assertEqual(done.stderr, "")
            self.assertEqual(sorted(p.name for p in Path(folder).iterdir()),
                             ["README.md", "confusion.svg", "results.json"])
