// SPDX-License-Identifier: GPL-2.0
/*
 * The history's database: its connection, its statements, its transactions, its log.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "history_db.h"
#include "notify.h"

#define BUSY_MS		1000	/* another program may be looking at it when we open it */
#define WORK_OPS	250000	/* of SQLite's machine: some milliseconds */

static const char *const sql[STMTS] = {
	[STMT_ADD] =
		"INSERT INTO visit (" VISIT_COLUMNS ", stamp) VALUES"
		" (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,"
		" ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27,"
		" max(?3, coalesce((SELECT max(stamp) FROM visit), ?3)))",
	[STMT_OLDEST] =
		"DELETE FROM visit WHERE id IN"
		" (SELECT id FROM visit ORDER BY verdict <> 'unknown', id LIMIT ?1)",
	[STMT_EXPIRE] =
		"DELETE FROM visit WHERE id IN"
		" (SELECT id FROM visit WHERE stamp <= ?1 ORDER BY stamp LIMIT ?2)",
	[STMT_FORGET] =
		"DELETE FROM visit WHERE id IN (SELECT id FROM visit"
		" WHERE remote BETWEEN ?1 AND ?2 AND length(remote) = ?3"
		" ORDER BY remote LIMIT ?4)",
	[STMT_LOWEST] =
		"SELECT remote FROM visit"
		" WHERE remote BETWEEN ?1 AND ?2 AND length(remote) = ?3 ORDER BY remote LIMIT 1",
	[STMT_EARLIEST] = "SELECT min(stamp) FROM visit",
	[STMT_LATEST] =
		"SELECT max(latest) FROM (SELECT max(stamp) AS latest FROM visit"
		" UNION ALL SELECT max(stamp) FROM search)",
	[STMT_BEHIND] = "SELECT behind FROM clock",
	[STMT_SET_BEHIND] = "UPDATE clock SET behind = ?1",
	[STMT_REBASE] =
		"UPDATE visit SET stamp = CASE WHEN ended > ?1 THEN ?2 ELSE ended END WHERE id IN"
		" (SELECT id FROM visit WHERE stamp > ?1 ORDER BY stamp LIMIT ?3)",
	[STMT_PAGES] = "PRAGMA page_count",
	[STMT_FREE] = "PRAGMA freelist_count",
	[STMT_PUT_SEARCH] =
		"INSERT OR REPLACE INTO search"
		" (remote, bits, dev, seen, stamp, since, reason, stood_down, search) VALUES"
		" (?1, ?2, ?3, ?4, max(?4, coalesce((SELECT max(stamp) FROM search), ?4)),"
		" ?5, ?6, ?7, ?8)",
	[STMT_DELETE_SEARCH] =
		"DELETE FROM search WHERE remote = ?1 AND bits = ?2 AND dev = ?3",
	[STMT_SEARCHES] =
		"SELECT remote, bits, dev, since, reason, stood_down, search FROM search"
		" ORDER BY stamp DESC, id DESC",
	[STMT_COUNT_SEARCHES] = "SELECT count(*) FROM search",
	[STMT_OLDEST_SEARCH] =
		"DELETE FROM search WHERE id IN"
		" (SELECT id FROM search ORDER BY stamp, id LIMIT ?1)",
	[STMT_FORGET_SEARCHES] =
		"DELETE FROM search WHERE remote BETWEEN ?1 AND ?2 AND length(remote) = ?3"
		" AND bits >= ?4",
	[STMT_EARLIEST_SEARCH] = "SELECT min(stamp) FROM search",
	[STMT_EXPIRE_SEARCHES] = "DELETE FROM search WHERE stamp <= ?1",
	[STMT_REBASE_SEARCHES] =
		"UPDATE search SET stamp = CASE WHEN seen > ?1 THEN ?2 ELSE seen END"
		" WHERE stamp > ?1",
};

/*
 * What errno was when SQLite gave up; between the call that failed and that it may have made
 * others, so that of an I/O error no more is believed than that the quota is used up.
 */
static int system_errno(sqlite3 *db, int rc)
{
	int code = sqlite3_system_errno(db);

	if (code > 0 && (rc == SQLITE_CANTOPEN || code == EDQUOT))
		return -code;
	return -EIO;
}

int db_errno(sqlite3 *db, int rc)
{
	switch (rc & 0xff) {
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	/* what we ask is right, so that what it is asked of is not: an unknown format, no table */
	case SQLITE_ERROR:
	case SQLITE_CONSTRAINT:
	case SQLITE_MISMATCH:
	case SQLITE_TOOBIG:
		return -EBADMSG;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EACCES;
	default:
		return system_errno(db, rc & 0xff);
	}
}

int db_failed(const struct history *h, int rc, const char *what, struct err *e)
{
	int code = db_errno(h->db, rc);

	if (code == -EBUSY)
		return err_set(e, code, "cannot %s the history %s: another program has it open",
			       what, h->path);
	if (code == -EBADMSG)
		return err_set(e, code, "the history %s is damaged: %s", h->path,
			       sqlite3_errstr(rc));
	return err_set(e, code, "cannot %s the history %s: %s (%s)", what, h->path,
		       strerror(-code), sqlite3_errstr(rc));
}

int db_exec(const struct history *h, const char *text, const char *what, struct err *e)
{
	int rc = sqlite3_exec(h->db, text, NULL, NULL, NULL);

	return rc ? db_failed(h, rc, what, e) : 0;
}

/* 0 where there is none */
int db_number(const struct history *h, const char *text, int64_t *n, struct err *e)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(h->db, text, -1, &s, NULL);

	*n = 0;
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW)
		*n = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : db_failed(h, rc, "read", e);
}

static int committed(void *data, sqlite3 *db, const char *name, int pages)
{
	struct history *h = data;

	(void)db;
	(void)name;
	h->wal_pages = pages;
	return SQLITE_OK;
}

/* What is in the file may be anybody's making: it is data, and nothing that runs */
static void harden(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}

/*
 * locking_mode before anything is read, so that no file of shared memory is made; NORMAL: a
 * visit that is committed outlives the process, and after a loss of power the last of them
 * may be gone.  Temporary tables in memory, as there may be no folder that we may write to.
 */
int db_open(struct history *h, struct err *e)
{
	int rc = sqlite3_open_v2(h->path, &h->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
				 SQLITE_OPEN_NOFOLLOW, NULL);

	if (rc == SQLITE_OK) {
		sqlite3_extended_result_codes(h->db, 1);
		sqlite3_busy_timeout(h->db, BUSY_MS);
		harden(h->db);
		rc = sqlite3_exec(h->db, "PRAGMA locking_mode = EXCLUSIVE;"
				  "PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;"
				  "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;"
				  "PRAGMA cache_size = -1024; PRAGMA wal_autocheckpoint = 0;"
				  "PRAGMA journal_size_limit = 0", NULL, NULL, NULL);
	}
	if (rc != SQLITE_OK)
		return db_failed(h, rc, "open", e);
	/* in place of SQLite's own: db_checkpoint() truncates the log, and tells of failures */
	h->wal_pages = 0;
	sqlite3_wal_hook(h->db, committed, h);
	return 0;
}

void db_close(struct history *h)
{
	int i;

	for (i = 0; i < STMTS; i++) {
		sqlite3_finalize(h->stmt[i]);
		h->stmt[i] = NULL;
	}
	sqlite3_close(h->db);
	h->db = NULL;
}

int db_prepare(struct history *h, struct err *e)
{
	int i, rc;

	for (i = 0; i < STMTS; i++) {
		rc = sqlite3_prepare_v3(h->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT,
					&h->stmt[i], NULL);
		if (rc)
			return db_failed(h, rc, "read", e);
	}
	return 0;
}

/*
 * During start systemd counts no watchdog yet; extend the start timeout to 10 minutes from now.
 * SQLite before 3.41 has nobody told while it walks the pages of a quick_check, its first half.
 */
static int at_work(void *unused)
{
	(void)unused;
	notify("WATCHDOG=1\nEXTEND_TIMEOUT_USEC=600000000");
	return 0;
}

void db_works(const struct history *h, bool works)
{
	if (works)
		at_work(NULL);
	sqlite3_progress_handler(h->db, works ? WORK_OPS : 0, works ? at_work : NULL, NULL);
}

static int run(sqlite3_stmt *s)
{
	int rc;

	do
		rc = sqlite3_step(s);
	while (rc == SQLITE_ROW);
	sqlite3_reset(s);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int db_run(struct history *h, enum history_stmt s, uint32_t *changed, const char *what,
	   struct err *e)
{
	int rc = run(h->stmt[s]);

	if (changed)
		*changed = rc ? 0 : (uint32_t)sqlite3_changes(h->db);
	return rc ? db_failed(h, rc, what, e) : 0;
}

/* 0 of what is NULL */
int db_get(struct history *h, enum history_stmt s, int64_t *n, struct err *e)
{
	int rc = sqlite3_step(h->stmt[s]);

	*n = rc == SQLITE_ROW ? sqlite3_column_int64(h->stmt[s], 0) : 0;
	sqlite3_reset(h->stmt[s]);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : db_failed(h, rc, "read", e);
}

int db_checkpoint(struct history *h, struct err *e)
{
	int rc = sqlite3_wal_checkpoint_v2(h->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);

	if (rc)
		return db_failed(h, rc, "write", e);
	h->wal_pages = 0;
	return 0;
}

/* A log that cannot be checkpointed must not grow until the disk is full */
int db_begin(struct history *h, struct err *e)
{
	int rc = h->wal_pages < WAL_PAGES_MAX ? 0 : db_checkpoint(h, e);

	return rc ?: db_exec(h, "BEGIN IMMEDIATE", "write", e);
}

/*
 * SQLite may have taken it back by itself.  What is committed stays so where the checkpoint
 * fails: it is tried again after the next.
 */
int db_end(struct history *h, int rc, struct err *e)
{
	struct err unsaid;

	if (!rc)
		rc = db_exec(h, "COMMIT", "write", e);
	if (rc && !sqlite3_get_autocommit(h->db))
		sqlite3_exec(h->db, "ROLLBACK", NULL, NULL, NULL);
	if (!rc && h->wal_pages >= WAL_PAGES)
		db_checkpoint(h, &unsaid);
	return rc;
}
