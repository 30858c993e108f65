/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel has of items of which there may be thousands, read by one dump of each
 * of its tables where many are to be looked at: circuits, routes of the main table,
 * classes and filters of a device.
 *
 * As of when it was read: for a caller that changes nothing meanwhile.  Where a table
 * does not tell, as of a filter that is not all ours, or where there are many more routes
 * of others than would be asked for, the item is asked for alone.
 */
#ifndef CTCP_KNOWN_H
#define CTCP_KNOWN_H

#include <stdbool.h>

#include "genl.h"
#include "item.h"
#include "map.h"
#include "nl.h"
#include "pool.h"

struct known {
	struct pool texts;
	struct map list[ITEM_KINDS];	/* values by name */
	bool whole[ITEM_KINDS];		/* what is not in the list is absent */
	struct map devices;		/* names of those whose classes and filters are known */
	struct map ours;		/* routes that may be ours, by prefix and number */
	bool all_ours;			/* are in it */
};

/* Each fails with a table that is not known, and no more. */
void known_circuits(struct known *k, struct genl *g);
void known_routes(struct known *k, struct nl *nl, uint32_t asked);
void known_device(struct known *k, struct nl *nl, const char *dev, int ifindex);
void known_free(struct known *k);

/* The @n-th route to @name that may be ours, used or not; NULL: there is none any more */
const char *known_route(const struct known *k, const char *name, uint32_t n);
int known_ours(struct known *k, struct nl *nl, struct err *e);

/* NULL: it has to be asked for */
const char *known_get(const struct known *k, enum item_kind kind, const char *name);

#endif
