# SPDX-License-Identifier: GPL-2.0
"""The one exception of the bench: a sentence for the person who runs it."""


class BenchError(Exception):
    """Says what is wrong, quotes the bad value, says what would be right."""
