# SPDX-License-Identifier: GPL-2.0
"""The smallest value that holds."""

import math
import os
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

import bench
import bisection
import description
import judge
import report
import results
import rotation
import search
import tables
import units
from errors import BenchError
from expand import made_for, runs_of, with_value
from small import small

SEARCH = {"key": "sender.limit", "unit": "p", "from": 1, "to": 16, "within": "100%",
          "measure": "drops", "most": 0}
MEASURES = [{"name": "smallest", "metric": "limit"},
            {"name": "drops", "metric": "shaper_drops", "at": "below", "least": 1}]


def searching(**changes):
    """A description with a search of 1, 2, 4, 8, 16 frames"""
    return small(**{"search": SEARCH, "measure": MEASURES, "vary": [], "id": "X", **changes})


def enough(need):
    """A figure for search and bench: so many frames are, {seed: of this seed; else: of others}"""
    def figure(raw, measure):
        frames = raw.plan["limit"] / raw.plan["wire"]
        if measure["metric"] == "limit":
            return frames
        wanted = need.get(int(raw.folder.name), need["else"])
        return 0 if frames >= wanted else 10 * wanted - frames
    return figure


class Bisection(unittest.TestCase):
    """Rungs, and few tries"""

    def test_ladder(self):
        self.assertEqual(bisection.ladder(1, 8, 1), [1, 2, 4, 8])
        rungs = bisection.ladder(0.015, 1, 0.1)
        self.assertEqual((rungs[0], rungs[-1]), (0.015, 1))
        parts = [b / a for a, b in zip(rungs, rungs[1:])]
        self.assertLess(max(parts), 1.101)
        self.assertGreater(min(parts), 1.095)
        self.assertEqual(len(bisection.ladder(1, 10, 0.5)), 7)

    def found(self, needed, rungs=11, seeds=1):
        """(what it found, [(rung, seed) tried]); @needed: {seed: the rung that it needs}"""
        tried = []

        def holds(rung, seed):
            tried.append((rung, seed))
            return rung >= needed.get(seed, needed[1])

        return bisection.lowest(rungs, seeds, holds), tried

    def test_every_answer(self):
        for rungs in range(1, 20):
            for answer in range(rungs + 1):
                found, tried = self.found({1: answer}, rungs)
                self.assertEqual(found, (answer, 1 if answer else None))
                self.assertLessEqual(len(tried), bisection.tries(rungs, 1))

    def test_few_tries(self):
        self.assertEqual([bisection.tries(n, 1) for n in (1, 3, 4, 11)], [1, 2, 3, 4])
        self.assertEqual(bisection.tries(11, 3), 6)

    def test_both_sides_are_tried(self):
        for answer in range(1, 11):
            tried = self.found({1: answer})[1]
            self.assertIn((answer, 1), tried)
            self.assertIn((answer - 1, 1), tried)

    def test_every_seed_confirms(self):
        found, tried = self.found({1: 6}, seeds=3)
        self.assertEqual(found, (6, 1))
        self.assertEqual(tried[-2:], [(6, 2), (6, 3)])

    def test_a_seed_that_needs_more(self):
        found, tried = self.found({1: 6, 3: 8}, seeds=3)
        self.assertEqual(found, (8, 3))
        self.assertTrue({(7, 3), (8, 1), (8, 2), (8, 3)} <= set(tried))
        self.assertEqual(len(tried), len(set(tried)), "no run is asked for twice")
        self.assertEqual(self.found({1: 6, 2: 11}, seeds=2)[0], (11, 2))


class Words(unittest.TestCase):
    """What a description may have"""

    def refused(self, words, measure=MEASURES, vary=(), **more):
        with self.assertRaisesRegex(BenchError, words):
            description.check(small(search={**SEARCH, **more}, measure=measure,
                                    vary=list(vary)))

    def test_good(self):
        description.check(small(search={**SEARCH, "unit": "fcwnd"}, measure=MEASURES))

    def test_refused(self):
        self.refused('search.key: "sender.limt" names nothing', key="sender.limt")
        self.refused('search.unit, of sender.limit: "1px" is not a size', unit="px")
        self.refused("sender.limit is varied, too", vary=[{"sender.limit": ["9p"]}])
        self.refused('"search.mst".*did you mean search.most', mst=1)
        self.refused('within: "0%" would take runs without end', within="0%")
        for within in "nan%", "inf%":
            self.refused(f'within: "{within}" would take', within=within)
        self.refused('within: "a bit" is not a tolerance', within="a bit")
        self.refused('at: "above" is none of found, below',
                     [{**MEASURES[1], "at": "above"}])
        with self.assertRaisesRegex(BenchError, "at is the place of a search"):
            description.check(small(measure=MEASURES, vary=[]))
        with self.assertRaisesRegex(BenchError, 'no measure is called "lost"'):
            description.check(small(search={**SEARCH, "measure": "lost"}))
        with self.assertRaisesRegex(BenchError, "search.most is missing"):
            description.check(small(search={k: v for k, v in SEARCH.items() if k != "most"}))

    def test_no_quantity(self):
        for key in ("sender.txqueuelen", "flow.f.cc", "flow.f.name", "plot.every",
                    "measure.drops.least", "search.within", "machine.memory"):
            self.refused(f"search.key: {key} is no quantity with a unit; path.rate", key=key)
        self.refused('search.key: "flow.g.bytes": no flow is called "g"; there are f$',
                     key="flow.g.bytes", unit="kB")
        with self.assertRaisesRegex(BenchError, 'vary: "flow.g.cc": no flow is called "g"'):
            description.check(small(vary=[{"flow.g.cc": ["reno"]}]))

    def test_ends_that_no_run_can_have(self):
        def ends(words, low, high, **more):
            with self.assertRaisesRegex(BenchError, words):
                runs_of(searching(search={**SEARCH, "from": low, "to": high, **more}))

        ends('search: from 1 to 200, for all: "200%" is not a part', 1, 200,
             key="path.loss", unit="%")
        for high in math.inf, [9], {"all": [9]}:
            ends("are no two numbers above 0", 1, high)
        for high in "sqrt(0 - 1)", "(0 - 1) ** 0.5", "10.0 ** 999":
            ends("is no number here", 1, high)
        with self.assertRaisesRegex(BenchError, 'from 0.5 to 1, for all: "0.5fcwnd" is not'):
            runs_of(searching(sender={}, search={**SEARCH, "unit": "fcwnd", "from": 0.5,
                                                 "to": 1}))

    def test_large_and_small_values(self):
        for unit, low, high, limit in ("B", 1e5, 4e6, 4000000), ("GB", 1e-5, 1e-4, 100000):
            one = searching(search={**SEARCH, "unit": unit, "from": low, "to": high})
            last = runs_of(one)[0]["search"]["values"][-1]
            self.assertEqual(runs_of(with_value(one, last))[0]["plan"]["limit"], limit)

    def test_part_of_the_window(self):
        one = small(vary=[], sender={"fcwnd": "10.5p", "limit": "0.5fcwnd"})
        description.check(one)
        self.assertEqual(runs_of(one)[0]["plan"]["limit"], 5 * 1514)
        with self.assertRaisesRegex(BenchError, '"0.5fcwnd" is not a size'):
            runs_of(small(vary=[], sender={"limit": "0.5fcwnd"}))
        with self.assertRaisesRegex(BenchError, '"1fcwnd" is not a size'):
            units.size("1fcwnd", 1514, 1)

    def test_ends_by_run(self):
        one = searching(vary=[{"path.rate": ["1gbit", "100mbit"]}], search={
            **SEARCH, "from": {"1gbit": 2, "100mbit": "fcwnd / 10"}, "to": "fcwnd"})
        fast, slow = (run["search"]["values"] for run in runs_of(one))
        self.assertEqual((fast[0], fast[-1], slow[0], slow[-1]), (2, 1073, 10.7, 107))
        with self.assertRaisesRegex(BenchError, 'from is given for "2gbit", and no run'):
            d = searching(search={**SEARCH, "from": {"2gbit": 1, "all": 2}})
            judge.check_tables(d, runs_of(d))
        for low, high in (0, 1), (2, 2), ({"2gbit": 1}, 2):
            with self.assertRaisesRegex(BenchError, "are no two numbers above 0"):
                runs_of(searching(search={**SEARCH, "from": low, "to": high}))

    def test_most_by_run(self):
        one = small(vary=[{"path.rate": ["1gbit", "100mbit"]}], measure=MEASURES, search={
            **SEARCH, "most": {"1gbit": "fcwnd / 10", "100mbit": 2}})
        description.check(one)
        self.assertEqual([run["search"]["most"] for run in runs_of(one)], [107.3, 2])
        with self.assertRaisesRegex(BenchError, "most is None for 100mbit"):
            runs_of(searching(vary=[{"path.rate": ["1gbit", "100mbit"]}],
                              search={**SEARCH, "most": {"1gbit": 1}}))
        for most in [9], {"all": [9]}:
            with self.assertRaisesRegex(BenchError, r"most is \[9\] for all"):
                runs_of(searching(search={**SEARCH, "most": most}))

    def test_with_a_value(self):
        one = with_value(searching(), 4)
        self.assertEqual(runs_of(one), runs_of(small(
            vary=[], sender={"fcwnd": "1.3bdp", "limit": "4p"})))
        self.assertNotIn("limit", searching()["sender"])

    def test_runs_at_most(self):
        self.assertEqual(made_for(searching(seeds=2, vary=small()["vary"])), 4 * (3 + 1))
        self.assertEqual(made_for(small(seeds=2)), 4 * 2)


class Searches(unittest.TestCase):
    """Runs, one after the other"""

    def found(self, need, seeds=1, **changes):
        """[run] of the search of the only label"""
        one = searching(seeds=seeds, **changes)
        with mock.patch.object(search, "figure", enough(need)):
            return [run for run, _ in search.carry_out(
                one, runs_of(one)[0], lambda run: Path(str(run["seed"])))]

    def test_found_and_below(self):
        runs = self.found({"else": 7}, 2)
        self.assertEqual(search.kept(runs), {"all": [
            [4, 1, 66, "below"], [8, 1, 0, "found"], [8, 2, 0, "found"]]})
        self.assertEqual(runs[0]["plan"]["limit"], 4 * 1514)

    def test_as_many_as_are_allowed(self):
        with_some = searching(search={**SEARCH, "most": 66})
        with mock.patch.object(search, "figure", enough({"else": 7})):
            runs = [run for run, _ in search.carry_out(
                with_some, runs_of(with_some)[0], lambda run: Path(str(run["seed"])))]
        self.assertEqual([r["value"] for r in runs if r["at"] == "found"], [4])

    def test_a_seed_that_needs_more(self):
        runs = self.found({2: 9, "else": 7}, 2)
        self.assertEqual([(r["value"], r["seed"]) for r in runs if r["at"] == "found"],
                         [(16, 1), (16, 2)])
        self.assertEqual([(r["value"], r["seed"]) for r in runs if r["at"] == "below"],
                         [(8, 2)])

    def test_nothing_to_be_found(self):
        with self.assertRaisesRegex(BenchError, "all: not even 16p is enough; search.to"):
            self.found({"else": 17})
        with self.assertRaisesRegex(BenchError, "all: 1p is enough, .* search.from"):
            self.found({"else": 1})

    def test_left(self):
        one, there = searching(seeds=2), []

        def folder_of(run):
            made = [run["plan"]["limit"], run["seed"]] in there
            return Path(str(run["seed"])) if made else None

        def left(need):
            with mock.patch.object(search, "figure", enough(need)):
                return search.left(one, runs_of(one)[0], folder_of)

        self.assertEqual(left({"else": 7}), 4)
        there += [[4 * 1514, 1], [8 * 1514, 1]]
        self.assertEqual(left({"else": 7}), 2)
        there.append([8 * 1514, 2])
        self.assertEqual(left({"else": 7}), 0)
        self.assertEqual(left({2: 9, "else": 7}), 1)
        there.append([16 * 1514, 1])
        self.assertEqual(left({"else": 17}), 0)


class Benches(unittest.TestCase):
    """The bench, with machines that take no time"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.made = []
        self.labs = mock.Mock()
        self.labs.on.return_value.folder_of.side_effect = self.folder_of
        self.labs.carry_out.side_effect = self.carry_out
        self.progress = mock.Mock()
        self.progress.run_takes.return_value = 1

    def folder_of(self, run):
        """Of its limit and seed"""
        return self.folder / str(run["plan"]["limit"]) / str(run["seed"])

    def carry_out(self, run):
        """A run that took a second"""
        self.made.append((run["plan"]["limit"] // 1514, run["seed"]))
        self.folder_of(run).mkdir(parents=True)
        (self.folder_of(run) / "done").write_text("1.0\n")
        return self.folder_of(run)

    def performed(self, one, need):
        """Its results"""
        with mock.patch.dict(os.environ, BENCH_JOBS="1"), \
                mock.patch.object(search, "figure", enough(need)), \
                mock.patch.object(bench.figures, "figure", enough(need)), \
                mock.patch.object(bench, "points_of", lambda raw, _: {}), \
                mock.patch.object(bench, "objections", lambda *_: {}):
            machines = bench.Machines(self.labs, [one], self.progress)
            try:
                return bench.perform(self.labs, machines, one)[0]
            finally:
                machines.end()

    def test_rows(self):
        found = self.performed(searching(seeds=2), {2: 9, "else": 7})
        self.assertEqual([(r["measure"], r["value"], r["low"]) for r in found["rows"]],
                         [("smallest", 16, 16), ("drops", 82, 82)])
        self.assertEqual((found["runs"], found["seconds"]), (5, 5))
        self.assertEqual(len(self.made), 5)
        self.assertEqual([try_[:2] for try_ in found["searched"]["all"]],
                         [[4, 1], [8, 1], [8, 2], [16, 1], [16, 2]])

    def test_progress(self):
        self.performed(searching(seeds=2), {"else": 7})
        self.assertEqual(self.progress.wants.call_args_list,
                         [mock.call("X", 4), mock.call("X", 0)])
        self.assertEqual(self.progress.run_ended.call_count, 3)

    def test_goes_on_where_it_was(self):
        one = searching(seeds=2)
        first = self.performed(one, {"else": 7})
        self.made.clear()
        self.assertEqual(self.performed(one, {"else": 7}), first)
        self.assertEqual(self.made, [])
        self.assertEqual(self.progress.wants.call_args_list[2], mock.call("X", 0))

    def begun(self, ending):
        """What is made of a search when that is done to its machines in its first run"""
        one, goes_on = searching(), threading.Event()
        make = self.carry_out

        def carry_out(run):
            folder = make(run)
            goes_on.wait(60)
            return folder

        self.labs.carry_out.side_effect = carry_out
        with mock.patch.dict(os.environ, BENCH_JOBS="1"), \
                mock.patch.object(search, "figure", enough({"else": 7})):
            machines = bench.Machines(self.labs, [one], self.progress)
            threading.Timer(0.2, goes_on.set).start()
            ending(machines, one)
            machines.pool.shutdown()
        return self.made

    def test_dropped_while_it_searches(self):
        self.assertLessEqual(len(self.begun(lambda machines, one: machines.drop(one))), 1)

    def test_ended_while_it_searches(self):
        self.assertLessEqual(len(self.begun(lambda machines, _: machines.end())), 1)

    def test_by_turns(self):
        made = bench.by_turns([searching(seeds=2)], [], {"X": 9}, "0/1")
        self.assertEqual(made_for(made[0]), 3)
        with mock.patch.object(rotation, "chosen", return_value=["X"]) as chosen:
            bench.by_turns([searching(seeds=2)], [], {"X": 9}, "0/1")
        self.assertEqual(chosen.call_args[0][1], {"X": 27})

    def test_report_without_a_run(self):
        done = {**self.performed(searching(seeds=2), {"else": 7}), "refused": None}
        path = self.folder / "results.json"
        results.write(path, {}, [done])
        kept = results.read(path)[1][0]
        self.assertEqual(kept["searched"], done["searched"])
        words = searching(seeds=2, result="new", measure=[
            {**MEASURES[0], "model": "limit / wire", "most": 7}, MEASURES[1]])
        now = results.refreshed(kept, words)
        self.assertEqual([(r["value"], r.get("model")) for r in now["rows"]],
                         [(8, 8), (66, None)])
        self.assertEqual([ok for r in now["rows"] for ok, _ in r["verdicts"]], [False, True])
        with self.assertRaisesRegex(BenchError, "what was measured is not"):
            results.refreshed(kept, searching(seeds=2, measure=[
                MEASURES[0], {k: v for k, v in MEASURES[1].items() if k != "at"}]))
        for other in {"to": 32}, {"most": 1}, {"key": "sender.burst"}:
            with self.assertRaisesRegex(BenchError, "has other runs"):
                results.refreshed(kept, searching(seeds=2, search={**SEARCH, **other}))

    def test_figures_without_end(self):
        done = {**self.performed(searching(), {"else": 7})}
        done["searched"]["all"][0][2] = math.inf
        path = self.folder / "results.json"
        results.write(path, {}, [done])
        self.assertEqual(results.read(path)[1][0]["searched"]["all"][0][2], math.inf)

    def test_what_was_tried_is_told(self):
        found = self.performed(searching(seeds=2), {2: 9, "else": 7})
        self.assertEqual(tables.of(found)[1:], [[
            ["tried, limit in p: drops", "not enough", "enough"],
            ["all", "4: 66, 8: 82", "16: 0"]]])
        found["searched"]["all"] = [[4, 1, 9, "below"], [8, 1, 9, "found"], [16, 1, 3, "tried"]]
        self.assertEqual(tables.of(found)[1][1], ["all", "4: 9", "8: 9, 16: 3"])
        self.assertIn("searched: the smallest sender limit (p) with drops at most 0, from 1 to "
                      "16, to within 100%", report.parameters_of(found))
        self.assertIn('at most (0 for "a", 9 for "b"), from (1 for "a", bdp for "b") to 16',
                      report.searched_for({**SEARCH, "most": {"a": 0, "b": 9},
                                           "from": {"a": 1, "b": "bdp"}}))
