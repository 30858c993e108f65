// SPDX-License-Identifier: GPL-2.0
/*
 * Visits on their way into the history: which are written, how many wait, and what the log says
 * of those that are lost and of a history that goes from under the daemon.
 */
#include "ctcpd_history.h"
#include "ctcpd_said.h"

#include "ctcpd/keep.h"

struct kept {
	struct keep keep;
	struct config config;
	struct log log;
	struct said said;	/* what has been logged so far */
};

static void begin(struct kept *k, const char *file)
{
	memset(k, 0, sizeof(*k));
	config_defaults(&k->config);
	snprintf(k->config.history, sizeof(k->config.history), "%s", file);
	log_open(&k->log, false);
	said_begin(&k->said);
	keep_open(&k->keep, &k->config, &k->log, NOW);
}

static uint32_t logged(struct kept *k, const char *what)
{
	return said_times(&k->said, what);
}

static void close_keep(struct kept *k)
{
	keep_close(&k->keep, NOW);
	said_end(&k->said);
	log_close(&k->log);
}

static void end(struct kept *k)
{
	close_keep(k);
	said_close(&k->said);
}

static void visit(struct kept *k, uint32_t n, enum reason reason)
{
	struct visit v = visit_number(n, NOW);

	v.judgement.reason = reason;
	keep_visit(&k->keep, &v, NOW);
}

static uint32_t rows(const struct place *p)
{
	struct history *h = open_place(p, NOW);
	uint32_t n = count(h);

	history_close(h);
	return n;
}

/* As all visits of a busy server end when the daemon does */
static void more_at_once_than_may_wait(void **state)
{
	const struct place *p = *state;
	struct kept k;
	uint32_t i;

	begin(&k, p->file);
	for (i = 0; i < KEEP_MAX + 100; i++)
		visit(&k, i, REASON_BRIEF);
	assert_int_equal(k.keep.lost, 0);
	keep_flush(&k.keep, NOW);
	assert_int_equal(k.keep.n, 0);
	end(&k);
	assert_int_equal(rows(p), KEEP_MAX + 100);
}

/* A loss is said once while it lasts, and at the end how many they were */
static void lost_ones_are_told(void **state)
{
	const struct place *p = *state;
	char file[128];
	struct kept k;
	uint32_t i;

	snprintf(file, sizeof(file), "%s/no/such/folder.db", p->dir);
	begin(&k, file);
	assert_int_equal(logged(&k, "the history is not written"), 1);
	for (i = 0; i < KEEP_MAX; i++)
		visit(&k, i, REASON_BRIEF);
	keep_flush(&k.keep, NOW);
	assert_int_equal(logged(&k, "lost"), 0);
	for (i = 0; i < 3; i++) {
		visit(&k, i, REASON_BRIEF);
		keep_flush(&k.keep, NOW);
	}
	assert_int_equal(k.keep.lost, 3);
	assert_int_equal(logged(&k, "the oldest are lost"), 1);
	close_keep(&k);
	assert_int_equal(logged(&k, "4099 visits are lost"), 1);
	said_close(&k.said);
}

static void lost_ones_of_one_poll_are_told(void **state)
{
	const struct place *p = *state;
	struct kept k;

	begin(&k, p->file);
	k.keep.lost = 7;	/* and it could be written again before the poll ended */
	keep_flush(&k.keep, NOW);
	keep_flush(&k.keep, NOW);
	assert_int_equal(logged(&k, "7 visits were lost"), 1);
	end(&k);
	assert_int_equal(rows(p), 0);
}

/* A client that fetches a byte from each address of its /64 */
static void what_says_nothing_is_not_written(void **state)
{
	const struct place *p = *state;
	struct kept k;
	int r;

	begin(&k, p->file);
	for (r = 0; r < REASONS; r++)
		visit(&k, (uint32_t)r, (enum reason)r);
	end(&k);
	assert_int_equal(rows(p), REASONS - 2);
}

static void removed_under_the_daemon(void **state)
{
	const struct place *p = *state;
	struct kept k;
	int i;

	begin(&k, p->file);
	visit(&k, 1, REASON_BRIEF);
	keep_flush(&k.keep, NOW);
	assert_int_equal(unlink(p->file), 0);
	for (i = 0; i < 3; i++)
		keep_flush(&k.keep, NOW);
	assert_int_equal(logged(&k, "begun anew"), 1);
	assert_int_equal(logged(&k, "removed or replaced"), 1);
	assert_true(keep_ok(&k.keep));
	end(&k);
}

static void folder_moves(const struct place *p, const char *from, const char *to)
{
	char line[160];

	snprintf(line, sizeof(line), "mv %s%s %s%s", p->dir, from, p->dir, to);
	assert_int_equal(system(line), 0);
}

/* Where it cannot be begun anew, without a visit that would find out; and where it can again */
static void folder_removed_under_the_daemon(void **state)
{
	const struct place *p = *state;
	struct kept k;

	begin(&k, p->file);
	folder_moves(p, "", ".away");
	keep_flush(&k.keep, NOW);
	keep_flush(&k.keep, NOW);
	assert_false(keep_ok(&k.keep));
	assert_int_equal(logged(&k, "the history is not written: "), 1);
	folder_moves(p, ".away", "");
	keep_flush(&k.keep, NOW);
	assert_true(keep_ok(&k.keep));
	end(&k);
}

static int none(const struct remote_history *r, void *data)
{
	(void)r;
	(void)data;
	return 0;
}

/* As a disk does, under an open file */
static void damage(const struct place *p)
{
	static const char bad[4096] = { 1, 2, 3 };
	int fd = open(p->file, O_WRONLY | O_CLOEXEC), i;

	assert_true(fd >= 0);
	for (i = 2; i < 500; i++)
		assert_int_equal(pwrite(fd, bad, sizeof(bad), i * 4096), sizeof(bad));
	close(fd);
}

/* More than SQLite's cache holds, and all of it in the file */
static void fill(const struct place *p)
{
	struct history *h = open_place(p, NOW);
	uint32_t i;

	for (i = 0; i < 15000; i++)
		add(h, i);
	history_close(h);
}

static void damage_is_told_by_whoever_finds_it(void **state)
{
	const struct prefix all = { .family = AF_INET };
	const struct place *p = *state;
	struct kept k;
	struct err e;
	uint32_t n = 0, i;
	uint64_t gone;
	bool waits;
	int rc;

	for (i = 0; i < 3; i++) {
		fill(p);
		begin(&k, p->file);
		damage(p);
		rc = i == 0 ? keep_each(&k.keep, NULL, 0, count_one, &n, &e) :
		     i == 1 ? keep_remotes(&k.keep, 0, none, NULL, &e) :
			      keep_forget(&k.keep, &all, &gone, &waits, &e);
		/* of which nothing is left: it is forgotten */
		assert_int_equal(rc, i == 2 ? 0 : -EBADMSG);
		keep_flush(&k.keep, NOW);
		assert_int_equal(logged(&k, "begun anew"), 1);
		end(&k);
		assert_int_equal(unlink(p->file), 0);
	}
}

static struct prefix host(uint32_t n)
{
	return visit_number(n, NOW).remote;
}

/* False: it does not wait */
static bool forget_waits(struct kept *k, const struct prefix *p)
{
	struct err e = { "" };
	uint64_t gone;
	bool waits;

	assert_int_not_equal(keep_forget(&k->keep, p, &gone, &waits, &e), 0);
	return waits;
}

/* What comes behind it is not meant by it: it is written when that has been forgotten. */
static void forgets_when_it_can(void **state)
{
	const struct place *p = *state;
	const struct prefix one = host(1);
	struct kept k;

	begin(&k, p->file);
	visit(&k, 1, REASON_BRIEF);
	visit(&k, 2, REASON_BRIEF);
	keep_flush(&k.keep, NOW);
	folder_moves(p, "", ".away");
	keep_flush(&k.keep, NOW);
	assert_true(forget_waits(&k, &one));
	visit(&k, 1, REASON_BRIEF);
	keep_flush(&k.keep, NOW);
	assert_int_equal(k.keep.n, 1);
	folder_moves(p, ".away", "");
	keep_flush(&k.keep, NOW);
	assert_int_equal(k.keep.n_forgets, 0);
	assert_int_equal(logged(&k, "192.0.0.1 is forgotten by the history, too: 1 visits"), 1);
	end(&k);
	assert_int_equal(rows(p), 2);
}

static int count_search(const struct search_row *row, void *data)
{
	uint32_t *n = data;

	(void)row;
	++*n;
	return 0;
}

static uint32_t count_searches(struct kept *k)
{
	struct err e = { "" };
	uint32_t n = 0;

	assert_int_equal(keep_searches(&k->keep, count_search, &n, &e), 0);
	return n;
}

/* Also where neither a visit waits nor anything else is to be written, and before a search is */
static void forgets_before_searches(void **state)
{
	const struct prefix all = { .family = AF_INET };
	const struct search_row row = { .to = host(1), .dev = "eth1" };
	const struct place *p = *state;
	struct kept k;

	begin(&k, p->file);
	visit(&k, 1, REASON_BRIEF);
	keep_flush(&k.keep, NOW);
	folder_moves(p, "", ".away");
	keep_flush(&k.keep, NOW);
	assert_true(forget_waits(&k, &all));
	folder_moves(p, ".away", "");
	assert_int_equal(keep_put_searches(&k.keep, &row, 1, NOW), 0);
	assert_int_equal(k.keep.n_forgets, 0);
	assert_int_equal(count_searches(&k), 1);
	end(&k);
	assert_int_equal(rows(p), 0);
}

/* Each try that fails is counted, of searches as of visits */
static void failed_writes_are_counted(void **state)
{
	const struct search_row row = { .to = host(1), .dev = "eth1" };
	const struct place *p = *state;
	struct kept k;

	begin(&k, p->file);
	folder_moves(p, "", ".away");
	keep_flush(&k.keep, NOW);
	assert_int_equal(k.keep.failed, 0);
	assert_int_not_equal(keep_put_searches(&k.keep, &row, 1, NOW), 0);
	assert_int_equal(k.keep.failed, 1);
	assert_int_not_equal(keep_delete_search(&k.keep, &row.to, row.dev, NOW), 0);
	assert_int_equal(k.keep.failed, 2);
	visit(&k, 1, REASON_BRIEF);
	keep_flush(&k.keep, NOW);
	assert_int_equal(k.keep.failed, 3);
	folder_moves(p, ".away", "");
	keep_flush(&k.keep, NOW);
	assert_int_equal(keep_put_searches(&k.keep, &row, 1, NOW), 0);
	assert_int_equal(k.keep.failed, 3);
	end(&k);
}

/* So many as there is room for; what holds others takes their place; what is left is told. */
static void forgets_are_bounded(void **state)
{
	const struct prefix all = { .family = AF_INET };
	const struct place *p = *state;
	struct prefix one;
	char file[128];
	struct kept k;
	uint32_t i;

	snprintf(file, sizeof(file), "%s/no/such/folder.db", p->dir);
	begin(&k, file);
	for (i = 0; i < KEEP_FORGETS; i++) {
		one = host(i);
		assert_true(forget_waits(&k, &one));
		assert_true(forget_waits(&k, &one));
	}
	assert_int_equal(k.keep.n_forgets, KEEP_FORGETS);
	one = host(i);
	assert_false(forget_waits(&k, &one));
	assert_true(forget_waits(&k, &all));
	assert_int_equal(k.keep.n_forgets, 1);
	close_keep(&k);
	assert_int_equal(logged(&k, "the history keeps what it was to forget (prefixes: 1)"), 1);
	said_close(&k.said);
}

/* Another history has nothing of what that one was to forget. */
static void forgets_are_of_one_history(void **state)
{
	const struct prefix all = { .family = AF_INET };
	const struct place *p = *state;
	struct kept k;

	begin(&k, p->file);
	visit(&k, 1, REASON_BRIEF);
	end(&k);
	begin(&k, "/proc/no/such/folder.db");
	assert_true(forget_waits(&k, &all));
	strcpy(k.config.history, p->file);
	keep_change(&k.keep, &k.config, NOW);
	assert_int_equal(logged(&k, "the history keeps what it was to forget (prefixes: 1)"), 1);
	end(&k);
	assert_int_equal(rows(p), 1);
}

/* Nothing is known of what it has, which is not the same as that it has nothing */
static void none_can_be_opened(void **state)
{
	const struct place *p = *state;
	struct kept k;
	struct err e = { "" };
	uint32_t n = 0;

	put_file(p->file, "", 0);
	assert_int_equal(chmod(p->dir, 0777), 0);
	begin(&k, p->file);
	visit(&k, 1, REASON_BRIEF);
	assert_int_equal(keep_each(&k.keep, NULL, 0, count_one, &n, &e), -EPERM);
	assert_int_equal(n, 1);
	assert_non_null(strstr(e.text, "0777"));
	e.text[0] = 0;
	assert_int_equal(keep_remotes(&k.keep, 0, none, NULL, &e), -EPERM);
	assert_non_null(strstr(e.text, "0777"));
	end(&k);
	begin(&k, "");
	assert_int_equal(keep_remotes(&k.keep, 0, none, NULL, &e), 0);
	end(&k);
}

/* Of one prefix, too */
static void what_waits_is_told(void **state)
{
	const struct prefix one = host(1), both = { AF_INET, 24, { 192, 0, 0 } };
	const struct place *p = *state;
	struct kept k;
	struct err e = { "" };
	uint32_t n = 0;

	begin(&k, p->file);
	visit(&k, 1, REASON_BRIEF);
	visit(&k, 2, REASON_BRIEF);
	assert_int_equal(k.keep.n, 2);
	assert_int_equal(keep_each(&k.keep, &one, 0, count_one, &n, &e), 0);
	assert_int_equal(n, 1);
	assert_int_equal(keep_each(&k.keep, &both, 0, count_one, &n, &e), 0);
	assert_int_equal(n, 1 + 2);
	end(&k);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_place, remove_place)
	const struct CMUnitTest tests[] = {
		TEST(more_at_once_than_may_wait),
		TEST(lost_ones_are_told),
		TEST(lost_ones_of_one_poll_are_told),
		TEST(what_says_nothing_is_not_written),
		TEST(removed_under_the_daemon),
		TEST(folder_removed_under_the_daemon),
		TEST(damage_is_told_by_whoever_finds_it),
		TEST(forgets_when_it_can),
		TEST(forgets_before_searches),
		TEST(failed_writes_are_counted),
		TEST(forgets_are_bounded),
		TEST(forgets_are_of_one_history),
		TEST(none_can_be_opened),
		TEST(what_waits_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
