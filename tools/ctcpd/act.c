// SPDX-License-Identifier: GPL-2.0
/*
 * What is done about what was seen, poll by poll: see act.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "act_inside.h"
#include "observe.h"

#define TICK_S 60

/* --- counted -------------------------------------------------------------- */

/* Of a subnet that is not taken as one, only that it is looked at */
static bool is_told(const struct acting *e)
{
	return !e->gone && (!acting_is_subnet(e) || e->search.state != SEARCH_WATCHING);
}

static void count_one(const struct act *a, struct act_totals *t, const struct acting *e)
{
	enum search_state state = e->search.state;
	enum hands_kind by = act_forced_by(a, e);

	t->searches++;
	t->paced += e->force != 0;
	if (by != HANDS_NONE)
		t->paced_by[by]++;
	t->trying += e->force && state == SEARCH_TRYING;
	t->kept += e->force && state == SEARCH_KEPT;
	t->taken_back += state == SEARCH_TAKEN_BACK;
	t->stood_down += state == SEARCH_TAKEN_BACK && e->stood_down;
}

/* Without the lock nothing is changed, though it is tried again with each poll. */
static const char *why_unable(const struct act *a)
{
	return !a->unable[0] && a->lock < 0 ? a->hindered : a->unable;
}

/* What is paced, or may be, and cannot be changed */
static const char *why_hindered(const struct act *a)
{
	int k = 0;

	while (k < HANDS_KINDS - 1 && !a->by[k].unknown[0])
		k++;
	return a->hindered[0] ? a->hindered : a->by[k].unknown;
}

static void count(struct act *a)
{
	const struct act_totals *was = &a->totals;
	struct act_totals t = { .paced_changes = was->paced_changes, .failed = was->failed };
	struct acting *e, *next;
	uint32_t i;

	act_table_each(&a->table, e, next)
		if (is_told(e))
			count_one(a, &t, e);
	for (i = 0; i < a->n_devices; i++)
		t.unfit += act_why_unfit(a, a->devices[i].ifindex)[0] != 0;
	t.unfit += act_gone_count(a);
	t.hindered = why_hindered(a);
	t.unable = a->mode == MODE_ACT ? why_unable(a) : "";
	t.acts = act_acts(a) && !t.unable[0];
	a->totals = t;
}

const struct act_totals *act_totals(const struct act *a)
{
	return &a->totals;
}

/* --- begin and end -------------------------------------------------------- */

struct act *act_begin(const struct config *c, struct log *log, struct keep *keep, int64_t now,
		      struct err *e)
{
	struct act *a = calloc(1, sizeof(*a));
	int k;

	if (!a) {
		err_set(e, -ENOMEM, "no memory to pace with");
		return NULL;
	}
	a->config = c;
	a->mode = c->mode;
	a->one_lock = c->one_lock;
	a->subnets = c->subnets;
	a->log = log;
	a->keep = keep;
	a->epoch = 1;
	a->lock = -1;
	a->ticked = now;
	for (k = 0; k < HANDS_KINDS; k++)
		a->by[k].hands.ops = hands_ops(k);
	act_table_init(&a->table);
	act_load(a, now);
	act_know(a, now);
	count(a);
	return a;
}

static void end_hands(struct act_hands *h)
{
	h->hands.ops->close(&h->hands);
	paced_free(&h->now);
	paced_free(&h->want);
}

void act_end(struct act *a)
{
	bool done;
	int k;

	if (!a)
		return;
	act_save(a, true, now_s());
	done = act_is_done(a);
	for (k = 0; k < HANDS_KINDS; k++)
		end_hands(&a->by[k]);
	if (done)
		act_unlock_for_good(a);
	act_unlock(a);
	act_table_free(&a->table);
	free(a->devices);
	free(a->gone);
	free(a->active);
	free(a);
}

/* --- a poll --------------------------------------------------------------- */

struct polling {
	struct act *act;
	int64_t now;
};

static int each_remote(struct remote *r, void *data)
{
	const struct polling *p = data;

	act_remote(p->act, r, p->now);
	return 0;
}

/* A clock that was set back ticks at once, and goes on from there. */
static bool is_tick(struct act *a, int64_t now)
{
	if (now >= a->ticked && now - a->ticked < TICK_S)
		return false;
	a->ticked = now;
	return true;
}

/* Whether the process may by now, and what it may on which device */
static void tick(struct act *a, int64_t now)
{
	act_tick(a, now);
	act_devices_fit(a);
	/* what an earlier run paced is to be taken back */
	if (a->mode == MODE_OBSERVE && !act_is_known(a))
		act_know(a, now);
	if (a->mode != MODE_ACT || !a->unable[0])
		return;
	a->unable[0] = 0;
	act_unknow(a);
}

static void observe(struct act *a, struct remotes *rs, int64_t now)
{
	struct polling p = { a, now };

	act_table_again(&a->table);
	remotes_each(rs, each_remote, &p);
	act_subnets(a, now);
	act_merge(a, rs, now);
}

void act_poll(struct act *a, struct remotes *rs, bool whole, uint64_t now_us, int64_t now)
{
	a->step++;
	a->us = now_us;
	a->let_goes = 0;
	a->hindered[0] = 0;
	if (act_lock_is_removed(a)) {
		act_unlock(a);
		act_unknow(a);
	}
	if (a->anew != a->keep->anew)
		act_load(a, now);
	act_devices_follow(a);
	act_look(a, now);
	if (whole)
		observe(a, rs, now);
	if (is_tick(a, now))
		tick(a, now);
	act_make_room(a, now);
	if (!act_is_known(a) && act_acts(a))
		act_know(a, now);
	act_step(a, now);
	act_hands_tick(a);
	act_unlock_if_done(a);
	act_save(a, false, now);
	act_gone_end(a);
	act_tell_end(a);
	count(a);
	a->epoch += whole;
	log_say(a->log, LOG_DEBUG, "pacing: %u searches, %u paced, %llu us behind the poll",
		a->totals.searches, a->totals.paced, (unsigned long long)(diag_clock() - now_us));
}

/* --- what somebody asks for ----------------------------------------------- */

static void say_taken_back(struct act *a, uint32_t n)
{
	if (n)
		log_say(a->log, LOG_NOTICE,
			"mode = observe: %u remotes or subnets are not paced any more%s", n,
			act_in_force(a) ? "; the others follow" : "");
}

static void change_mode(struct act *a, int64_t now)
{
	uint32_t n;

	a->mode = a->config->mode;
	a->unable[0] = 0;
	if (a->mode == MODE_ACT)
		act_unknow(a);
	if (!act_is_known(a))
		act_know(a, now);
	n = act_in_force(a);
	act_step(a, now);
	act_hands_tick(a);
	act_unlock_if_done(a);
	if (a->mode == MODE_OBSERVE)
		say_taken_back(a, n - act_in_force(a));
}

static void change_lock(struct act *a)
{
	a->one_lock = a->config->one_lock;
	act_devices_anew(a);
}

static void forget_one(struct act *a, struct acting *e)
{
	e->gone = true;
	if (acting_is_subnet(e))
		act_want_hosts(a, e);
	else
		act_want(a, e);
}

static void change_subnets(struct act *a)
{
	struct acting *e, *next;

	a->subnets = a->config->subnets;
	act_table_each(&a->table, e, next)
		if (!a->subnets && acting_is_subnet(e) && !e->gone)
			forget_one(a, e);
}

void act_reload(struct act *a, int64_t now)
{
	a->step++;
	act_devices_reload(a);
	if (a->subnets != a->config->subnets) {
		change_subnets(a);
		act_step(a, now);
	}
	if (a->one_lock != a->config->one_lock)
		change_lock(a);
	if (a->mode != a->config->mode)
		change_mode(a, now);
	act_save(a, false, now);
	act_tell_end(a);
	count(a);
}

uint32_t act_forget(struct act *a, const struct prefix *p, int64_t now)
{
	struct acting *e, *next;
	uint32_t n = 0;

	a->step++;
	act_table_each(&a->table, e, next) {
		if (e->gone || !prefix_holds(p, &e->to))
			continue;
		n += e->force != 0;
		if (e->stood_down)
			act_device_again(a, e->ifindex);
		forget_one(a, e);
	}
	act_step(a, now);
	act_save(a, false, now);
	count(a);
	return n;
}

/* --- what is asked -------------------------------------------------------- */

static const char *unfit_of(const struct act *a, const struct acting *e)
{
	return e->ifindex || !e->dev[0] ? act_why_unfit(a, e->ifindex) : "it is gone";
}

static void fill(const struct act *a, const struct acting *e, struct pacing *p)
{
	const char *unfit = unfit_of(a, e);
	enum hands_kind by = act_forced_by(a, e);

	*p = (struct pacing){
		.to = e->to, .ifindex = e->ifindex, .search = &e->search, .rate = e->force,
		.would = e->force || (!act_acts(a) && *unfit) ? 0 : e->search.rate,
		.reason = e->reason, .since = e->since, .stood_down = e->stood_down ?: "",
		.hands = by != HANDS_NONE ? a->by[by].hands.ops->name : "",
		.unfit = e->search.rate && !e->force ? unfit : "",
	};
	memcpy(p->dev, e->dev, sizeof(p->dev));
}

bool act_find(const struct act *a, const struct prefix *addr, struct pacing *p)
{
	struct prefix subnet = paced_subnet(addr);
	struct acting *e = act_table_find(&a->table, &subnet), *own;

	own = act_table_find(&a->table, addr);
	if (!e || !acting_is_active(e) || (own && own->ifindex != e->ifindex))
		e = own;
	if (!e || !is_told(e))
		return false;
	fill(a, e, p);
	return true;
}

int act_each(const struct act *a, pacing_fn each, void *data)
{
	struct acting *e, *next;
	struct pacing p;
	int rc = 0;

	act_table_each(&a->table, e, next) {
		if (!is_told(e))
			continue;
		fill(a, e, &p);
		rc = each(&p, data);
		if (rc)
			break;
	}
	return rc;
}
