# SPDX-License-Identifier: GPL-2.0
"""The node's loop, on this host's loopback."""

import itertools
import socket
import unittest
import unittest.mock

import traffic

SIZES = (100_000, 1, 300_000)


class Loop(unittest.TestCase):
    """Transfers, one after the other to each remote"""

    @classmethod
    def setUpClass(cls):
        """Three remotes; the first pauses for a tenth of a second, the second asks once, and
        the third reads nothing"""
        one = traffic.listener(0, "127.0.0.1")
        port = one.getsockname()[1]
        cls.deaf = socket.create_server(("127.0.0.2", port))
        remotes = {7: ("127.0.0.1", zip(itertools.repeat(0.1), itertools.cycle(SIZES))),
                   8: ("127.0.0.1", iter([(0, 5_000_000), (9, 1)])),
                   9: ("127.0.0.2", iter([(0, 100_000_000)]))}
        with unittest.mock.patch.object(traffic, "PORT", port), \
                unittest.mock.patch.object(traffic, "EVERY", 0.25):
            cls.node = traffic.Node(remotes, [one], 1)
            cls.node.go()
            cls.left = cls.node.unfinished()

    @classmethod
    def tearDownClass(cls):
        cls.deaf.close()

    def test_in_order(self):
        self.assertGreater(len(self.ended(7)), 1)
        self.assertEqual([e[3] for e in self.ended(7)],
                         list(itertools.islice(itertools.cycle(SIZES), len(self.ended(7)))))
        self.assertEqual([e[3] for e in self.ended(8)], [5_000_000])

    def ended(self, number):
        return [e for e in self.node.ended if e[0] == number]

    def test_pauses(self):
        for before, after in itertools.pairwise(self.ended(7)):
            pause = after[1] - before[1] - before[2]
            self.assertGreaterEqual(pause, 0.0999)

    def test_series(self):
        times = [t for t, *_ in self.node.series]
        self.assertEqual(len(times), 5)
        for got, wanted in zip(times, (0, 0.25, 0.5, 0.75, 1)):
            self.assertGreaterEqual(got, wanted)
        acked = [a for _, a, _ in self.node.series]
        self.assertEqual(acked, sorted(acked))
        self.assertGreaterEqual(acked[-1], 1 + sum(e[3] for e in self.node.ended))

    def test_what_is_under_way(self):
        left = {number: more for number, *more in self.left}
        self.assertNotIn(8, left)
        began, lasted, acked, _ = left[9]
        self.assertGreaterEqual(began, 0)
        self.assertGreaterEqual(began + lasted, 1)
        self.assertTrue(0 < acked < 100_000_000)
