// SPDX-License-Identifier: GPL-2.0
/*
 * Items compared and named: see item.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "htb.h"
#include "item.h"
#include "qdisc.h"
#include "route.h"

static const char * const kind_names[ITEM_KINDS] = {
	[ITEM_MODULE] = "module",
	[ITEM_SYSCTL] = "sysctl",
	[ITEM_TXQLEN] = "txqlen",
	[ITEM_QDISC] = "qdisc",
	[ITEM_ROUTE] = "route",
	[ITEM_CIRCUIT] = "circuit",
	[ITEM_CLASS] = "class",
	[ITEM_FILTER] = "filter",
};

const char *item_kind_name(enum item_kind kind)
{
	return kind_names[kind];
}

int item_kind_parse(const char *s, enum item_kind *kind)
{
	unsigned int i;

	for (i = 0; i < ITEM_KINDS; i++) {
		if (!strcmp(kind_names[i], s)) {
			*kind = (enum item_kind)i;
			return 0;
		}
	}
	return -EINVAL;
}

/* @list is words with single blanks between. */
bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);
	const char *p = list;

	while ((p = strstr(p, word))) {
		if ((p == list || p[-1] == ' ') && (!p[n] || p[n] == ' '))
			return true;
		p += n;
	}
	return false;
}

static bool all_words_in(const char *list, const char *of)
{
	char copy[ITEM_VALUE], *save, *word;

	snprintf(copy, sizeof(copy), "%s", list);
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		if (!has_word(of, word))
			return false;
	return true;
}

/*
 * The kernel lists algorithms in its own order, whatever was written; a qdisc's
 * bucket comes back in ticks, a route with attributes it added itself.
 */
bool item_equal(enum item_kind kind, const char *name, const char *a,
		const char *b)
{
	if (!strcmp(a, b))
		return true;
	if (kind == ITEM_SYSCTL && !strcmp(name, ALLOWED_CC))
		return all_words_in(a, b) && all_words_in(b, a);
	if (kind == ITEM_QDISC)
		return qdisc_text_equal(a, b);
	if (kind == ITEM_ROUTE)
		return route_text_equal(a, b);
	if (kind == ITEM_CLASS)
		return class_text_equal(a, b);
	return false;
}

/* A value for a person: routes are hex inside, rates bytes/s. */
const char *item_describe(enum item_kind kind, const char *name,
			  const char *value, char *buf, size_t len)
{
	if (kind == ITEM_ROUTE)
		route_text_describe(name, value, buf, len);
	else if (kind == ITEM_QDISC)
		qdisc_text_describe(value, buf, len);
	else if (kind == ITEM_CLASS)
		class_text_describe(value, buf, len);
	else
		snprintf(buf, len, "%s", value);
	return buf;
}
