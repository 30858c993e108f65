/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The looks of measure.h: from the module, the shapers, and the list of connections.
 */
#ifndef CTCP_MEASURE_READ_H
#define CTCP_MEASURE_READ_H

#include "measure.h"
#include "session.h"

#define MEASURE_US 5000000U	/* how long, unless --for says */

int measure_circuits(struct session *s, uint64_t us, struct measure *list, struct err *e);

#endif
