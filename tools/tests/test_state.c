// SPDX-License-Identifier: GPL-2.0
/*
 * The state: its text, its file, the lock.  A file that is replaced.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#include "args.h"
#include "holder.h"
#include "out.h"
#include "replace.h"
#include "store.h"
#include "timer.h"
#include "words.h"

#define BOOT "3b1f-boot"

struct fixture {
	struct state st;
	char *text;
	size_t len;
};

static void add_base(struct state *st, enum item_kind kind, const char *name, int ifindex,
		     const char *before, const char *ours, const char *next)
{
	struct base *b = state_add_base(st, kind, name, ifindex, before);

	assert_non_null(b);
	assert_int_equal(state_text(st, &b->ours, ours), 0);
	assert_int_equal(state_text(st, &b->next, next), 0);
}

static struct circuit sample(const char *dev)
{
	struct circuit c = CIRCUIT_DEFAULTS;
	struct err e;

	strcpy(c.dev, dev);
	c.rate = 500000000;
	c.rtt_us = 26000;
	c.multiple = 1305;
	c.streams = 4;
	c.mss = 1448;
	c.limit = 16900782;
	c.uplink = 1250000000;
	c.loss = 45455;
	c.shaper = SHAPER_FQ;
	c.pace = true;
	c.early_window = true;
	c.guarantee = GUARANTEE_SEMI;
	c.prefer = PREFER_CIRCUIT;
	c.default_cc = true;
	assert_int_equal(parse_to("2001:db8::/32,192.0.2.0/24,198.51.100.0/25", &c, &e), 0);
	assert_int_equal(parse_via("2001:db8:ffff::1", &c, &e), 0);
	assert_int_equal(parse_via("198.51.100.1", &c, &e), 0);
	return c;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct circuit c = sample("eth1"), d = CIRCUIT_DEFAULTS;

	assert_non_null(state_add(&f->st, &c, 7));
	strcpy(d.dev, "-a\"b\\");
	strcpy(d.name, "odd");
	d.rate = 77760001;
	d.rtt_us = 26001;
	d.overbook = true;
	d.burst = 2000;
	d.guarantee = GUARANTEE_NONE;
	assert_non_null(state_add(&f->st, &d, 8));
	f->st.circuits[1].standing = ADDING;
	add_base(&f->st, ITEM_SYSCTL, "net.ipv4.tcp_rmem", 0, "4096 131072 6291456",
		 "4096 131072 67603128", NULL);
	add_base(&f->st, ITEM_QDISC, "-a\"b\\", 8, "default", "default", "tbf \"odd\\ \\\"");
	add_base(&f->st, ITEM_SYSCTL, ALLOWED_CC, 0, "", "circuit", NULL);
	*state = f;
	return state_format(&f->st, BOOT, &f->text, &f->len);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	state_free(&f->st);
	free(f->text);
	free(f);
	return 0;
}

static void assert_same(const struct state *a, const struct state *b)
{
	char *ta, *tb;
	size_t la, lb;

	assert_int_equal(state_format(a, BOOT, &ta, &la), 0);
	assert_int_equal(state_format(b, BOOT, &tb, &lb), 0);
	assert_string_equal(ta, tb);
	free(ta);
	free(tb);
}

/* Every member of it. */
static void assert_circuit(const struct circuit *a, const struct circuit *b)
{
	uint32_t i;

	assert_string_equal(a->dev, b->dev);
	assert_string_equal(a->name, b->name);
	assert_int_equal(a->rate, b->rate);
	assert_int_equal(a->rtt_us, b->rtt_us);
	assert_int_equal(a->multiple, b->multiple);
	assert_int_equal(a->streams, b->streams);
	assert_int_equal(a->mss, b->mss);
	assert_int_equal(a->burst, b->burst);
	assert_int_equal(a->limit, b->limit);
	assert_int_equal(a->uplink, b->uplink);
	assert_int_equal(a->loss, b->loss);
	assert_int_equal(a->shaper, b->shaper);
	assert_int_equal(a->n_to, b->n_to);
	for (i = 0; i < a->n_to; i++)
		assert_true(prefix_equal(&a->to[i], &b->to[i]));
	for (i = 0; i < 2; i++)
		assert_true(prefix_equal(&a->via[i], &b->via[i]));
	assert_int_equal(a->default_cc, b->default_cc);
	assert_int_equal(a->pace, b->pace);
	assert_int_equal(a->early_window, b->early_window);
	assert_int_equal(a->overbook, b->overbook);
	assert_int_equal(a->guarantee, b->guarantee);
	assert_int_equal(a->prefer, b->prefer);
	assert_int_equal(a->rest, b->rest);
}

static void test_there_and_back(void **state)
{
	struct fixture *f = *state;
	struct state back;
	struct err e = { "" };

	if (state_parse(f->text, f->len, BOOT, &back, &e))
		print_error("%s\n%s\n", e.text, f->text);
	assert_int_equal(back.n_circuits, 2);
	assert_int_equal(back.n_base, 3);
	assert_circuit(&back.circuits[0].circuit, &f->st.circuits[0].circuit);
	assert_circuit(&back.circuits[1].circuit, &f->st.circuits[1].circuit);
	assert_int_equal(back.circuits[1].ifindex, 8);
	assert_string_equal(back.base[1].next, "tbf \"odd\\ \\\"");
	assert_true(state_is_pending(&back));
	assert_same(&f->st, &back);
	state_free(&back);
}

/* Any name that the kernel takes: of a device that was renamed since, and of what is on it. */
static void test_any_device(void **state)
{
	static const char * const names[] = {
		"e\377\0011", "\033[2J", "\"", "\\", "#", "--", "a\"\\\177", "\300\200", "gr\303\266\303\237e0",
		"\001\002\003\004\005\006\007\010\016\017\020\021\022\023\024",
	};
	struct fixture *f = *state;
	char name[ITEM_NAME], value[ITEM_VALUE];
	struct state back;
	struct err e = { "" };
	struct device_now now = { .ifindex = 7 };
	char *text;
	size_t i, len;

	add_base(&f->st, ITEM_CLASS, "eth1 c7c0:1", 7, "absent", "x", NULL);
	add_base(&f->st, ITEM_TXQLEN, "eth1", 7, "0", "1000", NULL);
	add_base(&f->st, ITEM_CIRCUIT, "lhc", 7, "absent",
		 "window=9 prefixes=192.0.2.0/24 dev=eth1", NULL);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(now.dev, sizeof(now.dev), "%s", names[i]);
		assert_int_equal(state_devices_are(&f->st, &now, 1), 0);
		assert_int_equal(state_format(&f->st, BOOT, &text, &len), 0);
		if (state_parse(text, len, BOOT, &back, &e))
			fail_msg("%s", e.text);
		assert_same(&f->st, &back);
		assert_circuit(&back.circuits[0].circuit, &f->st.circuits[0].circuit);
		assert_string_equal(back.circuits[0].circuit.dev, names[i]);
		snprintf(name, sizeof(name), "%s c7c0:1", names[i]);
		assert_string_equal(back.base[3].name, name);
		assert_string_equal(back.base[4].name, names[i]);
		snprintf(value, sizeof(value), "window=9 prefixes=192.0.2.0/24 dev=%s", names[i]);
		assert_string_equal(back.base[5].ours, value);
		state_free(&back);
		free(text);
	}
}

/* A change that waits: each word of its line, and what is on trial and what was before. */
static void begin_to_wait(struct state *st)
{
	struct confirm *c = &st->confirm;

	c->deadline = 93784000123456ULL;
	c->uid = UINT32_MAX - 1;
	c->pid = 4242;
	strcpy(c->user, "al ice");
	strcpy(c->command, "ctcp-setup change \"l c\"");
	st->circuits[0].standing = BEFORE;
	st->circuits[1].standing = TRIAL;
}

static void assert_waits_alike(const struct state *a)
{
	struct state back;
	struct err e = { "" };
	char *text;
	size_t len;

	assert_int_equal(state_format(a, BOOT, &text, &len), 0);
	assert_int_equal(state_parse(text, len, BOOT, &back, &e), 0);
	assert_same(a, &back);
	assert_int_equal(back.confirm.deadline, a->confirm.deadline);
	assert_int_equal(back.confirm.uid, a->confirm.uid);
	assert_int_equal(back.confirm.pid, a->confirm.pid);
	assert_string_equal(back.confirm.user, a->confirm.user);
	assert_string_equal(back.confirm.tty, a->confirm.tty);
	assert_string_equal(back.confirm.command, a->confirm.command);
	assert_int_equal(back.confirm.reverting, a->confirm.reverting);
	assert_int_equal(back.circuits[0].standing, a->circuits[0].standing);
	assert_int_equal(back.circuits[1].standing, a->circuits[1].standing);
	state_free(&back);
	free(text);
}

static void test_waits_there_and_back(void **state)
{
	struct fixture *f = *state;

	begin_to_wait(&f->st);
	assert_waits_alike(&f->st);
	strcpy(f->st.confirm.tty, "/dev/pts/3");
	f->st.confirm.deadline = UINT64_MAX;
	f->st.confirm.reverting = true;
	assert_waits_alike(&f->st);
}

/* Nothing that waits is empty, even where no circuit is left and none was. */
static void test_waits_is_a_state(void **state)
{
	struct state st = { .confirm = { .deadline = 1, .user = "root" } }, back;
	struct err e = { "" };
	char *text;
	size_t len;

	(void)state;
	assert_false(state_is_empty(&st));
	assert_int_equal(state_format(&st, BOOT, &text, &len), 0);
	assert_int_equal(state_parse(text, len, BOOT, &back, &e), 0);
	assert_false(state_is_empty(&back));
	state_free(&back);
	assert_int_equal(state_parse(text, len, "another", &back, &e), 0);
	assert_true(state_is_empty(&back));
	free(text);
}

/* After another boot nothing of it is so any more. */
static void test_other_boot(void **state)
{
	struct fixture *f = *state;
	struct state back;
	struct err e = { "" };

	assert_int_equal(state_parse(f->text, f->len, "another", &back, &e), 0);
	assert_true(state_is_empty(&back));
}

static void test_cut_short(void **state)
{
	struct fixture *f = *state;
	struct state back;
	struct err e = { "" };
	size_t n;

	for (n = 0; n < f->len; n++) {
		assert_int_equal(state_parse(f->text, n, BOOT, &back, &e), -EBADMSG);
		assert_true(state_is_empty(&back));
	}
}

/* Each bit of each byte, and each byte as NUL and newline: an error, or another state. */
static void test_changed(void **state)
{
	static const char junk[] = { 0, '\n', ' ', '"', (char)0xff };
	struct fixture *f = *state;
	struct state back;
	struct err e = { "" };
	size_t i, k;
	int rc;

	for (i = 0; i < f->len; i++) {
		char was = f->text[i];

		for (k = 0; k < 8 + sizeof(junk); k++) {
			f->text[i] = k < 8 ? (char)(was ^ 1 << k) : junk[k - 8];
			rc = state_parse(f->text, f->len, BOOT, &back, &e);
			assert_true(!rc || rc == -EBADMSG);
			if (!f->text[i])
				assert_int_equal(rc, -EBADMSG);
			state_free(&back);
		}
		f->text[i] = was;
	}
}

static void assert_bad(const char *text, const char *why)
{
	struct state back;
	struct err e = { "" };

	assert_int_equal(state_parse(text, strlen(text), BOOT, &back, &e), -EBADMSG);
	if (!strstr(e.text, why))
		print_error("expected \"%s\", got \"%s\"\n", why, e.text);
	assert_non_null(strstr(e.text, why));
}

#define HEAD "ctcp-setup 1 boot " BOOT "\n"

/* The line and what is wrong with it. */
static void test_bad_lines(void **state)
{
	(void)state;
	assert_bad("", "line 0");
	assert_bad(HEAD, "line 1");
	assert_bad("ctcp-setup 2 boot " BOOT "\nend\n", "line 1");
	assert_bad(HEAD "end\nend\n", "line 3");
	assert_bad(HEAD "devise eth1 7\nend\n", "line 2");
	assert_bad(HEAD "device eth1 -7\nend\n", "line 2");
	assert_bad(HEAD "device eth1 7\nadd a --rate 4mbps --rtt 1ms eth1\nend\n",
		   "line 3 is not one of a state: --rate: ");
	assert_bad(HEAD "device eth1 7\nadd a --rate 4gbit eth1\nend\n", "--rtt is missing");
	assert_bad(HEAD "device eth1 7\nadd a --rate 4gbit --rtt 1ms --shaper none eth2\nend\n", "line 3");
	assert_bad(HEAD "add a --rate 4gbit --rtt 1ms --shaper none --dry-run eth1\nend\n", "line 2");
	/* who holds the rate is said in a state */
	assert_bad(HEAD "device eth1 7\nadd a --rate 4gbit --rtt 1ms eth1\nend\n", "line 3");
	assert_bad(HEAD "base sysctl x 0 before 1 ours\nend\n", "line 2");
	assert_bad(HEAD "base module tcp_circuit 0 before absent ours loaded\nend\n", "line 2");
	assert_bad(HEAD "base sysctl x 0 before \"1 ours 2\nend\n", "line 2");
}

/* An item has a name of its kind: what reads it takes its parts for granted. */
static void test_bad_names(void **state)
{
	static const char * const bad[] = {
		"sysctl ../../etc/motd", "sysctl \"\"", "txqlen a/b", "qdisc \"eth1 x\"",
		"route eth1", "route 192.0.2.1/24", "circuit \"l c\"", "class eth1",
		"class c7c0:1", "class \"eth1 8001:1\"", "filter eth1", "filter \"eth1 x\"",
		"filter \"eth1  192.0.2.0/24\"", "filter \"sixteencharacter 192.0.2.0/24\"",
	};
	static const char * const good[] = {
		"sysctl net.ipv4.tcp_sack", "txqlen eth1", "qdisc eth1", "route ::/0",
		"circuit lhc", "class \"eth1 c7c0:ffff\"", "filter \"eth1 192.0.2.0/24\"",
	};
	char text[200];
	struct state st;
	struct err e;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(text, sizeof(text), HEAD "base %s 7 before a ours b\nend\n", bad[i]);
		assert_bad(text, "line 2");
	}
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		snprintf(text, sizeof(text), HEAD "base %s 7 before a ours b\nend\n", good[i]);
		assert_int_equal(state_parse(text, strlen(text), BOOT, &st, &e), 0);
		state_free(&st);
	}
}

#define WHO " pid 7 tty \"\" command c"
#define LHC " lhc --rate 4gbit --rtt 1ms --shaper none eth1\n"

static void test_bad_confirm_lines(void **state)
{
	char line[300];

	(void)state;
	assert_bad(HEAD "confirm 0 by 0 root" WHO "\nend\n", "line 2");
	assert_bad(HEAD "confirm -1 by 0 root" WHO "\nend\n", "line 2");
	assert_bad(HEAD "confirm 18446744073709551616 by 0 root" WHO "\nend\n", "line 2");
	assert_bad(HEAD "confirm 1s by 0 root" WHO "\nend\n", "line 2");
	assert_bad(HEAD "confirm 1 by -1 root" WHO "\nend\n", "line 2");
	assert_bad(HEAD "confirm 1 of 0 root" WHO "\nend\n", "line 2");
	assert_bad(HEAD "confirm 1 by 0 root" WHO " waiting\nend\n", "line 2");
	assert_bad(HEAD "confirm 1 by 0 root" WHO " reverting twice\nend\n", "line 2");
	assert_bad(HEAD "confirm 1 by 0 root pid 7 tty c\nend\n", "line 2");
	assert_bad(HEAD "confirm 1 by 0 root" WHO "\nconfirm 1 by 0 root" WHO "\nend\n", "line 3");
	assert_bad(HEAD "device eth1 7\ntrial" LHC "end\n",
		   "line 3 is not one of a state: no confirm line");
	assert_bad(HEAD "device eth1 7\nbefore" LHC "end\n", "line 3");
	assert_bad(HEAD "device eth1 7\nadd" LHC "confirm 1 by 0 root" WHO "\nend\n", "line 4");
	snprintf(line, sizeof(line), HEAD "confirm 1 by 0 %060d" WHO "\nend\n", 0);
	assert_bad(line, "line 2");
}

static void test_words(void **state)
{
	char line[] = "  a \"b c\" \"\" \"d\\\"\\\\\"  e", open[] = "a \"b", glued[] = "\"a\"b";
	char *words[WORDS_MAX + 1], many[300];
	int i;

	(void)state;
	assert_int_equal(words_split(line, words), 5);
	assert_string_equal(words[1], "b c");
	assert_string_equal(words[2], "");
	assert_string_equal(words[3], "d\"\\");
	assert_string_equal(words[4], "e");
	assert_null(words[5]);
	assert_int_equal(words_split(open, words), -EBADMSG);
	assert_int_equal(words_split(glued, words), -EBADMSG);
	for (i = 0; i <= WORDS_MAX; i++)
		strcpy(many + 2 * i, "a ");
	assert_int_equal(words_split(many, words), -E2BIG);
}

/* Printed as for a file and read again; comments, tabs, no newline at the end. */
static void test_file(void **state)
{
	static const char * const devs[] = { "eth1", "#odd", "a#b", "-x", "a\"b" };
	struct circuit c = sample("eth1");
	struct state st;
	struct err e = { "" };
	struct out out;
	size_t i;

	(void)state;
	strcpy(c.name, "lhc");
	for (i = 0; i < ARRAY_SIZE(devs); i++) {
		strcpy(c.dev, devs[i]);
		out = (struct out){ .grows = true };
		out_text(&out, "# all\n\t\nadd\t");
		circuit_put(&out, &c);
		out.used--;
		out_text(&out, "\t# the last");
		assert_int_equal(circuits_parse(out.text, out.used, &st, &e), 0);
		assert_int_equal(st.n_circuits, 1);
		assert_circuit(&st.circuits[0].circuit, &c);
		state_free(&st);
		free(out.text);
	}
	/* what a person writes is plain */
	assert_int_equal(circuits_parse("add a --rate 4gbit --rtt 26ms e\377", 32, &st, &e),
			 -EBADMSG);
	assert_non_null(strstr(e.text, "not UTF-8"));
	/* what add has by default is not what the bare command has */
	assert_int_equal(circuits_parse("add a --rate 4gbit --rtt 26ms eth1", 34, &st, &e), 0);
	assert_int_equal(st.circuits[0].circuit.shaper, SHAPER_AUTO);
	state_free(&st);
}

/* What a line of a file may not have is named, and a NUL only where there is one. */
static void test_no_line(void **state)
{
#define NEEDS "add needs a name and a device, e.g. add lhc --rate 4gbit --rtt 26ms eth1"
	static const struct {
		const char *words, *why;
	} rows[] = {
		{ "add a --dry-run --rate 4gbit --rtt 26ms eth1",
		  "line 1: \"--dry-run\" is not an option of a line of a file" },
		{ "add a --rate 4gbit --rtt 26ms eth1 --help",
		  "line 1: \"--help\" is not an option of a line of a file" },
		{ "add a -h", "line 1: \"--help\" is not an option of a line of a file" },
		{ "add -V", "line 1: \"--version\" is not an option of a line of a file" },
		{ "add a --version", "line 1: \"--version\" is not an option of a line of a file" },
		{ "add a --rate 4gbit --rtt 26ms --json eth1",
		  "line 1: \"--json\" is not an option of a line of a file" },
		{ "add --rate 4gbit --rtt 26ms eth1",
		  "line 1: which device? " NEEDS },
		{ "add --rate 4gbit --rtt 26ms", "line 1: " NEEDS },
	};
	static const char nul[] = "# one\nadd a\0\n";
	struct err e = { "" };
	struct state st;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(circuits_parse(rows[i].words, strlen(rows[i].words), &st, &e),
				 -EBADMSG);
		assert_string_equal(e.text, rows[i].why);
	}
	assert_int_equal(circuits_parse(nul, sizeof(nul) - 1, &st, &e), -EBADMSG);
	assert_string_equal(e.text, "line 2: there is a NUL in it");
#undef NEEDS
}

/* A list with a begin is one with an end; one that a person wrote need not have either. */
static void test_marks(void **state)
{
#define A "add a --rate 4gbit --rtt 26ms eth1\n"
#define B "add b --rate 4gbit --rtt 26ms eth2\n"
	static const struct {
		const char *text;
		int rc;
		const char *why;	/* or how many circuits there are */
	} rows[] = {
		{ "begin\n" A B "end\n", 0, "2" },
		{ "# all\n\nbegin # of all\n" A "end", 0, "1" },
		{ "begin\nend\n\n# no more\n", 0, "0" },
		{ A, 0, "1" },
		{ "begin\n" A, -EBADMSG, "line 2: there is a begin and no end behind it" },
		{ "begin", -EBADMSG, "line 1: there is a begin and no end behind it" },
		{ "begi", -EBADMSG, "line 1: \"begi\" is not add" },
		{ "begin\n" A "en", -EBADMSG, "line 3: \"en\" is not add" },
		{ A "end\n", -EBADMSG, "line 2: there is an end and no begin" },
		{ "begin\nend\n" A, -EBADMSG, "line 3: there is a \"add\" behind the end" },
		{ "begin\nend\nend\n", -EBADMSG, "line 3: there is a \"end\" behind the end" },
		{ A "begin\n" B "end\n", -EBADMSG, "line 2: begin is for the first line" },
		{ "begin\nbegin\nend\n", -EBADMSG, "line 2: begin is for the first line" },
	};
	struct err e = { "" };
	struct state st;
	char n[12];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *text = rows[i].text;

		assert_int_equal(circuits_parse(text, strlen(text), &st, &e), rows[i].rc);
		snprintf(n, sizeof(n), "%u", st.n_circuits);
		assert_int_equal(strncmp(rows[i].rc ? e.text : n, rows[i].why,
					 strlen(rows[i].why)), 0);
		state_free(&st);
	}
#undef A
#undef B
}

/* The module is not asked to pace a path that gets H-TCP. */
static void test_guarantee(void **state)
{
	static const struct {
		const char *words;
		enum shaper shaper;
		bool pace;
	} rows[] = {
		{ "--guarantee full", SHAPER_AUTO, true },
		{ "--guarantee semi --prefer circuit", SHAPER_AUTO, true },
		{ "--guarantee semi --prefer others --to 192.0.2.0/24", SHAPER_AUTO, false },
		{ "--guarantee none", SHAPER_AUTO, false },
		{ "--guarantee none --shaper none", SHAPER_NONE, false },
		{ "--guarantee none --shaper fq", SHAPER_FQ, false },
		{ "--guarantee none --unpaced", SHAPER_NONE, false },
	};
	struct err e = { "" };
	struct state st;
	char line[160];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(line, sizeof(line), "add a --rate 4gbit --rtt 26ms %s eth1",
			 rows[i].words);
		assert_int_equal(circuits_parse(line, strlen(line), &st, &e), 0);
		assert_int_equal(st.circuits[0].circuit.shaper, rows[i].shaper);
		assert_int_equal(st.circuits[0].circuit.pace, rows[i].pace);
		state_free(&st);
	}
	strcpy(line, "add a --rate 4gbit --rtt 26ms --guarantee semi eth1");
	assert_int_equal(circuits_parse(line, strlen(line), &st, &e), -EBADMSG);
	assert_string_equal(e.text,
			    "line 1: --guarantee semi: whose traffic is preferred? --prefer circuit or --prefer others");
}

/* The words of a change, up to NULL, over what @c has */
static int change(const struct circuit *c, const char * const words[], struct args *a,
		  struct err *e)
{
	int n = 0;

	while (words[n])
		n++;
	return args_parse(n, (char **)words, TAKES_CIRCUIT | TAKES_NAME, c, a, e);
}

/* The options of change over what a circuit has: preferred is what still can be. */
static void test_guarantee_changed(void **state)
{
	static const struct {
		const char *words[5];
		enum guarantee guarantee;
		enum prefer prefer;
	} rows[] = {
		{ { "change", "a" }, GUARANTEE_SEMI, PREFER_OTHERS },
		{ { "change", "a", "--guarantee", "semi" }, GUARANTEE_SEMI, PREFER_OTHERS },
		{ { "change", "a", "--prefer", "circuit" }, GUARANTEE_SEMI, PREFER_CIRCUIT },
		{ { "change", "a", "--guarantee", "full" }, GUARANTEE_FULL, PREFER_UNSAID },
		{ { "change", "a", "--guarantee", "none" }, GUARANTEE_NONE, PREFER_UNSAID },
	};
	struct circuit c = sample("eth1");
	struct err e = { "" };
	struct args a;
	size_t i;

	(void)state;
	c.guarantee = GUARANTEE_SEMI;
	c.prefer = PREFER_OTHERS;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(change(&c, rows[i].words, &a, &e), 0);
		assert_int_equal(a.circuit.guarantee, rows[i].guarantee);
		assert_int_equal(a.circuit.prefer, rows[i].prefer);
		assert_int_equal(a.circuit.shaper, SHAPER_FQ);
		args_free(&a);
	}
}

/* --shaper of change says who holds the rate, as that of add does. */
static void test_shaper_changed(void **state)
{
	static const struct {
		enum shaper from;
		bool paced;
		const char *words[7];
		enum shaper shaper;
		bool pace;
	} rows[] = {
		{ SHAPER_TBF, false, { "change", "a", "--shaper", "none" }, SHAPER_NONE, true },
		{ SHAPER_TBF, false, { "change", "a", "--shaper", "none", "--unpaced" },
		  SHAPER_NONE, false },
		{ SHAPER_TBF, true, { "change", "a", "--shaper", "fq" }, SHAPER_FQ, true },
		{ SHAPER_NONE, true, { "change", "a", "--shaper", "htb" }, SHAPER_HTB, false },
		{ SHAPER_NONE, true, { "change", "a", "--shaper", "htb", "--pace" },
		  SHAPER_HTB, true },
		{ SHAPER_NONE, true, { "change", "a", "--rate", "1gbit" }, SHAPER_NONE, true },
		{ SHAPER_NONE, false, { "change", "a", "--rate", "1gbit" }, SHAPER_NONE, false },
	};
	struct circuit c = sample("eth1");
	struct err e = { "" };
	struct args a;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		c.shaper = rows[i].from;
		c.pace = rows[i].paced;
		assert_int_equal(change(&c, rows[i].words, &a, &e), 0);
		assert_int_equal(a.circuit.shaper, rows[i].shaper);
		assert_int_equal(a.circuit.pace, rows[i].pace);
		args_free(&a);
	}
}

/* What the module held H-TCP has from what is said to hold it, and something must be. */
static void test_to_htcp(void **state)
{
	static const struct {
		enum shaper from;
		const char *words[10];
		enum shaper shaper;
		int rc;
	} rows[] = {
		{ SHAPER_NONE, { "--shaper", "htb" }, SHAPER_HTB, 0 },
		{ SHAPER_NONE, { "--shaper", "tbf" }, SHAPER_TBF, 0 },
		{ SHAPER_NONE, { "--shaper", "fq" }, SHAPER_FQ, 0 },
		{ SHAPER_NONE, { "--shaper", "auto" }, SHAPER_AUTO, 0 },
		{ SHAPER_NONE, { "--shaper", "none" }, SHAPER_NONE, 0 },
		{ SHAPER_NONE, { "--unpaced" }, SHAPER_NONE, 0 },
		{ SHAPER_FQ, { NULL }, SHAPER_FQ, 0 },
		{ SHAPER_NONE, { NULL }, SHAPER_NONE, -EINVAL },
	};
	const char *words[8] = { "change", "a", "--guarantee", "none" };
	struct circuit c = sample("eth1");
	struct err e = { "" };
	struct args a;
	size_t i;

	(void)state;
	c.early_window = false;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int n;

		c.shaper = rows[i].from;
		for (n = 0; rows[i].words[n]; n++)
			words[4 + n] = rows[i].words[n];
		words[4 + n] = NULL;
		assert_int_equal(change(&c, words, &a, &e), rows[i].rc);
		if (rows[i].rc)
			continue;
		assert_int_equal(a.circuit.shaper, rows[i].shaper);
		assert_false(a.circuit.pace);
		args_free(&a);
	}
	assert_string_equal(e.text,
			    "this path gets htcp (not guaranteed, so that the rate has to be found and shared), whose rate the module cannot hold, as it does now; --shaper auto chooses what is to hold it, --shaper htb, tbf or fq names it, and --unpaced says that something else does");
}

static void test_list(void **state)
{
	struct circuit c = sample("eth2"), d = sample("eth3");
	struct fixture *f = *state;
	struct err e = { "" };
	uint32_t at;
	bool any;

	strcpy(d.name, "eth1");
	assert_int_equal(state_replace(&f->st, &d, 9, &at, &e), -EEXIST);
	assert_non_null(strstr(e.text, "circuit eth1 is that of another device already, eth1"));
	assert_int_equal(state_replace(&f->st, &c, 9, &at, &e), -EEXIST);
	assert_non_null(strstr(e.text, "--to: 192.0.2.0/24 is that of circuit eth1"));
	state_recover(&f->st);
	assert_int_equal(f->st.n_circuits, 1);
	c.n_to = 1;
	c.to[0].addr[2] = 3;
	assert_int_equal(state_replace(&f->st, &c, 9, &at, &e), 0);
	assert_int_equal(at, 1);
	c.rate *= 2;
	state_settle(&f->st);
	assert_int_equal(state_replace(&f->st, &c, 9, &at, &e), 0);
	assert_int_equal(f->st.circuits[1].standing, REMOVING);
	state_settle(&f->st);
	assert_int_equal(f->st.n_circuits, 2);
	assert_int_equal(f->st.circuits[1].circuit.rate, 1000000000);
	assert_int_equal(state_drop(&f->st, "eth9", &any, &e), 0);
	assert_false(any);
	/* the device of one circuit, and the name of another's */
	strcpy(f->st.circuits[0].circuit.name, "one");
	strcpy(f->st.circuits[1].circuit.name, f->st.circuits[0].circuit.dev);
	strcpy(f->st.circuits[1].circuit.dev, "eth2");
	assert_int_equal(state_drop(&f->st, f->st.circuits[0].circuit.dev, &any, &e), -EEXIST);
	assert_non_null(strstr(e.text, "eth1 is the name of a circuit on eth2, and the device "
			       "of circuit one;"));
	assert_false(any);
	assert_int_equal(state_drop(&f->st, "one", &any, &e), 0);
	assert_true(any);
	state_settle(&f->st);
	assert_int_equal(f->st.n_circuits, 1);
}

/* The bare command's own is replaced, whatever it is called; what add made by its name alone. */
static void test_bare(void **state)
{
	struct circuit c = sample("eth2"), lhc = sample("eth2");
	struct state st = { 0 }, back;
	struct err e = { "" };
	uint32_t at;
	size_t len;
	char *text;

	(void)state;
	strcpy(lhc.name, "lhc");
	assert_non_null(state_add(&st, &lhc, 9));
	assert_int_equal(state_replace(&st, &c, 9, &at, &e), -EEXIST);
	assert_string_equal(e.text,
			    "eth2 has circuit lhc; ctcp-setup change lhc changes it, add NAME gives eth2 one more, undo lhc clears the way");
	assert_int_equal(st.circuits[0].standing, STANDING);
	assert_int_equal(state_replace(&st, &lhc, 9, &at, &e), 0);
	state_settle(&st);
	/* it is the bare command's now, also when it is read again and its device renamed */
	assert_int_equal(state_format(&st, BOOT, &text, &len), 0);
	assert_int_equal(state_parse(text, len, BOOT, &back, &e), 0);
	strcpy(back.circuits[0].circuit.dev, "wan0");
	strcpy(c.dev, "wan0");
	assert_int_equal(state_replace(&back, &c, 9, &at, &e), 0);
	assert_int_equal(back.circuits[0].standing, REMOVING);
	free(text);
	state_free(&back);
	state_free(&st);
}

static uint32_t count(const struct state *st, enum standing which)
{
	uint32_t i, n = 0;

	for (i = 0; i < st->n_circuits; i++)
		n += st->circuits[i].standing == which;
	return n;
}

/* lhc at 1 and, as the run that is to be confirmed adds it, at 2. */
static void lists_begin(struct state *st)
{
	struct circuit c = sample("eth1");
	struct err e = { "" };
	uint32_t at;

	memset(st, 0, sizeof(*st));
	assert_non_null(state_add(st, &c, 7));
	st->confirm.deadline = 5;
	c.rate *= 2;
	assert_int_equal(state_replace(st, &c, 7, &at, &e), 0);
}

static void assert_one(struct state *st, uint64_t rate)
{
	assert_int_equal(st->n_circuits, 1);
	assert_int_equal(st->circuits[0].standing, STANDING);
	assert_int_equal(st->circuits[0].circuit.rate, rate);
	assert_int_equal(st->confirm.deadline, 0);
	assert_false(st->confirm.reverting);
	state_free(st);
}

/* Whatever ends a change, or cuts one of its steps short, there is one list or the other. */
static void test_lists_of_a_change(void **state)
{
	const uint64_t old = 500000000, new = 2 * old;
	struct state st;

	(void)state;
	lists_begin(&st);
	state_recover(&st);		/* cut short */
	assert_one(&st, old);
	lists_begin(&st);
	state_settle(&st);
	assert_int_equal(count(&st, TRIAL), 1);
	assert_int_equal(count(&st, BEFORE), 1);
	assert_false(state_is_pending(&st));
	state_recover(&st);		/* nothing was */
	assert_int_equal(st.confirm.deadline, 5);
	state_confirm(&st);
	assert_one(&st, new);
	lists_begin(&st);
	state_settle(&st);
	state_revert(&st);
	assert_true(st.confirm.reverting);
	assert_true(state_is_pending(&st));
	state_recover(&st);		/* the way back was cut short */
	assert_int_equal(count(&st, TRIAL), 1);
	assert_int_equal(count(&st, BEFORE), 1);
	assert_true(confirm_is_over(&st.confirm, 0));
	state_revert(&st);
	state_settle(&st);
	assert_one(&st, old);
	lists_begin(&st);
	state_settle(&st);
	state_drop_before(&st);
	assert_int_equal(st.n_circuits, 1);
	assert_int_equal(st.circuits[0].circuit.rate, new);
	state_free(&st);
}

static void test_confirm_sentences(void **state)
{
	struct confirm c = { .deadline = 60000000000ULL, .uid = 1000, .pid = 42 }, other;
	char long_word[] = "0123456789", odd[] = "a b\033", verb[] = "change";
	char name[] = "lhc", option[] = "--name";
	char *argv[4], *many[60], text[CONFIRM_TEXT];
	size_t i;

	(void)state;
	argv[0] = verb;
	argv[1] = name;
	argv[2] = option;
	argv[3] = odd;
	strcpy(c.user, "alice");
	confirm_command(&c, 4, argv);
	assert_string_equal(confirm_text(&c, 17000000001ULL, text),
			    "the change of alice (uid 1000, process 42, \"ctcp-setup change lhc --name \"a b?\"\") waits for confirmation, 43 s left");
	strcpy(c.tty, "/dev/pts/3");
	assert_non_null(strstr(confirm_text(&c, 59999999999ULL, text),
			       "process 42 on /dev/pts/3, "));
	assert_non_null(strstr(text, ", 1 s left"));
	assert_int_equal(confirm_left_us(&c, 59000000000ULL), 1000000);
	assert_false(confirm_is_over(&c, 59999999999ULL));
	assert_true(confirm_is_over(&c, 60000000000ULL));
	assert_int_equal(confirm_left_us(&c, 60000000001ULL), 0);
	assert_non_null(strstr(confirm_text(&c, 60000000000ULL, text), "not confirmed in time"));
	other = c;
	assert_true(confirm_equal(&c, &other));
	other.pid++;
	assert_false(confirm_equal(&c, &other));
	/* the longest of each still leaves room for what is to be done */
	for (i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = long_word;
	confirm_command(&c, ARRAY_SIZE(many), many);
	assert_int_equal(strlen(c.command), sizeof(c.command) - 1);
	memset(c.user, 'u', sizeof(c.user) - 1);
	memset(c.tty, 't', sizeof(c.tty) - 1);
	assert_non_null(strstr(confirm_text(&c, 0, text), ") waits for confirmation, 60 s left"));
	assert_non_null(strstr(confirm_text(&c, UINT64_MAX, text),
			       "changes anything takes it back"));
}

/* What the kernel says of who has logged in, NULL = what it says */
static const char *login;

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
	if (login && !strcmp(path, "/proc/self/loginuid"))
		return fmemopen((char *)login, strlen(login), mode);
	return __real_fopen(path, mode);
}

/* The change is that of who has logged in, whoever they have become since. */
static void test_confirm_caller(void **state)
{
	struct confirm c = { 0 };

	(void)state;
	login = "4242";
	confirm_caller(&c);
	assert_int_equal(c.uid, 4242);
	assert_string_equal(c.user, "4242");
	login = "4294967295";
	confirm_caller(&c);
	assert_int_equal(c.uid, getuid());
	login = NULL;
}

/* --- files ----------------------------------------------------------------- */

static void open_store(struct store *s, char *dir)
{
	struct err e;

	strcpy(dir, "/tmp/ctcp-state-XXXXXX");
	assert_non_null(mkdtemp(dir));
	setenv("CTCP_RUNDIR", dir, 1);
	assert_int_equal(store_open(s, &e), 0);
}

static void remove_store(struct store *s)
{
	char cmd[300];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", s->dir);
	store_close(s);
	assert_int_equal(system(cmd), 0);
}

static void put_file(const char *dir, const char *name, const char *text, size_t len)
{
	char path[400];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, len, out), len);
	fclose(out);
}

static uint32_t count_files(const char *path)
{
	DIR *dir = opendir(path);
	uint32_t n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

/* There, the same, gone; stray files beside it are nobody's business. */
static void test_files(void **state)
{
	struct state back, none = { 0 };
	struct fixture *f = *state;
	struct store s;
	char dir[64];
	struct err e;

	open_store(&s, dir);
	put_file(dir, "c9.eth7.bak", "", 0);
	put_file(dir, "c9.state.bak", "junk", 4);
	assert_int_equal(store_read(&s, &back, &e), 0);
	assert_true(state_is_empty(&back));
	assert_int_equal(store_write(&s, &f->st, &e), 0);
	assert_int_equal(store_read(&s, &back, &e), 0);
	assert_same(&f->st, &back);
	state_free(&back);
	assert_int_equal(count_files(dir), 3);
	assert_int_equal(store_write(&s, &none, &e), 0);
	assert_int_equal(count_files(dir), 2);
	assert_int_equal(store_restore(&s, &e), 0);
	assert_int_equal(count_files(dir), 3);
	remove_store(&s);
}

/* A daemon's umask is none of its readers' business. */
static void test_file_mode(void **state)
{
	mode_t before = umask(0077);
	struct fixture *f = *state;
	char dir[64], path[320];
	struct store s;
	struct stat st;
	struct err e;

	open_store(&s, dir);
	assert_int_equal(store_write(&s, &f->st, &e), 0);
	umask(before);
	store_path(&s, path, sizeof(path));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	remove_store(&s);
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);

static unsigned int synced_files, synced_dirs;

/* In place of fsync() in all of this program: --wrap */
int __wrap_fsync(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	if (S_ISDIR(st.st_mode))
		synced_dirs++;
	else
		synced_files++;
	return __real_fsync(fd);
}

/* What is in the file, and its name */
static void assert_on_disk(void)
{
	assert_true(synced_files > 0);
	assert_true(synced_dirs > 0);
	synced_files = 0;
	synced_dirs = 0;
}

/* A host that loses its power has the file of before or all of the new one. */
static void test_on_disk(void **state)
{
	struct fixture *f = *state;
	struct store s;
	char dir[64], path[128];
	struct err e;

	open_store(&s, dir);
	synced_files = 0;
	synced_dirs = 0;
	assert_int_equal(store_write(&s, &f->st, &e), 0);
	assert_on_disk();
	snprintf(path, sizeof(path), "%s/file", dir);
	assert_int_equal(replace_file(path, "new", 3, &e), 0);
	assert_on_disk();
	unlink(path);
	remove_store(&s);
}

static void test_damaged_file(void **state)
{
	struct fixture *f = *state;
	struct state back;
	struct store s;
	char dir[64], path[320];
	struct err e;

	open_store(&s, dir);
	store_path(&s, path, sizeof(path));
	put_file(dir, strrchr(path, '/') + 1, f->text, f->len - 1);
	assert_int_equal(store_read(&s, &back, &e), -EBADMSG);
	assert_true(state_is_empty(&back));
	assert_non_null(strstr(e.text, path));
	assert_non_null(strstr(e.text, "is damaged"));
	remove_store(&s);
}

/*
 * Room for n bytes in the file and no more, as on a full disk: the write fails,
 * what was there stays, nothing is left beside it.
 */
static void test_no_room(void **state)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	struct fixture *f = *state;
	struct state back;
	struct store s;
	char dir[64];
	struct err e;
	size_t n;

	signal(SIGXFSZ, SIG_IGN);
	open_store(&s, dir);
	assert_int_equal(store_write(&s, &f->st, &e), 0);
	state_settle(&f->st);
	/* a shorter text by the word that the second circuit is added with */
	for (n = 0; n < f->len / 2; n++) {
		const struct rlimit few = { n, RLIM_INFINITY };

		assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
		assert_int_equal(store_write(&s, &f->st, &e), -EFBIG);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
		assert_int_equal(count_files(dir), 1);
	}
	assert_int_equal(store_read(&s, &back, &e), 0);
	assert_true(state_is_pending(&back));
	state_free(&back);
	remove_store(&s);
}

static void test_no_dir(void **state)
{
	struct fixture *f = *state;
	struct store s;
	struct err e;

	setenv("CTCP_RUNDIR", "/proc/nonesuch", 1);
	assert_int_equal(store_open(&s, &e), 0);
	assert_true(store_lock(&s, &e) < 0);
	assert_non_null(strstr(e.text, "/proc/nonesuch"));
	assert_true(store_write(&s, &f->st, &e) < 0);
	store_close(&s);
}

static bool has_module(struct store *s)
{
	struct err e;

	assert_int_equal(store_read_module(s, &e), 0);
	return s->has_module;
}

/* A folder in its place: what cannot be read is not as if there were none. */
static void module_unreadable(struct store *s, const char *dir)
{
	char path[80];
	struct err e;

	snprintf(path, sizeof(path), "%s/module", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(store_read_module(s, &e) < 0);
	assert_non_null(strstr(e.text, path));
	assert_int_equal(rmdir(path), 0);
}

/* The module's note is of this boot; another namespace's circuits are found. */
static void test_module(void **state)
{
	char dir[64], file[600], dev[IFNAMSIZ];
	struct fixture *f = *state;
	struct store s;
	struct err e;
	char *text;
	size_t len;

	open_store(&s, dir);
	assert_false(has_module(&s));
	assert_int_equal(store_keep_module(&s, true, &e), 0);
	assert_true(has_module(&s));
	put_file(dir, "module", "another boot\n", 13);
	assert_false(has_module(&s));
	assert_int_equal(store_keep_module(&s, false, &e), 0);
	module_unreadable(&s, dir);
	assert_false(store_others(&s, file, sizeof(file), dev));
	put_file(dir, "c9.state", f->text, f->len);	/* of another boot */
	assert_false(store_others(&s, file, sizeof(file), dev));
	assert_int_equal(state_format(&f->st, s.boot, &text, &len), 0);
	put_file(dir, "c9.state", text, len);
	free(text);
	assert_true(store_others(&s, file, sizeof(file), dev));
	assert_string_equal(dev, "eth1");
	assert_non_null(strstr(file, "/c9.state"));
	put_file(dir, "c9.state", "junk", 4);
	assert_true(store_others(&s, file, sizeof(file), dev));
	remove_store(&s);
}

/* A load is known by its folder in sysfs, for which another folder stands here. */
static void test_module_loads(void **state)
{
	char dir[64], ours[80], theirs[80];
	struct store s;
	struct err e;

	(void)state;
	open_store(&s, dir);
	snprintf(ours, sizeof(ours), "%s/ours", dir);
	snprintf(theirs, sizeof(theirs), "%s/theirs", dir);
	assert_int_equal(mkdir(ours, 0700), 0);
	assert_int_equal(mkdir(theirs, 0700), 0);
	s.module = "/nonesuch";
	assert_int_equal(store_keep_module(&s, true, &e), 0);
	/* cut short: which load it was is not known, nor where there is no sysfs */
	assert_int_equal(store_know_module(&s, &e), 0);
	assert_true(has_module(&s));
	assert_false(s.knows_load);
	s.module = ours;
	assert_true(has_module(&s));
	assert_int_equal(store_know_module(&s, &e), 0);
	assert_true(has_module(&s));
	assert_true(s.knows_load);
	assert_false(s.stale_module);
	s.module = theirs;
	assert_false(has_module(&s));
	assert_true(s.stale_module);
	s.module = "/nonesuch";
	assert_false(has_module(&s));
	assert_true(s.stale_module);
	s.module = ours;
	assert_true(has_module(&s));
	assert_int_equal(store_keep_module(&s, false, &e), 0);
	assert_false(has_module(&s));
	assert_false(s.stale_module);
	assert_int_equal(rmdir(ours), 0);
	assert_int_equal(rmdir(theirs), 0);
	remove_store(&s);
}

/* Another process holds the lock for good: the wait ends and names it. */
static void test_locked(void **state)
{
	struct store a, b;
	char dir[64], pid[32];
	struct err e;

	(void)state;
	open_store(&a, dir);
	b = a;
	assert_int_equal(store_lock(&a, &e), 0);
	assert_int_equal(store_lock(&b, &e), -EALREADY);
	snprintf(pid, sizeof(pid), "process %d;", getpid());
	assert_non_null(strstr(e.text, pid));
	store_close(&b);
	remove_store(&a);
}

/* Somebody else's process holds what it has locked as well as one's own. */
static void test_holder_of_another(void **state)
{
	char pid[PID_LEN], self[PID_LEN];
	int fd, status;
	pid_t other;

	(void)state;
	if (geteuid())	/* who is not root becomes nobody else */
		skip();
	/* not on a file system of layers, of which /proc/locks tells another device */
	fd = memfd_create("lock", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	snprintf(self, sizeof(self), "%d", getpid());
	other = fork();
	if (!other)
		_exit(setuid(65534) || !holder_of_lock(fd, pid) || strcmp(pid, self));
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_int_equal(status, 0);
	close(fd);
}

/* A program that is begun meanwhile, as by modprobe.d, and stays */
static pid_t begin_program(int *end)
{
	int in[2], begun[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(begun, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		dup2(in[0], STDIN_FILENO);
		execlp("cat", "cat", NULL);
		_exit(1);
	}
	close(in[0]);
	close(begun[1]);
	/* it ends with what the program has not */
	assert_int_equal(read(begun[0], &c, 1), 0);
	close(begun[0]);
	*end = in[1];
	return pid;
}

static void test_lock_ends(void **state)
{
	int end, status;
	struct store s;
	char dir[64], pid[16];
	struct err e;
	pid_t program;

	(void)state;
	open_store(&s, dir);
	assert_int_equal(store_lock(&s, &e), 0);
	program = begin_program(&end);
	assert_true(store_is_locked(&s, pid));
	store_unlock(&s);
	assert_false(store_is_locked(&s, pid));
	close(end);
	assert_int_equal(waitpid(program, &status, 0), program);
	assert_int_equal(status, 0);
	remove_store(&s);
}

/* Linux before 5.9 has no close_range(2), before 5.14 no cookie of a network namespace. */
static bool old_kernel;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
	long a, b, c, d, e, f;
	va_list list;

	va_start(list, number);
	a = va_arg(list, long);
	b = va_arg(list, long);
	c = va_arg(list, long);
	d = va_arg(list, long);
	e = va_arg(list, long);
	f = va_arg(list, long);
	va_end(list);
	if (!old_kernel || number != SYS_close_range)
		return __real_syscall(number, a, b, c, d, e, f);
	errno = EPERM;	/* as a container of that age says, too */
	return -1;
}

int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	if (!old_kernel)
		return __real_getsockopt(fd, level, name, value, len);
	errno = ENOPROTOOPT;
	return -1;
}

static void timer_lets_go(void)
{
	struct confirm c = { .deadline = boottime_ns() + 100000000000ULL, .pid = 1 };
	char dir[64], pid[16];
	struct store s;
	struct err e;
	int fd;

	open_store(&s, dir);
	assert_int_equal(store_lock(&s, &e), 0);
	/* whatever its number: of those up to the pipe's there is one for each */
	for (fd = 3; fd < 8; fd++)
		assert_int_equal(dup2(s.lock, fd), fd);
	assert_int_equal(timer_start(&s, &c, &e), 0);
	for (fd = 3; fd < 8; fd++)
		assert_true(fd == s.lock || !close(fd));
	assert_true(store_is_locked(&s, pid));
	store_unlock(&s);
	assert_false(store_is_locked(&s, pid));
	/* it ends within a second, as no state tells of the change */
	remove_store(&s);
}

static void test_timer_lets_go(void **state)
{
	(void)state;
	timer_lets_go();
	old_kernel = true;
	timer_lets_go();
	old_kernel = false;
}

/* One that has no cookie is known by its number. */
static void test_old_namespace(void **state)
{
	char dir[64], name[64] = "", key[NETNS_KEY];
	unsigned int inode;
	struct store s;

	(void)state;
	old_kernel = true;
	open_store(&s, dir);
	old_kernel = false;
	assert_true(readlink("/proc/self/ns/net", name, sizeof(name) - 1) > 0);
	assert_memory_equal(name, "net:[", 5);
	inode = (unsigned int)strtoul(name + 5, NULL, 10);
	snprintf(key, sizeof(key), "i%u", inode);
	assert_string_equal(s.netns, key);
	remove_store(&s);
}

/* Whoever may open the lock may hold it; one of an older version was open to all. */
static void test_lock_mode(void **state)
{
	char dir[64], path[300];
	struct store s;
	struct stat st;
	struct err e;
	int old;

	(void)state;
	for (old = 0; old < 2; old++) {
		open_store(&s, dir);
		snprintf(path, sizeof(path), "%s/lock", dir);
		if (old) {
			put_file(dir, "lock", "1\n", 2);
			assert_int_equal(chmod(path, 0644), 0);
		}
		assert_int_equal(store_lock(&s, &e), 0);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
		remove_store(&s);
	}
}

/* What is in the lock's place leads nowhere, and holds nobody up. */
static void test_lock_place(void **state)
{
	char dir[64], path[300], victim[300];
	struct store s;
	struct stat st;
	struct err e;
	char pid[16];

	(void)state;
	open_store(&s, dir);
	snprintf(path, sizeof(path), "%s/lock", dir);
	snprintf(victim, sizeof(victim), "%s/victim", dir);
	put_file(dir, "victim", "as it was", 9);
	assert_int_equal(chmod(victim, 0644), 0);
	assert_int_equal(symlink(victim, path), 0);
	assert_int_equal(store_lock(&s, &e), -ELOOP);
	assert_non_null(strstr(e.text, path));
	assert_false(store_is_locked(&s, pid));
	assert_int_equal(stat(victim, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	assert_int_equal(st.st_size, 9);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(store_lock(&s, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "is not a file; remove it"));
	remove_store(&s);
}

/* Whoever may put a state there has it obeyed. */
static void test_open_folder(void **state)
{
	static const mode_t modes[] = { 0775, 0757, 01777, 02770 };
	struct store s, other;
	char dir[64];
	struct err e;
	size_t i;

	(void)state;
	open_store(&s, dir);
	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		assert_int_equal(chmod(dir, modes[i]), 0);
		assert_int_equal(store_open(&other, &e), -EPERM);
		assert_non_null(strstr(e.text, dir));
		assert_non_null(strstr(e.text, "can be written to by others"));
		/* it became so behind store_open() */
		assert_int_equal(store_lock(&s, &e), -EPERM);
	}
	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(store_lock(&s, &e), 0);
	remove_store(&s);
}

static void test_sysctl_names(void **state)
{
	(void)state;
	assert_true(item_name_is(ITEM_SYSCTL, ALLOWED_CC));
	assert_true(item_name_is(ITEM_SYSCTL, "net.core.rmem_max"));
	assert_false(item_name_is(ITEM_SYSCTL, "kernel.modprobe"));
	assert_false(item_name_is(ITEM_SYSCTL, "net."));
	assert_false(item_name_is(ITEM_SYSCTL, "network"));
	assert_false(item_name_is(ITEM_SYSCTL, "net.ipv4/../../kernel"));
	assert_false(item_name_is(ITEM_SYSCTL, ""));
}

/* --- a file that a person named --------------------------------------------- */

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

/* Its mode stays, but nothing of ours runs with our rights; a new one has umask(2)'s. */
static void test_replaced_mode(void **state)
{
	static const mode_t modes[][2] = {
		{ 0640, 0640 }, { 0666, 0666 }, { 06777, 0777 }, { 01600, 0600 },
	};
	char dir[] = "/tmp/ctcp-replace-XXXXXX", path[80];
	struct err e;
	size_t i;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/circuits", dir);
	umask(027);
	assert_int_equal(replace_file(path, "new", 3, &e), 0);
	umask(022);
	assert_int_equal(mode_of(path), 0640);
	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		assert_int_equal(chmod(path, modes[i][0]), 0);
		assert_int_equal(replace_file(path, "more", 4, &e), 0);
		assert_int_equal(mode_of(path), modes[i][1]);
	}
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_there_and_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_any_device, setup, teardown),
		cmocka_unit_test_setup_teardown(test_waits_there_and_back, setup, teardown),
		cmocka_unit_test(test_waits_is_a_state),
		cmocka_unit_test_setup_teardown(test_other_boot, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cut_short, setup, teardown),
		cmocka_unit_test_setup_teardown(test_changed, setup, teardown),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_bad_names),
		cmocka_unit_test(test_bad_confirm_lines),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_no_line),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_guarantee),
		cmocka_unit_test(test_guarantee_changed),
		cmocka_unit_test(test_shaper_changed),
		cmocka_unit_test(test_to_htcp),
		cmocka_unit_test_setup_teardown(test_list, setup, teardown),
		cmocka_unit_test(test_bare),
		cmocka_unit_test(test_lists_of_a_change),
		cmocka_unit_test(test_confirm_sentences),
		cmocka_unit_test(test_confirm_caller),
		cmocka_unit_test_setup_teardown(test_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_file_mode, setup, teardown),
		cmocka_unit_test_setup_teardown(test_on_disk, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_room, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_dir, setup, teardown),
		cmocka_unit_test_setup_teardown(test_module, setup, teardown),
		cmocka_unit_test(test_module_loads),
		cmocka_unit_test(test_locked),
		cmocka_unit_test(test_holder_of_another),
		cmocka_unit_test(test_lock_ends),
		cmocka_unit_test(test_timer_lets_go),
		cmocka_unit_test(test_old_namespace),
		cmocka_unit_test(test_lock_mode),
		cmocka_unit_test(test_lock_place),
		cmocka_unit_test(test_open_folder),
		cmocka_unit_test(test_sysctl_names),
		cmocka_unit_test(test_replaced_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
