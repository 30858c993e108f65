# SPDX-License-Identifier: GPL-2.0
"""Figures from what the tools of a run said."""

import tempfile
import unittest
import unittest.mock
from pathlib import Path

import bench
import metrics
import raw
from errors import BenchError


class Metrics(unittest.TestCase):
    """Figures from what tools said"""

    PARTS = [(i / 10, (i + 1) / 10, 1250000 if i >= 10 else 125000)
             for i in range(30)]

    def test_mean_rate(self):
        self.assertAlmostEqual(metrics.mean_rate(self.PARTS, 0, 1), 10)
        self.assertAlmostEqual(metrics.mean_rate(self.PARTS, 1, 3), 100)
        self.assertAlmostEqual(metrics.mean_rate(self.PARTS, 2, 9), 100)
        with self.assertRaises(BenchError):
            metrics.mean_rate(self.PARTS, 5, 6)

    def test_limit(self):
        of = unittest.mock.Mock(plan={"limit": 3028, "fcwnd": 10, "wire": 1514})
        self.assertEqual((metrics.limit(of, {}), metrics.limit_part(of, {})), (3.028, 0.2))

    def test_series(self):
        class Fake:
            flows = {"f": {"tool": "iperf3", "start": 4}}

            @staticmethod
            def received(_):
                return Metrics.PARTS
        by_second = bench.series(Fake, 1)["f"]
        self.assertEqual([round(t, 3) for t, _ in by_second], [4.5, 5.5, 6.5])
        for (_, rate), wanted in zip(by_second, (10, 100, 100)):
            self.assertAlmostEqual(rate, wanted)
        self.assertEqual(len(bench.series(Fake, 0.1)["f"]), 30)
        whole = unittest.mock.Mock(flows={"f": {"tool": "stream", "start": 0}})
        self.assertEqual(bench.series(whole, 1), {})

    def test_sent_again_over_time(self):
        raw_of = unittest.mock.Mock(flows={"f": {"tool": "iperf3", "start": 4},
                                           "u": {"tool": "udp", "start": 0}})
        raw_of.resent = {"f": [(i / 10, (i + 1) / 10, i) for i in range(20)]}.get
        self.assertEqual(bench.resent(raw_of, 1), {"f": [[4.5, 45], [5.5, 145]]})

    def test_same_again(self):
        with tempfile.TemporaryDirectory() as top:
            first, second = Path(top) / "one", Path(top) / "two"
            for folder in first, second:
                folder.mkdir()
                (folder / "f.client").write_text("same")
            labs = unittest.mock.Mock(carry_out=lambda run, again: second)
            with unittest.mock.patch.object(bench, "busy", lambda: []):
                self.assertTrue(bench.same_again(labs, {"label": "x"}, first)[0])
                (second / "f.client").write_text("else")
                held, said = bench.same_again(labs, {"label": "x"}, first)
        self.assertFalse(held)
        self.assertIn("f.client differ", said)

    def test_recovery(self):
        class Fake:
            flows = {"f": {"seconds": 20}}

            @staticmethod
            def received(_):
                rate = [10 if 50 <= i < 70 else 100 for i in range(200)]
                return [(i / 10, (i + 1) / 10, r)
                        for i, r in enumerate(rate)]
        found = metrics.recovery(Fake(), {"flow": "f", "from": 5})
        self.assertAlmostEqual(found, 2.0)

    def test_recovery_is_to_the_rate_after_slow_start(self):
        class Fake:
            """A second of slow start, full rate until 5 s, nine tenths from 7 s, full from 9 s"""
            flows = {"f": {"seconds": 20}}

            @staticmethod
            def received(_):
                return [(i / 10, (i + 1) / 10,
                         0 if i < 10 else 10 if 50 <= i < 70 else 90 if 70 <= i < 90 else 100)
                        for i in range(200)]
        self.assertAlmostEqual(metrics.recovery(Fake(), {"flow": "f", "from": 5}), 3.8)

    def test_streams(self):
        class Fake:
            flows = {"f": {"seconds": 3}}
            plan = {"payload_rate": 100e6}
            only_flow = staticmethod(lambda: "f")
            received = staticmethod(lambda flow: [(0, 0.1, 0)] + Metrics.PARTS[1:])

            @staticmethod
            def streams(_):
                return [Metrics.PARTS, [(s, e, 2 * n) for s, e, n in Metrics.PARTS]]
        last = {"from": 1, "until": 3}
        self.assertAlmostEqual(metrics.slowest_stream(Fake, last), 100)
        self.assertAlmostEqual(metrics.fastest_stream(Fake, last), 200)
        # The first data come from 0.1 s on, and a line's full rate from 1 s on
        self.assertAlmostEqual(metrics.filled(Fake, {}), 1.0)
        Fake.plan = {"payload_rate": 200e6}
        Fake.received = staticmethod(
            lambda flow: Metrics.PARTS + [(3, 3.001, 1250000)])
        self.assertEqual(metrics.filled(Fake, {}), float("inf"))

    def test_streams_of_the_receiver(self):
        said = {"client": 1, "server": 2}
        parts = {side: {"intervals": [
            {"streams": [{"start": 0, "end": 0.1, "bytes": 10 * n},
                         {"start": 0, "end": 0.1, "bytes": n}]}]}
                 for side, n in said.items()}
        for options, n in ([], 2), (["-R"], 1):
            one = raw.Raw("/", {"flows": [{"name": "f", "options": options}]})
            with unittest.mock.patch.object(one, "iperf",
                                            lambda _, side: parts[side]):
                self.assertEqual(one.streams("f"), [[(0, 0.1, 10 * n)],
                                                    [(0, 0.1, n)]])

    def test_trace_excess(self):
        with unittest.mock.patch("metrics.trace_resent", lambda *_: 45), \
                unittest.mock.patch("metrics.tool_resent", lambda *_: 41):
            self.assertEqual(metrics.trace_excess(None, {}), 4)

    def test_spacing(self):
        class Fake:
            plan = {"wire": 1514, "rate": 20e6}
            frames = [(0.0, 1514)] * 10 + [(0.0006 * i, 1514)
                                           for i in range(1, 50)]

        with unittest.mock.patch.object(metrics, "gaps", lambda raw: [
                b[0] - a[0] for a, b in zip(raw.frames, raw.frames[1:])]):
            self.assertEqual(metrics.burst_frames(Fake, {}), 10)
            self.assertAlmostEqual(metrics.gap(Fake, {}), 0.6)

    def test_gap_is_of_those_alike(self):
        # ms: tcpdump's rounding, a frame that is late, and one right behind another
        between = [0.600, 0.601, 0.602, 0.599, 0.600, 1.1, 0.1]
        with unittest.mock.patch.object(metrics, "burst_frames", lambda *_: 0), \
                unittest.mock.patch.object(metrics, "gaps",
                                           lambda _: [ms / 1e3 for ms in between]):
            self.assertAlmostEqual(metrics.gap(None, {}), 0.6004)

    def test_full_rate(self):
        class Fake:
            """Half of the line from round trip 1.5, all of it from 2.5 on."""
            plan = {"rtt": 0.1, "rate": 8e6}
            flows = {"f": {"start": 0, "seconds": 1}}
            first_syn = staticmethod(lambda flow: 5.0)
            trains = {"dst": [(5.15 + 0.002 * i, 1000) for i in range(50)] +
                             [(5.25 + 0.001 * i, 1000) for i in range(900)],
                      "src": []}

            def frames(self, host, _):
                return self.trains[host]

            only_flow = staticmethod(lambda: "f")
        self.assertAlmostEqual(metrics.full_rate(Fake(), {}), 2.4, 1)
        self.assertEqual(metrics.full_rate(Fake(), {"where": "src"}), float("inf"))

    def test_full_time(self):
        raw_ = unittest.mock.Mock(plan={"rtt": 0.05})
        with unittest.mock.patch.object(metrics, "full_rate", lambda *_: 2.5):
            self.assertAlmostEqual(metrics.full_time(raw_, {}), 0.125)

    def test_of_the_switch_port(self):
        said = "0.5 100 1 0\n2 1100 3 1\n3 3000 10 1\n4 3600 100 11\n9 0 0 0\n"
        one = raw.Raw("/", {"flows": [], "line": 8000})
        stretch = {"from": 2, "until": 4}
        with unittest.mock.patch.object(one, "text", lambda _: said):
            # 2500 bytes in 2 s of the 1000 that 8000 bit/s are in each
            self.assertAlmostEqual(metrics.utilisation(one, stretch), 125)
            self.assertAlmostEqual(metrics.port_drop_percent(one, stretch),
                                   100 * 10 / 107)
            with self.assertRaisesRegex(BenchError, "not sampled between 5 and 9"):
                metrics.utilisation(one, {"from": 5, "until": 9})

    def test_counters(self):
        one = raw.Raw("/", {"flows": []})
        said = ('{"src": {"RetransSegs": 7, "module": "stats: kept=1 trips=3 resets=2"}, '
                '"dst": {"RetransSegs": 9, "module": "stats: trips=8"}}')
        with unittest.mock.patch.object(one, "text", lambda _: said):
            self.assertEqual(metrics.kernel_resent(one, {}), 7)
            self.assertEqual(metrics.trips(one, {}), 3)

    def test_cwnd_swing(self):
        class Fake:
            flows = {"f": {"start": 4, "seconds": 9}}
            only_flow = staticmethod(lambda: "f")
            folder = Path("x")
            samples = [(4.5, "cwnd:999"), (5, "cwnd:100 cwnd:10"), (6, "cwnd:300"),
                       (7, "cwnd:500")]
        # From second 1 to 3 of the flow; a control connection's ten are not its window
        self.assertAlmostEqual(metrics.cwnd_swing(Fake, {"from": 1, "until": 3}), 100)
        with self.assertRaisesRegex(BenchError, "no window from 8 s on"):
            metrics.cwnd_swing(Fake, {"from": 4, "until": 5})

    def test_flows_together(self):
        class Fake:
            flows = {"a": {"name": "a", "start": 0},
                     "b": {"name": "b", "start": 1}}

            @staticmethod
            def received(flow):
                return self.PARTS if flow == "a" else self.PARTS[:20]
        self.assertAlmostEqual(metrics.total(
            Fake(), {"from": 1, "until": 3}), (200 + 10 + 100) / 2)
        self.assertAlmostEqual(metrics.part(Fake(), {"flow": "b"}),
                               100 * 110 / 320)

    def test_port(self):
        plan = {"flows": [{"name": "a", "tool": "nuttcp"},
                          {"name": "b", "tool": "iperf3"}]}
        self.assertEqual(raw.Raw("/", plan).port("a"), 5701)
        self.assertEqual(raw.Raw("/", plan).port("b"), 5202)

    def test_frames_of_a_flow(self):
        plan = {"flows": [{"name": "a", "tool": "iperf3"},
                          {"name": "b", "tool": "iperf3"}]}
        text = "1.5\t1514\t40000,5201\n2.5\t1514\t5202,40001\n3.5\t1514\t\n"
        one = raw.Raw("/", plan)
        with unittest.mock.patch.object(raw, "tshark", return_value=text) as said:
            self.assertEqual(one.frames("dst", "b"), [(2.5, 1514)])
            self.assertEqual(len(one.frames("dst")), 3)
            self.assertEqual(said.call_count, 1)
            one.frames("src")
            self.assertIn("ip.dst == 10.77.0.0/16 && frame.len > 1000 && !icmp",
                          said.call_args.args)

    def test_nuttcp(self):
        line = "megabytes=1.0000 real_sec=0.10 rate_Mbps=83.8"
        text = f"{line}\n{line}\n{line} tx_cpu=0 rx_cpu=0 retrans=7\n"
        self.assertEqual(raw.nuttcp_intervals(text),
                         [(0.0, 0.1, 1048576), (0.1, 0.2, 1048576)])
        self.assertEqual(raw.nuttcp_fields(text)["retrans"], "7")
