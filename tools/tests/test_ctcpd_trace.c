// SPDX-License-Identifier: GPL-2.0
/*
 * Traces: what is written is read as the same, and what is none is refused by its bad word.
 */
#include <errno.h>
#include <string.h>

#include "test.h"

#include "ctcpd/diag.h"
#include "ctcpd/trace.h"
#include "ctcpd_captured.h"

#define BEGINS "cookie=4f peer=192.0.2.1:5001 at=9"

/* Each number of a sample another one, from @seed on, or the most that it may be */
static struct sample filled(unsigned int seed, bool most)
{
	struct sample s;

	memset(&s, 0, sizeof(s));
	parse_address("192.0.2.1", &s.conn.peer);
	parse_address("2001:db8::ffff:1", &s.conn.local);
	strcpy(s.conn.algorithm, "a name \"of\" 15");
#define NUMBER(field) (s.field = (typeof(s.field))(most ? ~0ULL : ++seed))
	NUMBER(conn.peer_port), NUMBER(conn.local_port), NUMBER(conn.state);
	NUMBER(conn.ifindex), NUMBER(conn.mark), NUMBER(conn.uid), NUMBER(conn.inode);
	NUMBER(conn.cookie), NUMBER(conn.min_rtt), NUMBER(conn.mss), NUMBER(conn.unsent);
	NUMBER(conn.acked), NUMBER(conn.busy), NUMBER(conn.rwnd), NUMBER(conn.sndbuf);
	NUMBER(at_us), NUMBER(known), NUMBER(ca_state), NUMBER(snd_wscale);
	NUMBER(rtt_us), NUMBER(rttvar_us), NUMBER(rto_us), NUMBER(snd_cwnd);
	NUMBER(snd_ssthresh), NUMBER(unacked), NUMBER(lost), NUMBER(retrans), NUMBER(sacked);
	NUMBER(reordering), NUMBER(reord_seen), NUMBER(snd_wnd), NUMBER(total_retrans);
	NUMBER(segs_out), NUMBER(data_segs_out), NUMBER(delivered), NUMBER(delivered_ce);
	NUMBER(dsack_dups), NUMBER(bytes_sent), NUMBER(bytes_retrans), NUMBER(delivery_rate);
	NUMBER(pacing_rate), NUMBER(max_pacing_rate), NUMBER(sndbuf), NUMBER(wmem_queued);
	NUMBER(wmem_alloc);
#undef NUMBER
	s.conn.mptcp = true;
	s.has_wscale = true;
	s.app_limited = true;
	return s;
}

/* In numbers that no field of 8 bits cuts, no two fields are alike. */
static void round_trip(const struct sample *s)
{
	char line[TRACE_LINE], again[TRACE_LINE];
	struct trace_line t;
	struct err e;

	assert_true(trace_sample(s, line) < sizeof(line));
	assert_int_equal(trace_parse(line, &t, &e), 0);
	assert_int_equal(t.kind, TRACE_SAMPLE);
	trace_sample(&t.sample, again);
	assert_string_equal(line, again);
	assert_memory_equal(s, &t.sample, sizeof(*s));
}

static void test_round_trip(void **state)
{
	union nl_request msg;
	struct sample s;

	(void)state;
	s = filled(100, false);
	round_trip(&s);
	s = filled(0, true);
	round_trip(&s);
	memcpy(&msg, socket_6, sizeof(socket_6));
	assert_int_equal(sample_parse(&msg.hdr, &s), 0);
	s.at_us = 1;
	round_trip(&s);
}

/* Whatever a sample has, a line has: a new field must be in both. */
static void test_every_field(void **state)
{
	struct sample s = filled(100, false);
	char line[TRACE_LINE];
	unsigned int words = 1;
	const char *p;

	(void)state;
	trace_sample(&s, line);
	for (p = line; *p; p++)
		words += *p == ' ';
	assert_int_equal(words, 49 + 3);	/* the algorithm has three blanks */
	assert_int_equal(sizeof(s), 288);	/* else there is a new field */
}

static void test_others(void **state)
{
	struct trace_line t;
	char line[TRACE_LINE];
	struct err e;

	(void)state;
	trace_drops(1234567, 3, 12, line);
	assert_string_equal(line, "drops at=1234567 ifindex=3 n=12");
	assert_int_equal(trace_parse(line, &t, &e), 0);
	assert_int_equal(t.kind, TRACE_DROPS);
	assert_int_equal(t.at_us, 1234567);
	assert_int_equal(t.ifindex, 3);
	assert_int_equal(t.drops, 12);
	trace_leaves(0x4f, 3, line);
	assert_string_equal(line, "leaves cookie=4f ifindex=3");
	assert_int_equal(trace_parse(line, &t, &e), 0);
	assert_int_equal(t.kind, TRACE_LEAVES);
	assert_int_equal(t.sample.conn.cookie, 0x4f);
	assert_int_equal(t.ifindex, 3);
	trace_gone(0x4f, line);
	assert_string_equal(line, "gone cookie=4f");
	assert_int_equal(trace_parse(line, &t, &e), 0);
	assert_int_equal(t.kind, TRACE_GONE);
	assert_int_equal(t.sample.conn.cookie, 0x4f);
}

static void test_nothing(void **state)
{
	static const char * const lines[] = {
		"", "\n", "  ", "#", "# anything \"", "# ctcpd trace 1", TRACE_HEAD,
	};
	struct trace_line t;
	struct err e;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		assert_int_equal(trace_parse(lines[i], &t, &e), 0);
		assert_int_equal(t.kind, TRACE_NOTHING);
	}
	assert_int_equal(trace_parse(BEGINS "\n", &t, &e), 0);
	round_trip(&t.sample);
}

static void test_bad(void **state)
{
	static const struct {
		const char *line, *says;
	} bad[] = {
		{ "# ctcpd trace 2", "another version" },
		{ BEGINS " rtt_us", "\"rtt_us\" is not key=value" },
		{ BEGINS " rtt_ms=1", "\"rtt_ms=1\": no such key" },
		{ BEGINS " rtt_us=", "\"rtt_us=\": not a value" },
		{ BEGINS " rtt_us=1x", "\"rtt_us=1x\": not a value" },
		{ BEGINS " rtt_us=-1", "\"rtt_us=-1\": not a value" },
		{ BEGINS " rtt_us=+1", "\"rtt_us=+1\": not a value" },
		{ BEGINS " rtt_us=4294967296", "out of range" },
		{ BEGINS " ca_state=256", "out of range" },
		{ BEGINS " has_wscale=2", "out of range" },
		{ BEGINS " acked=18446744073709551616", "out of range" },
		{ BEGINS " cookie=10000000000000000", "out of range" },
		{ BEGINS " cookie=4G", "\"cookie=4G\": not a value" },
		{ BEGINS " local=192.0.2.1", "\"local=192.0.2.1\": not a value" },
		{ BEGINS " local=192.0.2:1", "not a value" },
		{ BEGINS " local=192.0.2.1:65536", "not a value" },
		{ BEGINS " local=2001:db8::1:5", "not a value" },
		{ BEGINS " local=[2001:db8::1:5", "not a value" },
		{ BEGINS " local=[]:5", "not a value" },
		{ BEGINS " local=:5", "not a value" },
		{ BEGINS " cc=sixteen-letters-", "not a value" },
		{ BEGINS " cc=", "not a value" },
		{ BEGINS " \"cc=x", "not closed" },
		{ BEGINS " cc=\x1b[0m", "control characters" },
		{ "cookie=4f at=9", "has at=, cookie= and peer=" },
		{ "peer=192.0.2.1:5001 at=9", "has at=, cookie= and peer=" },
		{ "cookie=4f peer=192.0.2.1:5001", "has at=, cookie= and peer=" },
		{ "drops n=3", "drops have ifindex=" },
		{ "drops ifindex=1 rtt_us=3", "no such key" },
		{ "leaves ifindex=1", "leaves has cookie=" },
		{ "leaves cookie=1", "leaves has cookie=" },
		{ "gone ifindex=1", "gone has cookie= alone" },
		{ "gone cookie=1 ifindex=1", "gone has cookie= alone" },
		{ BEGINS "\n" BEGINS, "more than a line" },
	};
	struct trace_line t;
	struct err e;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		e.text[0] = 0;
		if (trace_parse(bad[i].line, &t, &e) != -EBADMSG || !strstr(e.text, bad[i].says))
			fail_msg("%s: expected \"%s\", got \"%s\"", bad[i].line, bad[i].says,
				 e.text);
	}
}

static void test_long(void **state)
{
	char line[2 * TRACE_LINE];
	struct trace_line t;
	struct err e;
	int i, n;

	(void)state;
	memset(line, ' ', sizeof(line));
	memcpy(line, BEGINS, strlen(BEGINS));
	line[TRACE_LINE - 1] = 0;
	assert_int_equal(trace_parse(line, &t, &e), 0);
	line[TRACE_LINE - 1] = ' ';
	line[TRACE_LINE] = 0;
	assert_int_equal(trace_parse(line, &t, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "more than 2047 bytes"));
	for (i = n = 0; i < 65; i++)
		n += snprintf(line + n, sizeof(line) - (size_t)n, "at=1 ");
	assert_int_equal(trace_parse(line, &t, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "more than 64 words"));
}

static int count_lines(const struct trace_line *t, void *data, struct err *e)
{
	(void)t;
	if (++*(int *)data < 3)
		return 0;
	return err_set(e, -EFBIG, "three are enough");
}

static int read_text(const char *text, size_t len, int *n, struct err *e)
{
	FILE *in = fmemopen((void *)text, len, "r");
	int rc;

	assert_non_null(in);
	*n = 0;
	rc = trace_read(in, count_lines, n, e);
	fclose(in);
	return rc;
}

static void test_file(void **state)
{
	static const char good[] = TRACE_HEAD BEGINS "\n\n" BEGINS;	/* its last has no end */
	static const char nul[] = TRACE_HEAD BEGINS "\n" BEGINS "\0 rtt_us=1\n";
	static const char bad[] = TRACE_HEAD "\n" BEGINS " x=1\n";
	static const char many[] = BEGINS "\n" BEGINS "\n" BEGINS "\n" BEGINS "\n";
	struct err e = { "" };
	int n;

	(void)state;
	assert_int_equal(read_text(good, sizeof(good) - 1, &n, &e), 0);
	assert_int_equal(n, 2);
	assert_int_equal(read_text(nul, sizeof(nul) - 1, &n, &e), -EBADMSG);
	assert_string_equal(e.text, "line 3: a line with a NUL");
	assert_int_equal(n, 1);
	assert_int_equal(read_text(bad, sizeof(bad) - 1, &n, &e), -EBADMSG);
	assert_string_equal(e.text, "line 3: \"x=1\": no such key");
	assert_int_equal(read_text(many, sizeof(many) - 1, &n, &e), -EFBIG);
	assert_string_equal(e.text, "three are enough");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_every_field),
		cmocka_unit_test(test_others), cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_bad), cmocka_unit_test(test_long),
		cmocka_unit_test(test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
