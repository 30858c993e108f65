// SPDX-License-Identifier: GPL-2.0
/*
 * The daemon's configuration: { a file, what comes of it }; and that the man page and the example
 * have every key.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "test.h"

#include "ctcpd/config.h"

static char file[64];

static int read_bytes(const char *text, size_t n, struct config *c, struct err *e)
{
	FILE *f = fopen(file, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
	e->text[0] = 0;
	return config_read(file, true, c, e);
}

static int read_text(const char *text, struct config *c, struct err *e)
{
	return read_bytes(text, strlen(text), c, e);
}

/* As text, with a word for a key's name */
static void values(const struct config *c, char *buf, size_t len)
{
	char value[CONFIG_VALUE];
	unsigned int i;

	for (*buf = 0, i = 0; config_key(i); i++)
		snprintf(buf + strlen(buf), len - strlen(buf), "%s=%s;", config_key(i),
			 config_value(c, i, value));
}

#define DEFAULTS "mode=observe;one-lock=no;subnets=no;poll=5s;look=200ms;min-rtt=1ms;" \
		 "history.file=/var/lib/ctcpd/history.db;history.size=64mb;history.visits=200000;history.keep=14d;metrics.listen=;"

static void test_defaults(void **state)
{
	struct config c;
	struct err e;
	char text[512];

	(void)state;
	config_defaults(&c);
	values(&c, text, sizeof(text));
	assert_string_equal(text, DEFAULTS);
	assert_int_equal(read_text("", &c, &e), 0);
	values(&c, text, sizeof(text));
	assert_string_equal(text, DEFAULTS);
	assert_int_equal(c.poll_us, 5000000);
	assert_int_equal(c.limits.keep_s, 1209600);
	assert_int_equal(c.limits.bytes, 67108864);
}

static void test_good(void **state)
{
	static const struct {
		const char *text, *part;
	} rows[] = {
		{ "[ctcpd]\nmode = observe\n", "mode=observe;" },
		{ "[ctcpd]\nmode = act\n", "mode=act;one-lock=no;subnets=no;" },
		{ "[ctcpd]\none-lock = yes\n", "mode=observe;one-lock=yes;" },
		{ "[ctcpd]\none-lock = no\n", "one-lock=no;" },
		{ "[ctcpd]\nsubnets = yes\n", "one-lock=no;subnets=yes;" },
		{ "[ctcpd]\npoll=1s", "poll=1s;" },
		{ "[ctcpd]\r\npoll = 60s\r\n", "poll=1min;" },
		{ "\xef\xbb\xbf[ctcpd]\npoll = 2s\n", "poll=2s;" },
		{ "  [ctcpd]\n\tpoll = 2s ; why\n", "poll=2s;" },
		{ "# poll = 3s\n[ctcpd]\n;look = 1s\nlook = none\n", "look=none;" },
		{ "[ctcpd] ; what it does\nlook = none\n[history]\t# none\n", "look=none;" },
		{ "[ctcpd]\nlook = 50ms\n", "look=50ms;" },
		{ "[ctcpd]\nmin-rtt = 1us\n", "min-rtt=1us;" },
		{ "[ctcpd]\nmin-rtt = none\n", "min-rtt=none;" },
		{ "[ctcpd]\npoll = 2s\n[history]\n[ctcpd]\nlook = 1s\n", "poll=2s;look=1s;" },
		{ "[history]\nfile =\n", "history.file=;" },
		{ "[history]\nfile = /a b/c\n", "history.file=/a b/c;" },
		{ "[history]\nsize = 1mb\n", "history.size=1mb;" },
		{ "[history]\nsize = 1.5gb\n", "history.size=1.5gb;" },
		{ "[history]\nvisits = 100\n", "history.visits=100;" },
		{ "[history]\nkeep = 366d\n", "history.keep=366d;" },
		{ "[history]\nkeep = 1h\n", "history.keep=1h;" },
		{ "[metrics]\nlisten = 127.0.0.1:9810\n", "metrics.listen=127.0.0.1:9810;" },
		{ "[metrics]\nlisten = [::1]:1\n", "metrics.listen=[::1]:1;" },
	};
	struct config c;
	struct err e;
	char text[512];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (read_text(rows[i].text, &c, &e))
			fail_msg("row %zu: refused: %s", i, e.text);
		values(&c, text, sizeof(text));
		if (!strstr(text, rows[i].part))
			fail_msg("row %zu: expected %s in %s", i, rows[i].part, text);
	}
}

static void test_bad(void **state)
{
	static const struct {
		const char *text, *line, *why;
	} rows[] = {
		{ "[ctcpd]\nmode = Observe\n", "2", "mode: \"Observe\" is no mode; observe and" },
		{ "[ctcpd]\none-lock = 1\n", "2", "one-lock: \"1\" is neither no nor yes" },
		{ "[ctcpd]\nsubnets = 24\n", "2", "subnets: \"24\" is neither no nor yes" },
		{ "[ctcpd]\nmode =\n", "2", "mode: \"\" is no mode" },
		{ "[ctcpd]\npoll = 5\n", "2", "poll: \"5\" has no unit; 5s or 5min?" },
		{ "[ctcpd]\n\npoll = 999ms\n", "3",
		  "poll: \"999ms\" is out of range; from 1s to 1min" },
		{ "[ctcpd]\npoll = 61s\n", "2", "from 1s to 1min" },
		{ "[ctcpd]\nlook = 49ms\n", "2", "from 50ms to 1s" },
		{ "[ctcpd]\nlook = 0\n", "2", "look: \"0\"" },
		{ "[ctcpd]\nmin-rtt = 2s\n", "2", "from 1us to 1s" },
		{ "[ctcpd]\npol = 5s\n", "2", "\"pol\" is no key of [ctcpd]; did you mean poll?" },
		{ "[ctcpd]\nfolder = /x\n", "2",
		  "\"folder\" is no key of [ctcpd]; ctcpd.conf(5) has them all" },
		{ "[ctcpd]\nfile = /x\n", "2",
		  "\"file\" is no key of [ctcpd]; file is a key of [history]" },
		{ "[history]\npoll = 5s\n", "2",
		  "\"poll\" is no key of [history]; poll is a key of [ctcpd]" },
		{ "listen = [::1]:9810\n", "1",
		  "\"listen\" stands before the first section; listen is a key of [metrics]" },
		{ "pol = 5s\n", "1",
		  "\"pol\" stands before the first section; [ctcpd] comes first" },
		{ "[ctcp]\n", "1", "[ctcp] is no section; [ctcpd], [history] and [metrics] are" },
		{ "[ctcpd]\n[Metrics]\n", "2", "[Metrics] is no section" },
		{ "[ctcpd] mode = act\n", "1",
		  "\"mode = act\" stands behind a section; a key has a line of its own" },
		{ "[ctcpd]\n[history] ]\n", "2", "\"]\" stands behind a section" },
		{ "[ctcpd]\nlook = 0\n", "2",
		  "look: \"0\" is out of range; from 50ms to 1s, or none" },
		{ "[ctcpd]\nmin-rtt = off\n", "2",
		  "min-rtt: \"off\" is not a time; write one from 1us to 1s, or none" },
		{ "[metrics]\nlisten = [::1]\n", "2", "\"[::1]\" is no address with a port" },
		{ "[ctcpd\n", "1", "\"[ctcpd\" is neither a [section] nor a key = value" },
		{ "[ctcpd]\npoll\n", "2", "\"poll\" is neither a [section] nor a key = value" },
		{ "[ctcpd]\npoll = 5s\npoll = 6s\n", "3", "poll is given a second time" },
		{ "[ctcpd]\npoll = 5s\n look = 9s\n", "3", "look: \"9s\" is out of range" },
		{ "[ctcpd]\npoll\npoll = 1\n", "2", "neither" },
		{ "[ctcpd]\npoll = 1\npoll\n", "2", "no unit" },
		{ "[history]\nfile = history.db\n", "2",
		  "file: \"history.db\" is no absolute path" },
		{ "[history]\nfile = /a\033b\n", "2",
		  "file: \"/a\\x1bb\" has bytes that are no text; UTF-8 without" },
		{ "[history]\nfile = /\xff\xc3\xa9\n", "2", "file: \"/\\xff\\xc3\\xa9\" has" },
		{ "[ctcpd]\nmode = \033[31mact\n", "2",
		  "mode: \"\\x1b[31mact\" is no mode; observe and act are" },
		{ "[ctcpd]\npoll = \3775s\n", "2", "poll: \"\\xff5s\" is not a time" },
		{ "[metrics]\nlisten = \177\n", "2", "\"\\x7f\" is no address with a port; write" },
		{ "[history]\nsize = 1023kb\n", "2", "size: \"1023kb\" is out of range; from 1mb" },
		{ "[history]\nsize = 4096mb\n", "2", "size: \"4096mb\" is out of range; from 1mb" },
		{ "[history]\nsize = 64mbit\n", "2", "size: unknown unit" },
		{ "[history]\nvisits = 99\n", "2",
		  "visits: \"99\" is out of range; from 100 to 10000000" },
		{ "[history]\nkeep = 59min\n", "2",
		  "keep: \"59min\" is out of range; from 1h to 366d" },
		{ "[metrics]\nlisten = 9810\n", "2", "listen: \"9810\" is no address with a port" },
		{ "[metrics]\nlisten = localhost:9810\n", "2", "\"localhost\" is no address" },
		{ "[metrics]\nlisten = 127.0.0.1:0\n", "2", "\"0\" is out of range" },
		{ "[metrics]\nlisten = 127.0.0.1:65536\n", "2", "\"65536\" is out of range" },
		{ "[metrics]\nlisten = ::1:9810\n", "2", "\"::1\" must be in brackets" },
		{ "[metrics]\nlisten = [127.0.0.1]:9810\n", "2", "write it without brackets" },
	};
	struct config c, before;
	struct err e;
	char where[80];
	size_t i;

	(void)state;
	config_defaults(&before);
	before.poll_us = 7000000;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		c = before;
		if (!read_text(rows[i].text, &c, &e))
			fail_msg("row %zu: taken: %s", i, rows[i].text);
		snprintf(where, sizeof(where), "%s, line %s: ", file, rows[i].line);
		if (strncmp(e.text, where, strlen(where)) || !strstr(e.text, rows[i].why))
			fail_msg("row %zu: expected %s%s, got %s", i, where, rows[i].why, e.text);
		assert_memory_equal(&c, &before, sizeof(c));
	}
}

/* Never a part of a line for a whole one */
static void test_long_line(void **state)
{
	static const char head[] = "[history]\nfile = /", tail[] = "\n[ctcpd]\npoll = 2s\n";
	char text[1024];
	struct config c;
	struct err e;
	size_t n;

	(void)state;
	for (n = 1; n < 600; n++) {
		strcpy(text, head);
		memset(text + strlen(head), 'x', n);
		strcpy(text + strlen(head) + n, tail);
		if (!read_text(text, &c, &e)) {
			assert_int_equal(strlen(c.history), n + 1);
			assert_int_equal(c.poll_us, 2000000);
			assert_true(strlen("file = /") + n <= 198);
		} else {
			assert_true(strlen("file = /") + n > 198);
			assert_non_null(strstr(e.text, "line 2: "));
			assert_non_null(strstr(e.text, "has more than 198 bytes"));
		}
	}
}

static void test_no_text(void **state)
{
	static char big[70000];
	struct config c;
	struct err e;

	(void)state;
	assert_int_equal(read_bytes("[ctcpd]\n\0poll = 2s\n", 19, &c, &e), -EILSEQ);
	assert_non_null(strstr(e.text, ", line 2: \"\\x00poll = 2s\" has bytes that are no text"));
	assert_int_equal(read_bytes("[ctcpd]\npoll = 2s\nmode = \0ct", 28, &c, &e), -EILSEQ);
	assert_non_null(strstr(e.text, ", line 3: \"mode = \\x00ct\" has bytes that are no text"));
	assert_non_null(strstr(e.text, "UTF-8 without control characters is right"));
	assert_int_equal(read_bytes(big, sizeof(big) - 5000, &c, &e), -EILSEQ);
	assert_non_null(strstr(e.text, ", line 1: \"\\x00\\x00"));
	assert_non_null(strstr(e.text, "\\x00...\" has bytes"));
	memset(big, '\n', sizeof(big));
	assert_int_equal(read_bytes(big, 65536, &c, &e), 0);
	assert_int_equal(read_bytes(big, 65537, &c, &e), -EFBIG);
	assert_non_null(strstr(e.text, "more than 65536 bytes"));
}

static void refused(const char *name, int want, const char *why)
{
	struct err e = { "" };
	struct config c;
	int rc = config_read(name, false, &c, &e);

	if (rc != want || !strstr(e.text, why))
		fail_msg("%s: expected %d, %s; got %d, %s", name, want, why, rc, e.text);
}

static void test_missing(void **state)
{
	struct config c;
	struct err e;

	(void)state;
	assert_int_equal(config_read("/nonexistent/ctcpd.conf", false, &c, &e), 0);
	assert_int_equal(c.poll_us, 5000000);
	assert_int_equal(config_read("/nonexistent/ctcpd.conf", true, &c, &e), -ENOENT);
	assert_non_null(strstr(e.text, "/nonexistent/ctcpd.conf cannot be opened: No such file"));
}

/* What is no regular file is refused, and nobody waits for who would write to it. */
static void test_kinds(void **state)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char fifo[80], link[80];
	struct config c;
	struct err e;
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	snprintf(fifo, sizeof(fifo), "%s.fifo", file);
	snprintf(link, sizeof(link), "%s.link", file);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s.socket", file);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(symlink(file, link), 0);
	assert_int_equal(bind(s, (struct sockaddr *)&at, sizeof(at)), 0);
	alarm(60);
	refused("/", -EISDIR, "/ is a directory; a configuration is a regular file");
	refused(fifo, -EINVAL, ".fifo is a FIFO; a configuration is a regular file");
	refused(at.sun_path, -EINVAL, ".socket is a socket; a configuration is");
	refused("/dev/null", -EINVAL, "/dev/null is a device; a configuration is");
	refused("/dev/zero", -EINVAL, "/dev/zero is a device; a configuration is");
	assert_int_equal(read_text("[ctcpd]\npoll = 2s\n", &c, &e), 0);
	assert_int_equal(config_read(link, true, &c, &e), 0);
	assert_int_equal(c.poll_us, 2000000);
	alarm(0);
	close(s);
	unlink(at.sun_path);
	unlink(link);
	unlink(fifo);
}

/* --- what people read --------------------------------------------------------------- */

static char *slurp(const char *name)
{
	static char text[32768];
	FILE *f = fopen(name, "r");
	size_t n;

	if (!f)
		fail_msg("%s: %s", name, strerror(errno));
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = 0;
	return text;
}

static const char *word_of(unsigned int i)
{
	const char *dot = strchr(config_key(i), '.');

	return dot ? dot + 1 : config_key(i);
}

/* Each key at the head of a paragraph, in the page's own spelling of a hyphen */
static void test_man_page(void **state)
{
	char *text = slurp(TOOLS_DIR "/man/ctcpd.conf.5"), want[64], *dash;
	unsigned int i;

	(void)state;
	for (i = 0; config_key(i); i++) {
		snprintf(want, sizeof(want), "\n.TP\n.BI %s\\~=", word_of(i));
		dash = strchr(want, '-');
		if (dash) {
			memmove(dash + 1, dash, strlen(dash) + 1);
			*dash = '\\';
		}
		if (strstr(text, want))
			continue;
		want[7] = 'R';		/* .BR where the value is one word */
		if (!strstr(text, want))
			fail_msg("ctcpd.conf(5) has no %s", config_key(i));
	}
}

/* The example is taken; with its comments made lines it has every default. */
static void test_example(void **state)
{
	char *text = slurp(TOOLS_DIR "/ctcpd/ctcpd.conf"), values_text[512], want[64], *p;
	struct config c;
	struct err e;
	unsigned int i;

	(void)state;
	if (read_text(text, &c, &e))
		fail_msg("the example: %s", e.text);
	for (p = text; (p = strstr(p, "\n#")); p++)
		if (p[2] >= 'a' && p[2] <= 'z')
			p[1] = ' ';
	for (i = 0; config_key(i); i++) {
		snprintf(want, sizeof(want), "\n %s =", word_of(i));
		if (!strstr(text, want))
			fail_msg("the example has no %s", config_key(i));
	}
	if (read_text(text, &c, &e))
		fail_msg("the example's defaults: %s", e.text);
	values(&c, values_text, sizeof(values_text));
	assert_string_equal(values_text, DEFAULTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_no_text),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_man_page),
		cmocka_unit_test(test_example),
	};
	int fd, rc;

	strcpy(file, "/tmp/test_ctcpd_config.XXXXXX");
	fd = mkstemp(file);
	if (fd < 0)
		return 1;
	close(fd);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(file);
	return rc;
}
