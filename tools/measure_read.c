// SPDX-License-Identifier: GPL-2.0
/*
 * Look at all circuits, again and again, until the time is over: see measure_read.h.
 *
 * Which circuit a connection belongs to is asked of the state and not of the module, in
 * which a circuit may be missing.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "belong.h"
#include "conn.h"
#include "grow.h"
#include "guarantee.h"
#include "hear.h"
#include "htb.h"
#include "measure_read.h"
#include "sysctl.h"

#define LOOKS		20U		/* in all, but */
#define LOOK_MIN_US	250000U		/* not closer than that */
#define LOOK_MAX_US	10000000U	/* nor further apart */

/* A connection at one look, by which it is known at the next */
struct seen {
	uint64_t cookie;
	struct stream_work work;	/* so far */
};

struct crowd {
	uint32_t n;
	struct seen *list;		/* by cookie */
};

struct looker {
	struct session *s;
	struct measure *measures;	/* of each circuit of the state */
	struct look *looks;
	struct lives owners;		/* the circuits of the state, in its order */
	struct rules rules;		/* over these */
	struct nl routes;
	struct crowd before, now;
};

/* One that cannot be planned has no plan to be measured by. */
static bool is_measured(const struct session *s, uint32_t i)
{
	return session_shows(s, i) && !s->planned[i].rc && !s->state.circuits[i].circuit.ctcpd;
}

/* --- whose a connection is ------------------------------------------------- */

static int add_owner(struct looker *lk, uint32_t i)
{
	static const struct prefix all[2] = { { .family = AF_INET }, { .family = AF_INET6 } };
	const struct circuit *c = &lk->s->state.circuits[i].circuit;
	const struct prefix *to = c->n_to ? c->to : all;
	struct live l = { .id = i };
	uint32_t k, n = c->n_to ?: 2;
	int rc = 0;

	if (!c->n_to)
		l.ifindex = (uint32_t)lk->s->planned[i].facts->out_ifindex;
	for (k = 0; k < n && !rc && !lk->s->planned[i].rc && !c->ctcpd; k++)
		rc = object_add_prefix(&l.object, &to[k]);
	if (!rc)
		rc = lives_add(&lk->owners, &l);
	if (rc)
		live_free(&l);
	return rc;
}

static int make_owners(struct looker *lk)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < lk->s->state.n_circuits && !rc; i++)
		rc = add_owner(lk, i);
	return rc ? rc : rules_make(&lk->rules, &lk->owners);
}

static struct look *look_of(struct looker *lk, const struct conn *c)
{
	uint32_t ifindex = lk->rules.by_device ? conn_device(&lk->routes, c) : 0;
	const struct live *owner = rules_match(&lk->rules, &c->peer, ifindex, c->mark);

	return owner ? &lk->looks[owner->id] : NULL;
}

/* --- connections ----------------------------------------------------------- */

static int by_cookie(const void *a, const void *b)
{
	const struct seen *p = a, *q = b;

	return (p->cookie > q->cookie) - (p->cookie < q->cookie);
}

static int crowd_add(struct crowd *crowd, const struct conn *c)
{
	struct seen *more = grown(crowd->list, crowd->n, sizeof(*more));

	if (!more)
		return -ENOMEM;
	crowd->list = more;
	more[crowd->n++] = (struct seen){
		c->cookie, { c->acked, c->busy, c->rwnd, c->sndbuf }
	};
	return 0;
}

static const struct seen *crowd_find(const struct crowd *crowd, uint64_t cookie)
{
	const struct seen key = { .cookie = cookie };

	return crowd->n ? bsearch(&key, crowd->list, crowd->n, sizeof(key), by_cookie) : NULL;
}

/* One that is new has begun since the look before. */
static void add_work(struct look *l, const struct seen *before, const struct conn *c)
{
	static const struct seen none;

	before = before && c->acked >= before->work.acked ? before : &none;
	l->work.acked += c->acked - before->work.acked;
	l->work.busy += c->busy - before->work.busy;
	l->work.rwnd += c->rwnd - before->work.rwnd;
	l->work.sndbuf += c->sndbuf - before->work.sndbuf;
}

/* Less than a segment may wait for more of it (RFC 896), or for its turn in this host. */
static bool wants_more(const struct conn *c, const struct seen *before)
{
	return (c->unsent && c->unsent >= c->mss) ||
	       (before && c->sndbuf > before->work.sndbuf);
}

static void add_stream(struct look *l, const struct conn *c, const struct seen *before,
		       const char *algorithm)
{
	bool wants = wants_more(c, before), active = c->busy > (before ? before->work.busy : 0);
	bool astray = strcmp(c->algorithm, algorithm);

	l->streams++;
	l->wanting += wants;
	l->astray += wants && astray;
	l->active += active;
	l->active_astray += active && astray;
	if (c->min_rtt && (!l->min_rtt || c->min_rtt < l->min_rtt))
		l->min_rtt = c->min_rtt;
	if (c->busy && c->mss > l->mss)
		l->mss = c->mss;
	add_work(l, before, c);
}

static int on_conn(const struct conn *c, void *data)
{
	struct looker *lk = data;
	struct look *l = c->algorithm[0] ? look_of(lk, c) : NULL;
	const struct member *m;

	if (!l)
		return 0;
	m = &lk->s->state.circuits[l - lk->looks];
	add_stream(l, c, crowd_find(&lk->before, c->cookie), circuit_algorithm(&m->circuit));
	return crowd_add(&lk->now, c);
}

/* A kernel that does not list them has the module's word for what is wanted. */
static int look_at_streams(struct looker *lk, struct err *e)
{
	uint32_t i;
	int rc = conns_read(on_conn, lk, e);

	free(lk->before.list);
	lk->before = lk->now;
	memset(&lk->now, 0, sizeof(lk->now));
	if (lk->before.n)
		qsort(lk->before.list, lk->before.n, sizeof(struct seen), by_cookie);
	for (i = 0; i < lk->s->state.n_circuits; i++)
		lk->looks[i].listed = !rc;
	return rc == -ENOENT || rc == -EPROTONOSUPPORT ? 0 : rc;
}

/* --- the module and the shapers -------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	const struct live *p = a, *q = b;

	return strcmp(p->object.name, q->object.name);
}

static void add_live(struct look *l, const struct lives *lives, const struct circuit *c)
{
	struct live key = { 0 }, *live;

	snprintf(key.object.name, sizeof(key.object.name), "%s", circuit_name(c));
	live = lives->n ? bsearch(&key, lives->list, lives->n, sizeof(key), by_name) : NULL;
	if (!live)
		return;
	l->module = true;
	l->id = live->id;
	l->window = live->object.window;
	l->rate = live->object.rate;
	l->hungry = live->hungry;
	l->tripped = live->tripped_users;
	l->trips = live->trips;
	l->delivered = live->delivered;
	l->lost = live->lost;
}

static int look_at_module(struct looker *lk, struct err *e)
{
	const struct session *s = lk->s;
	struct lives lives = { 0 };
	int rc = sysctl_exists(FCWND_SYSCTL) ? lives_read(&lives, e) : 0;
	uint32_t i;

	if (rc == -EPROTONOSUPPORT)	/* removed at this moment */
		rc = 0;
	if (lives.n)
		qsort(lives.list, lives.n, sizeof(*lives.list), by_name);
	for (i = 0; i < s->state.n_circuits && !rc; i++)
		if (is_measured(s, i))
			add_live(&lk->looks[i], &lives, &s->state.circuits[i].circuit);
	lives_free(&lives);
	return rc;
}

/* A root that is not ours, or a class that is gone, counts something else. */
static int look_at_shaper(struct looker *lk, uint32_t i, struct err *e)
{
	const struct circuit *c = &lk->s->state.circuits[i].circuit;
	struct look *l = &lk->looks[i];
	struct qdisc q = { 0 };
	int rc;

	if (c->shaper == SHAPER_NONE)
		return 0;
	rc = session_shaper(lk->s, i, &q, &l->stats, e);
	l->shaper = !rc && q.state != QDISC_DEFAULT && q.state != QDISC_FOREIGN;
	return rc == -ENODEV ? 0 : rc;
}

static int look(struct looker *lk, struct err *e)
{
	uint32_t i, n = lk->s->state.n_circuits;
	uint64_t at = hear_clock();
	int rc;

	memset(lk->looks, 0, n * sizeof(*lk->looks));
	rc = look_at_module(lk, e);
	for (i = 0; i < n && !rc; i++)
		if (is_measured(lk->s, i))
			rc = look_at_shaper(lk, i, e);
	if (!rc)
		rc = look_at_streams(lk, e);
	for (i = 0; i < n && !rc; i++) {
		lk->looks[i].at = at;
		if (is_measured(lk->s, i))
			measure_add(&lk->measures[i], &lk->looks[i]);
	}
	return rc;
}

/* --- time ------------------------------------------------------------------ */

/* Whoever waits at a terminal sees for how long; at the end it is wiped. */
static void progress(const struct args *a, uint64_t left_us)
{
	unsigned int left_s = (unsigned int)((left_us + 999999) / 1000000);

	if (a->quiet || !isatty(STDERR_FILENO))
		return;
	if (left_us)
		fprintf(stderr, "\rmeasuring, %3u s left", left_s);
	else
		fprintf(stderr, "\r%24s\r", "");
	fflush(stderr);
}

static uint64_t apart(uint64_t us)
{
	uint64_t step = us / LOOKS;

	return step < LOOK_MIN_US ? LOOK_MIN_US : step > LOOK_MAX_US ? LOOK_MAX_US : step;
}

static int look_for(struct looker *lk, uint64_t us, struct err *e)
{
	uint64_t end = hear_clock() + us, now = end - us, next = now;
	int rc = look(lk, e);

	while (!rc && now < end) {
		progress(lk->s->args, end - now);
		next += apart(us);
		if (next > end || end - next < LOOK_MIN_US / 2)
			next = end;
		while ((now = hear_clock()) < next)
			poll(NULL, 0, (int)((next - now + 999) / 1000));
		rc = look(lk, e);
	}
	progress(lk->s->args, 0);
	return rc;
}

/* The root of a device counts what all of its circuits send. */
static bool owns_shaper(const struct state *st, uint32_t i)
{
	const struct member *m = &st->circuits[i];
	uint32_t k;

	if (m->classid || m->circuit.n_to)
		return m->classid;
	for (k = 0; k < st->n_circuits; k++)
		if (k != i && st->circuits[k].ifindex == m->ifindex)
			return false;
	return true;
}

/* After session_look(); @list has one for each circuit of the state, zeroed. */
int measure_circuits(struct session *s, uint64_t us, struct measure *list, struct err *e)
{
	struct looker lk = { .s = s, .measures = list };
	int rc = nlm_open(&lk.routes, NETLINK_ROUTE, e);
	uint32_t i;

	lk.looks = calloc(s->state.n_circuits + 1, sizeof(*lk.looks));
	for (i = 0; i < s->state.n_circuits; i++)
		list[i].own = owns_shaper(&s->state, i);
	if (!rc && (!lk.looks || make_owners(&lk)))
		rc = err_set(e, -ENOMEM, "out of memory");
	if (!rc)
		rc = look_for(&lk, us, e);
	nlm_close(&lk.routes);
	rules_free(&lk.rules);
	lives_free(&lk.owners);
	free(lk.before.list);
	free(lk.now.list);
	free(lk.looks);
	return rc;
}
