# SPDX-License-Identifier: GPL-2.0
"""Figures in sentences."""

import math
import unittest

import prose
from errors import BenchError

ROWS = [{"measure": "goodput", "label": "a", "value": 12.345678, "low": 11.0,
         "high": 14.0, "paper": 10, "model": None},
        {"measure": "goodput", "label": "b c", "value": 4.0, "low": 4.0, "high": 4.0,
         "paper": None},
        {"measure": "until", "label": "a", "value": math.inf, "low": 1, "high": math.inf,
         "paper": None}]


class Prose(unittest.TestCase):
    """What stands for a {...}"""

    def said(self, text, expected):
        """@text, filled, is @expected"""
        self.assertEqual(prose.filled(text, ROWS), expected)

    def fails(self, text, about):
        """@text is refused, and the sentence says why"""
        with self.assertRaisesRegex(BenchError, about):
            prose.filled(text, ROWS)

    def test_figures(self):
        self.said("no figure", "no figure")
        self.said("{goodput @ a}, {goodput@b c}", "12.35, 4")
        self.said("{goodput @ a : paper}", "10")
        self.said("{goodput @ a : range}", "12.35 (11 to 14)")
        self.said("{goodput @ b c : range}", "4")
        self.said("{goodput @ a : low} {goodput @ a : high}", "11 14")
        self.said("{goodput @ a : 2}", "12")
        self.said("{until @ a} {until @ a : 2}", "never never")

    def test_formulas(self):
        self.said("{= 100 * [goodput @ b c] / 8}", "50")
        self.said("{= [goodput @ a] / [goodput @ b c] : 2}", "3.1")
        self.said("{= 1000 * 1448 / 1538 : 3}", "941")

    def test_digits(self):
        self.assertEqual(prose.digits(123456, 2), "120000")
        self.assertEqual(prose.digits(0.012345, 2), "0.012")

    def test_what_is_not_there(self):
        self.fails("{goodput @ z}", '"goodput @ z" is no measure')
        self.fails("{rate @ a}", '"rate @ a" is no measure')
        self.fails("{goodput @ b c : paper}", "has no paper")
        self.fails("{goodput @ a : model}", "has no model")
        self.fails("{goodput @ a : often}", '"often" in')
        self.fails("{goodput @ a : 0}", '"0" in')
        self.fails("{= 3 + }", "is not a formula")
        self.fails("{= 3 : paper}", "a formula has no paper")

    def test_strangers(self):
        d = {"title": "At 26 ms", "result": "{= 5 * 7} of 26 ms and 4.00 and 1,500",
             "path": {"rate": "4gbit", "mtu": 1500}, "verdict": {
                 "because": "12 of 13", "figures": [["a", "13"]]}}
        self.assertEqual(prose.strangers(d), ["4.00", "12"])
