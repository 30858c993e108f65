// SPDX-License-Identifier: GPL-2.0
/*
 * The parsers: tables of { rc, text, value or a part of the sentence }.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "circuit.h"
#include "err.h"
#include "map.h"
#include "out.h"
#include "text.h"
#include "units.h"

struct row {
	int rc;
	const char *text;
	uint64_t value;
	const char *says;
};

static void check_row(const struct row *r, int rc, uint64_t value, const struct err *e)
{
	if (rc != r->rc)
		print_error("\"%s\": rc %d, not %d (%s)\n", r->text, rc, r->rc, e->text);
	assert_int_equal(rc, r->rc);
	if (!rc) {
		assert_int_equal(value, r->value);
		return;
	}
	if (!strstr(e->text, r->says) || !strstr(e->text, r->text))
		print_error("\"%s\": says: %s\n", r->text, e->text);
	assert_non_null(strstr(e->text, r->says));
	assert_non_null(strstr(e->text, r->text));
}

static void test_rate(void **state)
{
	static const struct row rows[] = {
		{ 0, "8kbit", 1000, NULL },
		{ 0, "8000bit", 1000, NULL },
		{ 0, "1mbit", 125000, NULL },
		{ 0, "4gbit", 500000000, NULL },
		{ 0, "4Gbit", 500000000, NULL },
		{ 0, "4GBIT", 500000000, NULL },
		{ 0, "2.5gbit", 312500000, NULL },
		{ 0, "622.08mbit", 77760000, NULL },
		{ 0, "0.1gbit", 12500000, NULL },
		{ 0, "1tbit", 125000000000, NULL },
		{ 0, "0004gbit", 500000000, NULL },
		{ 0, "1.50000000000gbit", 187500000, NULL },
		{ 0, "1gibit", 134217728, NULL },	/* 2^30 / 8 */
		{ 0, "8kibit", 1024, NULL },
		{ 0, "1.5mibit", 196608, NULL },	/* 1.5 x 2^20 / 8 */
		{ 0, "9001bit", 1125, NULL },		/* 1125.125, as tc rounds */
		{ -EINVAL, "4", 0, "4mbit or 4gbit?" },
		{ -EINVAL, "4mbps", 0, "megabytes per second to tc; did you mean 4mbit?" },
		{ -EINVAL, "4Gbps", 0, "did you mean 4Gbit?" },
		{ -EINVAL, "2.5kibps", 0, "did you mean 2.5kibit?" },
		{ -EINVAL, "100bps", 0, "bytes per second to tc; did you mean 100bit?" },
		{ -EINVAL, "4xbps", 0, "unknown unit" },
		{ -EINVAL, "4gb", 0, "unknown unit \"gb\"" },
		{ -EINVAL, "4gbit ", 0, "unknown unit \"gbit \"" },
		{ -EINVAL, "4 gbit", 0, "unknown unit \" gbit\"" },
		{ -EINVAL, " 4gbit", 0, "not a rate" },
		{ -EINVAL, "4gbitx", 0, "unknown unit" },
		{ -EINVAL, "4.gbit", 0, "unknown unit" },
		{ -EINVAL, "4.5.6gbit", 0, "unknown unit \".6gbit\"" },
		{ -EINVAL, ".5gbit", 0, "not a rate" },
		{ -EINVAL, "4,5gbit", 0, "unknown unit" },
		{ -EINVAL, "4e9bit", 0, "unknown unit" },
		{ -EINVAL, "0x10gbit", 0, "unknown unit" },
		{ -EINVAL, "-4gbit", 0, "not a rate" },
		{ -EINVAL, "+4gbit", 0, "not a rate" },
		{ -EINVAL, "nan", 0, "not a rate" },
		{ -EINVAL, "inf", 0, "not a rate" },
		{ -EINVAL, "", 0, "not a rate" },
		{ -EINVAL, "gbit", 0, "not a rate" },
		{ -EINVAL, "50%", 0, "unknown unit" },
		{ -EINVAL, "8000.5bit", 0, "whole number of bit/s" },
		{ -ERANGE, "0gbit", 0, "from 8kbit to 1tbit" },
		{ -ERANGE, "1bit", 0, "from 8kbit to 1tbit" },
		{ -ERANGE, "7999bit", 0, "from 8kbit to 1tbit" },
		{ -ERANGE, "1.001tbit", 0, "from 8kbit to 1tbit" },
		{ -ERANGE, "18446744073709551616bit", 0, "from 8kbit to 1tbit" },
		{ -ERANGE, "18446744073709551615tbit", 0, "from 8kbit to 1tbit" },
		/* 8000 and 10^12 beyond a multiple of 2^64 */
		{ -ERANGE, "18446744073709559616bit", 0, "from 8kbit to 1tbit" },
		{ -ERANGE, "4503599627370497tbit", 0, "from 8kbit to 1tbit" },
		{ -ERANGE, "1.0000000000000000001gbit", 0, "out of range" },
	};
	struct err e = { "" };
	uint64_t v = 0;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int rc = parse_rate(rows[i].text, &v, &e);

		check_row(&rows[i], rc, v, &e);
	}
}

static void test_time(void **state)
{
	static const struct row rows[] = {
		{ 0, "1us", 1, NULL },
		{ 0, "26ms", 26000, NULL },
		{ 0, "0.5ms", 500, NULL },
		{ 0, "1.5s", 1500000, NULL },
		{ 0, "10s", 10000000, NULL },
		{ 0, "500usecs", 500, NULL },
		{ -EINVAL, "26", 0, "has no unit; 26ms or 26us?" },
		{ -EINVAL, "26 ms", 0, "unknown unit" },
		{ -EINVAL, "26m", 0, "one of us, ms, s" },
		{ -EINVAL, "-1ms", 0, "not a time" },
		{ -EINVAL, "0.5us", 0, "whole number of microseconds" },
		{ -EINVAL, "nan", 0, "not a time" },
		{ -ERANGE, "0ms", 0, "from 1us to 10s" },
		{ -ERANGE, "10.000001s", 0, "from 1us to 10s" },
		{ -ERANGE, "99999999999999999999s", 0, "from 1us to 10s" },
	};
	struct err e = { "" };
	uint64_t v = 0;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int rc = parse_time(rows[i].text, &v, &e);

		check_row(&rows[i], rc, v, &e);
	}
}

static void test_wait(void **state)
{
	static const struct row rows[] = {
		{ 0, "1s", 1000000, NULL },
		{ 0, "1000ms", 1000000, NULL },
		{ 0, "60s", 60000000, NULL },
		{ 0, "1.5min", 90000000, NULL },
		{ 0, "24h", 86400000000, NULL },
		{ 0, "1d", 86400000000, NULL },
		{ -EINVAL, "60", 0, "--confirm-within: \"60\" has no unit; 60s or 60min?" },
		{ -ERANGE, "0", 0, "--confirm-within: \"0\" is out of range; from 1s to " },
		{ -EINVAL, "1m", 0, "one of us, ms, s, min, h, d" },
		{ -EINVAL, "soon", 0, "not a time; write one from 1s to " },
		{ -EINVAL, "1.0000001s", 0, "whole number of microseconds" },
		{ -ERANGE, "999ms", 0, "from 1s to 1d" },
		{ -ERANGE, "0s", 0, "from 1s to 1d" },
		{ -ERANGE, "24.001h", 0, "from 1s to 1d" },
		{ -ERANGE, "99999999999999999999d", 0, "from 1s to 1d" },
	};
	struct err e = { "" };
	uint64_t v = 0;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int rc = parse_wait("--confirm-within", rows[i].text, &v, &e);

		check_row(&rows[i], rc, v, &e);
	}
}

static void test_size(void **state)
{
	static const struct row rows[] = {
		{ 0, "100000", 100000, NULL },
		{ 0, "100000b", 100000, NULL },
		{ 0, "1k", 1024, NULL },
		{ 0, "1kb", 1024, NULL },
		{ 0, "1.5mb", 1572864, NULL },
		{ 0, "3g", 3221225472, NULL },
		{ 0, "4294967295b", 4294967295, NULL },
		{ -EINVAL, "1kbit", 0, "unknown unit" },
		{ -EINVAL, "1 kb", 0, "unknown unit" },
		{ -EINVAL, "x", 0, "not a size" },
		{ -EINVAL, "0.3b", 0, "whole number of bytes" },
		{ -ERANGE, "0", 0, "out of range" },
		{ -ERANGE, "4gb", 0, "4294967295b" },
		{ -ERANGE, "99999999999999999999gb", 0, "out of range" },
	};
	struct err e = { "" };
	uint64_t v = 0;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int rc = parse_size("--burst", rows[i].text, &v, &e);

		check_row(&rows[i], rc, v, &e);
	}
}

static void test_multiple(void **state)
{
	static const struct row rows[] = {
		{ 0, "1.3", 1300, NULL },
		{ 0, "0.01", 10, NULL },
		{ 0, "10", 10000, NULL },
		{ 0, "1.005", 1005, NULL },
		{ 0, "1.3000", 1300, NULL },
		{ -EINVAL, "1.0005", 0, "finer than a thousandth" },
		{ -EINVAL, "1.3x", 0, "not a number" },
		{ -EINVAL, "1,3", 0, "not a number" },
		{ -EINVAL, "-1", 0, "not a number" },
		{ -EINVAL, "", 0, "not a number" },
		{ -ERANGE, "0", 0, "from 0.01 to 10" },
		{ -ERANGE, "0.009", 0, "from 0.01 to 10" },
		{ -ERANGE, "10.001", 0, "from 0.01 to 10" },
	};
	struct err e = { "" };
	uint32_t v = 0;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int rc = parse_multiple(rows[i].text, &v, &e);

		check_row(&rows[i], rc, v, &e);
	}
}

/* In parts per billion */
static void test_loss(void **state)
{
	static const struct row rows[] = {
		{ 0, "1%", 10000000, NULL },
		{ 0, "0.5%", 5000000, NULL },
		{ 0, "1e-4", 100000, NULL },
		{ 0, "0.0001", 100000, NULL },
		{ 0, "1E-04", 100000, NULL },
		{ 0, "0.01e1%", 1000000, NULL },
		{ 0, "2.5e+1%", 250000000, NULL },
		{ 0, "4.5e-5", 45000, NULL },
		{ 0, "0", 0, NULL },
		{ 0, "0%", 0, NULL },
		{ 0, "0e999", 0, NULL },
		{ 0, "49.9999999%", 499999999, NULL },
		{ 0, "0.499999999", 499999999, NULL },
		{ 0, "0.0000000001", 1, NULL },		/* rounded up, not away */
		{ 0, "1.0000000001e-3", 1000001, NULL },
		{ 0, "1e-9999999999", 1, NULL },
		{ -ERANGE, "50%", 0, "less than 50%" },
		{ -ERANGE, "49.99999999%", 0, "less than 50%" },
		{ -ERANGE, "0.5", 0, "less than 50%" },
		{ -ERANGE, "1", 0, "e.g. 1% or 0.01" },
		{ -ERANGE, "1e99", 0, "less than 50%" },
		{ -ERANGE, "1e9999999999", 0, "less than 50%" },
		{ -ERANGE, "99999999999999999999%", 0, "less than 50%" },
		{ -ERANGE, "0.0000000000000000001", 0, "less than 50%" },	/* 19 places */
		{ -EINVAL, "-1%", 0, "write e.g. 0.1% or 1e-3" },
		{ -EINVAL, "+1%", 0, "write e.g. 0.1% or 1e-3" },
		{ -EINVAL, "", 0, "not a part of the packets" },
		{ -EINVAL, "%", 0, "not a part of the packets" },
		{ -EINVAL, "1%%", 0, "not a part of the packets" },
		{ -EINVAL, "1 %", 0, "not a part of the packets" },
		{ -EINVAL, "1e", 0, "not a part of the packets" },
		{ -EINVAL, "1e-", 0, "not a part of the packets" },
		{ -EINVAL, "1e-4x", 0, "not a part of the packets" },
		{ -EINVAL, "1e-4.5", 0, "not a part of the packets" },
		{ -EINVAL, "1/22000", 0, "not a part of the packets" },
		{ -EINVAL, "0,1%", 0, "not a part of the packets" },
		{ -EINVAL, "nan", 0, "not a part of the packets" },
		{ -EINVAL, "0x1p-8", 0, "not a part of the packets" },
	};
	struct err e = { "" };
	uint32_t v = 0;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int rc = parse_loss(rows[i].text, &v, &e);

		check_row(&rows[i], rc, v, &e);
	}
}

static void test_prefix(void **state)
{
	static const struct {
		int rc;
		const char *text, *is;
	} rows[] = {
		{ 0, "192.0.2.0/24", "192.0.2.0/24" },
		{ 0, "192.0.2.1", "192.0.2.1/32" },
		{ 0, "0.0.0.0/0", "0.0.0.0/0" },
		{ 0, "2001:db8::/32", "2001:db8::/32" },
		{ 0, "2001:DB8:0::1", "2001:db8::1/128" },
		{ -EINVAL, "192.0.2.1/24", "did you mean 192.0.2.0/24?" },
		{ -EINVAL, "2001:db8::1/64", "did you mean 2001:db8::/64?" },
		{ -EINVAL, "192.0.2.0/33", "not a prefix" },
		{ -EINVAL, "192.0.2/24", "not a prefix" },
		{ -EINVAL, "192.0.2.0/", "not a prefix" },
		{ -EINVAL, "192.0.2.0/24x", "not a prefix" },
		{ -EINVAL, "192.0.2.0/-1", "not a prefix" },
		{ -EINVAL, "default", "not a prefix" },
		{ -EINVAL, "", "not a prefix" },
		{ -EINVAL, "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa/64", "not a prefix" },
	};
	struct prefix p;
	char text[64];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = { "" };

		assert_int_equal(parse_prefix(rows[i].text, &p, &e), rows[i].rc);
		if (rows[i].rc)
			assert_non_null(strstr(e.text, rows[i].is));
		else
			assert_string_equal(format_prefix(text, sizeof(text), &p), rows[i].is);
	}
}

static void test_dev(void **state)
{
	static const char * const bad[] = {
		"", ".", "..", "a/b", "a b", "a\tb", "a:b", "sixteencharacter",
		"a\033b", "a\177b", "a\377b", "a\302\233b",
	};
	char dev[IFNAMSIZ];
	struct err e;
	size_t i;

	(void)state;
	assert_int_equal(parse_dev("fifteen-letters", dev, &e), 0);
	assert_string_equal(dev, "fifteen-letters");
	assert_int_equal(parse_dev("gr\303\266\303\237e0", dev, &e), 0);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(parse_dev(bad[i], dev, &e), -EINVAL);
}

static void test_clean(void **state)
{
	static const struct {
		const char *from, *to;
	} rows[] = {
		{ "", "" },
		{ "eth1", "eth1" },
		{ "\303\266", "\303\266" },
		{ "a\033[2Jb\n", "a?[2Jb?" },
		{ "a\177", "a?" },
		{ "a\302\233b", "a??b" },		/* C1 control, UTF-8 */
		{ "\303\266\377", "???" },		/* not UTF-8: no byte of it */
		{ "a\302", "a?" },			/* cut short */
		{ "\355\240\200", "???" },		/* a surrogate */
	};
	char text[32];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		strcpy(text, rows[i].from);
		text_clean(text);
		assert_string_equal(text, rows[i].to);
		assert_int_equal(text_is_plain(rows[i].from), !strcmp(rows[i].from, rows[i].to));
		assert_true(text_is_plain(text));
	}
}

/* What is printed is what would be typed. */
static void test_format(void **state)
{
	static const struct {
		uint64_t rate;
		const char *text;
	} rows[] = {
		{ 500000000, "4gbit" }, { 312500000, "2.5gbit" }, { 77760000, "622.08mbit" },
		{ 1125, "9kbit" }, { 1126, "9.008kbit" }, { 125000000000, "1tbit" },
		{ 123456789, "987654.312kbit" }, { 1000, "8kbit" },
	};
	char text[64];
	struct err e;
	uint64_t v;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_string_equal(format_rate(text, sizeof(text), rows[i].rate), rows[i].text);
		assert_int_equal(parse_rate(text, &v, &e), 0);
		assert_int_equal(v, rows[i].rate);
	}
	assert_string_equal(format_time(text, sizeof(text), 26000), "26ms");
	assert_string_equal(format_time(text, sizeof(text), 1234), "1.234ms");
	assert_string_equal(format_time(text, sizeof(text), 7), "7us");
	assert_string_equal(format_loss(text, sizeof(text), 10000000), "1%");
	assert_string_equal(format_loss(text, sizeof(text), 45455), "0.0045455%");
	assert_string_equal(format_loss(text, sizeof(text), 255000000), "25.5%");
	assert_string_equal(format_loss(text, sizeof(text), 1), "0.0000001%");
	assert_string_equal(format_loss(text, sizeof(text), 0), "0%");
}

/* As snprintf() has it: what had no room is counted, and a NUL is always there. */
static void test_out(void **state)
{
	char buf[8];
	struct out fixed = out_to(buf, sizeof(buf)), grown = { .grows = true };
	int i;

	(void)state;
	assert_string_equal(buf, "");
	out_text(&fixed, "rate ");
	out_number(&fixed, 0);
	assert_true(out_fits(&fixed));
	out_number(&fixed, UINT64_MAX);
	assert_string_equal(buf, "rate 01");
	assert_false(out_fits(&fixed));
	assert_int_equal(fixed.used, 26);
	out_hex(&fixed, 0xc7c0);
	assert_string_equal(buf, "rate 01");
	out_text(&grown, "");
	assert_string_equal(grown.text, "");
	for (i = 0; i < 3000; i++)
		out_word(&grown, i % 2 ? "a \"b\\" : "#");
	assert_false(grown.failed);
	assert_int_equal(grown.used, 1500 * (4 + 10));
	assert_int_equal(strlen(grown.text), grown.used);
	assert_memory_equal(grown.text, " \"#\" \"a \\\"b\\\\\" \"#\"", 17);
	free(grown.text);
}

/* More names than the table begins with, each with its last value */
static void test_map(void **state)
{
	static char names[1000][8];
	struct map m = { 0 };
	int i;

	(void)state;
	assert_null(map_get(&m, "c0"));
	for (i = 0; i < 2000; i++) {
		snprintf(names[i % 1000], sizeof(names[0]), "c%d", i % 1000);
		assert_int_equal(map_set(&m, names[i % 1000],
					 i < 1000 ? (void *)names : names[i % 1000]), 0);
	}
	assert_int_equal(m.n, 1000);
	for (i = 0; i < 1000; i++)
		assert_ptr_equal(map_get(&m, names[i]), names[i]);
	assert_null(map_get(&m, "c1000"));
	map_free(&m);
	assert_null(map_get(&m, "c0"));
}

/* Each once; those past the last slot are counted. */
static void test_notes(void **state)
{
	static struct notes notes, all;
	int i;

	(void)state;
	for (i = 0; i < 2 * NOTES_MAX; i++)
		note(&notes, "eth%d", i / 2);
	assert_int_equal(notes.n, NOTES_MAX);
	assert_int_equal(notes.more, 0);
	assert_string_equal(notes.text[NOTES_MAX - 1], "eth23");
	note(&notes, "eth%d", 7);
	assert_int_equal(notes.more, 0);
	note(&notes, "one more");
	note(&notes, "and another");
	assert_int_equal(notes.more, 2);
	notes_add(&all, &notes);
	notes_add(&all, &notes);
	assert_int_equal(all.n, NOTES_MAX);
	note(NULL, "to nobody");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_multiple),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_prefix),
		cmocka_unit_test(test_dev),
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_out),
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
