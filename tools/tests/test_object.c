// SPDX-License-Identifier: GPL-2.0
/*
 * A circuit as an item's text, as words, as a message, and back; and the line that
 * --dry-run prints for it.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "object.h"
#include "print.h"

/* What object_format() writes, and whether it is read back. */
static void test_text(void **state)
{
	static const struct {
		const char *text;
		bool good;
	} rows[] = {
		{ "window=1 prefixes=0.0.0.0/0", true },
		{ "window=11163 prefixes=0.0.0.0/0,::/0 dev=eth1", true },
		{ "window=67108864 rate=125000000000 prefixes=192.0.2.0/24,192.0.2.0/25,2001:db8::/32 dev=#7 mark=4294967295 flags=1",
		  true },
		{ "absent", false },
		{ "", false },
		{ "window=1", false },
		{ "window=1 prefixes=", false },
		{ "window=1 prefixes=192.0.2.1/24", false },
		{ "window=1 prefixes=192.0.2.0/24,", false },
		{ "window=1 prefixes=::/0,0.0.0.0/0", false },
		{ "window=01 prefixes=::/0", false },
		{ "window=1  prefixes=::/0", false },
		{ "window=1 prefixes=::/0 mark=0", false },
		{ "window=1 mark=7 prefixes=::/0", false },
		{ "window=1 prefixes=::/0 colour=red", false },
		{ "window=1 prefixes=::/0 ", false },
	};
	char again[ITEM_VALUE];
	struct object o;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int rc = object_parse(rows[i].text, &o);

		if (rc != (rows[i].good ? 0 : -EBADMSG))
			print_error("\"%s\": %d\n", rows[i].text, rc);
		assert_int_equal(rc, rows[i].good ? 0 : -EBADMSG);
		if (rc)
			continue;
		assert_int_equal(object_format(&o, again), 0);
		assert_string_equal(again, rows[i].text);
		object_free(&o);
	}
}

/* A device that is gone has its number for a name; nothing else is forgiven. */
static void test_is(void **state)
{
	static const char ours[] = "window=1 prefixes=::/0 dev=eth1";

	(void)state;
	assert_true(object_is(ours, ours, false));
	assert_true(object_is("absent", "absent", false));
	assert_true(object_is("window=1 prefixes=::/0 dev=#7", ours, false));
	assert_false(object_is("window=2 prefixes=::/0 dev=#7", ours, false));
	assert_false(object_is("window=1 prefixes=::/0 dev=eth2", ours, false));
	assert_false(object_is("window=1 prefixes=::/0", ours, false));
	assert_false(object_is("window=1 prefixes=::/0 dev=#7", "window=1 prefixes=::/0", false));
	assert_false(object_is("absent", ours, false));
	assert_false(object_is(ours, "absent", false));
	assert_false(object_is(ours, "", false));
	assert_true(object_is("window=1 prefixes=::/0 dev=eth2", ours, true));
	assert_false(object_is("window=2 prefixes=::/0 dev=eth2", ours, true));
	assert_false(object_is("window=1 prefixes=::/0", ours, true));
	assert_false(object_is("window=1 prefixes=::/0 dev=eth2", "window=1 prefixes=::/0", true));
}

static int from_words(const char *line, struct object *o, struct err *e)
{
	char *words[1200], *copy = strdup(line), *save;
	int n = 0, rc;

	words[n] = strtok_r(copy, " ", &save);
	while (words[n] && n < 1199)
		words[++n] = strtok_r(NULL, " ", &save);
	memset(o, 0, sizeof(*o));
	rc = object_from_words(n, words, o, e);
	free(copy);
	return rc;
}

/* The words in, the item's text out; and the line that --dry-run prints of that. */
static void test_words(void **state)
{
	static const struct {
		const char *words, *text, *line;
	} rows[] = {
		{ "lhc prefix 2001:db8::/32 prefix 192.0.2.0/24 window 1000",
		  "window=1000 prefixes=192.0.2.0/24,2001:db8::/32",
		  "lhc prefix 192.0.2.0/24 prefix 2001:db8::/32 window 1000" },
		{ "lhc window 1000 mark 0x10 prefix 192.0.2.1", NULL, NULL },
		{ "lhc window 1000 rate 4gbit dev eth1 mark 16 prefix 192.0.2.1 early-window",
		  "window=1000 rate=500000000 prefixes=192.0.2.1/32 dev=eth1 mark=16 flags=1",
		  "lhc prefix 192.0.2.1/32 window 1000 rate 4gbit dev eth1 mark 16 early-window" },
		{ "lhc unpaced window 1000 rate 4gbit prefix ::/0",
		  "window=1000 rate=500000000 prefixes=::/0 flags=2",
		  "lhc prefix ::/0 window 1000 rate 4gbit unpaced" },
		{ "a'b$c prefix ::/0 window 1 rate 622.08mbit dev p&q",
		  "window=1 rate=77760000 prefixes=::/0 dev=p&q",
		  "'a'\\''b$c' prefix ::/0 window 1 rate 622080000bit dev 'p&q'" },
	};
	char text[ITEM_VALUE], line[2048], want[512];
	struct change c = { .kind = ITEM_CIRCUIT, .from = "absent" };
	struct object o;
	struct err e;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int rc = from_words(rows[i].words, &o, &e);

		if (!rows[i].text) {
			assert_int_equal(rc, -EINVAL);
			object_free(&o);
			continue;
		}
		assert_int_equal(rc, 0);
		assert_int_equal(object_format(&o, text), 0);
		assert_string_equal(text, rows[i].text);
		c.name = o.name;
		c.to = text;
		assert_int_equal(change_commands(&c, "lo", line, sizeof(line)), 0);
		snprintf(want, sizeof(want), "ctcp-setup circuit set %s\n", rows[i].line);
		assert_string_equal(line, want);
		object_free(&o);
	}
	c.to = "absent";
	assert_int_equal(change_commands(&c, "lo", line, sizeof(line)), 0);
	assert_string_equal(line, "ctcp-setup circuit del 'a'\\''b$c'\n");
}

/* As the kernel would tell of it again. */
static void test_message(void **state)
{
	static const char words[] =
		"lhc prefix 2001:db8::/32 prefix 192.0.2.0/24 prefix ::/0 window 1000"
		" rate 4gbit dev lo mark 7 early-window";
	union genl_request req;
	struct genl g = { .family = 31 };
	struct nlmsghdr *nlh = genl_message(&g, &req, TCP_CIRCUIT_CMD_NEW);
	const struct nlattr *attr;
	char a[ITEM_VALUE], b[ITEM_VALUE];
	struct object o, back = { .n = 0 };
	struct err e;

	(void)state;
	assert_int_equal(from_words(words, &o, &e), 0);
	assert_int_equal(object_put(nlh, &o, &e), 0);
	assert_int_equal(nlh->nlmsg_type, 31);
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		/* strict validation wants it said */
		if (mnl_attr_get_type(attr) == TCP_CIRCUIT_A_PREFIX)
			assert_true(attr->nla_type & NLA_F_NESTED);
		assert_int_equal(object_attr(attr, &back), 0);
	}
	object_sort(&back);
	assert_string_equal(back.name, "lhc");
	assert_int_equal(object_format(&o, a), 0);
	assert_int_equal(object_format(&back, b), 0);
	assert_string_equal(a, b);
	strcpy(o.dev, "no-such");
	assert_int_equal(object_put(nlh, &o, &e), -ENODEV);
	assert_string_equal(e.text, "there is no device no-such");
	object_free(&o);
	object_free(&back);
}

/* The most that a circuit may have is one message, and not an item. */
static void test_many(void **state)
{
	struct genl g = { .family = 31 };
	union genl_request req;
	struct nlmsghdr *nlh = genl_message(&g, &req, TCP_CIRCUIT_CMD_NEW);
	static char words[32768];
	char text[ITEM_VALUE];
	struct object o;
	struct err e;
	int i, n;

	(void)state;
	n = sprintf(words, "abcdefghijklmnopqrstuvwxyz01234 window 67108864 rate 1tbit");
	for (i = 0; i < TCP_CIRCUIT_PREFIXES_MAX; i++)
		n += sprintf(words + n, " prefix 2001:db8:%x::/48", i);
	assert_int_equal(from_words(words, &o, &e), 0);
	assert_int_equal(o.n, TCP_CIRCUIT_PREFIXES_MAX);
	assert_int_equal(object_put(nlh, &o, &e), 0);
	assert_true(nlh->nlmsg_len < sizeof(req));
	assert_int_equal(object_format(&o, text), -E2BIG);
	object_free(&o);
	sprintf(words + n, " prefix ::/0");
	assert_int_equal(from_words(words, &o, &e), -E2BIG);
	assert_non_null(strstr(e.text, "prefix: \"::/0\" is one more than the"));
	object_free(&o);
}

/* Attributes of the wrong size, and prefixes that are none. */
static void test_bad(void **state)
{
	static const struct {
		uint16_t type;
		uint16_t len;
	} rows[] = {
		{ TCP_CIRCUIT_A_NAME, 0 }, { TCP_CIRCUIT_A_NAME, 3 },
		{ TCP_CIRCUIT_A_WINDOW, 0 }, { TCP_CIRCUIT_A_WINDOW, 2 },
		{ TCP_CIRCUIT_A_RATE, 4 }, { TCP_CIRCUIT_A_IFINDEX, 8 },
		{ TCP_CIRCUIT_A_MARK, 1 }, { TCP_CIRCUIT_A_FLAGS, 3 },
		{ TCP_CIRCUIT_A_PREFIX, 0 },
	};
	static const struct {
		uint16_t bytes;
		int len;
	} prefixes[] = { { 4, 33 }, { 16, 129 }, { 5, 8 }, { 0, 8 }, { 4, -1 } };
	static const unsigned char ones[16] = "123456789012345";
	union genl_request req;
	const struct nlattr *attr;
	struct nlattr *nest;
	struct object o = { .n = 0 };
	struct genl g = { .family = 31 };
	struct nlmsghdr *nlh;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		nlh = genl_message(&g, &req, TCP_CIRCUIT_CMD_GET);
		mnl_attr_put(nlh, rows[i].type, rows[i].len, ones);
		attr = mnl_nlmsg_get_payload_offset(nlh, sizeof(struct genlmsghdr));
		assert_int_equal(object_attr(attr, &o), -EBADMSG);
	}
	for (i = 0; i < ARRAY_SIZE(prefixes); i++) {
		nlh = genl_message(&g, &req, TCP_CIRCUIT_CMD_GET);
		nest = mnl_attr_nest_start(nlh, TCP_CIRCUIT_A_PREFIX);
		mnl_attr_put(nlh, TCP_CIRCUIT_PREFIX_A_ADDRESS, prefixes[i].bytes, ones);
		if (prefixes[i].len >= 0)
			mnl_attr_put_u8(nlh, TCP_CIRCUIT_PREFIX_A_LEN, (uint8_t)prefixes[i].len);
		mnl_attr_nest_end(nlh, nest);
		assert_int_equal(object_attr(nest, &o), -EBADMSG);
	}
	assert_int_equal(o.n, 0);
}

static void test_shell_words(void **state)
{
	static const char * const rows[][2] = {
		{ "eth1", "eth1" }, { "", "''" }, { "a b", "'a b'" }, { "'", "''\\'''" },
		{ "eth1.7@%+,-_/:", "eth1.7@%+,-_/:" }, { "~", "'~'" }, { "$(x)", "'$(x)'" },
	};
	char word[WORD(32)];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		assert_string_equal(shell_word(word, sizeof(word), rows[i][0]), rows[i][1]);
	/* the longest, all of it quotes */
	shell_word(word, sizeof(word), "'''''''''''''''''''''''''''''''");
	assert_int_equal(strlen(word), 4 * 31 + 2);
}

/* The controller's answer: of its groups the one of that name. */
static void test_family(void **state)
{
	static const char * const names[] = { "others", TCP_CIRCUIT_MCGRP_EVENTS };
	union nl_request req;
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&req);
	struct genlmsghdr *head = mnl_nlmsg_put_extra_header(nlh, sizeof(*head));
	struct nlattr *groups, *group;
	struct genl g;
	uint32_t i;

	(void)state;
	nlh->nlmsg_type = GENL_ID_CTRL;
	head->cmd = CTRL_CMD_DELFAMILY;
	assert_int_equal(genl_family_parse(nlh, &g), -EBADMSG);
	assert_false(genl_family_gone(nlh));
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, TCP_CIRCUIT_GENL_NAME);
	mnl_attr_put_u16(nlh, CTRL_ATTR_FAMILY_ID, 31);
	groups = mnl_attr_nest_start(nlh, CTRL_ATTR_MCAST_GROUPS);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		group = mnl_attr_nest_start(nlh, (uint16_t)(i + 1));
		mnl_attr_put_u32(nlh, CTRL_ATTR_MCAST_GRP_ID, 100 + i);
		mnl_attr_put_strz(nlh, CTRL_ATTR_MCAST_GRP_NAME, names[i]);
		mnl_attr_nest_end(nlh, group);
	}
	mnl_attr_nest_end(nlh, groups);
	assert_int_equal(genl_family_parse(nlh, &g), 0);
	assert_int_equal(g.family, 31);
	assert_int_equal(g.events, 101);
	assert_true(genl_family_gone(nlh));
	head->cmd = CTRL_CMD_NEWFAMILY;
	assert_false(genl_family_gone(nlh));
	nlh->nlmsg_len = NLMSG_HDRLEN;
	assert_int_equal(genl_family_parse(nlh, &g), -EBADMSG);
	assert_false(genl_family_gone(nlh));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_is),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_message),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_shell_words),
		cmocka_unit_test(test_family),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
