// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of the kernel, read at once: see known.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "filter.h"
#include "htb.h"
#include "known.h"
#include "live.h"
#include "out.h"
#include "route.h"

void known_free(struct known *k)
{
	int i;

	for (i = 0; i < ITEM_KINDS; i++)
		map_free(&k->list[i]);
	map_free(&k->devices);
	map_free(&k->ours);
	pool_free(&k->texts);
	memset(k, 0, sizeof(*k));
}

/* Both are copied. */
static int know(struct known *k, struct map *m, const char *name, const char *value)
{
	const char *own = pool_text(&k->texts, name);
	const char *text = own ? pool_text(&k->texts, value) : NULL;

	return text ? map_set(m, own, (void *)text) : -ENOMEM;
}

/* "eth1" of "eth1 c7c0:1" */
static bool device_is_known(const struct known *k, const char *name)
{
	size_t n = strcspn(name, " ");
	char dev[32];

	if (n >= sizeof(dev))
		return false;
	memcpy(dev, name, n);
	dev[n] = 0;
	return map_get(&k->devices, dev);
}

const char *known_get(const struct known *k, enum item_kind kind, const char *name)
{
	const char *value = map_get(&k->list[kind], name);

	if (value)
		return value;
	if (kind == ITEM_CLASS)
		return device_is_known(k, name) ? "absent" : NULL;
	return k->whole[kind] ? "absent" : NULL;
}

/* --- circuits -------------------------------------------------------------- */

static int add_circuit(struct known *k, const struct live *l)
{
	char value[ITEM_VALUE];

	/* one of a peer has no name; one that no item holds is asked for, which says so */
	if (l->no_object)
		return 0;
	if (object_format(&l->object, value))
		return -E2BIG;
	return know(k, &k->list[ITEM_CIRCUIT], l->object.name, value);
}

void known_circuits(struct known *k, struct genl *g)
{
	struct err unused = { "" };
	struct lives ls = { 0 };
	int rc = genl_resolve(g, &unused) ?: lives_read(&ls, &unused);
	uint32_t i;

	for (i = 0; i < ls.n && !rc; i++)
		rc = add_circuit(k, &ls.list[i]);
	lives_free(&ls);
	k->whole[ITEM_CIRCUIT] = !rc;
}

/* --- routes ---------------------------------------------------------------- */

struct route_walk {
	struct known *k;
	uint32_t left;		/* routes, before asking for each alone is cheaper */
};

static int add_route(const struct prefix *to, const struct route *r, void *data)
{
	struct route_walk *walk = data;
	struct map *m = &walk->k->list[ITEM_ROUTE];
	char name[ITEM_NAME], value[ITEM_VALUE];
	const char *other;

	if (!walk->left--)
		return -E2BIG;
	format_prefix(name, sizeof(name), to);
	route_to_text(r, value);
	other = map_get(m, name);
	if (other && !route_text_comes_before(value, other))
		return 0;
	return know(walk->k, m, name, value);
}

/* @asked: how many would be */
void known_routes(struct known *k, struct nl *nl, uint32_t asked)
{
	struct route_walk walk = { .k = k, .left = 4 * asked };
	struct err unused = { "" };

	k->whole[ITEM_ROUTE] = !route_each(nl, AF_INET, false, add_route, &walk, &unused) &&
			       !route_each(nl, AF_INET6, false, add_route, &walk, &unused);
	if (!k->whole[ITEM_ROUTE])
		map_free(&k->list[ITEM_ROUTE]);
}

/* A prefix and a number: there may be several to one. */
static const char *nth_name(char name[ITEM_NAME + 16], const char *to, uint32_t n)
{
	snprintf(name, ITEM_NAME + 16, "%s %u", to, n);
	return name;
}

const char *known_route(const struct known *k, const char *name, uint32_t n)
{
	char nth[ITEM_NAME + 16];

	return map_get(&k->ours, nth_name(nth, name, n));
}

static int add_ours(const struct prefix *to, const struct route *r, void *data)
{
	struct known *k = data;
	char name[ITEM_NAME], nth[ITEM_NAME + 16], value[ITEM_VALUE];
	uint32_t n = 0;

	if (!route_may_be_ours(r))
		return 0;
	format_prefix(name, sizeof(name), to);
	while (known_route(k, name, n))
		n++;
	route_to_text(r, value);
	return know(k, &k->ours, nth_name(nth, name, n), value);
}

int known_ours(struct known *k, struct nl *nl, struct err *e)
{
	int rc = k->all_ours ? 0 : route_each(nl, AF_INET, true, add_ours, k, e) ?:
				   route_each(nl, AF_INET6, true, add_ours, k, e);

	k->all_ours |= !rc;
	return rc;
}

/* --- classes and filters of a device ---------------------------------------- */

struct device_walk {
	struct known *k;
	const char *dev;
	struct map plain;	/* filters of frames without a tag: as in the list */
};

static int add_class(uint32_t minor, const struct htb_class *c, void *data)
{
	struct device_walk *walk = data;
	char name[ITEM_NAME], value[ITEM_VALUE];

	class_format(c, value, sizeof(value));
	return know(walk->k, &walk->k->list[ITEM_CLASS],
		    class_name(name, sizeof(name), walk->dev, minor), value);
}

/*
 * Both filters of a prefix are ours, lead to one class, and are where each would be looked
 * for first; that without a tag is told of first, as its priority is less.
 */
static int add_filter(const struct flower *fl, void *data)
{
	struct filter f = { .state = FILTER_OURS, .minor = fl->classid & 0xffff };
	struct device_walk *walk = data;
	char name[ITEM_NAME], value[ITEM_VALUE];
	const char *plain;

	if (!flower_is(fl, &fl->to, fl->tagged) || fl->handle != filter_handle(&fl->to, 0))
		return 0;
	filter_name(name, sizeof(name), walk->dev, &fl->to);
	filter_format(&f, value, sizeof(value));
	if (!fl->tagged)
		return know(walk->k, &walk->plain, name, value);
	plain = map_get(&walk->plain, name);
	return plain && !strcmp(plain, value) ?
	       know(walk->k, &walk->k->list[ITEM_FILTER], name, value) : 0;
}

void known_device(struct known *k, struct nl *nl, const char *dev, int ifindex)
{
	struct device_walk walk = { .k = k, .dev = dev };
	struct err unused = { "" };

	if (map_get(&k->devices, dev))
		return;
	if (!class_read_all(nl, ifindex, add_class, &walk, &unused))
		know(k, &k->devices, dev, "");
	filter_each(nl, ifindex, add_filter, &walk, &unused);
	map_free(&walk.plain);
}
