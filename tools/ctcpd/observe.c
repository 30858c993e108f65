// SPDX-License-Identifier: GPL-2.0
/*
 * What the daemon sees, poll by poll: see observe.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <string.h>
#include <time.h>

#include "observe.h"

/* --- clocks ----------------------------------------------------------------------- */

static uint64_t clock_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

int64_t now_s(void)
{
	return (int64_t)(clock_us(CLOCK_REALTIME) / 1000000);
}

int64_t when_s(uint64_t at_us)
{
	uint64_t now = diag_clock();

	return now_s() - (int64_t)((now > at_us ? now - at_us : 0) / 1000000);
}

/* --- begin and end ----------------------------------------------------------------- */

/* Samples and devices are the flows' own; the packets that were dropped are counted here. */
static void no_sample(const struct sample *s, void *data)
{
	(void)s;
	(void)data;
}

static void no_device(uint64_t cookie, uint32_t ifindex, void *data)
{
	(void)cookie;
	(void)ifindex;
	(void)data;
}

static void count_drops(uint64_t at_us, uint32_t ifindex, uint32_t n, void *data)
{
	struct observer *o = data;

	(void)at_us;
	(void)ifindex;
	o->totals.local_drops += n;
}

int observe_begin(struct observer *o, const struct config *c, struct log *log, struct keep *keep,
		  struct err *e)
{
	*o = (struct observer){ .config = c, .log = log, .keep = keep };
	o->qdrops = qdrops_new();
	o->flows = flows_new();
	o->remotes = remotes_new();
	if (o->qdrops && o->flows && o->remotes) {
		o->tap = (struct flows_tap){ no_sample, no_device, count_drops, o };
		flows_set_tap(o->flows, &o->tap);
		return 0;
	}
	observe_end(o);
	return err_set(e, -ENOMEM, "no memory to begin with");
}

/* The name of a device that has gone meanwhile nobody knows. */
static void device_name(uint32_t ifindex, char dev[IFNAMSIZ])
{
	if (!ifindex || !if_indextoname(ifindex, dev))
		dev[0] = 0;
}

static int visit_done(struct remote *r, void *data)
{
	struct observer *o = data;
	struct visit v = {
		.remote = r->addr, .began = when_s(r->began_us), .ended = when_s(r->seen_us),
		.flows = r->flows, .paced = r->paced, .judgement = r->now,
	};
	unsigned int i;

	for (i = 0; r->gone && i < VERDICTS; i++)
		v.flows += r->gone->flows[i];
	memcpy(v.algorithm, r->algorithm, sizeof(v.algorithm));
	device_name(r->ifindex, v.dev);
	keep_visit(o->keep, &v, now_s());
	return 0;
}

void observe_end(struct observer *o)
{
	if (o->remotes)
		remotes_finish(o->remotes, visit_done, o);
	remotes_free(o->remotes);
	flows_free(o->flows);
	qdrops_free(o->qdrops);
	if (o->diag_open)
		diag_close(&o->diag);
	*o = (struct observer){ 0 };
}

/* --- a poll ------------------------------------------------------------------------- */

static int flow_gone(const struct flow *f, bool closed, void *data)
{
	struct observer *o = data;

	return remotes_flow(o->remotes, f, closed);
}

static int flow_there(const struct flow *f, bool closed, void *data)
{
	struct observer *o = data;

	o->suspects |= f->looks;
	return remotes_flow(o->remotes, f, closed);
}

static int look_at_all(struct observer *o, struct err *e)
{
	int rc;

	if (!o->diag_open) {
		rc = diag_open(&o->diag, e);
		if (rc)
			return rc;
		o->diag_open = true;
	}
	remotes_begin(o->remotes, diag_clock());
	rc = flows_poll(o->flows, &o->diag, o->qdrops, flow_gone, o, e);
	if (rc)
		return rc;
	o->suspects = false;
	rc = flows_each(o->flows, flow_there, o);
	if (!rc)
		rc = remotes_end(o->remotes, diag_clock(), visit_done, o);
	return rc ? err_set(e, rc, "%s", strerror(-rc)) : 0;
}

struct counting {
	struct observer *observer;
	struct telling telling;
};

static int count_and_tell(struct remote *r, void *data)
{
	struct counting *c = data;

	c->observer->totals.remotes_of[r->now.verdict]++;
	tell(r, &c->telling);
	return 0;
}

static void say_left_out(struct observer *o)
{
	uint32_t n = o->totals.flows_left_out;

	if (n)
		log_state(o->log, LOG_WARNING, "flows", "left out",
			  "there are more than %u flows: %u are left out", FLOWS_MAX, n);
	else if (!log_is_new(&o->log->said, "flows"))
		log_state(o->log, LOG_NOTICE, "flows", "all", "no flow is left out any more");
}

/* Counters never go back, also where flows that were forgotten took theirs with them. */
static void raise(uint64_t *counter, uint64_t to)
{
	if (to > *counter)
		*counter = to;
}

static void count(struct observer *o)
{
	struct counting c = { o, { .config = o->config, .log = o->log } };
	const struct remotes_sums *sums = remotes_sums(o->remotes);
	struct poll_totals *t = &o->totals;

	t->flows = flows_count(o->flows);
	t->flows_left_out = flows_left_out(o->flows);
	t->remotes = remotes_count(o->remotes);
	memcpy(t->flows_of, sums->flows_of, sizeof(t->flows_of));
	memset(t->remotes_of, 0, sizeof(t->remotes_of));
	raise(&t->acked, sums->acked);
	raise(&t->segs, sums->segs);
	raise(&t->retrans, sums->retrans);
	say_left_out(o);
	remotes_each(o->remotes, count_and_tell, &c);
	tell_end(&c.telling);
}

static void say_how_it_went(struct observer *o, int rc, const struct err *e)
{
	char state[24];

	if (rc) {
		snprintf(state, sizeof(state), "failed %d", -rc);
		log_state(o->log, LOG_ERR, "poll", state,
			  "flows cannot be read: %s; it is tried again with each poll", e->text);
	} else if (!log_is_new(&o->log->said, "poll")) {
		log_state(o->log, LOG_NOTICE, "poll", "well",
			  "flows are read again; %" PRIu64 " of %" PRIu64 " polls failed",
			  o->totals.failed, o->totals.polls);
	}
}

bool observe_poll(struct observer *o)
{
	uint64_t began = clock_us(CLOCK_THREAD_CPUTIME_ID);
	struct poll_totals *t = &o->totals;
	struct err e = { "" };
	int rc = look_at_all(o, &e);

	t->polls++;
	t->failed += rc != 0;
	say_how_it_went(o, rc, &e);
	if (!rc)
		count(o);
	t->cpu_us = clock_us(CLOCK_THREAD_CPUTIME_ID) - began;
	keep_flush(o->keep, now_s());
	t->history_failed = o->keep->failed;
	t->history_ok = keep_ok(o->keep);
	log_say(o->log, LOG_DEBUG, "poll %" PRIu64 ": %u flows, %u remotes, %" PRIu64 " us of CPU",
		t->polls, t->flows, t->remotes, t->cpu_us);
	return !rc;
}

/* What fails here the next poll says, if it lasts. */
void observe_look(struct observer *o)
{
	struct err e;

	if (o->diag_open)
		flows_look(o->flows, &o->diag, o->qdrops, &e);
}
