# SPDX-License-Identifier: GPL-2.0
"""The small experiment that unit tests begin with."""

import copy

SMALL = {
    "title": "t", "source": "s", "result": "w", "difference": "d",
    "evidence": "e", "question": "tools",
    "verdict": {"word": "no paper", "because": "b", "figures": []},
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
