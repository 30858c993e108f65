// SPDX-License-Identifier: GPL-2.0
/*
 * State, wants and the kernel -> changes: see diff.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "filter.h"
#include "grow.h"
#include "guarantee.h"
#include "htb.h"
#include "object.h"
#include "qdisc.h"

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

static int no_memory(struct err *e)
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
		return no_memory(e);
	for (i = 0; i < d->state->n_base; i++) {
		struct base *b = &d->state->base[i];
		struct item *it = add_item(d, b->kind, b->name, b->ifindex);

		if (!it)
			return no_memory(e);
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

static void say_elsewhere(struct diff *d)
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
		     "set in the machine's own network namespace, not here, at least: %s", text);
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

static int take_now(struct diff *d, struct item *it, const char *now)
{
	const char *is = as_set(d, it, now);

	if (is == now)
		return diff_text(d, &it->now, now);
	it->now = is;
	return 0;
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
			return no_memory(e);
		it->before = is;
		it->target = is;
		*item = it;
	}
	if (take_now(d, it, now))
		return no_memory(e);
	it->as_is = it->now;
	return 0;
}

/* The circuit that the item is told of; not of one that nobody wants */
static const struct member *member_of(const struct diff *d, const struct item *it)
{
	return &d->state->circuits[it->circuit];
}

/* The last circuit that wants it, but for one that is left out where another wants it, too */
static void told_of(const struct diff *d, struct item *it, uint32_t circuit)
{
	if (it->circuit == NOBODY || (!d->aside && (!d->state->circuits[circuit].left_out ||
						    member_of(d, it)->left_out)))
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
		return no_memory(e);
	rc = want_target(w, w->rule == RULE_ROUTE ? it->before : it->target, value, e);
	if (!rc && diff_text(d, &it->target, value))
		rc = no_memory(e);
	if (rc || w->rule != RULE_AT_LEAST)
		return rc;
	rc = want_target(w, it->as_is, value, e);
	return !rc && diff_text(d, &it->as_is, value) ? no_memory(e) : rc;
}

static bool is(const struct item *it, const char *value)
{
	return value && item_equal(it->kind, it->name, it->now, value);
}

/* The root of the device of a class or filter. */
static const struct item *root_of(struct diff *d, const struct item *it)
{
	char dev[IFNAMSIZ];

	snprintf(dev, sizeof(dev), "%.*s", (int)strcspn(it->name, " "), it->name);
	return diff_find(d, ITEM_QDISC, dev);
}

static bool is_below_root(const struct item *it)
{
	return it->kind == ITEM_CLASS || it->kind == ITEM_FILTER;
}

/* An htb stays or comes; what it has to lose is lost when all new is there. */
static bool root_is_wanted(struct diff *d, const struct item *it)
{
	const struct item *root = is_below_root(it) ? root_of(d, it) : NULL;
	struct qdisc q;

	return root && root->circuit != NOBODY && !qdisc_parse(root->target, &q) &&
	       q.state == QDISC_HTB;
}

/* This run makes the root: that there is nothing below it yet is nobody's choice. */
static bool root_is_new(struct diff *d, const struct item *it)
{
	return root_is_wanted(d, it) && !is(root_of(d, it), root_of(d, it)->target);
}

/* --- kept without a look ---------------------------------------------------- */

/* One circuit's alone, and set to what it still wants by a run that ended */
static bool can_keep(struct diff *d, const struct item *it, const struct want *w)
{
	const struct base *b = it ? item_base(d, it) : NULL;

	if (!b || b->next || b->ifindex != w->ifindex || root_is_new(d, it))
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

/* What this circuit wants cannot be told: what it may have stays, its own or shared. */
void diff_hold(struct diff *d, const struct member *m)
{
	const struct circuit *c = &m->circuit;
	char name[ITEM_NAME], to[64];
	uint32_t i;

	hold_shared(d);
	hold_bound(d, m, ITEM_QDISC, c->dev);
	hold_bound(d, m, ITEM_TXQLEN, c->dev);
	hold_bound(d, m, ITEM_CLASS, class_name(name, sizeof(name), c->dev, CLASS_REST));
	hold_bound(d, m, ITEM_CLASS, class_name(name, sizeof(name), c->dev, m->classid));
	hold_named(d, ITEM_CIRCUIT, c->name);
	for (i = 0; i < c->n_to; i++) {
		hold_named(d, ITEM_ROUTE, format_prefix(to, sizeof(to), &c->to[i]));
		hold_bound(d, m, ITEM_FILTER,
			   filter_name(name, sizeof(name), c->dev, &c->to[i]));
	}
}

/* --- changes --------------------------------------------------------------- */

static bool is_without(const char *now, const struct base *b, const char *congctl)
{
	return route_text_without_congctl(now, b->ours, congctl) ||
	       (b->next && route_text_without_congctl(now, b->next, congctl));
}

/*
 * Without the module the kernel does not tell of the congctl that a route has, and
 * has it again as soon as the module is loaded: such a route is still ours.
 */
static bool hides_congctl(const struct diff *d, const struct item *it)
{
	const struct base *b = item_base(d, it);

	return it->kind == ITEM_ROUTE && b &&
	       ((d->no_module && is_without(it->now, b, CC_NAME)) ||
		(d->no_htcp && is_without(it->now, b, HTCP_NAME)));
}

/* An object on a device that is gone is told of by that device's number. */
static bool is_ours(struct diff *d, const struct item *it)
{
	const struct base *b = item_base(d, it);

	if (root_is_new(d, it))
		return true;
	if (!b)
		return false;
	/* a part of it alone: a run was cut short in between, or somebody deleted the rest */
	if (is_below_root(it) && !strcmp(it->now, "unfinished"))
		return true;
	/* our mq, cut short before all of its queues were filled */
	if (it->kind == ITEM_QDISC && !strcmp(it->now, "mq unfinished"))
		return true;
	/* of a run that was cut short it is not known how far it came */
	if (b->next && is(it, b->before))
		return true;
	if (it->kind == ITEM_CIRCUIT)
		return object_is(it->now, b->ours, false) ||
		       (b->next && object_is(it->now, b->next, false));
	return is(it, b->ours) || is(it, b->next) || hides_congctl(d, it);
}

/* The kernel flushes routes whose device goes down: what is not there is nobody's. */
static bool is_nobodys(const struct item *it)
{
	return it->kind == ITEM_ROUTE && !strcmp(it->now, "absent");
}

static int foreign_circuit(const struct item *it, struct err *e)
{
	char set[300] = "";

	if (!strcmp(it->now, "absent"))
		return 0;
	snprintf(set, sizeof(set), "%.250s", it->now);
	return err_set(e, -EEXIST,
		       "there is a circuit %s that no state tells of, %s; ctcp-setup circuit del %s would clear the way, --name gives this one another name",
		       it->name, set, it->name);
}

static int foreign_below_root(const struct item *it, struct err *e)
{
	if (!strcmp(it->now, "absent"))
		return 0;
	return err_set(e, -EEXIST,
		       "there is a %s %s that no state tells of; without it this one would have its place",
		       item_kind_name(it->kind), it->name);
}

/* Somebody's qdisc is never replaced, nor is one with our handle that is not ours. */
static int check_foreign(const struct item *it, struct err *e)
{
	struct qdisc q;

	if (it->kind == ITEM_CIRCUIT && it->base == NOBODY)
		return foreign_circuit(it, e);
	if (is_below_root(it) && it->base == NOBODY)
		return foreign_below_root(it, e);
	if (it->kind != ITEM_QDISC || qdisc_parse(it->now, &q) || q.state == QDISC_DEFAULT)
		return 0;
	if (q.state == QDISC_FOREIGN)
		return err_set(e, -EEXIST,
			       "%s has a root qdisc of somebody else's, %s %x:; tc qdisc del dev %s root would clear the way",
			       it->name, q.kind, q.handle >> 16, it->name);
	if (it->base == NOBODY)
		return err_set(e, -EEXIST,
			       "%s has a qdisc %x: that no state tells of; tc qdisc del dev %s root would clear the way",
			       it->name, OUR_MAJOR, it->name);
	return 0;
}

static int add_change(struct diff *d, struct item *it, struct err *e)
{
	uint32_t n = d->n;
	struct change *list = grown(d->list, n, sizeof(*list));
	struct item **of = grown(d->of, n, sizeof(*of));

	if (list)
		d->list = list;
	if (of)
		d->of = of;
	if (!list || !of)
		return no_memory(e);
	d->of[n] = it;
	d->list[n] = (struct change){
		.kind = it->kind, .name = it->name, .circuit = it->circuit,
		.from = it->now, .to = it->target, .ifindex = it->ifindex,
	};
	d->n++;
	return 0;
}

/* What somebody put there meanwhile does not keep the rest from coming back. */
static int leave_foreign(struct diff *d, struct item *it, const struct err *e)
{
	note(d->notes, "%.380s", e->text);
	it->left = true;
	d->left++;
	return 0;
}

/*
 * NULL: it may be set again.  Else why it stays: a qdisc is never replaced, nor is a
 * prefix led back that somebody leads elsewhere.
 */
const char *drift_stays(const struct change *c)
{
	struct qdisc q;

	if (c->kind == ITEM_QDISC && !qdisc_parse(c->from, &q) && q.state == QDISC_FOREIGN)
		return "somebody else's, which is not replaced; tc qdisc del would clear the way";
	if (c->kind == ITEM_ROUTE && !route_text_same_way(c->from, c->to))
		return "somebody leads it another way; ctcp-setup change would lead it back";
	return NULL;
}

/* Of a file's circuit that is to be in force after this run, and not left out */
static bool is_of_file(const struct diff *d, const struct item *it)
{
	return d->heal && !member_of(d, it)->left_out;
}

/* What was set up went with its device: it is set up as one that is added. */
static bool begins_anew(const struct diff *d, const struct item *it)
{
	return is_of_file(d, it) && it->base == NOBODY && member_of(d, it)->anew;
}

/* Nothing is there, or what the kernel has of itself. */
static bool is_nothing(const struct item *it)
{
	struct qdisc q;

	if (it->kind == ITEM_QDISC)
		return !qdisc_parse(it->now, &q) && q.state == QDISC_DEFAULT;
	return !strcmp(it->now, "absent");
}

/* What a standing circuit has lost, where the list is to be as it was set up */
static bool is_healed(const struct diff *d, const struct item *it)
{
	const struct change c = {
		.kind = it->kind, .name = it->name, .from = it->now, .to = it->target,
	};

	if (begins_anew(d, it))
		return true;
	if (!is_of_file(d, it) || drift_stays(&c))
		return false;
	/* a number was as it should be at first, and is nobody's */
	return item_base(d, it) || it->kind == ITEM_SYSCTL || it->kind == ITEM_TXQLEN ||
	       is_nothing(it);
}

/* That it is ours is said of a root which comes for others. */
static bool is_left_out(const struct diff *d, const struct item *it)
{
	return it->base == NOBODY && member_of(d, it)->left_out;
}

/* It is below a root that this run leaves as it is, and that is none of ours. */
static bool root_stays(struct diff *d, const struct item *it)
{
	const struct item *root = is_below_root(it) ? root_of(d, it) : NULL;

	return root && root->left && root->now && !is(root, root->target);
}

/* Somebody made it large enough, or a circuit that cannot say now what it wants has it. */
static bool is_enough(const struct item *it)
{
	return it->rule == RULE_AT_LEAST && is(it, it->as_is);
}

/*
 * Of what is asked for somebody else's is refused even where it is what we would have made; of
 * a circuit that stands as a file has it, what has taken its place.
 */
static bool is_checked(const struct diff *d, const struct item *it)
{
	if (it->asked)
		return true;
	if (!is_of_file(d, it) || is(it, it->target))
		return false;
	return begins_anew(d, it) || it->kind == ITEM_QDISC || it->kind == ITEM_CIRCUIT;
}

static int decide_wanted(struct diff *d, struct item *it, struct err *e)
{
	int rc = is_checked(d, it) ? check_foreign(it, e) : 0;

	if (rc && !d->revert) {
		d->foreign = it;
		return rc;
	}
	if (is(it, it->target))
		return 0;
	if (rc)
		return leave_foreign(d, it, e);
	if (!is_ours(d, it))
		it->left = is_enough(it) ||
			   (!it->asked && !d->look && !d->restore && !is_healed(d, it));
	it->left |= (it->held && is_enough(it)) || root_stays(d, it) || is_left_out(d, it);
	return it->left ? 0 : add_change(d, it, e);
}

static void leave(struct diff *d, struct item *it)
{
	char a[256], b[256];

	it->left = true;
	d->left++;
	note(d->notes,
	     "%s %s is \"%s\", which is not ours: left alone; undo --force would make it \"%s\"",
	     item_kind_name(it->kind), it->name,
	     item_describe(it->kind, it->name, it->now, a, sizeof(a)),
	     item_describe(it->kind, it->name, it->target, b, sizeof(b)));
}

/* What cannot be read does not keep the others from going back, as undo has it. */
static int decide_unwanted(struct diff *d, struct item *it, struct err *e)
{
	char now[ITEM_VALUE];
	int rc = d->backend->get(d->backend, it->kind, it->name, now, e);

	if (rc == -ENODEV || rc == -ENOENT) {
		d->gone++;
		return 0;
	}
	/* -EROFS: it was read */
	if (rc && rc != -EROFS && d->whole)
		return rc;
	if (rc) {
		note(d->notes, "%s", e->text);
		it->left = true;
		d->left++;
		return 0;
	}
	if (take_now(d, it, now))
		return no_memory(e);
	if (is(it, it->target) && !hides_congctl(d, it)) {
		d->already++;
		return 0;
	}
	if (is_ours(d, it) || is_nobodys(it) || d->force)
		return add_change(d, it, e);
	leave(d, it);
	return 0;
}

/* No circuit wants it, and it is not as before; the module is the machine's. */
bool item_is_leftover(const struct item *it)
{
	return it->circuit == NOBODY && it->kind != ITEM_MODULE && it->now &&
	       !is(it, it->target);
}

#define STAGES 3

static uint32_t stage_of(const struct item *it)
{
	if (it->kind == ITEM_MODULE)
		return 0;
	if (it->kind == ITEM_ROUTE || (it->kind == ITEM_SYSCTL && !strcmp(it->name, DEFAULT_CC)))
		return 2;
	return 1;
}

static bool goes_back(struct diff *d, const struct item *it, bool below, bool filter)
{
	return it->circuit == NOBODY && !it->held && it->kind != ITEM_MODULE &&
	       (it->kind == ITEM_FILTER) == filter && root_is_wanted(d, it) == below;
}

/* The next of those that decide_unwanted_kind() will read, @left and below */
static void look_ahead(struct diff *d, uint32_t left, bool below, bool filter)
{
	struct item_ref list[MANY_AT_ONCE];
	uint32_t n = 0;

	while (left-- > 0 && n < MANY_AT_ONCE)
		if (goes_back(d, d->items[left], below, filter))
			list[n++] = (struct item_ref){ d->items[left]->kind,
						       d->items[left]->name };
	if (d->backend->many)
		d->backend->ahead(d->backend, list, n);
}

/* The last set before all others */
static int decide_unwanted_kind(struct diff *d, bool below, bool filter, struct err *e)
{
	uint32_t i, n = 0;
	int rc = 0;

	for (i = d->n_items; i-- > 0 && !rc; ) {
		if (!goes_back(d, d->items[i], below, filter))
			continue;
		if (n++ % MANY_AT_ONCE == 0)
			look_ahead(d, i + 1, below, filter);
		rc = decide_unwanted(d, d->items[i], e);
	}
	return rc;
}

/*
 * @below: what is below a root that is wanted, or the rest.  Filters first: one whose prefix
 * another circuit was given is older than the class it leads to, which the kernel does not
 * delete while it is there.
 */
static int decide_all_unwanted(struct diff *d, bool below, struct err *e)
{
	int rc = decide_unwanted_kind(d, below, true, e);

	return rc ? rc : decide_unwanted_kind(d, below, false, e);
}

/*
 * The module before what needs it, and what leads traffic to a circuit behind all else: of
 * a circuit that was set up before, items of its own may stand first in the list.
 */
static int decide_all_wanted(struct diff *d, struct err *e)
{
	uint32_t i, stage;
	int rc = 0;

	for (stage = 0; stage < STAGES; stage++)
		for (i = 0; i < d->n_items && !rc; i++)
			if (d->items[i]->circuit != NOBODY && stage_of(d->items[i]) == stage)
				rc = decide_wanted(d, d->items[i], e);
	return rc;
}

/* --- whose ------------------------------------------------------------------ */

static int by_circuit(const void *a, const void *b, void *data)
{
	const struct change *list = data;
	uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;

	if (list[p].circuit != list[q].circuit)
		return list[p].circuit < list[q].circuit ? -1 : 1;
	return p < q ? -1 : p > q;
}

static int sort_changes(struct diff *d, struct err *e)
{
	uint32_t i;

	d->by_circuit = malloc(((size_t)d->n + 1) * sizeof(*d->by_circuit));
	if (!d->by_circuit)
		return no_memory(e);
	for (i = 0; i < d->n; i++)
		d->by_circuit[i] = i;
	if (d->n)
		qsort_r(d->by_circuit, d->n, sizeof(*d->by_circuit), by_circuit, d->list);
	return 0;
}

/* The change of @circuit that is the @k-th of all when sorted by circuit; NULL: another's */
const struct change *diff_change(const struct diff *d, uint32_t circuit, uint32_t k)
{
	return k < d->n && d->list[d->by_circuit[k]].circuit == circuit ?
	       &d->list[d->by_circuit[k]] : NULL;
}

/* The first of @circuit's, where it has any.  Only of a diff that looks. */
uint32_t diff_first(const struct diff *d, uint32_t circuit)
{
	uint32_t low = 0, high = d->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (d->list[d->by_circuit[middle]].circuit < circuit)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* --- all -------------------------------------------------------------------- */

/*
 * What goes back comes first, but for classes and filters beside which others are: a
 * packet then finds its new filter while its old one is still there.  The module goes
 * last of all.
 */
int diff_end(struct diff *d, struct err *e)
{
	struct item *module = diff_find(d, ITEM_MODULE, MODULE_NAME);
	int rc = decide_all_unwanted(d, false, e);

	if (!rc)
		rc = decide_all_wanted(d, e);
	if (!rc)
		rc = decide_all_unwanted(d, true, e);
	if (!rc && module && module->circuit == NOBODY && !module->held)
		rc = decide_unwanted(d, module, e);
	if (!d->revert)
		say_elsewhere(d);
	return !rc && d->look ? sort_changes(d, e) : rc;
}
