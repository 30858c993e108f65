# SPDX-License-Identifier: GPL-2.0
"""tcptrace beside tshark, traces with frames missing, and what single segments say."""

import subprocess
import unittest
import unittest.mock
from pathlib import Path

import metrics_segments
import metrics_tcptrace
from errors import BenchError

# As tcptrace 6.6.7 prints it, but for its other columns
CSV = """#1 arg remaining, starting with 'src.pcap'
#2 TCP connections traced:
conn_#,host_a,host_b,rexmt_data_pkts_a2b,rexmt_data_pkts_b2a,outoforder_pkts_a2b,outoforder_pkts_b2a,

1,10.77.1.1,10.79.1.2,             46,              1,              3,              5,
2,10.79.1.2,10.77.1.1,              7,              2,             11,              4,
"""
NONE = "#0 packets seen, 0 TCP packets traced\n\n#no traced TCP packets\n"
LAST_WORDS = """tcpdump: listening on eth1
52590 packets captured
%d packets received by filter
%d packet%s dropped by kernel
"""


class Traces(unittest.TestCase):
    """Figures of one trace"""

    def setUp(self):
        metrics_tcptrace.connections.cache_clear()
        metrics_tcptrace.marks.cache_clear()

    def raw(self, complete=(), said=""):
        raw = unittest.mock.Mock(folder=Path("run"), flows={"f": {"tool": "stream", "seconds": 1}})
        raw.only_flow.return_value = "f"
        raw.captured_all = lambda host: host in complete
        raw.text = {"f.client": '{"retransmits": 80}', "missing.tcpdump": said}.get
        return raw

    def tcptrace(self, name, where, stdout=CSV, stderr="no trace", **more):
        done = subprocess.CompletedProcess([], more.pop("code", 0), stdout, stderr)
        with unittest.mock.patch.object(subprocess, "run", return_value=done) as asked:
            found = metrics_tcptrace.METRICS[name](self.raw(**more), {"where": where})
        self.assertEqual(asked.call_args[0][0],
                         ["tcptrace", "-n", "-l", "--csv", f"run/{where}.pcap"])
        return found

    def test_towards_dst(self):
        self.assertEqual(self.tcptrace("tcptrace_again", "src", complete=["src"]), 48)
        self.assertEqual(self.tcptrace("tcptrace_late", "dst", complete=["dst"]), 7)

    def test_of_the_sender_where_none_is_named(self):
        self.assertEqual(metrics_tcptrace.trace_of(self.raw(complete=["src"]), {}),
                         Path("run/src.pcap"))

    def test_both_beside_what_the_tool_says(self):
        self.assertEqual(self.tcptrace("tcptrace_found", "missing"), 100 * 55 / 80)

    def test_only_one_trace_may_miss_frames(self):
        with self.assertRaisesRegex(BenchError, "tcpdump missed frames"):
            self.tcptrace("tcptrace_again", "dst", complete=["src"])

    def test_no_connection(self):
        with self.assertRaisesRegex(BenchError, "run/missing.pcap: no trace"):
            self.tcptrace("tcptrace_again", "missing", stdout=NONE)
        metrics_tcptrace.connections.cache_clear()
        with self.assertRaisesRegex(BenchError, "run/missing.pcap: no trace"):
            self.tcptrace("tcptrace_again", "missing", code=1)
        with self.assertRaisesRegex(BenchError, "run/missing.pcap: no connection"):
            self.tcptrace("tcptrace_again", "missing", stdout=NONE, stderr="")

    def test_tshark(self):
        def tshark(path, *words):
            self.assertEqual(str(path), "run/missing.pcap")
            self.assertEqual(words[1], "(tcp.analysis.retransmission || tcp.analysis.out_of_order)"
                             " && ip.dst == 10.79.0.0/16")
            self.assertEqual(words[-3::2], ("tcp.analysis.retransmission",
                                            "tcp.analysis.out_of_order"))
            return "1\t\n1\t\n\t1\n\t1\n\t1\n"
        with unittest.mock.patch.object(metrics_tcptrace, "tshark", tshark):
            self.assertEqual([metrics_tcptrace.METRICS[name](self.raw(), {"where": "missing"})
                              for name in ("tshark_again", "tshark_late", "tshark_found")],
                             [2, 3, 100 * 5 / 80])

    def test_missed(self):
        for passed, dropped, percent in ((400, 1, 0.25), (53609, 0, 0), (200, 50, 25)):
            said = LAST_WORDS % (passed, dropped, "" if dropped == 1 else "s")
            self.assertEqual(metrics_tcptrace.missed(self.raw(said=said), {}), percent)


class Segments(unittest.TestCase):
    """Headers of single segments"""

    def figure(self, name, text, missed=False, **measure):
        raw = unittest.mock.Mock(folder=Path("run"))
        raw.captured_all = lambda host: host == measure.get("where", "src") and not missed
        raw.port = {"f": 5201, "g": 5202}.get
        raw.only_flow.return_value = "f"
        with unittest.mock.patch.object(metrics_segments, "tshark", return_value=text) as asked:
            found = metrics_segments.METRICS[name](raw, measure)
        self.asked = asked.call_args[0]
        return found

    def test_payload_is_the_most_frequent(self):
        self.assertEqual(self.figure("payload", "37\n1448\n1448\n9000\n216\n"), 1448)
        self.assertEqual(self.asked, (Path("run/src.pcap"), "-Y",
                                      "ip.dst == 10.79.0.0/16 && tcp.len > 0",
                                      "-T", "fields", "-e", "tcp.len"))
        self.assertEqual(self.figure("payload", "1448\n", where="dst"), 1448)
        self.assertEqual(self.asked[0], Path("run/dst.pcap"))

    def test_windows_of_the_last_connection(self):
        # the connection of iperf3's own words goes on beside that of the data
        text = "0\t65160\n0\t65536\n1\t14480\n2\t28960\n0\t70000\n2\t29184\n2\t90000\n" \
            "0\t80000\n"
        self.assertEqual(self.figure("rwnd_syn", text), 28960)
        self.assertEqual(self.figure("rwnd_first", text), 29184)
        self.assertEqual(self.asked[2:], (
            "ip.src == 10.79.0.0/16 && tcp.srcport == 5201 && tcp.flags.reset == 0",
            "-T", "fields", "-e", "tcp.stream", "-e", "tcp.window_size"))
        self.figure("rwnd_syn", text, flow="g")
        self.assertIn("tcp.srcport == 5202", self.asked[2])

    def test_trace_has_to_be_complete(self):
        with self.assertRaisesRegex(BenchError, "tcpdump missed frames"):
            self.figure("payload", "1448\n", missed=True)
