# SPDX-License-Identifier: GPL-2.0
"""What README's table of the demonstration is held against."""

import unittest

import demo_table

TEXT = """The authors' machine:

    4 Gbit/s, 26 ms, no loss, 10 s:
                         goodput   of line   first second    resent
      circuit        3806 Mbit/s    99.5 %    3628 Mbit/s         0
      cubic          3728 Mbit/s    97.4 %    2845 Mbit/s         0

    1 Gbit/s, 50 ms, one packet lost in 22,000, 20 s:
                         goodput   of line   first second    resent
      cubic           183 Mbit/s    19.1 %     537 Mbit/s        14

Something else:

      circuit           1 Mbit/s     1.0 %       1 Mbit/s         1
"""


def run(**more):
    """One of the demonstration, without loss"""
    return {"alg": "circuit", "loss": 0, "mean": 3806.3, "share": 99.49,
            "first_second": 3628.4, "retransmissions": 0, **more}


class DemoTable(unittest.TestCase):
    """README's table of the demonstration"""

    def test_rows_are_named_by_their_title(self):
        self.assertEqual(demo_table.rows(TEXT), {
            "wide-circuit": (3806, 99.5, 3628, 0), "wide-cubic": (3728, 97.4, 2845, 0),
            "long-cubic": (183, 19.1, 537, 14)})

    def test_same_figures(self):
        self.assertEqual(demo_table.differences((3806, 99.5, 3628, 0), run()), [])

    def test_each_figure_is_held(self):
        for row, what in (((3700, 99.5, 3628, 0), "goodput"), ((3900, 99.5, 3628, 0), "goodput"),
                          ((3806, 97.0, 3628, 0), "of line"), ((3806, 99.5, 3500, 0), "first"),
                          ((3806, 99.5, 3628, 1), "resent")):
            wrong = demo_table.differences(row, run())
            self.assertEqual(len(wrong), 1, row)
            self.assertTrue(wrong[0].startswith(what), wrong)

    def test_which_packets_are_lost_is_chance(self):
        lossy = run(loss=0.0045, mean=128.0, share=13.4, first_second=400.0,
                    retransmissions=20)
        self.assertEqual(
            demo_table.differences((183, 19.1, 537, 14), {**lossy, "alg": "cubic"}), [])
        self.assertEqual(len(demo_table.differences((260, 27, 537, 14),
                                                    {**lossy, "alg": "cubic"})), 2)
        self.assertEqual(len(demo_table.differences((183, 19.1, 537, 14), lossy)), 2)
