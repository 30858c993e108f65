// SPDX-License-Identifier: GPL-2.0
/*
 * The history's file: what it may be and what not, whose it is, who has it, and what becomes
 * of one that is damaged.
 */
#include <signal.h>
#include <sqlite3.h>

#include "ctcpd_history.h"

#define LOOK_US		100000

static void name(char *to, size_t len, const struct place *p, const char *suffix)
{
	snprintf(to, len, "%s%s", p->file, suffix);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

/* malloc()ed */
static char *read_file(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *text;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	*len = (size_t)st.st_size;
	text = malloc(*len + 1);
	assert_non_null(text);
	assert_int_equal(read(fd, text, *len), (ssize_t)*len);
	close(fd);
	return text;
}

static void make_history(const struct place *p, uint32_t n)
{
	struct history *h = open_place(p, NOW);
	uint32_t i;

	for (i = 0; i < n; i++)
		add(h, i);
	history_close(h);
}

/* It is begun anew, what was there is at .damaged@suffix, and that is said with the reason */
static void set_aside(const struct place *p, const char *suffix, const char *why)
{
	const struct history_limits limits = MANY;
	struct err e = { "" };
	bool aside = false;
	char where[160];
	struct history *h;
	int rc;

	h = history_open(p->file, &limits, NOW, &aside, &rc, &e);
	if (!h)
		print_error("%s\n", e.text);
	assert_non_null(h);
	assert_true(aside);
	name(where, sizeof(where), p, suffix);
	assert_int_equal(access(where, F_OK), 0);
	if (!strstr(e.text, where) || !strstr(e.text, why))
		print_error("%s, expected %s and %s\n", e.text, where, why);
	assert_non_null(strstr(e.text, where));
	assert_non_null(strstr(e.text, why));
	assert_int_equal(count(h), 0);
	add(h, 1);
	history_close(h);
	h = open_place(p, NOW);
	assert_int_equal(count(h), 1);
	history_close(h);
}

static void is_private(void **state)
{
	struct place *p = *state, inner = *p;
	mode_t mask = umask(0);
	char path[160];

	snprintf(inner.file, sizeof(inner.file), "%s/new/history.db", p->dir);
	make_history(&inner, 1);
	assert_int_equal(mode_of(inner.file), 0600);
	name(path, sizeof(path), &inner, ".lock");
	assert_int_equal(mode_of(path), 0600);
	snprintf(path, sizeof(path), "%s/new", p->dir);
	assert_int_equal(mode_of(path), 0700);
	assert_int_equal(chmod(inner.file, 0644), 0);
	make_history(&inner, 1);
	assert_int_equal(mode_of(inner.file), 0600);
	umask(mask);
}

static void log_is_private(void **state)
{
	struct history *h;
	mode_t mask = umask(0);
	char path[160];

	h = open_place(*state, NOW);
	add(h, 1);
	name(path, sizeof(path), *state, "-wal");
	assert_int_equal(mode_of(path), 0600);
	assert_false(there_is(*state, "-shm"));
	history_close(h);
	assert_false(there_is(*state, "-wal"));
	umask(mask);
}

static void empty_file_is_begun(void **state)
{
	const struct place *p = *state;

	put_file(p->file, "", 0);
	make_history(p, 3);
	assert_false(there_is(p, ".damaged"));
}

/* What is left of a beginning that was killed: a database with nothing in it */
static void empty_database_is_begun(void **state)
{
	const struct place *p = *state;

	run_sql(p->file, "CREATE TABLE t (x); DROP TABLE t");
	make_history(p, 3);
	assert_false(there_is(p, ".damaged"));
}

static void text_is_set_aside(void **state)
{
	const struct place *p = *state;

	put_file(p->file, "# my notes\n", 11);
	set_aside(p, ".damaged", "damaged");
}

static void nuls_are_set_aside(void **state)
{
	static const char nuls[70000];
	const struct place *p = *state;

	put_file(p->file, nuls, sizeof(nuls));
	set_aside(p, ".damaged", "damaged");
}

static void another_program_s_is_set_aside(void **state)
{
	const struct place *p = *state;
	char path[160];

	run_sql(p->file, "CREATE TABLE bookmarks (url)");
	set_aside(p, ".damaged", "another program");
	name(path, sizeof(path), p, ".damaged");
	run_sql(path, "SELECT * FROM bookmarks");
}

static void other_tables_are_set_aside(void **state)
{
	const struct place *p = *state;

	make_history(p, 5);
	run_sql(p->file, "CREATE TRIGGER t AFTER INSERT ON visit BEGIN DELETE FROM visit; END");
	set_aside(p, ".damaged", "not ctcpd's tables");
}

static void cut_short_is_set_aside(void **state)
{
	const struct place *p = *state;

	make_history(p, 500);
	assert_int_equal(truncate(p->file, 40000), 0);
	set_aside(p, ".damaged", "damaged");
}

/* Formats that SQLite does not write, or does not read */
static void unknown_formats_are_set_aside(void **state)
{
	static const struct { off_t at; char byte; const char *suffix; } header[] = {
		{ 18, 3, ".damaged" }, { 19, 3, ".damaged.2" }, { 47, 9, ".damaged.3" },
	};
	const struct place *p = *state;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(header); i++) {
		int fd;

		make_history(p, 5);
		fd = open(p->file, O_WRONLY | O_CLOEXEC);
		assert_int_equal(pwrite(fd, &header[i].byte, 1, header[i].at), 1);
		close(fd);
		set_aside(p, header[i].suffix, "");
	}
}

/* The first two and the last are kept */
static void earlier_ones_are_kept(void **state)
{
	const struct place *p = *state;
	static const char *const suffixes[] = {
		".damaged", ".damaged.2", ".damaged.3", ".damaged.3" };
	char path[160], text[16], *got;
	size_t len, i;

	for (i = 0; i < ARRAY_SIZE(suffixes); i++) {
		snprintf(text, sizeof(text), "number %zu\n", i);
		put_file(p->file, text, strlen(text));
		set_aside(p, suffixes[i], "damaged");
	}
	for (i = 0; i < 3; i++) {
		name(path, sizeof(path), p, suffixes[i]);
		snprintf(text, sizeof(text), "number %zu\n", i < 2 ? i : 3);
		got = read_file(path, &len);
		assert_int_equal(len, strlen(text));
		assert_memory_equal(got, text, len);
		free(got);
	}
	assert_false(there_is(p, ".damaged.4"));
}

/* A log of the damaged one is kept with it, and not played into the new one */
static void log_goes_with_it(void **state)
{
	static const char log[5000] = "a log";
	const struct place *p = *state;
	char path[160];

	put_file(p->file, "# my notes\n", 11);
	name(path, sizeof(path), p, "-wal");
	put_file(path, log, sizeof(log));
	set_aside(p, ".damaged", "damaged");
	assert_true(there_is(p, ".damaged-wal"));
	assert_false(there_is(p, "-wal"));
}

/* Where the log cannot be moved the file stays with it, and what is begun anew has no old log */
static void log_goes_first(void **state)
{
	static const char log[5000] = "a log";
	const struct place *p = *state;
	char path[160], aside[160];
	struct err e;

	put_file(p->file, "# my notes\n", 11);
	name(path, sizeof(path), p, "-wal");
	put_file(path, log, sizeof(log));
	name(aside, sizeof(aside), p, ".damaged-wal");
	assert_int_equal(mkdir(aside, 0700), 0);
	assert_int_equal(open_fails(p, &e), -EISDIR);
	assert_non_null(strstr(e.text, "cannot be set aside"));
	assert_int_equal(size_of(p, ""), 11);
	assert_int_equal(size_of(p, "-wal"), sizeof(log));
	assert_false(there_is(p, ".damaged"));
	assert_int_equal(rmdir(aside), 0);
	set_aside(p, ".damaged", "damaged");
	assert_int_equal(size_of(p, ".damaged-wal"), sizeof(log));
}

static void later_version_is_left(void **state)
{
	const struct place *p = *state;
	size_t len, after;
	struct err e;
	char *was, *is;

	make_history(p, 5);
	run_sql(p->file, "PRAGMA user_version = 99");
	was = read_file(p->file, &len);
	assert_int_equal(open_fails(p, &e), -EPROTO);
	assert_non_null(strstr(e.text, "99"));
	is = read_file(p->file, &after);
	assert_int_equal(after, len);
	assert_memory_equal(was, is, len);
	free(was);
	free(is);
	assert_false(there_is(p, "-wal"));
	assert_false(there_is(p, ".damaged"));
}

/* Killed between its migration and the checkpoint: the version is in the log alone */
static void later_version_in_the_log_is_left(void **state)
{
	const struct place *p = *state;
	struct err e;
	sqlite3 *db;

	make_history(p, 5);
	assert_int_equal(sqlite3_open(p->file, &db), SQLITE_OK);
	sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL), 0);
	sqlite3_close(db);
	assert_true(size_of(p, "-wal") > 0);
	assert_int_equal(open_fails(p, &e), -EPROTO);
	assert_true(size_of(p, "-wal") > 0);
	assert_false(there_is(p, ".damaged"));
}

static void what_is_no_file(void **state)
{
	struct place *p = *state, other = *p;
	struct err e;

	assert_int_equal(mkdir(p->file, 0700), 0);
	assert_int_equal(open_fails(p, &e), -EISDIR);
	assert_non_null(strstr(e.text, p->file));
	assert_int_equal(rmdir(p->file), 0);
	assert_int_equal(mkfifo(p->file, 0600), 0);
	assert_int_equal(open_fails(p, &e), -EINVAL);
	strcpy(other.file, "/dev/null");
	assert_int_equal(open_fails(&other, &e), -EINVAL);
	other.file[0] = 0;
	assert_int_equal(open_fails(&other, &e), -EINVAL);
	snprintf(other.file, sizeof(other.file), "%s/no/such/folder", p->dir);
	assert_int_equal(open_fails(&other, &e), -ENOENT);
}

/* As an administrator moves it to another disk: also its log is there, and its lock */
static void link_is_followed(void **state)
{
	struct place *p = *state, target = *p;
	struct history *h;
	struct err e;

	snprintf(target.file, sizeof(target.file), "%s/elsewhere.db", p->dir);
	make_history(&target, 3);
	assert_int_equal(symlink(target.file, p->file), 0);
	h = open_place(p, NOW);
	assert_int_equal(count(h), 3);
	add(h, 4);
	assert_true(there_is(&target, "-wal"));
	assert_false(there_is(p, "-wal"));
	assert_int_equal(open_fails(&target, &e), -EBUSY);
	history_close(h);
	put_file(target.file, "damage", 6);
	set_aside(&target, ".damaged", "damaged");
	h = open_place(p, NOW);
	assert_int_equal(count(h), 1);
	history_close(h);
}

static void link_to_what_is_not_there(void **state)
{
	struct place *p = *state, target = *p;
	struct err e;

	snprintf(target.file, sizeof(target.file), "%s/elsewhere.db", p->dir);
	assert_int_equal(symlink(target.file, p->file), 0);
	make_history(p, 3);
	assert_int_equal(mode_of(target.file), 0600);
	unlink(p->file);
	assert_int_equal(symlink("/no/such/folder/history.db", p->file), 0);
	assert_int_equal(open_fails(p, &e), -ENOENT);
}

/* Anybody could have put it there: what it leads to stays as it is */
static void link_that_others_may_make(void **state)
{
	struct place *p = *state, target = *p, link = *p;
	char path[160];
	struct err e;

	snprintf(link.dir, sizeof(link.dir), "%.40s/open", p->dir);
	assert_int_equal(mkdir(link.dir, 0700), 0);
	snprintf(link.file, sizeof(link.file), "%.80s/history.db", link.dir);
	snprintf(target.file, sizeof(target.file), "%s/victim", p->dir);
	put_file(target.file, "a file of another program", 25);
	assert_int_equal(chmod(target.file, 0644), 0);
	assert_int_equal(symlink(target.file, link.file), 0);
	assert_int_equal(chmod(link.dir, 0777), 0);
	assert_int_equal(open_fails(&link, &e), -EPERM);
	assert_non_null(strstr(e.text, link.dir));
	assert_int_equal(mode_of(target.file), 0644);
	name(path, sizeof(path), &target, ".damaged");
	assert_int_equal(access(path, F_OK), -1);
}

/* Whom the folder belongs to, and who may write there */
static void of_others(void **state)
{
	const struct place *p = *state;
	struct err e;

	assert_int_equal(chmod(p->dir, 0777), 0);
	assert_int_equal(open_fails(p, &e), -EPERM);
	assert_non_null(strstr(e.text, "0777"));
	assert_int_equal(chmod(p->dir, 0700), 0);
	make_history(p, 1);
	if (geteuid())	/* who is not root gives nothing away */
		return;
	assert_int_equal(chown(p->file, 4711, 0), 0);
	assert_int_equal(open_fails(p, &e), -EPERM);
	assert_non_null(strstr(e.text, "4711"));
	assert_int_equal(chown(p->file, 0, 0), 0);
	assert_int_equal(chown(p->dir, 4711, 0), 0);
	assert_int_equal(open_fails(p, &e), -EPERM);
}

static void second_daemon_is_refused(void **state)
{
	const struct place *p = *state;
	struct history *h = open_place(p, NOW);
	struct err e;
	char pid[32];

	assert_int_equal(open_fails(p, &e), -EBUSY);
	assert_non_null(strstr(e.text, p->file));
	snprintf(pid, sizeof(pid), "process %d", getpid());
	assert_non_null(strstr(e.text, pid));
	add(h, 1);
	history_close(h);
	make_history(p, 1);
}

static pid_t hold(const struct place *p)
{
	int ready[2], status;
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct history *h = open_place(p, NOW);

		add(h, 1);
		if (!h || write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		waitpid(pid, &status, 0);
	close(ready[0]);
	return pid;
}

static void lock_ends_with_its_process(void **state)
{
	const struct place *p = *state;
	pid_t pid = hold(p);
	struct history *h;
	struct err e;
	int status;

	assert_int_equal(open_fails(p, &e), -EBUSY);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	h = open_place(p, NOW);
	assert_int_equal(count(h), 1);
	history_close(h);
}

static void another_program_has_it(void **state)
{
	const struct place *p = *state;
	sqlite3 *db;
	struct err e;

	make_history(p, 1);
	assert_int_equal(sqlite3_open(p->file, &db), SQLITE_OK);
	sqlite3_exec(db, "BEGIN; SELECT * FROM visit", NULL, NULL, NULL);
	assert_int_equal(open_fails(p, &e), -EBUSY);
	assert_non_null(strstr(e.text, "another program"));
	sqlite3_close(db);
	make_history(p, 1);
	assert_false(there_is(p, ".damaged"));
}

/* sqlite3 history.db 'SELECT ...', as the daemon begins */
static void another_program_has_it_for_a_moment(void **state)
{
	const struct place *p = *state;
	int ready[2];
	pid_t pid;
	char c;

	make_history(p, 1);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		sqlite3 *db;

		if (sqlite3_open(p->file, &db) ||
		    sqlite3_exec(db, "BEGIN; SELECT * FROM visit", NULL, NULL, NULL) ||
		    write(ready[1], "x", 1) != 1)
			_exit(1);
		usleep(LOOK_US);
		_exit(sqlite3_close(db) ? 1 : 0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	make_history(p, 1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* rm history.db, by somebody who wants to begin anew and does not stop the daemon */
static void removed_while_open(void **state)
{
	const struct place *p = *state;
	struct history *h = open_place(p, NOW);
	struct err e;

	add(h, 1);
	assert_int_equal(unlink(p->file), 0);
	assert_int_equal(history_tidy(h, NOW, &e), -ESTALE);
	assert_non_null(strstr(e.text, p->file));
	assert_int_equal(count(h), 0);
	add(h, 2);
	tidy(h, NOW);
	history_close(h);
	h = open_place(p, NOW);
	assert_int_equal(count(h), 1);
	history_close(h);
}

/* ... or after a kill -9, when its log is left */
static void removed_but_not_its_log(void **state)
{
	const struct place *p = *state;
	pid_t pid = hold(p);
	struct history *h;

	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(size_of(p, "-wal") > 0);
	assert_int_equal(unlink(p->file), 0);
	h = open_place(p, NOW);
	assert_int_equal(count(h), 0);
	add(h, 1);
	history_close(h);
	make_history(p, 1);
}

/* Pages go bad below an open database: it is set aside once it is seen, and goes on */
static void damaged_while_open(void **state)
{
	static const char bad[4096] = { 1, 2, 3 };
	const struct place *p = *state;
	struct err e = { "" };
	struct history *h;
	uint32_t n = 0;
	int fd, i, rc;

	make_history(p, 15000);
	h = open_place(p, NOW);
	fd = open(p->file, O_WRONLY | O_CLOEXEC);
	for (i = 2; i < 500; i++)
		assert_int_equal(pwrite(fd, bad, sizeof(bad), i * 4096), sizeof(bad));
	close(fd);
	rc = history_each(h, NULL, 0, count_one, &n, &e);
	assert_int_equal(rc, -EBADMSG);
	assert_non_null(strstr(e.text, ".damaged"));
	assert_true(there_is(p, ".damaged"));
	add(h, 1);
	assert_int_equal(count(h), 1);
	history_close(h);
	make_history(p, 1);
	assert_false(there_is(p, ".damaged.2"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_place, remove_place)
	const struct CMUnitTest tests[] = {
		TEST(is_private),
		TEST(log_is_private),
		TEST(empty_file_is_begun),
		TEST(empty_database_is_begun),
		TEST(text_is_set_aside),
		TEST(nuls_are_set_aside),
		TEST(another_program_s_is_set_aside),
		TEST(other_tables_are_set_aside),
		TEST(cut_short_is_set_aside),
		TEST(unknown_formats_are_set_aside),
		TEST(earlier_ones_are_kept),
		TEST(log_goes_with_it),
		TEST(log_goes_first),
		TEST(later_version_is_left),
		TEST(later_version_in_the_log_is_left),
		TEST(what_is_no_file),
		TEST(link_is_followed),
		TEST(link_to_what_is_not_there),
		TEST(link_that_others_may_make),
		TEST(of_others),
		TEST(second_daemon_is_refused),
		TEST(lock_ends_with_its_process),
		TEST(another_program_has_it),
		TEST(another_program_has_it_for_a_moment),
		TEST(removed_while_open),
		TEST(removed_but_not_its_log),
		TEST(damaged_while_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
