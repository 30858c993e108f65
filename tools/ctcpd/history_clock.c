// SPDX-License-Identifier: GPL-2.0
/*
 * What is too old, by a clock that may be set back.
 *
 * A visit's age is counted from its stamp, which never falls from one visit to the next.  So
 * a host that begins in 1970 until it has heard of the right time forgets nothing of before,
 * and what it adds meanwhile is not 50 years old a minute later.
 *
 * After a clock that was wrong the other way (2040, then right again) all stamps lie in the
 * future.  That cannot be told from the first at once, but in the end: when the clock has been
 * behind the stamps for as long as visits are kept, the clock is right, and they are rebased
 * to what it said.  A clock that is set forward is believed.
 */
#include "history_db.h"

#define TIME_MAX	(1LL << 40)	/* s: so that sums and differences do not overflow */

int64_t clock_time(int64_t t)
{
	return t < 1 ? 1 : t > TIME_MAX ? TIME_MAX : t;
}

static int set_behind(struct history *h, int64_t since, struct err *e)
{
	sqlite3_stmt *s = h->stmt[STMT_SET_BEHIND];
	int rc = db_begin(h, e);

	if (rc)
		return rc;
	if (since)
		sqlite3_bind_int64(s, 1, since);
	else
		sqlite3_bind_null(s, 1);
	return db_end(h, db_run(h, STMT_SET_BEHIND, NULL, "write", e), e);
}

/* They are few enough for one transaction. */
static int rebase_searches(struct history *h, int64_t behind, struct err *e)
{
	sqlite3_stmt *s = h->stmt[STMT_REBASE_SEARCHES];
	int rc = db_begin(h, e);

	sqlite3_bind_int64(s, 1, h->now);
	sqlite3_bind_int64(s, 2, behind);
	return rc ?: db_end(h, db_run(h, STMT_REBASE_SEARCHES, NULL, "write", e), e);
}

/* What the clock's wrong time was is not known: as old as the time at which it was noticed */
static int rebase(struct history *h, int64_t behind, struct err *e)
{
	sqlite3_stmt *s = h->stmt[STMT_REBASE];
	unsigned int steps = STEPS_MAX;
	uint32_t changed = 1;
	int rc = 0;

	sqlite3_bind_int64(s, 1, h->now);
	sqlite3_bind_int64(s, 2, behind);
	sqlite3_bind_int64(s, 3, BATCH);
	while (!rc && changed && steps--) {
		rc = db_begin(h, e);
		if (!rc)
			rc = db_end(h, db_run(h, STMT_REBASE, &changed, "write", e), e);
	}
	return rc ?: rebase_searches(h, behind, e);
}

static int tidy_stamps(struct history *h, struct err *e)
{
	int64_t latest, behind;
	int rc = db_get(h, STMT_LATEST, &latest, e) ?: db_get(h, STMT_BEHIND, &behind, e);

	if (rc)
		return rc;
	if (latest <= h->now)
		return behind ? set_behind(h, 0, e) : 0;
	if (behind <= 0 || behind > h->now)
		return set_behind(h, h->now, e);
	if (h->now - behind >= (int64_t)h->limits.keep_s)
		return rebase(h, behind, e);
	return 0;
}

static int expire(struct history *h, struct err *e)
{
	int64_t before = h->now - (int64_t)h->limits.keep_s, earliest;
	int rc = db_get(h, STMT_EARLIEST, &earliest, e);

	if (rc || !h->rows || earliest > before)
		return rc;
	sqlite3_bind_int64(h->stmt[STMT_EXPIRE], 1, before);
	sqlite3_bind_int64(h->stmt[STMT_EXPIRE], 2, BATCH);
	return bounds_delete(h, STMT_EXPIRE, STEPS_MAX, NULL, e);
}

/* The first of them has the lowest stamp: where it may stay all may. */
static int expire_searches(struct history *h, struct err *e)
{
	int64_t before = h->now - (int64_t)h->limits.keep_s, earliest;
	int rc = db_get(h, STMT_EARLIEST_SEARCH, &earliest, e);

	if (rc || !earliest || earliest > before)
		return rc;
	rc = db_begin(h, e);
	sqlite3_bind_int64(h->stmt[STMT_EXPIRE_SEARCHES], 1, before);
	return rc ?: db_end(h, db_run(h, STMT_EXPIRE_SEARCHES, NULL, "write", e), e);
}

int clock_tidy(struct history *h, struct err *e)
{
	return tidy_stamps(h, e) ?: expire(h, e) ?: expire_searches(h, e);
}
