// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of each item: changed, left as it is, or refused.  See diff.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "diff_item.h"
#include "diff_order.h"
#include "grow.h"
#include "guarantee.h"
#include "object.h"
#include "qdisc.h"

static bool hides_congctl(const struct diff *d, const struct item *it)
{
	const struct base *b = item_base(d, it);

	return b && it->kind == ITEM_ROUTE && base_hides_congctl(d, b, it->now);
}

/* An object on a device that is gone is told of by that device's number. */
bool item_is_ours(struct diff *d, const struct item *it)
{
	const struct base *b = item_base(d, it);

	if (root_is_new(d, it))
		return true;
	if (!b)
		return false;
	/* a part of it alone: a run was cut short in between, or somebody deleted the rest */
	if (item_is_below_root(it) && !strcmp(it->now, "unfinished"))
		return true;
	/* our mq, cut short before all of its queues were filled */
	if (it->kind == ITEM_QDISC && !strcmp(it->now, "mq unfinished"))
		return true;
	/* of a run that was cut short it is not known how far it came */
	if (b->next && item_is(it, b->before))
		return true;
	if (it->kind == ITEM_CIRCUIT)
		return object_is(it->now, b->ours, false) ||
		       (b->next && object_is(it->now, b->next, false));
	return base_is(d, b, it->now);
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
		       "there is a circuit %s that no state tells of, %s; ctcp-setup circuit del %s would clear the way, and so would another name for this one",
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

static const char *ahead_of(const struct item *it, char buf[256])
{
	return item_describe(it->kind, it->name, it->ahead, buf, 256);
}

static void say_ahead(struct diff *d, const struct item *it)
{
	char his[256];

	note(d->notes, "route %s: \"%s\" is somebody's, is used before ours, and stays", it->name,
	     ahead_of(it, his));
}

/* Ours would stay behind it. */
static int check_first(const struct item *it, struct err *e)
{
	char his[256];

	return !it->ahead ? 0 :
	       err_set(e, -EEXIST,
		       "there is a route to %s, \"%s\", which is used before the circuit's; without that one the circuit would have its place",
		       it->name, ahead_of(it, his));
}

/* Somebody's qdisc is never replaced, nor is one with our handle that is not ours. */
static int check_foreign(const struct item *it, struct err *e)
{
	struct qdisc q;

	if (it->kind == ITEM_ROUTE)
		return check_first(it, e);
	if (it->kind == ITEM_CIRCUIT && it->base == NOBODY)
		return foreign_circuit(it, e);
	if (item_is_below_root(it) && it->base == NOBODY)
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
		return diff_no_memory(e);
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

static bool is_foreign_root(const struct change *c)
{
	struct qdisc q;

	return c->kind == ITEM_QDISC && !qdisc_parse(c->from, &q) && q.state == QDISC_FOREIGN;
}

/* By what is somebody else's and has to go first, before any command sets it again */
bool drift_is_blocked(const struct change *c)
{
	return is_foreign_root(c) || c->shadowed;
}

/*
 * NULL: it may be set again.  Else why it stays: a qdisc is never replaced, nor is a
 * prefix led back that somebody leads elsewhere.
 */
const char *drift_stays(const struct change *c)
{
	if (is_foreign_root(c))
		return "somebody else's, which is not replaced; tc qdisc del would clear the way";
	if (c->shadowed)
		return "somebody's is used before it, and would have to go";
	if (c->kind == ITEM_ROUTE && !route_text_same_way(c->from, c->to))
		return "somebody leads it another way; ctcp-setup change would lead it back";
	return NULL;
}

/* Of a file's circuit that is to be in force after this run, and not left out */
static bool is_of_file(const struct diff *d, const struct item *it)
{
	return d->heal && !item_member(d, it)->left_out;
}

/* What was set up went with its device: it is set up as one that is added. */
static bool begins_anew(const struct diff *d, const struct item *it)
{
	return is_of_file(d, it) && it->base == NOBODY && item_member(d, it)->anew;
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
	return it->base == NOBODY && item_member(d, it)->left_out;
}

/* It is below a root that this run leaves as it is, and that is none of ours. */
static bool root_stays(struct diff *d, const struct item *it)
{
	const struct item *root = item_is_below_root(it) ? item_root(d, it) : NULL;

	return root && root->left && root->now && !item_is(root, root->target);
}

/* Somebody made it large enough, or a circuit that cannot say now what it wants has it. */
static bool is_enough(const struct item *it)
{
	return it->rule == RULE_AT_LEAST && item_is(it, it->as_is);
}

/*
 * Of what is asked for somebody else's is refused even where it is what we would have made; of
 * a circuit that stands as a file has it, what has taken its place.
 */
static bool is_checked(const struct diff *d, const struct item *it)
{
	if (it->asked)
		return true;
	if (!is_of_file(d, it) || item_is(it, it->target))
		return false;
	return begins_anew(d, it) || it->kind == ITEM_QDISC || it->kind == ITEM_CIRCUIT;
}

/* Ours is as set up, and no packet takes it. */
static int decide_shadowed(struct diff *d, struct item *it, struct err *e)
{
	int rc;

	if (!d->restore && (!d->look || d->heal)) {
		say_ahead(d, it);
		return 0;
	}
	rc = add_change(d, it, e);
	if (rc)
		return rc;
	d->list[d->n - 1].from = it->ahead;
	d->list[d->n - 1].shadowed = true;
	return 0;
}

static int refuse_changed(struct diff *d, struct item *it, struct err *e)
{
	const struct base *b = item_base(d, it);
	char now[ITEM_VALUE], ours[ITEM_VALUE];

	d->foreign = it;
	return err_set(e, -EPERM, "%s %s is \"%s\", which somebody else has set; it was \"%s\"",
		       item_kind_name(it->kind), it->name,
		       item_describe(it->kind, it->name, it->now, now, sizeof(now)),
		       item_describe(it->kind, it->name, b ? b->ours : "absent", ours,
				     sizeof(ours)));
}

/* The room for a queue is as good if somebody has made it another. */
static bool is_room(const struct item *it)
{
	return it->kind == ITEM_TXQLEN && strcmp(it->now, "0");
}

static int decide_wanted(struct diff *d, struct item *it, struct err *e)
{
	int rc = is_checked(d, it) ? check_foreign(it, e) : 0;

	if (rc && !d->revert) {
		d->foreign = it;
		return rc;
	}
	if (item_is(it, it->target))
		return it->ahead ? decide_shadowed(d, it, e) : 0;
	if (rc)
		return leave_foreign(d, it, e);
	if (d->yields && it->asked && !item_is_ours(d, it) && item_base(d, it) && !is_room(it))
		return refuse_changed(d, it, e);
	if (!item_is_ours(d, it))
		it->left = is_enough(it) ||
			   (!it->asked && !d->look && !d->restore && !is_healed(d, it)) ||
			   (d->yields && is_room(it));
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
	rc = item_find(d, it, now, e);
	if (rc)
		return rc;
	if (item_is(it, it->target) && !hides_congctl(d, it)) {
		d->already++;
		return 0;
	}
	if (it->ahead)
		say_ahead(d, it);
	if (item_is_ours(d, it) || is_nobodys(it) || d->force)
		return add_change(d, it, e);
	if (d->yields && !is_room(it))
		return refuse_changed(d, it, e);
	leave(d, it);
	return 0;
}

/* No circuit wants it, and it is not as before; the module is the machine's. */
bool item_is_leftover(const struct item *it)
{
	return it->circuit == NOBODY && it->kind != ITEM_MODULE && it->now &&
	       !item_is(it, it->target);
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
		return diff_no_memory(e);
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
		diff_say_elsewhere(d);
	if (rc)
		return rc;
	return d->look ? sort_changes(d, e) : diff_order(d, e);
}
