# SPDX-License-Identifier: GPL-2.0
"""What holds, and within what the lab carries."""

import tempfile
import unittest
import unittest.mock
from pathlib import Path

import bench
import calibration
import judge
import report
from errors import BenchError
from expand import runs_of
from small import small


class Judging(unittest.TestCase):
    """Rows and their verdicts"""

    def rows(self, value, **more):
        one = small(vary=[])
        one["measure"] = [{"name": "m", "metric": "goodput", **more}]
        return judge.rows_of(one, [(r, {"m": value}) for r in runs_of(one)])

    def held(self, value, **more):
        return [v[0] for v in self.rows(value, **more)[0]["verdicts"]]

    def test_made_again(self):
        again = (False, "all: another file the second time")
        self.assertEqual(judge.verdicts_of({"rows": self.rows(1, least=1), "again": [again]}),
                         [(True, "all: m 1 (at least 1)"), again])

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

    def test_seeds_apart(self):
        one = small(vary=[], seeds=3)
        for apart, values, held in (("1%", (99.5, 100, 100.4), True),
                                    ("1%", (99.5, 100, 100.6), False),
                                    ("2", (6, 5, 7), True), ("0", (6, 6, 6), True),
                                    ("0", (6, 6, 7), False)):
            one["measure"] = [{"name": "m", "metric": "goodput", "apart": apart}]
            rows = judge.rows_of(one, [(r, {"m": v}) for r, v in zip(runs_of(one), values)])
            self.assertEqual([v[0] for v in rows[0]["verdicts"]], [held], (apart, values))

    def test_for_one_axis(self):
        one = small(vary=[{"path.rtt": ["1ms", "2ms"]},
                          {"path.rate": ["1gbit", "2gbit"]}])
        one["measure"] = [{"name": "m", "metric": "goodput", "least": {
            "1ms": 2, "1ms 2gbit": 4}}]
        rows = judge.rows_of(one, [(r, {"m": 3}) for r in runs_of(one)])
        self.assertEqual([[v[0] for v in r["verdicts"]] for r in rows],
                         [[True], [False], [], []])

    def test_verdict_names_a_run(self):
        one = small(verdict={"word": "partly", "because": "",
                             "figures": [["goodput", "2gbit"]]})
        with self.assertRaisesRegex(BenchError, 'names "2gbit", and no run'):
            judge.check_tables(one, runs_of(one))

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

    def test_points(self):
        one = {**small(vary=[{"path.rtt": ["10ms", "50ms"]}]), "calibrates": "rtt"}
        results = [(run, {}) for run in runs_of(one)]
        rows = [{"label": "10ms", "verdicts": [(True, ""), (False, "")]},
                {"label": "10ms", "verdicts": [(True, "")]},
                {"label": "50ms", "verdicts": [(True, "")]}]
        self.assertEqual(calibration.points_of(one, rows, results),
                         [("rtt", 0.01, False), ("rtt", 0.05, True)])

    def test_what_a_run_shows(self):
        plan = runs_of(small(vary=[]))[0]["plan"]
        for axis, more, shown in (
                ("rate", {}, ("rate, offloads off", 1e9)),
                ("rate", {"mtu": 9000}, ("rate, offloads off, jumbo frames", 1e9)),
                ("rate", {"mtu": 9000, "offloads": True}, ("rate, offloads on", 1e9)),
                ("rate", {"line": 5e8}, ("port, offloads off", 5e8)),
                ("rate", {"line": 5e8, "offloads": True}, ("port, offloads on", 5e8)),
                ("spacing", {}, ("spacing", 1e9)),
                ("loss", {"loss": 0.1}, ("loss", 0.1)),
                ("loss", {"reorder": 0.2}, ("reorder", 0.2))):
            self.assertEqual(calibration.proven(axis, {**plan, **more}), shown)

    def test_objection(self):
        plan = runs_of(small(vary=[]))[0]["plan"]
        ranges = {"rate, offloads off": [1e8, 1e9], "rtt": [0.001, 0.3],
                  "port, offloads off": [1e8, 5e8]}
        self.assertIsNone(calibration.objection(ranges, plan))
        for key, value, words in (("rate", 5e7, "50 Mbit/s is outside"),
                                  ("line", 2e9, "^2000 Mbit/s is outside"),
                                  ("line", 1e9, "a port of 1000 Mbit/s is outside"),
                                  ("reorder", 0.1, "0.1 of the frames .*not calibrated"),
                                  ("mtu", 9000, "jumbo frames was not calibrated"),
                                  ("rtt", 0.0005, "0.5 ms is outside"),
                                  ("rtt2", 0.4, "400 ms is outside")):
            self.assertRegex(calibration.objection(ranges, {**plan, key: value}),
                             words)
        self.assertIsNone(calibration.objection(ranges, {**plan, "line": 5e8}))
        self.assertRegex(calibration.objection(
            ranges, {**plan, "rate": 4e9}), "4000 Mbit/s is outside")
        self.assertRegex(calibration.objection(
            ranges, plan, [{"metric": "gap"}]), "spacing was not calibrated")
        self.assertRegex(calibration.objection(
            ranges, {**plan, "loss": 0.1}), "loss was not calibrated")
        counted = [{"metric": "path_drops"}]
        known = {**ranges, "loss": [1e-5, 0.05]}
        self.assertRegex(calibration.objection(known, {**plan, "loss": 1e-6}),
                         "a loss of 1e-06 is outside")
        self.assertIsNone(calibration.objection(known, {**plan, "loss": 1e-6}, counted))
        self.assertRegex(calibration.objection(known, {**plan, "loss": 0.1}, counted),
                         "a loss of 0.1 is outside")
        self.assertRegex(calibration.objection(ranges, {**plan, "loss": 1e-6}, counted),
                         "loss was not calibrated")
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
            calibration.remember("uml-6.1-a", "cal-rtt", [("rtt", 0.1, True)])
            calibration.remember("uml-6.1-a", "cal-more", [("rtt", 0.2, True)])
            calibration.remember("uml-7.3-b", "cal-loss", [("loss", 0.1, False)])
            self.assertEqual(calibration.ranges_of("uml-6.1-a"),
                             {"rtt": [0.1, 0.2]})
            self.assertEqual(calibration.ranges_of("uml-7.3-b"), {"loss": None})
            calibration.remember("uml-7.3-b", "cal-loss", [("loss", 0.1, True)])
            self.assertEqual(calibration.ranges_of("uml-7.3-b"), {"loss": [0.1, 0.1]})

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
