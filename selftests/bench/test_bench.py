#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Unit tests of the bench's pure parts (test_*.py); TAP.  No machine is booted."""

import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import tap  # noqa: E402  (of the folder above)


class Tap(unittest.TestResult):
    """One point for each test"""

    def __init__(self):
        super().__init__()
        self.points = tap.Points()

    def say(self, test, error=""):
        name = test.id().rsplit(".", 1)[1].removeprefix("test_")
        self.points.point(not error, f"{type(test).__doc__}: {name}", error)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.say(test)

    def addError(self, test, err):
        super().addError(test, err)
        self.say(test, self.errors[-1][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.say(test, self.failures[-1][1])


def main():
    """All tests of this folder."""
    sys.path.insert(0, str(HERE))
    result = Tap()
    unittest.defaultTestLoader.discover(str(HERE)).run(result)
    status = result.points.finish(result.testsRun)
    return 0 if result.wasSuccessful() and status == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
