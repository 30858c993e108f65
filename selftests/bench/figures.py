# SPDX-License-Identifier: GPL-2.0
"""All metrics, by the names that a description calls them."""

import metrics
import metrics_transfers
import metrics_users

METRICS = metrics.METRICS | metrics_transfers.METRICS | metrics_users.METRICS


def figure(raw, measure):
    """The number that a measure asks for."""
    return METRICS[measure["metric"]](raw, measure)
