# SPDX-License-Identifier: GPL-2.0
"""Transfers that a step makes in a loop: what the tool said beside the trace."""

import json
import unittest
import unittest.mock
from pathlib import Path

import figures
import metrics_transfers
from errors import BenchError

NUTTCP = """megabytes=2.0 real_sec=4.01 rate_Mbps=4.2 tx_cpu=0 rx_cpu=1 retrans=%d
"""


def iperf(port, resent):
    """One transfer's words"""
    return json.dumps({"start": {"connected": [{"local_port": port}]},
                       "end": {"sum_sent": {"retransmits": resent}}}, indent=1) + "\n"


class Transfers(unittest.TestCase):
    """Transfers of a loop"""

    def raw(self, said, missed=False):
        raw = unittest.mock.Mock(folder=Path("run"))
        raw.text = {"transfers": said}.get
        raw.captured_all = lambda host: host == "src" and not missed
        return raw

    def figures(self, said, again, begun):
        def tshark(path, *words):
            self.assertEqual(str(path), "run/src.pcap")
            self.assertEqual(words[-4:], ("-e", "tcp.stream", "-e", "tcp.srcport"))
            return begun if "syn" in words[1] else again
        with unittest.mock.patch.object(metrics_transfers, "tshark", tshark):
            return [metrics_transfers.METRICS[name](self.raw(said), {}) for name in (
                "transfers", "miscounted", "transfers_said", "transfers_traced")]

    def test_iperf3(self):
        said = iperf(40001, 2) + iperf(40003, 0) + iperf(40005, 1)
        begun = "0\t40000\n1\t40001\n2\t40002\n3\t40003\n4\t40005\n"
        self.assertEqual(self.figures(said, "1\t40001\n1\t40001\n3\t40003\n4\t40005\n",
                                      begun), [3, 1, 3, 4])

    def test_nuttcp(self):
        said = NUTTCP % 0 + NUTTCP % 1
        # a SYN that was lost
        self.assertEqual(self.figures(said, "1\t7\n2\t9\n", "1\t7\n1\t7\n2\t9\n"),
                         [2, 1, 1, 2])

    def test_a_port_twice(self):
        said = NUTTCP % 0 + NUTTCP % 1
        self.assertEqual(self.figures(said, "2\t7\n", "1\t7\n2\t7\n"), [2, 0, 1, 1])
        said = iperf(7, 0) + iperf(7, 2)
        self.assertEqual(self.figures(said, "2\t7\n2\t7\n", "1\t7\n2\t7\n"),
                         [2, 0, 2, 2])

    def test_a_transfer_that_is_not_there(self):
        with self.assertRaisesRegex(BenchError, "a transfer is not in the trace"):
            self.figures(NUTTCP % 0 + NUTTCP % 1, "", "1\t7\n")

    def test_a_transfer_that_was_refused(self):
        refused = json.dumps({"start": {"connected": []}, "end": {}, "error": "busy"})
        with self.assertRaisesRegex(BenchError, "run: transfer 2: busy"):
            self.figures(iperf(7, 0) + refused, "", "1\t7\n")

    def test_what_a_tool_does_not_say(self):
        raw = self.raw(iperf(7, 0).replace("sum_sent", "sum"))
        with unittest.mock.patch.object(metrics_transfers, "tshark", lambda *words: ""), \
                self.assertRaisesRegex(BenchError, "run: miscounted: KeyError: 'sum_sent'"):
            figures.figure(raw, {"metric": "miscounted"})

    def test_trace_has_to_be_complete(self):
        with self.assertRaisesRegex(BenchError, "tcpdump missed frames"):
            metrics_transfers.miscounted(self.raw("", missed=True), {})
