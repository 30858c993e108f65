/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is paced: for each device prefixes, each with its rate.
 *
 * Pure: no system call and no clock.  Of one device no prefix is part of another, so that an
 * address has one rate at most: a subnet takes the place of its hosts (paced_merge()) and
 * gives it back to them (paced_split()).  The sum of the rates is not limited: a class holds
 * one remote to what it takes and reserves nothing, and all else has what the device carries.
 *
 * paced_step() is what leads from one set to another: the changes that hands_apply() makes
 * as one.
 */
#ifndef CTCPD_PACED_H
#define CTCPD_PACED_H

#include <stdbool.h>
#include <stdint.h>

#include "circuit.h"

#define PACED_MAX	4096U		/* remotes and subnets together; a class each */
#define MERGE_HOSTS	3U		/* of a subnet, before it is taken as one */
#define MERGE_IP4	24U		/* bits of a subnet */
#define MERGE_IP6	64U

struct pace {
	struct prefix to;
	int ifindex;		/* of the device by which it is reached */
	uint64_t rate;		/* bytes/s, RATE_MIN to RATE_MAX; 0 = it is not to be paced */
	uint32_t rtt_us;	/* at no load; from it follows the room of the queue */
};

struct paced {
	uint32_t n, room;
	struct pace *list;	/* by device, then by prefix */
};

void paced_free(struct paced *p);
int paced_copy(struct paced *to, const struct paced *from);

/*
 * paced_set(): in place of what it had.  -EINVAL: no prefix, device or rate; -EEXIST: it is
 * part of what is paced there, or holds some of it; -ENOSPC: PACED_MAX are; -ENOMEM.
 */
int paced_set(struct paced *p, const struct pace *one);
bool paced_clear(struct paced *p, int ifindex, const struct prefix *to);
void paced_clear_device(struct paced *p, int ifindex);

/* That by which an address (of full length) is paced there; NULL = by none */
const struct pace *paced_find(const struct paced *p, int ifindex, const struct prefix *addr);
/* Exactly that prefix */
const struct pace *paced_get(const struct paced *p, int ifindex, const struct prefix *to);

struct prefix paced_subnet(const struct prefix *host);

/*
 * The hosts of @subnet go and it is paced at @one->rate.  -EPERM: it has fewer than MERGE_HOSTS
 * of them, paced.  paced_split(): it goes, and @hosts come in its place; -EINVAL: one is not
 * of it, -ENOENT: it is not paced.  After an error all is as it was.
 */
int paced_merge(struct paced *p, const struct pace *one);
int paced_split(struct paced *p, int ifindex, const struct prefix *subnet,
		const struct pace *hosts, uint32_t n);

/*
 * From @now to @then, at most @most changes: what goes comes first.  A round trip alone is no
 * change.  The caller frees *@list.
 */
int paced_step(const struct paced *now, const struct paced *then, uint32_t most,
	       struct pace **list, uint32_t *n);

#endif
