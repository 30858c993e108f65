# SPDX-License-Identifier: GPL-2.0
"""What the seed draws."""

import itertools
import unittest

import scenario


class Scenario(unittest.TestCase):
    """Remotes and their transfers"""

    def test_remotes(self):
        remotes = scenario.remotes_of(1)
        self.assertEqual(remotes, scenario.remotes_of(1))
        self.assertNotEqual(remotes, scenario.remotes_of(2))
        self.assertEqual([r["number"] for r in remotes], list(range(scenario.REMOTES)))
        self.assertEqual(sum(r["slow"] for r in remotes), scenario.SLOW)

    def test_queues(self):
        for remote in scenario.remotes_of(1):
            bdp = remote["line"] * remote["rtt"] / 8
            frames = remote["buffer"] / scenario.FRAME
            if remote["slow"]:
                self.assertTrue(scenario.SLOW_BUFFERS[0] <= frames <= scenario.SLOW_BUFFERS[1])
                self.assertTrue(scenario.NODE / remote["line"] > 30)
            else:
                self.assertGreater(remote["buffer"], 2 * bdp)
                self.assertGreaterEqual(frames, 200)

    def test_a_remote_has_its_own_transfers(self):
        remotes = scenario.remotes_of(1)

        def first(seed, remote):
            return list(itertools.islice(scenario.transfers_of(seed, remote), 50))
        self.assertEqual(first(1, remotes[0]), first(1, remotes[0]))
        self.assertNotEqual(first(1, remotes[0]), first(2, remotes[0]))
        for remote in remotes[:20]:
            sizes = sorted(size for _, size in first(1, remote))
            middle = remote["line"] / 8 * remote["lasts"]
            self.assertTrue(middle / 2 < sizes[25] < middle * 2)

    def test_what_it_offers_fits(self):
        offered = 0
        for remote in scenario.remotes_of(1):
            size = remote["line"] / 8 * remote["lasts"]
            offered += size * 8 / (remote["lasts"] + remote["pause"])
        self.assertTrue(0.02 < offered / scenario.NODE < 0.5)
