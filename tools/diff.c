// SPDX-License-Identifier: GPL-2.0
/*
 * Items: what the circuits want of each, and what the kernel has.  See diff.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "diff_item.h"
#include "filter.h"
#include "grow.h"
#include "guarantee.h"
#include "htb.h"

void diff_free(struct diff *d)
{
	uint32_t i;

	for (i = 0; i < d->n_items; i++)
		free(d->items[i]);
	for (i = 0; i < ITEM_KINDS; i++)
		map_free(&d->by_name[i]);
	pool_free(&d->texts);
	free(d->items);
	free(d->list);
	free(d->of);
	free(d->by_circuit);
	d->by_circuit = NULL;
	d->items = NULL;
	d->list = NULL;
	d->of = NULL;
	d->n_items = 0;
	d->n_not_here = 0;
	d->n = 0;
}

/* A text of the diff's own, as long as it lasts */
int diff_text(struct diff *d, const char **to, const char *from)
{
	if (*to && !strcmp(*to, from))
		return 0;
	*to = pool_text(&d->texts, from);
	return *to ? 0 : -ENOMEM;
}

/* NULL: neither changed by us so far nor wanted */
struct item *diff_find(struct diff *d, enum item_kind kind, const char *name)
{
	return map_get(&d->by_name[kind], name);
}

/* NULL: out of memory.  @name lasts as long as the diff. */
static struct item *add_item(struct diff *d, enum item_kind kind, const char *name,
			     int ifindex)
{
	struct item **list = grown(d->items, d->n_items, sizeof(*list));
	struct item *it = calloc(1, sizeof(*it));

	if (list)
		d->items = list;
	if (!it || !list || map_set(&d->by_name[kind], name, it)) {
		free(it);
		return NULL;
	}
	it->kind = kind;
	it->name = name;
	it->ifindex = ifindex;
	it->circuit = NOBODY;
	it->base = NOBODY;
	list[d->n_items++] = it;
	return it;
}

int diff_no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory");
}

/* NULL: not changed by us so far. */
struct base *item_base(const struct diff *d, const struct item *it)
{
	return it->base == NOBODY ? NULL : &d->state->base[it->base];
}

/* Of thousands at once: a map that grows is written again each time. */
static int room_for_base(struct diff *d)
{
	uint32_t n[ITEM_KINDS] = { 0 }, i;
	int rc = 0;

	for (i = 0; i < d->state->n_base; i++)
		n[d->state->base[i].kind]++;
	for (i = 0; i < ITEM_KINDS && !rc; i++)
		rc = map_room(&d->by_name[i], n[i]);
	return rc;
}

/* Every item of the state, wanted or not. */
int diff_begin(struct diff *d, struct err *e)
{
	char value[ITEM_VALUE];
	struct err unused = { "" };
	uint32_t i;
	int rc = d->backend->get(d->backend, ITEM_MODULE, MODULE_NAME, value, e);

	if (rc)
		return rc;
	d->no_module = !strcmp(value, "absent");
	d->no_htcp = !d->backend->get(d->backend, ITEM_SYSCTL, AVAILABLE_CC, value, &unused) &&
		     !has_word(value, HTCP_NAME);

	if (room_for_base(d))
		return diff_no_memory(e);
	for (i = 0; i < d->state->n_base; i++) {
		struct base *b = &d->state->base[i];
		struct item *it = add_item(d, b->kind, b->name, b->ifindex);

		if (!it)
			return diff_no_memory(e);
		it->before = b->before;
		it->target = b->before;
		it->base = i;
	}
	return 0;
}

/* --- wants ----------------------------------------------------------------- */

/* Of all circuits that want it, as of an item that is here. */
static int want_elsewhere(struct diff *d, const struct want *w, const char *now, struct err *e)
{
	struct elsewhere *there = d->elsewhere;
	char value[ITEM_VALUE];
	int rc;

	while (there < d->elsewhere + d->n_elsewhere && strcmp(there->name, w->name))
		there++;
	if (there == d->elsewhere + ELSEWHERE_MAX)
		return 1;
	if (there == d->elsewhere + d->n_elsewhere) {
		d->n_elsewhere++;
		snprintf(there->name, sizeof(there->name), "%s", w->name);
		snprintf(there->value, sizeof(there->value), "%s", now);
	}
	rc = want_target(w, there->value, value, e);
	if (!rc)
		memcpy(there->value, value, sizeof(value));
	return rc ? rc : 1;
}

void diff_say_elsewhere(struct diff *d)
{
	char text[300] = "";
	size_t used = 0;
	uint32_t i;

	for (i = 0; i < d->n_elsewhere && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s = %s",
					 i ? ", " : "", d->elsewhere[i].name,
					 d->elsewhere[i].value);
	if (used)
		note(d->notes,
		     "these can be set in the machine's own network namespace only, and should be at least: %s",
		     text);
}

/* Of such a number there is no item: it is read for the first circuit that wants it. */
static int read_once(struct diff *d, const struct want *w, char now[ITEM_VALUE], struct err *e)
{
	struct not_here *known = d->not_here, *end = d->not_here + d->n_not_here;
	int rc;

	for (; known < end && w->kind == ITEM_SYSCTL; known++) {
		if (strcmp(known->name, w->name))
			continue;
		snprintf(now, ITEM_VALUE, "%s", known->now);
		return known->rc;
	}
	rc = d->backend->get(d->backend, w->kind, w->name, now, e);
	if (w->kind != ITEM_SYSCTL || d->n_not_here == ELSEWHERE_MAX ||
	    (rc != -EROFS && (rc != -ENOENT || !w->optional)))
		return rc;
	d->n_not_here++;
	snprintf(end->name, sizeof(end->name), "%s", w->name);
	snprintf(end->now, sizeof(end->now), "%s", rc == -EROFS ? now : "");
	end->rc = rc;
	return rc;
}

/* 0: @now holds it; 1: not to be had here, which is said. */
static int read_wanted(struct diff *d, const struct want *w, char now[ITEM_VALUE],
		       struct err *e)
{
	int rc = read_once(d, w, now, e);
	char target[ITEM_VALUE];

	if (rc == -ENOENT && w->optional)
		return want_elsewhere(d, w, w->value, e);
	if (rc == -EROFS) {
		rc = want_target(w, now, target, e);
		if (rc || item_equal(w->kind, w->name, now, target))
			return rc ? rc : 1;
		if (!w->optional)
			return err_set(e, -EROFS,
				       "%s is %s and can only be read in this network namespace; it should be %s",
				       w->name, now, target);
		return want_elsewhere(d, w, now, e);
	}
	return rc;
}

/* As it was set where that is what is there: `tbf ... burst`, not `... ticks`. */
static const char *as_set(const struct diff *d, const struct item *it, const char *now)
{
	const struct base *b = item_base(d, it);

	return b && item_equal(it->kind, it->name, now, b->ours) ? b->ours : now;
}

int item_take_now(struct diff *d, struct item *it, const char *now)
{
	const char *is = as_set(d, it, now);

	if (is == now)
		return diff_text(d, &it->now, now);
	it->now = is;
	return 0;
}

/* --- which of several ------------------------------------------------------- */

static bool is_without(const char *now, const struct base *b, const char *congctl)
{
	return route_text_without_congctl(now, b->ours, congctl) ||
	       (b->next && route_text_without_congctl(now, b->next, congctl));
}

/*
 * Without the module the kernel does not tell of the congctl that a route has, and
 * has it again as soon as the module is loaded: such a route is still ours.
 */
bool base_hides_congctl(const struct diff *d, const struct base *b, const char *now)
{
	return (d->no_module && is_without(now, b, CC_NAME)) ||
	       (d->no_htcp && is_without(now, b, HTCP_NAME));
}

bool base_is(const struct diff *d, const struct base *b, const char *now)
{
	return item_equal(b->kind, b->name, now, b->ours) ||
	       (b->next && item_equal(b->kind, b->name, now, b->next)) ||
	       (b->kind == ITEM_ROUTE && base_hides_congctl(d, b, now));
}

/* 1: the kernel has one of ours, in @found, though it is not the one that is used. */
static int find_ours(const struct diff *d, const struct base *b, char found[ITEM_VALUE],
		     struct err *e)
{
	int rc = d->backend->find(d->backend, b->kind, b->name, b->ours, found, e);

	return rc || !b->next ? rc :
	       d->backend->find(d->backend, b->kind, b->name, b->next, found, e);
}

/* Ours is gone: in its place is what has its metric, and nothing else. */
static bool is_in_place(const struct base *b, const char *now)
{
	const char *ours = strcmp(b->ours, "absent") || !b->next ? b->ours : b->next;

	return !strcmp(now, "absent") || !strcmp(ours, "absent") ||
	       route_text_same_metric(now, ours);
}

/* Of several routes to one prefix, the one that is used is read first. */
static int find_route(struct diff *d, struct item *it, const struct base *b, char now[ITEM_VALUE],
		      struct err *e)
{
	char found[ITEM_VALUE] = "absent";
	int rc = find_ours(d, b, found, e);

	if (rc < 0 || (!rc && is_in_place(b, now)))
		return rc;
	if (strcmp(now, "absent") && (rc || route_text_comes_before(now, b->next ?: b->ours)) &&
	    diff_text(d, &it->ahead, now))
		return diff_no_memory(e);
	strcpy(now, found);
	return 0;
}

int item_find(struct diff *d, struct item *it, char now[ITEM_VALUE], struct err *e)
{
	const struct base *b = item_base(d, it);
	int rc = 0;

	it->ahead = NULL;
	if (it->kind == ITEM_ROUTE && b && !base_is(d, b, now))
		rc = find_route(d, it, b, now, e);
	if (!rc && item_take_now(d, it, now))
		rc = diff_no_memory(e);
	return rc;
}

static int first_want(struct diff *d, const struct want *w, struct item **item, struct err *e)
{
	const char *name = NULL, *is = NULL;
	struct item *it = *item;
	char now[ITEM_VALUE];
	int rc = read_wanted(d, w, now, e);

	if (rc)
		return rc;
	if (!it) {
		it = diff_text(d, &name, w->name) || diff_text(d, &is, now) ? NULL :
		     add_item(d, w->kind, name, w->ifindex);
		if (!it)
			return diff_no_memory(e);
		it->before = is;
		it->target = is;
		*item = it;
	}
	rc = item_find(d, it, now, e);
	if (rc)
		return rc;
	it->as_is = it->now;
	return 0;
}

const struct member *item_member(const struct diff *d, const struct item *it)
{
	return &d->state->circuits[it->circuit];
}

/* The last circuit that wants it, but for one that is left out where another wants it, too */
static void told_of(const struct diff *d, struct item *it, uint32_t circuit)
{
	if (it->circuit == NOBODY || (!d->aside && (!d->state->circuits[circuit].left_out ||
						    item_member(d, it)->left_out)))
		it->circuit = circuit;
}

/* A route is built from the one before; of the rest each want builds on the last one's. */
static int want_item(struct diff *d, struct item *it, const struct want *w, uint32_t circuit,
		     bool asked, struct err *e)
{
	char value[ITEM_VALUE];
	int rc;

	if (!it || !it->now) {
		rc = first_want(d, w, &it, e);
		if (rc)
			return rc == 1 ? 0 : rc;
	}
	told_of(d, it, circuit);
	it->ifindex = w->ifindex;
	it->asked |= asked;
	/* most circuits want the same of the machine's numbers: once is enough */
	if (it->rule == w->rule && it->wanted && !strcmp(it->wanted, w->value))
		return 0;
	it->rule = w->rule;
	if (w->rule != RULE_ROUTE && diff_text(d, &it->wanted, w->value))
		return diff_no_memory(e);
	rc = want_target(w, w->rule == RULE_ROUTE ? it->before : it->target, value, e);
	if (!rc && diff_text(d, &it->target, value))
		rc = diff_no_memory(e);
	if (rc || w->rule != RULE_AT_LEAST)
		return rc;
	rc = want_target(w, it->as_is, value, e);
	return !rc && diff_text(d, &it->as_is, value) ? diff_no_memory(e) : rc;
}

bool item_is(const struct item *it, const char *value)
{
	return value && item_equal(it->kind, it->name, it->now, value);
}

const struct item *item_root(struct diff *d, const struct item *it)
{
	char dev[IFNAMSIZ];

	snprintf(dev, sizeof(dev), "%.*s", (int)strcspn(it->name, " "), it->name);
	return diff_find(d, ITEM_QDISC, dev);
}

bool item_is_below_root(const struct item *it)
{
	return it->kind == ITEM_CLASS || it->kind == ITEM_FILTER;
}

/* An htb stays or comes; what it has to lose is lost when all new is there. */
bool root_is_wanted(struct diff *d, const struct item *it)
{
	const struct item *root = item_is_below_root(it) ? item_root(d, it) : NULL;
	struct qdisc q;

	return root && root->circuit != NOBODY && !qdisc_parse(root->target, &q) &&
	       q.state == QDISC_HTB;
}

/* This run makes the root: that there is nothing below it yet is nobody's choice. */
bool root_is_new(struct diff *d, const struct item *it)
{
	return root_is_wanted(d, it) && !item_is(item_root(d, it), item_root(d, it)->target);
}

/* --- kept without a look ---------------------------------------------------- */

/* The class that all circuits of a device share */
static bool is_of_all_else(const struct want *w)
{
	uint32_t minor;

	return w->kind == ITEM_CLASS && !class_minor(w->name, &minor) && minor == CLASS_REST;
}

/* One circuit's alone, and set to what it still wants by a run that ended */
static bool can_keep(struct diff *d, const struct item *it, const struct want *w)
{
	const struct base *b = it ? item_base(d, it) : NULL;

	if (!b || b->next || b->ifindex != w->ifindex || root_is_new(d, it) ||
	    (d->yields && is_of_all_else(w)))
		return false;
	if (w->kind == ITEM_ROUTE)
		return strcmp(b->ours, "absent");
	return (w->kind == ITEM_CIRCUIT || w->kind == ITEM_CLASS || w->kind == ITEM_FILTER) &&
	       item_equal(w->kind, w->name, b->ours, w->value);
}

static void keep_item(struct diff *d, struct item *it, const struct want *w, uint32_t circuit)
{
	const char *ours = item_base(d, it)->ours;

	it->circuit = circuit;
	it->ifindex = w->ifindex;
	it->rule = w->rule;
	it->now = ours;
	it->target = ours;
}

/* A route's want need not be built where it is kept. */
bool diff_keeps_route(struct diff *d, const char *to, int ifindex)
{
	const struct want w = { .kind = ITEM_ROUTE, .ifindex = ifindex };

	return d->trust && can_keep(d, diff_find(d, ITEM_ROUTE, to), &w);
}

int diff_want(struct diff *d, const struct wants *w, uint32_t circuit, bool asked,
	      struct err *e)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < w->n && !rc; i++) {
		const struct want *one = &w->list[i];
		struct item *it = diff_find(d, one->kind, one->name);

		if (d->trust && !asked && can_keep(d, it, one))
			keep_item(d, it, one, circuit);
		else
			rc = want_item(d, it, one, circuit, asked, e);
	}
	return rc;
}

/* What circuits share: see diff_want_same(). */
int diff_want_shared(struct diff *d, const struct wants *w, uint32_t circuit, bool asked,
		     struct err *e)
{
	int rc = diff_want(d, w, circuit, asked, e);
	struct item *it;
	uint32_t i;

	d->n_shared = 0;
	for (i = 0; i < w->n && !rc; i++) {
		it = diff_find(d, w->list[i].kind, w->list[i].name);
		if (it && d->n_shared < SHARED_MAX)
			d->shared[d->n_shared++] = it;
	}
	return rc;
}

/* This circuit wants the same items as the last did, and no more of any. */
void diff_want_same(struct diff *d, uint32_t circuit)
{
	uint32_t i;

	for (i = 0; i < d->n_shared; i++)
		told_of(d, d->shared[i], circuit);
}

/* What all circuits share, and once is enough */
static void hold_shared(struct diff *d)
{
	uint32_t i;

	for (i = 0; i < d->n_items && !d->shared_held; i++)
		d->items[i]->held |= d->items[i]->kind == ITEM_MODULE ||
				     d->items[i]->kind == ITEM_SYSCTL;
	d->shared_held = true;
}

static void hold_named(struct diff *d, enum item_kind kind, const char *name)
{
	struct item *it = diff_find(d, kind, name);

	if (it)
		it->held = true;
}

/* Not what was bound to another device of this name */
static void hold_bound(struct diff *d, const struct member *m, enum item_kind kind,
		       const char *name)
{
	struct item *it = diff_find(d, kind, name);

	if (it && it->ifindex == m->ifindex)
		it->held = true;
}

/* What its device has of it */
static void hold_device(struct diff *d, const struct member *m)
{
	const struct circuit *c = &m->circuit;
	char name[ITEM_NAME];
	uint32_t i;

	hold_bound(d, m, ITEM_QDISC, c->dev);
	hold_bound(d, m, ITEM_TXQLEN, c->dev);
	hold_bound(d, m, ITEM_CLASS, class_name(name, sizeof(name), c->dev, CLASS_REST));
	hold_bound(d, m, ITEM_CLASS, class_name(name, sizeof(name), c->dev, m->classid));
	for (i = 0; i < c->n_to; i++)
		hold_bound(d, m, ITEM_FILTER,
			   filter_name(name, sizeof(name), c->dev, &c->to[i]));
}

/* What this circuit wants cannot be told: what it may have stays, its own or shared. */
void diff_hold(struct diff *d, const struct member *m)
{
	const struct circuit *c = &m->circuit;
	char to[64];
	uint32_t i;

	hold_shared(d);
	hold_device(d, m);
	hold_named(d, ITEM_CIRCUIT, c->name);
	for (i = 0; i < c->n_to; i++)
		hold_named(d, ITEM_ROUTE, format_prefix(to, sizeof(to), &c->to[i]));
}

/* --- aside ------------------------------------------------------------------ */

/* A circuit of the daemon's, in a run that is not: it shares nothing with others. */
void diff_set_aside(struct diff *d, const struct member *m)
{
	struct item *root = diff_find(d, ITEM_QDISC, m->circuit.dev);

	hold_device(d, m);
	if (root && root->ifindex == m->ifindex)
		root->aside = true;
}

static bool is_of_device(enum item_kind kind)
{
	return kind == ITEM_QDISC || kind == ITEM_TXQLEN || kind == ITEM_CLASS ||
	       kind == ITEM_FILTER;
}

/* In a run of the daemon's: all but what its own devices have, wanted or left over. */
void diff_set_aside_others(struct diff *d)
{
	bool ours = false;
	int last = 0;
	uint32_t i;

	for (i = 0; i < d->n_items; i++) {
		struct item *it = d->items[i];

		if (it->ifindex != last)
			ours = state_device_is_ctcpds(d->state, it->ifindex);
		last = it->ifindex;
		it->aside = !last || !ours || !is_of_device(it->kind);
		it->held |= it->aside;
	}
}
