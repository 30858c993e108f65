/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The host of ctcpd_fake.h with a daemon's act on it: begun, polled, begun anew; its remotes, what
 * the kernel has of them, and what the log has said.
 */
#ifndef CTCPD_TEST_WORLD_H
#define CTCPD_TEST_WORLD_H

#include "ctcpd_fake.h"

#define MB	1000000ULL

/* A test of its own world */
#define TEST(f)	cmocka_unit_test_setup_teardown(f, make_world, remove_world)

static inline void begin(struct world *w)
{
	struct err e = { "" };

	keep_open(&w->keep, &w->config, &w->log, w->now);
	w->act = act_begin(&w->config, &w->log, &w->keep, w->now, &e);
	assert_non_null(w->act);
}

/* @clean: as by a signal that it heard of */
static inline void end(struct world *w, bool clean)
{
	if (!clean)
		w->keep.file[0] = 0;
	act_end(w->act);
	keep_close(&w->keep, w->now);
	w->act = NULL;
}

static inline void restart(struct world *w)
{
	end(w, true);
	begin(w);
}

static inline int make_world(void **state)
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

static inline int remove_world(void **state)
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

/* A command, of the path of the lock's file */
static inline bool lock_file(const struct world *w, const char *command)
{
	char line[4096 + 96];

	snprintf(line, sizeof(line), "f=$(echo '%s'/ctcpd-*.lock); %s", w->place->dir, command);
	return system(line) == 0;
}

static inline bool has_lock_file(const struct world *w)
{
	return lock_file(w, "[ -e \"$f\" ]");
}

static inline struct prefix host(uint8_t net, uint8_t n)
{
	return (struct prefix){ AF_INET, 32, { 192, 0, net, n } };
}

static inline struct sim *remote(struct world *w, uint8_t net, uint8_t n, uint64_t takes)
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
static inline uint64_t rate_of(const struct world *w, const struct sim *s)
{
	const struct pace *p = paced_find(&w->kernel, (int)s->remote.ifindex, &s->remote.addr);

	return p ? p->rate : 0;
}

static inline uint64_t socket_rate_of(const struct world *w, const struct sim *s)
{
	const struct pace *p = paced_find(&w->sockets, (int)s->remote.ifindex, &s->remote.addr);

	return p ? p->rate : 0;
}

/* By both the lower one holds */
static inline uint64_t held_at(const struct world *w, const struct sim *s)
{
	uint64_t class = rate_of(w, s), socket = socket_rate_of(w, s);

	return !socket || (class && class < socket) ? class : socket;
}

static inline uint32_t active(const struct world *w, const struct sim *s)
{
	uint32_t i, n = 0;

	for (i = 0; i < w->n; i++)
		n += !w->sims[i].idle && w->sims[i].shares &&
		     w->sims[i].remote.addr.addr[2] == s->remote.addr.addr[2];
	return n;
}

/* What is above what it takes is lost, and then it carries 4 of 5. */
static inline void loses_a_tenth(struct remote *r, uint64_t bytes)
{
	uint32_t segs = (uint32_t)(bytes / 1448);

	r->now.retrans += segs / 10;
	r->apart = (struct remote_apart){
		.acked = bytes / 10 * 9, .of = bytes, .segs = segs / 10 * 9,
	};
}

static inline void sends(struct world *w, struct sim *s)
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

static inline void poll_one(struct world *w, bool whole)
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

static inline void polls(struct world *w, uint32_t n)
{
	while (n--)
		poll_one(w, true);
}

/* Until it is paced; it takes so long that it is found */
static inline void find_all(struct world *w)
{
	polls(w, 12);
}

static inline void settle_all(struct world *w)
{
	polls(w, 200);
}

static inline uint64_t settled_rate(struct world *w, const struct sim *s)
{
	settle_all(w);
	return rate_of(w, s);
}

static inline struct acting *acting_of(const struct world *w, const struct sim *s)
{
	struct acting *e = act_table_find(&w->act->table, &s->remote.addr);

	assert_non_null(e);
	return e;
}

static inline uint32_t said(struct world *w, const char *what)
{
	return said_times(&w->said, what);
}

static inline void assert_said(struct world *w, const char *what, uint32_t times)
{
	uint32_t n = said(w, what);

	if (n != times)
		print_message("\"%s\": expected %u times, got %u, in:\n%s\n", what, times, n,
			      w->said.text);
	assert_int_equal(n, times);
}

static inline void refuse(struct world *w, const struct prefix *to, int ifindex, int rc,
			  bool device)
{
	struct refusal *f = &w->refusals[w->n_refusals++];

	*f = (struct refusal){ .ifindex = ifindex, .rc = rc, .device = device };
	if (to)
		f->to = *to;
}

/* --- what several files begin with ---------------------------------------- */

/* Of eth1 classes do not fit, of eth2 they do */
static inline void begin_sockets(struct world *w)
{
	w->fit_device = 1;
	w->fit_rc = -EOPNOTSUPP;
	w->can_rc = 0;
}

static inline int device_is(const struct pacing_device *d, void *data)
{
	const struct pacing_device *want = data;

	if (strcmp(d->dev, want->dev))
		return 0;
	assert_string_equal(d->hands, want->hands);
	assert_string_equal(d->why, want->why);
	return 1;
}

static inline void assert_device(struct world *w, const char *dev, const char *hands,
				 const char *why)
{
	struct pacing_device want = { dev, hands, why };

	assert_int_equal(act_devices_each(w->act, device_is, &want), 1);
}

static inline struct prefix number(uint32_t n)
{
	return (struct prefix){ AF_INET, 32, { 10, (uint8_t)(n >> 14), (uint8_t)(n >> 6),
					       n % 64 } };
}

/* @n that are kept, by device 2, and were seen so many s ago */
static inline void add_kept(struct world *w, uint32_t n, int ifindex, int64_t ago)
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

#endif
