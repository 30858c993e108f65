// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a namespace, in memory: see state.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classes.h"
#include "fits.h"
#include "grow.h"
#include "object.h"
#include "plan.h"
#include "route.h"
#include "state.h"
#include "units.h"

void base_clear(struct base *b)
{
	memset(b, 0, sizeof(*b));
}

void state_free(struct state *st)
{
	free(st->base);
	free(st->circuits);
	free(st->text);
	pool_free(&st->pool);
	memset(st, 0, sizeof(*st));
}

/* The module is the machine's and not the namespace's. */
bool state_is_empty(const struct state *st)
{
	uint32_t i;

	for (i = 0; i < st->n_base; i++)
		if (st->base[i].kind != ITEM_MODULE)
			return false;
	return !st->n_circuits && !st->confirm.deadline;
}

static bool list_is_half(const struct state *st)
{
	uint32_t i;

	for (i = 0; i < st->n_circuits; i++)
		if (st->circuits[i].standing == ADDING || st->circuits[i].standing == REMOVING)
			return true;
	return false;
}

/* Of a run that did not end. */
bool state_is_pending(const struct state *st)
{
	uint32_t i;

	if (list_is_half(st))
		return true;
	for (i = 0; i < st->n_base; i++)
		if (st->base[i].next)
			return true;
	return false;
}

/* NULL: out of memory. */
struct member *state_add(struct state *st, const struct circuit *c, int ifindex)
{
	struct member *list = grown(st->circuits, st->n_circuits, sizeof(*list)), *m;

	if (!list)
		return NULL;
	st->circuits = list;
	m = &list[st->n_circuits++];
	memset(m, 0, sizeof(*m));
	m->circuit = *c;
	if (!m->circuit.name[0])
		memcpy(m->circuit.name, c->dev, sizeof(c->dev));
	m->ifindex = ifindex;
	return m;
}

/* A text of the state's own, as long as it lasts; what was there before stays valid, too. */
int state_text(struct state *st, const char **to, const char *from)
{
	const char *copy;

	if (from && *to && !strcmp(*to, from))
		return 0;
	copy = from ? pool_text(&st->pool, from) : NULL;
	if (from && !copy)
		return -ENOMEM;
	*to = copy;
	return 0;
}

/* For one more, behind the others, of which it is none before n_base says so */
struct base *state_room_for_base(struct state *st)
{
	struct base *list = grown(st->base, st->n_base, sizeof(*list));

	if (!list)
		return NULL;
	st->base = list;
	return memset(&list[st->n_base], 0, sizeof(*list));
}

/* An item about to be changed for the first time.  NULL: out of memory. */
struct base *state_add_base(struct state *st, enum item_kind kind, const char *name,
			    int ifindex, const char *before)
{
	struct base *b = state_room_for_base(st);

	if (!b || state_text(st, &b->name, name) || state_text(st, &b->before, before))
		return NULL;
	b->kind = kind;
	b->ifindex = ifindex;
	b->ours = b->before;
	st->n_base++;
	return b;
}

/* Without the items that were cleared. */
void state_pack_base(struct state *st)
{
	uint32_t i, n = 0;

	for (i = 0; i < st->n_base; i++)
		if (st->base[i].name)
			st->base[n++] = st->base[i];
	st->n_base = n;
}

static void drop_circuits(struct state *st, enum standing which)
{
	uint32_t i, n = 0;

	for (i = 0; i < st->n_circuits; i++)
		if (st->circuits[i].standing != which)
			st->circuits[n++] = st->circuits[i];
	st->n_circuits = n;
}

static void turn_circuits(struct state *st, enum standing from, enum standing to)
{
	uint32_t i;

	for (i = 0; i < st->n_circuits; i++)
		if (st->circuits[i].standing == from)
			st->circuits[i].standing = to;
}

static void confirm_clear(struct state *st)
{
	memset(&st->confirm, 0, sizeof(st->confirm));
}

/*
 * The list as it was before a run that was cut short; its items are still to go back.
 * Where that run was on the way back itself, its change waits on.
 */
void state_recover(struct state *st)
{
	if (st->confirm.reverting) {
		turn_circuits(st, REMOVING, TRIAL);
		turn_circuits(st, ADDING, BEFORE);
		return;
	}
	if (list_is_half(st))
		confirm_clear(st);
	drop_circuits(st, ADDING);
	turn_circuits(st, REMOVING, STANDING);
}

/* The list as a run that ended wanted it; what it replaced is kept until it is confirmed. */
void state_settle(struct state *st)
{
	if (st->confirm.deadline && !st->confirm.reverting) {
		turn_circuits(st, REMOVING, BEFORE);
		turn_circuits(st, ADDING, TRIAL);
		return;
	}
	drop_circuits(st, REMOVING);
	turn_circuits(st, ADDING, STANDING);
	confirm_clear(st);
}

/* --- a change that waits ---------------------------------------------------- */

/* Items that the change put back were kept for the way back alone. */
static void drop_restored(struct state *st)
{
	uint32_t i;

	for (i = 0; i < st->n_base; i++) {
		struct base *b = &st->base[i];

		if (!b->next && item_equal(b->kind, b->name, b->ours, b->before))
			base_clear(b);
	}
	state_pack_base(st);
}

/* It stands for good. */
void state_confirm(struct state *st)
{
	drop_restored(st);
	state_drop_before(st);
	turn_circuits(st, TRIAL, STANDING);
	confirm_clear(st);
}

/* A run is to put back what it replaced. */
void state_revert(struct state *st)
{
	st->confirm.reverting = st->confirm.deadline;
	turn_circuits(st, TRIAL, REMOVING);
	turn_circuits(st, BEFORE, ADDING);
}

/* For whoever only looks at what stands. */
void state_drop_before(struct state *st)
{
	drop_circuits(st, BEFORE);
}

/* --- the list -------------------------------------------------------------- */

/* By its name, or by its device, whatever that is called now. */
bool member_is(const struct member *m, const char *word)
{
	return !strcmp(m->circuit.dev, word) || !strcmp(m->circuit.name, word);
}

/* --- the daemon's ----------------------------------------------------------- */

static bool is_in_the_way(const struct circuit *daemons, const struct circuit *c)
{
	uint32_t i, k;

	if (!strcmp(daemons->dev, c->dev))
		return true;
	for (i = 0; i < daemons->n_to; i++)
		for (k = 0; k < c->n_to; k++)
			if (prefix_holds(&daemons->to[i], &c->to[k]) ||
			    prefix_holds(&c->to[k], &daemons->to[i]))
				return true;
	return false;
}

/* An administrator's circuit has its device, and its prefixes, for itself. */
static void give_way(struct state *st, const struct circuit *c)
{
	uint32_t i;

	for (i = 0; i < st->n_circuits && !c->ctcpd; i++) {
		struct member *m = &st->circuits[i];

		if (m->circuit.ctcpd && member_is_there(m) && is_in_the_way(&m->circuit, c))
			m->standing = REMOVING;
	}
}

static bool has_daemons(const struct state *st)
{
	uint32_t i;

	for (i = 0; i < st->n_circuits; i++)
		if (st->circuits[i].circuit.ctcpd)
			return true;
	return false;
}

static void give_way_to_added(struct state *st)
{
	uint32_t i;

	for (i = 0; i < st->n_circuits && has_daemons(st); i++)
		if (st->circuits[i].standing == ADDING)
			give_way(st, &st->circuits[i].circuit);
}

/* Of a device, and of no use without it */
static bool goes_with_device(enum item_kind kind)
{
	return kind == ITEM_QDISC || kind == ITEM_TXQLEN || kind == ITEM_CLASS ||
	       kind == ITEM_FILTER;
}

/*
 * A state that is pending is so by a run of the daemon's.  It has circuits that are half, or
 * items of a device that is its own, if an administrator's run came meanwhile.
 */
bool state_pending_is_ctcpds(const struct state *st)
{
	uint32_t i;

	for (i = 0; i < st->n_circuits; i++) {
		const struct member *m = &st->circuits[i];

		if ((m->standing == ADDING || m->standing == REMOVING) && !m->circuit.ctcpd)
			return false;
	}
	for (i = 0; i < st->n_base; i++) {
		const struct base *b = &st->base[i];

		if (b->next && (!goes_with_device(b->kind) ||
				!state_device_is_ctcpds(st, b->ifindex)))
			return false;
	}
	return true;
}

/*
 * As state_recover(), for a run of the daemon's alone: what was to be added goes, as it would by
 * state_recover(), but by its name, so that the items are known as the daemon's.
 */
void state_recover_ctcpds(struct state *st)
{
	turn_circuits(st, REMOVING, STANDING);
	turn_circuits(st, ADDING, REMOVING);
}

/* All circuits that it has, had, or is to have, are the daemon's, and it is one at least. */
bool state_device_is_ctcpds(const struct state *st, int ifindex)
{
	bool any = false;
	uint32_t i;

	for (i = 0; i < st->n_circuits; i++) {
		if (st->circuits[i].ifindex != ifindex)
			continue;
		if (!st->circuits[i].circuit.ctcpd)
			return false;
		any = true;
	}
	return any;
}

/* --- edit ------------------------------------------------------------------ */

/* One more, which stands at @at. */
int state_insert(struct state *st, const struct circuit *c, int ifindex, uint32_t *at,
		 struct err *e)
{
	struct member *m;
	int rc;

	give_way(st, c);
	rc = fits(st, c, e);
	if (rc)
		return rc;
	m = state_add(st, c, ifindex);
	if (!m)
		return err_set(e, -ENOMEM, "out of memory");
	m->standing = ADDING;
	*at = st->n_circuits - 1;
	return c->shaper == SHAPER_HTB ? class_give(st, m, e) : 0;
}

/*
 * All that have been added since: state_insert() of each would look at each other one.
 * @at: which does not fit.
 */
int state_insert_all(struct state *st, uint32_t *at, struct err *e)
{
	int rc;

	give_way_to_added(st);
	rc = fits_all(st, at, e);
	return rc ? rc : class_give_all(st, at, e);
}

struct member *state_find(struct state *st, const char *name)
{
	uint32_t i;

	for (i = 0; i < st->n_circuits; i++) {
		struct member *m = &st->circuits[i];

		if (member_is_there(m) && !strcmp(m->circuit.name, name))
			return m;
	}
	return NULL;
}

static int not_replaced(const struct member *m, uint32_t n, struct err *e)
{
	const char *dev = m->circuit.dev, *name = m->circuit.name;

	if (n > 1)
		return err_set(e, -EEXIST,
			       "%s has %u circuits; ctcp-setup change NAME changes one, add NAME gives it one more",
			       dev, n);
	return err_set(e, -EEXIST,
		       "%s has circuit %s; ctcp-setup change %s changes it, add NAME gives %s one more, undo %s clears the way",
		       dev, name, name, dev, name);
}

/*
 * Of the bare command: @c takes the place of the circuit of its name, or of the one of its
 * device if such a command made that, too.
 */
int state_replace(struct state *st, const struct circuit *c, int ifindex, uint32_t *at,
		  struct err *e)
{
	struct member *same = NULL, *named = NULL;
	struct circuit bare = *c;
	uint32_t i, n = 0;

	give_way(st, c);
	for (i = 0; i < st->n_circuits; i++) {
		struct member *m = &st->circuits[i];

		if (!member_is_there(m) || strcmp(m->circuit.dev, c->dev))
			continue;
		n++;
		same = m;
		if (!strcmp(m->circuit.name, circuit_name(c)))
			named = m;
	}
	if (n && !named && (n > 1 || !same->circuit.bare))
		return not_replaced(same, n, e);
	if (n)
		(named ?: same)->standing = REMOVING;
	bare.bare = true;
	return state_insert(st, &bare, ifindex, at, e);
}

/*
 * The rate of what is in no class, of the device of @at: as a circuit of it says, or
 * what those with a class leave.  @speed: what the device carries, bytes/s, 0 = not known.
 */
uint64_t state_rest(const struct state *st, uint32_t at, uint64_t speed)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < st->n_circuits; i++) {
		const struct member *m = &st->circuits[i];

		if (!member_is_there(m) || m->ifindex != st->circuits[at].ifindex)
			continue;
		if (m->circuit.rest)
			return m->circuit.rest;
		/* the daemon's hold what they have, and reserve nothing */
		sum += m->circuit.shaper == SHAPER_HTB && !m->circuit.ctcpd ? m->circuit.rate : 0;
	}
	return plan_rest_rate(speed, sum);
}

/* A word that is the name of one device's circuit and another device means neither. */
static int check_word(const struct state *st, const char *word, struct err *e)
{
	const struct member *named = NULL, *on = NULL;
	uint32_t i;

	for (i = 0; i < st->n_circuits; i++) {
		const struct member *m = &st->circuits[i];

		if (!strcmp(m->circuit.dev, word))
			on = m;
		else if (!strcmp(m->circuit.name, word))
			named = m;
	}
	if (!named || !on)
		return 0;
	return err_set(e, -EEXIST,
		       "%s is the name of a circuit on %s, and the device of circuit %s; ctcp-setup del %s or ctcp-setup del %s says which",
		       word, named->circuit.dev, on->circuit.name, word, on->circuit.name);
}

/* All that @word names go, NULL = all.  *@any: there is one. */
int state_drop(struct state *st, const char *word, bool *any, struct err *e)
{
	int rc = word ? check_word(st, word, e) : 0;
	uint32_t i;

	*any = false;
	for (i = 0; i < st->n_circuits && !rc; i++) {
		if (word && !member_is(&st->circuits[i], word))
			continue;
		st->circuits[i].standing = REMOVING;
		*any = true;
	}
	return rc;
}

/* --- devices --------------------------------------------------------------- */

/* The object with @dev as its device, where it has one. */
static int object_move(struct state *st, const char **text, const char *dev)
{
	char value[ITEM_VALUE];
	struct object o;
	int rc;

	if (!*text || !strstr(*text, " dev=") || object_parse(*text, &o))
		return 0;
	if (!strcmp(o.dev, dev)) {
		object_free(&o);
		return 0;
	}
	snprintf(o.dev, sizeof(o.dev), "%s", dev);
	rc = object_format(&o, value);
	object_free(&o);
	return rc ? rc : state_text(st, text, value);
}

/* "eth1 c7c0:1": the device, and what of it */
static int name_move(struct state *st, const char **name, const char *dev)
{
	size_t n = strcspn(*name, " ");
	char text[ITEM_NAME];

	if (n == strlen(dev) && !memcmp(*name, dev, n))
		return 0;
	snprintf(text, sizeof(text), "%s%s", dev, *name + n);
	return state_text(st, name, text);
}

static int base_move(struct state *st, struct base *b, const char *dev)
{
	if (b->kind == ITEM_CIRCUIT)
		return object_move(st, &b->ours, dev) ?: object_move(st, &b->next, dev);
	if (b->kind == ITEM_ROUTE)
		return 0;
	return name_move(st, &b->name, dev);
}

/* The device of the route that was there before us, 0 = there was none. */
static int device_before(const struct base *b)
{
	struct route before;

	if (b->kind != ITEM_ROUTE || route_from_text(b->before, &before) || !before.len)
		return 0;
	return route_ifindex(&before);
}

/* Ours went; the route in whose place it was is by another device, and still to come back. */
static void route_gone(struct base *b, int device)
{
	b->ifindex = device;
	b->ours = "absent";
	b->next = NULL;
}

/*
 * Queue and routes went with their device, but not what a route of ours had replaced; a
 * circuit stays and tells of its number.
 */
static int base_gone(struct state *st, struct base *b)
{
	int before = device_before(b);
	char number[IFNAMSIZ];

	snprintf(number, sizeof(number), "#%d", b->ifindex);
	if (b->kind == ITEM_CIRCUIT)
		return base_move(st, b, number);
	if (before && before != b->ifindex) {
		route_gone(b, before);
		return 0;
	}
	base_clear(b);
	st->gone++;
	return 0;
}

static int by_index(const void *a, const void *b)
{
	const struct device_now *x = a, *y = b;

	return x->ifindex < y->ifindex ? -1 : x->ifindex > y->ifindex;
}

static const struct device_now *find_device(const struct device_now *list, uint32_t n,
					    int ifindex)
{
	const struct device_now key = { .ifindex = ifindex };

	return bsearch(&key, list, n, sizeof(key), by_index);
}

/* The devices are these now: what is bound to one has its name, or went with it.  Sorts @list. */
int state_devices_are(struct state *st, struct device_now *list, uint32_t n)
{
	const struct device_now *now;
	uint32_t i;
	int rc = 0;

	qsort(list, n, sizeof(*list), by_index);
	for (i = 0; i < st->n_circuits; i++) {
		now = find_device(list, n, st->circuits[i].ifindex);
		if (now && now->dev[0])
			memcpy(st->circuits[i].circuit.dev, now->dev, IFNAMSIZ);
	}
	for (i = 0; i < st->n_base && !rc; i++) {
		struct base *b = &st->base[i];

		now = b->ifindex ? find_device(list, n, b->ifindex) : NULL;
		if (now)
			rc = now->dev[0] ? base_move(st, b, now->dev) : base_gone(st, b);
	}
	state_pack_base(st);
	return rc;
}
