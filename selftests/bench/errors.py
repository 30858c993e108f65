# SPDX-License-Identifier: GPL-2.0
"""Exceptions of the bench: an error, for the person who runs it, and the end of its time."""


class BenchError(Exception):
    """Says what is wrong, quotes the bad value, says what would be right."""


class TimeIsOver(Exception):
    """No time was left for a run of CI's rotating part; a later change makes it."""
