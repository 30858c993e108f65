// SPDX-License-Identifier: GPL-2.0
/*
 * The table of flows, fed with samples: what is counted, who is gone, who is looked at.
 */
#include <errno.h>
#include <string.h>

#include "test.h"

#include "ctcpd/flows.h"

#define ESTABLISHED	1
#define FIN_WAIT2	5
#define POLL_US		5000000ULL

static struct flows *fs;

/* What was told of flows that have gone */
static struct {
	unsigned int n;
	uint64_t cookie;
	struct flow flow;
} told;

/* What the kernel says of a flow that the dump did not have */
static struct {
	int rc;
	struct sample s;
	unsigned int n;
} kernel;

static struct sample sample_of(uint64_t cookie, uint64_t at_us, uint32_t segs)
{
	struct sample s = {
		.conn = { .cookie = cookie, .mss = 1448, .peer_port = 5001,
			  .state = ESTABLISHED, .acked = 1448ULL * segs },
		.at_us = at_us, .known = KNOWS_BYTES_SENT, .data_segs_out = segs,
		.bytes_sent = 1448ULL * segs, .delivered = segs,
	};

	parse_address("192.0.2.1", &s.conn.peer);
	parse_address("192.0.2.2", &s.conn.local);
	return s;
}

static int on_gone(const struct flow *f, bool closed, void *data)
{
	(void)data;
	assert_true(closed);
	told.n++;
	told.cookie = f->last.conn.cookie;
	told.flow = *f;
	return 0;
}

static int ask(const struct conn *who, struct sample *s, void *data)
{
	(void)data;
	kernel.n++;
	*s = kernel.s;
	s->conn.cookie = who->cookie;
	return kernel.rc;
}

static void feed(uint64_t cookie, uint64_t at_us, uint32_t segs)
{
	struct sample s = sample_of(cookie, at_us, segs);

	assert_int_equal(flows_feed(fs, &s), 0);
}

static void end_poll(bool whole, bool asks)
{
	told.n = 0;
	kernel.n = 0;
	assert_int_equal(flows_end(fs, whole, asks ? ask : NULL, NULL, on_gone, NULL), 0);
}

static void end(void)
{
	end_poll(true, true);
}

static int find_one(const struct flow *f, bool closed, void *data)
{
	const struct flow **found = data;

	assert_false(closed);
	if (f->last.conn.cookie == (*found)->last.conn.cookie)
		*found = f;
	return 0;
}

/* Its facts; the policy counts what it is given */
static const struct flow_facts *facts_of(uint64_t cookie)
{
	static struct flow none;
	const struct flow *found = &none;

	none.last.conn.cookie = cookie;
	assert_int_equal(flows_each(fs, find_one, &found), 0);
	assert_ptr_not_equal(found, &none);
	return &found->facts;
}

static int setup(void **state)
{
	(void)state;
	memset(&told, 0, sizeof(told));
	memset(&kernel, 0, sizeof(kernel));
	fs = flows_new();
	return fs ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	flows_free(fs);
	return 0;
}

/* One poll with these flows, of @n from @first on */
static void poll_of(uint64_t at_us, uint64_t first, uint64_t n, uint32_t segs)
{
	uint64_t i;

	flows_begin(fs);
	for (i = 0; i < n; i++)
		feed(first + i, at_us, segs);
	end();
}

/* Since the poll before the last: what looks between them added is of it */
static void test_counts_of_a_poll(void **state)
{
	const struct flow *f;

	(void)state;
	poll_of(POLL_US, 1, 1, 1000);
	poll_of(2 * POLL_US, 1, 1, 1100);
	f = (const struct flow *)((const char *)facts_of(1) - offsetof(struct flow, facts));
	assert_int_equal(f->polled.segs, 100);
	assert_int_equal(f->before.segs, 0);
	feed(1, 2 * POLL_US + POLL_US / 2, 1130);
	assert_int_equal(f->polled.segs, 100);
	poll_of(3 * POLL_US, 1, 1, 1150);
	assert_int_equal(f->polled.segs, 150);
	assert_int_equal(f->before.segs, 100);
	assert_int_equal(f->polled.acked - f->before.acked, 50 * 1448);
	/* one that the dump missed, and the kernel was asked for */
	kernel.s = sample_of(1, 4 * POLL_US, 1175);
	poll_of(4 * POLL_US, 1, 0, 0);
	assert_int_equal(f->polled.segs, 175);
	assert_int_equal(f->before.segs, 150);
}

static void test_first_counts_nothing(void **state)
{
	(void)state;
	poll_of(POLL_US, 1, 1, 1000);
	assert_int_equal(flows_count(fs), 1);
	assert_int_equal(facts_of(1)->segs, 0);
	poll_of(2 * POLL_US, 1, 1, 1100);
	assert_int_equal(facts_of(1)->segs, 100);
	assert_int_equal(facts_of(1)->us, POLL_US);
	assert_int_equal(told.n, 0);
}

static void test_never_sent(void **state)
{
	(void)state;
	poll_of(POLL_US, 1, 100, 0);
	assert_int_equal(flows_count(fs), 0);
	poll_of(2 * POLL_US, 1, 1, 5);
	assert_int_equal(flows_count(fs), 1);
}

static void test_repeated(void **state)
{
	(void)state;
	poll_of(POLL_US, 1, 1, 1000);
	flows_begin(fs);
	feed(1, 2 * POLL_US, 1100);
	feed(1, 2 * POLL_US + 1, 1101);
	end();
	assert_int_equal(facts_of(1)->segs, 100);
	assert_int_equal(facts_of(1)->intervals, 1);
	assert_int_equal(told.n, 0);
}

static void test_closed_once(void **state)
{
	(void)state;
	poll_of(POLL_US, 1, 3, 1000);
	kernel.rc = -ENOENT;
	poll_of(2 * POLL_US, 2, 2, 1000);
	assert_int_equal(told.n, 1);
	assert_int_equal(told.cookie, 1);
	assert_int_equal(flows_count(fs), 2);
	poll_of(3 * POLL_US, 2, 2, 1000);
	assert_int_equal(told.n, 0);
	assert_int_equal(kernel.n, 0);
}

/* It moved to another bucket while the dump was read. */
static void test_missed_by_a_dump(void **state)
{
	(void)state;
	poll_of(POLL_US, 1, 1, 1000);
	kernel.s = sample_of(1, 2 * POLL_US, 1100);
	poll_of(2 * POLL_US, 2, 1, 1000);
	assert_int_equal(told.n, 0);
	assert_int_equal(kernel.n, 1);
	assert_int_equal(facts_of(1)->segs, 100);
	poll_of(3 * POLL_US, 1, 1, 1150);
	assert_int_equal(facts_of(1)->segs, 150);
}

static void test_cannot_ask(void **state)
{
	(void)state;
	poll_of(POLL_US, 1, 2, 1000);
	kernel.rc = -ENOBUFS;
	poll_of(2 * POLL_US, 2, 1, 1000);
	assert_int_equal(told.n, 0);
	poll_of(3 * POLL_US, 1, 2, 1000);	/* there again */
	poll_of(4 * POLL_US, 2, 1, 1000);
	assert_int_equal(told.n, 0);
	poll_of(5 * POLL_US, 2, 1, 1000);	/* two polls one after the other */
	assert_int_equal(told.n, 1);
	assert_int_equal(told.cookie, 1);
}

static void test_failed_dump(void **state)
{
	int i;

	(void)state;
	poll_of(POLL_US, 1, 10, 1000);
	kernel.rc = -ENOENT;
	for (i = 0; i < 3; i++) {
		flows_begin(fs);
		feed(1, (2 + (uint64_t)i) * POLL_US, 1000);
		end_poll(false, true);
		assert_int_equal(told.n, 0);
		assert_int_equal(kernel.n, 0);
	}
	assert_int_equal(flows_count(fs), 10);
}

/* More than are asked for one by one: those wait for a second poll without them. */
static void test_many_gone(void **state)
{
	(void)state;
	poll_of(POLL_US, 1, 1000, 10);
	kernel.rc = -ENOENT;
	poll_of(2 * POLL_US, 2000, 1, 10);
	assert_int_equal(told.n, 256);
	poll_of(3 * POLL_US, 2000, 1, 10);
	assert_int_equal(told.n, 744);
	assert_int_equal(flows_count(fs), 1);
}

/* It waits for the peer's FIN: its last counters are known, and it is gone as a flow. */
static void test_last_counters(void **state)
{
	(void)state;
	poll_of(POLL_US, 1, 1, 1000);
	kernel.s = sample_of(1, 2 * POLL_US, 1700);
	kernel.s.conn.state = FIN_WAIT2;
	poll_of(2 * POLL_US, 2, 1, 1000);
	assert_int_equal(told.n, 1);
	assert_int_equal(told.flow.facts.segs, 700);
	assert_int_equal(flows_count(fs), 1);
}

/* As by connect() with AF_UNSPEC and then once more: the cookie stays */
static void test_counters_back(void **state)
{
	(void)state;
	poll_of(POLL_US, 1, 1, 1000);
	poll_of(2 * POLL_US, 1, 1, 1500);
	poll_of(3 * POLL_US, 1, 1, 20);
	assert_int_equal(told.n, 1);
	assert_int_equal(told.flow.facts.segs, 500);
	assert_int_equal(flows_count(fs), 1);
	assert_int_equal(facts_of(1)->segs, 0);
	poll_of(4 * POLL_US, 1, 1, 50);
	assert_int_equal(told.n, 0);
	assert_int_equal(facts_of(1)->segs, 30);
}

static void test_another_peer(void **state)
{
	struct sample s = sample_of(1, 2 * POLL_US, 2000);

	(void)state;
	poll_of(POLL_US, 1, 1, 1000);
	parse_address("198.51.100.1", &s.conn.peer);
	flows_begin(fs);
	assert_int_equal(flows_feed(fs, &s), 0);
	end();
	assert_int_equal(told.n, 1);
	assert_int_equal(facts_of(1)->segs, 0);
}

static void test_time_stands_still(void **state)
{
	(void)state;
	poll_of(POLL_US, 1, 1, 1000);
	poll_of(POLL_US, 1, 1, 1100);
	poll_of(POLL_US - 1, 1, 1, 1200);
	assert_int_equal(told.n, 0);
	assert_int_equal(facts_of(1)->segs, 0);
	poll_of(2 * POLL_US, 1, 1, 1300);
	assert_int_equal(facts_of(1)->segs, 300);
}

static void drops(uint64_t at_us, uint32_t ifindex, uint32_t n)
{
	assert_int_equal(flows_drops(fs, at_us, ifindex, n), 0);
}

/* What the qdiscs of its device dropped between two samples of it, and no others */
static void test_drops(void **state)
{
	(void)state;
	drops(POLL_US - 1, 3, 1000);	/* before it was seen */
	poll_of(POLL_US, 1, 2, 1000);
	flows_leaves(fs, 1, 3);
	flows_leaves(fs, 2, 4);
	drops(2 * POLL_US - 1, 3, 10);
	poll_of(2 * POLL_US, 1, 2, 1000);
	assert_int_equal(facts_of(1)->local_drops, 10);
	assert_int_equal(facts_of(2)->local_drops, 0);
	poll_of(3 * POLL_US, 1, 2, 1000);
	assert_int_equal(facts_of(1)->local_drops, 10);
	drops(4 * POLL_US - 1, 3, 5);
	drops(4 * POLL_US - 1, 4, 1);
	poll_of(4 * POLL_US, 1, 2, 1000);
	assert_int_equal(facts_of(1)->local_drops, 15);
	assert_int_equal(facts_of(2)->local_drops, 1);
}

/* Its device is known only once it has dropped: what it dropped since its last sample counts. */
static void test_drops_before_the_device(void **state)
{
	(void)state;
	drops(POLL_US - 1, 3, 1000);
	poll_of(POLL_US, 1, 1, 1000);
	drops(2 * POLL_US - 1, 3, 10);
	flows_leaves(fs, 1, 3);
	poll_of(2 * POLL_US, 1, 1, 1000);
	assert_int_equal(facts_of(1)->local_drops, 10);
}

static bool is_there(uint32_t ifindex, const void *data)
{
	return ifindex != *(const uint32_t *)data;
}

/* A device that goes and comes back with its number drops from 0 on. */
static void test_drops_of_a_device_anew(void **state)
{
	uint32_t gone = 3;

	(void)state;
	poll_of(POLL_US, 1, 2, 1000);
	flows_leaves(fs, 1, 3);
	flows_leaves(fs, 2, 4);
	drops(2 * POLL_US - 1, 3, 1000);
	drops(2 * POLL_US - 1, 4, 1);
	poll_of(2 * POLL_US, 1, 2, 1000);
	flows_keep_devices(fs, is_there, &gone);
	poll_of(3 * POLL_US, 1, 2, 1000);
	drops(4 * POLL_US - 1, 3, 7);
	drops(4 * POLL_US - 1, 4, 2);
	poll_of(4 * POLL_US, 1, 2, 1000);
	assert_int_equal(facts_of(1)->local_drops, 1007);
	assert_int_equal(facts_of(2)->local_drops, 3);
}

/* --- devices --------------------------------------------------------------------------- */

static struct {
	uint32_t ifindex;
	unsigned int n;
} way;

static uint32_t by_way(const struct conn *c, void *data)
{
	(void)c;
	(void)data;
	way.n++;
	return way.ifindex;
}

static int count_device(const struct flow *f, bool closed, void *data)
{
	(void)closed;
	*(unsigned int *)data += f->ifindex == way.ifindex;
	return 0;
}

/* How many leave by the device that is the way now */
static unsigned int ask_devices(uint32_t ifindex, unsigned int polls)
{
	unsigned int n = 0;

	way.ifindex = ifindex;
	while (polls--) {
		way.n = 0;
		flows_ask_devices(fs, by_way, NULL);
	}
	assert_int_equal(flows_each(fs, count_device, &n), 0);
	return n;
}

/* No way at first, then one, then another */
static void test_device_changes(void **state)
{
	(void)state;
	poll_of(POLL_US, 1, 1000, 10);
	assert_int_equal(ask_devices(0, 10), 1000);
	assert_true(way.n >= 256 && way.n < 300);	/* no more than a poll may ask for */
	assert_int_equal(ask_devices(3, 5), 1000);
	assert_true(ask_devices(4, 1) >= 64);
	assert_true(way.n >= 64 && way.n < 100);
	assert_int_equal(ask_devices(4, 20), 1000);
	ask_devices(0, 20);				/* it has the one it had */
	assert_int_equal(ask_devices(4, 0), 1000);
}

/* Asking anew takes no drop from a flow, and adds none. */
static void test_same_device(void **state)
{
	(void)state;
	poll_of(POLL_US, 1, 1, 1000);
	ask_devices(3, 1);
	drops(2 * POLL_US - 2, 3, 10);
	drops(2 * POLL_US - 1, 3, 5);
	ask_devices(3, 1);
	poll_of(2 * POLL_US, 1, 1, 1000);
	assert_int_equal(facts_of(1)->local_drops, 15);
	ask_devices(3, 2);
	poll_of(3 * POLL_US, 1, 1, 1000);
	assert_int_equal(facts_of(1)->local_drops, 15);
}

/* Of more than FLOWS_MAX the rest is counted; those that are there go on. */
static void test_bound(void **state)
{
	(void)state;
	poll_of(POLL_US, 1, FLOWS_MAX, 10);
	assert_int_equal(flows_left_out(fs), 0);
	poll_of(2 * POLL_US, 1, FLOWS_MAX + 5, 20);
	assert_int_equal(flows_count(fs), FLOWS_MAX);
	assert_int_equal(flows_left_out(fs), 5);
	assert_int_equal(facts_of(FLOWS_MAX)->segs, 10);
	kernel.rc = -ENOENT;
	poll_of(3 * POLL_US, 101, FLOWS_MAX - 100, 30);
	assert_int_equal(flows_left_out(fs), 0);
	assert_int_equal(flows_count(fs), FLOWS_MAX - 100);
}

static int count_looks(const struct flow *f, bool closed, void *data)
{
	(void)closed;
	*(unsigned int *)data += f->looks;
	assert_true(!f->looks || judge_wants_looks(&f->facts));
	return 0;
}

/* Flows that lose, of which there are more than are looked at */
static void test_looks(void **state)
{
	unsigned int n = 0;
	uint64_t i, k;

	(void)state;
	for (k = 1; k < 5; k++) {
		flows_begin(fs);
		for (i = 1; i <= 2 * LOOKS_MAX; i++) {
			struct sample s = sample_of(i, k * POLL_US, (uint32_t)k * 40000);

			s.total_retrans = (uint32_t)k * 400;
			s.lost = 5;
			s.conn.busy = k * POLL_US;
			s.snd_cwnd = 100;
			s.rtt_us = 50000;
			s.conn.min_rtt = 50000;
			assert_int_equal(flows_feed(fs, &s), 0);
		}
		end();
	}
	assert_true(judge_wants_looks(facts_of(1)));	/* else this tests nothing */
	assert_int_equal(flows_each(fs, count_looks, &n), 0);
	assert_int_equal(n, LOOKS_MAX);
	kernel.rc = -ENOENT;
	poll_of(6 * POLL_US, 1000, 1, 10);
	poll_of(7 * POLL_US, 1000, 1, 10);
	n = 0;
	assert_int_equal(flows_each(fs, count_looks, &n), 0);
	assert_int_equal(n, 0);
}

static int stop(const struct flow *f, bool closed, void *data)
{
	(void)f;
	(void)closed;
	return ++*(int *)data == 2 ? -EINTR : 0;
}

static void test_each_ends(void **state)
{
	int n = 0;

	(void)state;
	poll_of(POLL_US, 1, 1000, 10);
	assert_int_equal(flows_each(fs, stop, &n), -EINTR);
	assert_int_equal(n, 2);
}

/* Only what loses has room for what tells why, from its first loss on, and keeps it. */
static void test_room_for_losses(void **state)
{
	const struct loss_facts *loss;
	struct sample s;
	unsigned int k;

	(void)state;
	flows_begin(fs);
	feed(1, 1000000, 100);
	feed(2, 1000000, 100);
	end();
	for (k = 2; k < 5; k++) {
		flows_begin(fs);
		feed(1, k * 1000000, 100 * k);
		s = sample_of(2, k * 1000000, 100 * k);
		s.total_retrans = 9 * (k - 1);
		assert_int_equal(flows_feed(fs, &s), 0);
		end();
		assert_null(facts_of(1)->loss);
		if (k > 2)
			assert_ptr_equal(facts_of(2)->loss, loss);
		loss = facts_of(2)->loss;
		assert_non_null(loss);
		assert_true(loss->losses.looks.lost == 9 * (k - 1));
	}
}

/* ASan's allocator tells nothing of this: the size alone, and the table's part */
static void test_bytes(void **state)
{
	(void)state;
	assert_true(sizeof(struct flow) + 64 + 4 * sizeof(void *) <= FLOW_BYTES);
	assert_true(sizeof(struct loss_facts) + 2 * sizeof(void *) <= LOSS_BYTES);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_first_counts_nothing), TEST(test_never_sent), TEST(test_repeated),
		TEST(test_closed_once), TEST(test_missed_by_a_dump), TEST(test_cannot_ask),
		TEST(test_failed_dump), TEST(test_many_gone), TEST(test_last_counters),
		TEST(test_counters_back), TEST(test_another_peer),
		TEST(test_time_stands_still), TEST(test_drops),
		TEST(test_drops_before_the_device), TEST(test_looks),
		TEST(test_counts_of_a_poll), TEST(test_each_ends),
		TEST(test_room_for_losses), TEST(test_bytes),
		TEST(test_drops_of_a_device_anew), TEST(test_device_changes),
		TEST(test_same_device), TEST(test_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
