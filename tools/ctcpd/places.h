/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What advice needs to know of the devices of this host, each read once for an answer.  What
 * cannot be read is not known (advice.h), and no error.
 */
#ifndef CTCPD_PLACES_H
#define CTCPD_PLACES_H

#include "nl.h"

#include "advice.h"

struct device;

struct places {
	struct nl nl;
	bool open;		/* nl */
	uint32_t n, tcp_wmem;
	struct device *list;	/* places.c */
};

void places_open(struct places *ps);
void places_close(struct places *ps);
/* The device's part of @p, if it is there, and this host's */
void places_fill(struct places *ps, const char *dev, struct place *p);
/* Its name, "" = there is none by that index */
const char *places_device(uint32_t ifindex, char dev[IFNAMSIZ]);
/* The remote's part */
void place_remote(struct place *p, const struct prefix *addr, const char *algorithm,
		  uint32_t flows);

#endif
