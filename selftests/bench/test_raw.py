# SPDX-License-Identifier: GPL-2.0
"""Figures from the files that a run leaves, read as the bench reads them."""

import json
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import bench
import metrics
import raw
from errors import BenchError
from expand import runs_of
from small import small

MSS = 1448


def seconds(*values, key="bytes"):
    """iperf3's intervals, a second each"""
    return [{"sum": {"start": i, "end": i + 1, key: value}}
            for i, value in enumerate(values)]


class Recorded(unittest.TestCase):
    """Raw results on disk"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def raw(self, files, flow=(), **path):
        """A run of one flow `f`, that left these files"""
        one = small(vary=[], path={"rate": "1gbit", "rtt": "10ms", **path})
        one["flow"][0].update(flow)
        for name, content in files.items():
            text = content if isinstance(content, str) else json.dumps(content)
            (self.folder / name).write_text(text)
        return raw.Raw(self.folder, runs_of(one)[0]["plan"])

    def test_missing(self):
        with self.assertRaisesRegex(BenchError, "ss was not recorded"):
            self.raw({}).text("ss")

    def test_error_of_iperf3(self):
        one = self.raw({"f.server": {"error": "no route"}})
        with self.assertRaisesRegex(BenchError, "no route"):
            metrics.goodput(one, {})

    def test_goodput(self):
        one = self.raw({"f.server": {"intervals": seconds(125e6, 62.5e6)}})
        self.assertAlmostEqual(metrics.goodput(one, {}), 750)
        self.assertAlmostEqual(metrics.goodput(one, {"from": 1}), 500)
        self.assertAlmostEqual(metrics.share(one, {"until": 1}),
                               100 * (1500 + 14) / MSS)

    def test_steadiness(self):
        parts = seconds(*[rate * 125e3 for rate in (100, 40, 100, 160)])
        one = self.raw({"f.server": {"intervals": parts}}, {"seconds": 4})
        self.assertAlmostEqual(metrics.lowest(one, {}), 40)
        self.assertAlmostEqual(metrics.spread(one, {}), 100 * 1800 ** 0.5 / 100)

    def test_recovery(self):
        def after(rates):
            parts = [{"sum": {"start": i / 10, "end": (i + 1) / 10, "bytes": rate}}
                     for i, rate in enumerate(rates)]
            one = self.raw({"f.server": {"intervals": parts}}, {"seconds": 10})
            return metrics.recovery(one, {"from": 5})
        # the fall comes half a second after the moment that is asked for
        self.assertAlmostEqual(after([100] * 55 + [10] * 10 + [100] * 35), 1.5)
        self.assertEqual(after([100] * 55 + [10] * 45), float("inf"))
        self.assertEqual(after([100] * 100), 0)

    def test_resent(self):
        one = self.raw({"f.client": {"intervals": seconds(5, 10, key="retransmits")},
                        "f.server": {"intervals": seconds(MSS * 100, MSS * 200)}})
        self.assertEqual(metrics.resent(one, {}), 15)
        self.assertEqual(metrics.resent(one, {"from": 1}), 10)
        self.assertAlmostEqual(metrics.resent_percent(one, {"from": 1}), 5)

    def test_drops(self):
        def qdisc(dev, kind, drops, **more):
            return {"dev": dev, "kind": kind, "drops": drops, **more}
        one = self.raw({"qdiscs.json": {
            "src": [qdisc("eth1", "htb", 55, root=True),
                    qdisc("eth1", "bfifo", 55, parent="1:10"),
                    qdisc("lo", "noqueue", 3, root=True)],
            "sw": [qdisc("to-dst", "tbf", 7, root=True),
                   qdisc("from-src", "tbf", 9, root=True)],
            "wan-dst": [qdisc("on", "netem", 2, root=True),
                        qdisc("back", "netem", 4, root=True)],
            "dst": [qdisc("eth1", "noqueue", 1, root=True),
                    qdisc("ifb1", "htb", 6, root=True, packets=80),
                    qdisc("ifb1", "bfifo", 6, parent="1:1", packets=81)]}})
        self.assertEqual(metrics.shaper_drops(one, {}), 55)
        self.assertEqual(metrics.switch_drops(one, {}), 7)
        self.assertEqual(metrics.path_drops(one, {}), 2)
        self.assertEqual(metrics.ack_drops(one, {}), 4)
        self.assertEqual(metrics.receiver_drops(one, {}), 6)
        self.assertEqual(metrics.receiver_passed(one, {}), 80)

    def test_loss_sigmas(self):
        end = {"sum": {"packets": 10000, "lost_packets": 120, "lost_percent": 1.2},
               "sum_sent": {"retransmits": 80},
               "sum_received": {"bytes": 10000 * MSS}}
        one = self.raw({"f.client": {"end": end}}, {"tool": "udp", "rate": "1mbit"},
                       loss="1%")
        self.assertAlmostEqual(metrics.loss_sigmas(one, {}), 20 / 99 ** 0.5)
        self.assertAlmostEqual(metrics.udp_lost(one, {}), 1.2)
        one = self.raw({"f.client": {"end": end}}, loss="1%")
        self.assertAlmostEqual(metrics.loss_sigmas(one, {}), -20 / 99 ** 0.5)
        self.assertEqual(metrics.tool_resent(one, {}), 80)

    def test_tool_resent_of_nuttcp(self):
        one = self.raw({"f.client": "real_sec=0.1\nreal_sec=2 tx_cpu=1 retrans=9\n"},
                       {"tool": "nuttcp"})
        self.assertEqual(metrics.tool_resent(one, {}), 9)

    def test_windows(self):
        one = self.raw({"ss": "# 0.1\ncubic mss:1448 cwnd:10 snd_wnd:500\n"
                              "# 0.2\ncubic mss:1448 cwnd:30 snd_wnd:900\n"
                              "# 0.3\ncubic mss:1448 cwnd:20 snd_wnd:700\n"})
        self.assertEqual([time for time, _ in one.samples], [0.1, 0.2, 0.3])
        self.assertEqual(metrics.cwnd_max(one, {}), 30 * MSS)
        self.assertEqual(metrics.rwnd_max(one, {}), 900)
        one = self.raw({"ss": "# 0.1\n\n"})
        with self.assertRaisesRegex(BenchError, "ss never showed"):
            metrics.cwnd_max(one, {})

    def test_windows_of_a_flow(self):
        """Its data connection's: not its control connection's, nor another flow's"""
        data, control = "ESTAB 10.1:40 10.2:5701 reno cwnd:{}\n", "ESTAB 10.1:41 10.2:5201 cwnd:7\n"
        other = "ESTAB 10.1:45701 10.2:5702 cwnd:8\nESTAB 10.1:57011 10.2:22 cwnd:9\n"
        one = self.raw({"ss": "# 3.5\n" + control + "# 4\n" + control + data.format(10)
                              + "# 5\n" + data.format(40) + other
                              + "# 6\n" + data.format(20) + "# 7\n" + data.format(90)
                              + "# 11.5\n" + data.format(50)
                              + "# 12.5\n" + data.format(9) + other},
                       {"tool": "nuttcp", "start": 3, "seconds": 9})
        one.flows["g"] = {**one.flows["f"], "start": 4, "seconds": None}
        self.assertEqual(one.windows("f"), [(1, 10), (2, 40), (3, 20), (4, 90), (8.5, 50)])
        self.assertEqual(bench.windows(one), {
            "f": [[1, 10], [2, 40], [3, 20], [4, 90], [8.5, 50]], "g": [[1, 8], [8.5, 8]]})
        self.assertEqual(bench.points_of(one, {"kind": "windows"}), bench.windows(one))
        self.assertEqual(metrics.cwnd_mean(one, {"from": 2, "until": 4}), 30)
        self.assertEqual(metrics.cwnd_mean(one, {"from": 1, "until": 5}), 40)
        self.assertEqual(metrics.cwnd_mean(one, {"flow": "g"}), 8)
        with self.assertRaisesRegex(BenchError, "no window of f from 5 s on"):
            metrics.cwnd_mean(one, {"from": 5, "until": 6})
        one.flows["f"]["tool"] = "iperf3"
        with self.assertRaisesRegex(BenchError, 'windows of "f": ss shows .* the same port'):
            one.windows("f")

    def test_ping(self):
        one = self.raw({"ping.src.dst": "seq=1 time=20.5 ms\nseq=2 time=10.3 ms\n"})
        self.assertEqual(metrics.ping(one, {}), 10.3)

    def test_gaps(self):
        said = "60 packets captured\n{} packets dropped by kernel\n"
        one = self.raw({"dst.tcpdump": said.format(0)})
        # ten at once, then threes, 2 ms apart; the first gap ends the burst
        times = [i * 1e-6 for i in range(10)] + \
                [0.002 * i + j * 1e-6 for i in range(1, 21) for j in range(3)]
        one.read["dst", one_way()] = [[str(t), "1514", "5201"] for t in times]
        self.assertEqual(metrics.burst_frames(one, {}), 10)
        self.assertAlmostEqual(metrics.together(one, {}), 100 * 40 / 59)
        for missed in (10, 3):
            one = self.raw({"dst.tcpdump": said.format(missed)})
            with self.assertRaisesRegex(BenchError, "missed frames"):
                metrics.gaps(one)

    def test_first_syn(self):
        one = self.raw({})
        text = "1.0\t74\t40000,5201\n1.5\t74\t40001,5201\n2.5\t74\t40002,5299\n"
        with unittest.mock.patch.object(raw, "tshark", return_value=text):
            self.assertEqual(one.first_syn("f"), 1.5)


def one_way():
    """What frames() asks of tshark: data towards dst"""
    return f"ip.dst == {raw.NETS['dst']} && frame.len > 1000 && !icmp"
