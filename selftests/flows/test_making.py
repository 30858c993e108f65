# SPDX-License-Identifier: GPL-2.0
"""Tests of flows.py and machines.py"""

import contextlib
import hashlib
import io
import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import flows
import machines
import scenarios


class FakeLab:
    """Its machines leave counters; @bad: seeds that contradict their labels"""

    def __init__(self, folder, bad):
        self.folder, self.bad, self.made = folder, bad, []

    def carry_out(self, seed, plan):
        """As Lab's"""
        self.made.append([f["seed"] for f in plan])
        for flow in plan:
            (self.folder / f"{flow['seed']}.trace").write_text("# ctcpd trace 1\n")
            (self.folder / f"{flow['seed']}.counters").write_text(json.dumps(
                {"bad": flow["seed"] in self.bad}))
        return self.folder, 2.0


def objection(_, counters):
    """In place of truth's"""
    return "it is not so" if counters["bad"] else None


class Making(unittest.TestCase):
    """making"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "raw").mkdir()
        for what in (mock.patch.object(flows, "OUT", self.folder),
                     mock.patch.object(flows.truth, "objection", objection),
                     mock.patch.object(flows.truth, "also", lambda *_: [])):
            what.start()
            self.addCleanup(what.stop)

    def make(self, seeds, bad=()):
        """(the lab, what was printed)"""
        half, said = flows.Half("tune"), io.StringIO()
        lab = FakeLab(self.folder / "raw", bad)
        half.labs = dict.fromkeys(scenarios.KERNELS, lab)
        with contextlib.redirect_stdout(said):
            half.make(seeds, 1)
        return lab, said.getvalue()

    def kept(self):
        """Seeds"""
        return sorted(int(p.stem) for p in (self.folder / "tune").glob("*.json"))

    def test_each_flow_has_a_trace_and_its_label(self):
        self.make([0, 2])
        self.assertEqual(self.kept(), [0, 2])
        about = json.loads((self.folder / "tune" / "2.json").read_text())
        self.assertEqual(about["label"], "loss")
        self.assertTrue((self.folder / "tune" / "2.trace").exists())

    def test_what_is_not_as_labelled_is_drawn_again_and_said(self):
        lab, said = self.make([0, 2], bad={2, 100_002})
        self.assertEqual(lab.made, [[0, 2], [100_002], [200_002]])
        self.assertEqual(self.kept(), [0, 200_002])
        self.assertIn("2 random-loss-far (loss) is drawn again: it is not so", said)

    def test_it_does_not_go_on_for_ever(self):
        with self.assertRaisesRegex(machines.FlowsError, f"{flows.RETRIES + 1} times"):
            self.make([2], bad={2 + n * scenarios.AGAIN for n in range(30)})

    def test_what_stood_in_before_goes(self):
        self.make([0, 2], bad={2})
        self.make([0, 2])
        self.assertEqual(self.kept(), [0, 2])

    def test_groups_are_made_whole(self):
        self.assertEqual(flows.whole_groups("tune", [18]), list(range(16, 32, 2)))

    def test_a_seed_of_the_other_half_is_refused(self):
        with self.assertRaisesRegex(machines.FlowsError, '17 is no seed of the half "tune"'):
            flows.whole_groups("tune", [17])

    def test_time_left(self):
        progress = flows.Progress(4, 2)
        self.assertEqual(progress.said(0), "1 of 4 groups")
        self.assertEqual(progress.said(120), "2 of 4 groups, 2 min left")


class Keys(unittest.TestCase):
    """keys"""

    def setUp(self):
        self.lab = machines.Lab.__new__(machines.Lab)
        self.lab.base = hashlib.sha256(b"all that is the same")

    def test_another_plan_or_seed_is_another_folder(self):
        plan = [scenarios.flow_of(0)]
        folder = self.lab.folder_of(0, plan)
        self.assertEqual(self.lab.folder_of(0, plan), folder)
        self.assertNotEqual(self.lab.folder_of(1, plan), folder)
        self.assertNotEqual(self.lab.folder_of(0, [{**plan[0], "nic": 1}]), folder)

    def test_what_records_counts_and_the_policy_does_not(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "tools" / "ctcpd"
            folder.mkdir(parents=True)
            judge = folder / "judge.c"
            looks = "bool judge_wants_looks(int f)\n{\n\treturn f;\n}\n"
            judge.write_text("int a;\n" + looks)
            (folder / "record.c").write_text("one")
            with mock.patch.object(machines, "TOP", Path(name)):
                before = machines.recording()
                judge.write_text("int b;\n" + looks)
                self.assertEqual(machines.recording(), before)
                judge.write_text(looks.replace("return f", "return !f"))
                self.assertNotEqual(machines.recording(), before)
                (folder / "record.c").write_text("two")
                self.assertNotEqual(machines.recording(), before)
                judge.write_text("int a;\n")
                with self.assertRaisesRegex(machines.FlowsError, "judge_wants_looks"):
                    machines.recording()
