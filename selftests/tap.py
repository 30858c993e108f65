# SPDX-License-Identifier: GPL-2.0
"""A test's points, as TAP on stdout: tap.sh and tap.h are the same for shell and C."""


class Points:
    """Those of one test, counted as they are printed"""

    def __init__(self):
        self.count = 0
        self.failed = 0

    def point(self, is_ok, what, diagnostics=""):
        """One line, and below it what was wrong"""
        self.count += 1
        self.failed += not is_ok
        print(f"{'ok' if is_ok else 'not ok'} {self.count} - {what}")
        for line in diagnostics.splitlines():
            print(f"# {line}")

    def finish(self, plan=None):
        """The plan, by default as many as there were, and the exit status"""
        if plan is None:
            plan = self.count
        print(f"1..{plan}")
        return 0 if self.count and self.count == plan and not self.failed else 1
