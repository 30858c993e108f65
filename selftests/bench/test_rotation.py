# SPDX-License-Identifier: GPL-2.0
"""Parts of the bench, by turns."""

import unittest

import rotation
from errors import BenchError


class Rotation(unittest.TestCase):
    """By turns"""

    def test_each_once(self):
        seconds = {f"x{i}": i * i for i in range(40)}
        parts = rotation.parts_of(seconds, 10)
        self.assertEqual(sorted(sum(parts, [])), sorted(seconds))
        loads = [sum(seconds[name] for name in part) for part in parts]
        self.assertLess(max(loads), 1.2 * sum(loads) / 10)
        self.assertEqual(parts, rotation.parts_of(dict(reversed(seconds.items())), 10))

    def test_chosen(self):
        names = ["a", "b", "c"]
        self.assertEqual(rotation.chosen(names, {"a": 9, "b": 2}, "0/2"), ["a"])
        self.assertEqual(rotation.chosen(names, {"a": 9, "b": 2}, "1/2"), ["c", "b"])
        self.assertEqual(rotation.chosen(names, {}, "1/2"), ["b"])

    def test_words(self):
        self.assertEqual(rotation.which("9/10"), (9, 10))
        for text in "10/10", "3", "a/b", "/3", "-1/3", "1/0":
            with self.assertRaisesRegex(BenchError, "is no part; write it as 3/10"):
                rotation.which(text)
