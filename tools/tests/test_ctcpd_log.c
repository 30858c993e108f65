// SPDX-License-Identifier: GPL-2.0
/*
 * The daemon's log: what is said again, with a clock of the test's; how a line looks; and what
 * systemd is told.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "test.h"

#include "ctcpd/log.h"
#include "ctcpd/notify.h"
#include "ctcpd/observe.h"

#define S	1000000ULL	/* us */
#define START	(1000 * S)
#define DAY	(86400 * S)

/* --- what is said again ---------------------------------------------------------------- */

static void test_fate(void **state)
{
	static const struct {
		uint64_t at;		/* s */
		const char *subject, *what;
		enum log_fate fate;
	} rows[] = {
		{ 0, "a", "overrun", LOG_SAY },
		{ 1, "a", "overrun", LOG_SAID },
		{ 2, "b", "overrun", LOG_SAY },		/* another subject */
		{ 59, "a", "clean", LOG_HELD },
		{ 60, "a", "clean", LOG_SAY },		/* held, and it still holds */
		{ 61, "a", "clean", LOG_SAID },
		{ 62, "a", "overrun", LOG_HELD },
		{ 63, "a", "clean", LOG_SAID },		/* it came and went: nothing is said */
		{ 86459, "a", "clean", LOG_SAID },
		{ 86460, "a", "clean", LOG_SAY },	/* a day */
		{ 86461, "a", "clean", LOG_SAID },
		{ 86462, "b", "overrun", LOG_SAY },
	};
	struct log_memory m;
	size_t i;

	(void)state;
	log_memory_init(&m);
	assert_true(log_is_new(&m, "a"));
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		enum log_fate got = log_fate(&m, rows[i].subject, rows[i].what,
					     START + rows[i].at * S);

		if (got != rows[i].fate)
			fail_msg("row %zu: expected %d, got %d", i, rows[i].fate, got);
	}
	assert_false(log_is_new(&m, "a"));
	log_forget(&m, "a");
	log_forget(&m, "never");
	assert_true(log_is_new(&m, "a"));
	assert_int_equal(log_fate(&m, "a", "clean", START + DAY + 100 * S), LOG_SAY);
	log_memory_free(&m);
}

/* States that differ only behind what is remembered of them would be one. */
static void test_long_state(void **state)
{
	struct log_memory m;

	(void)state;
	log_memory_init(&m);
	assert_int_equal(log_fate(&m, "a", "a state that is longer than it may be", START),
			 LOG_SAY);
	assert_int_equal(log_fate(&m, "a", "a state that is longer than it may be", START + S),
			 LOG_SAID);
	log_memory_free(&m);
}

/* Bounded: the subject of which nothing was said for longest is forgotten. */
static void test_bound(void **state)
{
	struct log_memory m;
	char name[32];
	uint32_t i;

	(void)state;
	log_memory_init(&m);
	for (i = 0; i < LOG_SUBJECTS; i++) {
		snprintf(name, sizeof(name), "remote %u", i);
		assert_int_equal(log_fate(&m, name, "loss", START), LOG_SAY);
	}
	assert_int_equal(m.subjects.n, LOG_SUBJECTS);
	assert_int_equal(log_fate(&m, "remote 0", "loss", START), LOG_SAID);
	assert_int_equal(log_fate(&m, "one more", "loss", START), LOG_SAY);
	assert_int_equal(m.subjects.n, LOG_SUBJECTS);
	assert_false(log_is_new(&m, "remote 0"));
	assert_true(log_is_new(&m, "remote 1"));
	assert_false(log_is_new(&m, "remote 2"));
	log_memory_free(&m);
}

/* --- lines ---------------------------------------------------------------------------- */

struct capture {
	int saved, file;
};

static struct capture begin_capture(void)
{
	char name[] = "/tmp/test_ctcpd_log.XXXXXX";
	struct capture c = { dup(STDERR_FILENO), mkstemp(name) };

	assert_true(c.saved >= 0 && c.file >= 0);
	unlink(name);
	dup2(c.file, STDERR_FILENO);
	return c;
}

static void end_capture(struct capture *c, char *text, size_t room)
{
	ssize_t n = pread(c->file, text, room - 1, 0);

	dup2(c->saved, STDERR_FILENO);
	close(c->saved);
	close(c->file);
	assert_true(n >= 0);
	text[n] = 0;
}

static void test_lines(void **state)
{
	static const char want[] = "ctcpd: 2 words?of a stranger\nctcpd: 1 loss\nctcpd: debug\n"
				   "ctcpd: xx";
	char text[4096], long_text[2000];
	struct capture c = begin_capture();
	struct log l;

	(void)state;
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = 0;
	unsetenv("JOURNAL_STREAM");
	log_open(&l, false);
	log_say(&l, LOG_WARNING, "%d words\nof a stranger", 2);
	log_say(&l, LOG_DEBUG, "not said");
	assert_true(log_state(&l, LOG_NOTICE, "a", "loss", "1 loss"));
	assert_false(log_state(&l, LOG_NOTICE, "a", "loss", "2 loss"));
	l.debug = true;
	log_say(&l, LOG_DEBUG, "debug");
	log_say(&l, LOG_ERR, "%s", long_text);
	log_close(&l);
	end_capture(&c, text, sizeof(text));
	assert_memory_equal(text, want, sizeof(want) - 1);
	assert_string_equal(text + strlen(text) - 3, "xx\n");
	assert_true(strlen(text) < 1200);
}

/* Under systemd: only where stderr is the journal's own stream */
static void test_priorities(void **state)
{
	char text[256], stream[64];
	struct capture c = begin_capture();
	struct stat st;
	struct log l;

	(void)state;
	assert_int_equal(fstat(STDERR_FILENO, &st), 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	log_open(&l, false);
	log_say(&l, LOG_WARNING, "one");
	log_close(&l);
	setenv("JOURNAL_STREAM", "1:1", 1);
	log_open(&l, false);
	log_say(&l, LOG_WARNING, "two");
	log_close(&l);
	/* an inode's number is that of one device */
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev + 1,
		 (unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	log_open(&l, false);
	log_say(&l, LOG_WARNING, "another device");
	log_close(&l);
	setenv("JOURNAL_STREAM", "nonsense", 1);
	log_open(&l, false);
	log_say(&l, LOG_INFO, "three");
	log_close(&l);
	unsetenv("JOURNAL_STREAM");
	end_capture(&c, text, sizeof(text));
	assert_string_equal(text, "<4>one\nctcpd: two\nctcpd: another device\nctcpd: three\n");
}

/* --- verdicts -------------------------------------------------------------------------- */

/* A poll in which all remotes that there may be lose; the log's lines, and the last one */
static unsigned int tell_all(struct log *l, const struct config *config, char *last, size_t len)
{
	static char text[1U << 20];
	struct telling t = { .config = config, .log = l };
	struct remote r = { .addr = { AF_INET, 32, { 10 } }, .flows = 1,
			    .now.verdict = VERDICT_LOSS };
	struct capture c = begin_capture();
	unsigned int lines = 0;
	char *line, *rest = text;
	uint32_t i;

	for (i = 0; i < REMOTES_MAX; i++) {
		r.addr.addr[2] = (unsigned char)(i >> 8);
		r.addr.addr[3] = (unsigned char)i;
		tell(&r, &t);
	}
	tell_end(&t);
	end_capture(&c, text, sizeof(text));
	*last = 0;
	while ((line = strsep(&rest, "\n")) && *line) {
		snprintf(last, len, "%s", line);
		lines++;
	}
	return lines;
}

/* A path that all remotes share: some lines of the first poll, and none of the next */
static void test_all_change(void **state)
{
	struct config config;
	char last[256], want[100];
	struct log l;

	(void)state;
	config_defaults(&config);
	log_open(&l, false);
	assert_int_equal(tell_all(&l, &config, last, sizeof(last)), TELL_LINES + 1);
	snprintf(want, sizeof(want), "ctcpd: and %u more remotes changed; ctcpd status has them",
		 REMOTES_MAX - TELL_LINES);
	assert_string_equal(last, want);
	assert_int_equal(tell_all(&l, &config, last, sizeof(last)), 0);
	log_close(&l);
}

/* --- systemd ----------------------------------------------------------------------------- */

static int bound(const char *name, socklen_t len)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	memcpy(at.sun_path, name, len);
	assert_int_equal(bind(fd, (struct sockaddr *)&at,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)), 0);
	return fd;
}

static void heard(int fd, const char *want)
{
	char buf[64];
	ssize_t n = recv(fd, buf, sizeof(buf) - 1, MSG_DONTWAIT);

	assert_true(n >= 0);
	buf[n] = 0;
	assert_string_equal(buf, want);
}

static void test_notify(void **state)
{
	char path[64], abstract[64];
	int fd;

	(void)state;
	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(notify("READY=1"), 0);
	snprintf(path, sizeof(path), "/tmp/test_ctcpd_notify.%d", getpid());
	unlink(path);
	fd = bound(path, (socklen_t)strlen(path) + 1);
	setenv("NOTIFY_SOCKET", path, 1);
	assert_int_equal(notify("READY=1\nSTATUS=observes"), 0);
	heard(fd, "READY=1\nSTATUS=observes");
	close(fd);
	unlink(path);
	assert_int_equal(notify("WATCHDOG=1"), -ENOENT);

	snprintf(abstract, sizeof(abstract), "@test_ctcpd_notify.%d", getpid());
	setenv("NOTIFY_SOCKET", abstract, 1);
	abstract[0] = 0;
	fd = bound(abstract, (socklen_t)strlen(abstract + 1) + 1);
	assert_int_equal(notify("WATCHDOG=1"), 0);
	heard(fd, "WATCHDOG=1");
	close(fd);
	setenv("NOTIFY_SOCKET", "vsock:2:9999", 1);
	assert_int_equal(notify("READY=1"), -EAFNOSUPPORT);
	setenv("NOTIFY_SOCKET", "/", 1);
	assert_int_equal(notify("READY=1"), -EAFNOSUPPORT);
	unsetenv("NOTIFY_SOCKET");
}

static void test_watchdog(void **state)
{
	char pid[16];

	(void)state;
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	assert_int_equal(notify_watchdog(), 0);
	setenv("WATCHDOG_USEC", "30000000", 1);
	assert_int_equal(notify_watchdog(), 15000000);
	setenv("WATCHDOG_PID", "1", 1);
	assert_int_equal(notify_watchdog(), 0);
	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("WATCHDOG_PID", pid, 1);
	assert_int_equal(notify_watchdog(), 15000000);
	setenv("WATCHDOG_USEC", "30s", 1);
	assert_int_equal(notify_watchdog(), 0);
	setenv("WATCHDOG_USEC", "99999999999999999999", 1);
	assert_int_equal(notify_watchdog(), 0);
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fate),
		cmocka_unit_test(test_long_state),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_priorities),
		cmocka_unit_test(test_all_change),
		cmocka_unit_test(test_notify),
		cmocka_unit_test(test_watchdog),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
