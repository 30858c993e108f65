/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The history: what is known of each remote over days, in an SQLite database.
 *
 * A visit is what the flows to one remote did from their first byte to their last, or for
 * VISIT_MAX_US of it: one row.  The database is bounded in rows and in bytes (oldest visits
 * go first, and before them those whose verdict is unknown), forgets what is older than
 * keep_s, and holds nothing that cannot be lost: the daemon goes on without it.
 *
 * history_open(): the folder is made (0700) if it is not there, the file is 0600; where it is a
 * link, what that leads to is the file.  A file that is damaged, or of another program, is
 * renamed to FILE.damaged (then .damaged.2 and .damaged.3, of which the last is replaced) and
 * begun anew: @aside, and @e says so.  Else there is none, and a sentence: -EBUSY, another process
 * has it open; -EPROTO, a later ctcpd wrote it; -EPERM, others may write there; -EACCES,
 * -EROFS, -ENOSPC, ...
 *
 * Each write: 0, or -ENOSPC, -EIO, ... and a sentence; the history is as it was before, and
 * the next write may succeed.  -EBADMSG: it was found damaged, set aside and begun anew;
 * -ESTALE: somebody removed or replaced the file, and what is there now is used.
 *
 * Times are s of CLOCK_REALTIME, which may be set back.  What lies in the future is of now;
 * what is written while the clock is behind that of earlier visits is as old as the latest
 * of them, until the clock has been behind for @keep_s: then it is believed.
 */
#ifndef CTCPD_HISTORY_H
#define CTCPD_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "conn.h"
#include "err.h"
#include "verdict.h"

#define HISTORY_BYTES_MIN	(1U << 20)	/* less is taken as this much */
#define HISTORY_VISITS_MIN	100U

struct history;			/* history.c */

/*
 * Beside the file there is its write-ahead log, at most 4 MB with what is free in the file; in
 * history_forget() as much as the file, where the disk has that.
 */
struct history_limits {
	uint64_t bytes;		/* of the database file, at most */
	uint32_t visits;	/* rows, at most */
	uint64_t keep_s;	/* what is older is forgotten: two weeks */
};

struct visit {
	struct prefix remote;	/* full length */
	int64_t began, ended;	/* s, CLOCK_REALTIME */
	uint32_t flows;
	char algorithm[ALGORITHM_LEN];
	char dev[IFNAMSIZ];	/* the device that it left by */
	bool paced;			/* a part of it was, at least */
	struct judgement judgement;
};

/* What all visits to one remote came to; rates bytes/s, 0 = not known */
struct remote_history {
	struct prefix remote;		/* full length */
	uint32_t visits, visits_of[VERDICTS];
	uint64_t flows, segs, retrans;
	uint64_t acked, acked_of[VERDICTS];	/* bytes */
	uint64_t us;			/* that the judgements rest on */
	int64_t last;			/* s, CLOCK_REALTIME: the end of the latest */
	uint64_t best_rate;		/* the highest of them */
	uint32_t min_rtt_us;		/* the lowest of them */
};

typedef int (*visit_fn)(const struct visit *v, void *data);
typedef int (*remote_history_fn)(const struct remote_history *r, void *data);

struct history *history_open(const char *file, const struct history_limits *limits, int64_t now,
			     bool *aside, int *rc, struct err *e);	/* NULL: *rc, e */
void history_close(struct history *h);
int history_add(struct history *h, const struct visit *v, int64_t now, struct err *e);
/* @remote NULL: of all; a prefix: of all in it; newest first; what @each returns ends it */
int history_each(struct history *h, const struct prefix *remote, int64_t since, visit_fn each,
		 void *data, struct err *e);
/* Visits that ended at @since or later, by remote; what @each returns ends it */
int history_remotes(struct history *h, int64_t since, remote_history_fn each, void *data,
		    struct err *e);
/* All of the remotes in @p; *@n: visits that went, also where it failed in the midst */
int history_forget(struct history *h, const struct prefix *p, uint64_t *n, struct err *e);
/*
 * Forgets what is too old, or too much by limits that are lower than before, and gives free
 * space back.  To be called at every poll: it costs a few lookups where there is nothing to do,
 * and does at most some 0.1 s of work at a time.
 */
int history_tidy(struct history *h, int64_t now, struct err *e);

#endif
