// SPDX-License-Identifier: GPL-2.0
/*
 * A visit as a row of SQL.  Verdicts and reasons go by their names, as their numbers may
 * change; a name that is not known, and a number out of range, is what a later version or a
 * damaged page may hold.
 */
#include <string.h>

#include "history_db.h"
#include "text.h"

struct binder {
	sqlite3_stmt *s;
	int column;	/* as SQLite counts them when it binds: from 1 */
	int rc;		/* the first that failed */
};

static void put(struct binder *b, uint64_t n)
{
	int rc = sqlite3_bind_int64(b->s, b->column++, n < INT64_MAX ? (int64_t)n : INT64_MAX);

	b->rc = b->rc ?: rc;
}

static void put_text(struct binder *b, const char *text, size_t len)
{
	int rc = sqlite3_bind_text(b->s, b->column++, text, (int)strnlen(text, len),
				   SQLITE_TRANSIENT);

	b->rc = b->rc ?: rc;
}

static void put_remote(struct binder *b, const struct prefix *remote)
{
	int rc = sqlite3_bind_blob(b->s, b->column++, remote->addr,
				   remote->family == AF_INET ? 4 : 16, SQLITE_TRANSIENT);

	b->rc = b->rc ?: rc;
}

static void put_judgement(struct binder *b, const struct judgement *j)
{
	const uint64_t numbers[] = {
		j->us, j->acked, j->segs, j->retrans, j->local_drops, j->busy, j->rwnd, j->sndbuf,
		j->app, j->rate, j->best_rate, j->cwnd_max, j->cwnd_mean, j->mss, j->rtt_us,
		j->min_rtt_us, j->snd_wnd_max, j->sndbuf_bytes,
	};
	const char *verdict = verdict_name(j->verdict), *reason = reason_name(j->reason);
	size_t i;

	put_text(b, verdict, strlen(verdict));
	put_text(b, reason, strlen(reason));
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		put(b, numbers[i]);
}

/* SQLITE_OK, or what SQLite said */
int visit_bind(sqlite3_stmt *s, const struct visit *v, int64_t now)
{
	struct binder b = { .s = s, .column = 1 };
	int64_t ended = clock_time(v->ended < now ? v->ended : now);
	int64_t began = clock_time(v->began < ended ? v->began : ended);

	put_remote(&b, &v->remote);
	put(&b, (uint64_t)began);
	put(&b, (uint64_t)ended);
	put(&b, v->flows);
	put_text(&b, v->algorithm, sizeof(v->algorithm));
	put_text(&b, v->dev, sizeof(v->dev));
	put(&b, v->paced);
	put_judgement(&b, &v->judgement);
	return b.rc;
}

uint64_t column_number(sqlite3_stmt *s, int column, uint64_t max)
{
	int64_t n = sqlite3_column_int64(s, column);

	return n < 0 ? 0 : (uint64_t)n < max ? (uint64_t)n : max;
}

static void text(sqlite3_stmt *s, int column, char *to, size_t len)
{
	const char *from = (const char *)sqlite3_column_text(s, column);

	text_copy(to, len, from ?: "");
}

bool remote_read(sqlite3_stmt *s, int column, struct prefix *remote)
{
	const void *addr = sqlite3_column_blob(s, column);
	int len = sqlite3_column_bytes(s, column);

	memset(remote, 0, sizeof(*remote));
	if (!addr || (len != 4 && len != 16))
		return false;
	remote->family = len == 4 ? AF_INET : AF_INET6;
	remote->len = (unsigned int)len * 8;
	memcpy(remote->addr, addr, (size_t)len);
	return true;
}

static enum verdict verdict_read(sqlite3_stmt *s, int column)
{
	const char *name = (const char *)sqlite3_column_text(s, column);
	int v = verdict_of_name(name ?: "");

	return v < 0 ? VERDICT_UNKNOWN : (enum verdict)v;
}

static enum reason reason_read(sqlite3_stmt *s, int column)
{
	const char *name = (const char *)sqlite3_column_text(s, column);
	int r = REASONS;

	while (name && --r > REASON_NONE)
		if (!strcmp(reason_name((enum reason)r), name))
			return (enum reason)r;
	return REASON_NONE;
}

static void judgement_read(sqlite3_stmt *s, int c, struct judgement *j)
{
	j->verdict = verdict_read(s, c++);
	j->reason = reason_read(s, c++);
	j->us = column_number(s, c++, INT64_MAX);
	j->acked = column_number(s, c++, INT64_MAX);
	j->segs = (uint32_t)column_number(s, c++, UINT32_MAX);
	j->retrans = (uint32_t)column_number(s, c++, UINT32_MAX);
	j->local_drops = (uint32_t)column_number(s, c++, UINT32_MAX);
	j->busy = (uint16_t)column_number(s, c++, UINT16_MAX);
	j->rwnd = (uint16_t)column_number(s, c++, UINT16_MAX);
	j->sndbuf = (uint16_t)column_number(s, c++, UINT16_MAX);
	j->app = (uint16_t)column_number(s, c++, UINT16_MAX);
	j->rate = column_number(s, c++, INT64_MAX);
	j->best_rate = column_number(s, c++, INT64_MAX);
	j->cwnd_max = (uint32_t)column_number(s, c++, UINT32_MAX);
	j->cwnd_mean = (uint32_t)column_number(s, c++, UINT32_MAX);
	j->mss = (uint32_t)column_number(s, c++, UINT32_MAX);
	j->rtt_us = (uint32_t)column_number(s, c++, UINT32_MAX);
	j->min_rtt_us = (uint32_t)column_number(s, c++, UINT32_MAX);
	j->snd_wnd_max = (uint32_t)column_number(s, c++, UINT32_MAX);
	j->sndbuf_bytes = (uint32_t)column_number(s, c, UINT32_MAX);
}

/* Behind the columns there is the time at which it ended, as it is told */
bool visit_read(sqlite3_stmt *s, struct visit *v)
{
	int64_t lasted;

	memset(v, 0, sizeof(*v));
	if (!remote_read(s, 0, &v->remote))
		return false;
	lasted = clock_time(sqlite3_column_int64(s, 2)) - clock_time(sqlite3_column_int64(s, 1));
	v->ended = clock_time(sqlite3_column_int64(s, VISIT_COLUMNS_N));
	v->began = lasted > 0 ? v->ended - lasted : v->ended;
	v->flows = (uint32_t)column_number(s, 3, UINT32_MAX);
	text(s, 4, v->algorithm, sizeof(v->algorithm));
	text(s, 5, v->dev, sizeof(v->dev));
	v->paced = sqlite3_column_int(s, 6);
	judgement_read(s, 7, &v->judgement);
	return true;
}
