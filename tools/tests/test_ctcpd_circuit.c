// SPDX-License-Identifier: GPL-2.0
/*
 * A circuit that is the daemon's: what it is made of, whose it is in the state, and that an
 * administrator's come first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "fits.h"
#include "plan.h"
#include "state.h"
#include "units.h"
#include "wants.h"

#define BOOT "3b1f-boot"
#define GBIT (1000 * MBIT)

static struct circuit of(bool ctcpd, const char *name, const char *dev, const char *to)
{
	struct circuit c = CIRCUIT_DEFAULTS;
	struct err e;

	strcpy(c.name, name);
	strcpy(c.dev, dev);
	c.rate = 950 * MBIT;
	c.rtt_us = 47000;
	c.shaper = SHAPER_HTB;
	c.ctcpd = ctcpd;
	assert_int_equal(parse_to(to, &c, &e), 0);
	return c;
}

static struct member *add(struct state *st, bool ctcpd, const char *name, const char *dev,
			  const char *to, enum standing standing)
{
	struct circuit c = of(ctcpd, name, dev, to);
	struct member *m = state_add(st, &c, dev[3] - '0' + 5);

	assert_non_null(m);
	m->standing = standing;
	m->classid = st->n_circuits;
	return m;
}

static void add_base(struct state *st, enum item_kind kind, const char *name, int ifindex,
		     const char *next)
{
	struct base *b = state_add_base(st, kind, name, ifindex, "absent");

	assert_non_null(b);
	assert_int_equal(state_text(st, &b->next, next), 0);
}

/* --- what it is made of ------------------------------------------------------------ */

static const struct facts facts = {
	.dev = "eth1", .out = "eth1", .wire = "eth1", .ifindex = 6, .out_ifindex = 6,
	.wire_ifindex = 6, .up = true, .mtu = 1500, .header = 14, .gso_max_size = 65536,
	.gso_max_segs = 65535, .tx_queues = 1, .ram = 64ULL << 30, .page = 4096,
};

/*
 * A GSO packet of 65536 bytes is 46 segments of 1448, 69644 bytes; 64 sockets with two of them
 * are 8914432.  200 us of the rate, or a segment; rate x rtt where it is more than that.
 */
static void test_plan(void **state)
{
	static const struct {
		uint64_t rate, rtt_us, burst, limit;
	} rows[] = {
		{ 950 * MBIT, 47000, 23750, 8914432 },
		{ 10 * GBIT, 47000, 250000, 58750000 },
		{ 20 * GBIT, 300000, 500000, 750000000 },
		{ 1 * MBIT, 1000, 1514, 8914432 },
		{ RATE_MIN, RTT_MAX_US, 1514, 8914432 },
		{ RATE_MAX, RTT_MAX_US, 25000000, UINT32_MAX },
	};
	struct circuit c = of(true, "ctcpd-1", "eth1", "192.0.2.7");
	struct notes notes = { 0 };
	struct plan p;
	struct err e;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		c.rate = rows[i].rate;
		c.rtt_us = rows[i].rtt_us;
		assert_int_equal(plan_make(&c, &facts, &p, &notes, &e), 0);
		assert_int_equal(p.burst, rows[i].burst);
		assert_int_equal(p.limit, rows[i].limit);
		assert_int_equal(p.quantum, 69644);
		assert_int_equal(p.need, 0);
	}
	assert_int_equal(notes.n, 0);
}

/* A class, its queue, filters, and room for a queue: nothing of the machine's. */
static void test_wants(void **state)
{
	static const enum item_kind kinds[] = {
		ITEM_TXQLEN, ITEM_QDISC, ITEM_CLASS, ITEM_CLASS, ITEM_FILTER,
	};
	const struct circuit c = of(true, "ctcpd-1", "eth1", "192.0.2.7");
	const struct place place = { .classid = 7, .rest = { RATE_MAX, 1514, 1514 } };
	struct plan p;
	struct wants w = { 0 };
	struct err e;
	size_t i;

	(void)state;
	assert_int_equal(plan_make(&c, &facts, &p, NULL, &e), 0);
	wants_own(&c, &facts, &p, &place, NULL, true, &w);
	assert_int_equal(w.n, ARRAY_SIZE(kinds));
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		assert_int_equal(w.list[i].kind, kinds[i]);
		assert_int_equal(w.list[i].ifindex, 6);
	}
	assert_string_equal(w.list[3].name, "eth1 c7c0:7");
	assert_string_equal(w.list[4].value, "class c7c0:7");
}

/* --- whose it is --------------------------------------------------------------------- */

static void test_there_and_back(void **state)
{
	struct state st = { 0 }, back;
	struct err e;
	char *text, *again;
	size_t len, n;

	(void)state;
	add(&st, false, "lhc", "eth1", "198.51.100.0/24", STANDING);
	add(&st, true, "ctcpd-1", "eth2", "192.0.2.7", STANDING);
	add(&st, true, "ctcpd-2", "eth2", "2001:db8::7", ADDING);
	assert_int_equal(state_format(&st, BOOT, &text, &len), 0);
	assert_non_null(strstr(text, "\nctcpd\nadd ctcpd-1 "));
	assert_null(strstr(text, "\nctcpd\nadd lhc "));
	assert_int_equal(state_parse(text, len, BOOT, &back, &e), 0);
	assert_false(back.circuits[0].circuit.ctcpd);
	assert_true(back.circuits[1].circuit.ctcpd);
	assert_true(back.circuits[2].circuit.ctcpd);
	assert_int_equal(state_format(&back, BOOT, &again, &n), 0);
	assert_string_equal(text, again);
	free(text);
	free(again);
	state_free(&st);
	state_free(&back);
}

#define HEAD "ctcp-setup 1 boot " BOOT "\ndevice eth1 6\n"
#define HTB "--rate 1mbit --rtt 1ms --to 192.0.2.7/32 --shaper htb "

static void test_bad_lines(void **state)
{
	static const char * const bad[] = {
		HEAD "class c7c0:1\nctcpd\nctcpd\nadd ctcpd-1 " HTB "--unpaced eth1\nend\n",
		HEAD "class c7c0:1\nctcpd x\nadd ctcpd-1 " HTB "--unpaced eth1\nend\n",
		HEAD "class c7c0:1\nbare\nctcpd\nadd ctcpd-1 " HTB "--unpaced eth1\nend\n",
		HEAD "class c7c0:1\nctcpd\nadd ctcpd-1 " HTB "--pace eth1\nend\n",
		HEAD "class c7c0:1\nctcpd\nadd ctcpd-1 " HTB "--unpaced --default-cc eth1\nend\n",
		HEAD "class c7c0:1\nctcpd\nadd ctcpd-1 " HTB "--rest 1mbit --unpaced eth1\nend\n",
		HEAD "ctcpd\nadd ctcpd-1 --rate 1mbit --rtt 1ms --shaper tbf --unpaced eth1\nend\n",
	};
	static const char good[] =
		HEAD "class c7c0:1\nctcpd\nadd ctcpd-1 " HTB "--unpaced eth1\nend\n";
	static const char file[] = "ctcpd\nadd ctcpd-1 --rate 1mbit --rtt 1ms eth1\n";
	struct state st;
	struct err e;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		if (state_parse(bad[i], strlen(bad[i]), BOOT, &st, &e) != -EBADMSG)
			fail_msg("taken: %s", bad[i]);
	assert_int_equal(state_parse(good, strlen(good), BOOT, &st, &e), 0);
	state_free(&st);
	assert_int_equal(circuits_parse(file, strlen(file), &st, &e), -EBADMSG);
}

/* --- an administrator comes first ------------------------------------------------------ */

static uint32_t count(const struct state *st, bool ctcpd)
{
	uint32_t i, n = 0;

	for (i = 0; i < st->n_circuits; i++)
		n += st->circuits[i].circuit.ctcpd == ctcpd && member_is_there(&st->circuits[i]);
	return n;
}

static void begin(struct state *st)
{
	memset(st, 0, sizeof(*st));
	add(st, true, "ctcpd-1", "eth1", "192.0.2.7", STANDING);
	add(st, true, "ctcpd-2", "eth1", "203.0.113.9", STANDING);
	add(st, true, "ctcpd-3", "eth2", "203.0.113.9", STANDING);
}

static void test_gives_way(void **state)
{
	struct circuit on = of(false, "lhc", "eth1", "198.51.100.0/24");
	struct circuit over = of(false, "ska", "eth3", "203.0.113.0/24");
	struct circuit bare = of(false, "eth1", "eth1", "198.51.100.0/24");
	struct circuit other = of(false, "esa", "eth3", "198.51.100.0/24");
	struct circuit more = of(true, "ctcpd-4", "eth2", "192.0.2.7");
	struct state st;
	uint32_t at;
	struct err e;

	(void)state;
	begin(&st);
	assert_int_equal(state_insert(&st, &on, 6, &at, &e), 0);
	assert_int_equal(count(&st, true), 1);
	state_free(&st);
	begin(&st);
	assert_int_equal(state_insert(&st, &over, 8, &at, &e), 0);
	assert_int_equal(count(&st, true), 1);
	state_free(&st);
	begin(&st);
	bare.shaper = SHAPER_TBF;
	assert_int_equal(state_replace(&st, &bare, 6, &at, &e), 0);
	assert_int_equal(count(&st, true), 1);
	state_free(&st);
	begin(&st);
	assert_non_null(state_add(&st, &over, 8));
	st.circuits[3].standing = ADDING;
	assert_int_equal(state_insert_all(&st, &at, &e), 0);
	assert_int_equal(count(&st, true), 1);
	assert_int_equal(count(&st, false), 1);
	state_free(&st);
	begin(&st);
	assert_int_equal(state_insert(&st, &other, 8, &at, &e), 0);
	assert_int_equal(state_insert(&st, &more, 7, &at, &e), 0);
	assert_int_equal(count(&st, true), 4);
	state_free(&st);
}

/* The daemon's never stand in place of an administrator's, and a name is one circuit's. */
static void test_fits(void **state)
{
	struct circuit over = of(true, "ctcpd-4", "eth2", "198.51.100.7");
	struct circuit twice = of(true, "ctcpd-4", "eth1", "192.0.2.7");
	struct circuit named = of(false, "ctcpd-3", "eth3", "198.51.101.0/24");
	struct state st;
	struct err e;

	(void)state;
	begin(&st);
	add(&st, false, "lhc", "eth3", "198.51.100.0/24", STANDING);
	assert_int_equal(fits(&st, &over, &e), -EEXIST);
	assert_int_equal(fits(&st, &twice, &e), -EEXIST);
	strcpy(twice.dev, "eth2");
	assert_int_equal(fits(&st, &twice, &e), 0);
	assert_int_equal(fits(&st, &named, &e), -EEXIST);
	assert_non_null(strstr(e.text, "ctcpd's"));
	state_free(&st);
}

static void test_rest(void **state)
{
	struct state st;

	(void)state;
	begin(&st);
	assert_int_equal(state_rest(&st, 0, 10 * GBIT), 10 * GBIT);
	add(&st, false, "lhc", "eth1", "198.51.100.0/24", STANDING);
	assert_int_equal(state_rest(&st, 0, 10 * GBIT), 10 * GBIT - 950 * MBIT);
	state_free(&st);
}

/* --- cut short -------------------------------------------------------------------------- */

static void test_whose_run(void **state)
{
	struct state st;

	(void)state;
	begin(&st);
	assert_true(state_pending_is_ctcpds(&st));
	st.circuits[0].standing = REMOVING;
	add(&st, true, "ctcpd-1", "eth1", "192.0.2.7", ADDING);
	add_base(&st, ITEM_CLASS, "eth1 c7c0:1", 6, "rate 1");
	assert_true(state_pending_is_ctcpds(&st));
	state_recover_ctcpds(&st);
	assert_int_equal(st.circuits[0].standing, STANDING);
	assert_int_equal(st.circuits[3].standing, REMOVING);
	/* an administrator's run came meanwhile, and left its item as it was */
	assert_true(state_pending_is_ctcpds(&st));
	add_base(&st, ITEM_SYSCTL, "net.ipv4.tcp_sack", 0, "1");
	assert_false(state_pending_is_ctcpds(&st));
	state_free(&st);
	begin(&st);
	add(&st, false, "lhc", "eth3", "198.51.100.0/24", ADDING);
	assert_false(state_pending_is_ctcpds(&st));
	st.circuits[3].standing = STANDING;
	assert_true(state_pending_is_ctcpds(&st));
	add_base(&st, ITEM_CLASS, "eth3 c7c0:1", 8, "rate 1");
	assert_false(state_pending_is_ctcpds(&st));
	state_free(&st);
	begin(&st);
	/* of a device that has circuits of both it is not the daemon's to say */
	add(&st, false, "lhc", "eth1", "198.51.100.0/24", STANDING);
	add_base(&st, ITEM_CLASS, "eth1 c7c0:1", 6, "rate 1");
	assert_false(state_pending_is_ctcpds(&st));
	state_free(&st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_wants),
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_gives_way),
		cmocka_unit_test(test_fits),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_whose_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
