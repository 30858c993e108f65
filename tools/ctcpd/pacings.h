/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All searches that there are, for whoever presents them: what act_each() tells, by address.
 * It is of now: act_poll() changes what it points to.
 */
#ifndef CTCPD_PACINGS_H
#define CTCPD_PACINGS_H

#include "act.h"

struct pacings {
	uint32_t n;
	struct pacing *list;
	uint32_t of[SEARCH_STATES];
	uint32_t would;		/* not paced, and `act` would */
};

/* @act NULL: there are none.  -ENOMEM */
int pacings_make(struct pacings *ps, const struct act *act);
void pacings_keep_paced(struct pacings *ps);	/* the others go from @list */
void pacings_free(struct pacings *ps);

#define PACING_NAME	(INET6_ADDRSTRLEN + 4)

/* 192.0.2.7, 192.0.2.0/24 */
const char *pacing_name(const struct pacing *p, char buf[PACING_NAME]);
bool pacing_is_host(const struct pacing *p);

#endif
