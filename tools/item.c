// SPDX-License-Identifier: GPL-2.0
/*
 * Items compared and named: see item.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "circuit.h"
#include "htb.h"
#include "item.h"
#include "qdisc.h"
#include "route.h"
#include "text.h"
#include "words.h"

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

/* Read and set by netlink messages of its own, of which there may be thousands. */
bool item_goes_with_many(enum item_kind kind)
{
	return kind == ITEM_CIRCUIT || kind == ITEM_ROUTE || kind == ITEM_CLASS ||
	       kind == ITEM_FILTER;
}

const char *item_kind_name(enum item_kind kind)
{
	return kind_names[kind];
}

int item_kind_parse(const char *s, enum item_kind *kind)
{
	int i = word_find(kind_names, 0, ITEM_KINDS, s);

	if (i < 0)
		return i;
	*kind = (enum item_kind)i;
	return 0;
}

static bool is_prefix(const char *name)
{
	struct prefix to;
	struct err unused = { "" };

	return !parse_prefix(name, &to, &unused);
}

static bool is_class(const char *name)
{
	uint32_t minor;

	return !class_minor(name, &minor);
}

/* "eth1 192.0.2.0/24": a device, a blank and a name below it */
static bool is_below_device(const char *name, bool (*is)(const char *name))
{
	const char *blank = strchr(name, ' ');
	char dev[IFNAMSIZ];

	if (!blank || blank - name >= IFNAMSIZ)
		return false;
	snprintf(dev, sizeof(dev), "%.*s", (int)(blank - name), name);
	return dev_is_valid(dev) && is(blank + 1);
}

/* Below /proc/sys/net, as all that a plan sets, and nowhere else: a dot stands for a slash. */
static bool is_sysctl(const char *name)
{
	static const char net[] = "net.";

	return !strncmp(name, net, strlen(net)) && name[strlen(net)] &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.")];
}

/* Is it one of this kind?  The module is only its own. */
bool item_name_is(enum item_kind kind, const char *name)
{
	char circuit[TCP_CIRCUIT_NAME_LEN];
	struct err unused = { "" };

	switch (kind) {
	case ITEM_SYSCTL:
		return is_sysctl(name);
	case ITEM_TXQLEN:
	case ITEM_QDISC:
		return dev_is_valid(name);
	case ITEM_ROUTE:
		return is_prefix(name);
	case ITEM_CIRCUIT:
		return !parse_name(name, circuit, &unused);
	case ITEM_CLASS:
		return is_below_device(name, is_class);
	case ITEM_FILTER:
		return is_below_device(name, is_prefix);
	default:
		return !strcmp(name, MODULE_NAME);
	}
}

/* @list is words with single blanks between, none of which is "". */
bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);
	const char *p = list;

	while (n && (p = strstr(p, word))) {
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

int item_became(struct backend *b, enum item_kind kind, const char *name, const char *from,
		const char *value, const char *now, struct err *e)
{
	char found[ITEM_VALUE];
	int rc;

	if (item_equal(kind, name, now, value))
		return 1;
	if (kind != ITEM_ROUTE || strcmp(value, "absent"))
		return b->find(b, kind, name, value, found, e);
	rc = b->find(b, kind, name, from, found, e);
	return rc < 0 ? rc : !rc;
}

/* A value for a person: routes are hex inside, rates bytes/s, and a device has any name. */
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
	text_clean(buf);
	return buf;
}
