// SPDX-License-Identifier: GPL-2.0
/*
 * Items of the running kernel.
 *
 * set() also reads back: what the kernel has afterwards must be what was
 * asked for, or it is an error.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ahead.h"
#include "circuit.h"
#include "congctl.h"
#include "filter.h"
#include "guarantee.h"
#include "htb.h"
#include "kernel.h"
#include "kmod.h"
#include "link.h"
#include "live.h"
#include "object.h"
#include "out.h"
#include "qdisc.h"
#include "route.h"
#include "sysctl.h"

static struct kernel *of(struct backend *b)
{
	return (struct kernel *)b;
}

/* Right after link_index(): a question that failed does not say that the device is gone. */
static int no_device(const char *dev, struct err *e)
{
	if (errno != ENODEV && errno != ENXIO)
		return err_set(e, -errno, "cannot ask the kernel for device %s: %s", dev,
			       strerror(errno));
	return err_set(e, -ENODEV, "there is no device %s", dev);
}

/* Of many items that go at once the first one has asked. */
static int index_of(struct kernel *k, const char *dev)
{
	bool many = k->nl.ahead || k->nl.post;
	int index;

	if (many && !strcmp(k->device.name, dev))
		return k->device.index;
	index = link_index(dev);
	if (many && index) {
		out_copy(k->device.name, sizeof(k->device.name), dev);
		k->device.index = index;
	}
	return index;
}

static int get_txqlen(struct kernel *k, const char *dev, char *value, struct err *e)
{
	struct facts f;
	int rc = link_index(dev) ? facts_read(&k->nl, dev, &f, e) : no_device(dev, e);

	if (!rc)
		snprintf(value, ITEM_VALUE, "%" PRIu32, f.txqlen);
	return rc;
}

static int get_qdisc(struct kernel *k, const char *dev, char *value, struct err *e)
{
	int index = link_index(dev), rc;
	struct qdisc q;

	if (!index)
		return no_device(dev, e);
	rc = qdisc_read(&k->nl, index, &q, NULL, e);
	if (!rc)
		qdisc_format(&q, value, ITEM_VALUE);
	return rc;
}

/* "eth1 c7c0:1" -> the index of eth1, and what follows it; 0 = no such device */
static int device_of(struct kernel *k, const char *name, const char **rest)
{
	size_t n = strcspn(name, " ");
	char dev[IFNAMSIZ];

	*rest = name[n] ? name + n + 1 : name + n;
	errno = ENODEV;
	if (n >= sizeof(dev))
		return 0;
	memcpy(dev, name, n);
	dev[n] = 0;
	return index_of(k, dev);
}

static int get_class(struct kernel *k, const char *name, char *value, struct err *e)
{
	const char *id;
	int index = device_of(k, name, &id), rc;
	struct htb_class c;
	uint32_t minor;

	if (!index)
		return no_device(name, e);
	if (class_minor(id, &minor))
		return err_set(e, -EINVAL, "\"%s\" is not a class", name);
	rc = class_read(&k->nl, index, minor, &c, NULL, e);
	if (!rc)
		class_format(&c, value, ITEM_VALUE);
	return rc;
}

static int get_filter(struct kernel *k, const char *name, char *value, struct err *e)
{
	const char *prefix;
	int index = device_of(k, name, &prefix), rc;
	struct filter f;
	struct prefix to;

	if (!index)
		return no_device(name, e);
	rc = parse_prefix(prefix, &to, e);
	if (!rc)
		rc = filter_read(&k->nl, index, &to, &f, e);
	if (!rc)
		filter_format(&f, value, ITEM_VALUE);
	return rc;
}

static int get_route(struct kernel *k, const char *name, char *value, struct err *e)
{
	struct prefix to;
	struct route r;
	int rc;

	rc = parse_prefix(name, &to, e);
	if (!rc)
		rc = route_read(&k->nl, &to, &r, e);
	if (!rc)
		route_to_text(&r, value);
	return rc;
}

static int circuit_text(const struct object *o, const char *name, char *value, struct err *e)
{
	int rc = object_format(o, value);

	return rc ? err_set(e, rc,
			    "circuit %s has %u prefixes, more than ctcp-setup can restore; give this one another name",
			    name, o->n) : 0;
}

/* Of many items that go at once none asks. */
bool kernel_has_module(const struct kernel *k)
{
	return k->nl.ahead || k->nl.post ? !k->no_module : sysctl_exists(FCWND_SYSCTL);
}

/* Where there is no module, there is no circuit. */
static int get_circuit(struct kernel *k, const char *name, char *value, struct err *e)
{
	struct object o;
	int rc;

	strcpy(value, "absent");
	if (!kernel_has_module(k))
		return 0;
	rc = object_get(&k->genl, name, &o, e);
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	rc = circuit_text(&o, name, value, e);
	object_free(&o);
	return rc;
}

/* -EROFS: there, in @value, but only to be read in this namespace. */
static int get_sysctl(const char *name, char *value, struct err *e)
{
	bool writable;
	int rc = sysctl_get(name, value, e);

	if (!rc)
		rc = sysctl_writable(name, &writable, e);
	if (!rc && !writable)
		rc = err_set(e, -EROFS, "%s can only be read here", name);
	return rc;
}

static int ask_kernel(struct backend *b, enum item_kind kind, const char *name,
		      char value[ITEM_VALUE], struct err *e)
{
	switch (kind) {
	case ITEM_MODULE:
		snprintf(value, ITEM_VALUE, "%s",
			 sysctl_exists(FCWND_SYSCTL) ? "loaded" : "absent");
		return 0;
	case ITEM_SYSCTL:
		return get_sysctl(name, value, e);
	case ITEM_TXQLEN:
		return get_txqlen(of(b), name, value, e);
	case ITEM_QDISC:
		return get_qdisc(of(b), name, value, e);
	case ITEM_ROUTE:
		return get_route(of(b), name, value, e);
	case ITEM_CIRCUIT:
		return get_circuit(of(b), name, value, e);
	case ITEM_CLASS:
		return get_class(of(b), name, value, e);
	case ITEM_FILTER:
		return get_filter(of(b), name, value, e);
	default:
		return err_set(e, -EINVAL, "no such kind of item");
	}
}

static int kernel_get(struct backend *b, enum item_kind kind, const char *name,
		      char value[ITEM_VALUE], struct err *e)
{
	const char *known = known_get(&of(b)->known, kind, name);

	if (!known)
		return ask_kernel(b, kind, name, value, e);
	out_copy(value, ITEM_VALUE, known);
	return 0;
}

/* Without its algorithm the kernel does not tell of a route's congctl. */
static int find_hidden(struct kernel *k, const struct prefix *to, const struct route *want,
		       struct route *found, struct err *e)
{
	const char *congctl = route_congctl(want);
	struct route shown;
	int rc;

	if (!congctl || congctl_is_here(congctl))
		return 0;
	rc = route_without_congctl(want, &shown, e);
	return rc ? rc : route_find(&k->nl, to, &shown, found, e);
}

static int find_route(struct kernel *k, const char *name, const struct route *want,
		      struct route *found, struct err *e)
{
	const char *text;
	struct prefix to;
	uint32_t n;
	int rc = parse_prefix(name, &to, e) ?: known_ours(&k->known, &k->nl, e);

	for (n = 0; !rc && (text = known_route(&k->known, name, n)); n++)
		if (!route_from_text(text, found) && route_is(found, want))
			return 1;
	if (rc)
		return rc;
	return route_may_be_ours(want) ? find_hidden(k, &to, want, found, e) :
					 route_find(&k->nl, &to, want, found, e);
}

static int kernel_find(struct backend *b, enum item_kind kind, const char *name,
		       const char *value, char found[ITEM_VALUE], struct err *e)
{
	struct route want, r;
	int rc;

	if (kind != ITEM_ROUTE || route_from_text(value, &want) || !want.len)
		return 0;
	rc = find_route(of(b), name, &want, &r, e);
	if (rc == 1)
		route_to_text(&r, found);
	return rc;
}

/* The route to @to, as its item has it */
int kernel_route(struct kernel *k, const struct prefix *to, struct route *r, struct err *e)
{
	const char *known;
	char name[64];

	known = known_get(&k->known, ITEM_ROUTE, format_prefix(name, sizeof(name), to));
	return known && !route_from_text(known, r) ? 0 : route_read(&k->nl, to, r, e);
}

/*
 * Circuits that ours are not among any more, of this namespace.  Each keeps the module
 * loaded; how many there are says why.
 */
static uint32_t circuits_left(struct kernel *k)
{
	struct err unused = { "" };
	struct totals t;

	return totals_read(&k->genl, &t, &unused) ? 0 : t.circuits;
}

/* 1: in use, so it stays. */
static int set_module(struct kernel *k, const char *name, const char *value, struct err *e)
{
	uint32_t left;
	int rc;

	if (!strcmp(value, "loaded"))
		return module_load(name, e);
	left = circuits_left(k);
	if (left) {
		err_set(e, -EBUSY, "module %s is left loaded: it has %u circuit%s of others",
			name, left, left == 1 ? "" : "s");
		return 1;
	}
	rc = module_remove(name, e);
	if (rc == -EBUSY || rc == -EAGAIN || rc == -EWOULDBLOCK) {
		err_set(e, rc, "module %s is left loaded: in use", name);
		return 1;
	}
	return rc;
}

/* Outside the machine's own namespace only an algorithm allowed to all may. */
static int set_sysctl(const char *name, const char *value, struct err *e)
{
	int rc = sysctl_set(name, value, e);

	if (rc == -EPERM && !strcmp(name, DEFAULT_CC))
		err_set(e, rc,
			"%s: the kernel refuses \"%s\" in this network namespace until %s of the machine's own lists it",
			name, value, ALLOWED_CC);
	return rc;
}

static int set_qdisc(struct kernel *k, const char *dev, const char *value, struct err *e)
{
	int index = link_index(dev), rc;
	struct err why;
	struct qdisc q;

	if (!index)
		return no_device(dev, e);
	if (qdisc_parse(value, &q))
		return err_set(e, -EINVAL, "\"%s\" is not a qdisc", value);
	rc = qdisc_write(&k->nl, index, &q, &why);
	return rc ? err_set(e, rc, "%s: the kernel refuses qdisc \"%s\": %s", dev, value,
			    why.text) : 0;
}

static int set_class(struct kernel *k, const char *name, const char *value, struct err *e)
{
	const char *id;
	int index = device_of(k, name, &id), rc;
	struct htb_class c;
	struct err why;
	uint32_t minor;

	if (!index)
		return no_device(name, e);
	if (class_minor(id, &minor) || class_parse(value, &c))
		return err_set(e, -EINVAL, "%s \"%s\" is not a class", name, value);
	rc = class_write(&k->nl, index, minor, &c, &why);
	return rc ? err_set(e, rc, "%s: the kernel refuses class \"%s\": %s", name, value,
			    why.text) : 0;
}

static int set_filter(struct kernel *k, const char *name, const char *value, struct err *e)
{
	const char *prefix;
	int index = device_of(k, name, &prefix), rc;
	struct filter f;
	struct prefix to;
	struct err why;

	if (!index)
		return no_device(name, e);
	rc = parse_prefix(prefix, &to, e);
	if (rc)
		return rc;
	if (filter_parse(value, &f))
		return err_set(e, -EINVAL, "%s \"%s\" is not a filter", name, value);
	rc = filter_write(&k->nl, index, &to, &f, &why);
	return rc ? err_set(e, rc, "%s: the kernel refuses the filter to \"%s\": %s", name, value,
			    why.text) : 0;
}

static int set_circuit(struct kernel *k, const char *name, const char *value, struct err *e)
{
	struct object o;
	int rc;

	if (!strcmp(value, "absent")) {
		rc = kernel_has_module(k) ? object_del(&k->genl, name, e) : 0;
		return rc == -ENOENT ? 0 : rc;
	}
	if (object_parse(value, &o))
		return err_set(e, -EINVAL, "\"%s\" is not a circuit", value);
	snprintf(o.name, sizeof(o.name), "%.31s", name);
	rc = object_set(&k->genl, &o, e);
	object_free(&o);
	return rc;
}

/* Ours; somebody's is not looked at. */
static int check_congctl(struct kernel *k, const struct route *r, struct err *e)
{
	const char *name = !r->len ? NULL :
			   route_has_congctl(r, CC_NAME) ? CC_NAME :
			   route_has_congctl(r, HTCP_NAME) ? HTCP_NAME : NULL;
	int rc;

	/* of many that go at once the first one has asked */
	if (!name || (k->nl.post && k->has_congctl && !strcmp(k->has_congctl, name)))
		return 0;
	rc = congctl_need(name, e);
	k->has_congctl = rc ? NULL : name;
	return rc;
}

static int set_route(struct kernel *k, const char *name, const char *from, const char *value,
		     struct err *e)
{
	struct prefix to;
	struct err why;
	struct route r, was;
	int rc;

	rc = parse_prefix(name, &to, e);
	if (rc)
		return rc;
	if (route_from_text(from, &was) || route_from_text(value, &r))
		return err_set(e, -EINVAL, "the route to %s in the state is not one", name);
	rc = check_congctl(k, &r, e);
	if (rc)
		return rc;
	rc = route_write(&k->nl, &to, &was, &r, &why);
	return rc ? err_set(e, rc, "the kernel refuses the route to %s: %s", name,
			    why.text) : 0;
}

static int set_item(struct kernel *k, enum item_kind kind, const char *name,
		    const char *from, const char *value, struct err *e)
{
	switch (kind) {
	case ITEM_MODULE:
		return set_module(k, name, value, e);
	case ITEM_SYSCTL:
		return set_sysctl(name, value, e);
	case ITEM_TXQLEN:
		return link_set_txqlen(name, (uint32_t)strtoul(value, NULL, 10), e);
	case ITEM_QDISC:
		return set_qdisc(k, name, value, e);
	case ITEM_ROUTE:
		return set_route(k, name, from, value, e);
	case ITEM_CIRCUIT:
		return set_circuit(k, name, value, e);
	case ITEM_CLASS:
		return set_class(k, name, value, e);
	case ITEM_FILTER:
		return set_filter(k, name, value, e);
	default:
		return err_set(e, -EINVAL, "no such kind of item");
	}
}

static int kernel_set(struct backend *b, enum item_kind kind, const char *name,
		      const char *from, const char *value, struct err *e)
{
	char now[ITEM_VALUE], a[256], c[256];
	int rc;

	kernel_ahead_end(of(b));
	known_free(&of(b)->known);
	rc = set_item(of(b), kind, name, from, value, e);
	if (rc)
		return rc;
	rc = kernel_get(b, kind, name, now, e);
	if (rc)
		return rc;
	rc = item_became(b, kind, name, from, value, now, e);
	if (!rc)
		return err_set(e, -EIO, "%s %s was set to \"%s\" but the kernel has \"%s\"",
			       item_kind_name(kind), name,
			       item_describe(kind, name, value, a, sizeof(a)),
			       item_describe(kind, name, now, c, sizeof(c)));
	return rc < 0 ? rc : 0;
}

/* --- many ------------------------------------------------------------------ */

#define MANY_LEAST	16	/* of fewer the questions ahead cost more than they save */
#define ROUNDS		8	/* of questions that follow from an answer */

/* The module and its family, for all that go at once; without that each of them says why. */
static void resolve_for_many(struct kernel *k)
{
	struct err unused = { "" };

	k->no_module = !sysctl_exists(FCWND_SYSCTL);
	k->genl.family = 0;
	if (!k->no_module)
		genl_resolve(&k->genl, &unused);
}

/* @ask calls whatever is to be answered ahead.  Without memory all is asked in its turn. */
void kernel_ahead(struct kernel *k, void (*ask)(void *data), void *data)
{
	uint32_t round, n = 1, more;
	struct err unused = { "" };

	kernel_ahead_end(k);
	resolve_for_many(k);
	if (ahead_begin(&k->nl, &unused) || ahead_begin(&k->genl.nl, &unused)) {
		kernel_ahead_end(k);
		return;
	}
	for (round = 0; round < ROUNDS && n; round++) {
		ask(data);
		ahead_ask(&k->nl, &n);
		ahead_ask(&k->genl.nl, &more);
		n += more;
	}
	ahead_serve(&k->nl);
	ahead_serve(&k->genl.nl);
}

void kernel_ahead_end(struct kernel *k)
{
	k->device.name[0] = 0;
	ahead_end(&k->nl);
	ahead_end(&k->genl.nl);
}

/* All circuits, and the routes if there are not many more than the @routes to be asked for */
void kernel_know(struct kernel *k, uint32_t routes)
{
	if (kernel_has_module(k))
		known_circuits(&k->known, &k->genl);
	else
		k->known.whole[ITEM_CIRCUIT] = true;
	known_routes(&k->known, &k->nl, routes);
}

/* Classes and filters of a device */
void kernel_know_device(struct kernel *k, const char *dev, int ifindex)
{
	known_device(&k->known, &k->nl, dev, ifindex);
}

struct asked {
	struct backend *b;
	const struct item_ref *list;
	uint32_t n;
};

static void ask_items(void *data)
{
	const struct asked *a = data;
	char value[ITEM_VALUE];
	struct err unused = { "" };
	uint32_t i;

	for (i = 0; i < a->n; i++)
		if (item_goes_with_many(a->list[i].kind))
			kernel_get(a->b, a->list[i].kind, a->list[i].name, value, &unused);
}

static void ahead_of_items(struct backend *b, const struct item_ref *list, uint32_t n)
{
	struct asked a = { .b = b, .list = list, .n = n };

	if (n < b->many)
		kernel_ahead_end(of(b));
	else
		kernel_ahead(of(b), ask_items, &a);
}

/* Circuits before the routes that lead to them */
static int begin_posts(struct kernel *k, struct err *e)
{
	resolve_for_many(k);
	k->device.name[0] = 0;
	k->has_congctl = NULL;
	return post_begin(&k->genl.nl, NULL, e) ?: post_begin(&k->nl, &k->genl.nl, e);
}

static int post_item(struct backend *b, enum item_kind kind, const char *name,
		     const char *from, const char *value, struct err *e)
{
	struct kernel *k = of(b);
	int rc;

	known_free(&k->known);
	rc = k->nl.post ? 0 : begin_posts(k, e);
	return rc ? rc : set_item(k, kind, name, from, value, e);
}

static int flush_items(struct backend *b, struct err *e)
{
	struct kernel *k = of(b);
	int rc = k->nl.post ? post_flush(&k->nl, e) : 0;

	post_end(&k->nl);
	post_end(&k->genl.nl);
	kernel_ahead_end(k);
	return rc;
}

int kernel_open(struct kernel *k, struct err *e)
{
	*k = (struct kernel){
		.backend = {
			.many = MANY_LEAST,
			.ahead = ahead_of_items,
			.post = post_item,
			.flush = flush_items,
			.get = kernel_get,
			.find = kernel_find,
			.set = kernel_set,
		},
	};
	return nlm_open(&k->nl, NETLINK_ROUTE, e) ?: genl_open(&k->genl, e);
}

void kernel_close(struct kernel *k)
{
	kernel_ahead_end(k);
	known_free(&k->known);
	nlm_close(&k->nl);
	genl_close(&k->genl);
}
