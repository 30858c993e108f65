#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Unit tests of the node's pure parts and of docs/dtn (test_*.py); TAP.  No machine is
booted."""

import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]
sys.path += [str(HERE.parent), str(HERE.parent / "bench")]
from test_bench import Tap  # noqa: E402  (of the bench: one point for each test)


def main():
    """All tests of this folder."""
    result = Tap()
    unittest.defaultTestLoader.discover(str(HERE)).run(result)
    status = result.points.finish(result.testsRun)
    return 0 if result.wasSuccessful() and status == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
