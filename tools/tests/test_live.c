// SPDX-License-Identifier: GPL-2.0
/*
 * Messages about circuits: what is read from them, what is made of a run of events,
 * and what is printed of it all.
 */
#include <errno.h>
#include <limits.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "event.h"
#include "live.h"
#include "print.h"

static union genl_request req;
static const struct genl family = { .family = 31 };

static struct prefix prefix(const char *text)
{
	struct prefix p;
	struct err e;

	assert_int_equal(parse_prefix(text, &p, &e), 0);
	return p;
}

static void put_evidence(struct nlmsghdr *nlh, uint32_t reason)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, TCP_CIRCUIT_A_EVIDENCE);

	mnl_attr_put_u32(nlh, TCP_CIRCUIT_EVIDENCE_A_REASON, reason);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_EVIDENCE_A_UID, 1000);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_EVIDENCE_A_MS, 500);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_EVIDENCE_A_SEGMENTS, 4000);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_EVIDENCE_A_LOST, 800);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_EVIDENCE_A_CE, 3000);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_EVIDENCE_A_RTT, 340000);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_EVIDENCE_A_RTT_EXPECTED, 27000);
	mnl_attr_put_u64(nlh, TCP_CIRCUIT_EVIDENCE_A_RATE, 12500000);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_EVIDENCE_A_THRESHOLD, 100);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_EVIDENCE_A_WINDOW, 11163);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_EVIDENCE_A_WINDOW_CUT, 10);
	mnl_attr_nest_end(nlh, nest);
}

/* An object's message, with or without a trip. */
static struct nlmsghdr *object_message(uint8_t cmd, uint32_t window, uint64_t rate,
				       uint32_t tripped)
{
	struct prefix to[2] = { prefix("2001:db8::/32"), prefix("192.0.2.0/24") };
	struct object o = { .name = "lhc", .window = window, .rate = rate, .dev = "lo", .n = 2,
			    .prefixes = to };
	struct nlmsghdr *nlh = genl_message(&family, &req, cmd);
	struct err e;

	assert_int_equal(object_put(nlh, &o, &e), 0);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_A_ID, 3);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_A_SOCKETS, 6);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_A_HUNGRY, 4);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_A_CWND_TOTAL, 8000);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_A_BREAKER, !!tripped);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_A_TRIPPED_USERS, tripped);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_A_TRIPS, 2 * tripped);
	mnl_attr_put_u64(nlh, TCP_CIRCUIT_A_DELIVERED, 480000);
	mnl_attr_put_u64(nlh, TCP_CIRCUIT_A_LOST, tripped ? 48000 : 12);
	mnl_attr_put_u64(nlh, TCP_CIRCUIT_A_CE, 0);
	if (tripped)
		put_evidence(nlh, TCP_CIRCUIT_REASON_LOSS);
	/* of a newer module */
	mnl_attr_put_strz(nlh, TCP_CIRCUIT_A_MAX + 7, "more");
	return nlh;
}

/* The same of one with flags. */
static struct nlmsghdr *flagged(struct nlmsghdr *nlh, uint32_t flags)
{
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_A_FLAGS, flags);
	return nlh;
}

/* A peer's own; its address as such, or as a prefix of full length. */
static struct nlmsghdr *peer_message(uint8_t cmd, const char *address, bool as_prefix)
{
	struct nlmsghdr *nlh = genl_message(&family, &req, cmd);
	struct prefix p = prefix(address);
	struct nlattr *nest = NULL;
	uint16_t n = p.family == AF_INET ? 4 : 16;

	if (as_prefix) {
		nest = mnl_attr_nest_start(nlh, TCP_CIRCUIT_A_PREFIX);
		mnl_attr_put(nlh, TCP_CIRCUIT_PREFIX_A_ADDRESS, n, p.addr);
		mnl_attr_put_u8(nlh, TCP_CIRCUIT_PREFIX_A_LEN, (uint8_t)p.len);
		mnl_attr_nest_end(nlh, nest);
	} else {
		mnl_attr_put(nlh, TCP_CIRCUIT_A_ADDRESS, n, p.addr);
	}
	mnl_attr_put(nlh, TCP_CIRCUIT_A_AUTO, 0, NULL);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_A_WINDOW, 10);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_A_SOCKETS, 1);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_A_UID, 1000);
	return nlh;
}

static void test_object(void **state)
{
	static const struct evidence evidence = {
		.reason = TCP_CIRCUIT_REASON_LOSS, .uid = 1000, .ms = 500, .segments = 4000,
		.lost = 800, .ce = 3000, .rtt = 340000, .rtt_expected = 27000,
		.rate = 12500000, .threshold = 100, .window = 11163, .window_cut = 10,
	};
	struct live l;

	(void)state;
	assert_int_equal(live_parse(object_message(TCP_CIRCUIT_CMD_GET, 11163, 500000000, 1), &l),
			 0);
	assert_string_equal(l.object.name, "lhc");
	assert_string_equal(l.object.dev, "lo");
	assert_int_equal(l.object.n, 2);
	assert_int_equal(l.object.prefixes[0].family, AF_INET);
	assert_int_equal(l.object.window, 11163);
	assert_int_equal(l.object.rate, 500000000);
	assert_false(l.no_object);
	assert_false(l.of_user);
	assert_int_equal(l.id, 3);
	assert_int_equal(l.sockets, 6);
	assert_int_equal(l.hungry, 4);
	assert_int_equal(l.cwnd_total, 8000);
	assert_int_equal(l.breaker, TCP_CIRCUIT_BREAKER_TRIPPED);
	assert_int_equal(l.tripped_users, 1);
	assert_int_equal(l.trips, 2);
	assert_int_equal(l.delivered, 480000);
	assert_int_equal(l.lost, 48000);
	assert_int_equal(l.ce, 0);
	assert_memory_equal(&l.evidence, &evidence, sizeof(l.evidence));
	live_free(&l);
}

static void test_peer(void **state)
{
	static const char * const peers[] = { "192.0.2.7", "2001:db8::7" };
	char name[64];
	struct live l;
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		assert_int_equal(live_parse(peer_message(TCP_CIRCUIT_CMD_GET, peers[i / 2], i % 2),
					    &l), 0);
		assert_true(l.no_object);
		assert_true(l.of_user);
		assert_int_equal(l.uid, 1000);
		assert_string_equal(live_name(&l, name, sizeof(name)), peers[i / 2]);
		live_free(&l);
	}
}

/* Each attribute a byte longer or shorter: refused, and nothing leaks. */
static void test_sizes(void **state)
{
	static const struct {
		uint16_t type, len;
	} rows[] = {
		{ TCP_CIRCUIT_A_ID, 3 }, { TCP_CIRCUIT_A_SOCKETS, 5 }, { TCP_CIRCUIT_A_HUNGRY, 0 },
		{ TCP_CIRCUIT_A_CWND_TOTAL, 8 }, { TCP_CIRCUIT_A_BREAKER, 2 },
		{ TCP_CIRCUIT_A_TRIPPED_USERS, 8 }, { TCP_CIRCUIT_A_TRIPS, 8 },
		{ TCP_CIRCUIT_A_DELIVERED, 4 }, { TCP_CIRCUIT_A_LOST, 4 },
		{ TCP_CIRCUIT_A_CE, 12 }, { TCP_CIRCUIT_A_CAUSE, 1 }, { TCP_CIRCUIT_A_UID, 2 },
		{ TCP_CIRCUIT_A_ADDRESS, 5 }, { TCP_CIRCUIT_A_ADDRESS, 0 },
	};
	static const char space[16];
	struct nlmsghdr *nlh;
	struct nlattr *nest;
	struct live l;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		nlh = object_message(TCP_CIRCUIT_CMD_GET, 1, 0, 0);
		mnl_attr_put(nlh, rows[i].type, rows[i].len, space);
		assert_int_equal(live_parse(nlh, &l), -EBADMSG);
	}
	nlh = object_message(TCP_CIRCUIT_CMD_GET, 1, 0, 0);
	nest = mnl_attr_nest_start(nlh, TCP_CIRCUIT_A_EVIDENCE);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_EVIDENCE_A_RATE, 1);
	mnl_attr_nest_end(nlh, nest);
	assert_int_equal(live_parse(nlh, &l), -EBADMSG);
	/* nobody's: no name, no address */
	nlh = genl_message(&family, &req, TCP_CIRCUIT_CMD_GET);
	assert_int_equal(live_parse(nlh, &l), -EBADMSG);
	nlh->nlmsg_len = NLMSG_HDRLEN;
	assert_int_equal(live_parse(nlh, &l), -EBADMSG);
}

/* A name goes to terminals, files and JSON: one that the module would not take is none. */
static void test_names(void **state)
{
	static const char * const bad[] = { "l c", "l\nc", "l\033c", "l\377c", "\303\266" };
	struct nlmsghdr *nlh;
	struct live l;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		nlh = object_message(TCP_CIRCUIT_CMD_GET, 1, 0, 0);
		mnl_attr_put_strz(nlh, TCP_CIRCUIT_A_NAME, bad[i]);
		assert_int_equal(live_parse(nlh, &l), -EBADMSG);
	}
	nlh = object_message(TCP_CIRCUIT_CMD_GET, 1, 0, 0);
	mnl_attr_put_strz(nlh, TCP_CIRCUIT_A_NAME, "!~");
	assert_int_equal(live_parse(nlh, &l), 0);
	live_free(&l);
}

/* Each bit of a message turned: it is read or refused, and nothing else. */
static void test_changed(void **state)
{
	union genl_request copy;
	struct nlmsghdr *nlh = object_message(TCP_CIRCUIT_CMD_GET, 11163, 500000000, 1);
	size_t len = nlh->nlmsg_len, i;
	struct live l;
	int bit;

	(void)state;
	for (i = NLMSG_HDRLEN; i < len; i++) {
		for (bit = 0; bit < 8; bit++) {
			int rc;

			memcpy(&copy, &req, len);
			copy.space[i] = (char)(copy.space[i] ^ 1 << bit);
			rc = live_parse(&copy.hdr, &l);
			assert_true(!rc || rc == -EBADMSG);
			if (!rc)
				live_free(&l);
		}
	}
	for (i = NLMSG_HDRLEN; i < len; i++) {
		/* a length that the kernel never gives: no whole attribute is read */
		copy.hdr.nlmsg_len = (uint32_t)i;
		if (!live_parse(&copy.hdr, &l))
			live_free(&l);
	}
}

/* The module's list: so many dumps are interrupted by a change, the next is whole. */
static int interrupted;

int __wrap_genl_resolve(struct genl *g, struct err *e);
int __wrap_genl_resolve(struct genl *g, struct err *e)
{
	(void)e;
	g->family = family.family;
	return 0;
}

int __wrap_nlm_dump(struct nl *nl, struct nlmsghdr *question, mnl_cb_t each, void *data,
		    struct err *e);
int __wrap_nlm_dump(struct nl *nl, struct nlmsghdr *question, mnl_cb_t each, void *data,
		    struct err *e)
{
	(void)nl;
	(void)question;
	assert_int_equal(each(object_message(TCP_CIRCUIT_CMD_GET, 1, 0, 0), data), MNL_CB_OK);
	return interrupted-- > 0 ? err_set(e, -EINTR, "it has changed") : 0;
}

/* It is read anew, and nothing of what came before; one that never ends to change is given up. */
static void test_changing(void **state)
{
	struct lives ls;
	struct err e;

	(void)state;
	for (int changes = 0; changes < 4; changes++) {
		interrupted = changes;
		assert_int_equal(lives_read(&ls, &e), 0);
		assert_int_equal(ls.n, 1);
		lives_free(&ls);
	}
	interrupted = INT_MAX;
	assert_int_equal(lives_read(&ls, &e), -EINTR);
	assert_non_null(strstr(e.text, "try again"));
	assert_int_equal(ls.n, 0);
}

static void add(struct lives *ls, struct nlmsghdr *nlh)
{
	struct live l;

	assert_int_equal(live_parse(nlh, &l), 0);
	assert_int_equal(lives_add(ls, &l), 0);
}

static void test_list(void **state)
{
	struct lives ls = { 0 };
	int i;

	(void)state;
	for (i = 0; i < 100; i++)
		add(&ls, peer_message(TCP_CIRCUIT_CMD_GET, "192.0.2.7", false));
	assert_null(lives_find(&ls, "lhc"));
	assert_null(lives_find(&ls, ""));
	assert_int_equal(lives_tripped(&ls), 0);
	add(&ls, object_message(TCP_CIRCUIT_CMD_GET, 11163, 0, 3));
	assert_non_null(lives_find(&ls, "lhc"));
	assert_int_equal(lives_tripped(&ls), 3);
	lives_free(&ls);
	assert_int_equal(lives_tripped(&ls), 0);
}

/* Sorted, the same are found; the automatic ones, which have no name, are behind. */
static void test_sorted(void **state)
{
	static const char * const names[] = { "ska", "", "lhc", "a", "", "zz" };
	struct lives ls = { 0 };
	struct live l;
	uint32_t i;

	(void)state;
	lives_sort(&ls);
	assert_null(lives_find(&ls, "lhc"));
	for (i = 0; i < 6; i++) {
		memset(&l, 0, sizeof(l));
		l.id = 10 - i;
		l.no_object = !names[i][0];
		strcpy(l.object.name, names[i]);
		assert_int_equal(lives_add(&ls, &l), 0);
	}
	lives_sort(&ls);
	assert_string_equal(ls.list[0].object.name, "a");
	assert_string_equal(ls.list[3].object.name, "zz");
	assert_int_equal(ls.list[4].id, 6);
	for (i = 0; i < 6; i++)
		if (names[i][0])
			assert_int_equal(lives_find(&ls, names[i])->id, 10 - i);
	assert_null(lives_find(&ls, ""));
	assert_null(lives_find(&ls, "lh"));
	memset(&l, 0, sizeof(l));
	strcpy(l.object.name, "b");
	assert_int_equal(lives_add(&ls, &l), 0);
	assert_non_null(lives_find(&ls, "b"));
	lives_free(&ls);
}

static void test_clash(void **state)
{
	struct prefix p[2] = { prefix("198.51.100.0/24"), prefix("2001:db8::/32") };
	struct object o = { .name = "other", .dev = "lo", .n = 2, .prefixes = p };
	const struct live *with = NULL;
	struct lives ls = { 0 };

	(void)state;
	add(&ls, object_message(TCP_CIRCUIT_CMD_GET, 1, 0, 0));
	assert_ptr_equal(lives_clash(&ls, &o, &with), &p[1]);
	assert_string_equal(with->object.name, "lhc");
	o.n = 1;
	assert_null(lives_clash(&ls, &o, &with));
	o.n = 2;
	o.mark = 7;
	assert_null(lives_clash(&ls, &o, &with));
	o.mark = 0;
	o.dev[0] = 0;
	assert_null(lives_clash(&ls, &o, &with));
	strcpy(o.dev, "lo");
	strcpy(o.name, "lhc");
	assert_null(lives_clash(&ls, &o, &with));
	lives_free(&ls);
}

static void check_printed(struct nlmsghdr *nlh, const char *want)
{
	struct live l;
	char *got;
	size_t len;
	FILE *out;

	assert_int_equal(live_parse(nlh, &l), 0);
	out = open_memstream(&got, &len);
	assert_non_null(out);
	print_live(out, &l);
	fclose(out);
	assert_string_equal(got, want);
	free(got);
	live_free(&l);
}

/* 12 of 480012 are 0.0025 %; 48000 of 528000 are 9.0909 %. */
static void test_printed(void **state)
{
	(void)state;
	check_printed(object_message(TCP_CIRCUIT_CMD_GET, 11163, 500000000, 0),
		      "  circuit  lhc to 192.0.2.0/24, 2001:db8::/32 by lo: 8000 of 11163 segments shared out, 6 sockets, 4 with an equal share, paced at 4gbit, 12 lost, 0.0025%\n");
	/* the rate that a qdisc holds is no pace */
	check_printed(flagged(object_message(TCP_CIRCUIT_CMD_GET, 11163, 500000000, 0),
			      TCP_CIRCUIT_F_UNPACED | TCP_CIRCUIT_F_EARLY_WINDOW),
		      "  circuit  lhc to 192.0.2.0/24, 2001:db8::/32 by lo: 8000 of 11163 segments shared out, 6 sockets, 4 with an equal share, rate 4gbit early-window unpaced, 12 lost, 0.0025%\n");
	check_printed(object_message(TCP_CIRCUIT_CMD_GET, 11163, 0, 1),
		      "  circuit  lhc to 192.0.2.0/24, 2001:db8::/32 by lo: 8000 of 11163 segments shared out, 6 sockets, 4 with an equal share, 48000 lost, 9.09%, tripped 2 times\n"
		      "  TRIPPED  lhc: the window of 1 user is cut; ctcp-setup reset lhc gives it back at once\n"
		      "  tripped  by: user 1000: 800 of 4000 segments lost, 20% where 10% are too many in 500ms; window 11163 -> 10\n");
	check_printed(peer_message(TCP_CIRCUIT_CMD_GET, "2001:db8::7", false),
		      "  peer     2001:db8::7 of user 1000: 0 of 10 segments shared out, 1 socket, 0 with an equal share, 0 lost\n");
}

static void check_reason(uint32_t reason, const char *want)
{
	struct evidence ev = {
		.reason = reason, .uid = 7, .ms = 2000, .segments = 1000, .lost = 1, .ce = 500,
		.rtt = 340000, .rtt_expected = 27000, .rate = 12500000, .threshold = 125,
		.window = 1000, .window_cut = 10,
	};
	char *got;
	size_t len;
	FILE *out = open_memstream(&got, &len);

	assert_non_null(out);
	print_evidence(out, &ev);
	fclose(out);
	assert_string_equal(got, want);
	free(got);
}

static void test_reasons(void **state)
{
	(void)state;
	check_reason(TCP_CIRCUIT_REASON_LOSS,
		     "user 7: 1 of 1000 segments lost, 0.1% where 12.5% are too many in 2s; window 1000 -> 10");
	check_reason(TCP_CIRCUIT_REASON_CE,
		     "user 7: 500 of 1000 segments marked by ECN, 50% where 12.5% are too many in 2s; window 1000 -> 10");
	check_reason(TCP_CIRCUIT_REASON_DELAY,
		     "user 7: a round trip of at least 340ms where window and rate explain 27ms in 2s; window 1000 -> 10");
	check_reason(TCP_CIRCUIT_REASON_SHORTFALL,
		     "user 7: window in use and only 100mbit delivered in 2s; window 1000 -> 10");
	check_reason(77,
		     "user 7: reason 77, not known to this ctcp-setup in 2s; window 1000 -> 10");
}

/* The event's line behind its time and a blank. */
static void check_event(struct lives *known, struct nlmsghdr *nlh, const char *want)
{
	struct event ev;
	char *got;
	size_t len;
	FILE *out;

	assert_int_equal(event_parse(nlh, &ev), 0);
	assert_int_equal(event_learn(known, &ev), 0);
	out = open_memstream(&got, &len);
	assert_non_null(out);
	print_event(out, &ev);
	fclose(out);
	assert_non_null(strchr(got, ' '));
	assert_string_equal(strchr(got, ' ') + 1, want);
	free(got);
	event_free(&ev);
}

static void test_events(void **state)
{
	static const char config[] =
		"window 20, rate 8mbit, to 192.0.2.0/24, 2001:db8::/32 by lo\n";
	struct lives known = { 0 };
	struct nlmsghdr *nlh;
	char want[256];

	(void)state;
	snprintf(want, sizeof(want), "added lhc: %s", config);
	check_event(&known, object_message(TCP_CIRCUIT_CMD_ADDED_NTF, 20, 1000000, 0), want);
	check_event(&known, object_message(TCP_CIRCUIT_CMD_CHANGED_NTF, 30, 1000000, 0),
		    "changed lhc: window 20 -> 30\n");
	check_event(&known, object_message(TCP_CIRCUIT_CMD_CHANGED_NTF, 20, 0, 0),
		    "changed lhc: window 30 -> 20, rate 8mbit -> none\n");
	check_event(&known, flagged(object_message(TCP_CIRCUIT_CMD_CHANGED_NTF, 20, 0, 0),
				    TCP_CIRCUIT_F_UNPACED),
		    "changed lhc: flags none -> unpaced\n");
	check_event(&known, object_message(TCP_CIRCUIT_CMD_TRIPPED_NTF, 20, 0, 1),
		    "tripped lhc: user 1000: 800 of 4000 segments lost, 20% where 10% are too many in 500ms; window 11163 -> 10\n");
	nlh = object_message(TCP_CIRCUIT_CMD_CLOSED_NTF, 20, 0, 1);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_A_CAUSE, TCP_CIRCUIT_CAUSE_RESET);
	check_event(&known, nlh,
		    "closed lhc: reset; it had tripped by user 1000: 800 of 4000 segments lost, 20% where 10% are too many in 500ms; window 11163 -> 10\n");
	assert_int_equal(known.n, 1);
	check_event(&known, object_message(TCP_CIRCUIT_CMD_REMOVED_NTF, 20, 0, 0),
		    "removed lhc\n");
	assert_int_equal(known.n, 0);
	/* of one that was not known it is said what it is */
	snprintf(want, sizeof(want), "changed lhc: %s", config);
	check_event(&known, object_message(TCP_CIRCUIT_CMD_CHANGED_NTF, 20, 1000000, 0), want);
	check_event(&known, peer_message(TCP_CIRCUIT_CMD_REMOVED_NTF, "192.0.2.7", false),
		    "removed 192.0.2.7\n");
	assert_int_equal(known.n, 1);
	lives_free(&known);
}

/* One of a newer module is passed over. */
static void test_unknown_event(void **state)
{
	struct event ev;

	(void)state;
	assert_int_equal(event_parse(object_message(TCP_CIRCUIT_CMD_MAX + 1, 1, 0, 0), &ev),
			 -ENOMSG);
	assert_int_equal(event_parse(object_message(TCP_CIRCUIT_CMD_GET, 1, 0, 0), &ev), -ENOMSG);
}

static void is_text(const json_t *root, const char *key, const char *want)
{
	assert_non_null(json_object_get(root, key));
	if (want)
		assert_string_equal(json_string_value(json_object_get(root, key)), want);
	else
		assert_true(json_is_null(json_object_get(root, key)));
}

static void is_number(const json_t *root, const char *key, json_int_t want)
{
	assert_int_equal(json_integer_value(json_object_get(root, key)), want);
}

static void test_json(void **state)
{
	struct event ev;
	json_t *got, *list;

	(void)state;
	assert_int_equal(event_parse(object_message(TCP_CIRCUIT_CMD_TRIPPED_NTF, 11163, 500000000,
						    1), &ev), 0);
	ev.live.lost = UINT64_MAX;
	got = json_event(&ev);
	assert_non_null(got);
	is_text(got, "event", "tripped");
	is_text(got, "name", "lhc");
	is_text(got, "peer", NULL);
	is_text(got, "outgoing", "lo");
	is_number(got, "fcwnd_segments", 11163);
	is_number(got, "cwnd_total_segments", 8000);
	is_number(got, "sockets", 6);
	is_number(got, "hungry", 4);
	is_number(got, "pace_bit_s", 4000000000);
	is_number(got, "delivered_segments", 480000);
	is_number(got, "lost_segments", INT64_MAX);
	is_number(got, "trips", 2);
	assert_true(json_is_true(json_object_get(got, "tripped")));
	list = json_object_get(got, "prefixes");
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(json_string_value(json_array_get(list, 0)), "192.0.2.0/24");
	is_text(json_object_get(got, "evidence"), "reason", "loss");
	is_number(json_object_get(got, "evidence"), "slot_us", 500000);
	is_number(json_object_get(got, "evidence"), "delivered_bit_s", 100000000);
	json_decref(got);
	event_free(&ev);
	assert_int_equal(live_parse(peer_message(TCP_CIRCUIT_CMD_GET, "192.0.2.7", true), &ev.live),
			 0);
	got = json_live(&ev.live);
	assert_non_null(got);
	is_text(got, "name", NULL);
	is_text(got, "peer", "192.0.2.7");
	is_number(got, "uid", 1000);
	is_text(got, "evidence", NULL);
	json_decref(got);
	event_free(&ev);
}

static void test_totals(void **state)
{
	struct nlmsghdr *nlh = genl_message(&family, &req, TCP_CIRCUIT_CMD_STATS);
	struct totals t, want;
	uint16_t type;
	json_t *got;

	(void)state;
	for (type = TCP_CIRCUIT_STATS_A_CIRCUITS; type < TCP_CIRCUIT_STATS_A_PAD; type++) {
		if (type < TCP_CIRCUIT_STATS_A_MEMORY)
			mnl_attr_put_u32(nlh, type, 100U + type);
		else
			mnl_attr_put_u64(nlh, type, 100U + type);
	}
	assert_int_equal(totals_parse(nlh, &t), 0);
	memset(&want, 0, sizeof(want));
	want = (struct totals){
		.circuits = 101, .circuits_max = 102, .prefixes = 103, .prefixes_max = 104,
		.peers = 105, .peers_max = 106, .kept = 107, .kept_max = 108, .memory = 109,
		.opened = 110, .reno = 111, .restored = 112, .timeouts = 113,
		.recoveries = 114, .trips = 115, .resets = 116, .no_memory = 117,
	};
	assert_memory_equal(&t, &want, sizeof(t));
	t.memory = UINT64_MAX;
	t.no_memory = 5;
	got = json_totals(&t);
	is_number(got, "memory_bytes", INT64_MAX);
	is_number(got, "no_memory", 5);
	json_decref(got);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_STATS_A_TRIPS, 5);
	assert_int_equal(totals_parse(nlh, &t), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_object),
		cmocka_unit_test(test_peer),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_changing),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_sorted),
		cmocka_unit_test(test_clash),
		cmocka_unit_test(test_printed),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_unknown_event),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_totals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
