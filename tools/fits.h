/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether circuits fit beside each other, by arithmetic alone: a name and a prefix are
 * those of one circuit, and what holds a whole device to one rate is alone on it.
 */
#ifndef CTCP_FITS_H
#define CTCP_FITS_H

#include "state.h"

/* -EEXIST: @c does not, beside those that are there; @e says beside which, and why. */
int fits(const struct state *st, const struct circuit *c, struct err *e);

/*
 * All that are ADDING, in the order of the list.  -EEXIST: that at *@at does not, beside
 * one before it.  Takes n log n of their number.
 */
int fits_all(const struct state *st, uint32_t *at, struct err *e);

#endif
