# SPDX-License-Identifier: GPL-2.0
"""A description's words: units, formulas, sections, runs."""

import tempfile
import unittest

import description
import formula
import judge
import prose
import units
from errors import BenchError
from expand import runs_of
from small import SMALL, small


class Units(unittest.TestCase):
    """Quantities"""

    def test_values(self):
        self.assertEqual(units.rate("4gbit"), 4000000000)
        self.assertEqual(units.rate("0.5kbit"), 500)
        self.assertAlmostEqual(units.time("26ms"), 0.026)
        self.assertAlmostEqual(units.time("250us"), 0.00025)
        self.assertEqual(units.size("100kB", 1514, 1), 100000)
        self.assertEqual(units.size("1KiB", 1514, 1), 1024)
        self.assertEqual(units.size("10p", 1514, 1), 15140)
        self.assertEqual(units.size("1.3bdp", 1514, 1000), 1300)
        self.assertAlmostEqual(units.part("1/22000"), 1 / 22000)
        self.assertAlmostEqual(units.part("0.1%"), 0.001)
        self.assertEqual(units.part(0), 0)

    def test_refused(self):
        for read, bad in ((units.rate, "4gbps"), (units.rate, "4"),
                          (units.time, "26"), (units.part, "2"), (units.part, "1"),
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
        self.assertEqual(formula.evaluate("2 ** 3 - 1", {}), 7)

    def test_names(self):
        one = small(vary=[], path={"rate": "1gbit", "rtt": "10ms", "line": "500mbit",
                                   "buffer": "20p"},
                    sender={"fcwnd": "100p", "burst": "2p", "limit": "9p"})
        one["flow"].append({**one["flow"][0], "name": "g", "streams": 3})
        names = formula.names_of(runs_of(one)[0]["plan"])
        self.assertAlmostEqual(names.pop("line"), 1000 * 1448 / 1514)
        self.assertEqual(names, {
            "rate": 1000, "rtt": 0.01, "mss": 1448, "wire": 1514, "bdp": 1250000,
            "fcwnd": 100, "window": 151400, "limit": 9 * 1514, "burst": 2 * 1514,
            "buffer": 20 * 1514, "port": 500, "buffers": 0, "streams": 4, "loss": 0})

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
        self.refused("either seconds or bytes", flow=[
            {"name": "f", "tool": "iperf3", "from": "src", "to": "dst",
             "seconds": 1, "bytes": "1MB"}])
        self.refused("two flows have one name", flow=SMALL["flow"] * 2)
        self.refused("nuttcp counts buffers", flow=[
            {"name": "f", "tool": "nuttcp", "from": "src", "to": "dst",
             "bytes": "1MB"}])
        self.refused("only iperf3 reads and writes", flow=[
            {"name": "f", "tool": "nuttcp", "from": "src", "to": "dst",
             "seconds": 1, "writes": "1gbit"}])
        for words, plot in (
                ("plot.kind is missing", {"x": "rate"}),
                ("plot.x is missing", {"kind": "bars", "measure": "goodput"}),
                ('panels: "run" is for plots over time', {
                    "kind": "against", "measure": "goodput", "x": "", "panels": "run"}),
                ('panels: "all" is none of run, flow, first, line', {
                    "kind": "over_time", "panels": "all"}),
                ("plot.mean is for plots over time", {
                    "kind": "bars", "measure": "goodput", "x": "", "mean": "1s"}),
                ("plot.until is for plots over time", {"kind": "arrivals", "until": 1}),
                ("plot.same is for plots over time", {
                    "kind": "bars", "measure": "goodput", "x": "rate", "same": True}),
                ("plot.last is for plots", {"kind": "over_time", "last": True}),
                ('log: "yx" is none of x, y, xy', {"kind": "bars", "log": "yx"})):
            self.refused(words, plot=plot)
        description.check(small(plot={"kind": "over_time", "panels": "flow", "clip": 9}))
        for row in ["goodput"], ["else", "all"], "goodput":
            self.refused("is not .*MEASURE.* of a measure", verdict={
                "word": "partly", "because": "", "figures": [row]})
        self.refused('"never" is none of reproduced', verdict={
            "word": "never", "because": "", "figures": []})
        self.refused('"0" is no number of seeds', seeds={"1gbit": 0})
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

    def test_what_a_reader_is_owed(self):
        for key in "question", "difference", "evidence", "verdict":
            one = small()
            del one[key]
            with self.assertRaisesRegex(BenchError, f"^{key} is missing"):
                description.check(one)
            description.check({**one, "calibrates": "rtt"})

    def test_only_what_is_asked_for(self):
        self.assertEqual([d["id"] for d in description.load_all(ids=["D1"])
                          if "calibrates" not in d], ["D1"])
        self.assertIn("D1", description.names_of())

    def test_not_toml(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write("title = ")
            file.flush()
            with self.assertRaisesRegex(BenchError, "not TOML"):
                description.load(file.name)

    def test_all_of_the_tree(self):
        every = description.load_all()
        self.assertGreater(len(every), 5)
        calibrates = ["calibrates" in one for one in every]
        self.assertEqual(calibrates, sorted(calibrates, reverse=True))
        self.assertTrue(calibrates[0])
        for one in every:
            runs = runs_of(one)
            judge.check_tables(one, runs)
            figures = {m["name"]: 1.0 for m in one["measure"]}
            self.assertTrue(judge.rows_of(one, [(r, figures) for r in runs]))

    def test_numbers_in_prose_are_filled_in(self):
        for one in description.load_all():
            self.assertEqual(prose.strangers(one), [], one["id"])

    def test_no_loss_at_all_would_be_found(self):
        """By every calibration of loss: none is four standard deviations off"""
        for one in description.load_all():
            for run in runs_of(one) if one.get("calibrates") == "loss" else []:
                part = run["plan"]["loss"] or run["plan"]["reorder"]
                self.assertGreater(frames_of(run["plan"]) * part, 16,
                                   f'{one["id"]} {run["label"]}')


def frames_of(plan):
    """Of the first flow, as loss_sigmas counts them"""
    flow = plan["flows"][0]
    if flow["bytes"]:
        return flow["bytes"] / plan["mss"]
    size = int(flow["options"][flow["options"].index("-l") + 1])
    return flow["rate"] / 8 / size * flow["seconds"]


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

    def test_window_of_no_segment(self):
        self.assertEqual(runs_of(small(sender={"fcwnd": "1B"}))[0]["plan"]["fcwnd"], 1)
        self.assertIsNone(runs_of(small(sender={}))[0]["plan"]["fcwnd"])

    def test_every_word_is_in_the_plan(self):
        path = {"rate": "1gbit", "rtt": "10ms", "rtt2": "30ms", "line": "500mbit",
                "buffer": "20p", "loss": "1%", "reorder": "2%"}
        flow = {**SMALL["flow"][0], "start": 3, "cc": "htcp", "streams": 5,
                "rate": "1mbit", "reads": "2mbit", "writes": "3mbit"}
        plan = runs_of(small(vary=[], path=path, flow=[flow], sender={
            "burst": "2p", "limit": "9p", "pace": "4mbit"}))[0]["plan"]
        wanted = {"rtt2": 0.03, "line": 5e8, "buffer": 30280, "loss": 0.01,
                  "reorder": 0.02, "burst": 3028, "limit": 13626, "pace": 4e6}
        self.assertEqual({key: plan[key] for key in wanted}, wanted)
        wanted = {"start": 3, "cc": "htcp", "streams": 5, "rate": 1e6, "reads": 2e6,
                  "writes": 3e6, "seconds": 2, "bytes": None}
        self.assertEqual({key: plan["flows"][0][key] for key in wanted}, wanted)

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

    def test_seeds_by_row(self):
        runs = runs_of(small(seeds={"100mbit": 2, "1gbit 50ms": 3, "else": 4}))
        self.assertEqual([(r["label"], r["seed"]) for r in runs if r["seed"] > 1], [
            ("1gbit 10ms", 2), ("1gbit 10ms", 3), ("1gbit 10ms", 4),
            ("1gbit 50ms", 2), ("1gbit 50ms", 3),
            ("100mbit 10ms", 2), ("100mbit 50ms", 2)])
        self.assertEqual(len(runs_of(small(seeds={"100mbit": 2}))), 6)

    def test_the_description_stays(self):
        one = small()
        runs_of(one)
        self.assertEqual(one, SMALL)
