#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Unit tests of the bench's pure parts (test_*.py); TAP.  No machine is booted."""

import sys
import unittest
from pathlib import Path


class Tap(unittest.TestResult):
    """One line for each test"""

    def say(self, test, error=None):
        ok = "not ok" if error else "ok"
        print(f"{ok} {self.testsRun} - {type(test).__doc__}: "
              f"{test.id().rsplit('.', 1)[1].removeprefix('test_')}")
        for line in (error or "").splitlines():
            print(f"# {line}")

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
    here = Path(__file__).resolve().parent
    sys.path.insert(0, str(here))
    result = Tap()
    unittest.defaultTestLoader.discover(str(here)).run(result)
    print(f"1..{result.testsRun}")
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
