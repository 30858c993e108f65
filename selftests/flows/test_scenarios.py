# SPDX-License-Identifier: GPL-2.0
"""Tests of scenarios.py and paths.py"""

import re
import unittest
from collections import Counter
from pathlib import Path

import confusion
import paths
import scenarios

TOP = Path(__file__).resolve().parents[2]


class Halves(unittest.TestCase):
    """halves"""

    def setUp(self):
        self.tune, self.score = map(scenarios.seeds_of, ("tune", "score"))

    def test_at_least_300_flows_half_of_them_for_scoring(self):
        self.assertGreaterEqual(len(self.tune) + len(self.score), 300)
        self.assertEqual(len(self.tune), len(self.score))

    def test_even_seeds_tune_and_odd_ones_score(self):
        self.assertEqual({s % 2 for s in self.tune}, {0})
        self.assertEqual({s % 2 for s in self.score}, {1})

    def test_no_group_has_flows_of_both(self):
        for seed in self.tune + self.score:
            self.assertEqual(scenarios.place_of(seed),
                             scenarios.place_of(seed // 2 * 2))

    def test_every_scenario_meets_both_kernels_in_each_half(self):
        for half in (self.tune, self.score):
            met = {(scenarios.place_of(s)[1], scenarios.kernel_of(s)) for s in half}
            self.assertEqual(len(met), len(scenarios.SCHEDULE) * 2)

    def test_who_stands_in_is_of_the_same_half_scenario_and_kernel(self):
        for seed in self.tune[:24] + self.score[:24]:
            again = seed + scenarios.AGAIN
            self.assertEqual(again % 2, seed % 2)
            self.assertEqual(scenarios.place_of(again), scenarios.place_of(seed))
            self.assertEqual(scenarios.kernel_of(again), scenarios.kernel_of(seed))


class Flows(unittest.TestCase):
    """flows"""

    @classmethod
    def setUpClass(cls):
        cls.flows = [scenarios.flow_of(s)
                     for half in scenarios.HALVES for s in scenarios.seeds_of(half)]

    def test_a_seed_is_the_same_flow_always(self):
        for flow in self.flows[:48]:
            self.assertEqual(scenarios.flow_of(flow["seed"]), flow)

    def test_seeds_are_different_flows(self):
        drawn = {(f["scenario"], f["rtt"], f["nic"]) for f in self.flows}
        self.assertEqual(len(drawn), len(self.flows))

    def test_labels_are_the_names_of_verdict_c(self):
        text = (TOP / "tools/ctcpd/verdict.h").read_text()
        names = set(re.findall(r'"([a-z-]+)"', text.split("In --json")[0].split("VERDICTS\n")[-1]
                               .split("const char *verdict_name")[0]))
        self.assertEqual(names, set(confusion.VERDICTS))
        for flow in self.flows:
            self.assertIn(flow["label"], names)
            self.assertLessEqual(set(flow["acceptable"]), names)

    def test_every_verdict_is_a_label(self):
        self.assertEqual({f["label"] for f in self.flows}, set(confusion.VERDICTS))

    def test_all_senders_and_all_round_trips(self):
        self.assertEqual({f["cc"] for f in self.flows}, set(paths.SENDERS))
        met = Counter(confusion.rtt_class(f["rtt"]) for f in self.flows)
        self.assertGreaterEqual(min(met.values()), 20, met)
        self.assertGreaterEqual(min(f["rtt"] for f in self.flows), 0.2e-3)
        self.assertLessEqual(max(f["rtt"] for f in self.flows), 0.3)

    def test_random_loss_from_1e_5_to_1_percent(self):
        lossy = [f["loss"] for f in self.flows if f["scenario"].startswith("random-loss")]
        self.assertGreaterEqual(min(lossy), 1e-5)
        self.assertLessEqual(max(lossy), 1e-2)
        self.assertLess(min(lossy), 3e-5)
        self.assertGreater(max(lossy), 3e-3)

    def test_no_overrun_may_be_called_unknown(self):
        for flow in self.flows:
            if flow["label"] == "overrun":
                self.assertNotIn("unknown", flow["acceptable"])

    def test_only_overruns_have_a_hop_that_cannot_hold_what_comes(self):
        """Else the queue holds the BDP twice over, or the device is no faster"""
        for flow in self.flows:
            if flow["label"] in ("overrun", "unknown") or not flow["line"]:
                continue
            room = 2 * paths.bdp_of(flow["line"], flow["rtt"])
            self.assertTrue(flow["buffer"] > room or flow["nic"] <= flow["line"] + 1, flow)

    def test_rates_that_the_lab_carries(self):
        self.assertLessEqual(max(f["nic"] for f in self.flows), 4e9)
        self.assertGreaterEqual(min(f["nic"] for f in self.flows), 1e6)

    def test_a_flow_is_seen_for_at_most_90_s(self):
        for flow in self.flows:
            self.assertLessEqual(flow["record"][1] - flow["record"][0], 90, flow)

    def test_the_names_of_scenarios_where_overrun_is_forbidden_are_scenarios(self):
        self.assertLessEqual(set(confusion.NEVER), {f["scenario"] for f in self.flows})


class Paths(unittest.TestCase):
    """paths"""

    def test_reno_grows_by_a_segment_a_round_trip(self):
        self.assertAlmostEqual(paths.regrowth("reno", 100, 0.1), 5)

    def test_cubic_grows_by_its_cube_where_that_is_faster(self):
        self.assertAlmostEqual(paths.regrowth("cubic", 1000, 0.3), 750 ** (1 / 3))

    def test_mathis(self):
        self.assertAlmostEqual(paths.response("reno", 1e-4, 0.1), 122)

    def test_cubic_is_no_slower_than_reno(self):
        self.assertGreaterEqual(paths.response("cubic", 1e-2, 1e-3),
                                paths.response("reno", 1e-2, 1e-3))

    def test_bbr_does_not_heed_loss(self):
        self.assertEqual(paths.response("bbr", 1e-2, 0.1), float("inf"))
