# SPDX-License-Identifier: GPL-2.0
"""What steps leave of ctcpd on the sending host, read."""

import json
import unittest
import unittest.mock
from pathlib import Path

import figures
import metrics_ctcpd
from errors import BenchError

LOG = """90.10 ctcpd 1.0: paces what is overrun
112.50 10.79.1.2: overrun: more is sent than it takes
113.50 10.79.1.2: paced at 17mbit: it is overrun
120.00 10.79.1.2: paced at 18mbit, was 17mbit: as it did not lose
140.25 10.79.1.2: kept at 19.6mbit: it hardly retransmits
"""


def classes(size, others=5):
    """tc's words: the remote's class, and that of all else"""
    return "".join(f"class htb c7c0:{name} root prio 0 rate 10Mbit ceil 10Mbit\n"
                   f" Sent {n} bytes 9 pkt (dropped 0, overlimits 0 requeues 0) \n"
                   for name, n in (("fffe", others), ("1", size), ("10", others)))


class Ctcpd(unittest.TestCase):
    """ctcpd beside a run's flows"""

    def raw(self, **more):
        texts = {"began": "100.00\n", "ctcpd.log": LOG, "classes.f.before": classes(1000),
                 "classes.f.after": classes(152400, 777), **more}
        raw = unittest.mock.Mock(folder=Path("run"), plan={"mss": 1448, "rate": 20e6})
        raw.only_flow = lambda: "f"
        raw.text = texts.get
        raw.received = lambda flow: [(0, 1, 72400), (1, 2, 72400)]
        return raw

    def figure(self, name, **more):
        return metrics_ctcpd.METRICS[name](self.raw(**more), {})

    def test_when(self):
        self.assertEqual(self.figure("paced_after"), 13.5)
        self.assertEqual(self.figure("settled_after"), 40.25)
        self.assertEqual(self.figure("rates_tried"), 3)

    def test_never(self):
        quiet = {"ctcpd.log": "90.10 ctcpd 1.0: paces what is overrun\n"}
        self.assertEqual(self.figure("paced_after", **quiet), float("inf"))
        self.assertEqual(self.figure("settled_after", **quiet), float("inf"))
        self.assertEqual(self.figure("rates_tried", **quiet), 0)

    def test_through_the_class(self):
        # 100 segments of 1448 in frames of 1514
        self.assertEqual(self.figure("through_class"), 100)

    def test_no_class(self):
        none = {"classes.f.before": "", "classes.f.after": "class htb c7c0:10 root\n"}
        self.assertEqual(self.figure("through_class", **none), 0)

    def test_kept_at(self):
        for paced, wanted in (([], 0), ([("kept", 2450000)], 98), ([("trying", 2e6)], 0),
                              ([("kept", None)], 0)):
            said = json.dumps({"paced": [{"state": state, "rate_bytes_s": rate}
                                         for state, rate in paced]})
            self.assertEqual(self.figure("kept_at", **{"report.json": said}), wanted)

    def test_nothing_came(self):
        raw = self.raw()
        raw.received = lambda flow: []
        with self.assertRaisesRegex(BenchError, '"f" brought nothing'):
            figures.figure(raw, {"metric": "through_class"})

    def test_drops_of_the_last_hop(self):
        raw = self.raw()
        raw.drops = lambda *where: {("wan-dst", "on"): 5}[where]
        self.assertEqual(metrics_ctcpd.hop_drops(raw, {}), 5)
