// SPDX-License-Identifier: GPL-2.0
/*
 * Searches in the history: what is put is there, in place of what it was; how many there may be,
 * when they are forgotten, a file of before there were any, and a disk that is full.
 */
#include "ctcpd_history.h"
#include "ctcpd_said.h"
#include "faulty_vfs.h"

#include "ctcpd/history_search.h"
#include "ctcpd/keep.h"

static struct search_row row_number(uint32_t n)
{
	struct search_row r = { .to = { AF_INET, 32, { 198, 51, (uint8_t)(n >> 8), (uint8_t)n } },
				.dev = "eth0", .since = NOW - 7, .reason = SEARCH_PROVED };

	r.search.state = SEARCH_KEPT;
	r.search.rate = 1000000 + n;
	r.search.low = r.search.rate;
	r.search.seen = NOW - 3;
	r.search.base.segs = 4711;
	return r;
}

static int put_at(struct history *h, const struct search_row *r, int64_t now)
{
	struct err e = { "" };
	int rc = history_put_searches(h, r, 1, now, &e);

	if (rc)
		print_error("%s\n", e.text);
	return rc;
}

static void put(struct history *h, uint32_t n)
{
	const struct search_row r = row_number(n);

	assert_int_equal(put_at(h, &r, NOW), 0);
}

struct found {
	struct search_row row[8];
	uint32_t n;
};

static int find_one(const struct search_row *r, void *data)
{
	struct found *f = data;

	if (f->n < ARRAY_SIZE(f->row))
		f->row[f->n] = *r;
	f->n++;
	return 0;
}

static struct found found(struct history *h)
{
	struct found f = { .n = 0 };
	struct err e = { "" };

	assert_int_equal(history_searches(h, find_one, &f, &e), 0);
	return f;
}

static void assert_row(const struct search_row *is, const struct search_row *right)
{
	assert_true(prefix_equal(&is->to, &right->to));
	assert_string_equal(is->dev, right->dev);
	assert_int_equal(is->since, right->since);
	assert_int_equal(is->reason, right->reason);
	assert_string_equal(is->stood_down, right->stood_down);
	assert_memory_equal(&is->search, &right->search, sizeof(is->search));
}

/* By prefix, its bits and the device, also over a close */
static void put_and_found(void **state)
{
	const struct place *p = *state;
	struct search_row rows[4], again;
	struct history *h = open_place(p, NOW);
	struct found f;
	struct err e;
	uint32_t i;

	for (i = 0; i < 4; i++)
		rows[i] = row_number(0);
	prefix_cut(&rows[1].to, 24);
	strcpy(rows[2].dev, "eth1");
	rows[3].to = (struct prefix){ AF_INET6, 64, { 0x20, 1, 0xd, 0xb8 } };
	rows[3].search = (struct search){ .state = SEARCH_TAKEN_BACK, .seen = NOW };
	rows[3].search.again = NOW + DAY;
	strcpy(rows[3].stood_down, "class eth0 c7c0:1 is \"5mbit\"");
	assert_int_equal(history_put_searches(h, rows, 4, NOW, &e), 0);
	history_close(h);
	h = open_place(p, NOW);
	f = found(h);
	assert_int_equal(f.n, 4);
	for (i = 0; i < 4; i++)
		assert_row(&f.row[i], &rows[3 - i]);
	again = rows[0];
	again.search.rate = 4711000;
	again.reason = SEARCH_TRY_LESS;
	assert_int_equal(put_at(h, &again, NOW + 1), 0);
	f = found(h);
	assert_int_equal(f.n, 4);
	assert_row(&f.row[0], &again);
	assert_int_equal(history_delete_search(h, &rows[0].to, "eth0", &e), 0);
	f = found(h);
	assert_int_equal(f.n, 3);
	assert_row(&f.row[0], &rows[3]);
	history_close(h);
}

static void too_many_at_once(void **state)
{
	struct history *h = open_place(*state, NOW);
	struct search_row rows[SEARCH_ROWS + 1];
	struct err e = { "" };
	uint32_t i;

	for (i = 0; i <= SEARCH_ROWS; i++)
		rows[i] = row_number(i);
	assert_int_equal(history_put_searches(h, rows, SEARCH_ROWS + 1, NOW, &e), -E2BIG);
	assert_int_equal(found(h).n, 0);
	assert_int_equal(history_put_searches(h, rows, SEARCH_ROWS, NOW, &e), 0);
	assert_int_equal(found(h).n, SEARCH_ROWS);
	history_close(h);
}

static uint32_t forget(struct history *h, const char *prefix)
{
	struct err e = { "" };
	struct prefix p;
	uint32_t n;

	assert_int_equal(parse_prefix(prefix, &p, &e), 0);
	assert_int_equal(history_forget_searches(h, &p, &n, &e), 0);
	return n;
}

static void forgotten_by_prefix(void **state)
{
	struct history *h = open_place(*state, NOW);
	struct search_row subnet = row_number(5), six = row_number(0);
	uint32_t i;

	for (i = 0; i < 300; i++)
		put(h, i);
	prefix_cut(&subnet.to, 24);
	assert_int_equal(put_at(h, &subnet, NOW), 0);
	/* its first four bytes are as those of the others */
	six.to = (struct prefix){ AF_INET6, 128, { 198, 51, 0, 5 } };
	assert_int_equal(put_at(h, &six, NOW), 0);
	assert_int_equal(forget(h, "198.51.0.5/32"), 1);
	/* a part of the subnet is not the subnet */
	assert_int_equal(forget(h, "198.51.0.0/25"), 127);
	assert_int_equal(forget(h, "198.51.0.0/24"), 129);
	assert_int_equal(forget(h, "0.0.0.0/0"), 44);
	assert_int_equal(found(h).n, 1);
	assert_int_equal(forget(h, "::/0"), 1);
	history_close(h);
}

/* A quarter of the bytes: the oldest go, and visits go before any is refused */
static void bounded(void **state)
{
	const struct history_limits limits = { 1 << 20, 200000, 14 * DAY };
	struct place *p = *state;
	struct history *h = open_limited(p, &limits, NOW);
	struct found f;
	uint32_t i;

	for (i = 0; i < 8000; i++)
		add(h, i);
	for (i = 0; i < 1000; i++)
		put(h, i);
	f = found(h);
	assert_int_equal(f.n, 128);
	assert_int_equal(f.row[0].search.rate, 1000999);
	assert_in_range(size_of(p, ""), 1, 1 << 20);
	assert_in_range(count(h), 1000, 7999);
	add(h, 9000);
	history_close(h);
}

static void forgotten_with_time(void **state)
{
	struct history *h = open_place(*state, NOW);
	struct search_row r = row_number(1);

	put(h, 0);
	assert_int_equal(put_at(h, &r, NOW + DAY), 0);
	tidy(h, NOW + 14 * DAY - 1);
	assert_int_equal(found(h).n, 2);
	tidy(h, NOW + 14 * DAY);
	assert_int_equal(found(h).n, 1);
	tidy(h, NOW + 15 * DAY);
	assert_int_equal(found(h).n, 0);
	history_close(h);
}

/* 1970 until the right time is heard of; and 2040, until the clock has been right for two weeks */
static void clock_is_wrong(void **state)
{
	struct history *h = open_place(*state, NOW);
	struct search_row r = row_number(1);

	put(h, 0);
	assert_int_equal(put_at(h, &r, 100), 0);
	tidy(h, 200);
	tidy(h, NOW + DAY);
	assert_int_equal(found(h).n, 2);
	assert_int_equal(put_at(h, &r, NOW + 5000 * DAY), 0);
	assert_int_equal(found(h).n, 2);
	tidy(h, NOW + DAY);
	tidy(h, NOW + 13 * DAY);
	assert_int_equal(found(h).n, 2);
	tidy(h, NOW + 15 * DAY);
	tidy(h, NOW + 15 * DAY + 1);
	assert_int_equal(found(h).n, 0);
	history_close(h);
}

/* As a release before wrote it */
static void version_1_is_migrated(void **state)
{
	const struct place *p = *state;
	struct history *h = open_place(p, NOW);
	uint32_t i;

	for (i = 0; i < 10; i++)
		add(h, i);
	history_close(h);
	run_sql(p->file, "DROP TABLE search; PRAGMA user_version = 1");
	h = open_place(p, NOW);
	assert_int_equal(count(h), 10);
	put(h, 1);
	history_close(h);
	h = open_place(p, NOW);
	assert_int_equal(count(h), 10);
	assert_int_equal(found(h).n, 1);
	history_close(h);
	assert_false(there_is(p, ".damaged"));
}

/* A later version's state, and what a person did */
static void one_that_is_none_is_left_out(void **state)
{
	const struct place *p = *state;
	struct history *h = open_place(p, NOW);
	struct found f;
	uint32_t i;

	for (i = 0; i < 5; i++)
		put(h, i);
	history_close(h);
	run_sql(p->file, "UPDATE search SET search = 'dancing rate=7' WHERE id = 1;"
		"UPDATE search SET bits = 33 WHERE id = 2; UPDATE search SET remote = x'01' WHERE id = 3;"
		"UPDATE search SET reason = 'because' WHERE id = 4");
	h = open_place(p, NOW);
	f = found(h);
	assert_int_equal(f.n, 2);
	assert_int_equal(f.row[0].reason, SEARCH_PROVED);
	assert_int_equal(f.row[1].reason, SEARCH_NO_REASON);
	history_close(h);
}

/* A length that ctcpd never writes, of a remote or of a subnet, is no row of its */
static void other_lengths_are_left_out(void **state)
{
	static const char * const bits[] = {
		"-1", "0", "1", "23", "25", "31", "33", "64", "128", "4294967296", "4294967328",
		"'many'", "x'18'", "1e300",
	};
	const struct place *p = *state;
	struct search_row six = row_number(0);
	char sql[80];
	size_t i;

	six.to = (struct prefix){ AF_INET6, 128, { 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 1 } };
	for (i = 0; i < ARRAY_SIZE(bits); i++) {
		struct history *h = open_place(p, NOW);
		struct found f;

		put(h, 1);
		assert_int_equal(put_at(h, &six, NOW), 0);
		history_close(h);
		snprintf(sql, sizeof(sql), "PRAGMA ignore_check_constraints = 1; "
			 "UPDATE OR IGNORE search SET bits = %s", bits[i]);
		run_sql(p->file, sql);
		h = open_place(p, NOW);
		f = found(h);
		/* what is right for one of them is so for that one */
		assert_int_equal(f.n, !strcmp(bits[i], "64") || !strcmp(bits[i], "128"));
		history_close(h);
		run_sql(p->file, "DELETE FROM search");
	}
}

static void names_of_reasons(void **state)
{
	int r, other;

	(void)state;
	for (r = 0; r < SEARCH_REASONS; r++) {
		const char *name = search_reason_name((enum search_reason)r);

		assert_int_equal(search_reason_of_name(name), r);
		for (other = 0; other < r; other++)
			assert_string_not_equal(name,
						search_reason_name((enum search_reason)other));
	}
}

/* Said once, over all polls; and what waited is there when there is room again */
static void full_disk(void **state)
{
	struct place *p = *state;
	struct search_row r = row_number(3);
	struct config c;
	struct said s;
	struct keep k;
	struct log l;
	int i;

	faulty_vfs_use();
	config_defaults(&c);
	strcpy(c.history, p->file);
	log_open(&l, false);
	said_begin(&s);
	keep_open(&k, &c, &l, NOW);
	assert_int_equal(keep_put_searches(&k, &r, 1, NOW), 0);
	fault = (struct fault){ .at = 1, .last = 1000000, .code = SQLITE_FULL };
	for (i = 0; i < 5; i++) {
		assert_int_equal(keep_put_searches(&k, &r, 1, NOW), -ENOSPC);
		assert_int_equal(keep_delete_search(&k, &r.to, r.dev, NOW), -ENOSPC);
		keep_flush(&k, NOW);
		assert_false(keep_ok(&k));
	}
	assert_int_equal(said_times(&s, "the history is not written"), 1);
	assert_int_equal(said_times(&s, "\n"), 1);
	fault.at = 0;
	assert_int_equal(keep_put_searches(&k, &r, 1, NOW), 0);
	keep_flush(&k, NOW);
	assert_true(keep_ok(&k));
	assert_int_equal(found(k.history).n, 1);
	keep_close(&k, NOW);
	said_end(&s);
	said_close(&s);
	log_close(&l);
	faulty_vfs_end();
}

/* Damaged, or removed under the daemon: whoever has the searches writes all of them again */
static void begun_anew_is_told(void **state)
{
	struct place *p = *state;
	struct search_row r = row_number(3);
	struct config c;
	struct said s;
	struct keep k;
	struct log l;
	uint32_t before;

	config_defaults(&c);
	strcpy(c.history, p->file);
	log_open(&l, false);
	said_begin(&s);
	keep_open(&k, &c, &l, NOW);
	assert_int_equal(k.anew, 1);
	assert_int_equal(keep_put_searches(&k, &r, 1, NOW), 0);
	before = k.anew;
	assert_int_equal(before, 1);
	assert_int_equal(unlink(p->file), 0);
	keep_flush(&k, NOW);
	assert_int_not_equal(k.anew, before);
	assert_int_equal(found(k.history).n, 0);
	keep_close(&k, NOW);
	/* where none is kept there is nothing to wait for */
	c.history[0] = 0;
	keep_open(&k, &c, &l, NOW);
	assert_int_equal(keep_put_searches(&k, &r, 1, NOW), 0);
	assert_int_equal(keep_delete_search(&k, &r.to, r.dev, NOW), 0);
	keep_close(&k, NOW);
	said_end(&s);
	said_close(&s);
	log_close(&l);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_place, remove_place)
	const struct CMUnitTest tests[] = {
		TEST(put_and_found),
		TEST(too_many_at_once),
		TEST(forgotten_by_prefix),
		TEST(bounded),
		TEST(forgotten_with_time),
		TEST(clock_is_wrong),
		TEST(version_1_is_migrated),
		TEST(one_that_is_none_is_left_out),
		TEST(other_lengths_are_left_out),
		TEST(full_disk),
		TEST(begun_anew_is_told),
		cmocka_unit_test(names_of_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
