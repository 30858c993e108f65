// SPDX-License-Identifier: GPL-2.0
/*
 * The history's bounds, in rows and in bytes: the oldest visits go, by the order in which
 * they came, whatever the clock said then.  Those whose verdict is unknown go before all
 * others: whoever makes many of them must not displace what was found out.
 */
#include <errno.h>
#include <stdio.h>

#include "history_db.h"

/* Where few are kept, not all of them at once; but what is too many, as after lower limits */
static uint32_t batch(const struct history *h)
{
	uint32_t n = h->limits.visits / 16 + 1, most = h->limits.visits;

	if (h->rows > most && h->rows - most > n)
		n = h->rows - most;
	return n < BATCH ? n : BATCH;
}

static int limit_pages(const struct history *h, struct err *e)
{
	char text[48];

	snprintf(text, sizeof(text), "PRAGMA max_page_count = %u", h->pages_max);
	return db_exec(h, text, "read", e);
}

int bounds_set(struct history *h, struct err *e)
{
	int64_t rows, page, pages;
	int rc = db_number(h, "SELECT count(*) FROM visit", &rows, e) ?:
		 db_number(h, "PRAGMA page_size", &page, e);

	if (rc)
		return rc;
	pages = (int64_t)(h->limits.bytes / (uint64_t)page);
	h->pages_max = pages < UINT32_MAX / 2 ? (uint32_t)pages : UINT32_MAX / 2;
	h->rows = rows < UINT32_MAX ? (uint32_t)rows : UINT32_MAX;
	return limit_pages(h, e);
}

/* With that many rows */
static int is_full(struct history *h, uint64_t rows, bool *full, struct err *e)
{
	int64_t pages, unused;
	int rc;

	*full = rows > h->limits.visits;
	if (*full)
		return 0;
	rc = db_get(h, STMT_PAGES, &pages, e) ?: db_get(h, STMT_FREE, &unused, e);
	*full = !rc && pages - unused > (int64_t)h->pages_max - SPARE_PAGES;
	return rc;
}

int bounds_index_damaged(const struct history *h, struct err *e)
{
	return err_set(e, -EBADMSG,
		       "the history %s is damaged: an index has visits that are not there",
		       h->path);
}

int bounds_make_room(struct history *h, uint32_t *gone, struct err *e)
{
	bool full;
	int rc = is_full(h, (uint64_t)h->rows + 1, &full, e);

	*gone = 0;
	if (rc || !full)
		return rc;
	sqlite3_bind_int64(h->stmt[STMT_OLDEST], 1, batch(h));
	rc = db_run(h, STMT_OLDEST, gone, "make room in", e);
	return rc || *gone || !h->rows ? rc : bounds_index_damaged(h, e);
}

/* One transaction */
static int delete_batch(struct history *h, enum history_stmt s, uint32_t *gone, struct err *e)
{
	int rc = db_begin(h, e);

	*gone = 0;
	if (rc)
		return rc;
	rc = db_end(h, db_run(h, s, gone, "make room in", e), e);
	if (rc)
		*gone = 0;
	h->rows -= *gone;
	return rc;
}

int bounds_delete(struct history *h, enum history_stmt s, unsigned int steps, uint64_t *gone,
		  struct err *e)
{
	uint32_t n = 1;
	int rc = 0;

	while (!rc && n && steps--) {
		rc = delete_batch(h, s, &n, e);
		if (gone)
			*gone += n;
	}
	return rc;
}

/* To limits that are lower than those of before */
int bounds_keep(struct history *h, struct err *e)
{
	unsigned int steps = STEPS_MAX;
	uint32_t gone = 1;
	bool full;
	int rc = is_full(h, h->rows, &full, e);

	while (!rc && full && gone && steps--) {
		sqlite3_bind_int64(h->stmt[STMT_OLDEST], 1, batch(h));
		rc = delete_batch(h, STMT_OLDEST, &gone, e) ?: is_full(h, h->rows, &full, e);
	}
	return rc;
}

static int shrink_step(struct history *h, struct err *e)
{
	char text[48];
	int rc = db_begin(h, e);

	if (rc)
		return rc;
	snprintf(text, sizeof(text), "PRAGMA incremental_vacuum(%d)", VACUUM_PAGES);
	return db_end(h, db_exec(h, text, "shrink", e), e);
}

/*
 * Some pages stay free, so that the file does not shrink and grow with each batch; not where it
 * is larger than it may be.
 */
static int is_loose(struct history *h, bool *loose, struct err *e)
{
	int64_t pages, unused;
	int rc = db_get(h, STMT_PAGES, &pages, e) ?: db_get(h, STMT_FREE, &unused, e);

	*loose = !rc && unused > (pages > (int64_t)h->pages_max ? 0 : VACUUM_PAGES);
	return rc;
}

/* SQLite takes no limit that is lower than the file: it is told anew of a smaller file's */
int bounds_shrink(struct history *h, struct err *e)
{
	unsigned int steps = STEPS_MAX;
	bool loose;
	int rc = is_loose(h, &loose, e);

	while (!rc && loose && steps--)
		rc = shrink_step(h, e) ?: is_loose(h, &loose, e);
	return rc || steps == STEPS_MAX ? rc : limit_pages(h, e);
}
