// SPDX-License-Identifier: GPL-2.0
/*
 * Remotes and their visits, with a clock of the test's: what flows add up to, when a visit ends
 * and what is handed on, what is forgotten.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "ctcpd/recent.h"
#include "ctcpd/remotes.h"

#define S	1000000ULL	/* us */
#define START	(1000 * S)

struct ended {
	uint32_t n;
	struct remote last;
	int rc;			/* what the next one returns */
};

static int done(struct remote *r, void *data)
{
	struct ended *e = data;

	e->n++;
	e->last = *r;
	return e->rc;
}

static struct prefix address(const char *s)
{
	struct prefix p;

	assert_int_equal(parse_address(s, &p), 0);
	return p;
}

/* One that has sent so much since it was first seen, in that time */
static struct flow flow(const char *peer, uint64_t acked, uint32_t segs, uint32_t retrans)
{
	struct flow f = { .last.conn.peer = address(peer), .ifindex = 3, .first_us = START };

	strcpy(f.last.conn.algorithm, "cubic");
	f.facts.acked = acked;
	f.facts.us = 10 * S;
	f.facts.recent = (struct work){ .us = 10 * S, .acked = acked, .busy = 10 * S };
	f.facts.segs = segs;
	f.facts.retrans = retrans;
	f.facts.intervals = 2;
	f.facts.mss = 1448;
	return f;
}

/* A poll with these flows: their number, then each with whether it has closed */
struct seen {
	struct flow flow;
	bool closed;
};

static void poll(struct remotes *rs, uint64_t at, const struct seen *seen, size_t n,
		 struct ended *e)
{
	size_t i;

	remotes_begin(rs, at);
	for (i = 0; i < n; i++)
		assert_int_equal(remotes_flow(rs, &seen[i].flow, seen[i].closed), 0);
	assert_int_equal(remotes_end(rs, at, done, e), e->rc);
}

static const struct remote *found(struct remotes *rs, const char *peer)
{
	struct prefix p = address(peer);

	return remotes_find(rs, &p);
}

static void test_visit(void **state)
{
	struct remotes *rs = remotes_new();
	struct ended e = { 0 };
	struct seen seen[] = {
		{ flow("192.0.2.1", 1000000, 700, 7), false },
		{ flow("192.0.2.1", 3000000, 2100, 0), false },
		{ flow("2001:db8::1", 500, 1, 0), false },
	};
	const struct remote *r;

	(void)state;
	poll(rs, START, seen, 3, &e);
	assert_int_equal(remotes_count(rs), 2);
	r = found(rs, "192.0.2.1");
	assert_non_null(r);
	assert_null(found(rs, "192.0.2.2"));
	assert_int_equal(r->flows, 2);
	assert_int_equal(r->began_us, START);
	assert_int_equal(r->ifindex, 3);
	assert_string_equal(r->algorithm, "cubic");
	assert_int_equal(r->now.acked, 4000000);
	assert_int_equal(r->now.segs, 2800);
	assert_int_equal(r->now.retrans, 7);

	/* one closes, and counts on */
	seen[0].flow.facts.acked = 1500000;
	seen[0].closed = true;
	poll(rs, START + 5 * S, seen, 2, &e);
	r = found(rs, "192.0.2.1");
	assert_int_equal(r->flows, 1);
	assert_int_equal(r->now.acked, 4500000);
	assert_int_equal(r->now.rate, 900000);
	assert_int_equal(found(rs, "2001:db8::1")->flows, 0);
	assert_int_equal(remotes_sums(rs)->acked, 4500000);

	/* and the last one: its visit ends when nothing came for a while */
	seen[1].closed = true;
	poll(rs, START + 10 * S, seen + 1, 1, &e);
	assert_int_equal(e.n, 0);
	poll(rs, START + 10 * S + VISIT_GAP_US - 1, NULL, 0, &e);
	assert_non_null(found(rs, "192.0.2.1"));
	assert_int_equal(e.n, 1);		/* the other's, for which it was over before */
	poll(rs, START + 10 * S + VISIT_GAP_US, NULL, 0, &e);
	assert_null(found(rs, "192.0.2.1"));
	assert_int_equal(e.n, 2);
	assert_int_equal(e.last.now.acked, 4500000);
	assert_int_equal(e.last.began_us, START);
	assert_int_equal(e.last.seen_us, START + 10 * S);
	assert_int_equal(remotes_count(rs), 0);
	assert_int_equal(remotes_sums(rs)->acked, 4500000);
	remotes_free(rs);
}

/* In the last poll, beside what was done before */
static struct flow lately(uint64_t acked, uint32_t segs, uint32_t retrans)
{
	struct flow f = flow("192.0.2.1", 1000000000 + acked, 700000 + segs, 7000 + retrans);

	f.before = (struct flow_counts){ 1000000000, 700000, 7000 };
	f.polled = (struct flow_counts){ 1000000000 + acked, 700000 + segs, 7000 + retrans };
	return f;
}

/* Of four that share an address one loses a tenth, and the others nothing but by chance. */
static void test_apart(void **state)
{
	struct remotes *rs = remotes_new();
	struct ended e = { 0 };
	struct seen seen[] = {
		{ lately(10000000, 7000, 700), false },
		{ lately(20000000, 14000, 0), false },
		{ lately(30000000, 21000, 2), false },
		/* too short for what all lose to show: 1.6 % of 300 are 5, of 200 3 */
		{ lately(300000, 200, 0), false },
	};
	const struct remote_apart *apart;
	uint32_t i;

	(void)state;
	poll(rs, START, seen, 4, &e);
	apart = &found(rs, "192.0.2.1")->apart;
	assert_int_equal(apart->of, 60300000);
	assert_int_equal(apart->acked, 50000000);
	assert_int_equal(apart->segs, 35000);
	assert_int_equal(apart->retrans, 2);
	/* what all of them share is nobody's own: none lost a fifth of it, or less */
	for (i = 0; i < 4; i++)
		seen[i].flow = lately(10000000, 7000, 30 + 20 * i);
	poll(rs, START + 5 * S, seen, 4, &e);
	apart = &found(rs, "192.0.2.1")->apart;
	assert_int_equal(apart->of, 40000000);
	assert_int_equal(apart->acked, 0);
	assert_int_equal(apart->segs, 0);
	remotes_free(rs);
}

/* What comes again within the gap goes on; nothing acknowledged is no visit. */
static void test_gap(void **state)
{
	struct remotes *rs = remotes_new();
	struct ended e = { 0 };
	struct seen seen[] = {
		{ flow("192.0.2.1", 1000, 1, 0), true },
		{ flow("192.0.2.2", 0, 3, 3), true },
	};

	(void)state;
	poll(rs, START, seen, 2, &e);
	poll(rs, START + 20 * S, seen, 1, &e);
	poll(rs, START + 40 * S, seen, 1, &e);
	assert_int_equal(remotes_count(rs), 1);
	assert_int_equal(e.n, 0);
	assert_int_equal(found(rs, "192.0.2.1")->now.acked, 3000);
	poll(rs, START + 70 * S, NULL, 0, &e);
	assert_int_equal(e.n, 1);
	assert_int_equal(e.last.now.acked, 3000);
	assert_int_equal(e.last.began_us, START);
	remotes_free(rs);
}

/* A flow that outlasts a visit: each has what was done in it, and together they have all. */
static void test_long(void **state)
{
	struct remotes *rs = remotes_new();
	struct ended e = { 0 };
	struct seen seen[] = { { flow("192.0.2.1", 0, 0, 0), false } };
	uint64_t at, acked = 0, handed = 0;

	(void)state;
	for (at = 0; at < 2 * VISIT_MAX_US + 100 * S; at += 50 * S) {
		uint32_t before = e.n;

		acked += 1000;
		seen[0].flow.facts.acked = acked;
		poll(rs, START + at, seen, 1, &e);
		assert_int_equal(e.n, at / VISIT_MAX_US);
		if (e.n > before)
			handed += e.last.now.acked;
	}
	assert_int_equal(e.n, 2);
	assert_int_equal(e.last.began_us, START + VISIT_MAX_US);
	assert_int_equal(e.last.now.acked, VISIT_MAX_US / S / 50 * 1000);
	assert_int_equal(remotes_finish(rs, done, &e), 0);
	assert_int_equal(e.n, 3);
	assert_int_equal(handed + e.last.now.acked, acked);
	assert_int_equal(remotes_count(rs), 0);
	remotes_free(rs);
}

/* A poll that failed is not ended: what closed in it is not lost. */
static void test_failed_poll(void **state)
{
	struct remotes *rs = remotes_new();
	struct ended e = { 0 };
	struct seen seen[] = {
		{ flow("192.0.2.1", 1000, 1, 0), false },
		{ flow("192.0.2.1", 5000, 5, 0), false },
	};

	(void)state;
	poll(rs, START, seen, 2, &e);
	remotes_begin(rs, START + 5 * S);
	assert_int_equal(remotes_flow(rs, &seen[1].flow, true), 0);
	assert_int_equal(found(rs, "192.0.2.1")->flows, 2);
	poll(rs, START + 10 * S, seen, 1, &e);
	assert_int_equal(found(rs, "192.0.2.1")->flows, 1);
	assert_int_equal(found(rs, "192.0.2.1")->now.acked, 6000);
	remotes_free(rs);
}

/* All visits are handed on, also behind one that could not be. */
static void test_done_fails(void **state)
{
	struct remotes *rs = remotes_new();
	struct ended e = { 0 };
	struct seen seen[] = {
		{ flow("192.0.2.1", 1000, 1, 0), true },
		{ flow("192.0.2.2", 5000, 5, 0), true },
	};

	(void)state;
	poll(rs, START, seen, 2, &e);
	e.rc = -28;
	poll(rs, START + VISIT_GAP_US, NULL, 0, &e);
	assert_int_equal(e.n, 2);
	assert_int_equal(remotes_count(rs), 0);
	remotes_free(rs);
}

static void test_forget(void **state)
{
	struct remotes *rs = remotes_new();
	struct ended e = { 0 };
	struct seen seen[] = {
		{ flow("192.0.2.1", 1000, 1, 0), false },
		{ flow("192.0.3.1", 1000, 1, 0), false },
		{ flow("2001:db8::1", 1000, 1, 0), false },
	};
	struct prefix p;
	struct err why;

	(void)state;
	poll(rs, START, seen, 3, &e);
	assert_int_equal(parse_prefix("192.0.2.0/24", &p, &why), 0);
	assert_int_equal(remotes_forget(rs, &p), 1);
	assert_null(found(rs, "192.0.2.1"));
	assert_non_null(found(rs, "192.0.3.1"));
	assert_int_equal(parse_prefix("::/0", &p, &why), 0);
	assert_int_equal(remotes_forget(rs, &p), 1);
	assert_int_equal(remotes_forget(rs, &p), 0);
	assert_int_equal(remotes_count(rs), 1);
	assert_int_equal(e.n, 0);
	poll(rs, START + 5 * S, seen, 1, &e);
	assert_int_equal(found(rs, "192.0.2.1")->began_us, START + 5 * S);
	remotes_free(rs);
}

/* What a flow did before its remote was forgotten is of no visit that comes later. */
static void test_forget_under_a_flow(void **state)
{
	struct remotes *rs = remotes_new();
	struct ended e = { 0 };
	struct seen seen[] = {
		{ flow("192.0.2.1", 1000000000000, 700000000, 700), false },
		{ flow("192.0.2.1", 5000, 5, 1), false },
	};
	struct prefix p = address("192.0.2.1");

	(void)state;
	poll(rs, START, seen, 1, &e);
	assert_int_equal(remotes_forget(rs, &p), 1);
	/* the other is new in this poll */
	seen[1].flow.first_us = START + 5 * S;
	poll(rs, START + 5 * S, seen, 2, &e);
	assert_int_equal(found(rs, "192.0.2.1")->now.acked, 5000);
	seen[0].flow.facts.acked += 50000;
	poll(rs, START + 10 * S, seen, 2, &e);
	assert_int_equal(found(rs, "192.0.2.1")->now.acked, 55000);
	assert_int_equal(found(rs, "192.0.2.1")->now.segs, 5);
	assert_int_equal(found(rs, "192.0.2.1")->now.rate, 11000);
	/* and one that has closed when the remote is there again */
	assert_int_equal(remotes_forget(rs, &p), 1);
	seen[0].closed = true;
	poll(rs, START + 15 * S, seen, 1, &e);
	assert_int_equal(found(rs, "192.0.2.1")->now.acked, 0);
	remotes_free(rs);
}

/* One more than there may be: the one that was visited longest ago goes, into the history. */
static void test_bound(void **state)
{
	struct remotes *rs = remotes_new();
	struct ended e = { 0 };
	struct seen one = { flow("10.0.0.0", 1000, 1, 0), true };
	uint32_t i;

	(void)state;
	remotes_begin(rs, START);
	for (i = 0; i <= REMOTES_MAX; i++) {
		one.flow.last.conn.peer.addr[1] = (unsigned char)(i >> 16);
		one.flow.last.conn.peer.addr[2] = (unsigned char)(i >> 8);
		one.flow.last.conn.peer.addr[3] = (unsigned char)i;
		assert_int_equal(remotes_flow(rs, &one.flow, true), 0);
	}
	one.flow.last.conn.peer = address("10.0.0.0");
	assert_int_equal(remotes_flow(rs, &one.flow, true), 0);
	assert_int_equal(remotes_end(rs, START, done, &e), 0);
	assert_int_equal(remotes_count(rs), REMOTES_MAX);
	assert_int_equal(e.n, 1);
	assert_int_equal(e.last.addr.addr[3], 1);
	assert_int_equal(e.last.now.acked, 1000);
	assert_int_equal(found(rs, "10.0.0.0")->now.acked, 2000);
	assert_non_null(found(rs, "10.0.0.2"));
	remotes_free(rs);
}

/* --- what it stands on ------------------------------------------------------------------- */

struct thing {
	struct recent_node node;
	uint32_t key;
};

/* What shares a chain in one table does not in another */
static void test_recent_seed(void **state)
{
	static struct thing things[2][8];
	struct recent r[2];
	uint32_t i, k, same = 0;

	(void)state;
	for (k = 0; k < 2; k++) {
		recent_init(&r[k]);
		for (i = 0; i < 8; i++) {
			things[k][i].key = i;
			things[k][i].node.key = &things[k][i].key;
			things[k][i].node.len = sizeof(things[k][i].key);
			assert_int_equal(recent_add(&r[k], &things[k][i].node), 0);
		}
	}
	for (i = 0; i < 8; i++)
		same += things[0][i].node.hash == things[1][i].node.hash;
	assert_in_range(same, 0, 7);
	for (k = 0; k < 2; k++)
		recent_free(&r[k]);
}

/* Against a plain list, through growth and removals */
static void test_recent(void **state)
{
	enum { N = 1000 };
	static struct thing things[N];
	struct recent r;
	uint32_t i, key;

	(void)state;
	recent_init(&r);
	assert_null(recent_oldest(&r));
	for (i = 0; i < N; i++) {
		things[i].key = i * 7919;
		things[i].node.key = &things[i].key;
		things[i].node.len = sizeof(things[i].key);
		assert_int_equal(recent_add(&r, &things[i].node), 0);
	}
	for (i = 0; i < N; i += 2)
		recent_remove(&r, &things[i].node);
	assert_int_equal(r.n, N / 2);
	for (i = 0; i < N; i++) {
		key = i * 7919;
		assert_ptr_equal(recent_peek(&r, &key, sizeof(key)),
				 i % 2 ? &things[i].node : NULL);
	}
	assert_ptr_equal(recent_oldest(&r), &things[1].node);
	assert_ptr_equal(recent_peek(&r, &things[1].key, sizeof(key)), &things[1].node);
	assert_ptr_equal(recent_oldest(&r), &things[1].node);
	assert_ptr_equal(recent_find(&r, &things[1].key, sizeof(key)), &things[1].node);
	assert_ptr_equal(recent_oldest(&r), &things[3].node);
	assert_null(recent_find(&r, &things[1].key, 2));
	while (recent_oldest(&r))
		recent_remove(&r, recent_oldest(&r));
	assert_int_equal(r.n, 0);
	recent_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_visit),
		cmocka_unit_test(test_apart),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_failed_poll),
		cmocka_unit_test(test_done_fails),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_forget_under_a_flow),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_recent),
		cmocka_unit_test(test_recent_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
