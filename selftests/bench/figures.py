# SPDX-License-Identifier: GPL-2.0
"""All metrics, by the names that a description calls them."""

import metrics
import metrics_ctcpd
import metrics_gaps
import metrics_segments
import metrics_tcptrace
import metrics_transfers
import metrics_users
from errors import BenchError

METRICS = (metrics.METRICS | metrics_ctcpd.METRICS | metrics_gaps.METRICS
           | metrics_segments.METRICS | metrics_tcptrace.METRICS
           | metrics_transfers.METRICS | metrics_users.METRICS)


def figure(raw, measure):
    """The number that a measure asks for.  What a tool did not say, or not as it says it
    otherwise, is its experiment's failure, not everybody's."""
    try:
        return METRICS[measure["metric"]](raw, measure)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise BenchError(f'{raw.folder.name}: {measure["metric"]}: '
                         f'{type(error).__name__}: {error}') from error
