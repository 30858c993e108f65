// SPDX-License-Identifier: GPL-2.0
/*
 * Intervals -> facts: see facts.h.
 *
 * What a flow's time went into
 * ----------------------------
 * The kernel keeps three clocks of a sender (tcp_chrono_start(); tcp_info, since
 * 4.10): busy, there is data in flight or waiting; rwnd-limited and sndbuf-limited, parts of
 * busy in which the peer's window or the send buffer kept it from sending.  Then
 *
 *	idle	= time - busy
 *	app	= idle + what of busy - rwnd - sndbuf is app-limited
 *	network	= time - rwnd - sndbuf - app	the congestion window, or our own device
 *
 * App-limited is a moment at which less than a segment waits and the window has room
 * (draft-ietf-ccwg-bbr, "app-limited"; tcp_rate_check_app_limited()).
 *
 * An application's own window, as of OpenSSH's channel: something is in flight all the time,
 * but flight = rate x rtt stays the same where the windows would allow more.  An application
 * with a rate of its own has flight in proportion to rtt instead.  Over a path whose rtt never
 * changes, both look alike if the application writes more often than once in a round trip.
 *
 * What was long ago counts for less: sums are halved when they span RECENT_US, and of windows
 * and rates the last SERIES_MAX are kept.  What tells losses from each other is kept from the
 * first one on, in loss_facts, as most flows lose nothing: polls before that tell next to nothing.
 */
#include "facts.h"
#include "local_drops.h"
#include "permille.h"

#define RECENT_US	120000000U	/* two minutes: some ten transfers of a second each */
#define SECOND_US	1000000U	/* for a rate: five looks, or a poll */
#define SECOND_MOST_US	3600000000U	/* between two samples; more does not fit */

_Static_assert(sizeof(struct flow_facts) <= 288, "50,000 flows in 64 MB, with their samples");

/*
 * The kernel's flag is that of the best rate sample of late: one that was not app-limited
 * hides those behind it that are slower (tcp_rate_gen()).  So what it is told by, too: less than
 * a segment waits, and the window has room.
 */
static bool is_app_limited(const struct sample *s)
{
	uint32_t out = s->sacked + s->lost, flight = s->unacked + s->retrans;

	return s->app_limited ||
	       (s->conn.unsent < s->conn.mss && (flight > out ? flight - out : 0) < s->snd_cwnd);
}

/* Time in which the application had nothing to send, with and without data in flight */
static uint64_t app_us(const struct interval *i)
{
	uint64_t busy = least(i->busy, i->us), held = least(i->rwnd + i->sndbuf, busy);

	return i->us - busy + (is_app_limited(i->now) ? busy - held : 0);
}

/*
 * TCP keeps a millisecond's worth of its pacing rate in the queues of this host, two packets
 * at least (tcp_small_queue_check()).  It is all there where our own device is the slowest.
 * A driver that reports late that it has sent holds some, too, but not half of that.
 */
static bool is_queued(const struct sample *s)
{
	uint64_t half = s->pacing_rate / 2048, two = 2ULL * s->conn.mss;

	return s->wmem_alloc > (half > two ? half : two);
}

static void add_work(struct work *w, const struct interval *i)
{
	w->us += i->us;
	w->acked += i->acked;
	w->busy += least(i->busy, i->us);
	w->rwnd += least(i->rwnd, i->us);
	w->sndbuf += least(i->sndbuf, i->us);
	w->app += app_us(i);
	w->queued += is_queued(i->now) ? i->us : 0;
}

static void age_loss(struct loss_facts *l)
{
	ceiling_age(&l->ceiling);
	hits_age(&l->starts.hits);
	hits_age(&l->faster.hits);
	high_age(&l->high);
	response_age(&l->response);
	heavy_age(&l->heavy);
}

static void age(struct flow_facts *f)
{
	struct work *w = &f->recent;

	if (w->us < RECENT_US)
		return;
	w->us /= 2;
	w->acked /= 2;
	w->busy /= 2;
	w->rwnd /= 2;
	w->sndbuf /= 2;
	w->app /= 2;
	w->queued /= 2;
	f->lost /= 2;
	f->lost_local /= 2;
	f->recent_segs /= 2;
	f->cuts /= 2;
	f->app_rtt_min = 0;
	f->app_rtt_max = 0;
	if (f->loss)
		age_loss(f->loss);
}

/* What is dropped in one interval may be found to be missing in the next. */
static void add_local(struct flow_facts *f, const struct interval *i, uint32_t lost)
{
	uint64_t dropped = local_drops_segs(i), here = least(lost, f->dropped_before + dropped);

	f->lost_local += here;
	f->dropped_before = least(f->dropped_before + dropped - here, dropped);
}

static void add_counts(struct flow_facts *f, const struct interval *i)
{
	uint32_t lost = losses_of(i);

	f->segs += i->segs;
	f->retrans += i->retrans;
	f->local_drops += i->local_drops;
	f->recent_segs += i->segs;
	f->lost += lost;
	add_local(f, i, lost);
	f->cuts += local_drops_cut(i);
	f->intervals += f->intervals < UINT16_MAX;
}

static void larger(uint32_t *most, uint32_t n)
{
	if (n > *most)
		*most = n;
}

static void add_sample(struct flow_facts *f, const struct sample *s, uint64_t us)
{
	f->cwnd_us += (double)s->snd_cwnd * (double)us;
	larger(&f->cwnd_max, s->snd_cwnd);
	larger(&f->snd_wnd_max, s->snd_wnd);
	if (s->delivery_rate > f->best_rate)
		f->best_rate = s->delivery_rate;
	f->mss = (uint16_t)least(s->conn.mss, UINT16_MAX);
	f->rtt_us = s->rtt_us;
	f->min_rtt_us = s->conn.min_rtt;
	f->sndbuf_bytes = s->sndbuf;
	f->no_wscale = !s->has_wscale;
}

static void begin_second(struct flow_facts *f)
{
	f->second_us = 0;
	f->second_bytes = 0;
	f->second_lost = false;
}

static void end_second(struct flow_facts *f, uint32_t rtt_us)
{
	double rate = (double)f->second_bytes * 1e6 / f->second_us;

	if (!f->second_is_app) {
		if (f->second_lost && f->loss)
			series_add(&f->loss->rates, rate);
		return;
	}
	series_add(&f->flights, rate * rtt_us / 1e6);
	larger(&f->app_rtt_max, rtt_us);
	if (!f->app_rtt_min || rtt_us < f->app_rtt_min)
		f->app_rtt_min = rtt_us;
}

/* A second that was idle in between, or limited now by this and now by that, has no rate. */
static void add_second(struct flow_facts *f, const struct interval *i)
{
	bool app = is_app_limited(i->now), idle = permille(i->busy, i->us) < ALWAYS;

	if (idle || app != f->second_is_app) {
		begin_second(f);
		f->second_is_app = app;
	}
	if (idle)
		return;
	f->second_us += (uint32_t)least(i->us, SECOND_MOST_US);
	f->second_bytes += interval_bytes(i);
	f->second_lost |= losses_of(i) > 0;
	if (f->second_us < SECOND_US)
		return;
	end_second(f, i->now->rtt_us);
	begin_second(f);
}

/* By something else than the network, or not looked at closely enough to say by what */
static bool is_held(const struct interval *i)
{
	return !losses_is_look(i) || is_app_limited(i->now) || i->busy < i->us / 10 * 9 ||
	       i->rwnd + i->sndbuf >= i->us / 10;
}

static void add_loss(struct loss_facts *l, const struct interval *i)
{
	losses_add(&l->losses, i, starts_add(&l->starts, i));
	if (!losses_in_startup(i))
		spacing_add(&l->threes, i, losses_of(i), CELL_THREE_US);
	delivered_add(&l->delivered, i, is_held(i) || i->reord);
	faster_add(&l->faster, i);
	high_add(&l->high, i);
	response_add(&l->response, i);
	heavy_add(&l->heavy, i);
	ceiling_add(&l->ceiling, i, is_app_limited(i->now), is_queued(i->now));
}

bool facts_want_loss(const struct flow_facts *f, const struct interval *i)
{
	return !f->loss && losses_of(i);
}

void facts_add(struct flow_facts *f, const struct interval *i)
{
	age(f);
	f->us += i->us;
	f->acked += i->acked;
	add_work(&f->recent, i);
	add_counts(f, i);
	add_sample(f, i->now, i->us);
	add_second(f, i);
	if (f->loss)
		add_loss(f->loss, i);
}
