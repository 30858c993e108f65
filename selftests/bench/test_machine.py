# SPDX-License-Identifier: GPL-2.0
"""A run's machine: which seed it has in the end, and which runs are those of another."""

import contextlib
import hashlib
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import machine
from expand import runs_of
from machine import APART, SEEDS, Lab, unanswered
from small import small

SAID = '{"error": "unable to read from stream socket: Resource temporarily unavailable"}'
FLOW = {"name": "f", "from": "src", "to": "dst", "rate": "1mbit", "seconds": 1}


class Seeds(unittest.TestCase):
    """A UDP flow whose first frame is lost"""

    def made(self, answers, tool="udp"):
        """Seeds that a run was made with; its client says one of these each time."""
        description = {**small(flow=[{**FLOW, "tool": tool}]), "id": "x"}
        run, seeds, said = runs_of(description)[0], [], iter(answers)
        lab = Lab.__new__(Lab)
        with tempfile.TemporaryDirectory() as place:
            def boot(folder, run):
                seeds.append(run["seed"])
                (folder / "f.client").write_text(next(said))
            folder = Path(place) / "run"
            with unittest.mock.patch.object(lab, "folder_of", lambda run: folder), \
                    unittest.mock.patch.object(lab, "_boot", boot):
                lab.carry_out(run)
                self.assertTrue((folder / "done").exists())
        return seeds

    def test_answered(self):
        self.assertEqual(self.made(["{}"]), [1])

    def test_next(self):
        self.assertEqual(self.made([SAID, SAID, "{}"]), [1, 1 + APART, 1 + 2 * APART])

    def test_ends(self):
        self.assertEqual(len(self.made([SAID] * (SEEDS + 1))), SEEDS)

    def test_tcp(self):
        self.assertEqual(self.made([SAID], "iperf3"), [1])

    def test_other_flow(self):
        with tempfile.TemporaryDirectory() as place:
            for name, text in (("a", "{}"), ("b", SAID)):
                (Path(place) / f"{name}.client").write_text(text)
            flows = [{"name": name, "tool": "udp"} for name in "ab"]
            self.assertTrue(unanswered(Path(place), flows))


class Kept(unittest.TestCase):
    """Where a run is kept"""

    def folders(self, **contents):
        """Of runs that name each of the tools, and of one that names none; @contents of them"""
        return self.folders_of([{**small(step=[{"at": 0, "on": "src", "do": what}]), "id": "x"}
                                for what in ("ctcpd run", "ctcp-setup undo", "true",
                                             "insmod tcp_per_ack.ko")], "TOOLS", contents)

    def folders_of(self, descriptions, table, contents):
        """Of the first run of each, where machine.py's @table has files with these contents"""
        lab = Lab.__new__(Lab)
        lab.base = hashlib.sha256(b"base")
        with tempfile.TemporaryDirectory() as place:
            files = {name: Path(place) / name for name in getattr(machine, table)}
            for name, file in files.items():
                file.write_text(contents.get(name.replace("-", "_").split(".")[0], "same"))
            with unittest.mock.patch.object(machine, table, files):
                return [lab.folder_of(runs_of(d)[0]) for d in descriptions]

    def test_by_the_tools_that_it_names(self):
        before = self.folders()
        self.assertEqual(len(set(before)), 4)
        self.assertEqual([a == b for a, b in zip(before, self.folders())], [True] * 4)
        self.assertEqual([a == b for a, b in zip(before, self.folders(ctcpd="new"))],
                         [False, True, True, True])
        self.assertEqual([a == b for a, b in zip(before, self.folders(ctcp_setup="new"))],
                         [True, False, True, True])
        self.assertEqual([a == b for a, b in zip(before, self.folders(tcp_per_ack="new"))],
                         [True, True, True, False])

    def test_by_the_programs_of_its_flows(self):
        def folders(**contents):
            return self.folders_of([{**small(flow=[{**FLOW, "tool": tool}]), "id": "x"}
                                    for tool in ("users", "stream", "iperf3")],
                                   "PROGRAMS", contents)
        before = folders()
        self.assertEqual([a == b for a, b in zip(before, folders(users="new"))],
                         [False, True, True])
        self.assertEqual([a == b for a, b in zip(before, folders(stream="new"))],
                         [True, False, True])

    MADE_BY = ("build/m.ko", "build/bin/circuit_nl", "build/bin/lowat.so", "bench/guest.sh",
               "bench/guest.py", "bench/network.py", "lab/uml.sh", "lab/uml-init.sh",
               "lab/uml-seed.c")

    def folder(self, changed=None, kernel="uml-6.1-x"):
        """Of a run in a tree of these files, of which one is changed"""
        with tempfile.TemporaryDirectory() as top, contextlib.ExitStack() as patched:
            top = Path(top)
            for name in (*self.MADE_BY, "bench/report.py"):
                (top / name).parent.mkdir(parents=True, exist_ok=True)
                (top / name).write_text("new" if name == changed else name)
            said = {"uml-kernel.sh": top / kernel, "uml-module.sh": top / "build/m.ko"}
            for name, value in (("TOP", top), ("HERE", top / "bench"), ("LAB", top / "lab"),
                                ("_said", lambda words, _: str(said[words[0].name]))):
                patched.enter_context(unittest.mock.patch.object(machine, name, value))
            return Lab("6.1").folder_of(runs_of({**small(), "id": "x"})[0])

    def test_by_all_that_makes_it(self):
        before = self.folder()
        self.assertEqual(before, self.folder())
        self.assertEqual(before, self.folder(changed="bench/report.py"))
        for name in self.MADE_BY:
            self.assertNotEqual(before, self.folder(changed=name), name)
        self.assertNotEqual(before, self.folder(kernel="uml-6.1-y"))
