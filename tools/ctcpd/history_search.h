/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The searches of the history: how far each was, by what it paces and the device, so that a
 * restart goes on where the last run was.
 *
 * There are at most SEARCHES_MAX, fewer where the history is small (a quarter of its bytes): the
 * oldest go first.  What nobody has put for keep_s goes in history_tidy(), by the same clock as
 * the visits.  What each returns is as in history.h.
 */
#ifndef CTCPD_HISTORY_SEARCH_H
#define CTCPD_HISTORY_SEARCH_H

#include "history.h"
#include "paced.h"
#include "search.h"

#define SEARCHES_MAX	(2 * PACED_MAX)
#define SEARCH_ROWS	32U		/* of one transaction */
#define STOOD_DOWN_TEXT	256		/* bytes, with the NUL */

struct search_row {
	struct prefix to;
	char dev[IFNAMSIZ];
	int64_t since;			/* s, CLOCK_REALTIME: its last change, 0 = none */
	enum search_reason reason;	/* of that */
	char stood_down[STOOD_DOWN_TEXT];	/* what somebody else has there, "" = nothing */
	struct search search;
};

typedef int (*search_fn)(const struct search_row *row, void *data);

/* In place of what they were: all, or none of them; at most SEARCH_ROWS */
int history_put_searches(struct history *h, const struct search_row *rows, uint32_t n,
			 int64_t now, struct err *e);
int history_delete_search(struct history *h, const struct prefix *to, const char *dev,
			  struct err *e);
/* The latest first; what @each returns ends it.  One that cannot be read is left out. */
int history_searches(struct history *h, search_fn each, void *data, struct err *e);
/* Of all that is in @p; *@n: how many */
int history_forget_searches(struct history *h, const struct prefix *p, uint32_t *n,
			    struct err *e);

#endif
