// SPDX-License-Identifier: GPL-2.0
/*
 * What is known of the remotes: visits one by one, or added up by remote.
 *
 * Statements are made for each walk, as what is called for a row may read, too.
 */
#include <stdio.h>
#include <stdlib.h>

#include "history_db.h"

/*
 * ?1: now, ?2: since.  A stamp that lies in the future is of a clock that was wrong, and
 * what the clock says is nearer to the truth (history_clock.c).
 */
#define ENDED	"(CASE WHEN stamp > ?1 THEN min(ended, ?1) ELSE stamp END)"
#define SINCE	"stamp >= ?2 AND " ENDED " >= ?2"

typedef int (*row_fn)(sqlite3_stmt *s, void *data);

static int start(struct history *h, const char *sql, int64_t since, sqlite3_stmt **s,
		 struct err *e)
{
	int rc = sqlite3_prepare_v2(h->db, sql, -1, s, NULL);

	if (rc)
		return db_failed(h, rc, "read", e);
	sqlite3_bind_int64(*s, 1, h->now);
	sqlite3_bind_int64(*s, 2, since);
	return 0;
}

/* What @each returns, other than 0, ends it */
static int walk(struct history *h, sqlite3_stmt *s, row_fn each, void *data, struct err *e)
{
	int rc, got = 0;

	while (!got && (rc = sqlite3_step(s)) == SQLITE_ROW)
		got = each(s, data);
	if (!got && rc != SQLITE_DONE)
		got = db_failed(h, rc, "read", e);
	return got;
}

struct visits {
	visit_fn each;
	void *data;
};

static int one_visit(sqlite3_stmt *s, void *data)
{
	const struct visits *to = data;
	struct visit v;

	return visit_read(s, &v) ? to->each(&v, to->data) : 0;
}

static const char all_visits[] =
	"SELECT" VISIT_COLUMNS ", " ENDED " FROM visit WHERE " SINCE
	" ORDER BY stamp DESC, id DESC";
/* In the order of the index, so that whoever wants the latest reads no more than that */
static const char visits_of_one[] =
	"SELECT" VISIT_COLUMNS ", " ENDED " FROM visit WHERE remote = ?3 AND " SINCE
	" ORDER BY stamp DESC, id DESC";
static const char visits_of_some[] =
	"SELECT" VISIT_COLUMNS ", " ENDED " FROM visit"
	" WHERE remote BETWEEN ?3 AND ?4 AND length(remote) = ?5 AND " SINCE
	" ORDER BY stamp DESC, id DESC";

static bool is_one(const struct prefix *p)
{
	return p->len == (p->family == AF_INET ? 32 : 128);
}

static const char *visits_sql(const struct prefix *remote)
{
	if (!remote)
		return all_visits;
	return is_one(remote) ? visits_of_one : visits_of_some;
}

static void bind_remotes(sqlite3_stmt *s, const struct prefix *of)
{
	unsigned char low[16], high[16];
	int bytes = prefix_range(of, low, high);

	sqlite3_bind_blob(s, 3, low, bytes, SQLITE_TRANSIENT);
	if (is_one(of))
		return;
	sqlite3_bind_blob(s, 4, high, bytes, SQLITE_TRANSIENT);
	sqlite3_bind_int(s, 5, bytes);
}

static int read_visits(struct history *h, const struct prefix *remote, int64_t since,
		       struct visits *to, struct err *e)
{
	sqlite3_stmt *s = NULL;
	int rc = start(h, visits_sql(remote), since, &s, e);

	if (!rc && remote)
		bind_remotes(s, remote);
	if (!rc)
		rc = walk(h, s, one_visit, to, e);
	sqlite3_finalize(s);
	return rc;
}

int history_each(struct history *h, const struct prefix *remote, int64_t since, visit_fn each,
		 void *data, struct err *e)
{
	struct visits to = { .each = each, .data = data };
	int rc = history_ready(h, e);

	return rc ?: history_used(h, read_visits(h, remote, since, &to, e), e);
}

struct remotes_walk {
	remote_history_fn each;
	void *data;
};

/* Of total(), which is no integer and cannot overflow */
static uint64_t total(sqlite3_stmt *s, int column, uint64_t max)
{
	double d = sqlite3_column_double(s, column);

	return !(d > 0) ? 0 : d < (double)max ? (uint64_t)d : max;
}

/* In the order of remotes_sql() */
static int one_remote(sqlite3_stmt *s, void *data)
{
	const struct remotes_walk *to = data;
	struct remote_history r = { 0 };
	int v, c = 9;

	if (!remote_read(s, 0, &r.remote))
		return 0;
	r.visits = (uint32_t)column_number(s, 1, UINT32_MAX);
	r.flows = total(s, 2, INT64_MAX);
	r.segs = total(s, 3, INT64_MAX);
	r.retrans = total(s, 4, INT64_MAX);
	r.us = total(s, 5, INT64_MAX);
	r.last = clock_time(sqlite3_column_int64(s, 6));
	r.best_rate = column_number(s, 7, INT64_MAX);
	r.min_rtt_us = (uint32_t)column_number(s, 8, UINT32_MAX);
	r.visits_of[VERDICT_UNKNOWN] = r.visits;
	r.acked = total(s, c++, INT64_MAX);
	r.acked_of[VERDICT_UNKNOWN] = r.acked;
	for (v = VERDICT_UNKNOWN + 1; v < VERDICTS; v++) {
		r.visits_of[v] = (uint32_t)total(s, c++, UINT32_MAX);
		r.acked_of[v] = total(s, c++, INT64_MAX);
		/* what is left has a name that is not known, or "unknown" */
		r.visits_of[VERDICT_UNKNOWN] -= r.visits_of[v];
		r.acked_of[VERDICT_UNKNOWN] -= r.acked_of[v];
	}
	return to->each(&r, to->data);
}

/*
 * One group a remote, in the order of the index: nothing is sorted, and no memory grows with
 * the history.
 */
static char *remotes_sql(void)
{
	char *sql = NULL;
	size_t len;
	FILE *f = open_memstream(&sql, &len);
	int v;

	if (!f)
		return NULL;
	fputs("SELECT remote, count(*), total(flows), total(segs), total(retrans), total(us),"
	      " max(" ENDED "), max(best_rate),"
	      " min(CASE WHEN min_rtt_us > 0 THEN min_rtt_us END), total(acked)", f);
	for (v = VERDICT_UNKNOWN + 1; v < VERDICTS; v++)
		fprintf(f, ", total(verdict = '%s'), total(CASE verdict WHEN '%s' THEN acked END)",
			verdict_name(v), verdict_name(v));
	fputs(" FROM visit WHERE " SINCE " GROUP BY remote", f);
	if (fclose(f)) {
		free(sql);
		return NULL;
	}
	return sql;
}

static int read_remotes(struct history *h, int64_t since, struct remotes_walk *to,
			struct err *e)
{
	sqlite3_stmt *s = NULL;
	char *sql = remotes_sql();
	int rc = sql ? start(h, sql, since, &s, e) : db_failed(h, SQLITE_NOMEM, "read", e);

	free(sql);
	if (!rc)
		rc = walk(h, s, one_remote, to, e);
	sqlite3_finalize(s);
	return rc;
}

int history_remotes(struct history *h, int64_t since, remote_history_fn each, void *data,
		    struct err *e)
{
	struct remotes_walk to = { .each = each, .data = data };
	int rc = history_ready(h, e);

	return rc ?: history_used(h, read_remotes(h, since, &to, e), e);
}
