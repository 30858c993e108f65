/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What qdiscs of this host dropped, as a flow that leaves by their device has it.
 */
#ifndef CTCPD_LOCAL_DROPS_H
#define CTCPD_LOCAL_DROPS_H

#include "interval.h"

/* The window was cut, and no segment lost */
bool local_drops_cut(const struct interval *i);
/* Segments of the flow that may have been dropped, at most */
uint64_t local_drops_segs(const struct interval *i);

#endif
