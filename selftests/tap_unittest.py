# SPDX-License-Identifier: GPL-2.0
"""A folder of Python's unit tests as TAP: one point for each test."""

import sys
import unittest

import tap


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


def status_of(folder, files, *imports):
    """All tests of this folder, or of those @files in it, without their .py; they may import
    from it, and from @imports behind all else: the exit status"""
    sys.path.insert(0, str(folder))
    sys.path += map(str, imports)
    result = Tap()
    load = unittest.defaultTestLoader
    tests = load.loadTestsFromNames(files) if files else load.discover(str(folder))
    tests.run(result)
    status = result.points.finish(result.testsRun)
    return 0 if result.wasSuccessful() and status == 0 else 1
