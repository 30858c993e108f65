// SPDX-License-Identifier: GPL-2.0
/*
 * What is done about what was seen, on a host whose kernel is ctcpd_fake.h's: remotes are found,
 * paced and kept; hands that fail, somebody else's changes, restarts, devices that move,
 * subnets, a history that cannot be written.
 */
#include "ctcpd_fake.h"
#include "ctcpd/history_db.h"
#include "ctcpd/run.h"
#include "units.h"

struct world *world;

#define MB	1000000ULL

/* --- the kernel ----------------------------------------------------------- */

char *__wrap_if_indextoname(unsigned int ifindex, char *dev);
unsigned int __wrap_if_nametoindex(const char *dev);
int __wrap_hands_fit(int ifindex, bool one_lock, struct err *e);
int __wrap_hands_look(hand_fn each, void *data, struct err *e);
int __wrap_hands_apply(const struct pace *list, uint32_t n, bool one_lock,
		       struct hands_result *r, struct err *e);
int __wrap_hands_let_go(const struct pace *one, bool device, struct hands_result *r,
			struct err *e);
int __wrap_hands_unrecorded(int ifindex, struct err *e);
int __wrap_hands_takes_device(int ifindex, struct err *e);
int __wrap_hands_read_device(int ifindex, struct hands_device *d, struct err *e);
int __wrap_hands_bpf_can(struct err *e);
int __wrap_hands_bpf_is_pinned(struct err *e);
void __wrap_hands_bpf_drop_others(struct notes *notes);
int __wrap_hands_bpf_open(struct hands_bpf **h, struct err *e);
void __wrap_hands_bpf_close(struct hands_bpf *h);
int __wrap_hands_bpf_apply(struct hands_bpf *h, const struct pace *list, uint32_t n,
			   struct hands_result *r, struct err *e);
int __wrap_hands_bpf_tick(struct hands_bpf *h, struct err *e);
int __wrap_hands_bpf_look(struct hands_bpf *h, hand_fn each, void *data, struct err *e);
bool __wrap_hands_bpf_is_used(const struct hands_bpf *h);
int __wrap_theirs_read(struct theirs *t, struct err *e);
void __wrap_theirs_free(struct theirs *t);
int __wrap_theirs_check(const struct theirs *t, const struct pace *one, const char *dev,
			bool *device, struct err *e);
int __wrap_remotes_each(struct remotes *rs, remote_fn each, void *data);

char *__wrap_if_indextoname(unsigned int ifindex, char *dev)
{
	if (!ifindex || ifindex > WORLD_DEVICES || !world->devices[ifindex - 1][0])
		return NULL;
	return strcpy(dev, world->devices[ifindex - 1]);
}

unsigned int __wrap_if_nametoindex(const char *dev)
{
	unsigned int i;

	for (i = 0; i < WORLD_DEVICES; i++)
		if (*dev && !strcmp(world->devices[i], dev))
			return i + 1;
	return 0;
}

int __wrap_hands_fit(int ifindex, bool one_lock, struct err *e)
{
	world->fits++;
	if (!world->fit_rc || one_lock || (world->fit_device && world->fit_device != ifindex))
		return 0;
	return err_set(e, world->fit_rc, "it has 8 queues");
}

int __wrap_hands_read_device(int ifindex, struct hands_device *d, struct err *e)
{
	char dev[IFNAMSIZ];

	if (!__wrap_if_indextoname((unsigned int)ifindex, dev))
		return err_set(e, -ENODEV, "it is gone");
	*d = world->device;
	return 0;
}

static const struct refusal *refusal_of(const struct pace *p)
{
	uint32_t i;

	for (i = 0; i < world->n_refusals; i++) {
		const struct refusal *f = &world->refusals[i];

		if ((!f->to.family || prefix_equal(&f->to, &p->to)) &&
		    (!f->ifindex || f->ifindex == p->ifindex))
			return f;
	}
	return NULL;
}

static void set(struct paced *p, const struct pace *one)
{
	if (one->rate)
		assert_int_equal(paced_set(p, one), 0);
	else
		paced_clear(p, one->ifindex, &one->to);
}

int __wrap_hands_apply(const struct pace *list, uint32_t n, bool one_lock,
		       struct hands_result *r, struct err *e)
{
	const struct refusal *f;
	uint32_t i;

	memset(r, 0, sizeof(*r));
	r->at = HANDS_NOBODY;
	world->applies++;
	if (!n && world->n_refusals && !world->refusals[0].to.family && !world->refusals[0].ifindex)
		return err_set(e, world->refusals[0].rc, "refused %d",
			       world->refusals[0].rc);
	for (i = 0; i < n; i++) {
		f = refusal_of(&list[i]);
		if (!f || (f->rc == -EOPNOTSUPP && one_lock))
			continue;
		if (f->to.family || f->ifindex)
			r->at = i;
		r->device = f->device;
		return err_set(e, f->rc, "refused %d", f->rc);
	}
	for (i = 0; i < n; i++) {
		const struct pace *is = paced_get(&world->kernel, list[i].ifindex, &list[i].to);

		r->changed += (is ? is->rate : 0) != list[i].rate;
		set(&world->kernel, &list[i]);
		set(&world->state, &list[i]);
	}
	world->settings += r->changed;
	world->batch = n ? n : world->batch;
	return 0;
}

static bool is_changed(const struct prefix *to)
{
	uint32_t i;

	for (i = 0; i < world->n_changed; i++)
		if (prefix_equal(&world->changed[i], to))
			return true;
	return false;
}

int __wrap_hands_look(hand_fn each, void *data, struct err *e)
{
	char dev[IFNAMSIZ];
	uint32_t i;
	int rc = 0;

	world->looks++;
	if (world->look_rc)
		return err_set(e, world->look_rc, "cannot look");
	for (i = 0; i < world->state.n && !rc; i++) {
		struct hand h = { .pace = world->state.list[i] };

		if (!__wrap_if_indextoname((unsigned int)h.pace.ifindex, dev)) {
			h.state = HAND_GONE;
		} else if (is_changed(&h.pace.to) || world->changed_device) {
			h.state = HAND_CHANGED;
			h.device = world->changed_device;
			strcpy(h.why, "the class is 5mbit, and was set to 9mbit");
		}
		rc = each(&h, data);
	}
	return rc;
}

int __wrap_hands_let_go(const struct pace *one, bool device, struct hands_result *r,
			struct err *e)
{
	memset(r, 0, sizeof(*r));
	world->let_goes++;
	if (world->let_go_rc)
		return err_set(e, world->let_go_rc, "not now");
	if (device)
		paced_clear_device(&world->state, one->ifindex);
	else
		paced_clear(&world->state, one->ifindex, &one->to);
	return 0;
}

int __wrap_hands_unrecorded(int ifindex, struct err *e)
{
	(void)ifindex;
	return world->record_rc ? err_set(e, world->record_rc, "no state tells of it") : 0;
}

/* --- sockets -------------------------------------------------------------- */

int __wrap_hands_takes_device(int ifindex, struct err *e)
{
	(void)ifindex;
	return world->takes_rc ? err_set(e, world->takes_rc, "it is a bridge") : 0;
}

int __wrap_hands_bpf_can(struct err *e)
{
	return world->can_rc ? err_set(e, world->can_rc, "there is no BTF") : 0;
}

int __wrap_hands_bpf_is_pinned(struct err *e)
{
	if (world->pinned_rc)
		return err_set(e, world->pinned_rc, "it cannot be looked for");
	if (world->others)
		return err_set(e, -EOPNOTSUPP, "another version has pinned it");
	return world->sockets.n || world->loaded;
}

void __wrap_hands_bpf_drop_others(struct notes *notes)
{
	if (world->others)
		note(notes, "what another version has pinned is unpinned");
	world->others = false;
}

int __wrap_hands_bpf_open(struct hands_bpf **h, struct err *e)
{
	*h = NULL;
	if (world->can_rc || world->open_rc)
		return world->can_rc ? __wrap_hands_bpf_can(e) :
		       err_set(e, world->open_rc, "it needs CAP_BPF");
	assert_false(world->loaded);
	world->loaded = true;
	world->detached = false;
	world->loads++;
	*h = (struct hands_bpf *)world;
	return 0;
}

void __wrap_hands_bpf_close(struct hands_bpf *h)
{
	if (h)
		world->loaded = false;
}

int __wrap_hands_bpf_apply(struct hands_bpf *h, const struct pace *list, uint32_t n,
			   struct hands_result *r, struct err *e)
{
	uint32_t i;

	(void)e;
	assert_ptr_equal(h, world);
	assert_true(world->loaded);
	memset(r, 0, sizeof(*r));
	r->at = HANDS_NOBODY;
	for (i = 0; i < n; i++) {
		const struct pace *is = paced_get(&world->sockets, list[i].ifindex, &list[i].to);

		r->changed += (is ? is->rate : 0) != list[i].rate;
		set(&world->sockets, &list[i]);
	}
	world->socket_settings += r->changed;
	world->socket_batches++;
	return 0;
}

int __wrap_hands_bpf_tick(struct hands_bpf *h, struct err *e)
{
	assert_ptr_equal(h, world);
	world->ticks++;
	return world->tick_rc ? err_set(e, world->tick_rc, "it ended early") : 0;
}

int __wrap_hands_bpf_look(struct hands_bpf *h, hand_fn each, void *data, struct err *e)
{
	uint32_t i;
	int rc = 0;

	(void)e;
	assert_ptr_equal(h, world);
	for (i = 0; i < world->sockets.n && !rc; i++) {
		struct hand hand = { .pace = world->sockets.list[i] };

		if (!__wrap_if_indextoname((unsigned int)hand.pace.ifindex, hand.dev)) {
			hand.state = HAND_GONE;
		} else if (world->detached || is_changed(&hand.pace.to)) {
			hand.state = HAND_CHANGED;
			hand.device = world->detached;
			strcpy(hand.why, "it was detached");
		}
		rc = each(&hand, data);
	}
	return rc;
}

bool __wrap_hands_bpf_is_used(const struct hands_bpf *h)
{
	assert_ptr_equal(h, world);
	return world->sockets.n;
}

int __wrap_theirs_read(struct theirs *t, struct err *e)
{
	(void)t;
	return world->theirs_rc ? err_set(e, world->theirs_rc, "the state cannot be read") : 0;
}

void __wrap_theirs_free(struct theirs *t)
{
	(void)t;
}

int __wrap_theirs_check(const struct theirs *t, const struct pace *one, const char *dev,
			bool *device, struct err *e)
{
	(void)t;
	*device = one->ifindex == world->theirs_device;
	if (*device)
		return err_set(e, -EPERM, "%s has circuit lhc", dev);
	if (prefix_equal(&one->to, &world->theirs))
		return err_set(e, -EPERM, "circuit lhc has it");
	return 0;
}

int __wrap_remotes_each(struct remotes *rs, remote_fn each, void *data)
{
	uint32_t i;
	int rc = 0;

	(void)rs;
	for (i = 0; i < world->n && !rc; i++)
		rc = each(&world->sims[i].remote, data);
	return rc;
}

/* --- the world ------------------------------------------------------------ */

static void begin(struct world *w)
{
	struct err e = { "" };

	keep_open(&w->keep, &w->config, &w->log, w->now);
	w->act = act_begin(&w->config, &w->log, &w->keep, w->now, &e);
	assert_non_null(w->act);
}

/* @clean: as by a signal that it heard of */
static void end(struct world *w, bool clean)
{
	if (!clean)
		w->keep.file[0] = 0;
	act_end(w->act);
	keep_close(&w->keep, w->now);
	w->act = NULL;
}

static void restart(struct world *w)
{
	end(w, true);
	begin(w);
}

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	assert_int_equal(make_place((void **)&w->place), 0);
	world = w;
	setenv("CTCP_RUNDIR", w->place->dir, 1);
	config_defaults(&w->config);
	w->config.mode = MODE_ACT;
	strcpy(w->config.history, w->place->file);
	strcpy(w->devices[0], "eth1");
	strcpy(w->devices[1], "eth2");
	w->now = NOW;
	w->us = 1000000;
	w->can_rc = -EOPNOTSUPP;
	log_open(&w->log, false);
	said_begin(&w->said);
	begin(w);
	*state = w;
	return 0;
}

static int remove_world(void **state)
{
	struct world *w = *state;
	void *place = w->place;

	if (w->act)
		end(w, true);
	said_end(&w->said);
	said_close(&w->said);
	log_close(&w->log);
	paced_free(&w->kernel);
	paced_free(&w->state);
	paced_free(&w->sockets);
	free(w);
	return remove_place(&place);
}

static struct prefix host(uint8_t net, uint8_t n)
{
	return (struct prefix){ AF_INET, 32, { 192, 0, net, n } };
}

static struct sim *remote(struct world *w, uint8_t net, uint8_t n, uint64_t takes)
{
	struct sim *s = &w->sims[w->n++];

	assert_true(w->n <= WORLD_REMOTES);
	s->takes = takes;
	s->remote.addr = host(net, n);
	s->remote.ifindex = 1;
	s->remote.began_us = w->us + 1;
	s->remote.now.mss = 1448;
	s->remote.now.min_rtt_us = 47000;
	return s;
}

/* bytes/s at which the kernel paces it, 0 = it does not */
static uint64_t rate_of(const struct world *w, const struct sim *s)
{
	const struct pace *p = paced_find(&w->kernel, (int)s->remote.ifindex, &s->remote.addr);

	return p ? p->rate : 0;
}

static uint64_t socket_rate_of(const struct world *w, const struct sim *s)
{
	const struct pace *p = paced_find(&w->sockets, (int)s->remote.ifindex, &s->remote.addr);

	return p ? p->rate : 0;
}

/* By both the lower one holds */
static uint64_t held_at(const struct world *w, const struct sim *s)
{
	uint64_t class = rate_of(w, s), socket = socket_rate_of(w, s);

	return !socket || (class && class < socket) ? class : socket;
}

static uint32_t active(const struct world *w, const struct sim *s)
{
	uint32_t i, n = 0;

	for (i = 0; i < w->n; i++)
		n += !w->sims[i].idle && w->sims[i].shares &&
		     w->sims[i].remote.addr.addr[2] == s->remote.addr.addr[2];
	return n;
}

/* What is above what it takes is lost, and then it carries 4 of 5. */
static void loses_a_tenth(struct remote *r, uint64_t bytes)
{
	uint32_t segs = (uint32_t)(bytes / 1448);

	r->now.retrans += segs / 10;
	r->apart = (struct remote_apart){
		.acked = bytes / 10 * 9, .of = bytes, .segs = segs / 10 * 9,
	};
}

static void sends(struct world *w, struct sim *s)
{
	struct judgement *j = &s->remote.now;
	uint64_t rate = held_at(w, s), takes = s->takes, bytes;
	bool loses;

	if (s->shares && s->shares / active(w, s) < takes)
		takes = s->shares / active(w, s);
	loses = !s->gentle && (!rate || rate > takes);
	bytes = loses ? takes * 4 / 5 : rate && rate < takes ? rate : takes;
	bytes = bytes * POLL_S / 1514 * 1448;
	j->acked += bytes;
	j->segs += (uint32_t)(bytes / 1448);
	j->retrans += loses ? (uint32_t)(bytes / 1448 / 100) : 0;
	j->verdict = loses ? VERDICT_OVERRUN : VERDICT_CLEAN;
	j->best_rate = takes;
	if (s->loser)
		loses_a_tenth(&s->remote, bytes);
	s->remote.flows = 1;
	s->remote.seen_us = w->us;
}

static void poll_one(struct world *w, bool whole)
{
	uint32_t i;

	w->now += POLL_S;
	w->us += POLL_S * 1000000;
	for (i = 0; i < w->n && whole; i++) {
		w->sims[i].remote.flows = 0;
		if (!w->sims[i].idle)
			sends(w, &w->sims[i]);
	}
	act_poll(w->act, NULL, whole, w->us, w->now);
}

static void polls(struct world *w, uint32_t n)
{
	while (n--)
		poll_one(w, true);
}

/* Until it is paced; it takes so long that it is found */
static void find_all(struct world *w)
{
	polls(w, 12);
}

static void settle_all(struct world *w)
{
	polls(w, 200);
}

static struct acting *acting_of(const struct world *w, const struct sim *s)
{
	struct acting *e = act_table_find(&w->act->table, &s->remote.addr);

	assert_non_null(e);
	return e;
}

static uint32_t said(struct world *w, const char *what)
{
	return said_times(&w->said, what);
}

static void assert_said(struct world *w, const char *what, uint32_t times)
{
	uint32_t n = said(w, what);

	if (n != times)
		print_message("\"%s\": expected %u times, got %u, in:\n%s\n", what, times, n,
			      w->said.text);
	assert_int_equal(n, times);
}

static void refuse(struct world *w, const struct prefix *to, int ifindex, int rc, bool device)
{
	struct refusal *f = &w->refusals[w->n_refusals++];

	*f = (struct refusal){ .ifindex = ifindex, .rc = rc, .device = device };
	if (to)
		f->to = *to;
}

/* --- observations --------------------------------------------------------- */

static struct remote counters(uint64_t seen_us, uint64_t acked, uint32_t segs, uint32_t retrans)
{
	struct remote r = { .addr = host(2, 7), .began_us = 1000, .seen_us = seen_us };

	r.now.acked = acked;
	r.now.segs = segs;
	r.now.retrans = retrans;
	r.now.mss = 1448;
	r.now.app = 17;
	r.now.verdict = VERDICT_OVERRUN;
	r.now.best_rate = 1448000;
	r.now.min_rtt_us = 4711;
	return r;
}

static void next(struct remote *r, uint64_t seen_us, uint64_t acked, uint32_t segs,
		 uint32_t retrans)
{
	struct remote_seen before = r->before;

	*r = counters(seen_us, acked, segs, retrans);
	r->before = before;
}

static void differences(void **state)
{
	struct remote r = counters(1000, 1448000, 1000, 10);
	struct observation o;

	(void)state;
	assert_false(act_observe(&r, 1, NOW, &o));
	next(&r, 6000, 1448000 + 14480, 1010, 13);
	assert_true(act_observe(&r, 2, NOW + 5, &o));
	assert_int_equal(o.at, NOW + 5);
	assert_int_equal(o.us, 5000);
	/* ten segments, each with 14 + 20 + 32 bytes of headers */
	assert_int_equal(o.acked, 15140);
	assert_int_equal(o.segs, 10);
	assert_int_equal(o.retrans, 3);
	assert_int_equal(o.best_rate, 1514000);
	assert_int_equal(o.app, 17);
	assert_int_equal(o.min_rtt_us, 4711);
	assert_int_equal(o.verdict, VERDICT_OVERRUN);
	assert_int_equal(o.paced, 0);
	r.addr.family = AF_INET6;
	next(&r, 7000, 1448000 + 2 * 14480, 1020, 13);
	r.addr.family = AF_INET6;
	assert_true(act_observe(&r, 3, NOW + 5, &o));
	assert_int_equal(o.acked, 15340);
}

/* Of flows of which most lost nothing; where they carried less than half, all count */
static void few_do_not_count(void **state)
{
	struct remote r = counters(1000, 1448000, 1000, 10);
	struct observation o;

	(void)state;
	act_observe(&r, 1, NOW, &o);
	next(&r, 6000, 1448000 + 14480, 1010, 13);
	r.apart = (struct remote_apart){ .acked = 8000, .of = 14480, .segs = 6, .retrans = 1 };
	assert_true(act_observe(&r, 2, NOW + 5, &o));
	assert_int_equal(o.acked, 15140);
	assert_int_equal(o.segs, 6);
	assert_int_equal(o.retrans, 1);
	next(&r, 11000, 1448000 + 2 * 14480, 1020, 16);
	r.apart = (struct remote_apart){ .acked = 7240, .of = 14480, .segs = 5, .retrans = 0 };
	assert_true(act_observe(&r, 3, NOW + 10, &o));
	assert_int_equal(o.segs, 10);
	assert_int_equal(o.retrans, 3);
}

static void nothing_to_compare_with(void **state)
{
	struct remote r = counters(1000, 1000, 10, 1);
	struct observation o;

	(void)state;
	assert_false(act_observe(&r, 5, NOW, &o));
	/* no flow in this poll, and then one */
	assert_false(act_observe(&r, 6, NOW, &o));
	next(&r, 3000, 2000, 20, 1);
	assert_false(act_observe(&r, 7, NOW, &o));
	next(&r, 4000, 3000, 30, 1);
	assert_true(act_observe(&r, 8, NOW, &o));
	/* another visit */
	next(&r, 5000, 4000, 40, 1);
	r.began_us = 4500;
	assert_false(act_observe(&r, 9, NOW, &o));
	next(&r, 6000, 4100, 41, 1);
	r.began_us = 4500;
	assert_true(act_observe(&r, 10, NOW, &o));
	assert_int_equal(o.segs, 1);
	/* counters that went back */
	next(&r, 7000, 4200, 40, 1);
	r.began_us = 4500;
	assert_false(act_observe(&r, 11, NOW, &o));
}

static void hosts_add_up(void **state)
{
	const struct observation a = { .at = 1, .verdict = VERDICT_CLEAN, .us = 5000,
		.acked = 3000, .segs = 30, .retrans = 1, .best_rate = 10, .min_rtt_us = 900,
		.app = 100 };
	const struct observation b = { .at = 1, .verdict = VERDICT_OVERRUN, .us = 4000,
		.acked = 9000, .segs = 90, .retrans = 2, .best_rate = 5, .min_rtt_us = 700,
		.app = 500 };
	struct observation sum = { 0 };

	(void)state;
	act_observe_add(&sum, &a);
	act_observe_add(&sum, &b);
	assert_int_equal(sum.us, 5000);
	assert_int_equal(sum.acked, 12000);
	assert_int_equal(sum.segs, 120);
	assert_int_equal(sum.retrans, 3);
	assert_int_equal(sum.verdict, VERDICT_OVERRUN);
	assert_int_equal(sum.best_rate, 10);
	assert_int_equal(sum.min_rtt_us, 700);
	assert_int_equal(sum.app, 400);
}

/* --- found, paced, kept --------------------------------------------------- */

/* Ten polls that say it, behind the first, which is compared with nothing */
static void found_after_ten(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	polls(w, 10);
	assert_int_equal(rate_of(w, s), 0);
	assert_false(s->remote.paced);
	polls(w, 1);
	/* the best that was carried */
	assert_in_range(rate_of(w, s), 799 * MB / 10, 80 * MB);
	polls(w, 1);
	assert_true(s->remote.paced);
	assert_said(w, "192.0.2.7: paced at 640mbit: it is overrun; the best rate", 1);
	assert_said(w, "; 1% resent\n", 1);
}

static void keeps_what_it_takes(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	const struct act_totals *t;
	struct pacing p;

	settle_all(w);
	assert_in_range(rate_of(w, s), 98 * MB, 99 * MB);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_int_equal(p.search->state, SEARCH_KEPT);
	assert_int_equal(p.rate, rate_of(w, s));
	assert_int_equal(p.would, 0);
	assert_string_equal(p.dev, "eth1");
	t = act_totals(w->act);
	assert_true(t->acts);
	assert_int_equal(t->paced, 1);
	assert_int_equal(t->kept, 1);
	assert_int_equal(t->searches, 1);
	assert_int_equal(t->paced_changes, w->settings);
	assert_said(w, "hardly retransmits; 1% resent before, 0% now", 1);
	/* a line for each rate that was set, and one that it is kept */
	assert_in_range(said(w, "192.0.2.7: "), w->settings, w->settings + 1);
	polls(w, 20);
	assert_in_range(said(w, "192.0.2.7: "), w->settings, w->settings + 1);
}

/* One user of an address loses for hours: the others have the rate that was found. */
static void one_of_many_loses(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate;
	uint32_t i;

	settle_all(w);
	rate = rate_of(w, s);
	assert_in_range(rate, 98 * MB, 99 * MB);
	s->loser = true;
	for (i = 0; i < 100; i++) {
		polls(w, 1);
		if (rate_of(w, s) < rate)
			fail_msg("expected no less than %llu, got %llu after %u polls",
				 (unsigned long long)rate, (unsigned long long)rate_of(w, s), i);
	}
}

static void others_are_left(void **state)
{
	struct world *w = *state;
	struct sim *near = remote(w, 2, 7, 100 * MB), *nowhere = remote(w, 2, 8, 100 * MB);
	struct pacing p;

	near->remote.now.min_rtt_us = 999;
	nowhere->remote.ifindex = 0;
	settle_all(w);
	assert_int_equal(w->kernel.n, 0);
	assert_false(act_find(w->act, &near->remote.addr, &p));
	assert_false(act_find(w->act, &nowhere->remote.addr, &p));
	assert_int_equal(act_totals(w->act)->searches, 0);
}

/* A poll that failed is none; what changed in it makes the interval mixed */
static void failed_polls(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct acting *e;

	find_all(w);
	e = acting_of(w, s);
	polls(w, 1);
	assert_int_equal(e->search.now.n, 1);
	poll_one(w, false);
	poll_one(w, true);
	assert_int_equal(e->search.now.n, 2);
	e->changed = w->act->epoch;
	poll_one(w, true);
	assert_int_equal(e->search.now.n, 2);
	poll_one(w, true);
	assert_int_not_equal(rate_of(w, s), 80 * MB);
}

/* --- observe -------------------------------------------------------------- */

static void observe_sets_nothing(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct pacing p;

	w->config.mode = MODE_OBSERVE;
	act_reload(w->act, w->now);
	w->applies = 0;
	settle_all(w);
	assert_int_equal(w->applies + w->let_goes, 0);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_int_equal(p.rate, 0);
	assert_in_range(p.would, 799 * MB / 10, 80 * MB);
	assert_false(act_totals(w->act)->acts);
	assert_string_equal(act_totals(w->act)->unable, "");
	assert_said(w, "192.0.2.7: would be paced at 640mbit: it is overrun", 1);
	restart(w);
	settle_all(w);
	assert_said(w, "would be paced", 1);
}

static void there_and_back(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate;

	settle_all(w);
	rate = rate_of(w, s);
	w->config.mode = MODE_OBSERVE;
	act_reload(w->act, w->now);
	assert_int_equal(rate_of(w, s), 0);
	assert_int_equal(act_totals(w->act)->paced, 0);
	assert_said(w, "mode = observe: 1 remotes or subnets are not paced any more\n", 1);
	polls(w, 5);
	assert_int_equal(rate_of(w, s), 0);
	w->config.mode = MODE_ACT;
	act_reload(w->act, w->now);
	assert_int_equal(rate_of(w, s), rate);
}

/* A ctcp-setup is at work when the mode becomes another: with the next poll */
static void taken_back_later(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	find_all(w);
	w->config.mode = MODE_OBSERVE;
	refuse(w, NULL, 0, -EAGAIN, false);
	act_reload(w->act, w->now);
	assert_int_not_equal(rate_of(w, s), 0);
	w->n_refusals = 0;
	polls(w, 1);
	assert_int_equal(rate_of(w, s), 0);
}

static void begun_in_observe_behind_act(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	find_all(w);
	end(w, false);
	w->config.mode = MODE_OBSERVE;
	begin(w);
	polls(w, 1);
	assert_int_equal(rate_of(w, s), 0);
}

/* --- hands that fail ------------------------------------------------------ */

/* What is under /run cannot be written to: what is paced stays so, and nothing new is paced. */
static void cannot_keep_a_change(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *new;
	uint64_t rate;

	settle_all(w);
	rate = rate_of(w, s);
	assert_string_equal(act_totals(w->act)->hindered, "");
	refuse(w, NULL, 0, -ENOSPC, false);
	new = remote(w, 2, 8, 50 * MB);
	polls(w, 20);
	assert_int_equal(rate_of(w, s), rate);
	assert_int_equal(rate_of(w, new), 0);
	assert_true(act_totals(w->act)->acts);
	assert_string_equal(act_totals(w->act)->unable, "");
	assert_string_equal(act_totals(w->act)->hindered,
			    "pacing by classes cannot be changed: refused -28");
	assert_said(w, "refused -28; what is paced stays so, and it is tried again", 1);
	w->n_refusals = 0;
	polls(w, 1);
	assert_int_not_equal(rate_of(w, new), 0);
	assert_string_equal(act_totals(w->act)->hindered, "");
}

/* It has no lock, and so changes nothing: it does not say that it acts. */
static void begins_where_nothing_can_be_kept(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	char none[128];
	uint64_t rate;

	settle_all(w);
	rate = rate_of(w, s);
	end(w, true);
	snprintf(none, sizeof(none), "%s/none", w->place->dir);
	setenv("CTCP_RUNDIR", none, 1);
	refuse(w, NULL, 0, -EROFS, false);
	begin(w);
	polls(w, 5);
	assert_false(act_totals(w->act)->acts);
	assert_string_equal(act_totals(w->act)->unable,
			    "pacing by classes cannot be changed: refused -30");
	assert_int_equal(rate_of(w, s), rate);
	assert_said(w, "pacing by classes cannot be changed: refused -30; what is paced", 1);
	/* with the next poll, not the next minute */
	setenv("CTCP_RUNDIR", w->place->dir, 1);
	w->n_refusals = 0;
	polls(w, 1);
	assert_true(act_totals(w->act)->acts);
	assert_int_equal(act_totals(w->act)->paced, 1);
	assert_int_equal(rate_of(w, s), rate);
}

/* Of nothing it does not act for a moment: another ctcp-setup is at work */
static void begins_beside_one_at_work(void **state)
{
	struct world *w = *state;

	end(w, true);
	refuse(w, NULL, 0, -EAGAIN, false);
	begin(w);
	assert_true(act_totals(w->act)->acts);
	assert_string_equal(act_totals(w->act)->hindered, "");
	w->n_refusals = 0;
	refuse(w, NULL, 0, -EALREADY, false);
	polls(w, 1);
	assert_true(act_totals(w->act)->acts);
	assert_string_equal(act_totals(w->act)->hindered,
			    "pacing by classes cannot be changed: refused -114");
}

static void one_is_somebody_elses(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 2, 8, 50 * MB);
	struct pacing p;
	uint32_t applies;

	refuse(w, &s->remote.addr, 0, -EPERM, false);
	polls(w, 11);
	assert_int_equal(rate_of(w, s), 0);
	assert_int_not_equal(rate_of(w, other), 0);
	assert_said(w, "192.0.2.7: not paced by ctcpd, and left alone for 24 h: refused -1", 1);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_string_equal(p.stood_down, "refused -1");
	assert_int_equal(p.search->state, SEARCH_TAKEN_BACK);
	assert_int_equal(act_totals(w->act)->stood_down, 1);
	settle_all(w);
	applies = w->applies;
	polls(w, 100);
	/* nothing is to be changed, and nothing is asked for */
	assert_int_equal(w->applies, applies);
	assert_said(w, "left alone", 1);
	/* and after a day once more */
	w->now += DAY;
	w->n_refusals = 0;
	polls(w, 15);
	assert_int_not_equal(rate_of(w, s), 0);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_string_equal(p.stood_down, "");
}

static void device_is_somebody_elses(void **state)
{
	struct world *w = *state;
	uint32_t i;

	for (i = 0; i < 40; i++)
		remote(w, (uint8_t)i, 7, 100 * MB);
	remote(w, 50, 7, 100 * MB)->remote.ifindex = 2;
	refuse(w, NULL, 1, -EPERM, true);
	polls(w, 11);
	assert_int_equal(w->kernel.n, 1);
	assert_said(w, "eth1: not paced by ctcpd, and left alone for 24 h (remotes: 40)", 1);
	assert_said(w, "left alone", 1);
	assert_int_equal(act_totals(w->act)->stood_down, 40);
}

static void unfit_device(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 2, 8, 100 * MB);
	struct pacing p;

	other->remote.ifindex = 2;
	w->fit_device = 1;
	w->fit_rc = -EOPNOTSUPP;
	settle_all(w);
	assert_int_equal(rate_of(w, s), 0);
	assert_int_not_equal(rate_of(w, other), 0);
	assert_said(w, "nothing is paced on eth1: it has 8 queues; there is no BTF\n", 1);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_in_range(p.would, 799 * MB / 10, 80 * MB);
	assert_int_equal(act_totals(w->act)->stood_down, 0);
	/* its operator allows one lock */
	w->config.one_lock = true;
	act_reload(w->act, w->now);
	polls(w, 1);
	assert_int_not_equal(rate_of(w, s), 0);
}

static void device_becomes_fit(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	refuse(w, NULL, 1, -EOPNOTSUPP, false);
	w->fit_rc = -EOPNOTSUPP;
	settle_all(w);
	assert_int_equal(rate_of(w, s), 0);
	w->n_refusals = 0;
	w->fit_rc = 0;
	polls(w, 13);
	assert_int_not_equal(rate_of(w, s), 0);
	assert_said(w, "on eth1 remotes can be paced by classes now", 1);
}

/* --- by sockets ----------------------------------------------------------- */

/* Of eth1 classes do not fit, of eth2 they do */
static void begin_sockets(struct world *w)
{
	w->fit_device = 1;
	w->fit_rc = -EOPNOTSUPP;
	w->can_rc = 0;
}

static void each_by_its_hands(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 2, 8, 100 * MB);
	const struct act_totals *t;
	struct pacing p;

	other->remote.ifindex = 2;
	begin_sockets(w);
	settle_all(w);
	assert_int_equal(rate_of(w, s), 0);
	assert_in_range(socket_rate_of(w, s), 98 * MB, 99 * MB);
	assert_int_equal(socket_rate_of(w, other), 0);
	assert_in_range(rate_of(w, other), 98 * MB, 99 * MB);
	t = act_totals(w->act);
	assert_int_equal(t->paced, 2);
	assert_int_equal(t->paced_by[HANDS_CLASSES], 1);
	assert_int_equal(t->paced_by[HANDS_SOCKETS], 1);
	assert_int_equal(t->unfit, 0);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_string_equal(p.hands, "sockets");
	assert_string_equal(p.unfit, "");
	assert_true(act_find(w->act, &other->remote.addr, &p));
	assert_string_equal(p.hands, "classes");
	assert_said(w, "on eth1 remotes are paced by sockets, not by classes: it has 8 queues\n",
		    1);
	assert_said(w, "are paced by sockets", 1);
}

/* What is paced has its rates divided anew with each poll; nothing is loaded for nothing. */
static void loaded_while_it_is_used(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint32_t ticks;

	begin_sockets(w);
	polls(w, 10);
	assert_int_equal(w->loads, 0);
	settle_all(w);
	assert_int_equal(w->loads, 1);
	ticks = w->ticks;
	polls(w, 7);
	poll_one(w, false);
	assert_int_equal(w->ticks, ticks + 8);
	act_forget(w->act, &s->remote.addr, w->now);
	assert_int_equal(w->sockets.n, 0);
	s->idle = true;
	polls(w, 1);
	assert_false(w->loaded);
}

static void division_fails(void **state)
{
	struct world *w = *state;

	remote(w, 2, 7, 100 * MB);
	begin_sockets(w);
	settle_all(w);
	w->tick_rc = -ENOMEM;
	polls(w, 3);
	assert_int_equal(act_totals(w->act)->failed, 3);
	assert_said(w, "pacing by sockets cannot be changed: it ended early", 1);
	assert_true(w->loaded);
}

static int device_is(const struct pacing_device *d, void *data)
{
	const struct pacing_device *want = data;

	if (strcmp(d->dev, want->dev))
		return 0;
	assert_string_equal(d->hands, want->hands);
	assert_string_equal(d->why, want->why);
	return 1;
}

static void assert_device(struct world *w, const char *dev, const char *hands, const char *why)
{
	struct pacing_device want = { dev, hands, why };

	assert_int_equal(act_devices_each(w->act, device_is, &want), 1);
}

/* Others are paced all the same; it is said once, and paced when it can be. */
static void sockets_cannot(struct world *w, int *rc, int code, const char *why)
{
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 2, 8, 100 * MB);
	char text[128];
	struct pacing p;

	other->remote.ifindex = 2;
	begin_sockets(w);
	*rc = code;
	settle_all(w);
	assert_int_equal(w->sockets.n, 0);
	assert_in_range(rate_of(w, other), 98 * MB, 99 * MB);
	assert_true(act_totals(w->act)->acts);
	assert_int_equal(act_totals(w->act)->failed, 0);
	assert_int_equal(act_totals(w->act)->unfit, 1);
	snprintf(text, sizeof(text), "it has 8 queues; %s", why);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_string_equal(p.unfit, text);
	assert_string_equal(p.hands, "");
	assert_device(w, "eth1", "", text);
	assert_device(w, "eth2", "classes", "");
	assert_said(w, text, 1);
	assert_said(w, "nothing is paced on eth1", 1);
	*rc = 0;
	polls(w, 13);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	assert_int_equal(act_totals(w->act)->unfit, 0);
	assert_said(w, "on eth1 remotes can be paced by sockets now", 1);
	assert_device(w, "eth1", "sockets", "it has 8 queues");
}

static void kernel_cannot(void **state)
{
	struct world *w = *state;

	sockets_cannot(w, &w->can_rc, -EOPNOTSUPP, "there is no BTF");
}

static void process_may_not(void **state)
{
	struct world *w = *state;

	sockets_cannot(w, &w->open_rc, -EACCES, "it needs CAP_BPF");
}

/* /sys is read-only, say: whatever it is, classes go on */
static void cannot_be_pinned(void **state)
{
	struct world *w = *state;

	sockets_cannot(w, &w->open_rc, -EROFS, "it needs CAP_BPF");
}

/* Neither bridges nor the loopback */
static void no_device_for_sockets(void **state)
{
	struct world *w = *state;

	remote(w, 2, 7, 100 * MB);
	begin_sockets(w);
	w->takes_rc = -EOPNOTSUPP;
	settle_all(w);
	assert_int_equal(w->loads, 0);
	assert_said(w, "nothing is paced on eth1: it has 8 queues; it is a bridge\n", 1);
}

/* Another process has the program: with the next poll, and no other hands are looked for */
static void sockets_later(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	begin_sockets(w);
	w->open_rc = -EAGAIN;
	polls(w, 14);
	assert_int_equal(w->sockets.n, 0);
	assert_int_equal(act_totals(w->act)->unfit, 0);
	w->open_rc = 0;
	polls(w, 1);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	assert_said(w, "nothing is paced on", 0);
}

/* What it cannot do without a try is not tried, and nothing is loaded. */
static void observe_loads_nothing(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct pacing p;

	w->config.mode = MODE_OBSERVE;
	act_reload(w->act, w->now);
	begin_sockets(w);
	w->open_rc = -EACCES;
	settle_all(w);
	assert_int_equal(w->loads + w->ticks, 0);
	assert_said(w, "192.0.2.7: would be paced at 640mbit: it is overrun", 1);
	assert_said(w, "are paced by sockets", 0);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_int_not_equal(p.would, 0);
	/* it may by now */
	w->open_rc = 0;
	w->config.mode = MODE_ACT;
	act_reload(w->act, w->now);
	assert_int_not_equal(socket_rate_of(w, s), 0);
}

static void observe_says_what_cannot(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct pacing p;

	w->config.mode = MODE_OBSERVE;
	act_reload(w->act, w->now);
	begin_sockets(w);
	w->can_rc = -EOPNOTSUPP;
	settle_all(w);
	assert_said(w, "would be paced", 0);
	assert_said(w, "nothing is paced on eth1: it has 8 queues; there is no BTF", 1);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_int_equal(p.would, 0);
}

static void sockets_outlive_restarts(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint32_t settings, lines;
	uint64_t rate;

	begin_sockets(w);
	settle_all(w);
	rate = socket_rate_of(w, s);
	settings = w->socket_settings;
	lines = said(w, "192.0.2.7");
	restart(w);
	polls(w, 5);
	assert_int_equal(socket_rate_of(w, s), rate);
	end(w, false);
	strcpy(w->config.history, w->place->file);
	assert_false(w->loaded);
	begin(w);
	polls(w, 5);
	assert_int_equal(w->socket_settings, settings);
	assert_int_equal(socket_rate_of(w, s), rate);
	assert_int_equal(said(w, "192.0.2.7"), lines);
	assert_int_equal(acting_of(w, s)->force, rate);
	/* what is pinned tells it, without a history */
	end(w, true);
	assert_int_equal(unlink(w->place->file), 0);
	begin(w);
	polls(w, 20);
	assert_int_equal(socket_rate_of(w, s), rate);
	assert_int_equal(w->socket_settings, settings);
}

static void sockets_are_taken_back(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	begin_sockets(w);
	settle_all(w);
	w->config.mode = MODE_OBSERVE;
	act_reload(w->act, w->now);
	assert_int_equal(w->sockets.n, 0);
	assert_false(w->loaded);
	assert_said(w, "mode = observe: 1 remotes or subnets are not paced any more\n", 1);
	assert_int_equal(w->act->lock, -1);
	w->config.mode = MODE_ACT;
	act_reload(w->act, w->now);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	/* by one that began so, behind one that was killed */
	end(w, false);
	w->config.mode = MODE_OBSERVE;
	begin(w);
	polls(w, 1);
	assert_int_equal(w->sockets.n, 0);
	assert_false(w->loaded);
}

/*
 * An earlier run paced by sockets, and this one only observes: as long as *@rc is @error all stays,
 * of which it is said once @why, and it is taken back afterwards.
 */
static void stays_while(struct world *w, int *rc, int error, const char *why)
{
	struct sim *s = remote(w, 2, 7, 100 * MB);
	char said[160];

	begin_sockets(w);
	settle_all(w);
	assert_said(w, "can be looked at again", 0);
	end(w, true);
	*rc = error;
	w->config.mode = MODE_OBSERVE;
	begin(w);
	polls(w, 30);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	snprintf(said, sizeof(said),
		 "what an earlier run may have paced stays, as it cannot be looked at: %s", why);
	assert_said(w, said, 1);
	assert_said(w, "can be looked at again", 0);
	*rc = 0;
	polls(w, 13);
	assert_int_equal(w->sockets.n, 0);
	assert_said(w, "what sockets pace can be looked at again", 1);
}

/* What an earlier run has pinned, and this one may not load */
static void sockets_stay(void **state)
{
	struct world *w = *state;

	stays_while(w, &w->open_rc, -EACCES, "it needs CAP_BPF");
}

/* What it may not see is not nothing. */
static void pins_cannot_be_seen(void **state)
{
	struct world *w = *state;

	stays_while(w, &w->pinned_rc, -EOPNOTSUPP, "it cannot be looked for");
}

/* As any user finds it where nobody has paced since the machine was booted: no word of it */
static void nothing_can_be_pinned(void **state)
{
	struct world *w = *state;
	char none[128];

	end(w, true);
	snprintf(none, sizeof(none), "%s/none", w->place->dir);
	setenv("CTCP_RUNDIR", none, 1);
	w->pinned_rc = -EOPNOTSUPP;
	w->config.mode = MODE_OBSERVE;
	begin(w);
	polls(w, 30);
	assert_said(w, "may have paced stays", 0);
}

/* One that acts has its classes, and nothing has failed. */
static void acts_without_seeing_pins(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	end(w, true);
	w->pinned_rc = -EOPNOTSUPP;
	begin(w);
	settle_all(w);
	assert_int_not_equal(rate_of(w, s), 0);
	assert_true(act_totals(w->act)->acts);
	assert_int_equal(act_totals(w->act)->failed, 0);
	assert_said(w, "what an earlier run may have paced stays", 1);
}

static void another_versions_pins(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	end(w, true);
	begin_sockets(w);
	w->others = true;
	w->config.mode = MODE_OBSERVE;
	begin(w);
	polls(w, 30);
	assert_true(w->others);
	assert_said(w, "as it cannot be looked at: another version has pinned it", 1);
	w->config.mode = MODE_ACT;
	act_reload(w->act, w->now);
	assert_false(w->others);
	assert_said(w, "what another version has pinned is unpinned", 1);
	settle_all(w);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	assert_said(w, "another version", 2);
}

/* Begun so with what is to be paced already: no word of what is not so */
static void may_not_from_the_history(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	w->fit_device = 9;
	w->fit_rc = -EOPNOTSUPP;
	settle_all(w);
	end(w, true);
	paced_clear_device(&w->kernel, 1);
	paced_clear_device(&w->state, 1);
	begin_sockets(w);
	w->open_rc = -EACCES;
	begin(w);
	polls(w, 20);
	assert_int_equal(socket_rate_of(w, s), 0);
	assert_said(w, "nothing is paced on eth1: it has 8 queues; it needs CAP_BPF\n", 1);
	assert_said(w, "are paced by sockets", 0);
}

/* From one kind to the other, and back: between runs, and by a reload */
static void other_hands(struct world *w, bool restarts)
{
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate;

	w->can_rc = 0;
	settle_all(w);
	rate = rate_of(w, s);
	assert_int_not_equal(rate, 0);
	if (restarts)
		end(w, true);
	w->fit_rc = -EOPNOTSUPP;
	if (restarts)
		begin(w);
	/* what it has by classes stays until they are to set another one */
	polls(w, restarts ? 1 : 0);
	assert_int_equal(socket_rate_of(w, s), restarts ? rate : 0);
	assert_int_equal(rate_of(w, s), restarts ? 0 : rate);
	if (restarts)
		restart(w);
	w->config.one_lock = true;
	act_reload(w->act, w->now);
	polls(w, 1);
	assert_int_equal(w->sockets.n, 0);
	assert_false(w->loaded);
	assert_int_equal(rate_of(w, s), rate);
	w->config.one_lock = false;
	act_reload(w->act, w->now);
	polls(w, 1);
	assert_int_equal(w->kernel.n, 0);
	assert_int_equal(socket_rate_of(w, s), rate);
	assert_said(w, "not paced any more", 0);
	/* its queues are fewer */
	w->fit_rc = 0;
	polls(w, 13);
	assert_int_equal(rate_of(w, s), rate);
	assert_int_equal(w->sockets.n, 0);
}

static void other_hands_between_runs(void **state)
{
	other_hands(*state, true);
}

static void other_hands_in_a_run(void **state)
{
	other_hands(*state, false);
}

/* What it has by one kind goes when the other has it */
static void other_hands_cannot_yet(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate;

	begin_sockets(w);
	settle_all(w);
	rate = socket_rate_of(w, s);
	assert_int_not_equal(rate, 0);
	refuse(w, NULL, 0, -EALREADY, false);
	w->config.one_lock = true;
	act_reload(w->act, w->now);
	polls(w, 3);
	assert_int_equal(w->kernel.n, 0);
	assert_int_equal(socket_rate_of(w, s), rate);
	w->n_refusals = 0;
	polls(w, 1);
	assert_int_equal(rate_of(w, s), rate);
	assert_int_equal(w->sockets.n, 0);
	/* and the other way */
	w->open_rc = -EAGAIN;
	w->config.one_lock = false;
	act_reload(w->act, w->now);
	polls(w, 3);
	assert_int_equal(w->sockets.n, 0);
	assert_int_equal(rate_of(w, s), rate);
	w->open_rc = 0;
	polls(w, 1);
	assert_int_equal(socket_rate_of(w, s), rate);
	assert_int_equal(w->kernel.n, 0);
	/* what nobody wants goes at once */
	act_forget(w->act, &s->remote.addr, w->now);
	assert_int_equal(w->sockets.n, 0);
}

/* It has more queues by now, which the next change by classes meets */
static void classes_fit_no_more(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *later = remote(w, 2, 8, 100 * MB);

	w->can_rc = 0;
	later->idle = true;
	settle_all(w);
	assert_int_not_equal(rate_of(w, s), 0);
	later->idle = false;
	polls(w, 8);
	w->fit_rc = -EOPNOTSUPP;
	refuse(w, &later->remote.addr, 0, -EOPNOTSUPP, false);
	polls(w, 4);
	assert_int_equal(w->kernel.n, 0);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	assert_int_not_equal(socket_rate_of(w, later), 0);
	assert_said(w, "on eth1 remotes are paced by sockets, not by classes: refused -95", 1);
	w->n_refusals = 0;
	w->fit_rc = 0;
	polls(w, 13);
	assert_int_not_equal(rate_of(w, s), 0);
	assert_int_equal(w->sockets.n, 0);
}

/* A device that is down is no reason to go to others */
static void hands_stay_while_it_is_down(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint32_t settings;

	begin_sockets(w);
	settle_all(w);
	settings = w->socket_settings;
	w->fit_rc = -ENETDOWN;
	polls(w, 13);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	assert_int_equal(w->socket_settings, settings);
	assert_int_equal(w->kernel.n, 0);
}

/* Without a link its speed is not known, and so not what fits it. */
static void nothing_is_chosen_without_a_link(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	begin_sockets(w);
	w->can_rc = -EOPNOTSUPP;
	settle_all(w);
	assert_int_equal(act_totals(w->act)->unfit, 1);
	w->fit_rc = -ENETDOWN;
	w->can_rc = 0;
	polls(w, 13);
	assert_int_equal(w->loads, 0);
	assert_int_equal(act_totals(w->act)->unfit, 1);
	assert_said(w, "remotes can be paced by", 0);
	w->fit_rc = -EOPNOTSUPP;
	polls(w, 13);
	assert_int_equal(w->kernel.n, 0);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	assert_said(w, "on eth1 remotes can be paced by sockets now", 1);
}

/* First met so, it waits; with its link it is known to be too fast for classes. */
static void waits_for_its_link(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	begin_sockets(w);
	w->fit_rc = -ENETDOWN;
	refuse(w, NULL, 1, -ENETDOWN, false);
	settle_all(w);
	assert_int_equal(w->kernel.n + w->sockets.n, 0);
	w->fit_rc = -EOPNOTSUPP;
	w->refusals[0].rc = -EOPNOTSUPP;
	polls(w, 1);
	assert_int_equal(w->settings, 0);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	assert_said(w, "left alone", 0);
}

/* It came back faster, say.  No change by classes has to meet that. */
static void classes_do_not_fit_by_now(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate;

	w->can_rc = 0;
	settle_all(w);
	rate = rate_of(w, s);
	assert_int_not_equal(rate, 0);
	w->fit_rc = -EOPNOTSUPP;
	polls(w, 13);
	assert_int_equal(w->kernel.n, 0);
	assert_int_equal(socket_rate_of(w, s), rate);
	assert_said(w, "on eth1 remotes are paced by sockets, not by classes: it has 8 queues", 1);
	assert_said(w, "remotes can be paced by", 0);
}

static void none_fit_by_now(void **state)
{
	struct world *w = *state;

	remote(w, 2, 7, 100 * MB);
	settle_all(w);
	assert_int_equal(w->kernel.n, 1);
	w->fit_rc = -EOPNOTSUPP;
	polls(w, 13);
	assert_int_equal(w->kernel.n, 0);
	assert_said(w, "nothing is paced on eth1: it has 8 queues; there is no BTF\n", 1);
	w->fit_rc = 0;
	polls(w, 13);
	assert_int_equal(w->kernel.n, 1);
	assert_said(w, "on eth1 remotes can be paced by classes now", 1);
}

/* To see whether they still fit nothing is loaded. */
static void idle_sockets_are_not_tried(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	begin_sockets(w);
	settle_all(w);
	act_forget(w->act, &s->remote.addr, w->now);
	s->idle = true;
	polls(w, 50);
	assert_int_equal(w->loads, 1);
	assert_false(w->loaded);
	assert_device(w, "eth1", "sockets", "it has 8 queues");
}

/* What is loaded works, whatever has become of the machine. */
static void sockets_in_use_fit(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	begin_sockets(w);
	settle_all(w);
	w->can_rc = -EOPNOTSUPP;
	polls(w, 13);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	assert_said(w, "nothing is paced", 0);
}

/* --- by sockets: what only setting classes shows --------------------------- */

/* The kernel has no htb, say.  How often it was tried since; sockets go on all the time. */
static void refused_again(struct world *w, const struct sim *s, uint32_t times)
{
	uint32_t told = said(w, "on eth1 remotes can be paced by classes now");
	uint32_t settings = w->socket_settings;

	polls(w, 26);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	assert_int_equal(w->socket_settings, settings);
	assert_int_equal(w->kernel.n, 0);
	assert_said(w, "on eth1 remotes can be paced by classes now", told + times);
}

static void classes_are_refused(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	w->can_rc = 0;
	w->device = (struct hands_device){ 1000, 8 };
	refuse(w, NULL, 1, -EOPNOTSUPP, false);
	settle_all(w);
	assert_said(w, "on eth1 remotes are paced by sockets, not by classes: refused -95", 1);
	assert_said(w, "on eth1 remotes can be paced by classes now", 0);
	refused_again(w, s, 0);
	/* its link is gone, and comes */
	w->device.speed_mbit = 0;
	refused_again(w, s, 0);
	w->device.speed_mbit = 1000;
	refused_again(w, s, 0);
	/* another one, fewer queues, another name: once each */
	w->device.speed_mbit = 10000;
	refused_again(w, s, 1);
	w->device.tx_queues = 1;
	refused_again(w, s, 1);
	strcpy(w->devices[0], "wan0");
	polls(w, 26);
	strcpy(w->devices[0], "eth1");
	assert_said(w, "on wan0 remotes can be paced by classes now", 1);
	refused_again(w, s, 1);
	/* a reload, whatever has changed */
	act_reload(w->act, w->now);
	refused_again(w, s, 1);
	w->n_refusals = 0;
	act_reload(w->act, w->now);
	polls(w, 13);
	assert_int_not_equal(rate_of(w, s), 0);
	assert_int_equal(w->sockets.n, 0);
}

/* Where there are no sockets it is told once that nothing is paced. */
static void classes_are_refused_alone(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint32_t applies;

	refuse(w, NULL, 1, -EOPNOTSUPP, false);
	settle_all(w);
	applies = w->applies;
	polls(w, 50);
	assert_int_equal(w->applies, applies);
	assert_said(w, "nothing is paced on eth1: refused -95; there is no BTF\n", 1);
	assert_device(w, "eth1", "", "refused -95; there is no BTF");
	/* the device comes back */
	w->n_refusals = 0;
	w->devices[0][0] = 0;
	polls(w, 1);
	strcpy(w->devices[0], "eth1");
	polls(w, 1);
	assert_int_not_equal(rate_of(w, s), 0);
}

/* --- by sockets: somebody else -------------------------------------------- */

static void circuit_comes_first(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 2, 8, 100 * MB);
	struct pacing p;

	begin_sockets(w);
	w->theirs = s->remote.addr;
	settle_all(w);
	assert_int_equal(socket_rate_of(w, s), 0);
	assert_int_not_equal(socket_rate_of(w, other), 0);
	assert_said(w, "192.0.2.7: not paced by ctcpd, and left alone for 24 h: circuit lhc", 1);
	assert_said(w, "left alone", 1);
	/* set up behind what is paced: nothing of his takes that away */
	w->theirs = other->remote.addr;
	polls(w, 1);
	assert_int_equal(w->sockets.n, 0);
	polls(w, 50);
	assert_int_equal(w->sockets.n, 0);
	assert_false(w->loaded);
	assert_said(w, "192.0.2.8: not paced by ctcpd, and left alone for 24 h: circuit lhc", 1);
	assert_said(w, "left alone", 2);
	assert_true(act_find(w->act, &other->remote.addr, &p));
	assert_string_equal(p.stood_down, "circuit lhc has it");
}

static void circuits_device(void **state)
{
	struct world *w = *state;
	uint32_t i;

	begin_sockets(w);
	for (i = 0; i < 40; i++)
		remote(w, (uint8_t)i, 7, 100 * MB);
	settle_all(w);
	assert_int_equal(w->sockets.n, 40);
	w->theirs_device = 1;
	polls(w, 1);
	assert_int_equal(w->sockets.n, 0);
	remote(w, 50, 7, 100 * MB);
	polls(w, 50);
	assert_int_equal(w->sockets.n, 0);
	assert_said(w, "eth1: not paced by ctcpd, and left alone for 24 h (remotes: 40): eth1", 1);
	assert_int_equal(act_totals(w->act)->stood_down, 41);
}

/* Whose a remote is cannot be told: nothing is changed */
static void circuits_cannot_be_read(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	begin_sockets(w);
	w->theirs_rc = -EBADMSG;
	find_all(w);
	assert_int_equal(w->sockets.n, 0);
	assert_int_not_equal(act_totals(w->act)->failed, 0);
	assert_said(w, "pacing by sockets cannot be changed: the state cannot be read", 1);
	w->theirs_rc = 0;
	polls(w, 1);
	assert_int_not_equal(socket_rate_of(w, s), 0);
}

static void program_detached(void **state)
{
	struct world *w = *state;

	remote(w, 2, 7, 100 * MB);
	remote(w, 2, 8, 100 * MB);
	begin_sockets(w);
	settle_all(w);
	w->detached = true;
	polls(w, 50);
	assert_int_equal(w->sockets.n, 0);
	assert_int_equal(w->loads, 1);
	assert_false(w->loaded);
	assert_said(w, "eth1: not paced by ctcpd, and left alone for 24 h (remotes: 2): it", 1);
	assert_said(w, "left alone", 1);
}

static void prefix_taken_out(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 2, 8, 100 * MB);

	begin_sockets(w);
	settle_all(w);
	w->changed[w->n_changed++] = s->remote.addr;
	polls(w, 20);
	assert_int_equal(socket_rate_of(w, s), 0);
	assert_int_not_equal(socket_rate_of(w, other), 0);
	assert_said(w, "left alone", 1);
}

/* Each batch is two passes over all sockets: an administrator's circuit for many costs one. */
static void many_are_taken_back_at_once(void **state)
{
	struct world *w = *state;
	struct sim *stays = remote(w, 60, 7, 100 * MB);
	uint32_t i, batches;

	begin_sockets(w);
	for (i = 0; i < 40; i++)
		remote(w, (uint8_t)i, 7, 100 * MB);
	settle_all(w);
	assert_int_equal(w->sockets.n, 41);
	for (i = 0; i < 40; i++)
		w->changed[w->n_changed++] = w->sims[i + 1].remote.addr;
	batches = w->socket_batches;
	polls(w, 1);
	assert_int_equal(w->socket_batches, batches + 1);
	assert_int_equal(w->sockets.n, 1);
	assert_int_not_equal(socket_rate_of(w, stays), 0);
	assert_int_equal(act_totals(w->act)->stood_down, 40);
	assert_int_equal(acting_of(w, &w->sims[1])->force, 0);
	assert_said(w, "left alone for 24 h", 40);
	assert_said(w, "not paced any more", 0);
	polls(w, 50);
	assert_int_equal(w->socket_batches, batches + 1);
}

/* Those of a device, too; on another one all goes on. */
static void device_is_taken_back_at_once(void **state)
{
	struct world *w = *state;
	struct sim *other;
	uint32_t i, batches;

	begin_sockets(w);
	w->fit_device = 0;
	for (i = 0; i < 20; i++)
		remote(w, (uint8_t)i, 7, 100 * MB);
	other = remote(w, 60, 7, 100 * MB);
	other->remote.ifindex = 2;
	settle_all(w);
	assert_int_equal(w->sockets.n, 21);
	w->theirs_device = 1;
	batches = w->socket_batches;
	polls(w, 1);
	assert_int_equal(w->socket_batches, batches + 1);
	assert_int_equal(w->sockets.n, 1);
	assert_int_not_equal(socket_rate_of(w, other), 0);
	assert_said(w, "eth1: not paced by ctcpd, and left alone for 24 h (remotes: 20): eth1", 1);
	assert_said(w, "not paced any more", 0);
}

/* What was on it keeps nothing loaded. */
static void sockets_device_goes(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate;

	begin_sockets(w);
	settle_all(w);
	rate = socket_rate_of(w, s);
	w->devices[0][0] = 0;
	s->idle = true;
	polls(w, 1);
	assert_int_equal(w->sockets.n, 0);
	assert_false(w->loaded);
	strcpy(w->devices[2], "eth1");
	w->fit_device = 3;
	s->remote.ifindex = 3;
	s->idle = false;
	polls(w, 1);
	assert_int_equal(socket_rate_of(w, s), rate);
	assert_said(w, "left alone", 0);
}

/* Another daemon may have them, and they are here again behind it. */
static void unable_lets_sockets_go(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 2, 8, 50 * MB);
	uint64_t rate;

	other->remote.ifindex = 2;
	other->idle = true;
	begin_sockets(w);
	settle_all(w);
	rate = socket_rate_of(w, s);
	refuse(w, NULL, 2, -EACCES, false);
	other->idle = false;
	find_all(w);
	assert_false(act_totals(w->act)->acts);
	assert_false(w->loaded);
	assert_int_equal(socket_rate_of(w, s), rate);
	w->n_refusals = 0;
	polls(w, 14);
	assert_true(act_totals(w->act)->acts);
	assert_true(w->loaded);
	assert_int_equal(socket_rate_of(w, s), rate);
}

static void not_now(void **state)
{
	const int codes[] = { -EAGAIN, -EALREADY, -ENETDOWN, -ENODEV };
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 2, 8, 100 * MB);
	uint32_t i;

	other->remote.ifindex = 2;
	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		refuse(w, NULL, 1, codes[i], false);
		polls(w, 13);
		assert_int_equal(rate_of(w, s), 0);
		/* a device that is down is no reason for others; who is at work is */
		assert_int_equal(rate_of(w, other) != 0, i >= 2);
		w->n_refusals = 0;
		polls(w, 1);
		assert_int_not_equal(rate_of(w, s), 0);
		assert_int_not_equal(rate_of(w, other), 0);
		act_forget(w->act, &s->remote.addr, w->now);
		act_forget(w->act, &other->remote.addr, w->now);
	}
	assert_int_equal(act_totals(w->act)->failed, 0);
	assert_said(w, "pacing stays as it is", 1);
	assert_said(w, "left alone", 0);
}

/* One at work for longer than it takes, and the next that is, each once */
static void somebody_hangs(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint32_t i;

	settle_all(w);
	for (i = 1; i <= 2; i++) {
		w->look_rc = -EAGAIN;
		refuse(w, NULL, 0, -EAGAIN, false);
		polls(w, 11);
		assert_said(w, "pacing stays as it is", i - 1);
		polls(w, 90);
		assert_said(w, "pacing stays as it is, for 55 s by now: cannot look\n", i);
		assert_said(w, "pacing goes on", i - 1);
		w->look_rc = 0;
		w->n_refusals = 0;
		polls(w, 3);
		assert_said(w, "pacing goes on: what held it up lasted 505 s\n", i);
	}
	assert_int_not_equal(rate_of(w, s), 0);
	assert_int_equal(act_totals(w->act)->failed, 0);
}

/* Those that are at work now and then, for a poll each, are no trouble. */
static void many_are_at_work(void **state)
{
	struct world *w = *state;
	uint32_t i;

	remote(w, 2, 7, 100 * MB);
	settle_all(w);
	for (i = 0; i < 30; i++) {
		w->look_rc = i % 4 ? -EAGAIN : 0;
		polls(w, 1);
	}
	assert_said(w, "pacing stays as it is", 0);
	assert_said(w, "pacing goes on", 0);
}

/* Nothing is paced as yet, so that nothing is looked at */
static void somebody_hangs_before(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	refuse(w, NULL, 0, -EAGAIN, false);
	find_all(w);
	polls(w, 12);
	assert_said(w, "pacing stays as it is, for 55 s by now: refused", 1);
	w->n_refusals = 0;
	polls(w, 1);
	assert_said(w, "pacing goes on", 1);
	assert_int_not_equal(rate_of(w, s), 0);
	end(w, true);
	w->look_rc = -EAGAIN;
	begin(w);
	polls(w, 12);
	assert_said(w, "pacing stays as it is, for 55 s by now: cannot look", 1);
}

static void may_not(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	refuse(w, NULL, 0, -EACCES, false);
	settle_all(w);
	assert_int_equal(w->kernel.n, 0);
	assert_false(act_totals(w->act)->acts);
	assert_string_equal(act_totals(w->act)->unable, "refused -13");
	assert_said(w, "neither set nor taken back, though mode = act: refused -13", 1);
	w->n_refusals = 0;
	polls(w, 14);
	assert_true(act_totals(w->act)->acts);
	assert_string_equal(act_totals(w->act)->unable, "");
	assert_int_not_equal(rate_of(w, s), 0);
}

static void may_not_from_the_beginning(void **state)
{
	struct world *w = *state;

	end(w, true);
	refuse(w, NULL, 0, -EACCES, false);
	begin(w);
	assert_false(act_totals(w->act)->acts);
	assert_string_equal(act_totals(w->act)->unable, "refused -13");
	remote(w, 2, 7, 100 * MB);
	settle_all(w);
	assert_said(w, "would be paced at 640mbit", 1);
}

static void one_fails(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 2, 8, 50 * MB);

	refuse(w, &s->remote.addr, 0, -ENOMEM, false);
	polls(w, 11);
	assert_int_equal(rate_of(w, s), 0);
	assert_int_not_equal(rate_of(w, other), 0);
	assert_int_equal(act_totals(w->act)->failed, 1);
	polls(w, 12);
	assert_int_equal(act_totals(w->act)->failed, 13);
	assert_said(w, "pacing by classes cannot be changed: refused -12", 1);
	w->n_refusals = 0;
	polls(w, 1);
	assert_int_not_equal(rate_of(w, s), 0);
}

/* More than the device carries: what was kept stays */
static void rate_is_refused(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t first;

	find_all(w);
	first = rate_of(w, s);
	refuse(w, &s->remote.addr, 0, -ERANGE, false);
	settle_all(w);
	assert_int_equal(rate_of(w, s), first);
	assert_int_equal(acting_of(w, s)->search.state, SEARCH_KEPT);
	assert_said(w, "left alone", 0);
}

/* The next probe is: what was proved stays so, and what is kept a margin below it. */
static void probe_is_refused(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate, proved;

	settle_all(w);
	rate = rate_of(w, s);
	proved = acting_of(w, s)->search.low;
	assert_in_range(rate, proved / 1000 * 989, proved / 1000 * 991);
	refuse(w, &s->remote.addr, 0, -ERANGE, false);
	polls(w, 3600 / POLL_S + 1);
	assert_int_equal(acting_of(w, s)->search.probes, 1);
	assert_int_equal(acting_of(w, s)->search.state, SEARCH_KEPT);
	assert_int_equal(acting_of(w, s)->search.low, proved);
	assert_int_equal(rate_of(w, s), rate);
}

/* --- somebody else -------------------------------------------------------- */

static void changed_by_hand(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 2, 8, 100 * MB);

	settle_all(w);
	w->changed[w->n_changed++] = s->remote.addr;
	w->let_go_rc = -EAGAIN;
	polls(w, 1);
	assert_int_equal(w->state.n, 2);
	w->let_go_rc = 0;
	polls(w, 1);
	assert_int_equal(w->state.n, 1);
	polls(w, 50);
	assert_int_equal(w->let_goes, 2);
	assert_said(w, "192.0.2.7: not paced by ctcpd, and left alone for 24 h: the class is", 1);
	assert_said(w, "left alone", 1);
	/* the kernel has it as he has it */
	assert_int_not_equal(rate_of(w, s), 0);
	assert_int_equal(acting_of(w, s)->force, 0);
	assert_int_equal(acting_of(w, s)->search.state, SEARCH_TAKEN_BACK);
	assert_int_equal(acting_of(w, other)->search.state, SEARCH_KEPT);
}

/* All filters are deleted: what takes long is done by parts, and other remotes are paced */
static void many_changed_by_hand(void **state)
{
	struct world *w = *state;
	struct sim *other;
	uint32_t i;

	for (i = 0; i < 40; i++)
		remote(w, (uint8_t)i, 7, 100 * MB);
	settle_all(w);
	for (i = 0; i < 40; i++)
		w->changed[w->n_changed++] = w->sims[i].remote.addr;
	for (i = 1; i <= 3; i++) {
		polls(w, 1);
		assert_int_equal(w->let_goes, i < 3 ? 16 * i : 40);
		assert_int_equal(w->state.n, 40 - w->let_goes);
		assert_int_equal(act_totals(w->act)->stood_down, 40);
	}
	assert_said(w, "left alone for 24 h", 40);
	other = remote(w, 50, 7, 100 * MB);
	find_all(w);
	assert_int_not_equal(rate_of(w, other), 0);
	assert_int_equal(w->let_goes, 40);
}

static void root_changed_by_hand(void **state)
{
	struct world *w = *state;
	uint32_t i;

	for (i = 0; i < 20; i++)
		remote(w, (uint8_t)i, 7, 100 * MB);
	settle_all(w);
	w->changed_device = true;
	polls(w, 1);
	w->changed_device = false;
	assert_int_equal(w->let_goes, 1);
	assert_int_equal(w->state.n, 0);
	polls(w, 50);
	assert_said(w, "eth1: not paced by ctcpd, and left alone for 24 h (remotes: 20)", 1);
	assert_said(w, "left alone", 1);
	assert_int_equal(act_totals(w->act)->paced, 0);
}

/* Whoever changed it takes his away again, and with it the classes. */
static void root_changes_once(struct world *w)
{
	w->changed_device = true;
	polls(w, 1);
	w->changed_device = false;
	paced_clear_device(&w->kernel, 1);
	assert_int_equal(act_totals(w->act)->paced, 0);
}

/* The same change is told again where something was paced in between, though not a day has gone. */
static void device_is_left_again(void **state)
{
	struct prefix all = { .family = AF_INET };
	struct world *w = *state;

	remote(w, 2, 7, 100 * MB);
	remote(w, 2, 8, 100 * MB);
	settle_all(w);
	root_changes_once(w);
	polls(w, 50);
	assert_said(w, "eth1: not paced by ctcpd, and left alone for 24 h (remotes: 2): the", 1);
	/* after he has asked for it */
	act_forget(w->act, &all, w->now);
	settle_all(w);
	assert_int_equal(act_totals(w->act)->paced, 2);
	root_changes_once(w);
	assert_said(w, "eth1: not paced by ctcpd, and left alone for 24 h (remotes: 2): the", 2);
	/* by a remote that comes, while the others are left alone */
	remote(w, 2, 9, 100 * MB);
	settle_all(w);
	assert_int_equal(act_totals(w->act)->paced, 1);
	root_changes_once(w);
	assert_said(w, "eth1: not paced by ctcpd, and left alone for 24 h (remotes: 1): the", 1);
	assert_said(w, "left alone", 3);
}

/* Each reason once, and all of them once more where somebody has asked to forget */
static void device_is_left_for_another_reason(void **state)
{
	struct prefix all = { .family = AF_INET };
	struct world *w = *state;

	remote(w, 2, 7, 100 * MB);
	refuse(w, NULL, 1, -EPERM, true);
	polls(w, 20);
	assert_said(w, "left alone for 24 h (remotes: 1): refused -1", 1);
	begin_sockets(w);
	w->config.one_lock = false;
	act_devices_anew(w->act);
	w->theirs_device = 1;
	remote(w, 2, 8, 100 * MB);
	polls(w, 20);
	remote(w, 2, 9, 100 * MB);
	polls(w, 20);
	assert_said(w, "left alone for 24 h (remotes: 1): eth1 has circuit lhc", 1);
	assert_said(w, "left alone", 2);
	act_forget(w->act, &all, w->now);
	polls(w, 20);
	assert_said(w, "left alone", 3);
	assert_int_equal(act_totals(w->act)->stood_down, 3);
}

/* It is refused for longer each time: of those that are left at once the least and the most */
static void device_is_left_for_so_long(void **state)
{
	struct world *w = *state;

	remote(w, 2, 7, 100 * MB);
	refuse(w, NULL, 1, -EPERM, true);
	polls(w, 20);
	w->n_refusals = 0;
	w->now += DAY;
	remote(w, 2, 8, 100 * MB);
	polls(w, 15);
	assert_int_equal(act_totals(w->act)->paced, 2);
	root_changes_once(w);
	assert_said(w, "eth1: not paced by ctcpd, and left alone for 24 to 48 h (remotes: 2)", 1);
}

/* Two that are paced, until the state has neither: the first of them */
static struct sim *two_told_of_no_more(struct world *w)
{
	struct sim *s = remote(w, 2, 7, 100 * MB);

	remote(w, 2, 8, 100 * MB);
	settle_all(w);
	paced_clear_device(&w->state, 1);
	return s;
}

static void administrator_takes_it(void **state)
{
	struct world *w = *state;
	struct sim *s = two_told_of_no_more(w);
	uint32_t applies;

	paced_clear_device(&w->kernel, 1);
	applies = w->applies;
	polls(w, 50);
	assert_int_equal(w->applies, applies);
	assert_int_equal(rate_of(w, s), 0);
	assert_said(w, "(remotes: 2): an administrator", 1);
	assert_said(w, "left alone", 1);
}

/* Its state was deleted: what stands is not told as an administrator's, and is left as it is. */
static void record_is_gone(void **state)
{
	struct world *w = *state;
	struct sim *s = two_told_of_no_more(w);
	uint32_t applies;

	w->record_rc = -EPERM;
	applies = w->applies;
	polls(w, 1);
	assert_said(w, "(remotes: 2): no state tells of it", 1);
	assert_int_equal(act_totals(w->act)->paced, 0);
	assert_int_equal(act_totals(w->act)->stood_down, 2);
	polls(w, 50);
	assert_said(w, "left alone", 1);
	assert_said(w, "an administrator", 0);
	assert_int_equal(w->applies, applies);
	assert_int_equal(w->let_goes, 0);
	/* the kernel has it all the same */
	assert_int_not_equal(rate_of(w, s), 0);
}

/* One of the two that are told of no more alone, and where it cannot be told at first */
static void record_of_one_is_gone(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 2, 8, 100 * MB);

	settle_all(w);
	paced_clear(&w->state, 1, &s->remote.addr);
	w->record_rc = -ENOBUFS;
	polls(w, 3);
	assert_said(w, "left alone", 0);
	assert_int_equal(act_totals(w->act)->paced, 2);
	w->record_rc = -EPERM;
	polls(w, 1);
	assert_said(w, "192.0.2.7: not paced by ctcpd, and left alone for 24 h: no state tells", 1);
	assert_int_equal(acting_of(w, other)->search.state, SEARCH_KEPT);
	assert_int_equal(act_totals(w->act)->paced, 1);
}

/* --- devices -------------------------------------------------------------- */

static void device_goes_and_comes(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct pacing p;
	uint32_t lines;
	uint64_t rate;

	settle_all(w);
	rate = rate_of(w, s);
	lines = said(w, "paced at");
	w->devices[0][0] = 0;
	paced_clear_device(&w->kernel, 1);
	s->idle = true;
	polls(w, 3);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_int_equal(p.ifindex, 0);
	assert_int_equal(p.rate, 0);
	assert_int_equal(p.search->state, SEARCH_KEPT);
	assert_string_equal(p.dev, "eth1");
	assert_string_equal(p.unfit, "it is gone");
	assert_said(w, "eth1 is gone: 1 remote is not paced until it is back", 1);
	assert_device(w, "eth1", "", "it is gone, and 1 remote is paced again once it is back");
	assert_int_equal(act_totals(w->act)->unfit, 1);
	strcpy(w->devices[2], "eth1");
	s->remote.ifindex = 3;
	s->idle = false;
	polls(w, 1);
	assert_int_equal(rate_of(w, s), rate);
	assert_int_equal(act_totals(w->act)->unfit, 0);
	assert_said(w, "left alone", 0);
	polls(w, 3);
	assert_said(w, " is gone:", 1);
	assert_said(w, "eth1 is back: 1 remote is paced again", 1);
	assert_said(w, "paced at", lines);
}

static struct sim *two_on_a_device_that_goes(struct world *w)
{
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 3, 8, 100 * MB);

	settle_all(w);
	s->idle = true;
	w->devices[0][0] = 0;
	paced_clear_device(&w->kernel, 1);
	polls(w, 3);
	assert_said(w, "eth1 is gone: 2 remotes are not paced until it is back", 1);
	assert_int_equal(act_totals(w->act)->paced, 0);
	assert_ptr_equal(other, s + 1);
	return s;
}

/* One is sent to, the other is not.  A flow without a route is still of the device of before. */
static void device_is_back_for_all(void **state)
{
	struct world *w = *state;
	struct sim *s = two_on_a_device_that_goes(w);
	uint32_t lines = said(w, "paced at");

	strcpy(w->devices[2], "eth1");
	refuse(w, NULL, 3, -ENETDOWN, false);
	assert_int_equal(act_totals(w->act)->unfit, 1);
	polls(w, 3);
	assert_said(w, "eth1 is back", 0);
	assert_int_equal(act_totals(w->act)->unfit, 0);
	w->n_refusals = 0;
	polls(w, 1);
	assert_said(w, "eth1 is back: 2 remotes are paced again", 1);
	polls(w, 3);
	assert_non_null(paced_get(&w->kernel, 3, &s[0].remote.addr));
	assert_non_null(paced_get(&w->kernel, 3, &s[1].remote.addr));
	assert_said(w, "eth1 is back", 1);
	assert_said(w, "paced at", lines);
	assert_said(w, "not paced any more", 0);
}

/* What has found another way, or is forgotten, does not come back with it. */
static void device_is_back_for_none(void **state)
{
	struct world *w = *state;
	struct sim *s = two_on_a_device_that_goes(w);

	s[1].remote.ifindex = 2;
	polls(w, 3);
	assert_said(w, "it is overrun", 2);
	assert_said(w, "on eth2 now, by which it is reached", 1);
	act_forget(w->act, &s[0].remote.addr, w->now);
	polls(w, 1);
	assert_int_equal(act_devices_each(w->act, device_is,
					  &(struct pacing_device){ .dev = "eth1" }), 0);
	strcpy(w->devices[2], "eth1");
	polls(w, 13);
	assert_said(w, "eth1 is back", 0);
	assert_null(paced_get(&w->kernel, 3, &s[0].remote.addr));
	assert_null(paced_get(&w->kernel, 3, &s[1].remote.addr));
	assert_non_null(paced_get(&w->kernel, 2, &s[1].remote.addr));
}

/* Nothing has been sent to it meanwhile */
static void device_comes_by_its_name(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	settle_all(w);
	s->idle = true;
	w->devices[0][0] = 0;
	polls(w, 3);
	strcpy(w->devices[2], "eth1");
	polls(w, 13);
	assert_non_null(paced_get(&w->kernel, 3, &s->remote.addr));
}

static void renamed(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct pacing p;

	settle_all(w);
	strcpy(w->devices[0], "wan0");
	polls(w, 3);
	assert_said(w, "eth1 is called wan0 now: 1 remote stays paced there", 1);
	assert_said(w, "is called", 1);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_string_equal(p.dev, "wan0");
	restart(w);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_string_equal(p.dev, "wan0");
	assert_int_equal(p.search->state, SEARCH_KEPT);
}

static void moves_to_another_device(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate;

	settle_all(w);
	rate = rate_of(w, s);
	s->remote.ifindex = 2;
	polls(w, 1);
	assert_non_null(paced_get(&w->kernel, 1, &s->remote.addr));
	polls(w, 1);
	assert_int_equal(w->batch, 2);
	assert_null(paced_get(&w->kernel, 1, &s->remote.addr));
	assert_int_equal(paced_get(&w->kernel, 2, &s->remote.addr)->rate, rate);
	assert_said(w, "on eth2 now", 1);
	assert_said(w, "not paced any more", 0);
	assert_string_equal(acting_of(w, s)->dev, "eth2");
}

static int is_not_paced(const struct pacing *p, void *data)
{
	uint32_t *n = data;

	assert_int_equal(p->rate, 0);
	assert_string_equal(p->hands, "");
	++*n;
	return 0;
}

/* By the new one it is not paced until that can be set; what it has by the old one is no rate */
static void moves_while_hands_wait(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct pacing p;
	uint32_t n = 0;
	uint64_t rate;

	settle_all(w);
	rate = rate_of(w, s);
	refuse(w, NULL, 0, -EALREADY, false);
	s->remote.ifindex = 2;
	polls(w, 3);
	assert_int_equal(paced_get(&w->kernel, 1, &s->remote.addr)->rate, rate);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_int_equal(is_not_paced(&p, &n), 0);
	assert_int_equal(act_each(w->act, is_not_paced, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(act_totals(w->act)->paced, 0);
	assert_int_equal(act_totals(w->act)->unfit, 0);
	w->n_refusals = 0;
	polls(w, 1);
	assert_null(paced_get(&w->kernel, 1, &s->remote.addr));
	assert_int_equal(paced_get(&w->kernel, 2, &s->remote.addr)->rate, rate);
	assert_said(w, "on eth2 now", 1);
}

/* --- restarts ------------------------------------------------------------- */

static void restart_sets_nothing(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct search before;
	uint32_t settings, lines;

	settle_all(w);
	before = acting_of(w, s)->search;
	settings = w->settings;
	lines = said(w, "\n");
	restart(w);
	assert_memory_equal(&acting_of(w, s)->search, &before, sizeof(before));
	polls(w, 5);
	assert_int_equal(w->settings, settings);
	assert_int_equal(said(w, "\n"), lines);
	assert_int_equal(acting_of(w, s)->reason, SEARCH_PROVED);
	assert_int_not_equal(acting_of(w, s)->since, 0);
}

static void killed_while_it_is_tried(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate;

	find_all(w);
	rate = rate_of(w, s);
	/* behind the kernel, before the history */
	end(w, false);
	w->kernel.list[0].rate = 90 * MB;
	w->state.list[0].rate = 90 * MB;
	strcpy(w->config.history, w->place->file);
	begin(w);
	assert_int_equal(acting_of(w, s)->search.rate, 90 * MB);
	assert_int_equal(acting_of(w, s)->search.state, SEARCH_TRYING);
	assert_true(acting_of(w, s)->search.settling);
	polls(w, 1);
	assert_int_equal(rate_of(w, s), 90 * MB);
	assert_int_not_equal(rate, 90 * MB);
	settle_all(w);
	assert_in_range(rate_of(w, s), 98 * MB, 99 * MB);
}

/* As if the history did not yet have the probe */
static void killed_while_it_probes(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate, proved;

	settle_all(w);
	rate = rate_of(w, s);
	proved = acting_of(w, s)->search.low;
	end(w, true);
	w->kernel.list[0].rate = proved + proved / 20 + 1;
	w->state.list[0].rate = w->kernel.list[0].rate;
	strcpy(w->config.history, w->place->file);
	begin(w);
	assert_int_equal(acting_of(w, s)->search.state, SEARCH_TRYING);
	assert_int_equal(acting_of(w, s)->search.low, proved);
	settle_all(w);
	assert_int_equal(acting_of(w, s)->search.low, proved);
	assert_int_equal(rate_of(w, s), rate);
}

static void history_lost(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate;

	settle_all(w);
	rate = rate_of(w, s);
	end(w, true);
	assert_int_equal(unlink(w->place->file), 0);
	begin(w);
	assert_int_equal(acting_of(w, s)->search.state, SEARCH_KEPT);
	assert_int_equal(acting_of(w, s)->search.rate, rate);
	polls(w, 20);
	assert_int_equal(rate_of(w, s), rate);
}

static void reboot(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate;

	settle_all(w);
	rate = rate_of(w, s);
	end(w, true);
	paced_clear_device(&w->kernel, 1);
	paced_clear_device(&w->state, 1);
	begin(w);
	s->idle = true;
	polls(w, 1);
	assert_int_equal(rate_of(w, s), rate);
}

static void look_comes_later(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint32_t settings;

	settle_all(w);
	settings = w->settings;
	end(w, true);
	w->look_rc = -EAGAIN;
	begin(w);
	polls(w, 2);
	assert_int_equal(w->settings, settings);
	w->look_rc = 0;
	polls(w, 2);
	assert_int_equal(w->settings, settings);
	assert_int_equal(acting_of(w, s)->force, rate_of(w, s));
}

/* --- subnets -------------------------------------------------------------- */

/* Each takes alone what all of them share, and was found when the others were silent */
static void find_shared(struct world *w, struct sim **hosts, uint32_t n)
{
	uint32_t i, k;

	w->config.subnets = true;
	act_reload(w->act, w->now);
	for (i = 0; i < n; i++)
		hosts[i] = remote(w, 2, (uint8_t)(i + 1), 100 * MB);
	for (i = 0; i < n; i++) {
		for (k = 0; k < n; k++)
			hosts[k]->idle = k != i;
		settle_all(w);
		assert_int_equal(acting_of(w, hosts[i])->search.state, SEARCH_KEPT);
	}
	for (i = 0; i < n; i++) {
		hosts[i]->shares = 99 * MB;
		hosts[i]->gentle = true;
		hosts[i]->idle = false;
	}
}

static void subnet_as_one(void **state)
{
	struct world *w = *state;
	struct sim *hosts[4];
	struct prefix subnet;
	uint32_t settings;
	struct pacing p;
	uint64_t rate;

	find_shared(w, hosts, 4);
	rate = rate_of(w, hosts[0]);
	polls(w, 2);
	assert_int_equal(w->kernel.n, 1);
	assert_int_equal(w->batch, 5);
	subnet = paced_subnet(&hosts[0]->remote.addr);
	assert_int_equal(paced_get(&w->kernel, 1, &subnet)->rate, rate);
	assert_said(w, "192.0.2.0/24: paced at", 1);
	assert_said(w, "not paced any more", 0);
	assert_true(act_find(w->act, &hosts[3]->remote.addr, &p));
	assert_true(prefix_equal(&p.to, &subnet));
	assert_int_equal(act_totals(w->act)->paced, 1);
	polls(w, 2);
	assert_true(hosts[2]->remote.paced);
	/* what the subnet carries is what its hosts do together */
	settle_all(w);
	assert_true(act_find(w->act, &hosts[3]->remote.addr, &p));
	assert_int_equal(p.search->state, SEARCH_KEPT);
	end(w, true);
	/* hosts come first when they are read, as the latest */
	run_sql(w->place->file, "UPDATE search SET stamp = stamp + bits");
	begin(w);
	settings = w->settings;
	polls(w, 3);
	assert_int_equal(w->settings, settings);
	assert_int_equal(w->kernel.n, 1);
	assert_true(act_find(w->act, &hosts[3]->remote.addr, &p));
	assert_true(prefix_equal(&p.to, &subnet));
}

/* As long as they send, its hosts are known, and make no room */
static void hosts_of_a_subnet_stay(void **state)
{
	struct world *w = *state;
	struct sim *hosts[4];
	uint32_t i;

	find_shared(w, hosts, 4);
	polls(w, 2);
	assert_int_equal(w->kernel.n, 1);
	w->now += 13 * DAY;
	polls(w, 2);
	assert_int_equal(acting_of(w, hosts[0])->search.seen, w->now);
	w->now += 2 * DAY;
	polls(w, 13);
	assert_int_equal(w->kernel.n, 1);
	assert_said(w, "not paced any more", 0);
	for (i = 0; i < 4; i++) {
		assert_int_not_equal(acting_of(w, hosts[i])->search.rate, 0);
		hosts[i]->idle = true;
	}
	w->now += 2 * IDLE_S;
	polls(w, 1);
	w->act->table.refused = 4;
	act_make_room(w->act, w->now);
	assert_said(w, "to make room", 0);
}

/* It carries less than one of them did: back to hosts, as they were */
static void subnet_taken_back(void **state)
{
	struct world *w = *state;
	struct sim *hosts[4];
	uint64_t rates[4];
	uint32_t i;

	find_shared(w, hosts, 4);
	for (i = 0; i < 4; i++)
		rates[i] = rate_of(w, hosts[i]);
	polls(w, 2);
	assert_int_equal(w->kernel.n, 1);
	for (i = 0; i < 4; i++)
		hosts[i]->shares = 20 * MB;
	polls(w, 6);
	assert_int_equal(w->kernel.n, 4);
	for (i = 0; i < 4; i++)
		assert_int_equal(rate_of(w, hosts[i]), rates[i]);
	assert_said(w, "192.0.2.0/24: not paced any more: pacing does not help", 1);
	polls(w, 50);
	assert_int_equal(w->kernel.n, 4);
}

/* Each has a port of its own of that speed */
static void hosts_that_share_nothing(void **state)
{
	struct world *w = *state;
	struct sim *hosts[4];
	uint32_t i;

	find_shared(w, hosts, 4);
	for (i = 0; i < 4; i++)
		hosts[i]->shares = 0;
	polls(w, 20);
	assert_int_equal(w->kernel.n, 4);
}

/*
 * Three hosts of one party, which show the same and take turns, and a fourth of somebody else's.
 * @takes: bytes/s, of the fourth
 */
static struct sim *beside_three(struct world *w, struct sim **three, uint64_t takes)
{
	struct sim *fourth;

	find_shared(w, three, 3);
	fourth = remote(w, 2, 99, takes);
	fourth->gentle = true;
	return fourth;
}

static void assert_never_paced(struct world *w, const struct sim *s, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		polls(w, 1);
		if (rate_of(w, s))
			fail_msg("expected no rate, got %llu after %u polls",
				 (unsigned long long)rate_of(w, s), i);
	}
}

/* A test that tests nothing else: without the fourth they are paced as one */
static void three_are_enough(void **state)
{
	struct world *w = *state;
	struct sim *three[3];

	find_shared(w, three, 3);
	polls(w, 2);
	assert_int_equal(w->kernel.n, 1);
}

static void a_faster_one_is_a_veto(void **state)
{
	struct world *w = *state;
	struct sim *three[3], *fast = beside_three(w, three, 500 * MB);
	struct prefix subnet = paced_subnet(&fast->remote.addr);
	struct pacing p;

	assert_never_paced(w, fast, 50);
	/* nor when it is looked at anew */
	w->now += 3600;
	assert_never_paced(w, fast, 50);
	assert_int_equal(w->kernel.n, 3);
	/* and that is told of the subnet */
	assert_true(act_find(w->act, &subnet, &p));
	assert_int_equal(p.reason, SEARCH_VETO);
}

/* It was there, and is as long as the daemon remembers it: silent now */
static void a_silent_one_is_a_veto(void **state)
{
	struct world *w = *state;
	struct sim *three[3], *fast = beside_three(w, three, 500 * MB);

	/* alone, and an hour before it comes again */
	three[0]->idle = true;
	three[1]->idle = true;
	three[2]->idle = true;
	polls(w, 5);
	fast->idle = true;
	w->now += 3600;
	three[0]->idle = false;
	three[1]->idle = false;
	three[2]->idle = false;
	polls(w, 50);
	assert_int_equal(w->kernel.n, 3);
	fast->idle = false;
	assert_never_paced(w, fast, 50);
}

/* By a visit that the history has, of days ago: what is there of it now is nothing */
static void one_of_the_history_is_a_veto(void **state)
{
	struct world *w = *state;
	struct sim *three[3], *fast;
	struct visit v = visit_number(1, w->now);

	v.remote = host(2, 99);
	v.judgement.verdict = VERDICT_CLEAN;
	v.judgement.best_rate = 500 * MB;
	keep_visit(&w->keep, &v, w->now);
	keep_flush(&w->keep, w->now);
	find_shared(w, three, 3);
	w->now += 13 * DAY - 3600;
	polls(w, 20);
	assert_int_equal(w->kernel.n, 3);
	fast = remote(w, 2, 99, 500 * MB);
	fast->gentle = true;
	assert_never_paced(w, fast, 20);
}

/* What it lost, or may have, says nothing: it is no veto, and no rate. */
static void one_that_loses_is_no_veto(void **state)
{
	struct world *w = *state;
	struct sim *three[3];
	struct visit v = visit_number(1, w->now);

	v.remote = host(2, 99);
	v.judgement.best_rate = 500 * MB;
	v.judgement.verdict = VERDICT_OVERRUN;
	keep_visit(&w->keep, &v, w->now);
	v.judgement.verdict = VERDICT_UNKNOWN;
	keep_visit(&w->keep, &v, w->now);
	/* nor is one of another subnet */
	v.judgement.verdict = VERDICT_CLEAN;
	v.remote = host(3, 99);
	keep_visit(&w->keep, &v, w->now);
	keep_flush(&w->keep, w->now);
	find_shared(w, three, 3);
	polls(w, 2);
	assert_int_equal(w->kernel.n, 1);
}

/*
 * One that nobody has seen before comes into the subnet that is paced as one, and takes less than
 * the rate: it is held for two polls, and then for two an hour later, two, four, ... hours later.
 */
static void a_late_one_ends_it(void **state)
{
	struct world *w = *state;
	struct sim *three[3], *late = beside_three(w, three, 50 * MB);
	uint32_t i, k, held = 0;

	late->idle = true;
	polls(w, 10);
	assert_int_equal(w->kernel.n, 1);
	late->idle = false;
	polls(w, 3);
	assert_int_equal(rate_of(w, late), 0);
	assert_int_equal(w->kernel.n, 3);
	assert_said(w, "192.0.2.0/24: not paced any more: a host of it takes more, or has much", 1);
	for (i = 0; i < 24; i++) {
		w->now += 3600 - 5 * POLL_S;
		for (k = 0; k < 5; k++) {
			polls(w, 1);
			held += rate_of(w, late) != 0;
		}
	}
	/* after 1, 2, 4 and 8 h more; the next would be after 16 */
	if (held > 4 * 3)
		fail_msg("expected at most 12 polls of a day in which it is held, got %u", held);
	assert_true(held);
}

/* One that has hardly anything to send is not held by what the others take */
static void a_quiet_one_is_no_veto(void **state)
{
	struct world *w = *state;
	struct sim *three[3], *quiet = beside_three(w, three, MB);

	quiet->remote.now.app = 900;
	polls(w, 20);
	assert_int_equal(w->kernel.n, 1);
}

/* They fake, as one, that they lose at any rate: what was theirs before is the least for all */
static void what_they_lose_lowers_nothing(void **state)
{
	struct world *w = *state;
	struct sim *three[3];
	uint64_t rate;
	uint32_t i;

	find_shared(w, three, 3);
	polls(w, 2);
	rate = rate_of(w, three[0]);
	assert_int_equal(w->kernel.n, 1);
	for (i = 0; i < 3; i++) {
		three[i]->gentle = false;
		three[i]->shares = 0;
		three[i]->takes = 20 * MB;
	}
	for (i = 0; i < 100; i++) {
		polls(w, 1);
		if (w->kernel.n == 1 && w->kernel.list[0].rate < rate / 100 * 98)
			fail_msg("expected 98%% of %llu at least, got %llu",
				 (unsigned long long)rate,
				 (unsigned long long)w->kernel.list[0].rate);
	}
	assert_int_not_equal(w->kernel.n, 1);
}

/* Whoever has three addresses would slow down the others: not by default */
static void subnets_are_not_asked_for(void **state)
{
	struct world *w = *state;
	struct sim *hosts[4];

	assert_false(w->config.subnets);
	find_shared(w, hosts, 4);
	w->config.subnets = false;
	act_reload(w->act, w->now);
	polls(w, 50);
	assert_int_equal(w->kernel.n, 4);
	assert_int_equal(w->act->table.subnets, 0);
	assert_int_equal(w->act->n_active, 0);
}

/* By a reload, by a restart, and by one that finds no history either */
static void subnets_are_turned_off(void **state)
{
	struct world *w = *state;
	struct sim *hosts[4];
	uint64_t rates[4];
	uint32_t i, k;

	find_shared(w, hosts, 4);
	for (i = 0; i < 4; i++)
		rates[i] = rate_of(w, hosts[i]);
	for (k = 0; k < 3; k++) {
		w->config.subnets = true;
		act_reload(w->act, w->now);
		polls(w, 2);
		assert_int_equal(w->kernel.n, 1);
		w->config.subnets = false;
		if (k) {
			end(w, true);
			if (k == 2)
				assert_int_equal(unlink(w->place->file), 0);
			begin(w);
			polls(w, 1);
		} else {
			act_reload(w->act, w->now);
		}
		assert_int_equal(w->kernel.n, k < 2 ? 4 : 0);
		for (i = 0; i < 4 && k < 2; i++)
			assert_int_equal(rate_of(w, hosts[i]), rates[i]);
	}
}

static void subnet_changed_by_hand(void **state)
{
	struct world *w = *state;
	struct sim *hosts[4];

	find_shared(w, hosts, 4);
	polls(w, 2);
	w->changed[w->n_changed++] = paced_subnet(&hosts[0]->remote.addr);
	polls(w, 20);
	assert_int_equal(w->state.n, 0);
	assert_int_equal(act_totals(w->act)->paced, 0);
	assert_said(w, "192.0.2.0/24: not paced by ctcpd, and left alone", 1);
	assert_said(w, "left alone", 1);
}

/* --- two daemons ---------------------------------------------------------- */

/* Another socket, and another history */
struct second {
	struct config config;
	struct keep keep;
	struct act *act;
};

static void second_begin(struct second *b, struct world *w, enum mode mode)
{
	struct err e = { "" };

	b->config = w->config;
	b->config.history[0] = 0;
	b->config.mode = mode;
	keep_open(&b->keep, &b->config, &w->log, w->now);
	b->act = act_begin(&b->config, &w->log, &b->keep, w->now, &e);
	assert_non_null(b->act);
}

static void second_end(struct second *b, int64_t now)
{
	act_end(b->act);
	keep_close(&b->keep, now);
}

static bool is_refused(const struct second *b)
{
	return strstr(act_totals(b->act)->unable, "another ctcpd paces");
}

/* Polled, asked to forget and told to do the other thing, it changes nothing of the first one's */
static void leaves_alone(struct second *b, struct world *w, struct sim *s)
{
	const bool acts = b->config.mode == MODE_ACT;
	const uint64_t rate = rate_of(w, s);

	act_poll(b->act, NULL, false, w->us, w->now + 61);
	act_forget(b->act, &s->remote.addr, w->now + 61);
	assert_int_equal(rate_of(w, s), rate);
	assert_false(act_totals(b->act)->acts);
	assert_int_equal(is_refused(b), acts);
	b->config.mode = acts ? MODE_OBSERVE : MODE_ACT;
	act_reload(b->act, w->now + 61);
	assert_int_equal(rate_of(w, s), rate);
	b->config.mode = MODE_ACT;
	act_reload(b->act, w->now + 61);
	assert_true(is_refused(b));
}

static void another_daemon(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct second b;

	settle_all(w);
	assert_int_not_equal(rate_of(w, s), 0);
	second_begin(&b, w, MODE_OBSERVE);
	leaves_alone(&b, w, s);
	second_end(&b, w->now);
	second_begin(&b, w, MODE_ACT);
	leaves_alone(&b, w, s);
	second_end(&b, w->now);
	/* to one log, which says once what stays so */
	assert_said(w, "though mode = act: another ctcpd paces", 1);
}

static void remove_lock(const struct world *w)
{
	char command[PATH_MAX + 32];

	snprintf(command, sizeof(command), "rm '%s'/ctcpd-*.lock", w->place->dir);
	assert_int_equal(system(command), 0);
}

/* It is taken anew; where another daemon was first that one paces, until it ends. */
static void lock_is_removed(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct second b;
	uint64_t rate;

	settle_all(w);
	rate = rate_of(w, s);
	remove_lock(w);
	polls(w, 1);
	assert_int_equal(act_totals(w->act)->paced, 1);
	second_begin(&b, w, MODE_ACT);
	assert_true(is_refused(&b));
	second_end(&b, w->now);
	remove_lock(w);
	second_begin(&b, w, MODE_ACT);
	assert_false(is_refused(&b));
	polls(w, 1);
	assert_non_null(strstr(act_totals(w->act)->unable, "another ctcpd paces"));
	assert_int_equal(rate_of(w, s), rate);
	second_end(&b, w->now);
	polls(w, 13);
	assert_true(act_totals(w->act)->acts);
	assert_int_equal(rate_of(w, s), rate);
	assert_said(w, "left alone", 0);
}

static void another_daemon_takes_over(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct second b;
	uint64_t rate;

	settle_all(w);
	rate = rate_of(w, s);
	second_begin(&b, w, MODE_ACT);
	assert_true(is_refused(&b));
	end(w, true);
	act_poll(b.act, NULL, false, w->us, w->now + 200);
	act_poll(b.act, NULL, false, w->us, w->now + 205);
	assert_true(act_totals(b.act)->acts);
	assert_int_equal(act_totals(b.act)->paced, 1);
	assert_int_equal(rate_of(w, s), rate);
	b.config.mode = MODE_OBSERVE;
	act_reload(b.act, w->now + 210);
	assert_int_equal(rate_of(w, s), 0);
	/* one that has nothing to take back is in nobody's way */
	begin(w);
	assert_true(act_totals(w->act)->acts);
	second_end(&b, w->now);
}

/* Which sees nothing of ours, or cannot look */
static void observer_is_in_nobodys_way(void **state)
{
	struct world *w = *state;

	assert_true(w->act->lock >= 0);
	end(w, true);
	w->config.mode = MODE_OBSERVE;
	w->look_rc = -EAGAIN;
	begin(w);
	assert_int_equal(w->act->lock, -1);
	end(w, true);
	w->look_rc = 0;
	begin(w);
	assert_int_equal(w->act->lock, -1);
}

/* --- bounds --------------------------------------------------------------- */

static struct prefix number(uint32_t n)
{
	return (struct prefix){ AF_INET, 32, { 10, (uint8_t)(n >> 14), (uint8_t)(n >> 6),
					       n % 64 } };
}

/* @n that are kept, by device 2, and were seen so many s ago */
static void add_kept(struct world *w, uint32_t n, int ifindex, int64_t ago)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		struct prefix p = number(i);
		struct acting *e = act_table_add(&w->act->table, &p, w->now);

		assert_non_null(e);
		e->search = (struct search){ .state = SEARCH_KEPT, .rate = MB, .low = MB };
		e->search.seen = w->now - ago;
		e->search.counted = e->search.seen;
		e->ifindex = ifindex;
		act_want(w->act, e);
	}
}

/* Of those that are paced the one that was silent for longest makes room, if it was so for long */
static void paced_makes_room(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct prefix first = number(4000);

	add_kept(w, PACED_MAX, 2, 60);
	act_table_find(&w->act->table, &first)->search.seen -= 30;
	find_all(w);
	polls(w, 13);
	assert_int_equal(rate_of(w, s), 0);
	assert_int_equal(w->act->by[HANDS_CLASSES].want.n, PACED_MAX);
	assert_said(w, "to make room", 0);
	w->now += IDLE_S;
	polls(w, 14);
	assert_int_not_equal(rate_of(w, s), 0);
	assert_null(act_table_any(&w->act->table, &first));
	assert_null(paced_get(&w->kernel, 2, &first));
	assert_int_equal(w->kernel.n, PACED_MAX);
	assert_said(w, "10.0.62.32: forgotten, as nothing was seen of it for 1 h, to make room", 1);
	assert_said(w, "to make room", 1);
}

/* So it is of the table, where all are kept: by a device that is gone */
static void kept_make_room(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct prefix first = number(4000);

	add_kept(w, ACTINGS_MAX, 0, 7200);
	act_table_find(&w->act->table, &first)->search.seen -= 30;
	polls(w, 3);
	assert_null(act_table_any(&w->act->table, &first));
	acting_of(w, s);
	assert_said(w, "to make room", 1);
}

/* A clock that is set back by some seconds makes none of them go that are in use. */
static void clock_steps_back(void **state)
{
	struct acting e = { .search.seen = NOW };
	struct world *w = *state;

	assert_false(acting_is_silent(&e, NOW - 1));
	assert_false(acting_is_silent(&e, NOW + IDLE_S - 1));
	assert_true(acting_is_silent(&e, NOW + IDLE_S));
	remote(w, 2, 7, 100 * MB);
	add_kept(w, PACED_MAX, 2, 0);
	find_all(w);
	/* the next tick is some polls away */
	w->act->ticked = w->now - 50;
	w->now -= 40;
	polls(w, 1);
	assert_said(w, "to make room", 0);
	assert_int_equal(w->act->by[HANDS_CLASSES].want.n, PACED_MAX);
}

/* There is room a day later: nothing is sent to it, so that nothing else tries again */
static void paced_when_there_is_room(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct pace p = { .ifindex = 2, .rate = MB };
	uint32_t i;

	for (i = 0; i < PACED_MAX; i++) {
		p.to = number(i);
		assert_int_equal(paced_set(&w->act->by[HANDS_CLASSES].want, &p), 0);
	}
	find_all(w);
	assert_int_not_equal(acting_of(w, s)->search.rate, 0);
	assert_int_equal(rate_of(w, s), 0);
	s->idle = true;
	paced_clear_device(&w->act->by[HANDS_CLASSES].want, 2);
	polls(w, 13);
	assert_int_equal(rate_of(w, s), acting_of(w, s)->search.rate);
}

/* 64 that are in use keep out no others than those of their subnet, and for an hour */
static void subnet_is_bounded(void **state)
{
	struct prefix p = { AF_INET6, 128, { 0x20, 1, 0xd, 0xb8 } }, net = paced_subnet(&p);
	struct act_table t;
	uint32_t i;

	(void)state;
	act_table_init(&t);
	for (i = 0; i < 5000; i++) {
		struct acting *e;

		p.addr[14] = (uint8_t)(i >> 8);
		p.addr[15] = (uint8_t)i;
		e = act_table_add(&t, &p, NOW);
		assert_int_equal(!!e, i < 64);
		if (e)
			e->search.seen = NOW;
	}
	assert_non_null(act_table_add(&t, &net, NOW));
	p.addr[7] = 1;
	assert_non_null(act_table_add(&t, &p, NOW));
	assert_int_equal(t.all.n, 66);
	/* two subnets, and the site that has both */
	assert_int_equal(t.nets.all.n, 3);
	p.addr[7] = 0;
	act_table_again(&t);
	assert_non_null(act_table_add(&t, &p, NOW + IDLE_S));
	assert_int_equal(t.all.n, 66);
	while (recent_oldest(&t.all))
		act_table_drop(&t, (struct acting *)recent_oldest(&t.all));
	assert_int_equal(t.nets.all.n, 0);
	act_table_free(&t);
}

/* Host 1 of the nth subnet of 2001:db8:@site::/48 */
static struct prefix of_site(uint8_t site, uint32_t n)
{
	return (struct prefix){ AF_INET6, 128, { 0x20, 1, 0xd, 0xb8, 0, site, (uint8_t)(n >> 8),
						 (uint8_t)n, 0, 0, 0, 0, 0, 0, 0, 1 } };
}

/* How many of @n subnets of a site, a host each, find room */
static uint32_t add_site(struct act_table *t, uint8_t site, uint32_t n, int64_t now)
{
	uint32_t i, found = 0;

	act_table_again(t);
	for (i = 0; i < n; i++) {
		struct prefix p = of_site(site, i);
		struct acting *e = act_table_add(t, &p, now);

		if (!e)
			continue;
		found++;
		e->search.seen = now - SITE_MAX + i;
	}
	return found;
}

/* One party has 65536 subnets, and would have all of the table; of another there is room */
static void site_is_bounded(void **state)
{
	struct prefix p = of_site(1, 0);
	struct act_table t;

	(void)state;
	act_table_init(&t);
	assert_int_equal(add_site(&t, 1, 60000, NOW), 256);
	assert_int_equal(add_site(&t, 2, 10, NOW), 10);
	assert_int_equal(t.all.n, 266);
	/* an hour later the one that was silent for longest goes, and no more than one for one */
	act_table_find(&t, &p)->search.seen = NOW;
	p = of_site(1, 300);
	act_table_again(&t);
	assert_non_null(act_table_add(&t, &p, NOW + IDLE_S));
	assert_int_equal(t.all.n, 266);
	p = of_site(1, 0);
	assert_non_null(act_table_find(&t, &p));
	p = of_site(1, 1);
	assert_null(act_table_find(&t, &p));
	p = of_site(2, 0);
	assert_non_null(act_table_find(&t, &p));
	act_table_free(&t);
}

/* Those of IPv4 have no site: a party has a /24 as a rule, and its neighbours are others */
static void ip4_has_no_site(void **state)
{
	struct act_table t;
	struct prefix p;
	uint32_t i;

	(void)state;
	act_table_init(&t);
	for (i = 0; i < 1024; i++) {
		p = number(i);
		assert_non_null(act_table_add(&t, &p, NOW));
	}
	assert_int_equal(t.nets.all.n, 1024 / 64);
	act_table_free(&t);
}

static uint32_t gone(const struct world *w)
{
	struct acting *e, *next;
	uint32_t n = 0;

	act_table_each(&w->act->table, e, next)
		n += e->gone;
	return n;
}

/* What goes makes room when hands can take it back: until then no other does */
static void one_goes_while_hands_wait(void **state)
{
	struct world *w = *state;
	struct sim *s;

	add_kept(w, NET_MAX, 2, 2 * IDLE_S);
	polls(w, 1);
	assert_int_equal(w->kernel.n, NET_MAX);
	refuse(w, NULL, 0, -EAGAIN, false);
	s = remote(w, 2, 7, 100 * MB);
	s->remote.addr = number(0);
	s->remote.addr.addr[3] = 200;
	polls(w, 10);
	assert_int_equal(gone(w), 1);
	/* so it is of the table */
	w->act->table.refused = 1;
	act_make_room(w->act, w->now);
	assert_int_equal(gone(w), 1);
	w->n_refusals = 0;
	polls(w, 2);
	acting_of(w, s);
	assert_int_equal(gone(w), 0);
	assert_said(w, "to make room", 1);
}

/*
 * A party that has all that it may, paced and silent, pays for a new one with its own; whoever
 * was silent for longer, but is of another, stays.
 */
static void site_pays_for_its_own(void **state)
{
	struct world *w = *state;
	struct prefix p = of_site(1, 7);
	struct sim *s;
	uint32_t i;

	w->config.min_rtt_us = 1000;
	for (i = 0; i < SITE_MAX; i++) {
		struct prefix one = of_site(1, i);
		struct acting *e = act_table_add(&w->act->table, &one, w->now);

		e->search = (struct search){ .state = SEARCH_KEPT, .rate = MB, .low = MB };
		e->search.seen = w->now - 2 * IDLE_S;
		e->search.counted = e->search.seen;
		e->ifindex = 1;
		act_want(w->act, e);
	}
	act_table_find(&w->act->table, &p)->search.seen -= 30;
	add_kept(w, 1, 2, 3 * IDLE_S);
	s = remote(w, 2, 7, 100 * MB);
	s->remote.addr = of_site(1, 4711);
	polls(w, 3);
	acting_of(w, s);
	assert_null(act_table_any(&w->act->table, &p));
	assert_int_equal(w->act->table.all.n, SITE_MAX + 1);
	assert_said(w, "2001:db8:1:7::1: forgotten, as nothing was seen of it for 2 h, to make room",
		    1);
	assert_said(w, "to make room", 1);
}

static void table_is_bounded(void **state)
{
	struct act_table t;
	struct prefix p;
	uint32_t i, k;

	(void)state;
	act_table_init(&t);
	for (i = 0; i < ACTINGS_MAX; i++) {
		p = number(i);
		act_table_add(&t, &p, NOW)->search.seen = NOW;
	}
	/* all of them are in use: a poll of 65536 others finds no room */
	for (k = 0; k < 3; k++) {
		act_table_again(&t);
		for (i = 0; i < REMOTES_MAX; i++) {
			p = number(1000000 + i);
			assert_null(act_table_add(&t, &p, NOW + 60));
		}
	}
	assert_int_equal(t.all.n, ACTINGS_MAX);
	/* an hour later those that are not paced make room */
	p = number(4711);
	act_table_find(&t, &p)->force = MB;
	act_table_again(&t);
	for (i = 0; i < REMOTES_MAX; i++) {
		p = number(1000000 + i);
		if (!act_table_add(&t, &p, NOW + IDLE_S))
			continue;
		act_table_find(&t, &p)->search.seen = NOW + IDLE_S;
	}
	assert_int_equal(t.all.n, ACTINGS_MAX);
	p = number(4711);
	assert_non_null(act_table_find(&t, &p));
	p = number(1000000 + ACTINGS_MAX - 2);
	assert_non_null(act_table_find(&t, &p));
	p = number(0);
	assert_null(act_table_find(&t, &p));
	act_table_free(&t);
}

/* --- forget --------------------------------------------------------------- */

static void forget(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 3, 7, 100 * MB);
	struct prefix p = paced_subnet(&s->remote.addr);
	struct pacing found;

	settle_all(w);
	assert_int_equal(act_forget(w->act, &p, w->now), 1);
	assert_int_equal(rate_of(w, s), 0);
	assert_int_not_equal(rate_of(w, other), 0);
	assert_false(act_find(w->act, &s->remote.addr, &found));
	assert_int_equal(act_forget(w->act, &p, w->now), 0);
	restart(w);
	assert_false(act_find(w->act, &s->remote.addr, &found));
	assert_true(act_find(w->act, &other->remote.addr, &found));
	find_all(w);
	assert_int_not_equal(rate_of(w, s), 0);
}

/* The daemon as somebody asks it */
static int asked_to_forget(struct world *w, const char *prefix, json_t **answer, struct err *e)
{
	struct daemon d = { .config = w->config, .keep = w->keep, .act = w->act };
	json_t *question = json_pack("{s:s, s:s}", "command", "forget", "remote", prefix);
	int rc;

	log_open(&d.log, false);
	d.observer.remotes = remotes_new();
	assert_non_null(d.observer.remotes);
	d.keep.log = &d.log;
	w->act->keep = &d.keep;
	*answer = NULL;
	rc = daemon_answer(question, answer, &d, e);
	w->keep = d.keep;
	w->keep.log = &w->log;
	w->act->keep = &w->keep;
	remotes_free(d.observer.remotes);
	log_close(&d.log);
	json_decref(question);
	return rc;
}

/* The reload that was refused is told with what is in force all the same. */
static void refused_reload_is_told(void **state)
{
	struct world *w = *state;
	struct daemon d = { .config = w->config, .keep = w->keep, .act = w->act };
	json_t *question = json_pack("{s:s}", "command", "status"), *answer;
	struct err e;

	d.observer.remotes = remotes_new();
	assert_int_equal(daemon_answer(question, &answer, &d, &e), 0);
	assert_true(json_is_null(json_object_get(answer, "config_error")));
	json_decref(answer);
	err_set(&d.refused, -EINVAL, "line 3 is wrong");
	assert_int_equal(daemon_answer(question, &answer, &d, &e), 0);
	assert_string_equal(json_string_value(json_object_get(answer, "config_error")),
			    "line 3 is wrong");
	json_decref(answer);
	json_decref(question);
	remotes_free(d.observer.remotes);
}

static void folder_moves(struct world *w, const char *from, const char *to)
{
	char line[160];

	snprintf(line, sizeof(line), "mv %s%s %s%s", w->place->dir, from, w->place->dir, to);
	assert_int_equal(system(line), 0);
}

static void forget_is_asked_for(void **state)
{
	struct world *w = *state;
	struct err e = { "" };
	json_t *answer;

	remote(w, 2, 7, 100 * MB);
	settle_all(w);
	assert_int_equal(asked_to_forget(w, "192.0.2.0/24", &answer, &e), 0);
	assert_int_equal(json_integer_value(json_object_get(answer, "paced")), 1);
	json_decref(answer);
	assert_said(w, "192.0.2.0/24 is forgotten, as somebody asked: 0 remotes, 0", 1);
	assert_int_equal(asked_to_forget(w, "192.0.2.300", &answer, &e), -EINVAL);
}

/* Of both halves the answer tells, and the log; what the history keeps goes when it can. */
static void forget_without_a_history(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct err e = { "" };
	struct pacing found;
	json_t *answer;

	settle_all(w);
	folder_moves(w, "", ".away");
	keep_flush(&w->keep, w->now);
	assert_int_not_equal(asked_to_forget(w, "192.0.2.7", &answer, &e), 0);
	assert_null(answer);
	assert_int_equal(rate_of(w, s), 0);
	assert_non_null(strstr(e.text, "192.0.2.7 is forgotten (remotes: 0, no longer paced: 1)"));
	assert_non_null(strstr(e.text, "but the history keeps its rows: "));
	assert_non_null(strstr(e.text, "a restart before that takes them up again"));
	assert_said(w, "192.0.2.7 is forgotten, as somebody asked: 0 remotes, 0 visits, 1", 1);
	assert_said(w, "but the history keeps its rows: ", 1);
	s->idle = true;
	polls(w, 1);
	folder_moves(w, ".away", "");
	keep_flush(&w->keep, w->now);
	polls(w, 1);
	assert_said(w, "192.0.2.7 is forgotten by the history, too", 1);
	assert_false(act_find(w->act, &s->remote.addr, &found));
	w->keep.file[0] = 0;
	restart(w);
	assert_false(act_find(w->act, &s->remote.addr, &found));
}

static void forgotten_while_hands_wait(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	settle_all(w);
	s->idle = true;
	refuse(w, NULL, 0, -EAGAIN, false);
	act_forget(w->act, &s->remote.addr, w->now);
	assert_int_not_equal(rate_of(w, s), 0);
	w->n_refusals = 0;
	polls(w, 1);
	assert_int_equal(rate_of(w, s), 0);
	assert_int_equal(w->act->table.all.n, 0);
}

static void forgotten_after_two_weeks(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	settle_all(w);
	s->idle = true;
	w->now += 13 * DAY;
	polls(w, 1);
	assert_int_not_equal(rate_of(w, s), 0);
	w->now += 2 * DAY;
	polls(w, 1);
	assert_int_equal(rate_of(w, s), 0);
	assert_said(w, "192.0.2.7: not paced any more: it had no interval that counts", 1);
	polls(w, 1);
	assert_int_equal(w->act->table.all.n, 0);
}

/* --- the history ---------------------------------------------------------- */

static uint32_t kept_rows(struct world *w)
{
	struct history *h = open_place(w->place, w->now);
	uint32_t n = 0;
	int64_t rows;
	struct err e;

	assert_int_equal(db_number(h, "SELECT count(*) FROM search", &rows, &e), 0);
	n = (uint32_t)rows;
	history_close(h);
	return n;
}

/* It can be written neither, as if the disk was full, and goes on pacing */
static void history_comes_later(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	end(w, true);
	snprintf(w->config.history, sizeof(w->config.history), "%s/no/such/history.db",
		 w->place->dir);
	begin(w);
	settle_all(w);
	assert_int_not_equal(rate_of(w, s), 0);
	assert_true(acting_of(w, s)->dirty);
	assert_false(keep_ok(&w->keep));
	keep_flush(&w->keep, w->now);
	assert_said(w, "the history is not written", 1);
	snprintf(w->config.history, sizeof(w->config.history), "%s", w->place->file);
	keep_change(&w->keep, &w->config, w->now);
	polls(w, 1);
	assert_false(acting_of(w, s)->dirty);
	end(w, true);
	assert_int_equal(kept_rows(w), 1);
}

/* A full table that is counted each minute keeps nothing that was set from being written */
static void changes_are_saved_first(void **state)
{
	struct world *w = *state;
	struct acting *e, *next;
	uint32_t i, due = 0;

	add_kept(w, 3000, 0, 60);
	act_table_each(&w->act->table, e, next) {
		strcpy(e->dev, "eth9");
		e->dirty = false;
		e->aged = true;
	}
	act_tick(w->act, w->now);
	e = (struct acting *)TAILQ_LAST(&w->act->table.all.order, recent_order);
	e->dirty = true;
	act_save(w->act, false, w->now);
	assert_false(e->dirty);
	act_table_each(&w->act->table, e, next)
		due += e->due;
	assert_in_range(due, 3000 - 512 - SEARCH_ROWS, 3000 - 512 + SEARCH_ROWS);
	for (i = 0; i < 6; i++)
		act_save(w->act, false, w->now);
	end(w, false);
	assert_int_equal(kept_rows(w), 3000);
}

static void history_begun_anew(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate;

	remote(w, 2, 8, 100 * MB);
	settle_all(w);
	rate = rate_of(w, s);
	assert_int_equal(unlink(w->place->file), 0);
	keep_flush(&w->keep, w->now);
	polls(w, 1);
	end(w, false);
	assert_int_equal(kept_rows(w), 2);
	strcpy(w->config.history, w->place->file);
	begin(w);
	assert_int_equal(acting_of(w, s)->search.rate, rate);
}

/* Nothing that was only counted is older than a minute, and what was set is there at once */
static void killed(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	find_all(w);
	end(w, false);
	assert_int_equal(kept_rows(w), 1);
	strcpy(w->config.history, w->place->file);
	begin(w);
	assert_int_equal(acting_of(w, s)->search.state, SEARCH_TRYING);
	assert_int_equal(acting_of(w, s)->search.rate, rate_of(w, s));
	assert_int_equal(acting_of(w, s)->search.base.n, 10);
}

/* Who has written there would have it not tried, or kept, for ever; a clock of 1970 is none such */
static void history_of_times_to_come(void **state)
{
	static const char * const fields[] = { "again", "counted", "day", "floor-until" };
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	int64_t now;
	char sql[160];
	size_t i;

	settle_all(w);
	now = w->now;
	paced_clear_device(&w->kernel, 1);
	paced_clear_device(&w->state, 1);
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		strcpy(w->config.history, w->place->file);
		end(w, i == 0);
		snprintf(sql, sizeof(sql), "UPDATE search SET search = 'kept rate=%llu seen=%lld %s=%lld'",
			 100 * MB, (long long)now, fields[i], (long long)(now + 15 * DAY));
		run_sql(w->place->file, sql);
		strcpy(w->config.history, w->place->file);
		begin(w);
		assert_null(act_table_find(&w->act->table, &s->remote.addr));
	}
	snprintf(sql, sizeof(sql), "UPDATE search SET search = 'kept rate=%llu seen=%lld counted=%lld'",
		 100 * MB, (long long)now, (long long)now);
	end(w, false);
	run_sql(w->place->file, sql);
	strcpy(w->config.history, w->place->file);
	w->now = 4711;
	begin(w);
	assert_int_equal(acting_of(w, s)->search.rate, 100 * MB);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_world, remove_world)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differences),
		cmocka_unit_test(nothing_to_compare_with),
		cmocka_unit_test(few_do_not_count),
		cmocka_unit_test(hosts_add_up),
		cmocka_unit_test(table_is_bounded),
		cmocka_unit_test(subnet_is_bounded),
		cmocka_unit_test(site_is_bounded),
		cmocka_unit_test(ip4_has_no_site),
		TEST(found_after_ten),
		TEST(keeps_what_it_takes),
		TEST(others_are_left),
		TEST(one_of_many_loses),
		TEST(failed_polls),
		TEST(observe_sets_nothing),
		TEST(there_and_back),
		TEST(taken_back_later),
		TEST(begun_in_observe_behind_act),
		TEST(cannot_keep_a_change),
		TEST(begins_where_nothing_can_be_kept),
		TEST(begins_beside_one_at_work),
		TEST(one_is_somebody_elses),
		TEST(device_is_somebody_elses),
		TEST(unfit_device),
		TEST(device_becomes_fit),
		TEST(each_by_its_hands),
		TEST(loaded_while_it_is_used),
		TEST(division_fails),
		TEST(kernel_cannot),
		TEST(process_may_not),
		TEST(cannot_be_pinned),
		TEST(no_device_for_sockets),
		TEST(sockets_later),
		TEST(observe_loads_nothing),
		TEST(observe_says_what_cannot),
		TEST(sockets_outlive_restarts),
		TEST(sockets_are_taken_back),
		TEST(sockets_stay),
		TEST(pins_cannot_be_seen),
		TEST(nothing_can_be_pinned),
		TEST(acts_without_seeing_pins),
		TEST(another_versions_pins),
		TEST(may_not_from_the_history),
		TEST(other_hands_between_runs),
		TEST(other_hands_in_a_run),
		TEST(other_hands_cannot_yet),
		TEST(classes_fit_no_more),
		TEST(hands_stay_while_it_is_down),
		TEST(nothing_is_chosen_without_a_link),
		TEST(waits_for_its_link),
		TEST(classes_do_not_fit_by_now),
		TEST(none_fit_by_now),
		TEST(idle_sockets_are_not_tried),
		TEST(sockets_in_use_fit),
		TEST(classes_are_refused),
		TEST(classes_are_refused_alone),
		TEST(circuit_comes_first),
		TEST(circuits_device),
		TEST(circuits_cannot_be_read),
		TEST(program_detached),
		TEST(prefix_taken_out),
		TEST(many_are_taken_back_at_once),
		TEST(device_is_taken_back_at_once),
		TEST(sockets_device_goes),
		TEST(unable_lets_sockets_go),
		TEST(not_now),
		TEST(somebody_hangs),
		TEST(many_are_at_work),
		TEST(somebody_hangs_before),
		TEST(may_not),
		TEST(may_not_from_the_beginning),
		TEST(one_fails),
		TEST(rate_is_refused),
		TEST(probe_is_refused),
		TEST(changed_by_hand),
		TEST(many_changed_by_hand),
		TEST(root_changed_by_hand),
		TEST(device_is_left_again),
		TEST(device_is_left_for_another_reason),
		TEST(device_is_left_for_so_long),
		TEST(administrator_takes_it),
		TEST(record_is_gone),
		TEST(record_of_one_is_gone),
		TEST(device_goes_and_comes),
		TEST(device_is_back_for_all),
		TEST(device_is_back_for_none),
		TEST(device_comes_by_its_name),
		TEST(renamed),
		TEST(moves_to_another_device),
		TEST(moves_while_hands_wait),
		TEST(restart_sets_nothing),
		TEST(killed_while_it_is_tried),
		TEST(killed_while_it_probes),
		TEST(history_lost),
		TEST(reboot),
		TEST(look_comes_later),
		TEST(subnet_as_one),
		TEST(hosts_of_a_subnet_stay),
		TEST(subnet_taken_back),
		TEST(hosts_that_share_nothing),
		TEST(three_are_enough),
		TEST(a_faster_one_is_a_veto),
		TEST(a_silent_one_is_a_veto),
		TEST(one_of_the_history_is_a_veto),
		TEST(one_that_loses_is_no_veto),
		TEST(a_late_one_ends_it),
		TEST(a_quiet_one_is_no_veto),
		TEST(what_they_lose_lowers_nothing),
		TEST(subnets_are_not_asked_for),
		TEST(subnets_are_turned_off),
		TEST(subnet_changed_by_hand),
		TEST(another_daemon),
		TEST(another_daemon_takes_over),
		TEST(lock_is_removed),
		TEST(observer_is_in_nobodys_way),
		TEST(paced_makes_room),
		TEST(kept_make_room),
		TEST(clock_steps_back),
		TEST(site_pays_for_its_own),
		TEST(one_goes_while_hands_wait),
		TEST(paced_when_there_is_room),
		TEST(forget),
		TEST(forget_is_asked_for),
		TEST(refused_reload_is_told),
		TEST(forget_without_a_history),
		TEST(forgotten_while_hands_wait),
		TEST(forgotten_after_two_weeks),
		TEST(history_comes_later),
		TEST(changes_are_saved_first),
		TEST(history_begun_anew),
		TEST(history_of_times_to_come),
		TEST(killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
