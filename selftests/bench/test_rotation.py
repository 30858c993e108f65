# SPDX-License-Identifier: GPL-2.0
"""Parts of the bench, by turns."""

import unittest

import bench
import rotation
from errors import BenchError
from expand import runs_of
from small import small


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

    def test_one_seed(self):
        every = [{**small(), "id": name, "seeds": 5} for name in ("a", "b", "c")]
        made = bench.by_turns(every, every[:1], {"b": 9, "c": 2}, "0/2")
        self.assertEqual([(d["id"], len(runs_of(d))) for d in made],
                         [("b", len(runs_of(small())))])
        self.assertEqual(bench.by_turns(every, every[:1], {}, None), [])

    def test_all_seeds_where_medians_are_asserted(self):
        every = [{**small(), "id": "a", "seeds": 5, "medians": True}]
        made = bench.by_turns(every, [], {"a": 9}, "0/1")
        self.assertEqual(len(runs_of(made[0])), 5 * len(runs_of(small())))
