// SPDX-License-Identifier: GPL-2.0
/*
 * The folders of what is pinned, in one of the test's own: whose they are, what cannot be seen, and
 * what goes of another version's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

#include "ctcpd/pace_pins.h"
#include "ctcpd/pace_slot.h"

#define COOKIE 4711U

static char root[128];

static int make_root(void **state)
{
	(void)state;
	strcpy(root, TEST_DIR "/pins.XXXXXX");
	return !mkdtemp(root);
}

static int remove_root(void **state)
{
	char command[160];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

/* With what the program is pinned by */
static void pin(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	assert_int_equal(mkdir(path, 0700), 0);
	strcat(path, "/event");
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static bool is_there(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	return !access(path, F_OK);
}

static void assert_look(int rc, const char *says)
{
	struct err e = { "" };
	int got = pace_pins_look(root, COOKIE, &e);

	if (got != rc || !strstr(e.text, says))
		print_message("expected %d, \"%s\", got %d, \"%s\"\n", rc, says, got, e.text);
	assert_int_equal(got, rc);
	assert_non_null(strstr(e.text, says));
}

/* Another layout has another number: what is there is not read as what it is not. */
static void layout_is_numbered(void **state)
{
	(void)state;
	assert_int_equal(PACE_LAYOUT, 1);
	assert_int_equal(sizeof(struct pace_key), 28);
	assert_int_equal(sizeof(struct pace_slot), 80);
	assert_int_equal(sizeof(struct pace_mark), 64);
	assert_int_equal(PACE_SLOTS, 8192);
}

static void names(void **state)
{
	char dir[PACE_DIR];

	(void)state;
	pace_pins_name(dir, "/sys/fs/bpf/ctcpd", COOKIE, 1);
	assert_string_equal(dir, "/sys/fs/bpf/ctcpd/4711");
	pace_pins_name(dir, "/sys/fs/bpf/ctcpd", UINT64_MAX, 23);
	assert_string_equal(dir, "/sys/fs/bpf/ctcpd/18446744073709551615-23");
}

static void ours(void **state)
{
	(void)state;
	assert_look(0, "");
	pin("4712");
	pin("own");
	pin("4711-2x");
	assert_look(0, "");
	pin("4711");
	assert_look(1, "");
	pin("4711-2");
	assert_look(1, "");
}

static void no_root(void **state)
{
	struct notes notes = { 0 };

	(void)state;
	assert_int_equal(rmdir(root), 0);
	assert_look(0, "");
	pace_pins_drop_others(root, COOKIE, &notes);
	assert_int_equal(notes.n, 0);
}

/* Not that nothing is there: a path that leads to itself stands for one that is not allowed. */
static void cannot_be_seen(void **state)
{
	struct notes notes = { 0 };

	(void)state;
	assert_int_equal(rmdir(root), 0);
	assert_int_equal(symlink(root, root), 0);
	assert_look(-EOPNOTSUPP, "4711 cannot be looked for: Too many levels");
	pace_pins_drop_others(root, COOKIE, &notes);
	assert_int_equal(notes.n, 0);
}

static void another_versions(void **state)
{
	struct notes notes = { 0 };

	(void)state;
	pin("4711-2");
	pin("4712-2");
	assert_look(-ESTALE, "/4711-2 ends it for connections that begin");
	pace_pins_drop_others(root, COOKIE, &notes);
	assert_int_equal(notes.n, 1);
	assert_non_null(strstr(notes.text[0], "/4711-2: its connections keep their rate until"));
	assert_false(is_there("4711-2"));
	assert_true(is_there("4712-2/event"));
	assert_look(0, "");
}

/* Ours stay, and those of a version that runs. */
static void what_is_used_stays(void **state)
{
	struct notes notes = { 0 };
	char path[256];
	int fd;

	(void)state;
	pin("4711");
	pin("4711-2");
	snprintf(path, sizeof(path), "%s/4711-2", root);
	fd = open(path, O_RDONLY | O_DIRECTORY);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	pace_pins_drop_others(root, COOKIE, &notes);
	assert_int_equal(notes.n, 0);
	assert_true(is_there("4711-2/event"));
	close(fd);
	pace_pins_drop_others(root, COOKIE, &notes);
	assert_int_equal(notes.n, 1);
	assert_false(is_there("4711-2"));
	assert_true(is_there("4711/event"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_root, remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(layout_is_numbered),
		TEST(names),
		TEST(ours),
		TEST(no_root),
		TEST(cannot_be_seen),
		TEST(another_versions),
		TEST(what_is_used_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
