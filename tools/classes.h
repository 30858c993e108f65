/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Class ids: each circuit of --shaper htb has a minor number of its device's root, the
 * same for as long as there is a circuit of its name.
 */
#ifndef CTCP_CLASSES_H
#define CTCP_CLASSES_H

#include "state.h"

/* One of the list.  -ENOSPC: all CLASS_MINOR_MAX are taken. */
int class_give(const struct state *st, struct member *m, struct err *e);

/* All that are ADDING.  *@at: whose there is none for. */
int class_give_all(struct state *st, uint32_t *at, struct err *e);

#endif
