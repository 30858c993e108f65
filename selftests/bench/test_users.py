# SPDX-License-Identifier: GPL-2.0
"""Figures of the switch's port, and the many users whose files go over it."""

import itertools
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

import metrics
import metrics_users
import raw
import users
from errors import BenchError
from expand import runs_of
from small import small

MSS, WIRE = 1448, 1514
PORT = "0.000100 0 0 0\n1.000000 1000 10 0\n2.000000 6001000 4010 40\n" \
    "3.000000 18001000 12010 290\n4.000000 99001000 99010 9999\n"


class Recorded(unittest.TestCase):
    """Switch's port"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def raw(self, **files):
        """A run of users over a line of 100 Mbit/s, that left these files"""
        one = small(vary=[], path={"rate": "100mbit", "rtt": "100ms", "line": "100mbit"})
        one["flow"][0].update(tool="users", start=2)
        for name, content in files.items():
            text = content if isinstance(content, str) else json.dumps(content)
            (self.folder / name.replace("_", ".")).write_text(text)
        return raw.Raw(self.folder, runs_of(one)[0]["plan"])

    def test_port_between_samples(self):
        one, when = self.raw(port=PORT), {"from": 1, "until": 3}
        self.assertAlmostEqual(metrics.utilisation(one, when), 100 * 18e6 * 8 / 2 / 100e6)
        self.assertAlmostEqual(metrics.unused(one, when), 28)
        self.assertAlmostEqual(metrics.port_drop_percent(one, when),
                               100 * 290 / (12000 + 290))
        self.assertAlmostEqual(
            metrics.port_drop_percent(one, {"from": 1, "until": 2}), 100 * 40 / 4040)

    def test_port_frames(self):
        one = self.raw()
        one.plan.update(buffer=20 * 9014, wire=9014)
        self.assertEqual(metrics.port_frames(one, {}), 20)

    def test_port_not_sampled(self):
        one = self.raw(port=PORT)
        for when in {"from": 4, "until": 9}, {"from": 1.2, "until": 1.8}:
            with self.assertRaisesRegex(BenchError, "was not sampled between"):
                metrics.utilisation(one, when)

    def test_offered_and_carried(self):
        said = {"seed": "s", "users": 3, "files": []}
        flights = [(0.5, 9e9), (1, 1e6), (1.9, 5e5), (2, 9e9)]
        one = self.raw(f_client=said, port=PORT)
        with unittest.mock.patch.object(metrics_users, "passing", return_value=flights):
            # The flow starts at 2 s: that is from 1 to 2 s of its own clock
            when = {"from": 3, "until": 4}
            self.assertAlmostEqual(metrics_users.offered(one, when), 3 * 1.5 * 8)
            self.assertAlmostEqual(metrics_users.carried(one, when), 100 * 648 / 36)

    def test_files_by_size(self):
        files = [[0, 50000, 0.5], [0.5, 40000, 0.7], [0, 500000, 1.0], [0, 600000, 1.5],
                 [0, 10000, 2.0], [0, 30000, 0.9]]
        one = self.raw(f_client={"files": files})
        when = {"from": 2.95, "until": 4}       # 0.95 to 2 s of its own clock
        self.assertAlmostEqual(metrics_users.small_files(one, when), 0.32 / 0.7)
        self.assertAlmostEqual(metrics_users.large_files(one, when), 3.2)
        # What came whole at the very start or the very end of the stretch
        when = {"from": 2.5, "until": 4}
        self.assertAlmostEqual(metrics_users.small_files(one, when), statistics.mean(
            [0.8, 0.32 / 0.7, 0.24 / 0.9]))
        self.assertEqual(metrics_users.large_files(one, {"from": 4, "until": 9}), 0)


class Users(unittest.TestCase):
    """Users of short flows"""

    def draws(self, *who):
        user = users.User(*who)
        return [(user.think(), user.size()) for _ in range(4000)]

    def test_draws(self):
        first = self.draws("00:11", 1)
        self.assertEqual(first, self.draws("00:11", 1))
        self.assertNotEqual(first, self.draws("00:11", 2))
        self.assertNotEqual(first, self.draws("00:12", 1))
        thinks, sizes = zip(*first)
        self.assertAlmostEqual(statistics.mean(thinks), 1, delta=0.05)
        self.assertAlmostEqual(statistics.median(thinks), 0.693, delta=0.05)
        # Pareto: none below MEAN / 3, and an eighth above four times that
        self.assertGreaterEqual(min(sizes), 26667)
        self.assertAlmostEqual(sum(s > 106667 for s in sizes) / 4000, 0.125, delta=0.02)

    def test_flights(self):
        self.assertEqual(list(metrics_users.flights(MSS, MSS)), [MSS])
        self.assertEqual(list(metrics_users.flights(3 * MSS + 1, MSS)), [3 * MSS, 1])
        self.assertEqual(list(metrics_users.flights(21 * MSS, MSS)),
                         [3 * MSS, 6 * MSS, 12 * MSS])

    def test_passing(self):
        user = unittest.mock.Mock()
        user.think.side_effect = itertools.repeat(1)
        user.size.side_effect = itertools.repeat(3 * MSS + 1)
        plan = {"rtt": 0.1, "mss": MSS, "wire": WIRE}
        # Asked at 1 s, sent at 1.15 and 1.25, there at 1.3
        self.assertEqual([(round(t, 6), n) for t, n in
                          metrics_users.passing(user, plan, 3)],
                         [(1.15, 3 * WIRE), (1.25, 1 + WIRE - MSS),
                          (2.45, 3 * WIRE), (2.55, 1 + WIRE - MSS)])

    def test_bins(self):
        found = users.binned([(0, 30000, 1), (1, 30001, 0.5), (2, 50000, 1),
                              (3, 500001, 4)])
        self.assertEqual([b["most"] for b in found],
                         [30e3, 50e3, 100e3, 200e3, 500e3, None])
        self.assertEqual([b["files"] for b in found], [1, 2, 0, 0, 0, 1])
        self.assertAlmostEqual(found[0]["goodput"], 0.24)
        self.assertAlmostEqual(found[1]["goodput"], (0.480016 + 0.4) / 2, 6)
        self.assertIsNone(found[2]["goodput"])

    def wait_for(self, port):
        """Until somebody listens there"""
        limit = time.monotonic() + 30
        while time.monotonic() < limit:
            with socket.socket() as link:
                if link.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.01)
        self.fail("users.py serve does not listen")

    def test_both_ends(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        words = [sys.executable, users.__file__]
        with subprocess.Popen([*words, "serve", port, "reno"], stdout=subprocess.PIPE,
                              text=True) as server:
            self.addCleanup(server.kill)
            self.wait_for(int(port))
            ask = subprocess.run([*words, "ask", "127.0.0.1", port, "50", "1", "-R"],
                                 capture_output=True, text=True, check=True)
            served, said = json.loads(server.communicate(timeout=60)[0]), json.loads(
                ask.stdout)
        self.assertEqual(server.returncode, 0)
        self.assertEqual(said["finished"], len(said["files"]))
        self.assertGreater(said["finished"], 10)
        self.assertGreaterEqual(served["bytes"], sum(f[1] for f in said["files"]))
        self.assertEqual([i["sum"]["bytes"] for i in said["intervals"]], [said["bytes"]])
        # Each user's first file is the first that he draws, and asked for when he says
        user = users.User(said["seed"], 0)
        asked, size = user.think(), user.size()
        if asked < 0.9:
            self.assertTrue([f for f in said["files"]
                             if f[1] == size and abs(f[0] - asked) < 0.5])
