// SPDX-License-Identifier: GPL-2.0
/*
 * The history: what goes in comes out, its bounds in rows, bytes and age, and the clock.
 */
#include <sqlite3.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "ctcpd_history.h"
#include "faulty_vfs.h"

#include "ctcpd/history_db.h"

static int keep_last(const struct visit *v, void *data)
{
	*(struct visit *)data = *v;
	return 0;
}

static int keep_first(const struct visit *v, void *data)
{
	*(struct visit *)data = *v;
	return 7;
}

/* All fields at their ends, so that none is cut or takes another's place */
static struct visit full_visit(void)
{
	struct visit v = { .remote = { .family = AF_INET6, .len = 128 }, .began = NOW - 100,
			   .ended = NOW - 1, .flows = UINT32_MAX,
			   .algorithm = "fifteen-letters", .dev = "fifteen-letters",
			   .paced = true };

	memset(v.remote.addr, 0xfe, sizeof(v.remote.addr));
	v.judgement = (struct judgement) {
		.verdict = VERDICT_APP_WINDOW, .us = 1ULL << 62, .acked = (1ULL << 62) + 1,
		.segs = UINT32_MAX, .retrans = UINT32_MAX - 1, .local_drops = UINT32_MAX - 2,
		.busy = 1000, .rwnd = 999, .sndbuf = 998, .app = 997,
		.rate = (1ULL << 62) + 2, .best_rate = (1ULL << 62) + 3,
		.cwnd_max = UINT32_MAX - 3, .cwnd_mean = UINT32_MAX - 4, .mss = UINT32_MAX - 5,
		.rtt_us = UINT32_MAX - 6, .min_rtt_us = UINT32_MAX - 7,
		.snd_wnd_max = UINT32_MAX - 8, .sndbuf_bytes = UINT32_MAX - 9 };
	return v;
}

static void same_visit(const struct visit *a, const struct visit *b)
{
	const struct judgement *x = &a->judgement, *y = &b->judgement;

	assert_true(prefix_equal(&a->remote, &b->remote));
	assert_int_equal(a->began, b->began);
	assert_int_equal(a->ended, b->ended);
	assert_int_equal(a->flows, b->flows);
	assert_string_equal(a->algorithm, b->algorithm);
	assert_string_equal(a->dev, b->dev);
	assert_int_equal(a->paced, b->paced);
	assert_int_equal(x->verdict, y->verdict);
	assert_int_equal(x->reason, y->reason);
	assert_int_equal(x->us, y->us);
	assert_int_equal(x->acked, y->acked);
	assert_int_equal(x->segs, y->segs);
	assert_int_equal(x->retrans, y->retrans);
	assert_int_equal(x->local_drops, y->local_drops);
	assert_int_equal(x->busy, y->busy);
	assert_int_equal(x->rwnd, y->rwnd);
	assert_int_equal(x->sndbuf, y->sndbuf);
	assert_int_equal(x->app, y->app);
	assert_int_equal(x->rate, y->rate);
	assert_int_equal(x->best_rate, y->best_rate);
	assert_int_equal(x->cwnd_max, y->cwnd_max);
	assert_int_equal(x->cwnd_mean, y->cwnd_mean);
	assert_int_equal(x->mss, y->mss);
	assert_int_equal(x->rtt_us, y->rtt_us);
	assert_int_equal(x->min_rtt_us, y->min_rtt_us);
	assert_int_equal(x->snd_wnd_max, y->snd_wnd_max);
	assert_int_equal(x->sndbuf_bytes, y->sndbuf_bytes);
}

static void comes_out_as_it_went_in(void **state)
{
	struct visit v = full_visit(), got;
	struct history *h = open_place(*state, NOW);
	struct err e;

	assert_int_equal(history_add(h, &v, NOW, &e), 0);
	history_close(h);
	h = open_place(*state, NOW);
	assert_int_equal(history_each(h, &v.remote, 0, keep_last, &got, &e), 0);
	same_visit(&v, &got);
	history_close(h);
}

/* Reasons of all numbers, by their names */
static void keeps_each_verdict_and_reason(void **state)
{
	struct history *h = open_place(*state, NOW);
	struct visit v = full_visit(), got;
	struct err e;
	int i;

	for (i = 0; i < VERDICTS || i < REASONS; i++) {
		v.judgement.verdict = (enum verdict)(i % VERDICTS);
		v.judgement.reason = (enum reason)(i % REASONS);
		assert_int_equal(history_add(h, &v, NOW, &e), 0);
		assert_int_equal(history_each(h, NULL, 0, keep_first, &got, &e), 7);
		same_visit(&v, &got);
	}
	history_close(h);
}

static void newest_first_of_one_or_all(void **state)
{
	struct visit v = visit_number(1, 0), got;
	struct history *h = open_place(*state, NOW);
	struct err e;
	uint32_t i, n = 0;

	for (i = 0; i < 30; i++)
		add_at(h, i % 3, NOW + i, NOW + i);
	assert_int_equal(history_each(h, NULL, 0, keep_first, &got, &e), 7);
	assert_int_equal(got.ended, NOW + 29);
	assert_int_equal(history_each(h, &v.remote, 0, count_one, &n, &e), 0);
	assert_int_equal(n, 10);
	assert_int_equal(history_each(h, &v.remote, 0, keep_first, &got, &e), 7);
	assert_int_equal(got.ended, NOW + 28);
	assert_int_equal(history_each(h, &v.remote, 0, keep_last, &got, &e), 0);
	assert_int_equal(got.ended, NOW + 1);
	assert_int_equal(count_since(h, NOW + 20), 10);
	history_close(h);
}

/* Of those in a prefix: not of its neighbours, nor of the other family between them */
static void all_in_a_prefix(void **state)
{
	struct prefix net = { .family = AF_INET, .len = 24, .addr = { 192, 0, 1 } };
	struct history *h = open_place(*state, NOW);
	struct visit v = full_visit(), got;
	struct err e;
	uint32_t i, n = 0;

	/* 192.0.0.0 .. 192.0.3.249 */
	for (i = 0; i < 1000; i++)
		add_at(h, i, NOW + i, NOW + i);
	inet_pton(AF_INET6, "c000:0105::1", v.remote.addr);
	assert_int_equal(history_add(h, &v, NOW + 1000, &e), 0);
	assert_int_equal(history_each(h, &net, 0, count_one, &n, &e), 0);
	assert_int_equal(n, 250);
	assert_int_equal(history_each(h, &net, 0, keep_first, &got, &e), 7);
	assert_int_equal(got.ended, NOW + 499);
	n = 0;
	assert_int_equal(history_each(h, &net, NOW + 490, count_one, &n, &e), 0);
	assert_int_equal(n, 10);
	history_close(h);
}

/* Whoever is called for a visit reads, too */
static int read_within(const struct visit *v, void *data)
{
	struct err e;
	uint32_t n = 0;

	assert_int_equal(history_each(data, &v->remote, 0, count_one, &n, &e), 0);
	return n == 1 ? 0 : -EINVAL;
}

static void reads_within_a_read(void **state)
{
	struct history *h = open_place(*state, NOW);
	struct err e;
	uint32_t i;

	for (i = 0; i < 5; i++)
		add(h, i);
	assert_int_equal(history_each(h, NULL, 0, read_within, h, &e), 0);
	history_close(h);
}

static void one_writes(const char *file, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Of a later version, or of a damaged page */
static void unknown_names_and_numbers(void **state)
{
	const struct place *p = *state;
	struct history *h = open_place(p, NOW);
	struct visit got;
	struct err e;

	add(h, 1);
	history_close(h);
	one_writes(p->file, "UPDATE visit SET verdict = 'sunspots', reason = 'moon', busy = 1e9,"
		   " acked = -5, mss = x'00', rtt_us = 1 << 40, dev = 'a' || char(27) || 'b',"
		   " algorithm = 'longer-than-any-name-of-one'");
	h = open_place(p, NOW);
	assert_int_equal(history_each(h, NULL, 0, keep_last, &got, &e), 0);
	assert_int_equal(got.judgement.verdict, VERDICT_UNKNOWN);
	assert_int_equal(got.judgement.reason, REASON_NONE);
	assert_int_equal(got.judgement.busy, UINT16_MAX);
	assert_int_equal(got.judgement.acked, 0);
	assert_int_equal(got.judgement.mss, 0);
	assert_int_equal(got.judgement.rtt_us, UINT32_MAX);
	assert_string_equal(got.dev, "a?b");
	assert_int_equal(strnlen(got.algorithm, ALGORITHM_LEN), ALGORITHM_LEN - 1);
	history_close(h);
}

static void a_remote_of_no_address(void **state)
{
	const struct place *p = *state;
	struct history *h = open_place(p, NOW);

	add(h, 1);
	add(h, 2);
	history_close(h);
	one_writes(p->file, "UPDATE visit SET remote = x'010203' WHERE flows = 1");
	h = open_place(p, NOW);
	assert_int_equal(count(h), 1);
	history_close(h);
}

static int sum_up(const struct remote_history *r, void *data)
{
	struct remote_history *to = data;
	int v;

	to->visits += r->visits;
	to->acked += r->acked;
	for (v = 0; v < VERDICTS; v++) {
		to->visits_of[v] += r->visits_of[v];
		to->acked_of[v] += r->acked_of[v];
	}
	if (r->remote.addr[3] == 5) {
		to->remote = r->remote;
		to->flows = r->flows;
		to->us = r->us;
		to->last = r->last;
		to->best_rate = r->best_rate;
		to->min_rtt_us = r->min_rtt_us;
	}
	return 0;
}

/* Visits 0 .. 99 to ten remotes: those of 192.0.0.5 are 5, 15, ... 95 */
static void adds_up_by_remote(void **state)
{
	struct history *h = open_place(*state, NOW);
	struct remote_history sum = { 0 };
	struct err e;
	uint32_t i;

	for (i = 0; i < 100; i++) {
		struct visit v = visit_number(i, NOW + i);

		v.remote.addr[3] = i % 10;
		if (i == 5)
			v.judgement.min_rtt_us = 0;
		assert_int_equal(history_add(h, &v, NOW + i, &e), 0);
	}
	assert_int_equal(history_remotes(h, 0, sum_up, &sum, &e), 0);
	assert_int_equal(sum.visits, 100);
	assert_int_equal(sum.acked, 1000 * 99 * 100 / 2);
	assert_int_equal(sum.visits_of[VERDICT_UNKNOWN], 12);	/* 0, 9, ... 99 */
	assert_int_equal(sum.visits_of[VERDICT_CLEAN], 11);
	assert_int_equal(sum.acked_of[VERDICT_UNKNOWN], 1000 * 9 * 11 * 12 / 2);
	assert_int_equal(sum.flows, 500);
	assert_int_equal(sum.us, 100000000);
	assert_int_equal(sum.last, NOW + 95);
	assert_int_equal(sum.best_rate, 95);
	assert_int_equal(sum.min_rtt_us, 1015);
	memset(&sum, 0, sizeof(sum));
	assert_int_equal(history_remotes(h, NOW + 90, sum_up, &sum, &e), 0);
	assert_int_equal(sum.visits, 10);
	history_close(h);
}

/* Sums above 2^63, which SQL's sum() refuses */
static void adds_up_what_is_huge(void **state)
{
	struct history *h = open_place(*state, NOW);
	struct remote_history sum = { 0 };
	struct visit v = full_visit();
	struct err e;
	int i;

	v.judgement.acked = UINT64_MAX;
	for (i = 0; i < 4; i++)
		assert_int_equal(history_add(h, &v, NOW, &e), 0);
	assert_int_equal(history_remotes(h, 0, sum_up, &sum, &e), 0);
	assert_int_equal(sum.visits, 4);
	assert_int_equal(sum.acked, INT64_MAX);
	history_close(h);
}

static uint64_t forget(struct history *h, const char *addr, unsigned int len)
{
	struct prefix p = { .family = strchr(addr, ':') ? AF_INET6 : AF_INET, .len = len };
	struct err e;
	uint64_t n;

	assert_int_equal(inet_pton(p.family, addr, p.addr), 1);
	assert_int_equal(history_forget(h, &p, &n, &e), 0);
	return n;
}

static void forgets_a_prefix(void **state)
{
	struct history *h = open_place(*state, NOW);
	struct visit v = full_visit();
	struct err e;
	uint32_t i;

	/* 192.0.0.0 .. 192.0.3.249, one each, and one of IPv6 whose first bytes look the same */
	for (i = 0; i < 1000; i++)
		add(h, i);
	inet_pton(AF_INET6, "c000:0005::1", v.remote.addr);
	assert_int_equal(history_add(h, &v, NOW, &e), 0);
	assert_int_equal(forget(h, "192.0.0.5", 32), 1);
	assert_int_equal(forget(h, "192.0.0.5", 32), 0);
	assert_int_equal(forget(h, "192.0.1.128", 25), 122);
	assert_int_equal(forget(h, "192.0.2.0", 23), 500);
	assert_int_equal(count(h), 1001 - 1 - 122 - 500);
	assert_int_equal(forget(h, "c000::", 16), 1);
	assert_int_equal(forget(h, "0.0.0.0", 0), 1000 - 623);
	assert_int_equal(count(h), 0);
	history_close(h);
}

/* @n of IPv4 and IPv6 in turn, as they lie in the index; and one more */
static void fill(const struct place *p, uint32_t n)
{
	struct history *h = open_place(p, NOW);
	char sql[1024];

	add(h, 1);
	history_close(h);
	snprintf(sql, sizeof(sql), "WITH RECURSIVE c (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c"
		 " WHERE i < %u) INSERT INTO visit SELECT NULL, CAST(char(64,"
		 " 1 + i / 2 / 16129, 1 + i / 2 / 127 %% 127, 1 + i / 2 %% 127) ||"
		 " CASE i %% 2 WHEN 0 THEN '' ELSE 'twelve bytes' END AS BLOB), began, ended,"
		 " stamp, flows, algorithm, dev, paced, verdict, reason, us, acked, segs,"
		 " retrans, local_drops, busy, rwnd, sndbuf, app, rate, best_rate, cwnd_max,"
		 " cwnd_mean, mss, rtt_us, min_rtt_us, snd_wnd_max, sndbuf_bytes"
		 " FROM c, visit", n - 1);
	one_writes(p->file, sql);
}

static int end(void **state)
{
	faulty_vfs_end();
	return remove_place(state);
}

static int count_commit(void *data)
{
	++*(uint32_t *)data;
	return 0;
}

static void passed_once(struct history *h, int rows)
{
	int passed = sqlite3_stmt_status(h->stmt[STMT_FORGET], SQLITE_STMTSTATUS_VM_STEP, 0) +
		     sqlite3_stmt_status(h->stmt[STMT_LOWEST], SQLITE_STMTSTATUS_VM_STEP, 0);

	if (passed > 100 * rows)
		fail_msg("expected at most 100 steps a row, got %d for %d rows", passed, rows);
}

/*
 * 20000 of IPv4, and of IPv6 as many, between which those lie: they are passed once, and go in
 * one transaction; what it leaves free is given back by 33 at most.
 */
static void forgets_in_one_pass(void **state)
{
	struct history *h;
	uint32_t commits = 0;

	fill(*state, 40000);
	h = open_place(*state, NOW);
	sqlite3_commit_hook(h->db, count_commit, &commits);
	assert_int_equal(forget(h, "::", 0), 20000);
	if (commits > 34)
		fail_msg("expected at most 34 transactions, got %u", commits);
	assert_int_equal(count(h), 20001);
	passed_once(h, 40000);
	history_close(h);
}

/* By batches, too, each of which begins where the one before it has ended */
static void forgets_by_batches_in_one_pass(void **state)
{
	struct history *h;
	uint32_t commits = 0;

	fill(*state, 20000);
	faulty_vfs_use();
	h = open_place(*state, NOW);
	sqlite3_commit_hook(h->db, count_commit, &commits);
	fault_at(1, 1, SQLITE_FULL);
	assert_int_equal(forget(h, "::", 0), 10000);
	assert_in_range(commits, 10000 / BATCH, UINT32_MAX);
	passed_once(h, 20000);
	history_close(h);
}

/* Messages so far, each of them the same */
static uint32_t heard(int fd)
{
	char buf[96];
	uint32_t n = 0;
	ssize_t len;

	while ((len = recv(fd, buf, sizeof(buf) - 1, MSG_DONTWAIT)) > 0) {
		buf[len] = 0;
		assert_string_equal(buf, "WATCHDOG=1\nEXTEND_TIMEOUT_USEC=600000000");
		n++;
	}
	return n;
}

static int listen_at(const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", name);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	setenv("NOTIFY_SOCKET", name, 1);
	return fd;
}

/* A file of 4 GB is checked for a minute, and a watchdog, or a start, waits no longer */
static void long_work_is_told(void **state)
{
	const struct place *p = *state;
	struct history *h;
	char name[96];
	uint32_t n;
	int fd;

	fill(p, 40000);
	snprintf(name, sizeof(name), "%s/notify", p->dir);
	fd = listen_at(name);
	h = open_place(p, NOW);
	n = heard(fd);
	if (n < 2)
		fail_msg("expected 2 messages at least of 40000 rows that are checked, got %u", n);
	/* what is short tells nothing */
	add(h, 1);
	assert_int_equal(count(h), 40002);
	assert_int_equal(heard(fd), 0);
	forget(h, "0.0.0.0", 0);
	n = heard(fd);
	if (n < 2)
		fail_msg("expected 2 messages at least of 20001 rows that go, got %u", n);
	assert_int_equal(count(h), 20000);
	assert_int_equal(heard(fd), 0);
	history_close(h);
	unsetenv("NOTIFY_SOCKET");
	close(fd);
}

/*
 * The indexes have 200 visits that are not there, as a page that was written to another place
 * leaves it: they end no loop, and what is found so is begun anew.
 */
static void index_of_what_is_not_there(void **state)
{
	const struct prefix all = { .family = AF_INET };
	const struct place *p = *state;
	struct history *h = open_place(p, NOW);
	struct err e = { "" };
	uint64_t n;
	uint32_t i;

	for (i = 0; i < 200; i++)
		add(h, i);
	history_close(h);
	/* while the indexes are out of the schema they stay as they are */
	one_writes(p->file, "PRAGMA writable_schema = 1; CREATE TEMP TABLE i AS"
		   " SELECT * FROM sqlite_master WHERE type = 'index';"
		   "DELETE FROM sqlite_master WHERE type = 'index'; PRAGMA writable_schema = RESET;"
		   "DELETE FROM visit; PRAGMA writable_schema = 1;"
		   "INSERT INTO sqlite_master SELECT * FROM i");
	h = open_place(p, NOW);
	assert_int_equal(history_forget(h, &all, &n, &e), -EBADMSG);
	assert_non_null(strstr(e.text, ".damaged"));
	add(h, 1);
	assert_int_equal(count(h), 1);
	history_close(h);
}

/* At every number of visits, and the newest are those that stay */
static void bounded_in_rows(void **state)
{
	const struct history_limits limits = { .bytes = 64 << 20, .visits = 1000,
					       .keep_s = 14 * DAY };
	struct history *h = open_limited(*state, &limits, NOW);
	struct visit first, last;
	struct err e;
	uint32_t i, n;

	for (i = 0; i < 5000; i++) {
		struct visit v = visit_number(i, NOW + i);

		v.judgement.verdict = VERDICT_LOSS;
		assert_int_equal(history_add(h, &v, NOW + i, &e), 0);
	}
	n = count(h);
	assert_in_range(n, 900, 1000);
	assert_int_equal(history_each(h, NULL, 0, keep_first, &first, &e), 7);
	assert_int_equal(history_each(h, NULL, 0, keep_last, &last, &e), 0);
	assert_int_equal(first.flows, 4999);
	assert_int_equal(last.flows, 5000 - n);
	history_close(h);
}

static int count_verdicts(const struct visit *v, void *data)
{
	uint32_t *n = data;

	n[v->judgement.verdict]++;
	return 0;
}

/* However many a client makes that cannot be judged, they displace one batch of the others */
static void unknown_ones_go_first(void **state)
{
	const struct history_limits limits = { .bytes = 64 << 20, .visits = 1000,
					       .keep_s = 14 * DAY };
	struct history *h = open_limited(*state, &limits, NOW);
	uint32_t i, n[VERDICTS] = { 0 };
	struct err e;

	for (i = 0; i < 6000; i++) {
		struct visit v = visit_number(i, NOW + i);

		v.judgement.verdict = i < 1000 ? VERDICT_LOSS : VERDICT_UNKNOWN;
		assert_int_equal(history_add(h, &v, NOW + i, &e), 0);
		tidy(h, NOW + i);
	}
	assert_int_equal(history_each(h, NULL, 0, count_verdicts, n, &e), 0);
	assert_in_range(n[VERDICT_LOSS], 1000 - 64, 1000);
	assert_in_range(n[VERDICT_LOSS] + n[VERDICT_UNKNOWN], 900, 1000);
	history_close(h);
}

/* A full one takes the next row, again and again; the file stays at what is allowed */
static void bounded_in_bytes(void **state)
{
	const struct history_limits limits = { .bytes = 1 << 20, .visits = 1000000,
					       .keep_s = 14 * DAY };
	struct history *h = open_limited(*state, &limits, NOW);
	struct visit got;
	struct err e;
	uint32_t i;

	for (i = 0; i < 20000; i++) {
		add_at(h, i * 7919, NOW + i, NOW + i);
		if (i % 100 == 0) {
			tidy(h, NOW + i);
			assert_true(size_of(*state, "") <= 1 << 20);
			assert_true(size_of(*state, "-wal") < 2 << 20);
		}
	}
	assert_in_range(count(h), 2000, 10000);
	assert_int_equal(history_each(h, NULL, 0, keep_first, &got, &e), 7);
	assert_int_equal(got.ended, NOW + 19999);
	history_close(h);
	assert_true(size_of(*state, "") <= 1 << 20);
	assert_int_equal(size_of(*state, "-wal"), 0);
}

/* How many calls it takes until nothing is left to do */
static uint32_t tidy_up(struct history *h)
{
	uint32_t before, now = count(h), calls = 0;

	do {
		before = now;
		tidy(h, NOW);
		now = count(h);
		calls++;
	} while (now != before);
	return calls;
}

/* To lower limits than those of before not at once, which may be millions; then the file, too */
static void limits_that_were_lowered(void **state)
{
	const struct history_limits low = { .bytes = 1 << 20, .visits = 200000,
					    .keep_s = 14 * DAY };
	const struct history_limits few = { .bytes = 1 << 20, .visits = 100,
					    .keep_s = 14 * DAY };
	struct history *h = open_place(*state, NOW);
	uint32_t i;

	for (i = 0; i < 15000; i++)
		add(h, i);
	history_close(h);
	assert_true(size_of(*state, "") > (3 << 20) / 2);
	h = open_limited(*state, &low, NOW);
	assert_in_range(count(h), 15000 - STEPS_MAX * BATCH, 14999);
	assert_in_range(tidy_up(h), 2, 5);
	assert_in_range(count(h), 2000, 10000);
	add(h, 1);
	history_close(h);
	assert_true(size_of(*state, "") <= 1 << 20);
	h = open_limited(*state, &few, NOW);
	tidy_up(h);
	assert_in_range(count(h), 80, 100);
	history_close(h);
	assert_true(size_of(*state, "") < 512 << 10);
}

static void shrinks_when_forgotten(void **state)
{
	struct history *h = open_place(*state, NOW);
	uint32_t i;

	for (i = 0; i < 10000; i++)
		add(h, i);
	assert_int_equal(forget(h, "0.0.0.0", 0), 10000);
	history_close(h);
	assert_true(size_of(*state, "") < 512 << 10);
}

/* By age; in several calls, none of which does it all at once */
static void forgets_after_two_weeks(void **state)
{
	struct history *h = open_place(*state, NOW);
	uint32_t i, calls = 0;

	for (i = 0; i < 10000; i++)
		add_at(h, i, NOW + i, NOW + i);
	tidy(h, NOW + 14 * DAY - 1);
	assert_int_equal(count(h), 10000);
	for (calls = 0; count(h) > 1 && calls < 100; calls++)
		tidy(h, NOW + 14 * DAY + 9998);
	assert_int_equal(count(h), 1);
	assert_in_range(calls, 2, 20);
	for (i = 0; i < 20; i++)
		tidy(h, NOW + 15 * DAY);
	assert_int_equal(count(h), 0);
	history_close(h);
	assert_true(size_of(*state, "") < 512 << 10);
}

/* A host that begins in 1970, until it has heard of the right time */
static void clock_that_begins_in_1970(void **state)
{
	struct history *h = open_place(*state, NOW);

	add_at(h, 1, NOW, NOW);
	history_close(h);
	h = open_place(*state, 100);
	tidy(h, 100);
	add_at(h, 2, 200, 200);
	tidy(h, 300);
	assert_int_equal(count_since(h, 300 - DAY), 2);
	tidy(h, NOW + 60);
	add_at(h, 3, NOW + 60, NOW + 60);
	assert_int_equal(count_since(h, NOW - DAY), 3);
	tidy(h, NOW + 14 * DAY - 1);
	assert_int_equal(count(h), 3);
	tidy(h, NOW + 14 * DAY);
	assert_int_equal(count(h), 1);
	tidy(h, NOW + 14 * DAY + 60);
	assert_int_equal(count(h), 0);
	history_close(h);
}

/* One that was in 2040 and is right again: not for ever, and each for two weeks */
static void clock_that_was_in_the_future(void **state)
{
	const int64_t wrong = NOW + 5000 * DAY;
	struct history *h = open_place(*state, NOW);
	struct visit got;
	struct err e;

	add_at(h, 1, wrong, wrong);
	tidy(h, NOW);
	add_at(h, 2, NOW + 10 * DAY, NOW + 10 * DAY);
	tidy(h, NOW + 13 * DAY);
	assert_int_equal(count(h), 2);
	/* what lies in the future is of now, and what the clock said then it said */
	assert_int_equal(count_since(h, NOW + 12 * DAY), 1);
	assert_int_equal(history_each(h, NULL, 0, keep_first, &got, &e), 7);
	assert_int_equal(got.ended, NOW + 10 * DAY);
	assert_int_equal(history_each(h, NULL, 0, keep_last, &got, &e), 0);
	assert_int_equal(got.ended, NOW + 13 * DAY);
	tidy(h, NOW + 14 * DAY);
	assert_int_equal(count(h), 1);
	tidy(h, NOW + 24 * DAY - 1);
	assert_int_equal(count(h), 1);
	tidy(h, NOW + 24 * DAY);
	assert_int_equal(count(h), 0);
	history_close(h);
}

/* Any number is a time */
static void clock_at_its_ends(void **state)
{
	static const int64_t times[] = { INT64_MIN, -1, 0, 1, NOW, INT64_MAX };
	struct history *h = open_place(*state, INT64_MAX);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		add_at(h, 1, times[i], times[ARRAY_SIZE(times) - 1 - i]);
		tidy(h, times[i]);
		count_since(h, times[i]);
	}
	history_close(h);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_place, remove_place)
	const struct CMUnitTest tests[] = {
		TEST(comes_out_as_it_went_in),
		TEST(keeps_each_verdict_and_reason),
		TEST(newest_first_of_one_or_all),
		TEST(reads_within_a_read),
		TEST(unknown_names_and_numbers),
		TEST(a_remote_of_no_address),
		TEST(adds_up_by_remote),
		TEST(adds_up_what_is_huge),
		TEST(all_in_a_prefix),
		TEST(forgets_a_prefix),
		TEST(forgets_in_one_pass),
		cmocka_unit_test_setup_teardown(forgets_by_batches_in_one_pass, make_place, end),
		TEST(long_work_is_told),
		TEST(index_of_what_is_not_there),
		TEST(bounded_in_rows),
		TEST(unknown_ones_go_first),
		TEST(bounded_in_bytes),
		TEST(limits_that_were_lowered),
		TEST(shrinks_when_forgotten),
		TEST(forgets_after_two_weeks),
		TEST(clock_that_begins_in_1970),
		TEST(clock_that_was_in_the_future),
		TEST(clock_at_its_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
