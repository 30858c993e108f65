/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel refuses a circuit a prefix that is another's: the one that gives it up changes
 * first.  Where circuits wait for each other, as two that swap their prefixes, one is gone
 * for as long as it takes (change.step).
 */
#ifndef CTCP_DIFF_ORDER_H
#define CTCP_DIFF_ORDER_H

#include "diff.h"

/* Also of a list without circuits.  -ENOMEM */
int diff_order(struct diff *d, struct err *e);

#endif
