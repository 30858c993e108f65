/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Items, for the two parts of diff.h: what the circuits want of each (diff.c), and what
 * becomes of it (diff_decide.c).
 */
#ifndef CTCP_DIFF_ITEM_H
#define CTCP_DIFF_ITEM_H

#include "diff.h"

/* The kernel has @value of it; false if that is NULL. */
bool item_is(const struct item *it, const char *value);
int item_take_now(struct diff *d, struct item *it, const char *now);
/* @now is what the kernel has by the item's name: of several routes, find its own. */
int item_find(struct diff *d, struct item *it, char now[ITEM_VALUE], struct err *e);
/* The kernel has what we set, or a run that was cut short was about to. */
bool base_is(const struct diff *d, const struct base *b, const char *now);
/* ... but tells only a part of it, as the algorithm is not loaded. */
bool base_hides_congctl(const struct diff *d, const struct base *b, const char *now);
/* The circuit that the item is told of; not of one that nobody wants */
const struct member *item_member(const struct diff *d, const struct item *it);
bool item_is_below_root(const struct item *it);
/* The root of the device of a class or filter */
const struct item *item_root(struct diff *d, const struct item *it);
bool root_is_wanted(struct diff *d, const struct item *it);
bool root_is_new(struct diff *d, const struct item *it);
void diff_say_elsewhere(struct diff *d);
int diff_no_memory(struct err *e);

#endif
