// SPDX-License-Identifier: GPL-2.0
/*
 * Searches as rows of SQL: see history_search.h.
 */
#include <errno.h>
#include <string.h>

#include "history_db.h"
#include "history_search.h"
#include "paced.h"
#include "text.h"

#define BYTES_OF_ONE	8192U	/* of the history's: a row has at most 2 KB */

static uint32_t most(const struct history *h)
{
	uint64_t room = h->limits.bytes / BYTES_OF_ONE;

	return room < SEARCHES_MAX ? (uint32_t)room : SEARCHES_MAX;
}

/* --- to and from SQL ---------------------------------------------------------- */

static int bind_text(sqlite3_stmt *s, int column, const char *text, size_t len)
{
	return sqlite3_bind_text(s, column, text, (int)strnlen(text, len), SQLITE_TRANSIENT);
}

/* Its first three: what it is known by */
static int bind_key(sqlite3_stmt *s, const struct prefix *to, const char *dev)
{
	int rc = sqlite3_bind_blob(s, 1, to->addr, to->family == AF_INET ? 4 : 16,
				   SQLITE_TRANSIENT);

	rc = rc ?: sqlite3_bind_int64(s, 2, to->len);
	return rc ?: bind_text(s, 3, dev, IFNAMSIZ);
}

static int bind_row(struct history *h, const struct search_row *row)
{
	sqlite3_stmt *s = h->stmt[STMT_PUT_SEARCH];
	char text[SEARCH_TEXT];
	int rc = bind_key(s, &row->to, row->dev);

	search_format(&row->search, text);
	rc = rc ?: sqlite3_bind_int64(s, 4, h->now);
	rc = rc ?: sqlite3_bind_int64(s, 5, row->since);
	rc = rc ?: bind_text(s, 6, search_reason_name(row->reason), SEARCH_TEXT);
	rc = rc ?: bind_text(s, 7, row->stood_down, sizeof(row->stood_down));
	return rc ?: bind_text(s, 8, text, sizeof(text));
}

static const char *column_text(sqlite3_stmt *s, int column)
{
	return (const char *)sqlite3_column_text(s, column) ?: "";
}

/* No other length is ever written: 0, as of what is no number, would pace all that there is. */
static bool read_prefix(sqlite3_stmt *s, struct prefix *to)
{
	unsigned int bits = (unsigned int)column_number(s, 1, UINT32_MAX);

	if (!remote_read(s, 0, to))
		return false;
	if (bits != to->len && bits != (to->family == AF_INET ? MERGE_IP4 : MERGE_IP6))
		return false;
	prefix_cut(to, bits);
	return true;
}

/* False: it is of no prefix, or no search */
static bool read_row(sqlite3_stmt *s, struct search_row *row)
{
	struct err unsaid;

	memset(row, 0, sizeof(*row));
	if (!read_prefix(s, &row->to))
		return false;
	text_copy(row->dev, sizeof(row->dev), column_text(s, 2));
	row->since = (int64_t)column_number(s, 3, INT64_MAX / 2);
	row->reason = search_reason_of_name(column_text(s, 4));
	text_copy(row->stood_down, sizeof(row->stood_down), column_text(s, 5));
	return !search_parse(column_text(s, 6), &row->search, &unsaid);
}

/* --- writing -------------------------------------------------------------------- */

/* In a transaction of the caller's: those that are too many go */
static int trim(struct history *h, struct err *e)
{
	int64_t n;
	int rc = db_get(h, STMT_COUNT_SEARCHES, &n, e);

	if (rc || n <= (int64_t)most(h))
		return rc;
	sqlite3_bind_int64(h->stmt[STMT_OLDEST_SEARCH], 1, n - (int64_t)most(h));
	return db_run(h, STMT_OLDEST_SEARCH, NULL, "make room in", e);
}

static int put_rows(struct history *h, const struct search_row *rows, uint32_t n, struct err *e)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < n && !rc; i++) {
		rc = bind_row(h, &rows[i]);
		rc = rc ? db_failed(h, rc, "write", e) :
		     db_run(h, STMT_PUT_SEARCH, NULL, "write", e);
	}
	return rc ?: trim(h, e);
}

static int put(struct history *h, const struct search_row *rows, uint32_t n, struct err *e)
{
	uint32_t gone = 0;
	int rc = db_begin(h, e);

	if (rc)
		return rc;
	rc = db_end(h, bounds_make_room(h, &gone, e) ?: put_rows(h, rows, n, e), e);
	if (!rc)
		h->rows -= gone;
	return rc;
}

int history_put_searches(struct history *h, const struct search_row *rows, uint32_t n,
			 int64_t now, struct err *e)
{
	int rc = history_ready(h, e);

	h->now = clock_time(now);
	if (n > SEARCH_ROWS)
		return err_set(e, -E2BIG, "%u searches are more than %u", n, SEARCH_ROWS);
	return rc ?: history_used(h, put(h, rows, n, e), e);
}

/* One transaction of @s, whose values are bound; *@n: rows */
static int change(struct history *h, enum history_stmt s, uint32_t *n, struct err *e)
{
	int rc = db_begin(h, e);

	*n = 0;
	if (rc)
		return rc;
	rc = db_end(h, db_run(h, s, n, "write", e), e);
	if (rc)
		*n = 0;
	return rc;
}

int history_delete_search(struct history *h, const struct prefix *to, const char *dev,
			  struct err *e)
{
	int rc = history_ready(h, e);
	uint32_t n;

	if (rc)
		return rc;
	rc = bind_key(h->stmt[STMT_DELETE_SEARCH], to, dev);
	rc = rc ? db_failed(h, rc, "write", e) : change(h, STMT_DELETE_SEARCH, &n, e);
	return history_used(h, rc, e);
}

/* --- all of them ------------------------------------------------------------------ */

static int step_all(struct history *h, search_fn each, void *data, struct err *e)
{
	sqlite3_stmt *s = h->stmt[STMT_SEARCHES];
	struct search_row row;
	int step, rc = 0;

	while (!rc && (step = sqlite3_step(s)) == SQLITE_ROW)
		if (read_row(s, &row))
			rc = each(&row, data);
	sqlite3_reset(s);
	if (rc || step == SQLITE_DONE)
		return rc;
	return db_failed(h, step, "read", e);
}

int history_searches(struct history *h, search_fn each, void *data, struct err *e)
{
	int rc = history_ready(h, e);

	return rc ?: history_used(h, step_all(h, each, data, e), e);
}

static int forget_from(struct history *h, const struct prefix *p, uint32_t *n, struct err *e)
{
	sqlite3_stmt *s = h->stmt[STMT_FORGET_SEARCHES];
	unsigned char low[16], high[16];
	int bytes = prefix_range(p, low, high);

	sqlite3_bind_blob(s, 1, low, bytes, SQLITE_TRANSIENT);
	sqlite3_bind_blob(s, 2, high, bytes, SQLITE_TRANSIENT);
	sqlite3_bind_int64(s, 3, bytes);
	sqlite3_bind_int64(s, 4, p->len);
	return change(h, STMT_FORGET_SEARCHES, n, e);
}

int history_forget_searches(struct history *h, const struct prefix *p, uint32_t *n,
			    struct err *e)
{
	int rc = history_ready(h, e);

	*n = 0;
	return rc ?: history_used(h, forget_from(h, p, n, e), e);
}
