// SPDX-License-Identifier: GPL-2.0
/*
 * The history when writes fail, the disk is full, the process is killed at any point, and
 * bytes of the file change.  HISTORY_SEED=N makes the same random numbers again.
 */
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <time.h>

#include "ctcpd_history.h"
#include "faulty_vfs.h"

#include "../../selftests/random.h"

#define KILLS		100
#define FLIPS		200
#define SPARE		(4 << 20)	/* bytes that the files may have beyond their content */

uint64_t random_state;

static void print_seed(const char *what)
{
	const char *given = getenv("HISTORY_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) ^ getpid();

	print_message("%s: HISTORY_SEED=%llu\n", what, (unsigned long long)seed);
	seed_random(seed);
}

/* --- writes that fail ----------------------------------------------------------------- */

/* From the @at-th on, @n calls; then all is well again.  False: it did not come to that */
static bool add_fails(struct history *h, unsigned int at, unsigned int n, int code, int expected)
{
	uint32_t before = count(h);
	struct visit v = visit_number(before, NOW);
	struct err e = { "" };
	int rc;

	fault_at(at, at + n - 1, code);
	rc = history_add(h, &v, NOW, &e);
	fault_at(0, 0, 0);
	if (!rc) {
		assert_int_equal(count(h), before + 1);
		return false;
	}
	/* an error of the disk comes with SQLite's own words; -EIO is that of all but FULL */
	if (rc != expected && rc != -EIO)
		print_error("call %u: %d, %s\n", at, rc, e.text);
	assert_true(rc == expected || rc == -EIO);
	assert_non_null(strstr(e.text, "history.db"));
	assert_int_equal(count(h), before);
	add(h, before);
	assert_int_equal(count(h), before + 1);
	return true;
}

static void sweep(const struct place *p, unsigned int n, int code, int expected)
{
	struct history *h = open_place(p, NOW);
	uint32_t i, rows;
	unsigned int at;

	for (i = count(h); i < 50; i++)
		add(h, i);
	for (at = 1; add_fails(h, at, n, code, expected); at++)
		assert_true(at < 100);
	/* an add writes at least a page of each index, and of the table */
	assert_in_range(at, 4, 100);
	rows = count(h);
	history_close(h);
	h = open_place(p, NOW);
	assert_int_equal(count(h), rows);
	history_close(h);
	assert_false(there_is(p, ".damaged"));
}

static void each_write_of_an_add_fails(void **state)
{
	faulty_vfs_use();
	sweep(*state, 1, SQLITE_IOERR_WRITE, -EIO);
	sweep(*state, 1000, SQLITE_IOERR_WRITE, -EIO);
	faulty_vfs_end();
}

static void disk_is_full_at_each_write_of_an_add(void **state)
{
	faulty_vfs_use();
	sweep(*state, 1, SQLITE_FULL, -ENOSPC);
	sweep(*state, 1000, SQLITE_FULL, -ENOSPC);
	faulty_vfs_end();
}

/*
 * What is to go at once has no room in the log: it goes by batches.  Of a disk that fails all
 * stays, and that is told.
 */
static void disk_is_full_for_all_of_a_forget(void **state)
{
	const struct prefix all = { .family = AF_INET };
	struct history *h;
	struct err e = { "" };
	uint64_t gone;
	uint32_t i;

	faulty_vfs_use();
	h = open_place(*state, NOW);
	for (i = 0; i < 1000; i++)
		add(h, i);
	fault_at(1, 1, SQLITE_IOERR_WRITE);
	assert_int_equal(history_forget(h, &all, &gone, &e), -EIO);
	assert_int_equal(gone, 0);
	assert_int_equal(count(h), 1000);
	fault_at(1, 1, SQLITE_FULL);
	assert_int_equal(history_forget(h, &all, &gone, &e), 0);
	assert_int_equal(gone, 1000);
	assert_int_equal(count(h), 0);
	fault_at(0, 0, 0);
	history_close(h);
	faulty_vfs_end();
}

struct expect {
	uint32_t next;		/* number of the visit that comes */
	bool wrong;
};

/* From the newest on, one less each; what went is the oldest */
static int is_next(const struct visit *v, void *data)
{
	struct expect *x = data;

	x->wrong |= v->flows != --x->next;
	return 0;
}

static void in_a_row(struct history *h, uint32_t n)
{
	struct expect x = { .next = n };
	struct err e;

	assert_int_equal(history_each(h, NULL, 0, is_next, &x, &e), 0);
	assert_false(x.wrong);
	assert_true(n - x.next > 0);
}

static bool is_of_the_disk(int rc)
{
	return rc == -EIO || rc == -ENOSPC;
}

/* The number of the next: the same, if it was not added */
static uint32_t add_or_not(struct history *h, uint32_t n)
{
	struct visit v = visit_number(n, NOW + n);
	struct err e = { "" };
	int rc = history_add(h, &v, NOW + n, &e), tidied = 0;

	if (n % 50 == 0)
		tidied = history_tidy(h, NOW + n, &e);
	if (rc && !is_of_the_disk(rc))
		print_error("%d: %s\n", rc, e.text);
	assert_true(!rc || is_of_the_disk(rc));
	assert_true(!tidied || is_of_the_disk(tidied));
	return rc ? n : n + 1;
}

/* Checkpoints, batches that go and pages that are given back fail, too */
static void writes_fail_at_random(void **state)
{
	const struct history_limits few = { .bytes = 1 << 20, .visits = 2000, .keep_s = 500 };
	struct history *h;
	uint32_t n = 0, i;

	print_seed("writes_fail_at_random");
	faulty_vfs_use();
	h = open_limited(*state, &few, NOW);
	for (i = 0; i < 6000; i++) {
		if (i % 40 == 0) {
			unsigned int at = 1 + below(200);

			fault_at(at, at + below(60), below(2) ? SQLITE_FULL : SQLITE_IOERR_WRITE);
		}
		n = add_or_not(h, n);
	}
	fault_at(0, 0, 0);
	in_a_row(h, n);
	n = add_or_not(h, n);
	history_close(h);
	h = open_limited(*state, &few, NOW + n);
	in_a_row(h, n);
	history_close(h);
	assert_true(n > 1000 && n < 6000);
	assert_false(there_is(*state, ".damaged"));
	faulty_vfs_end();
}

/* A log that cannot be put into the file does not grow until the disk is full */
static void checkpoints_that_fail(void **state)
{
	struct history *h;
	struct err e = { "" };
	uint32_t i, rows;
	int rc = 0;

	faulty_vfs_use();
	h = open_place(*state, NOW);
	main_fails = SQLITE_IOERR_WRITE;
	for (i = 0; i < 10000 && !rc; i++) {
		struct visit v = visit_number(i, NOW);

		rc = history_add(h, &v, NOW, &e);
	}
	rows = count(h);
	assert_int_equal(rc, -EIO);
	assert_int_equal(rows, i - 1);
	assert_in_range(size_of(*state, "-wal"), 1 << 20, SPARE);
	main_fails = 0;
	add(h, rows);
	history_close(h);
	faulty_vfs_end();
	h = open_place(*state, NOW);
	assert_int_equal(count(h), rows + 1);
	history_close(h);
}

/* --- a loss of power ------------------------------------------------------------------ */

/*
 * SQLite's rule, for a disk that keeps what was synced: the log is on it before the pages in it
 * go into the file, and the file before the log begins anew.
 */
static void power_may_go_at_any_time(void **state)
{
	struct history *h;
	uint32_t i;

	faulty_vfs_use();
	h = open_place(*state, NOW);
	for (i = 0; i < 3000; i++)
		add(h, i);
	tidy(h, NOW);
	/* checkpoints were made meanwhile, of the log that each add writes */
	assert_true(power.into_main > 100);
	assert_int_equal(power.unsafe, 0);
	history_close(h);
	h = open_place(*state, NOW);
	add(h, i);
	history_close(h);
	assert_int_equal(power.unsafe, 0);
	faulty_vfs_end();
}

/* --- kill -9 -------------------------------------------------------------------------- */

struct pipes {
	int read, write;
};

static struct pipes make_pipe(void)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	return (struct pipes){ fds[0], fds[1] };
}

/* In a child, where no assertion of cmocka's may go back into the tests */
static void must(bool well, const char *what)
{
	if (well)
		return;
	fprintf(stderr, "child: %s\n", what);
	_exit(1);
}

static struct history *child_open(const struct place *p)
{
	const struct history_limits limits = MANY;
	struct err e = { "" };
	struct history *h;
	bool aside;
	int rc;

	h = history_open(p->file, &limits, NOW, &aside, &rc, &e);
	must(h && !aside, e.text);
	return h;
}

static void child_add(struct history *h, uint32_t n, int tell)
{
	struct visit v = visit_number(n, NOW);
	struct err e = { "" };

	must(!history_add(h, &v, NOW, &e), e.text);
	n++;
	must(write(tell, &n, sizeof(n)) == sizeof(n), "pipe");
}

/* Waits until @more are committed */
static uint32_t told_first(struct pipes *pipe, uint32_t n, uint32_t more)
{
	close(pipe->write);
	pipe->write = -1;
	while (more-- && read(pipe->read, &n, sizeof(n)) == sizeof(n))
		;
	return n;
}

/* How many the child has told to be committed, all visits of before with them */
static uint32_t told(struct pipes pipe, uint32_t before)
{
	uint32_t n = before;

	if (pipe.write >= 0)
		close(pipe.write);
	while (read(pipe.read, &n, sizeof(n)) == sizeof(n))
		;
	close(pipe.read);
	return n;
}

/* All that were told are there, whole and in order; and at most the one that was on its way */
static uint32_t check_after_kill(const struct place *p, uint32_t least)
{
	uint64_t before = size_of(p, "") + size_of(p, "-wal") + size_of(p, "-shm") +
			  size_of(p, "-journal");
	struct history *h = open_place(p, NOW);
	uint32_t n = count(h);

	if (n)
		in_a_row(h, n);
	history_close(h);
	if (n < least || n > least + 1)
		print_error("%u visits were committed, %u are there\n", least, n);
	assert_in_range(n, least, least + 1);
	assert_true(before <= size_of(p, "") + SPARE);
	return n;
}

static void write_until_killed(const struct place *p, uint32_t n, int tell)
{
	struct history *h = child_open(p);

	for (;;) {
		child_add(h, n++, tell);
		if (n % 100 == 0) {
			struct err e = { "" };

			must(!history_tidy(h, NOW, &e), e.text);
		}
	}
}

/* After each kill what is there goes on; open, and what it puts in order, is killed too */
static void killed_at_random(void **state)
{
	uint32_t n = 0;
	int i, status;

	print_seed("killed_at_random");
	faulty_vfs_use();
	for (i = 0; i < KILLS; i++) {
		struct pipes pipe = make_pipe();
		pid_t pid = fork();

		if (!pid)
			write_until_killed(*state, n, pipe.write);
		assert_true(pid > 0);
		/* each fourth while it opens, or whenever that is on this machine */
		if (below(4))
			n = told_first(&pipe, n, 1 + below(400));
		usleep(below(20000));
		kill(pid, SIGKILL);
		n = told(pipe, n);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		n = check_after_kill(*state, n);
	}
	print_message("killed_at_random: %u visits\n", n);
	assert_true(n > KILLS);
	assert_false(there_is(*state, ".damaged"));
}

static bool run_with_kill(const struct place *p, uint32_t n, unsigned int at, uint32_t *committed)
{
	struct pipes pipe = make_pipe();
	pid_t pid = fork();
	int status;

	if (!pid) {
		struct history *h;
		uint32_t i;

		faulty_vfs_use();
		fault_at(at, 0, 0);
		h = child_open(p);
		for (i = 0; i < 3; i++)
			child_add(h, n + i, pipe.write);
		history_close(h);
		_exit(0);
	}
	assert_true(pid > 0);
	*committed = told(pipe, n);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		assert_int_equal(WTERMSIG(status), SIGKILL);
	else
		assert_int_equal(WEXITSTATUS(status), 0);
	return WIFSIGNALED(status);
}

static void remove_history(const struct place *p)
{
	static const char *const suffixes[] = { "", "-wal", "-journal" };
	char path[128];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(suffixes); i++) {
		snprintf(path, sizeof(path), "%s%s", p->file, suffixes[i]);
		unlink(path);
	}
}

/* From the first byte of a new file on: its beginning, three visits, its close */
static void killed_at_each_write(void **state)
{
	unsigned int at;
	uint32_t n;

	for (at = 1; run_with_kill(*state, 0, at, &n); at++) {
		assert_true(at < 500);
		check_after_kill(*state, n);
		remove_history(*state);
	}
	print_message("killed_at_each_write: %u calls\n", at - 1);
	assert_true(at > 20);
	assert_int_equal(n, 3);
	check_after_kill(*state, 3);
	assert_false(there_is(*state, ".damaged"));
}

/* ... and of one that is there, which grows with each */
static void killed_at_each_write_of_more(void **state)
{
	unsigned int at;
	uint32_t n = 0;

	for (at = 1; run_with_kill(*state, n, at, &n); at++) {
		assert_true(at < 500);
		n = check_after_kill(*state, n);
	}
	assert_true(at > 10);
	assert_false(there_is(*state, ".damaged"));
}

/* --- a disk that is full -------------------------------------------------------------- */

#define NOT_ALLOWED	77	/* exit status: this user may make no namespace */

static void put_line(const char *file, const char *line)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);

	must(fd >= 0 && write(fd, line, strlen(line)) == (ssize_t)strlen(line), file);
	close(fd);
}

/* A file system of 1 MB, which nobody else sees; as a user the kernel calls root in it */
static void mount_small(const struct place *p)
{
	unsigned int uid = geteuid(), gid = getegid();
	char map[32];

	if (unshare(uid ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS))
		_exit(NOT_ALLOWED);
	if (uid) {
		put_line("/proc/self/setgroups", "deny");
		snprintf(map, sizeof(map), "0 %u 1", uid);
		put_line("/proc/self/uid_map", map);
		snprintf(map, sizeof(map), "0 %u 1", gid);
		put_line("/proc/self/gid_map", map);
	}
	must(!mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "private mounts");
	must(!mount("tmpfs", p->dir, "tmpfs", 0, "size=1m,mode=0700"), "tmpfs");
}

static int try_add(struct history *h, uint32_t n, struct err *e)
{
	struct visit v = visit_number(n, NOW);

	return history_add(h, &v, NOW, e);
}

static uint32_t child_count(struct history *h)
{
	struct err e;
	uint32_t n = 0;

	must(!history_each(h, NULL, 0, count_one, &n, &e), "count");
	return n;
}

static uint32_t fill_the_disk(struct history *h)
{
	struct err e = { "" };
	uint32_t n = child_count(h), got;
	int rc, i;

	for (; !(rc = try_add(h, n, &e)); n++)
		must(n < 100000, "1 MB takes for ever");
	must(rc == -ENOSPC, e.text);
	must(strstr(e.text, "No space left") && strstr(e.text, "history.db"), e.text);
	for (i = 0; i < 10; i++)
		must(try_add(h, n, &e) == -ENOSPC, "a full disk takes a visit");
	got = child_count(h);
	if (got != n)
		fprintf(stderr, "%u visits were written, %u are there\n", n, got);
	must(got == n, "what is there of a full disk");
	return n;
}

/* To the last byte */
static void fill_up(const char *file)
{
	static const char page[4096];
	int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	must(fd >= 0, file);
	while (write(fd, page, sizeof(page)) > 0)
		;
	must(errno == ENOSPC, "fill up");
	close(fd);
}

static void put_ballast(const char *file)
{
	static const char ballast[256 << 10];
	int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	must(fd >= 0 && write(fd, ballast, sizeof(ballast)) == sizeof(ballast), "ballast");
	close(fd);
}

/* Space comes back, and the next is written without anything being opened again */
static uint32_t relieve(struct history *h, const char *ballast, uint32_t n)
{
	struct err e = { "" };

	unlink(ballast);
	must(!try_add(h, n, &e), e.text);
	must(child_count(h) == n + 1, "after space came back");
	return n + 1;
}

static void on_a_full_disk(const struct place *p)
{
	char ballast[128], rest[128];
	struct history *h;
	struct err e;
	uint32_t n;

	snprintf(ballast, sizeof(ballast), "%s/ballast", p->dir);
	snprintf(rest, sizeof(rest), "%s/rest", p->dir);
	mount_small(p);
	put_ballast(ballast);
	h = child_open(p);
	n = relieve(h, ballast, fill_the_disk(h));
	history_close(h);
	put_ballast(ballast);
	h = child_open(p);
	must(child_count(h) == n, "after it was opened again");
	n = fill_the_disk(h);
	history_close(h);
	/* no space to put anything in order: what is there can be read all the same */
	fill_up(rest);
	h = child_open(p);
	must(child_count(h) == n, "read on a full disk");
	must(try_add(h, n, &e) == -ENOSPC, "a full disk takes a visit after it was opened");
	relieve(h, ballast, n);
	history_close(h);
	_exit(0);
}

static void on_a_disk_for_reading(const struct place *p)
{
	const struct history_limits limits = MANY;
	struct err e = { "" };
	struct history *h;
	bool aside;
	int rc;

	mount_small(p);
	h = child_open(p);
	must(!try_add(h, 1, &e), e.text);
	history_close(h);
	must(!mount(NULL, p->dir, NULL, MS_REMOUNT | MS_RDONLY, NULL), "remount");
	h = history_open(p->file, &limits, NOW, &aside, &rc, &e);
	must(!h && rc == -EROFS && strstr(e.text, p->file), e.text);
	_exit(0);
}

static void in_a_child(const struct place *p, void (*what)(const struct place *p))
{
	pid_t pid = fork();
	int status;

	if (!pid)
		what(p);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NOT_ALLOWED) {
		print_message("SKIP: this user may make no mount namespace\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void full_disk(void **state)
{
	in_a_child(*state, on_a_full_disk);
}

static void disk_for_reading(void **state)
{
	in_a_child(*state, on_a_disk_for_reading);
}

/* --- bytes that change ------------------------------------------------------------------ */

static void flip(char *bytes, size_t len)
{
	uint32_t n = below(2) ? 1 : 1 + below(32);

	while (n--)
		bytes[below((uint32_t)len)] ^= (char)(1 + below(255));
	/* in every third one also where SQLite looks first */
	if (!below(3))
		bytes[below(8) * 4096 + below(128)] ^= (char)(1 + below(255));
}

static void is_well_or_damaged(int rc, const struct err *e)
{
	if (rc && rc != -EBADMSG)
		print_error("%d: %s\n", rc, e->text);
	assert_true(!rc || rc == -EBADMSG);
}

static int take(const struct remote_history *r, void *data)
{
	*(uint64_t *)data += r->acked;
	return 0;
}

/* Each may find damage, and what comes after that finds a history again */
static void use_all(struct history *h)
{
	struct prefix half = { .family = AF_INET, .len = 24, .addr = { 192, 0, 1, 0 } };
	struct visit v = visit_number(7, NOW);
	struct err e = { "" };
	uint32_t n = 0;
	uint64_t gone;

	is_well_or_damaged(history_each(h, NULL, 0, count_one, &n, &e), &e);
	is_well_or_damaged(history_remotes(h, 0, take, &gone, &e), &e);
	is_well_or_damaged(history_each(h, &v.remote, 0, count_one, &n, &e), &e);
	is_well_or_damaged(history_add(h, &v, NOW, &e), &e);
	is_well_or_damaged(history_forget(h, &half, &gone, &e), &e);
	is_well_or_damaged(history_tidy(h, NOW + 15 * DAY, &e), &e);
	is_well_or_damaged(history_add(h, &v, NOW + 15 * DAY, &e), &e);
	is_well_or_damaged(history_add(h, &v, NOW + 15 * DAY, &e), &e);
}

enum outcome { READ, ASIDE, REFUSED };

static enum outcome open_flipped(const struct place *p)
{
	const struct history_limits limits = MANY;
	struct err e = { "" };
	struct history *h;
	bool aside;
	int rc;

	h = history_open(p->file, &limits, NOW, &aside, &rc, &e);
	if (!h) {
		/* its version was among the bytes */
		if (rc != -EPROTO)
			print_error("%d: %s\n", rc, e.text);
		assert_int_equal(rc, -EPROTO);
		return REFUSED;
	}
	use_all(h);
	history_close(h);
	return aside ? ASIDE : READ;
}

static char *read_template(const struct place *p, size_t *len)
{
	struct history *h = open_place(p, NOW);
	uint32_t i;
	char *text;
	int fd;

	for (i = 0; i < 600; i++)
		add(h, i);
	history_close(h);
	*len = size_of(p, "");
	text = malloc(*len);
	assert_non_null(text);
	fd = open(p->file, O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, text, *len), (ssize_t)*len);
	close(fd);
	return text;
}

static void bytes_that_change(void **state)
{
	const struct place *p = *state;
	uint32_t outcomes[3] = { 0 };
	char *good, *bad;
	size_t len;
	int i;

	print_seed("bytes_that_change");
	faulty_vfs_use();	/* which waits for no disk */
	good = read_template(p, &len);
	bad = malloc(len);
	assert_non_null(bad);
	for (i = 0; i < FLIPS; i++) {
		memcpy(bad, good, len);
		flip(bad, len);
		remove_history(p);
		put_file(p->file, bad, below(10) ? len : below((uint32_t)len));
		alarm(60);
		outcomes[open_flipped(p)]++;
		alarm(0);
	}
	print_message("bytes_that_change: %u read, %u set aside, %u refused\n", outcomes[READ],
		      outcomes[ASIDE], outcomes[REFUSED]);
	assert_true(outcomes[ASIDE] > 0 && outcomes[READ] > 0);
	free(good);
	free(bad);
}

static int end(void **state)
{
	faulty_vfs_end();
	return remove_place(state);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_place, end)
	const struct CMUnitTest tests[] = {
		TEST(each_write_of_an_add_fails),
		TEST(disk_is_full_at_each_write_of_an_add),
		TEST(disk_is_full_for_all_of_a_forget),
		TEST(writes_fail_at_random),
		TEST(checkpoints_that_fail),
		TEST(power_may_go_at_any_time),
		TEST(killed_at_each_write),
		TEST(killed_at_each_write_of_more),
		TEST(killed_at_random),
		TEST(full_disk),
		TEST(disk_for_reading),
		TEST(bytes_that_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
