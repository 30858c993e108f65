/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Devices that are not there yet, as while a machine boots.
 */
#ifndef CTCP_APPEAR_H
#define CTCP_APPEAR_H

#include <stdint.h>

#include "state.h"

int appear_wait(const struct state *wanted, uint64_t us, struct err *e);
/* Until one is up of those whose circuits stand as @standing. */
int appear_wait_any(const struct state *wanted, enum standing standing, uint64_t us,
		    struct err *e);

#endif
