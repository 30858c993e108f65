/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the history: its database, and what its parts share.
 *
 * One process at a time has it, by the lock of FILE.lock (flock(2), which ends with the
 * process), and SQLite's exclusive mode keeps other programs out: a reader that stays would
 * hold back the checkpoints, and the write-ahead log would grow for as long.
 *
 * Transactions are short (BATCH rows, VACUUM_PAGES pages), as the log grows by all of one before
 * it can be checkpointed: by as much as the file is long, where somebody asked to forget, and the
 * disk has room.
 */
#ifndef CTCPD_HISTORY_DB_H
#define CTCPD_HISTORY_DB_H

#include <limits.h>
#include <sqlite3.h>
#include <sys/types.h>

#include "history.h"

#define BATCH		128	/* visits that one transaction deletes */
#define VACUUM_PAGES	64	/* that one transaction gives back */
#define STEPS_MAX	32	/* transactions of each kind in one history_tidy() */
#define PAGE_BYTES	4096
#define WAL_PAGES	384	/* 1.5 MB: the log is checkpointed and truncated */
#define WAL_PAGES_MAX	512	/* 2 MB: nothing is written until it could be */
#define SPARE_PAGES	32	/* below the limit: what one transaction may allocate */

enum history_stmt {
	STMT_ADD,
	STMT_OLDEST,	/* deletes ?1 visits, unknown ones first */
	STMT_EXPIRE,	/* deletes ?2 visits from ?1 or before */
	STMT_FORGET,	/* deletes ?4 visits to ?1 .. ?2, of ?3 bytes; the lowest first; -1 = all */
	STMT_LOWEST,	/* the lowest remote of ?1 .. ?2, of ?3 bytes */
	STMT_EARLIEST, STMT_LATEST,	/* the lowest stamp, the highest */
	STMT_BEHIND, STMT_SET_BEHIND,
	STMT_REBASE,	/* of ?3 visits the stamp: history_clock.c */
	STMT_PAGES, STMT_FREE,
	/* history_search.c: */
	STMT_PUT_SEARCH, STMT_DELETE_SEARCH, STMT_SEARCHES, STMT_COUNT_SEARCHES,
	STMT_OLDEST_SEARCH,	/* deletes ?1 */
	STMT_FORGET_SEARCHES,	/* of ?1 .. ?2, of ?3 bytes, with at least ?4 bits */
	STMT_EARLIEST_SEARCH, STMT_EXPIRE_SEARCHES, STMT_REBASE_SEARCHES,
	STMTS
};

struct history {
	char path[PATH_MAX];	/* of the file itself, whatever links led there */
	int lock;		/* fd, -1 = not held */
	dev_t dev;		/* of the file that is open */
	ino_t ino;
	struct history_limits limits;
	sqlite3 *db;		/* NULL: to be opened with the next write */
	struct sqlite3_stmt *stmt[STMTS];
	uint32_t rows;
	uint32_t pages_max;
	int wal_pages;		/* in the log as of the last commit */
	int64_t now;		/* as last told */
};

/* history_file.c: where it is, and that nobody else has it */
int history_find(struct history *h, const char *file, struct err *e);
int history_lock(struct history *h, struct err *e);
int history_set_aside(const struct history *h, struct err *e);
int history_create(const struct history *h, struct err *e);
bool history_is_moved(const struct history *h);
void history_drop_log(const struct history *h);
int history_know_file(struct history *h, struct err *e);

/* history_schema.c: -EBADMSG, not ours or damaged; -EPROTO, of a later version */
int history_peek(const struct history *h, struct err *e);
int history_schema(struct history *h, struct err *e);

/* history_db.c */
int db_open(struct history *h, struct err *e);
void db_close(struct history *h);
int db_errno(sqlite3 *db, int rc);
int db_failed(const struct history *h, int rc, const char *what, struct err *e);
int db_exec(const struct history *h, const char *sql, const char *what, struct err *e);
int db_number(const struct history *h, const char *sql, int64_t *n, struct err *e);
int db_prepare(struct history *h, struct err *e);
/* From now on, or not any more: what runs for long tells systemd that it is at work */
void db_works(const struct history *h, bool works);
/* Runs it; *@changed, or NULL: rows */
int db_run(struct history *h, enum history_stmt s, uint32_t *changed, const char *what,
	   struct err *e);
int db_get(struct history *h, enum history_stmt s, int64_t *n, struct err *e);
int db_begin(struct history *h, struct err *e);
/* @rc of what was done so far: 0, it is committed; else it is taken back */
int db_end(struct history *h, int rc, struct err *e);
int db_checkpoint(struct history *h, struct err *e);

/* history_bounds.c */
int bounds_set(struct history *h, struct err *e);
/* -EBADMSG: nothing went of what was found; quick_check does not compare the indexes */
int bounds_index_damaged(const struct history *h, struct err *e);
/* In a transaction of the caller's: one batch where there is no room; *@gone: visits */
int bounds_make_room(struct history *h, uint32_t *gone, struct err *e);
/* Towards the limits, at most STEPS_MAX transactions of each */
int bounds_keep(struct history *h, struct err *e);
int bounds_shrink(struct history *h, struct err *e);
/* Deletes by @s, whose values are bound, at most @steps batches; *@gone, or NULL: visits */
int bounds_delete(struct history *h, enum history_stmt s, unsigned int steps, uint64_t *gone,
		  struct err *e);

/* history_clock.c */
int64_t clock_time(int64_t t);
int clock_tidy(struct history *h, struct err *e);

/* history.c: before each use, and @rc of each: what is damaged is begun anew */
int history_ready(struct history *h, struct err *e);
int history_used(struct history *h, int rc, struct err *e);
int history_reopen(struct history *h, struct err *e);
/* The lowest and the highest address of a prefix; their bytes */
int prefix_range(const struct prefix *p, unsigned char low[16], unsigned char high[16]);

/* history_visit.c: the columns of a visit, to and from SQL */
#define VISIT_COLUMNS \
	" remote, began, ended, flows, algorithm, dev, paced, verdict, reason, us, acked," \
	" segs, retrans, local_drops, busy, rwnd, sndbuf, app, rate, best_rate, cwnd_max," \
	" cwnd_mean, mss, rtt_us, min_rtt_us, snd_wnd_max, sndbuf_bytes"
#define VISIT_COLUMNS_N	27
int visit_bind(sqlite3_stmt *s, const struct visit *v, int64_t now);
bool visit_read(sqlite3_stmt *s, struct visit *v);	/* false: it is of no address */
uint64_t column_number(sqlite3_stmt *s, int column, uint64_t max);	/* 0 .. @max */
bool remote_read(sqlite3_stmt *s, int column, struct prefix *remote);

#endif
