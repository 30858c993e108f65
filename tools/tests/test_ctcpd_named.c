// SPDX-License-Identifier: GPL-2.0
/*
 * Remotes as they are named: { text, what it is, or what is wrong with it }.
 */
#include <errno.h>
#include <string.h>

#include "test.h"

#include "ctcpd/named.h"

struct row {
	const char *text, *is;	/* NULL: none */
	const char *says;
};

static void check(const struct row *r, int (*read)(const char *, struct prefix *, struct err *))
{
	char text[INET6_ADDRSTRLEN + 4] = "";
	struct err e = { "" };
	struct prefix p;
	int rc = read(r->text, &p, &e);

	if (!rc)
		format_prefix(text, sizeof(text), &p);
	if (rc != (r->is ? 0 : -EINVAL) || strcmp(text, r->is ?: ""))
		fail_msg("%s: %d, \"%s\" (%s), expected %s", r->text, rc, text, e.text,
			 r->is ?: "-EINVAL");
	if (rc && strcmp(e.text, r->says))
		fail_msg("%s: \"%s\", expected \"%s\"", r->text, e.text, r->says);
}

static void test_address(void **state)
{
	static const struct row rows[] = {
		{ "192.0.2.7", "192.0.2.7/32", NULL },
		{ "2001:DB8::7", "2001:db8::7/128", NULL },
		{ "::ffff:192.0.2.7", "192.0.2.7/32", NULL },
		{ "::FFFF:c000:207", "192.0.2.7/32", NULL },
		{ "::192.0.2.7", "::192.0.2.7/128", NULL },
		{ "64:ff9b::192.0.2.7", "64:ff9b::c000:207/128", NULL },
		{ "192.0.2.0/24", NULL,
		  "\"192.0.2.0/24\" is not an address; write e.g. 192.0.2.7" },
		{ "", NULL, "\"\" is not an address; write e.g. 192.0.2.7" },
		{ "eth1", NULL, "\"eth1\" is not an address; write e.g. 192.0.2.7" },
		{ "fe80::1%eth1", NULL,
		  "\"fe80::1%eth1\" names a device; a remote is its address alone, fe80::1" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		check(&rows[i], named_address);
}

static void test_prefix(void **state)
{
	static const struct row rows[] = {
		{ "192.0.2.7", "192.0.2.7/32", NULL },
		{ "192.0.2.0/24", "192.0.2.0/24", NULL },
		{ "2001:db8::/32", "2001:db8::/32", NULL },
		{ "0.0.0.0/0", "0.0.0.0/0", NULL },
		{ "::/0", "::/0", NULL },
		{ "::ffff:192.0.2.7", "192.0.2.7/32", NULL },
		{ "::ffff:192.0.2.0/120", "192.0.2.0/24", NULL },
		{ "::ffff:0.0.0.0/96", "0.0.0.0/0", NULL },
		{ "::fffe:0:0/95", "::fffe:0:0/95", NULL },
		{ "10.0.0.0/33", NULL,
		  "\"10.0.0.0/33\" is not a prefix; write e.g. 192.0.2.0/24 or 2001:db8::/32" },
		{ "10.0.0.1/8", NULL,
		  "\"10.0.0.1/8\" has bits behind its prefix length; did you mean 10.0.0.0/8?" },
		{ "fe80::1%eth1", NULL,
		  "\"fe80::1%eth1\" names a device; a remote is its address alone, fe80::1" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		check(&rows[i], named_prefix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_address),
		cmocka_unit_test(test_prefix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
