# SPDX-License-Identifier: GPL-2.0
"""What a run left."""

import json
import tempfile
import unittest
from pathlib import Path

from dtn import ever_paced, paced_of, run_of


class Read(unittest.TestCase):
    """What a run left"""

    def test_by_remote(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "transfers.json").write_text(json.dumps({
                "ended": [[3, 1.0, 2.00000049, 1000, 4], [5, 1.5, 1, 10, 0],
                          [3, 9.0, 1, 20, 1]],
                "unfinished": [[5, 11.0, 1, 99, 2]],
                "series": [[0, 0, 0], [60.0001, 1129, 7]]}))
            run = run_of(Path(folder))
        self.assertEqual(run["transfers"], {"3": [[1000, 2.0, 4], [20, 1, 1]],
                                            "5": [[10, 1, 0]]})
        self.assertEqual((run["acked"], run["resent"]), (1129, 7))

    def test_ever_paced(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "ctcpd.log").write_text(
                "ctcpd: 10.1.7.2: paced at 3mbit: it is overrun\n"
                "ctcpd: 10.1.9.2: limited by the network's loss; paced at no rate\n"
                "ctcpd: 10.1.7.2: paced at 2mbit, was 3mbit: it lost at that rate\n")
            self.assertEqual(ever_paced(Path(folder)), [7])

    def test_paced(self):
        report = {"paced": [{"to": "10.1.7.2", "state": "kept", "rate_bytes_s": 250000},
                            {"to": "10.1.8.2", "state": "kept", "rate_bytes_s": None}]}
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "report.json").write_text(json.dumps(report))
            self.assertEqual(paced_of(Path(folder)),
                             [{"number": 7, "rate": 2000000, "state": "kept"}])
