/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The timer of a change that waits for confirmation, a process of its own.
 */
#ifndef CTCP_TIMER_H
#define CTCP_TIMER_H

#include "store.h"

int timer_start(const struct store *s, const struct confirm *c, struct err *e);

#endif
