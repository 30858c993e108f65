// SPDX-License-Identifier: GPL-2.0
/*
 * Pacing by classes: see hands_class.h.
 *
 * Each run is one session of ctcp-setup's library with session.ctcpd set, so that
 * administrators' circuits and their items are aside: neither planned, nor wanted, nor taken
 * back (session_is_aside(), diff_set_aside_others()).
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choose.h"
#include "grow.h"
#include "hands_class.h"
#include "hands_index.h"
#include "htb.h"
#include "link.h"
#include "order.h"
#include "out.h"
#include "session.h"
#include "units.h"

#define NAME_PREFIX "ctcpd-"

static const struct args no_args;

/* A device that something of a batch is new on, as it was when that was first met */
struct met_device {
	int ifindex;
	struct facts facts;
	int rc;			/* 0, or why nothing is set up there */
	struct err why;
	bool whole;		/* it is somebody else's */
};

/* What a run was asked for */
struct job {
	const struct pace *list;
	uint32_t n;
	bool one_lock;		/* several queues may get one root */
	bool device;		/* of letting go */
	struct hands_result *r;
	unsigned char *names;	/* whether ctcpd-N is somebody's */
	uint32_t n_names, next_name;	/* none below it is free */
	struct met_device *devices;
	uint32_t n_devices;
};

/* --- devices --------------------------------------------------------------- */

static int read_device(struct nl *nl, int ifindex, struct facts *f, struct err *e)
{
	char dev[IFNAMSIZ];

	if (ifindex <= 0 || !if_indextoname((unsigned int)ifindex, dev))
		return err_set(e, -ENODEV, "there is no device of index %d any more", ifindex);
	return facts_read(nl, dev, f, e);
}

/*
 * A root qdisc is one lock for all that leaves: choose.h has what that costs.  Without a link any
 * speed may come.
 */
int hands_check_lock(const struct facts *f, bool one_lock, struct err *e)
{
	if (f->speed_mbit * MBIT >= LOCK_RATE)
		return err_set(e, -EOPNOTSUPP,
			       "%s carries 20gbit or more, which the one lock of a root qdisc does not",
			       f->dev);
	if (f->tx_queues > 1 && !one_lock)
		return err_set(e, -EOPNOTSUPP,
			       "%s has %u queues, which a root qdisc would put behind one lock",
			       f->dev, f->tx_queues);
	if (f->has_speed && !f->speed_mbit && !f->carrier)
		return err_set(e, -ENETDOWN, "the speed of %s is unknown while it has no link",
			       f->dev);
	return 0;
}

static int check_kind(const struct facts *f, struct err *e)
{
	const struct circuit none = { 0 };

	return plan_check_device(&none, f, NULL, e);
}

static int check_device(const struct facts *f, bool one_lock, struct err *e)
{
	int rc = check_kind(f, e);

	return rc ? rc : hands_check_lock(f, one_lock, e);
}

static int check_root(struct nl *nl, const struct facts *f, struct err *e)
{
	struct qdisc q;
	int rc = qdisc_read(nl, f->ifindex, &q, NULL, e);

	if (rc || q.state != QDISC_FOREIGN)
		return rc;
	return err_set(e, -EPERM, "%s has a root qdisc of somebody else's, %s %x:", f->dev, q.kind,
		       q.handle >> 16);
}

int hands_fit(int ifindex, bool one_lock, struct err *e)
{
	struct facts f;
	struct nl nl;
	int rc = nlm_open(&nl, NETLINK_ROUTE, e);

	if (rc)
		return rc;
	rc = read_device(&nl, ifindex, &f, e);
	if (!rc)
		rc = check_device(&f, one_lock, e);
	if (!rc)
		rc = check_root(&nl, &f, e);
	nlm_close(&nl);
	return rc;
}

/* By a socket of its own */
static int read_alone(int ifindex, struct facts *f, struct err *e)
{
	struct nl nl;
	int rc = nlm_open(&nl, NETLINK_ROUTE, e);

	if (rc)
		return rc;
	rc = read_device(&nl, ifindex, f, e);
	nlm_close(&nl);
	return rc;
}

int hands_takes_device(int ifindex, struct err *e)
{
	struct facts f;
	int rc = read_alone(ifindex, &f, e);

	return rc ? rc : check_kind(&f, e);
}

int hands_read_device(int ifindex, struct hands_device *d, struct err *e)
{
	struct facts f;
	int rc = read_alone(ifindex, &f, e);

	if (!rc)
		*d = (struct hands_device){ f.speed_mbit, f.tx_queues };
	return rc;
}

/* --- whose ----------------------------------------------------------------- */

/* No run of an administrator's is under way, was cut short, or waits. */
static int check_theirs(const struct session *s, struct err *e)
{
	if (s->theirs)
		return err_set(e, -EALREADY,
			       "a run of ctcp-setup was cut short, and is for an administrator to end: by the same command again, or ctcp-setup undo");
	if (s->state.confirm.deadline)
		return err_set(e, -EALREADY,
			       "a change by ctcp-setup waits to be confirmed, or taken back");
	return 0;
}

/* With the lock, which whoever is at work has for some milliseconds: not waited for */
static int begin(struct session *s, struct err *e)
{
	char pid[16];
	int rc;

	s->ctcpd = true;
	if (store_is_locked(&s->store, pid))
		return err_set(e, -EAGAIN, "another ctcp-setup is at work, process %s", pid);
	rc = session_hold(s, e);
	if (rc == -EALREADY)
		return -EAGAIN;
	return rc ? rc : check_theirs(s, e);
}

static int check_circuits(const struct state *st, const struct facts *f, struct err *e)
{
	uint32_t i;

	for (i = 0; i < st->n_circuits; i++) {
		const struct member *m = &st->circuits[i];

		if (!m->circuit.ctcpd &&
		    (m->ifindex == f->ifindex || !strcmp(m->circuit.dev, f->dev)))
			return err_set(e, -EPERM, "%s has circuit %s, which an administrator set up",
				       f->dev, m->circuit.name);
	}
	return 0;
}

/* What undo could not set back, as somebody had changed it */
static int check_leftovers(const struct state *st, const struct facts *f, struct err *e)
{
	uint32_t i;

	/* what is there is of circuits of ours, that stand */
	if (state_device_is_ctcpds(st, f->ifindex))
		return 0;
	for (i = 0; i < st->n_base; i++) {
		const struct base *b = &st->base[i];

		if (b->ifindex == f->ifindex &&
		    (b->kind == ITEM_QDISC || b->kind == ITEM_CLASS || b->kind == ITEM_FILTER))
			return err_set(e, -EPERM,
				       "%s %s is left over from a circuit of before; ctcp-setup undo --all --force restores it",
				       item_kind_name(b->kind), b->name);
	}
	return 0;
}

/* --- the list -------------------------------------------------------------- */

static bool is_of(const struct member *m, const struct pace *one)
{
	return m->circuit.ctcpd && m->ifindex == one->ifindex && m->circuit.n_to == 1 &&
	       prefix_equal(&m->circuit.to[0], &one->to);
}

/* Nothing is left in the kernel of what was on a device that is gone. */
static void drop_gone(struct state *st)
{
	uint32_t i;

	for (i = 0; i < st->n_circuits; i++) {
		struct member *m = &st->circuits[i];

		if (m->circuit.ctcpd && (!m->ifindex || m->anew))
			m->standing = REMOVING;
	}
}

static void take_name(struct job *j, const char *name)
{
	unsigned int n;

	if (sscanf(name, NAME_PREFIX "%u", &n) == 1 && n < j->n_names)
		j->names[n] = true;
}

/* As many as there can be, and one that is free for each that comes */
static int read_names(struct job *j, const struct state *st)
{
	uint32_t i;

	j->n_names = st->n_circuits + j->n + 2;
	j->names = calloc(j->n_names, 1);
	for (i = 0; j->names && i < st->n_circuits; i++)
		take_name(j, st->circuits[i].circuit.name);
	return j->names ? 0 : -ENOMEM;
}

static void give_name(struct job *j, struct circuit *c)
{
	uint32_t n = j->next_name ?: 1;

	while (n + 1 < j->n_names && j->names[n])
		n++;
	j->names[n] = true;
	j->next_name = n;
	snprintf(c->name, sizeof(c->name), NAME_PREFIX "%u", n);
}

static int check_new(struct session *s, const struct job *j, struct met_device *d)
{
	int rc = read_device(&s->kernel.nl, d->ifindex, &d->facts, &d->why);

	if (rc)
		return rc;
	rc = check_circuits(&s->state, &d->facts, &d->why) ?:
	     check_leftovers(&s->state, &d->facts, &d->why) ?:
	     hands_check_record(&s->kernel.nl, &s->state, &s->store, d->ifindex, d->facts.dev,
				&d->why);
	d->whole = rc == -EPERM;
	return rc ?: check_device(&d->facts, j->one_lock, &d->why);
}

/* Read, and checked, once a batch: each of these walks all circuits.  NULL: no memory */
static const struct met_device *device_of(struct session *s, struct job *j, int ifindex)
{
	struct met_device *list, *d;
	uint32_t i;

	for (i = 0; i < j->n_devices; i++)
		if (j->devices[i].ifindex == ifindex)
			return &j->devices[i];
	list = grown(j->devices, j->n_devices, sizeof(*list));
	if (!list)
		return NULL;
	j->devices = list;
	d = &list[j->n_devices++];
	memset(d, 0, sizeof(*d));
	d->ifindex = ifindex;
	d->rc = check_new(s, j, d);
	return d;
}

static int add(struct session *s, struct job *j, const struct pace *one, const char *name,
	       struct err *e)
{
	const struct met_device *d = device_of(s, j, one->ifindex);
	struct circuit c = CIRCUIT_DEFAULTS;
	struct member *m;

	if (!d)
		return err_set(e, -ENOMEM, "out of memory");
	j->r->device = d->whole;
	if (d->rc)
		return err_set(e, d->rc, "%s", d->why.text);
	memcpy(c.dev, d->facts.dev, sizeof(c.dev));
	c.ctcpd = true;
	c.shaper = SHAPER_HTB;
	c.rate = one->rate;
	c.rtt_us = one->rtt_us && one->rtt_us <= RTT_MAX_US ? one->rtt_us : 1000;
	c.to[0] = one->to;
	c.n_to = 1;
	if (name)
		out_copy(c.name, sizeof(c.name), name);
	else
		give_name(j, &c);
	m = state_add(&s->state, &c, one->ifindex);
	if (!m)
		return err_set(e, -ENOMEM, "out of memory");
	m->standing = ADDING;
	return 0;
}

/* One that is paced so already stays untouched. */
static int edit_one(struct session *s, struct job *j, struct hands_index *x,
		    const struct pace *one, struct err *e)
{
	uint32_t at = hands_index_find(x, one);
	struct member *m = at == HANDS_NO_MEMBER ? NULL : &s->state.circuits[at];
	char name[TCP_CIRCUIT_NAME_LEN] = "";

	if (m && m->circuit.rate == one->rate)
		return 0;
	if (m) {
		out_copy(name, sizeof(name), m->circuit.name);
		m->standing = REMOVING;
	}
	if (!one->rate)
		return 0;
	if (one->rate < RATE_MIN || one->rate > RATE_MAX)
		return err_set(e, -ERANGE, "a rate of %llu bytes/s is not from %llu to %llu",
			       (unsigned long long)one->rate, RATE_MIN, RATE_MAX);
	return add(s, j, one, name[0] ? name : NULL, e);
}

/* Which of the list a circuit of the state is for */
static void blame_member(struct job *j, const struct member *m)
{
	uint32_t i;

	for (i = 0; i < j->n; i++)
		if (is_of(m, &j->list[i]))
			j->r->at = i;
}

static void blame_name(const struct session *s, struct job *j, const char *name)
{
	uint32_t i;

	for (i = 0; i < s->state.n_circuits; i++)
		if (!strcmp(s->state.circuits[i].circuit.name, name))
			blame_member(j, &s->state.circuits[i]);
}

static int edit_all(struct session *s, struct job *j, struct err *e)
{
	struct hands_index x;
	uint32_t i;
	int rc = hands_index_make(&x, &s->state);

	if (rc)
		return err_set(e, rc, "out of memory");
	for (i = 0; i < j->n && !rc; i++) {
		rc = edit_one(s, j, &x, &j->list[i], e);
		if (rc)
			j->r->at = i;
	}
	hands_index_free(&x);
	return rc;
}

static int edit(struct session *s, struct job *j, struct err *e)
{
	struct err why = { "" };
	uint32_t at = 0;
	int rc = read_names(j, &s->state);

	if (rc)
		return err_set(e, rc, "out of memory");
	drop_gone(&s->state);
	rc = edit_all(s, j, e);
	if (rc)
		return rc;
	rc = state_insert_all(&s->state, &at, &why);
	if (rc && at < s->state.n_circuits)
		blame_member(j, &s->state.circuits[at]);
	return rc ? err_set(e, rc, "%s", why.text) : 0;
}

/* --- whose fault ----------------------------------------------------------- */

static void blame_device(struct job *j, int ifindex)
{
	uint32_t i;

	for (i = 0; i < j->n; i++) {
		if (j->list[i].ifindex != ifindex)
			continue;
		j->r->at = i;
		j->r->device = true;
		return;
	}
}

/* "eth1 192.0.2.7/32": of one that goes no circuit wants it any more */
static void blame_filter(struct job *j, const struct item *it)
{
	struct err unused = { "" };
	struct prefix to;
	uint32_t i;

	if (parse_prefix(strchr(it->name, ' ') + 1, &to, &unused))
		return;
	for (i = 0; i < j->n; i++)
		if (j->list[i].ifindex == it->ifindex && prefix_equal(&j->list[i].to, &to))
			j->r->at = i;
}

static void blame_class(const struct session *s, struct job *j, const struct item *it,
			uint32_t minor)
{
	uint32_t i;

	for (i = 0; i < s->state.n_circuits; i++)
		if (s->state.circuits[i].ifindex == it->ifindex &&
		    s->state.circuits[i].classid == minor)
			blame_member(j, &s->state.circuits[i]);
}

static void blame_item(const struct session *s, struct job *j, const struct item *it)
{
	uint32_t minor = CLASS_REST;

	if (it->kind == ITEM_CLASS)
		class_minor(it->name, &minor);
	if (it->kind == ITEM_FILTER)
		blame_filter(j, it);
	else if (it->kind == ITEM_CLASS && minor != CLASS_REST)
		blame_class(s, j, it, minor);
	else
		blame_device(j, it->ifindex);
}

static void blame(const struct session *s, struct job *j)
{
	const struct change *refused = s->outcome.refused;

	if (j->r->at != HANDS_NOBODY)
		return;
	if (s->diff.foreign)
		blame_item(s, j, s->diff.foreign);
	else if (s->failed_for[0])
		blame_name(s, j, s->failed_for);
	else if (refused && refused->circuit != NOBODY)
		blame_member(j, &s->state.circuits[refused->circuit]);
}

/* What is in the way of a circuit is somebody else's. */
static int code_of(int rc)
{
	return rc == -EEXIST ? -EPERM : rc;
}

/* The caller says what there is to say. */
static void take_notes(struct session *s, struct hands_result *r)
{
	notes_add(&r->notes, &s->notes);
	notes_add(&r->notes, &s->trouble);
	memset(&s->trouble, 0, sizeof(s->trouble));
}

static int finish(struct session *s, struct job *j, int rc)
{
	session_release(s);
	if (rc)
		blame(s, j);
	take_notes(s, j->r);
	if (!rc)
		j->r->changed += s->outcome.changed;
	return code_of(rc);
}

static int make(struct session *s, struct err *e)
{
	int rc;

	s->diff.whole = true;
	rc = session_diff(s, e);
	return rc ? rc : session_commit(s, ALL_OR_NONE, e);
}

/* --- runs ------------------------------------------------------------------ */

/* Somebody's by now, and the state has nothing to say of it any more */
static void forget_left(struct diff *d)
{
	uint32_t i;

	for (i = 0; i < d->n_items; i++) {
		struct item *it = d->items[i];

		if (it->left && !it->aside && it->base != NOBODY && item_base(d, it)->next)
			base_clear(item_base(d, it));
	}
}

/* What an earlier run of ours left half done; all that stands stays. */
static int run_recover(struct session *s, void *data, struct err *e)
{
	struct job *j = data;
	int rc = begin(s, e);

	if (rc || !s->cut_short)
		return finish(s, j, rc);
	note(&s->notes, "an earlier run was cut short; what it had changed is taken back first");
	rc = session_diff(s, e);
	if (!rc)
		forget_left(&s->diff);
	if (!rc)
		rc = session_commit(s, ALL_OR_NONE, e);
	return finish(s, j, rc);
}

static int run_apply(struct session *s, void *data, struct err *e)
{
	struct job *j = data;
	int rc = begin(s, e);

	s->diff.yields = true;
	if (!rc)
		rc = edit(s, j, e);
	if (!rc)
		rc = make(s, e);
	return finish(s, j, rc);
}

static int run(session_fn fn, struct job *j, struct err *e)
{
	struct err unused = { "" };
	int rc;

	memset(j->r, 0, sizeof(*j->r));
	j->r->at = HANDS_NOBODY;
	if (need_net_admin("", &unused))
		return err_set(e, -EACCES, "pacing needs CAP_NET_ADMIN");
	rc = session_run(&no_args, run_recover, j, e);
	if (!rc)
		rc = session_run(&no_args, fn, j, e);
	free(j->names);
	free(j->devices);
	return rc;
}

int hands_apply(const struct pace *list, uint32_t n, bool one_lock, struct hands_result *r,
		struct err *e)
{
	struct job j = { .list = list, .n = n, .one_lock = one_lock, .r = r };

	return run(run_apply, &j, e);
}

/* --- letting go ------------------------------------------------------------ */

static bool names_prefix(const struct base *b, const struct prefix *to)
{
	struct err unused = { "" };
	struct prefix p;

	return b->kind == ITEM_FILTER &&
	       !parse_prefix(strchr(b->name, ' ') + 1, &p, &unused) && prefix_equal(&p, to);
}

static bool names_class(const struct base *b, uint32_t minor)
{
	uint32_t n;

	return b->kind == ITEM_CLASS && !class_minor(b->name, &n) && n == minor;
}

static void forget_items(struct state *st, const struct member *m, bool device)
{
	uint32_t i;

	for (i = 0; i < st->n_base; i++) {
		struct base *b = &st->base[i];

		if (b->ifindex == m->ifindex &&
		    (device || names_prefix(b, &m->circuit.to[0]) || names_class(b, m->classid)))
			base_clear(b);
	}
	state_pack_base(st);
}

static bool is_let_go(const struct member *m, const struct job *j)
{
	return member_is_there(m) && m->circuit.ctcpd &&
	       (is_of(m, j->list) || (j->device && m->ifindex == j->list->ifindex));
}

static int run_let_go(struct session *s, void *data, struct err *e)
{
	struct job *j = data;
	uint32_t i;
	int rc = begin(s, e);

	for (i = 0; i < s->state.n_circuits && !rc; i++) {
		struct member *m = &s->state.circuits[i];

		if (!is_let_go(m, j))
			continue;
		m->standing = REMOVING;
		forget_items(&s->state, m, j->device);
	}
	if (!rc)
		rc = make(s, e);
	return finish(s, j, rc);
}

int hands_let_go(const struct pace *one, bool device, struct hands_result *r, struct err *e)
{
	struct job j = { .list = one, .n = 1, .device = device, .r = r };

	return run(run_let_go, &j, e);
}

/* --- looking --------------------------------------------------------------- */

struct looker {
	hand_fn each;
	void *data;
};

/* A root that is another, or the class of all else, concerns all of its device. */
static bool is_of_device(const struct change *c)
{
	uint32_t minor;

	return c->kind == ITEM_QDISC ||
	       (c->kind == ITEM_CLASS && !class_minor(c->name, &minor) && minor == CLASS_REST);
}

static const struct change *device_change(const struct session *s, int ifindex)
{
	uint32_t i;

	for (i = 0; i < s->diff.n; i++)
		if (s->diff.list[i].ifindex == ifindex && is_of_device(&s->diff.list[i]))
			return &s->diff.list[i];
	return NULL;
}

/* The first of its own; the length of a device's queue is anybody's to set. */
static const struct change *own_change(const struct session *s, uint32_t i)
{
	const struct change *c;
	uint32_t k;

	for (k = diff_first(&s->diff, i); (c = diff_change(&s->diff, i, k)); k++)
		if (c->kind == ITEM_CLASS || c->kind == ITEM_FILTER)
			return c;
	return NULL;
}

static void tell_change(struct hand *h, const struct change *c)
{
	h->state = HAND_CHANGED;
	h->device = is_of_device(c);
	hands_why_changed(c, h->why, sizeof(h->why));
}

static void look_at(const struct session *s, uint32_t i, struct hand *h)
{
	const struct member *m = &s->state.circuits[i];
	const struct planned *p = &s->planned[i];
	const struct change *c;

	if (!m->ifindex || m->anew || p->rc == -ENODEV) {
		h->state = HAND_GONE;
		snprintf(h->why, sizeof(h->why), "%s, on which it was set up, is gone", h->dev);
	} else if (p->rc) {
		h->state = HAND_DOWN;
		snprintf(h->why, sizeof(h->why), "%.250s", planned_why(p));
	} else {
		c = device_change(s, m->ifindex) ?: own_change(s, i);
		if (c)
			tell_change(h, c);
	}
}

/* What is half set up is no hand yet: an apply takes it back. */
static int tell_one(const struct session *s, uint32_t i, const struct looker *l)
{
	const struct member *m = &s->state.circuits[i];
	struct hand h = { .state = HAND_SET };

	if (!m->circuit.ctcpd || m->standing == ADDING || m->standing == BEFORE)
		return 0;
	h.pace = (struct pace){
		.to = m->circuit.to[0], .ifindex = m->ifindex, .rate = m->circuit.rate,
		.rtt_us = (uint32_t)m->circuit.rtt_us,
	};
	memcpy(h.dev, m->circuit.dev, sizeof(h.dev));
	memcpy(h.name, m->circuit.name, sizeof(h.name));
	if (m->standing == REMOVING) {
		h.state = HAND_DOWN;
		snprintf(h.why, sizeof(h.why), "a run on it was cut short");
	} else {
		look_at(s, i, &h);
	}
	return l->each(&h, l->data);
}

static int run_look(struct session *s, void *data, struct err *e)
{
	const struct looker *l = data;
	char pid[16];
	uint32_t i;
	int rc;

	s->ctcpd = true;
	if (store_is_locked(&s->store, pid))
		return err_set(e, -EAGAIN, "another ctcp-setup is at work, process %s", pid);
	rc = session_look(s, e);
	for (i = 0; i < s->state.n_circuits && !rc; i++)
		rc = tell_one(s, i, l);
	return rc;
}

int hands_look(hand_fn each, void *data, struct err *e)
{
	struct looker l = { each, data };

	return session_run(&no_args, run_look, &l, e);
}
