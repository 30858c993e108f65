// SPDX-License-Identifier: GPL-2.0
/*
 * The command line of ctcpd end to end, of what ends at once: { exit status, arguments, stderr },
 * by which systemd decides whether it is begun again.  %s in arguments is a folder of the test's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "program.h"

#include "ctcpd/run.h"

#define LIMIT_S 60U	/* for one that goes on though it should not */

struct row {
	int rc;
	const char *args;
	const char *err;	/* in stderr; "" = nothing there */
};

static char dir[64];

static void write_file(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void run_program(const char *args)
{
	char words[512], line[1024];

	snprintf(words, sizeof(words), args, dir, dir);
	snprintf(line, sizeof(line), "exec %s/ctcpd %s >%s/out 2>%s/err", TEST_DIR, words, dir,
		 dir);
	alarm(LIMIT_S);
	execl("/bin/sh", "sh", "-c", line, NULL);
}

static void check(const struct row *r)
{
	int status = program_status(run_program, r->args);
	char err[4096];

	program_wrote(dir, "err", err, sizeof(err));
	if (!WIFEXITED(status) || WEXITSTATUS(status) != r->rc)
		fail_msg("ctcpd %s: status %#x, expected exit %d: %s", r->args, status, r->rc,
			 err);
	if (!program_matches(err, r->err))
		fail_msg("ctcpd %s: expected \"%s\", got %s", r->args, r->err, err);
	if (r->rc && !program_is_error(err, "ctcpd: "))
		fail_msg("ctcpd %s: not one line of ctcpd's: %s", r->args, err);
}

static void check_all(const struct row *rows, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		check(&rows[i]);
}

static void test_usage(void **state)
{
	static const struct row rows[] = {
		{ 0, "--help", "" },
		{ 0, "run --help", "" },
		{ 2, "", "which command?" },
		{ 2, "rum", "did you mean run?" },
		{ 2, "run --confg x", "unknown option \"--confg\"" },
		{ 2, "run --config", "--config needs a value" },
		{ 2, "run now", "\"now\" is one word too many" },
	};

	(void)state;
	check_all(rows, ARRAY_SIZE(rows));
}

/* Begun again it would be as wrong */
static void test_wrong_configuration(void **state)
{
	static const struct row rows[] = {
		{ EX_CONFIG, "run --config %s/key --socket %s/socket", "\"pol\" is no key" },
		{ EX_CONFIG, "run --config %s/value --socket %s/socket", "\"5\" has no unit" },
		{ EX_CONFIG, "run --config %s/twice --socket %s/socket", "a second time" },
		{ EX_CONFIG, "run --config %s/none --socket %s/socket", "No such file" },
		{ EX_CONFIG, "run --config %s --socket %s/socket", "is a directory;" },
		{ EX_CONFIG, "run --config %s/good --socket %s/good/socket", "Not a directory" },
		{ EX_CONFIG, "run --config %s/good --socket %s/none/of/these", "No such file" },
		{ EX_CONFIG, "run --config %s/good --socket %s/good", "is no socket; move it" },
		{ EX_CONFIG, "run --config %s/good --socket ''", "is no name for a socket" },
	};

	(void)state;
	write_file("good", "[ctcpd]\npoll = 5s\n[history]\nfile =\n");
	write_file("key", "[ctcpd]\npol = 5s\n");
	write_file("value", "[ctcpd]\npoll = 5\n");
	write_file("twice", "[ctcpd]\npoll = 5s\npoll = 5s\n");
	check_all(rows, ARRAY_SIZE(rows));
}

/* What ends without anybody's doing: the one who is in the way may end first */
static void test_passing(void **state)
{
	static const struct row rows[] = {
		{ 1, "run --config %s/good --socket %s/held", "another ctcpd answers" },
		{ 1, "status --socket %s/nobody", "is it running?" },
	};
	char path[128];
	int fd;

	(void)state;
	write_file("good", "[history]\nfile =\n");
	snprintf(path, sizeof(path), "%s/held.lock", dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	check_all(rows, ARRAY_SIZE(rows));
	close(fd);
}

/* Those that no file of a test's can bring: a server of files that is slow or away, and the like */
static void test_errors(void **state)
{
	static const int lasting[] = {
		EINVAL, EFBIG, EILSEQ, EEXIST, ENAMETOOLONG, ENOENT, ENOTDIR, EISDIR, ENXIO, ELOOP,
		EACCES, EPERM, EROFS,
	};
	static const int passing[] = {
		ENOMEM, ENOBUFS, EMFILE, ENFILE, ENOSPC, EDQUOT, EIO, EINTR, EAGAIN, EBUSY,
		EADDRINUSE, ENOLCK, ESTALE, ETIMEDOUT, ENOTCONN, EHOSTDOWN, EHOSTUNREACH,
		ECONNREFUSED, ETXTBSY,
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lasting); i++)
		if (!run_error_lasts(-lasting[i]))
			fail_msg("%s: it passes", strerror(lasting[i]));
	for (i = 0; i < ARRAY_SIZE(passing); i++)
		if (run_error_lasts(-passing[i]))
			fail_msg("%s: it lasts", strerror(passing[i]));
}

/* The unit names these, and the man pages what they are. */
static void test_unit(void **state)
{
	static const char *const texts[][2] = {
		{ TOOLS_DIR "/systemd/ctcpd.service.in", "\nRestartPreventExitStatus=2 78\n" },
		{ TOOLS_DIR "/man/ctcpd.8", "\n.SH EXIT STATUS\n" },
		{ TOOLS_DIR "/man/ctcpd.8", "\n.TP\n.B 78\n" },
		{ TOOLS_DIR "/man/ctcpd.conf.5", "\nthen ends with exit status 78, " },
	};
	static char text[65536];
	size_t i, n;
	FILE *f;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		f = fopen(texts[i][0], "r");
		assert_non_null(f);
		n = fread(text, 1, sizeof(text) - 1, f);
		text[n] = 0;
		fclose(f);
		if (!strstr(text, texts[i][1]))
			fail_msg("%s has no %s", texts[i][0], texts[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_wrong_configuration),
		cmocka_unit_test(test_passing),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_unit),
	};
	char command[80];
	int rc;

	strcpy(dir, "/tmp/test_ctcpd_cli.XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command) ? 1 : rc;
}
