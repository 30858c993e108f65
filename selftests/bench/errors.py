# SPDX-License-Identifier: GPL-2.0
"""What the bench raises: a sentence for the person who runs it, and that its time is over."""


class BenchError(Exception):
    """Says what is wrong, quotes the bad value, says what would be right."""


class TimeIsOver(Exception):
    """A run of the part that is made by turns was not begun: another change makes it."""
