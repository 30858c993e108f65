// SPDX-License-Identifier: GPL-2.0
/*
 * The history's schema, and whether a file has it.
 *
 * Step N of steps[] makes version N of version N - 1; a step that a release had is never
 * changed.  What the schema has to be after all of them, a database in memory tells.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "history_db.h"

#define APPLICATION_ID	0x63746370	/* "ctcp" */
#define MAGIC		"SQLite format 3"
/* in the file's header, big endian: https://www.sqlite.org/fileformat2.html#the_database_header */
#define HEADER_LEN	100
#define HEADER_FORMAT	18
#define HEADER_VERSION	60
#define HEADER_ID	68

/*
 * ended: as the clock said it; stamp: the same, but never lower than that of a visit which was
 * added before, so that a clock which was set back makes none older than it is.
 * remote: the address, 4 or 16 bytes.  clock.behind: since when the clock has been behind.
 * search: of version 2, as search_format() has it; seen: when it was put, as ended is of a visit.
 * visit_known: in it rows are in the order of their id, too, which is that in which they go.
 */
static const char *const steps[] = {
	"CREATE TABLE visit (id INTEGER PRIMARY KEY, remote BLOB NOT NULL,"
	" began INTEGER NOT NULL, ended INTEGER NOT NULL, stamp INTEGER NOT NULL,"
	" flows INTEGER NOT NULL, algorithm TEXT NOT NULL, dev TEXT NOT NULL,"
	" paced INTEGER NOT NULL, verdict TEXT NOT NULL, reason TEXT NOT NULL,"
	" us INTEGER NOT NULL, acked INTEGER NOT NULL, segs INTEGER NOT NULL,"
	" retrans INTEGER NOT NULL, local_drops INTEGER NOT NULL, busy INTEGER NOT NULL,"
	" rwnd INTEGER NOT NULL, sndbuf INTEGER NOT NULL, app INTEGER NOT NULL,"
	" rate INTEGER NOT NULL, best_rate INTEGER NOT NULL, cwnd_max INTEGER NOT NULL,"
	" cwnd_mean INTEGER NOT NULL, mss INTEGER NOT NULL, rtt_us INTEGER NOT NULL,"
	" min_rtt_us INTEGER NOT NULL, snd_wnd_max INTEGER NOT NULL,"
	" sndbuf_bytes INTEGER NOT NULL);"
	"CREATE INDEX visit_remote ON visit (remote, stamp);"
	"CREATE INDEX visit_stamp ON visit (stamp);"
	"CREATE INDEX visit_known ON visit (verdict <> 'unknown');"
	"CREATE TABLE clock (behind INTEGER);"
	"INSERT INTO clock VALUES (NULL);",
	"CREATE TABLE search (id INTEGER PRIMARY KEY, remote BLOB NOT NULL,"
	" bits INTEGER NOT NULL, dev TEXT NOT NULL, seen INTEGER NOT NULL,"
	" stamp INTEGER NOT NULL, since INTEGER NOT NULL, reason TEXT NOT NULL,"
	" stood_down TEXT NOT NULL, search TEXT NOT NULL, UNIQUE (remote, bits, dev));"
	"CREATE INDEX search_stamp ON search (stamp, id);",
};

#define VERSION	((int)(sizeof(steps) / sizeof(steps[0])))

static const char *const schema_list =
	"SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name";

static int later(const struct history *h, int64_t version, struct err *e)
{
	return err_set(e, -EPROTO,
		       "the history %s is of version %lld, which a later ctcpd wrote; this one knows versions up to %d, and leaves it as it is",
		       h->path, (long long)version, VERSION);
}

static uint32_t big_endian(const unsigned char *b)
{
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* Before SQLite opens it, as that may make files beside it: a later version's stays as it is */
int history_peek(const struct history *h, struct err *e)
{
	int fd = open(h->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	unsigned char head[HEADER_LEN];
	int32_t version;
	ssize_t n;

	if (fd < 0)
		return err_set(e, -errno, "cannot open the history %s: %s", h->path,
			       strerror(errno));
	n = pread(fd, head, sizeof(head), 0);
	close(fd);
	if (n < (ssize_t)sizeof(head) || memcmp(head, MAGIC, sizeof(MAGIC)))
		return 0;
	/* 1: rollback journal, 2: WAL; SQLite reads what is above it, but never writes it */
	if (head[HEADER_FORMAT] > 2)
		return err_set(e, -EBADMSG, "the history %s is of an unknown format, %u", h->path,
			       head[HEADER_FORMAT]);
	if (big_endian(head + HEADER_ID) != APPLICATION_ID)
		return 0;
	version = (int32_t)big_endian(head + HEADER_VERSION);
	return version > VERSION ? later(h, version, e) : 0;
}

static int run_steps(sqlite3 *db, int from)
{
	int i, rc = SQLITE_OK;

	for (i = from; i < VERSION && rc == SQLITE_OK; i++)
		rc = sqlite3_exec(db, steps[i], NULL, NULL, NULL);
	return rc;
}

static int put_version(const struct history *h, struct err *e)
{
	char sql[96];

	snprintf(sql, sizeof(sql), "PRAGMA application_id = %d; PRAGMA user_version = %d",
		 APPLICATION_ID, VERSION);
	return db_exec(h, sql, "begin", e);
}

/* All steps that are to come in one transaction: killed in the midst, there is the old one */
static int migrate(struct history *h, int from, struct err *e)
{
	int rc = db_exec(h, "BEGIN IMMEDIATE", "begin", e);

	if (rc)
		return rc;
	rc = run_steps(h->db, from);
	rc = rc ? db_failed(h, rc, "begin", e) : put_version(h, e);
	return db_end(h, rc, e);
}

/* auto_vacuum is of a file that has no page so far; of an empty one VACUUM sets it */
static int begin(struct history *h, struct err *e)
{
	return db_exec(h, "PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL; VACUUM;"
		       "PRAGMA journal_mode = WAL", "begin", e) ?: migrate(h, 0, e);
}

static bool same_text(sqlite3_stmt *a, sqlite3_stmt *b, int column)
{
	const char *x = (const char *)sqlite3_column_text(a, column);
	const char *y = (const char *)sqlite3_column_text(b, column);

	return x && y ? !strcmp(x, y) : x == y;
}

/* SQLITE_DONE: both have ended, and each row was the same; SQLITE_MISMATCH */
static int same_rows(sqlite3_stmt *a, sqlite3_stmt *b)
{
	int rc, i;

	while ((rc = sqlite3_step(a)) == SQLITE_ROW) {
		if (sqlite3_step(b) != SQLITE_ROW)
			return SQLITE_MISMATCH;
		for (i = 0; i < 4; i++)
			if (!same_text(a, b, i))
				return SQLITE_MISMATCH;
	}
	if (rc == SQLITE_DONE && sqlite3_step(b) != SQLITE_DONE)
		return SQLITE_MISMATCH;
	return rc;
}

static int compare(sqlite3 *db, sqlite3 *right)
{
	sqlite3_stmt *a = NULL, *b = NULL;
	int rc = run_steps(right, 0);

	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(right, schema_list, -1, &b, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(db, schema_list, -1, &a, NULL);
	if (rc == SQLITE_OK)
		rc = same_rows(a, b);
	sqlite3_finalize(a);
	sqlite3_finalize(b);
	return rc;
}

static int check_tables(const struct history *h, struct err *e)
{
	sqlite3 *right = NULL;
	int rc = sqlite3_open(":memory:", &right);

	if (rc == SQLITE_OK)
		rc = compare(h->db, right);
	sqlite3_close(right);
	if (rc == SQLITE_MISMATCH)
		return err_set(e, -EBADMSG, "the history %s has not ctcpd's tables", h->path);
	return rc == SQLITE_DONE ? 0 : db_failed(h, rc, "read", e);
}

/* Not whether each index has each row: that takes minutes where there are millions */
static int check_pages(const struct history *h, struct err *e)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(h->db, "PRAGMA quick_check(1)", -1, &s, NULL);

	db_works(h, true);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc != SQLITE_ROW)
		rc = db_failed(h, rc, "check", e);
	else if (strcmp((const char *)sqlite3_column_text(s, 0) ?: "", "ok"))
		rc = err_set(e, -EBADMSG, "the history %s is damaged: %.200s", h->path,
			     sqlite3_column_text(s, 0));
	else
		rc = 0;
	sqlite3_finalize(s);
	db_works(h, false);
	return rc;
}

static int check_vacuum(const struct history *h, struct err *e)
{
	int64_t mode;
	int rc = db_number(h, "PRAGMA auto_vacuum", &mode, e);

	/* 2: INCREMENTAL; without it the file could not shrink */
	return rc ?: mode == 2 ? 0 :
	       err_set(e, -EBADMSG, "the history %s has not ctcpd's layout", h->path);
}

static int check(struct history *h, int64_t id, int64_t version, struct err *e)
{
	int rc;

	if (id != APPLICATION_ID)
		return err_set(e, -EBADMSG, "the history %s is a database of another program",
			       h->path);
	if (version > VERSION)
		return later(h, version, e);
	if (version < 1)
		return err_set(e, -EBADMSG, "the history %s has no version", h->path);
	rc = check_pages(h, e) ?: check_vacuum(h, e);
	if (!rc && version < VERSION)
		rc = migrate(h, (int)version, e);
	rc = rc ?: check_tables(h, e);
	return rc ?: db_exec(h, "PRAGMA journal_mode = WAL", "read", e);
}

/* Empty without an id is what is left of a beginning that was killed */
int history_schema(struct history *h, struct err *e)
{
	int64_t id, version, tables;
	int rc = db_number(h, "SELECT count(*) FROM sqlite_master", &tables, e) ?:
		 db_number(h, "PRAGMA application_id", &id, e) ?:
		 db_number(h, "PRAGMA user_version", &version, e);

	if (rc)
		return rc;
	if (!tables && !id && !version)
		return begin(h, e);
	return check(h, id, version, e);
}
