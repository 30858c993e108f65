/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The remotes, those with the most bytes first; by address, where they have as many.
 */
#ifndef CTCPD_RANKED_H
#define CTCPD_RANKED_H

#include "remotes.h"

struct ranked {
	struct remote **list;	/* as long as no remote comes or goes */
	uint32_t n;
};

/* -ENOMEM */
int ranked_make(struct ranked *l, struct remotes *rs);
void ranked_free(struct ranked *l);

#endif
