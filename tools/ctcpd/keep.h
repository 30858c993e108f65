/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Visits on their way into the history.
 *
 * One that cannot be written waits, up to KEEP_MAX of them, and is written as soon as it can
 * be: a full disk, or a folder that is not there yet, costs the daemon no more than that.  The
 * log says so once, once that it is over, and how many were lost.
 *
 * What could not be forgotten waits, too, and comes before all else that is written: what is
 * written later is not meant by it.  It is lost with the daemon.
 */
#ifndef CTCPD_KEEP_H
#define CTCPD_KEEP_H

#include "config.h"
#include "history.h"
#include "history_search.h"
#include "log.h"
#include "remotes.h"

#define KEEP_MAX	4096U	/* visits that wait; the oldest goes first */
#define KEEP_FORGETS	16U	/* prefixes that wait to be forgotten; one more does not */

struct keep {
	char file[sizeof(((struct config *)0)->history)];	/* "" = none is kept */
	struct history_limits limits;
	struct history *history;	/* NULL: it could not be opened, or none is kept */
	struct log *log;
	struct visit *waiting;		/* a ring of KEEP_MAX, made with the first */
	uint32_t first, n;
	uint64_t failed, lost, lost_said;	/* writes so far; visits so far; of these, told */
	uint32_t anew;			/* goes up when what is open is another history */
	bool searches_wait;		/* some could not be written */
	struct prefix forgets[KEEP_FORGETS];	/* what the history is to forget; none in another */
	uint32_t n_forgets;
	int rc;				/* of the last try, -errno */
	struct err why;
};

void keep_open(struct keep *k, const struct config *c, struct log *log, int64_t now);
/* Another file or other limits; what waits goes there */
void keep_change(struct keep *k, const struct config *c, int64_t now);
/* What waits is written, as much as can be */
void keep_close(struct keep *k, int64_t now);
/* Unless it says nothing: of a remote that has sent too little, or was seen but once */
void keep_visit(struct keep *k, const struct visit *v, int64_t now);
/* With each poll */
void keep_flush(struct keep *k, int64_t now);
/* Those that wait first; newest first.  @remote NULL: of all.  Fails where none can be opened */
int keep_each(struct keep *k, const struct prefix *remote, int64_t since, visit_fn each,
	      void *data, struct err *e);
/* history_remotes(): without those that wait */
int keep_remotes(struct keep *k, int64_t since, remote_history_fn each, void *data,
		 struct err *e);
/* Where it fails, the history has what it had, but for some of @n; *@waits: until it can be done */
int keep_forget(struct keep *k, const struct prefix *p, uint64_t *n, bool *waits, struct err *e);
/*
 * Searches are the caller's to keep: what could not be written he writes again with the next poll,
 * and where @anew has changed all of them.  0 where none are kept.
 */
int keep_put_searches(struct keep *k, const struct search_row *rows, uint32_t n, int64_t now);
int keep_delete_search(struct keep *k, const struct prefix *to, const char *dev, int64_t now);
int keep_searches(struct keep *k, search_fn each, void *data, struct err *e);
static inline bool keep_ok(const struct keep *k)
{
	return !k->rc;
}

#endif
