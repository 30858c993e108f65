# SPDX-License-Identifier: GPL-2.0
"""Gaps between frames before a switch's port."""

import unittest
import unittest.mock
from pathlib import Path

import figures
import metrics_gaps
from errors import BenchError

FRAME = 9014 * 8 / 62e6         # s


class Gaps(unittest.TestCase):
    """Parts of all gaps, by their length"""

    def figure(self, name, between, missed=False, start=0.0, until=1.0):
        """The metric @name of a trace with gaps of so many frames' times"""
        raw = unittest.mock.Mock(folder=Path("run"), plan={"wire": 9014, "line": 62e6})
        raw.captured_all = lambda host: host == "sw" and not missed
        times = [1e9]
        for gap in between:
            times.append(times[-1] + gap * FRAME)

        def tshark(path, *words):
            self.assertEqual(str(path), "run/sw.pcap")
            self.assertEqual(words, ("-T", "fields", "-e", "frame.time_epoch"))
            return "".join(f"{t:.9f}\n" for t in times)
        with unittest.mock.patch.object(metrics_gaps, "tshark", tshark):
            return figures.figure(raw, {"metric": name, "from": start, "until": until})

    def test_parts(self):
        between = [0, 0.85, 0.95, 1, 1.05, 1.2, 1.85, 1.95, 2.05, 3]
        self.assertEqual(self.figure("gaps_short", between), 20)
        self.assertEqual(self.figure("gaps_one", between), 30)
        self.assertEqual(self.figure("gaps_two", between), 20)

    def test_stretch(self):
        between = [2, 2, 0.5, 1, 2]
        stretch = {"start": 3.5 * FRAME, "until": 5.6 * FRAME}
        self.assertEqual(self.figure("gaps_short", between, **stretch), 50)
        self.assertEqual(self.figure("gaps_one", between, **stretch), 50)
        self.assertEqual(self.figure("gaps_two", between, **stretch), 0)

    def test_trace_has_to_be_complete(self):
        with self.assertRaisesRegex(BenchError, "tcpdump missed frames"):
            self.figure("gaps_one", [1], missed=True)

    def test_no_gap(self):
        with self.assertRaisesRegex(BenchError, "gaps_one: ZeroDivisionError"):
            self.figure("gaps_one", [1], start=0.5)
        with self.assertRaisesRegex(BenchError, "gaps_short: ZeroDivisionError"):
            self.figure("gaps_short", [0.5 / FRAME], until=0.5)


if __name__ == "__main__":
    unittest.main()
