# SPDX-License-Identifier: GPL-2.0
"""Two runs beside each other, and what is said of them."""

import copy
import unittest

import compare

REMOTES = [{"number": 0, "slow": False, "line": 8e6}, {"number": 1, "slow": True, "line": 2e6},
           {"number": 2, "slow": False, "line": 5e6}]
# remote 1 has time for a third transfer with act; remote 2 is asked for nothing
WITHOUT = {"0": [[1000000, 1.0, 1]], "1": [[1000000, 5.0, 40], [2000000, 10.0, 60]]}
ACT = {"0": [[1000000, 1.01, 0]], "1": [[1000000, 4.0, 9], [2000000, 8.0, 0], [7, 1.0, 5]]}


def results(**more):
    """As results.json has them"""
    return {"about": {"seconds": 100}, "remotes": copy.deepcopy(REMOTES),
            "paced": [{"number": 1, "rate": 1.9e6, "state": "kept"}], "ever_paced": [1],
            "runs": {"without": {"acked": 4000000, "resent": 101, "series": [],
                                 "transfers": copy.deepcopy(WITHOUT)},
                     "act": {"acked": 4000007, "resent": 14, "series": [],
                             "transfers": copy.deepcopy(ACT)}}, **more}


class Compared(unittest.TestCase):
    """Two runs of the node"""

    def test_by_what_both_ended(self):
        good, slow = compare.compared(results())
        self.assertEqual((slow.number, slow.transfers, slow.before, slow.after),
                         (1, 2, 1.6e6, 2e6))
        self.assertEqual((slow.resent_before, slow.resent_after), (100, 9))
        self.assertAlmostEqual(slow.change(), 0.25)
        self.assertAlmostEqual(good.change(), 1 / 1.01 - 1)

    def test_asked_for_the_same(self):
        other = results()
        other["runs"]["act"]["transfers"]["1"][0][0] += 1
        with self.assertRaisesRegex(ValueError, "remote 1 was not asked for the same"):
            compare.compared(other)

    def test_the_node(self):
        self.assertEqual(compare.goodput(results(), "without"), 320000)
        self.assertEqual(compare.resent(results(), "act"), 14)
        self.assertEqual(compare.worst(results()).number, 0)
        self.assertEqual(compare.slow_rate(results(), "before"), 1.6e6)

    def failing(self, found):
        return [n for n, (ok, _) in enumerate(compare.held(found)) if not ok]

    def test_all_holds(self):
        self.assertEqual(self.failing(results()), [])

    def test_less_for_the_node(self):
        one = results()
        one["runs"]["act"]["acked"] = 3995000
        self.assertEqual(self.failing(one), [0])

    def test_as_much_sent_again(self):
        one = results()
        one["runs"]["act"]["resent"] = 51
        self.assertEqual(self.failing(one), [1])

    def test_a_remote_has_less(self):
        one = results()
        one["runs"]["act"]["transfers"]["0"][0][1] = 1.03
        self.assertEqual(self.failing(one), [2])

    def test_a_remote_stalls(self):
        one = results()
        for runs in one["runs"].values():
            runs["transfers"]["2"] = [[1000, 1.0, 0]] * 3
        self.assertEqual(self.failing(one), [])
        one["runs"]["act"]["transfers"]["2"] = [[1000, 1.0, 0]] * 2
        self.assertEqual(self.failing(one), [])
        one["runs"]["act"]["transfers"]["2"] = [[1000, 1.0, 0]]
        self.assertEqual(self.failing(one), [3])
        del one["runs"]["act"]["transfers"]["2"]
        self.assertEqual(self.failing(one), [3])

    def test_others_were_paced(self):
        self.assertEqual(self.failing(results(ever_paced=[0, 1])), [4])

    def test_others_are_paced(self):
        both = [{"number": n, "rate": 2e6, "state": "kept"} for n in (0, 1)]
        for paced in [], both:
            self.assertEqual(self.failing(results(paced=paced)), [4])
