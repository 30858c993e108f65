# SPDX-License-Identifier: GPL-2.0
"""Parts of the bench, by turns."""

import contextlib
import io
import unittest
from unittest import mock

import bench
import description as descriptions
import rotation
from errors import BenchError, TimeIsOver
from expand import runs_of
from small import small


class Rotation(unittest.TestCase):
    """By turns"""

    def test_each_once(self):
        seconds = {f"x{i}": i * i for i in range(40)}
        parts = rotation.parts_of(seconds, 10)
        self.assertEqual(sorted(sum(parts, [])), sorted(seconds))
        loads = [sum(seconds[name] for name in part) for part in parts]
        self.assertLess(max(loads), 1.2 * sum(loads) / 10)
        self.assertEqual(parts, rotation.parts_of(dict(reversed(seconds.items())), 10))

    def test_chosen(self):
        names = ["a", "b", "c"]
        self.assertEqual(rotation.chosen(names, {"a": 9, "b": 2}, "0/2"), ["a"])
        self.assertEqual(rotation.chosen(names, {"a": 9, "b": 2}, "1/2"), ["c", "b"])
        self.assertEqual(rotation.chosen(names, {}, "1/2"), ["b"])

    def test_all_parts_are_printed(self):
        every = [{**small(), "id": name, "seeds": 5} for name in ("a", "b", "c", "quick")]
        each = {"a": 2, "b": 9, "c": 2}
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            bench.print_parts(2, every, every[3:], each)
        self.assertEqual(said.getvalue(), "part 0/2: b\npart 1/2: a c\n")
        for k, line in enumerate(said.getvalue().splitlines()):
            with contextlib.redirect_stdout(io.StringIO()) as again:
                bench.by_turns(every, every[3:], each, f"{k}/2")
            self.assertEqual(again.getvalue(), line + "\n", "what this part makes")

    def test_parts_by_command(self):
        with mock.patch("sys.argv", ["bench.py", "--parts", "10"]), \
                mock.patch.object(bench, "bench") as made, \
                contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(bench.main(), 0)
        made.assert_not_called()
        lines = said.getvalue().splitlines()
        self.assertEqual([line.split(":")[0] for line in lines],
                         [f"part {k}/10" for k in range(10)])
        quick = {d["id"] for d in bench.chosen((), True)[1]}
        named = [name for line in lines for name in line.split(":")[1].split()]
        self.assertEqual(sorted(named), sorted(set(descriptions.names_of()) - quick))

    def test_exit_status(self):
        for counts, status in (([3, 0, 0], 0), ([3, 0, 1], 0), ([3, 1, 0], 1), ([0, 0, 0], 1),
                               ([0, 0, 2], 1)):
            with mock.patch("sys.argv", ["bench.py", "--quick"]), \
                    mock.patch.object(bench, "bench", lambda _, counts=counts: counts), \
                    contextlib.redirect_stdout(io.StringIO()) as said:
                self.assertEqual(bench.main(), status, counts)
            self.assertEqual(said.getvalue().splitlines()[-1], "bench-quick: {} passed, {} "
                             "failed, {} skipped".format(*counts))

    def test_words(self):
        self.assertEqual(rotation.which("9/10"), (9, 10))
        for text in "10/10", "3", "a/b", "/3", "-1/3", "1/0":
            with self.assertRaisesRegex(BenchError, "is no part; write it as 3/10"):
                rotation.which(text)

    def test_one_seed(self):
        every = [{**small(), "id": name, "seeds": 5} for name in ("a", "b", "c")]
        made = bench.by_turns(every, every[:1], {"b": 9, "c": 2}, "0/2")
        self.assertEqual([(d["id"], len(runs_of(d))) for d in made],
                         [("b", len(runs_of(small())))])
        self.assertEqual(bench.by_turns(every, every[:1], {}, None), [])

    def test_all_seeds_where_medians_are_asserted(self):
        every = [{**small(), "id": "a", "seeds": 5, "medians": True}]
        made = bench.by_turns(every, [], {"a": 9}, "0/1")
        self.assertEqual(len(runs_of(made[0])), 5 * len(runs_of(small())))

    def test_another_one_first(self):
        self.assertEqual(rotation.from_there(["a", "b", "c"], 7), ["b", "c", "a"])
        self.assertEqual(rotation.from_there([], 7), [])
        every = [{**small(), "id": name} for name in ("a", "b", "c")]
        self.assertEqual([d["id"] for d in bench.by_turns(every, [], {}, "0/1", 2)],
                         ["c", "a", "b"])


class Late(unittest.TestCase):
    """What of a part has no time left"""

    def setUp(self):
        self.time = 0
        self.made = []

    def machines(self, names):
        """Which make a run in a minute, one after the other"""
        def carry_out(run):
            self.time += 60
            self.made.append(run["plan"]["flows"][0]["name"])
            return "folder"

        labs = mock.Mock()
        labs.on.return_value.folder_of.return_value.__truediv__ = mock.Mock(
            return_value=mock.Mock(exists=lambda: False))
        labs.carry_out.side_effect = carry_out
        every = [{**small(), "id": name, "seeds": 1} for name in names]
        minutes = len(runs_of(every[0])) + 1.5
        progress = mock.Mock()
        progress.run_takes.return_value = 60
        with mock.patch.dict("os.environ", BENCH_JOBS="1"), \
                mock.patch("bench.check_tables"):
            return every, bench.Machines(
                labs, every, progress, deadline=rotation.Deadline(
                    minutes, names[1:], now=lambda: self.time))

    def test_no_run_ends_later(self):
        every, machines = self.machines(["quick", "soon", "late"])
        runs = len(runs_of(every[0]))
        for d in every:
            try:
                machines.folders(d)
            except TimeIsOver:
                self.made.append(d["id"] + " is left")
        machines.end()
        self.assertGreaterEqual(runs, 2)
        self.assertEqual(self.made.count("soon is left"), 1)
        self.assertEqual(self.made.count("late is left"), 1)
        self.assertEqual(len(self.made), runs + 1 + 2,
                         "what is quick, as a whole, and one run of what is soon")

    def test_without_a_deadline(self):
        self.assertFalse(rotation.Deadline(None, ["a"]).is_over_for("a", 3600))
