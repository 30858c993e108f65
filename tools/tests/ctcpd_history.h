/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of the history share: a folder of their own, visits, and how big it all is.
 */
#ifndef CTCPD_TEST_HISTORY_H
#define CTCPD_TEST_HISTORY_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#include "ctcpd/history.h"

#define NOW	1790000000LL	/* s */
#define DAY	86400LL

#define MANY	{ .bytes = 64 << 20, .visits = 200000, .keep_s = 14 * DAY }

struct place {
	char dir[64];
	char file[96];
};

static inline int make_place(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	strcpy(p->dir, "/tmp/ctcpd-history-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->file, sizeof(p->file), "%s/history.db", p->dir);
	*state = p;
	return 0;
}

static inline int remove_place(void **state)
{
	struct place *p = *state;
	char line[96];
	int rc;

	snprintf(line, sizeof(line), "rm -rf %s", p->dir);
	rc = system(line);
	free(p);
	return rc;
}

/* The @n-th, told from all others by its number of flows */
static inline struct visit visit_number(uint32_t n, int64_t ended)
{
	struct visit v = { .remote = { AF_INET, 32, { 192, 0, n / 250 % 250, n % 250 } },
			   .began = ended > 10 ? ended - 10 : ended, .ended = ended, .flows = n,
			   .algorithm = "cubic", .dev = "eth0" };

	v.judgement.verdict = (enum verdict)(n % VERDICTS);
	v.judgement.us = 10000000;
	v.judgement.acked = 1000ULL * n;
	v.judgement.best_rate = n;
	v.judgement.min_rtt_us = 1000 + n;
	return v;
}

static inline struct history *open_limited(const struct place *p,
					   const struct history_limits *limits, int64_t now)
{
	struct history *h;
	struct err e = { "" };
	bool aside;
	int rc = 0;

	h = history_open(p->file, limits, now, &aside, &rc, &e);
	if (!h || aside)
		print_error("%s: rc %d, %s\n", p->file, rc, e.text);
	assert_non_null(h);
	assert_false(aside);
	return h;
}

static inline struct history *open_place(const struct place *p, int64_t now)
{
	const struct history_limits limits = MANY;

	return open_limited(p, &limits, now);
}

/* -errno of an open that must fail */
static inline int open_fails(const struct place *p, struct err *e)
{
	const struct history_limits limits = MANY;
	struct history *h;
	bool aside;
	int rc = 0;

	e->text[0] = 0;
	h = history_open(p->file, &limits, NOW, &aside, &rc, e);
	assert_null(h);
	assert_true(strlen(e->text) > 10);
	return rc;
}

static inline void add_at(struct history *h, uint32_t n, int64_t ended, int64_t now)
{
	struct visit v = visit_number(n, ended);
	struct err e = { "" };
	int rc = history_add(h, &v, now, &e);

	if (rc)
		print_error("visit %u: %s\n", n, e.text);
	assert_int_equal(rc, 0);
}

static inline void add(struct history *h, uint32_t n)
{
	add_at(h, n, NOW, NOW);
}

static inline int count_one(const struct visit *v, void *data)
{
	uint32_t *n = data;

	(void)v;
	++*n;
	return 0;
}

static inline uint32_t count_since(struct history *h, int64_t since)
{
	struct err e = { "" };
	uint32_t n = 0;

	assert_int_equal(history_each(h, NULL, since, count_one, &n, &e), 0);
	return n;
}

static inline uint32_t count(struct history *h)
{
	return count_since(h, 0);
}

static inline void tidy(struct history *h, int64_t now)
{
	struct err e = { "" };
	int rc = history_tidy(h, now, &e);

	if (rc)
		print_error("tidy: %s\n", e.text);
	assert_int_equal(rc, 0);
}

/* Bytes; 0 of what is not there */
static inline uint64_t size_of(const struct place *p, const char *suffix)
{
	char name[128];
	struct stat st;

	snprintf(name, sizeof(name), "%s%s", p->file, suffix);
	return stat(name, &st) ? 0 : (uint64_t)st.st_size;
}

static inline bool there_is(const struct place *p, const char *suffix)
{
	char name[128];
	struct stat st;

	snprintf(name, sizeof(name), "%s%s", p->file, suffix);
	return !lstat(name, &st);
}

static inline void run_sql(const char *file, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static inline void put_file(const char *name, const void *bytes, size_t len)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	close(fd);
}

#endif
