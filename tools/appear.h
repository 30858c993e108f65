/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Devices that are not there yet, as while a machine boots.
 */
#ifndef CTCP_APPEAR_H
#define CTCP_APPEAR_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"

typedef bool (*appear_fn)(const void *data);

/* 0: @is_there says so, of which it is asked with each change of a link; or the time is over. */
int appear_wait(appear_fn is_there, const void *data, uint64_t us, struct err *e);

#endif
