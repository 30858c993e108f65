// SPDX-License-Identifier: GPL-2.0
/*
 * The history: opened, written, tidied, closed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history_db.h"
#include "notify.h"

static bool is_damage(int rc)
{
	return rc == -EBADMSG;
}

/*
 * Towards the limits, where history_tidy() goes on, and the log into the file.  Where the disk
 * is full it can be read all the same, and the next write tells.
 */
static int put_in_order(struct history *h, struct err *e)
{
	int rc = bounds_keep(h, e) ?: bounds_shrink(h, e) ?: db_checkpoint(h, e);

	return is_damage(rc) ? rc : bounds_set(h, e);
}

static int open_file(struct history *h, struct err *e)
{
	int rc = history_create(h, e) ?: history_peek(h, e);

	if (rc)
		return rc;
	rc = db_open(h, e) ?: history_schema(h, e) ?: history_know_file(h, e) ?:
	     db_prepare(h, e) ?: bounds_set(h, e) ?: put_in_order(h, e);
	if (rc)
		db_close(h);
	return rc;
}

/* -EBADMSG: nothing damaged is left in its place, and it can be opened anew */
static int open_or_set_aside(struct history *h, struct err *e)
{
	int rc = open_file(h, e);

	return is_damage(rc) ? history_set_aside(h, e) ?: rc : rc;
}

/* One that is opened anew after it was damaged tells of that once */
int history_ready(struct history *h, struct err *e)
{
	return h->db ? 0 : open_or_set_aside(h, e);
}

int history_used(struct history *h, int rc, struct err *e)
{
	struct err unsaid;
	int failed;

	if (!is_damage(rc) || !h->db)
		return rc;
	db_close(h);
	failed = history_set_aside(h, e);
	if (failed)
		return failed;
	/* where that fails the next call tries again, and tells */
	open_file(h, &unsaid);
	return rc;
}

int history_reopen(struct history *h, struct err *e)
{
	int rc;

	/* where it was moved to it is whole */
	sqlite3_db_config(h->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	db_close(h);
	history_drop_log(h);
	rc = open_or_set_aside(h, e);
	return rc ?: err_set(e, -ESTALE,
			     "the history %s was removed or replaced; what is there now is used",
			     h->path);
}

static void take_limits(struct history *h, const struct history_limits *limits)
{
	h->limits = *limits;
	if (h->limits.bytes < HISTORY_BYTES_MIN)
		h->limits.bytes = HISTORY_BYTES_MIN;
	if (h->limits.visits < HISTORY_VISITS_MIN)
		h->limits.visits = HISTORY_VISITS_MIN;
	h->limits.keep_s = (uint64_t)clock_time((int64_t)(h->limits.keep_s & INT64_MAX));
}

static int begin(struct history *h, const char *file, bool *aside, struct err *e)
{
	int rc = history_find(h, file, e) ?: history_lock(h, e) ?: open_or_set_aside(h, e);
	struct err why;

	if (!is_damage(rc))
		return rc;
	why = *e;
	rc = open_file(h, e);
	if (rc)
		return rc;
	*aside = true;
	*e = why;
	return 0;
}

struct history *history_open(const char *file, const struct history_limits *limits, int64_t now,
			     bool *aside, int *rc, struct err *e)
{
	struct history *h = calloc(1, sizeof(*h));

	*aside = false;
	if (!h) {
		*rc = err_set(e, -ENOMEM, "no memory for the history");
		return NULL;
	}
	h->lock = -1;
	h->now = clock_time(now);
	take_limits(h, limits);
	*rc = begin(h, file, aside, e);
	if (*rc) {
		history_close(h);
		return NULL;
	}
	return h;
}

/* A log that could not be put into the file stays, for the next to open it */
void history_close(struct history *h)
{
	struct err unsaid;

	if (!h)
		return;
	if (h->db && !db_checkpoint(h, &unsaid))
		sqlite3_db_config(h->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	db_close(h);
	if (h->lock >= 0)
		close(h->lock);
	free(h);
}

static int insert(struct history *h, const struct visit *v, struct err *e)
{
	int rc = visit_bind(h->stmt[STMT_ADD], v, h->now);

	return rc ? db_failed(h, rc, "write", e) : db_run(h, STMT_ADD, NULL, "write", e);
}

/* What has to go for it goes with it, or not at all */
static int add(struct history *h, const struct visit *v, struct err *e)
{
	uint32_t gone = 0;
	int rc = db_begin(h, e);

	if (rc)
		return rc;
	rc = db_end(h, bounds_make_room(h, &gone, e) ?: insert(h, v, e), e);
	if (!rc)
		h->rows += 1 - gone;
	return rc;
}

int history_add(struct history *h, const struct visit *v, int64_t now, struct err *e)
{
	int rc = history_ready(h, e);

	h->now = clock_time(now);
	return rc ?: history_used(h, add(h, v, e), e);
}

int history_tidy(struct history *h, int64_t now, struct err *e)
{
	int rc = history_ready(h, e);

	h->now = clock_time(now);
	if (rc)
		return rc;
	if (history_is_moved(h))
		return history_reopen(h, e);
	rc = clock_tidy(h, e) ?: bounds_keep(h, e) ?: bounds_shrink(h, e);
	return history_used(h, rc, e);
}

int prefix_range(const struct prefix *p, unsigned char low[16], unsigned char high[16])
{
	int bytes = p->family == AF_INET ? 4 : 16;
	int i;

	for (i = 0; i < bytes; i++) {
		int host = 8 * (i + 1) - (int)p->len;	/* bits of this byte */
		unsigned char mask = host <= 0 ? 0 : host >= 8 ? 0xff : (1U << host) - 1;

		low[i] = p->addr[i] & ~mask;
		high[i] = p->addr[i] | mask;
	}
	return bytes;
}

static void bind_range(struct history *h, const struct prefix *p)
{
	const enum history_stmt of[] = { STMT_LOWEST, STMT_FORGET };
	unsigned char low[16], high[16];
	int bytes = prefix_range(p, low, high), i;

	for (i = 0; i < 2; i++) {
		sqlite3_bind_blob(h->stmt[of[i]], 1, low, bytes, SQLITE_TRANSIENT);
		sqlite3_bind_blob(h->stmt[of[i]], 2, high, bytes, SQLITE_TRANSIENT);
		sqlite3_bind_int64(h->stmt[of[i]], 3, bytes);
	}
}

/*
 * A batch begins at the lowest remote that is left: from the prefix's own beginning, each would
 * pass all rows of the other family that lie between.
 */
static int begin_at_lowest(struct history *h, bool *any, struct err *e)
{
	sqlite3_stmt *s = h->stmt[STMT_LOWEST];
	int rc = sqlite3_step(s), bytes;
	struct prefix p;

	*any = rc == SQLITE_ROW && remote_read(s, 0, &p);
	sqlite3_reset(s);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return db_failed(h, rc, "read", e);
	if (!*any)
		return 0;
	bytes = p.family == AF_INET ? 4 : 16;
	sqlite3_bind_blob(s, 1, p.addr, bytes, SQLITE_TRANSIENT);
	sqlite3_bind_blob(h->stmt[STMT_FORGET], 1, p.addr, bytes, SQLITE_TRANSIENT);
	return 0;
}

static int forget_most(struct history *h, int most, uint64_t *n, struct err *e)
{
	sqlite3_bind_int64(h->stmt[STMT_FORGET], 4, most);
	return bounds_delete(h, STMT_FORGET, 1, n, e);
}

static int forget_by_batches(struct history *h, uint64_t *n, struct err *e)
{
	uint64_t before;
	bool any = true;
	int rc = 0;

	while (!rc && any) {
		before = *n;
		rc = begin_at_lowest(h, &any, e);
		if (!rc && any)
			rc = forget_most(h, BATCH, n, e);
		if (!rc && any && *n == before)
			rc = bounds_index_damaged(h, e);
		notify("WATCHDOG=1");
	}
	return rc;
}

/*
 * All of them, however long it takes: whoever asked for it waits.  In one transaction, which
 * writes each page once: of 50,000 visits it takes a second, where batches take 19, as each of
 * them has rows in pages all over the file.  Its log has no room on a disk that is full, where
 * to forget may be what helps: there by batches.
 */
static int forget(struct history *h, uint64_t *n, struct err *e)
{
	int rc = forget_most(h, -1, n, e);
	bool any;

	if (rc == -ENOSPC)
		return forget_by_batches(h, n, e);
	rc = rc ?: begin_at_lowest(h, &any, e);
	return rc || !any ? rc : bounds_index_damaged(h, e);
}

int history_forget(struct history *h, const struct prefix *p, uint64_t *n, struct err *e)
{
	int rc = history_ready(h, e);

	*n = 0;
	if (rc)
		return rc;
	bind_range(h, p);
	db_works(h, true);
	rc = forget(h, n, e);
	db_works(h, false);
	rc = rc ?: bounds_shrink(h, e);
	return history_used(h, rc, e);
}
