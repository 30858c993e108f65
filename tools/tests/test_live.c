// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/net/tcp_circuit: { text, what is read from it }, and what is printed of it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "test.h"

#include "live.h"
#include "print.h"

#define HEAD "peer id window held sockets streams rate delivered lost trips state\n"
#define HUGE "18446744073709551615"

struct row {
	const char *text;
	int rc;
	uint32_t n;
	struct live last;	/* but for the peer */
	const char *peer;
};

static const struct row rows[] = {
	{ HEAD, .n = 0 },
	{ HEAD "192.0.2.7 0 11163 8000 6 4 500000000 480000 12 0 closed\n", .n = 1,
	  .peer = "192.0.2.7",
	  .last = { .window = 11163, .held = 8000, .sockets = 6, .streams = 4,
		    .rate = 500000000, .delivered = 480000, .lost = 12 } },
	{ HEAD "192.0.2.7 0 1 1 1 1 0 1 1 0 closed\n"
	  "2001:db8::7 0 1116 1116 1 1 0 480000 48000 2 tripped\n", .n = 2,
	  .peer = "2001:db8::7",
	  .last = { .window = 1116, .held = 1116, .sockets = 1, .streams = 1,
		    .delivered = 480000, .lost = 48000, .trips = 2, .tripped = true } },
	{ HEAD "* 0 67108864 0 1 0 0 0 0 0 closed\n", .n = 1, .peer = "none",
	  .last = { .window = 67108864, .sockets = 1 } },
	{ HEAD "* 4294967295 1 0 1 0 0 0 0 0 closed\n", .n = 1, .peer = "none",
	  .last = { .id = 4294967295, .window = 1, .sockets = 1 } },
	/* aligned, and with a column that is not known here */
	{ "peer  id window held sockets streams rate delivered lost trips state quiet\n"
	  "192.0.2.7\t 0    11163 0 1 0 0 0 0 0 closed 77\n", .n = 1, .peer = "192.0.2.7",
	  .last = { .window = 11163, .sockets = 1 } },
	{ HEAD "* 0 1 0 1 0 " HUGE " " HUGE " 0 0 closed\n", .n = 1, .peer = "none",
	  .last = { .window = 1, .sockets = 1, .rate = UINT64_MAX,
		    .delivered = UINT64_MAX } },
	/* past 64 bits, by a digit or by one */
	{ HEAD "* 0 1 0 1 0 0 " HUGE "0 0 0 closed\n", .rc = -EBADMSG },
	{ HEAD "* 0 1 0 1 0 0 18446744073709551616 0 0 closed\n", .rc = -EBADMSG },
	{ "", .rc = -EBADMSG },
	{ "\n", .rc = -EBADMSG },
	{ "\t\n", .rc = -EBADMSG },
	{ "peer\n", .rc = -EBADMSG },
	{ "peer id window held sockets streams rate delivered lost trips\n", .rc = -EBADMSG },
	{ "peer id held window sockets streams rate delivered lost trips state\n",
	  .rc = -EBADMSG },
	{ "x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x\n",
	  .rc = -EBADMSG },
	{ HEAD "\n", .rc = -EBADMSG },
	{ HEAD "* 0 1 0 1 0 0 0 0 0\n", .rc = -EBADMSG },
	{ HEAD "* 0 1 0 1 0 0 0 0 0 closed closed\n", .rc = -EBADMSG },
	{ HEAD "* 0 1 0 1 0 0 0 0 0 open\n", .rc = -EBADMSG },
	{ HEAD "* 0 1 0 1 0 0 0 0 0 Tripped\n", .rc = -EBADMSG },
	{ HEAD "* 0 1 -1 1 0 0 0 0 0 closed\n", .rc = -EBADMSG },
	{ HEAD "* 0 1 +1 1 0 0 0 0 0 closed\n", .rc = -EBADMSG },
	{ HEAD "* 0 0x1 0 1 0 0 0 0 0 closed\n", .rc = -EBADMSG },
	{ HEAD "* 0 1.5 0 1 0 0 0 0 0 closed\n", .rc = -EBADMSG },
	{ HEAD "** 0 1 0 1 0 0 0 0 0 closed\n", .rc = -EBADMSG },
	{ HEAD "192.0.2 0 1 0 1 0 0 0 0 0 closed\n", .rc = -EBADMSG },
	{ HEAD "192.0.2.7/24 0 1 0 1 0 0 0 0 0 closed\n", .rc = -EBADMSG },
	{ HEAD "2001:db8::g 0 1 0 1 0 0 0 0 0 closed\n", .rc = -EBADMSG },
	/* a good line does not save a bad one */
	{ HEAD "* 0 1 0 1 0 0 0 0 0 closed\n* 0\n", .rc = -EBADMSG },
};

static void check(const struct row *r, const struct lives *ls)
{
	const struct live *got, *want = &r->last;
	char text[64];

	assert_int_equal(ls->n, r->n);
	if (!r->n)
		return;
	got = &ls->list[ls->n - 1];
	assert_string_equal(format_addr(text, sizeof(text), &got->peer), r->peer);
	assert_int_equal(got->id, want->id);
	assert_int_equal(got->window, want->window);
	assert_int_equal(got->held, want->held);
	assert_int_equal(got->sockets, want->sockets);
	assert_int_equal(got->streams, want->streams);
	assert_int_equal(got->rate, want->rate);
	assert_int_equal(got->delivered, want->delivered);
	assert_int_equal(got->lost, want->lost);
	assert_int_equal(got->trips, want->trips);
	assert_int_equal(got->tripped, want->tripped);
}

static void test_table(void **state)
{
	struct lives ls;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int rc = live_parse(rows[i].text, strlen(rows[i].text), &ls);

		if (rc != rows[i].rc)
			print_error("row %zu: rc %d\n", i, rc);
		assert_int_equal(rc, rows[i].rc);
		if (!rc)
			check(&rows[i], &ls);
		else
			assert_null(ls.list);
		lives_free(&ls);
	}
}

static const char two[] = HEAD
"192.0.2.7 0 11163 8000 6 4 500000000 480000 12 0 closed\n"
"2001:db8::7 0 1116 1116 1 1 0 480000 48000 2 tripped\n";

/* At the end of a line it is a text of fewer lines; anywhere else it is none. */
static void test_cut_short(void **state)
{
	struct lives ls;
	size_t n;

	(void)state;
	for (n = 0; n < sizeof(two) - 1; n++) {
		int rc = live_parse(two, n, &ls);

		assert_int_equal(rc, n && two[n - 1] == '\n' ? 0 : -EBADMSG);
		lives_free(&ls);
	}
}

/*
 * Each bit of each byte, and some bytes in its place: in the header, or a NUL, it is
 * refused; elsewhere it may be another number, and is refused or read as two lines.
 */
static void test_changed(void **state)
{
	static const char junk[] = { 0, '\n', ' ', '9', '*', (char)0xff };
	char text[sizeof(two)];
	struct lives ls;
	size_t i, k;
	int rc;

	(void)state;
	for (i = 0; i < sizeof(two) - 1; i++) {
		for (k = 0; k < 8 + sizeof(junk); k++) {
			memcpy(text, two, sizeof(two));
			text[i] = k < 8 ? (char)(two[i] ^ 1 << k) : junk[k - 8];
			rc = live_parse(text, sizeof(two) - 1, &ls);
			if (text[i] != two[i] && (!text[i] || i < sizeof(HEAD) - 1))
				assert_int_equal(rc, -EBADMSG);
			assert_true(rc == -EBADMSG || (!rc && ls.n == 2));
			lives_free(&ls);
		}
	}
}

/* Room for them grows. */
static void test_many(void **state)
{
	const char *line = "192.0.2.7 0 11163 8000 6 4 500000000 480000 12 0 closed\n";
	struct lives ls;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int i;

	(void)state;
	assert_non_null(out);
	fputs(HEAD, out);
	for (i = 0; i < 1000; i++)
		fputs(line, out);
	fclose(out);
	assert_int_equal(live_parse(text, len, &ls), 0);
	assert_int_equal(ls.n, 1000);
	assert_int_equal(ls.list[999].window, 11163);
	lives_free(&ls);
	free(text);
}

static struct prefix address(const char *text)
{
	struct prefix p;

	assert_int_equal(parse_address(text, &p), 0);
	return p;
}

static void test_peers(void **state)
{
	const struct prefix any = { .family = 0 };
	struct prefix good = address("192.0.2.7"), bad = address("2001:db8::7");
	struct prefix none = address("192.0.2.8"), net = address("2001:db8::");
	struct lives ls;

	(void)state;
	net.len = 32;
	assert_int_equal(live_parse(two, sizeof(two) - 1, &ls), 0);
	assert_true(lives_know(&ls, &good) && lives_know(&ls, &bad));
	assert_true(lives_know(&ls, &any));
	assert_false(lives_know(&ls, &none));
	assert_int_equal(lives_tripped(&ls, &any), 1);
	assert_int_equal(lives_tripped(&ls, &bad), 1);
	assert_int_equal(lives_tripped(&ls, &good), 0);
	lives_free(&ls);
	assert_false(lives_know(&ls, &any));
	assert_true(prefix_holds(&net, &bad));
	assert_false(prefix_holds(&bad, &net));
	assert_false(prefix_holds(&net, &good));
	assert_false(prefix_holds(&any, &good));
	assert_false(prefix_holds(&good, &any));
	net = address("0.0.0.0");
	net.len = 0;
	assert_true(prefix_holds(&net, &good));
}

static void check_printed(const char *line, const char *want)
{
	char text[512], *got;
	struct lives ls;
	size_t len;
	FILE *out;

	snprintf(text, sizeof(text), HEAD "%s\n", line);
	assert_int_equal(live_parse(text, strlen(text), &ls), 0);
	out = open_memstream(&got, &len);
	assert_non_null(out);
	print_live(out, ls.list);
	fclose(out);
	assert_string_equal(got, want);
	free(got);
	lives_free(&ls);
}

/* 12 of 480012 are 0.0025 %; 48000 of 528000 are 9.0909 %. */
static void test_printed(void **state)
{
	(void)state;
	check_printed("192.0.2.7 0 11163 8000 6 4 500000000 480000 12 0 closed",
		      "  peer     192.0.2.7: 8000 of 11163 segments held, 6 sockets, 4 with all they may send, paced at 4gbit, 12 lost, 0.0025%\n");
	check_printed("2001:db8::7 0 1116 1116 1 1 0 480000 48000 2 tripped",
		      "  peer     2001:db8::7: 1116 of 1116 segments held, 1 socket, 1 with all they may send, 48000 lost, 9.09%, tripped 2 times\n"
		      "  TRIPPED  2001:db8::7: lost too much for too long, so its window is cut; ctcp-setup reset 2001:db8::7 gives it back at once\n");
	check_printed("* 0 10 0 1 0 " HUGE " 0 0 1 tripped",
		      "  peer     all peers: 0 of 10 segments held, 1 socket, 0 with all they may send, paced at 1.845e+10 GB/s, 0 lost, tripped 1 time\n"
		      "  TRIPPED  all peers: lost too much for too long, so its window is cut; ctcp-setup reset gives it back at once\n");
	check_printed("* 7 10 0 1 0 0 0 0 0 closed",
		      "  peer     id 7: 0 of 10 segments held, 1 socket, 0 with all they may send, 0 lost\n");
}

static void test_json(void **state)
{
	static const char line[] = HEAD "* 7 10 3 2 1 " HUGE " 480000 " HUGE " 1 tripped\n";
	struct lives ls;
	json_t *got;

	(void)state;
	assert_int_equal(live_parse(line, sizeof(line) - 1, &ls), 0);
	got = json_live(ls.list);
	assert_non_null(got);
	assert_string_equal(json_string_value(json_object_get(got, "peer")), "*");
	assert_int_equal(json_integer_value(json_object_get(got, "id")), 7);
	assert_int_equal(json_integer_value(json_object_get(got, "fcwnd_segments")), 10);
	assert_int_equal(json_integer_value(json_object_get(got, "held_segments")), 3);
	assert_int_equal(json_integer_value(json_object_get(got, "sockets")), 2);
	assert_int_equal(json_integer_value(json_object_get(got, "streams")), 1);
	assert_int_equal(json_integer_value(json_object_get(got, "pace_bit_s")), INT64_MAX);
	assert_int_equal(json_integer_value(json_object_get(got, "lost_segments")), INT64_MAX);
	assert_int_equal(json_integer_value(json_object_get(got, "delivered_segments")), 480000);
	assert_int_equal(json_integer_value(json_object_get(got, "trips")), 1);
	assert_true(json_is_true(json_object_get(got, "tripped")));
	json_decref(got);
	lives_free(&ls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_peers),
		cmocka_unit_test(test_printed),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
