#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Unit tests of the bench's pure parts; TAP.  No machine is booted."""

import copy
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import bench
import calibration
import description
import formula
import judge
import metrics
import network
import plots
import raw
import report
import units
from errors import BenchError
from expand import runs_of

SMALL = {
    "title": "t", "source": "s", "why": "w",
    "path": {"rate": "1gbit", "rtt": "10ms"},
    "sender": {"fcwnd": "1.3bdp"},
    "flow": [{"name": "f", "tool": "iperf3", "from": "src", "to": "dst",
              "seconds": 2}],
    "measure": [{"name": "goodput", "metric": "goodput",
                 "paper": {"1gbit 10ms": 900.0}, "tolerance": "10%"}],
    "vary": [{"path.rate": ["1gbit", "100mbit"]},
             {"path.rtt": ["10ms", "50ms"]}],
}


def small(**changes):
    """SMALL with some sections replaced."""
    return {**copy.deepcopy(SMALL), **changes}


class Units(unittest.TestCase):
    """Quantities"""

    def test_values(self):
        self.assertEqual(units.rate("4gbit"), 4000000000)
        self.assertEqual(units.rate("0.5kbit"), 500)
        self.assertAlmostEqual(units.time("26ms"), 0.026)
        self.assertEqual(units.size("100kB", 1514, 1), 100000)
        self.assertEqual(units.size("1KiB", 1514, 1), 1024)
        self.assertEqual(units.size("10p", 1514, 1), 15140)
        self.assertEqual(units.size("1.3bdp", 1514, 1000), 1300)
        self.assertAlmostEqual(units.part("1/22000"), 1 / 22000)
        self.assertAlmostEqual(units.part("0.1%"), 0.001)
        self.assertEqual(units.part(0), 0)

    def test_refused(self):
        for read, bad in ((units.rate, "4gbps"), (units.rate, "4"),
                          (units.time, "26"), (units.part, "2"),
                          (units.part, "1/0"), (units.part, "some")):
            with self.assertRaisesRegex(BenchError, f'"{bad}"'):
                read(bad)
        with self.assertRaisesRegex(BenchError, '"100kb"'):
            units.size("100kb", 1514, 1)


class Formulas(unittest.TestCase):
    """Models"""

    def test_values(self):
        names = {"line": 900, "fcwnd": 10, "loss": 0.01}
        self.assertEqual(formula.evaluate("min(line, fcwnd * 8)", names), 80)
        self.assertAlmostEqual(formula.evaluate("-1 / sqrt(loss)", names),
                               -10)

    def test_refused(self):
        for bad in ("line +", "open('x')", "nothing", "line.real", "'a'"):
            with self.assertRaises(BenchError):
                formula.evaluate(bad, {"line": 1})


class Descriptions(unittest.TestCase):
    """Loading and checking"""

    def refused(self, words, **changes):
        with self.assertRaisesRegex(BenchError, words):
            description.check(small(**changes))

    def test_small_is_good(self):
        description.check(small())

    def test_refused(self):
        self.refused('path.rate: "4gbps" is not a rate',
                     path={"rate": "4gbps", "rtt": "1ms"})
        self.refused('"path.rat".*did you mean path.rate',
                     path={"rat": "1gbit", "rate": "1gbit", "rtt": "1ms"})
        self.refused("path.rtt is missing", path={"rate": "1gbit"})
        self.refused('"pth"', pth={"rate": "1gbit"})
        self.refused("pace needs fcwnd", sender={"pace": "50mbit"})
        self.refused("differ in length", vary=[
            {"path.rate": ["1gbit"], "path.rtt": ["1ms", "2ms"]}])
        self.refused('vary: "path" names nothing', vary=[{"path": ["x"]}])
        self.refused('vary.path.rtt: "fast"', vary=[{"path.rtt": ["fast"]}])
        self.refused('no flow is called "g"', measure=[
            {"name": "m", "metric": "goodput", "flow": "g"}])
        self.refused('"speed" is none of', measure=[
            {"name": "m", "metric": "speed"}])
        self.refused("either seconds or bytes", flow=[
            {"name": "f", "tool": "udp", "from": "src", "to": "dst"}])
        self.refused("nuttcp counts buffers", flow=[
            {"name": "f", "tool": "nuttcp", "from": "src", "to": "dst",
             "bytes": "1MB"}])
        self.refused("only iperf3 reads and writes", flow=[
            {"name": "f", "tool": "nuttcp", "from": "src", "to": "dst",
             "seconds": 1, "writes": "1gbit"}])
        self.refused('"m": expect and tolerance', measure=[
            {"name": "m", "metric": "goodput", "expect": 1}])
        self.refused('"m": expect and tolerance', measure=[
            {"name": "m", "metric": "goodput", "tolerance": "5%"}])
        self.refused('"1" is not true or false',
                     path={"rate": "1gbit", "rtt": "1ms", "offloads": 1})
        self.refused("only with offloads", path={
            "rate": "1gbit", "rtt": "1ms", "gso": "512KiB"})
        self.refused("traced is IPv4", hosts={"trace": ["dst"]}, path={
            "rate": "1gbit", "rtt": "1ms", "ipv6": True})

    def test_not_toml(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write("title = ")
            file.flush()
            with self.assertRaisesRegex(BenchError, "not TOML"):
                description.load(file.name)

    def test_all_of_the_tree(self):
        every = description.load_all()
        self.assertGreater(len(every), 5)
        for one in every:
            runs = runs_of(one)
            judge.check_tables(one, runs)
            figures = {m["name"]: 1.0 for m in one["measure"]}
            self.assertTrue(judge.rows_of(one, [(r, figures) for r in runs]))


class Expansion(unittest.TestCase):
    """Descriptions into runs"""

    def test_axes_are_crossed(self):
        runs = runs_of(small())
        self.assertEqual([r["label"] for r in runs],
                         ["1gbit 10ms", "1gbit 50ms", "100mbit 10ms",
                          "100mbit 50ms"])
        self.assertEqual(runs[3]["plan"]["bdp"], 625000)

    def test_window_in_segments(self):
        plan = runs_of(small())[0]["plan"]
        self.assertEqual(plan["fcwnd"], round(1.3 * 1250000) // 1514)
        self.assertAlmostEqual(plan["payload_rate"], 1e9 * 1448 / 1514)

    def test_ipv6(self):
        path = {"rate": "1gbit", "rtt": "10ms", "mtu": 9000, "offloads": True}
        plan = runs_of(small(path={**path, "ipv6": True}, vary=[]))[0]["plan"]
        self.assertEqual((plan["mss"], plan["gso"]), (8928, 65536))
        plan = runs_of(small(path={**path, "gso": "512KiB"}, vary=[]))[0]["plan"]
        self.assertEqual((plan["mss"], plan["gso"]), (8948, 524288))

    def test_keys_of_one_axis_go_together(self):
        runs = runs_of(small(vary=[
            {"label": ["a", "b"], "path.rtt": ["1ms", "2ms"],
             "flow.f.cc": ["cubic", "htcp"]}]))
        self.assertEqual([(r["label"], r["plan"]["rtt"],
                           r["plan"]["flows"][0]["cc"]) for r in runs],
                         [("a", 0.001, "cubic"), ("b", 0.002, "htcp")])

    def test_seeds(self):
        runs = runs_of(small(seeds=3, vary=[]))
        self.assertEqual([r["seed"] for r in runs], [1, 2, 3])
        self.assertEqual(runs[0]["label"], "all")
        self.assertEqual(runs[0]["plan"], runs[2]["plan"])

    def test_the_description_stays(self):
        one = small()
        runs_of(one)
        self.assertEqual(one, SMALL)


class Networks(unittest.TestCase):
    """What ip is told to do"""

    def lines(self, **plan):
        wires = network.Wires({"mtu": 9000, "ipv6": False, "gso": 65536, **plan})
        wires.add("src", "sw")
        wires.link("src", "eth1", "sw", "from-src", "10.77.1")
        wires.route("src", "10.79.0.0/16", "10.77.1.2")
        return wires.first[-1], wires.ip["src"]

    def test_ipv4_alone(self):
        link, words = self.lines()
        self.assertEqual(link, "link add eth1 mtu 9000 netns src type veth peer name "
                               "from-src mtu 9000 netns sw")
        self.assertFalse([w for w in words if "fd00" in w])

    def test_big_tcp(self):
        link, words = self.lines(ipv6=True, gso=524280)
        self.assertRegex(link, "eth1 mtu 9000 .* from-src mtu 9008")
        self.assertIn("addr add fd00:10:77:1::1/64 dev eth1 nodad", words)
        self.assertIn("route add fd00:10:79::/48 via fd00:10:77:1::2", words)


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

    def test_series(self):
        class Fake:
            flows = {"f": {"start": 4}}

            @staticmethod
            def received(_):
                return Metrics.PARTS
        by_second = bench.series(Fake, 1)["f"]
        self.assertEqual([round(t, 3) for t, _ in by_second], [4.5, 5.5, 6.5])
        for (_, rate), wanted in zip(by_second, (10, 100, 100)):
            self.assertAlmostEqual(rate, wanted)
        self.assertEqual(len(bench.series(Fake, 0.1)["f"]), 30)

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


class Judging(unittest.TestCase):
    """Rows and their verdicts"""

    def rows(self, value, **more):
        one = small(vary=[])
        one["measure"] = [{"name": "m", "metric": "goodput", **more}]
        return judge.rows_of(one, [(r, {"m": value}) for r in runs_of(one)])

    def held(self, value, **more):
        return [v[0] for v in self.rows(value, **more)[0]["verdicts"]]

    def test_paper_with_tolerance(self):
        more = {"paper": {"all": 100}, "tolerance": "5%"}
        self.assertEqual(self.held(104, **more), [True])
        self.assertEqual(self.held(106, **more), [False])

    def test_expected(self):
        self.assertEqual(self.held(957, expect="line", tolerance="5"), [True])
        self.assertEqual(self.held(950, expect="line", tolerance="5"),
                         [False])
        self.assertEqual(self.held(957, model="line", expect="model",
                                   tolerance="5"), [True])
        self.assertEqual(self.held(5, least=5, most=4), [True, False])
        self.assertEqual(self.held(1, paper={"all": 2}), [])
        self.assertEqual(self.held(float("inf"), most=3), [False])

    def test_for_one_axis(self):
        one = small(vary=[{"path.rtt": ["1ms", "2ms"]},
                          {"path.rate": ["1gbit", "2gbit"]}])
        one["measure"] = [{"name": "m", "metric": "goodput", "least": {
            "1ms": 2, "1ms 2gbit": 4}}]
        rows = judge.rows_of(one, [(r, {"m": 3}) for r in runs_of(one)])
        self.assertEqual([[v[0] for v in r["verdicts"]] for r in rows],
                         [[True], [False], [], []])

    def refused(self, **more):
        one = small(measure=[{"name": "m", "metric": "goodput", **more}])
        judge.check_tables(one, runs_of(one))

    def test_refused(self):
        with self.assertRaisesRegex(BenchError, '"al", and no run'):
            self.refused(least={"al": 2})
        with self.assertRaisesRegex(BenchError, 'run "1gbit 10ms" is both'):
            self.refused(least={"1gbit": 2, "10ms": 1})
        self.refused(least={"1gbit": 2, "100mbit 10ms": 1})
        with self.assertRaisesRegex(BenchError, '"model" is not a formula'):
            self.rows(1, expect="model", tolerance="5")
        with self.assertRaisesRegex(BenchError, '"model" is not a formula'):
            self.rows(1, model={"one": 1}, least="model")

    def test_what_stands_behind_a_label(self):
        axis = {"label": ["a", "b"], "path.rtt": ["1ms", "2ms"],
                "hosts.src": [{"net.x": 1}, {}]}
        self.assertEqual(report.what_of(axis, 0), "path rtt 1ms, net.x = 1 on src")
        self.assertEqual(report.what_of({"label": ["a"], "hosts.src": [{}]}, 0),
                         "nothing more")

    def test_median_of_seeds(self):
        one = small(vary=[], seeds=3)
        one["measure"] = [{"name": "m", "metric": "goodput"}]
        row = judge.rows_of(one, [(r, {"m": 10 ** r["seed"]})
                                  for r in runs_of(one)])[0]
        self.assertEqual((row["value"], row["low"], row["high"]),
                         (100, 10, 1000))

    def test_bad_tolerance(self):
        with self.assertRaisesRegex(BenchError, '"narrow"'):
            judge.slack("narrow", 1)


class Calibration(unittest.TestCase):
    """Ranges, and what lies outside of them"""

    def test_span(self):
        self.assertEqual(calibration.span(
            [(1, True), (4, True), (10, False), (20, True)]), [1, 4])
        self.assertIsNone(calibration.span([(1, False)]))

    def test_objection(self):
        plan = runs_of(small(vary=[]))[0]["plan"]
        ranges = {"rate, offloads off": [1e8, 1e9], "rtt": [0.001, 0.3]}
        self.assertIsNone(calibration.objection(ranges, plan))
        self.assertRegex(calibration.objection(
            ranges, {**plan, "rate": 4e9}), "4000 Mbit/s is outside")
        self.assertRegex(calibration.objection(
            ranges, plan, [{"metric": "gap"}]), "spacing was not calibrated")
        self.assertRegex(calibration.objection(
            ranges, {**plan, "loss": 0.1}), "loss was not calibrated")
        self.assertRegex(calibration.objection(
            ranges, {**plan, "offloads": True}), "offloads on was not")
        self.assertRegex(calibration.objection(
            ranges, {**plan, "offloads": True, "gso": 524288}),
                         "BIG TCP was not")

    def test_kernels(self):
        with tempfile.TemporaryDirectory() as folder, \
                unittest.mock.patch.object(calibration, "FILE",
                                           Path(folder) / "c.json"):
            self.assertEqual(calibration.ranges_of("uml-6.1-a"), {})
            calibration.remember("uml-6.1-a", [("rtt", 0.1, True)])
            calibration.remember("uml-6.1-a", [("rtt", 0.2, True)])
            calibration.remember("uml-7.3-b", [("loss", 0.1, False)])
            self.assertEqual(calibration.ranges_of("uml-6.1-a"),
                             {"rtt": [0.1, 0.2]})
            self.assertEqual(calibration.ranges_of("uml-7.3-b"), {"loss": None})

    def test_only_what_is_missing(self):
        every = [{**small(vary=[]), "id": "cal-rtt", "calibrates": "rtt"},
                 {**small(vary=[{"machine.kernel": ["6.1", "newest"]}]),
                  "id": "X"}]
        known = {"6.1": {"rate, offloads off": [1e8, 1e9], "rtt": [0.001, 0.3]}}
        labs = unittest.mock.Mock()
        labs.on = lambda kernel: unittest.mock.Mock(kernel_hash=lambda: kernel)
        with unittest.mock.patch.object(calibration, "ranges_of",
                                        lambda kernel: known.get(kernel, {})):
            found = bench.needs_calibration(labs, every, every[1:])
            self.assertEqual([d["id"] for d in found], ["cal-rtt.newest"])
            self.assertEqual({r["kernel"] for r in runs_of(found[0])}, {"newest"})
            known.clear()
            self.assertEqual([d["id"] for d in bench.needs_calibration(
                labs, every, every[1:])], ["cal-rtt", "cal-rtt.newest"])
            self.assertEqual([d["id"] for d in bench.needs_calibration(
                labs, every, every)], ["cal-rtt.newest"])
            known.update({k: {"rate, offloads off": [1e8, 1e9],
                              "rtt": [0.001, 0.3]} for k in ("6.1", "newest")})
            self.assertEqual(bench.needs_calibration(labs, every, every), [])
            self.assertEqual([d["id"] for d in bench.needs_calibration(
                labs, every, every, True)], ["cal-rtt.newest"])
            labs.on = unittest.mock.Mock(side_effect=BenchError)
            self.assertEqual(bench.needs_calibration(labs, every, every), [])


class Report(unittest.TestCase):
    """What a reader gets"""

    def test_tables_and_escapes(self):
        out = report.to_html(["# a<b", "", "| x | y |", "|---|---|",
                              "| 1 | **2** |", "", "text"])
        self.assertEqual(out, "<h1>a&lt;b</h1>\n<table><tr><th>x</th>"
                         "<th>y</th></tr><tr><td>1</td><td><strong>2"
                         "</strong></td></tr></table>\n<p>text</p>")

    def test_refused_has_no_figure(self):
        lines = report.markdown({"description": {**small(), "id": "X"},
                                 "refused": "too fast", "rows": []}, None)
        self.assertIn("**Not reported: too fast.**", lines)
        self.assertFalse([line for line in lines if line.startswith("|")])

    def test_contents(self):
        rows = [{"verdicts": [(True, ""), (False, "")]}, {"verdicts": [(True, "")]}]
        every = report.in_order([
            {"description": {**small(), "id": "cal", "calibrates": "rtt"},
             "rows": rows, "again": []},
            {"description": {**small(), "id": "X"}, "rows": rows,
             "again": [(True, "")]}])
        self.assertEqual(report.contents(every)[2:],
                         ["| X | t | s | 3 of 4 |", "| cal | t | s | 2 of 3 |", ""])

    def test_numbers(self):
        self.assertEqual([judge.shown(v) for v in
                          (None, 0, 3, 3805.6, 0.00171, float("inf"), 99.54)],
                         ["", "0", "3", "3806", "0.00171", "never", "99.54"])


class Plots(unittest.TestCase):
    """What a reader sees"""

    def test_names_of_lines(self):
        self.assertEqual(plots.line_name("all", "first", [1, 2]), "first")
        self.assertEqual(plots.line_name("all", "first", [1]), "first")
        self.assertEqual(plots.line_name("H-TCP", "first", [1]), "H-TCP")
        self.assertEqual(plots.line_name("H-TCP", "first", [1, 2]),
                         "H-TCP, first")

    def test_lines_are_measures_and_axes(self):
        rows = [{"measure": m, "label": lab} for lab in ("1 x", "2 x")
                for m in ("a", "b", "c")]
        experiment = {"rows": rows, "axes": {"1 x": ["1", "x"], "2 x": ["2", "x"]}}
        one = plots.groups_of(experiment, plots.names_of({"measure": "a"}))
        self.assertEqual({k: [v[0] for v in vs] for k, vs in one.items()},
                         {"x": ["1", "2"]})
        two = plots.groups_of(experiment, plots.names_of({"measures": ["a", "c"]}))
        self.assertEqual(sorted(two), ["a x", "c x"])

    def test_one_line_for_a_model(self):
        same = {"reno": [(1, 5, None, 6), (2, 5, None, 7)],
                "bbr": [(1, 4, None, 6), (2, 4, None, 7)]}
        self.assertEqual(plots.models_of(same), {"reno": "model"})
        more = same | {"off": [(1, 4, None, 1), (2, 4, None, 2)]}
        self.assertEqual(plots.models_of(more),
                         {"reno": "reno model", "off": "off model"})
        self.assertEqual(plots.models_of({"": [(1, 2, 3, None)]}), {})
        self.assertEqual(plots.models_of({"": [(1, 2, 3, 4)]}), {"": "model"})
        self.assertEqual(plots.models_of({"bbr": [(1, 2, None, None)],
                                          "reno": [(1, 2, None, 4)]}),
                         {"reno": "reno model"})

    def test_clusters_of_bars(self):
        groups = {"a": [("x", 1), ("y", 2)], "c": [("x", 3), ("y", 4)]}
        labels, wide, found = plots.clusters_of(groups)
        self.assertEqual((labels, wide), (["x", "y"], 3))
        self.assertEqual(found, {"a": [(0, 1), (3, 2)], "c": [(1, 3), (4, 4)]})
        one = plots.groups_of({"rows": [{"measure": "m", "label": "all"}],
                               "axes": {"all": []}}, ["m"])
        self.assertEqual(plots.clusters_of(one)[0], ["all"])
        _, wide, found = plots.clusters_of({"": [("x", 1), ("y", 2)]})
        self.assertEqual((wide, found), (1, {"": [(0, 1), (1, 2)]}))

    def test_every_kind_is_drawn(self):
        rows = [{"measure": m, "label": lab, "value": 2.0, "paper": 1.0,
                 "unit": "s"} for lab in ("1", "2") for m in ("a", "b")]
        experiment = {"rows": rows, "axes": {"1": ["1"], "2": ["2"]},
                      "series": {"1": {"f": [[0, 1], [1, 2]]}}}
        with tempfile.TemporaryDirectory() as folder:
            for kind in plots.KINDS:
                path = Path(folder) / f"{kind}.svg"
                experiment["description"] = {
                    "plot": {"kind": kind, "measures": ["a", "b"]}}
                self.assertTrue(plots.draw(experiment, path))
                self.assertGreater(path.read_text().count("<path"), 4)


class Tap(unittest.TestResult):
    """One line for each test"""

    def say(self, test, error=None):
        ok = "not ok" if error else "ok"
        print(f"{ok} {self.testsRun} - {type(test).__doc__}: "
              f"{test.id().rsplit('.', 1)[1].removeprefix('test_')}")
        for line in (error or "").splitlines():
            print(f"# {line}")

    def addSuccess(self, test):
        super().addSuccess(test)
        self.say(test)

    def addError(self, test, err):
        super().addError(test, err)
        self.say(test, self.errors[-1][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.say(test, self.failures[-1][1])


def main():
    """All tests of this file."""
    sys.path.insert(0, str(Path(__file__).parent))
    suite = unittest.defaultTestLoader.loadTestsFromModule(
        sys.modules[__name__])
    result = Tap()
    suite.run(result)
    print(f"1..{result.testsRun}")
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
