// SPDX-License-Identifier: GPL-2.0
/*
 * Which rate a remote takes: see search.h.
 *
 * Model.  A receiver, or the last hop before it, takes C bytes/s and drops what comes faster.
 * Without pacing TCP finds that out by loss, again and again, and carries g < C on the
 * average.  Paced at r <= C nothing is lost, and r is carried; at r > C some is lost.  So the
 * largest r without loss is looked for, between what was carried (the best of the intervals
 * before, or the highest delivery rate, which the receiver's own pace shapes) and what lost:
 * upward by steps that double, then by halves, until they are SETTLED apart.
 *
 * Margin.  A rate is proved in seconds and kept for hours.  What is too much by less than the
 * seconds can show, in loss below what counts as one or in a buffer that fills, loses for all
 * of the hours: so what is kept is MARGIN below the largest r that did not lose.  It is wide
 * enough for both: no loss above half of it counts as none, and a rate is held for PROOF_RTTS,
 * in which half of it fills a buffer of one round trip.  It is narrow enough to be no loss
 * itself: high > C lost, low >= high - high / SETTLED, and low - low / MARGIN is 98 % of C.
 * Nor is less kept than NO_WORSE of before.  The proved rate stays known: more is tried from
 * there, not what was tried before, and a margin is not taken twice.
 *
 * What counts.  An interval in which the application had nothing to send for more than
 * APP_MAX, or with fewer than SEGS_MIN segments, says nothing of the path; nor does one that a
 * window, a send buffer or a local qdisc held.  A flow that pacing holds is clean by its
 * verdict: that it fills its rate is seen by what was carried, FULL of the rate.
 *
 * A rate has lost if of its segments more than a tenth of the part of before was sent again, and
 * more than CLEAN_PPM; that it has not needs so many segments that as many losses as before
 * would have shown (EVIDENCE of them).
 *
 * Kept is what carries no less than NO_WORSE of before without having lost, or BETTER if it
 * has lost.  So no rate below NO_WORSE of before is tried: a remote that fakes loss has at
 * least what it took without pacing, as long as it fakes.  At that rate itself nothing can carry
 * as much, as an interval counts less than the rate by what is on its way at its end, and less
 * still where a transfer begins or ends in it: a rate of which one interval carried FILLED is no
 * worse than it is.  What did not help is taken back and not tried again for a day, then two,
 * four, eight, and two weeks.
 *
 * Flaps.  Of a rate that is kept three intervals that lost, with no clean ones between, are
 * needed to look for less; a full hour without loss to try PROBE more, twice as long after each
 * time in vain, up to a day; and CHANGES_MAX changes a day are the end of it for that day.
 *
 * Floor.  An address may be shared, and one user of it can lose as he likes while he is alone, and
 * carry little: the rate that was found so would be that of all others later.  So no rate is tried
 * below a quarter (FLOOR) of one that was proved, and of one that carried its rate without loss,
 * within the last two days; what loses at that too is taken back, which is no less than without
 * pacing.  And while the rate is lower than it was then, more is tried after 4 h of full use, if
 * the day has a change left, however often that was in vain.  Two days: so the changes of the day
 * in which it was lowered do not outlast what is known.
 *
 * Ranges: 400 Gbit/s for two weeks are 6e16 bytes; us <= 2^43, so that x % us * 1e6 < 2^63.
 */
#include <string.h>

#include "search.h"
#include "units.h"

#define BASE_N		10U		/* overruns before anything is tried */
#define TRY_N		3U		/* intervals that a rate needs */
#define APP_MAX		100U		/* thousandths of an interval */
#define SEGS_MIN	500U		/* of an interval: 20 of them lost in 1 of 25 */
#define RETRANS_MIN	5U		/* segments, or it is chance */
#define EVIDENCE	20U		/* segments that would have been sent again */
#define EVIDENCE_MAX	2000000U	/* segments, where hardly any were sent again before */
#define CLEAN_PPM	20U		/* of segments sent again: two in 100,000 */
#define FULL		90U		/* percent of the rate */
#define FILLED		99U
#define NO_WORSE	98U		/* percent of what was carried before */
#define BETTER		103U
#define SETTLED		100U		/* high - low <= high / SETTLED: 1 % */
#define MARGIN		100U		/* rate / MARGIN: 1 % */
#define PROOF_RTTS	(2U * MARGIN)	/* at C + C / this, a round trip's buffer fills */
#define PROBE		20U		/* rate / PROBE: 5 % */
#define LESS		10U		/* rate / LESS: 10 %, where nothing tells how much */
#define LOSING		3U
#define FLOOR		4U		/* low / FLOOR: a quarter */
#define FLOOR_S		(2 * DAY_S)	/* of that which it was so long ago */
#define FULL_US		3600000000ULL	/* 1 h */
#define PROBES_MAX	5U		/* 1 h << 5 is more than a day */
#define PROBES_LOWERED	2U		/* 4 h */
#define DAY_S		86400LL
#define FORGET_S	(14 * DAY_S)
#define VETO_S		3600LL
#define FAILURES_MAX	5U		/* 1 d << 4 is more than two weeks */
#define CHANGES_MAX	24U		/* a day */
#define US_MAX		(1ULL << 43)
#define PPM		1000000ULL

/* --- measures -------------------------------------------------------------- */

/* bytes/s */
static uint64_t rate_of(uint64_t bytes, uint64_t us)
{
	return us ? bytes / us * 1000000 + bytes % us * 1000000 / us : 0;
}

/* bytes <= 2^60, headers < mss as a rule */
uint64_t search_on_wire(uint64_t bytes, uint32_t mss, uint32_t headers)
{
	if (!mss)
		return bytes;
	return bytes + bytes / mss * headers + bytes % mss * headers / mss;
}

static uint64_t percent_of(uint64_t x, uint64_t percent)
{
	return x / 100 * percent + x % 100 * percent / 100;
}

static uint64_t clamp_rate(uint64_t rate)
{
	return rate < RATE_MIN ? RATE_MIN : rate > RATE_MAX ? RATE_MAX : rate;
}

uint64_t search_goodput(const struct tally *t)
{
	return rate_of(t->acked, t->us);
}

static void tally_add(struct tally *t, const struct observation *o)
{
	uint64_t rate = rate_of(o->acked, o->us);

	t->n++;
	t->us += o->us;
	t->acked += o->acked;
	t->segs += o->segs;
	t->retrans += o->retrans;
	if (rate > t->best)
		t->best = rate;
	if (o->best_rate > t->peak)
		t->peak = o->best_rate;
}

static void tally_clear(struct tally *t)
{
	memset(t, 0, sizeof(*t));
}

/* Parts per million of segments; segs <= 2^43 in two weeks at 400 Gbit/s of 1 KB each */
static uint64_t part_of(uint64_t retrans, uint64_t segs)
{
	return segs ? retrans * PPM / segs : 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* What is no more than this has not lost, and the margin makes up for it. */
static uint64_t clean_part(const struct search *s)
{
	uint64_t tenth = part_of(s->base.retrans, s->base.segs) / 10;
	uint64_t part = tenth < PPM / MARGIN / 2 ? tenth : PPM / MARGIN / 2;

	return larger(larger(part, CLEAN_PPM), s->tolerated);
}

bool search_has_lost(const struct search *s, uint64_t retrans, uint64_t segs)
{
	return retrans >= RETRANS_MIN && part_of(retrans, segs) > clean_part(s);
}

/* Segments after which as many losses as before would have shown */
static uint64_t segs_needed(const struct search *s)
{
	uint64_t part = part_of(s->base.retrans, s->base.segs);
	uint64_t segs = part ? EVIDENCE * PPM / part : EVIDENCE_MAX;

	return segs < EVIDENCE_MAX ? segs : EVIDENCE_MAX;
}

static bool is_full(const struct search *s, uint64_t rate)
{
	return rate >= percent_of(s->rate, FULL);
}

/* It says something of the path. */
bool search_counts(const struct observation *o)
{
	if (o->mixed || !o->us || o->us > US_MAX || o->segs < SEGS_MIN || o->app > APP_MAX)
		return false;
	return o->verdict == VERDICT_OVERRUN || o->verdict == VERDICT_LOSS ||
	       o->verdict == VERDICT_CLEAN;
}

bool search_is_held(const struct observation *o)
{
	return o->segs && o->app <= APP_MAX;
}

/* --- changes --------------------------------------------------------------- */

static void set_rate(struct search *s, uint64_t rate, enum search_reason reason,
		     struct decision *d)
{
	d->reason = reason;
	tally_clear(&s->now);
	if (rate == s->rate)
		return;
	s->rate = rate;
	s->settling = true;
	s->changes++;
	d->action = rate ? SEARCH_PACE : SEARCH_UNPACE;
	d->rate = rate;
}

static void begin_watching(struct search *s)
{
	const struct search was = *s;

	memset(s, 0, sizeof(*s));
	s->failures = was.failures;
	s->seen = was.seen;
	s->counted = was.counted;
	s->day = was.day;
	s->changes = was.changes;
	s->rate = was.rate;
	s->floor = was.floor;
	s->floor_until = was.floor_until;
}

static void forget(struct search *s, struct decision *d)
{
	begin_watching(s);
	s->failures = 0;
	s->floor = 0;
	s->floor_until = 0;
	set_rate(s, 0, SEARCH_FORGOTTEN, d);
	s->settling = false;
	s->counted = 0;
}

/* @first: s, that it is not tried again after the first failure */
static void take_back_for(struct search *s, int64_t first, enum search_reason reason,
			  struct decision *d)
{
	unsigned int shift = s->failures < FAILURES_MAX ? s->failures : FAILURES_MAX;
	int64_t wait = first << shift;

	begin_watching(s);
	s->state = SEARCH_TAKEN_BACK;
	s->failures++;
	s->again = s->seen + (wait < FORGET_S ? wait : FORGET_S);
	set_rate(s, 0, reason, d);
	s->settling = false;
}

static bool has_floor(const struct search *s)
{
	return s->floor && s->seen < s->floor_until;
}

/* Below it no rate can be as good as none was, or it is much less than was proved. */
static uint64_t floor_of(const struct search *s)
{
	uint64_t least = percent_of(search_goodput(&s->base), NO_WORSE);

	return clamp_rate(has_floor(s) ? larger(least, s->floor) : least);
}

static void take_back(struct search *s, enum search_reason reason, struct decision *d)
{
	take_back_for(s, DAY_S, reason, d);
}

/* It carries, or did, what is known to be without loss. */
static void raise_floor(struct search *s)
{
	if (has_floor(s) && s->floor > s->low / FLOOR)
		return;
	s->floor = s->low / FLOOR;
	s->floor_until = s->seen + FLOOR_S;
}

/* It was more within FLOOR_S. */
static bool is_lowered(const struct search *s)
{
	return has_floor(s) && s->floor > s->low / FLOOR;
}

/* Of a rate that is proved: what of it is kept */
static uint64_t with_margin(const struct search *s, uint64_t rate)
{
	uint64_t less = larger(rate - rate / MARGIN, floor_of(s));

	return less < rate ? less : rate;
}

/* @rate is proved. */
static void keep(struct search *s, uint64_t rate, enum search_reason reason, struct decision *d)
{
	s->state = SEARCH_KEPT;
	s->failures = 0;
	s->losing = 0;
	s->full_us = 0;
	s->upward = false;
	s->low = rate;
	raise_floor(s);
	set_rate(s, with_margin(s, rate), reason, d);
}

/* It goes on to lose as it does, but not twice as much. */
static void keep_better(struct search *s, struct decision *d)
{
	s->tolerated = 2 * s->better_part;
	keep(s, s->better, SEARCH_BETTER, d);
}

/* Nothing of what was tried is better than no pacing, or the best of it is. */
static void settle(struct search *s, enum search_reason none, struct decision *d)
{
	if (s->low)
		keep(s, s->low, SEARCH_PROVED, d);
	else if (s->better)
		keep_better(s, d);
	else
		take_back(s, none, d);
}

static bool may_change(const struct search *s)
{
	/* two are kept for the way back */
	return s->changes + 2 < CHANGES_MAX;
}

static void try_rate(struct search *s, uint64_t rate, enum search_reason reason,
		     struct decision *d)
{
	if (!may_change(s)) {
		settle(s, SEARCH_TOO_MANY, d);
		return;
	}
	s->state = SEARCH_TRYING;
	set_rate(s, clamp_rate(rate), reason, d);
}

/* --- trying ---------------------------------------------------------------- */

static uint64_t first_step(uint64_t rate)
{
	return rate / PROBE + 1;
}

/* Of a probe the first step is as narrow as it gets, if it lost: what is proved stays so. */
static bool is_in_vain(const struct search *s)
{
	uint64_t first = first_step(s->low);

	return s->upward && s->high - s->low <= first && s->step <= 2 * first;
}

static bool is_narrow(const struct search *s)
{
	uint64_t apart = s->high > s->low ? s->high - s->low : 0;

	return apart <= s->high / SETTLED;
}

static void try_between(struct search *s, enum search_reason reason, struct decision *d)
{
	if (is_narrow(s))
		settle(s, SEARCH_NO_HELP, d);
	else
		try_rate(s, s->low + (s->high - s->low) / 2, reason, d);
}

/* It did not lose: more, by steps that double, as far as the delivery rate went at first. */
static void try_more(struct search *s, struct decision *d)
{
	uint64_t peak = s->base.peak, next;

	if (s->high) {
		try_between(s, SEARCH_TRY_MORE, d);
		return;
	}
	next = s->low + s->step;
	s->step *= 2;
	if (!s->upward && peak > s->low + s->low / SETTLED && peak < next) {
		next = peak;
		s->step = first_step(peak);
	}
	if (s->low >= RATE_MAX)
		settle(s, SEARCH_NO_HELP, d);
	else
		try_rate(s, next, SEARCH_TRY_MORE, d);
}

/* It lost: less, down to what was carried without. */
static void try_less(struct search *s, struct decision *d)
{
	uint64_t least = floor_of(s), next = s->high - s->high / LESS;

	if (s->low)
		try_between(s, SEARCH_TRY_LESS, d);
	else if (s->high <= least)
		settle(s, SEARCH_NO_HELP, d);
	else
		try_rate(s, next > least ? next : least, SEARCH_TRY_LESS, d);
}

static bool carries_more(const struct search *s)
{
	return search_goodput(&s->now) >= percent_of(search_goodput(&s->base), BETTER);
}

static void note_better(struct search *s)
{
	uint64_t carried = search_goodput(&s->now);

	if (!carries_more(s) || carried <= s->better_goodput)
		return;
	s->better = s->rate;
	s->better_goodput = carried;
	s->better_part = (uint32_t)part_of(s->now.retrans, s->now.segs);
	if (!s->low)
		s->proof = s->now;
}

static void probe_in_vain(struct search *s, struct decision *d)
{
	s->probes++;
	keep(s, s->low, SEARCH_PROBE_IN_VAIN, d);
}

/* At a rate that was carried before: what it loses it may lose at any. */
static bool is_lost_anyway(const struct search *s)
{
	return !s->upward && !s->low && !s->peaked && s->rate <= larger(s->base.best, RATE_MIN) &&
	       s->base.peak > s->rate + s->rate / PROBE;
}

static void try_peak(struct search *s, struct decision *d)
{
	s->peaked = true;
	try_rate(s, s->base.peak, SEARCH_TRY_MORE, d);
}

static void give_up_peak(struct search *s, struct decision *d)
{
	s->high = s->base.best;
	if (s->better)
		settle(s, SEARCH_NO_HELP, d);
	else
		try_less(s, d);
}

static void lost(struct search *s, struct decision *d)
{
	note_better(s);
	s->high = s->rate;
	if (is_in_vain(s))
		probe_in_vain(s, d);
	else if (is_lost_anyway(s))
		try_peak(s, d);
	else if (s->peaked && s->rate > s->base.best)
		give_up_peak(s, d);
	else
		try_less(s, d);
}

/* Than it was without pacing.  One interval that filled the rate is no worse than it is. */
static bool is_worse(const struct search *s)
{
	uint64_t least = percent_of(search_goodput(&s->base), NO_WORSE);

	return search_goodput(&s->now) < least &&
	       (s->rate < least || s->now.best < percent_of(s->rate, FILLED));
}

static void did_not_lose(struct search *s, struct decision *d)
{
	uint64_t carried = search_goodput(&s->now);

	if (s->upward && !is_full(s, carried)) {
		probe_in_vain(s, d);
		return;
	}
	if (!s->upward && is_worse(s)) {
		take_back(s, SEARCH_NO_HELP, d);
		return;
	}
	s->probes = 0;
	s->low = s->rate;
	s->proof = s->now;
	/* what holds it now is not the rate */
	if (!is_full(s, carried))
		settle(s, SEARCH_NO_HELP, d);
	else
		try_more(s, d);
}

/* Long enough for what is too much by more than the margin to show */
static bool is_enough(const struct search *s, uint64_t rtt_us)
{
	return s->now.n >= TRY_N && s->now.segs >= segs_needed(s) &&
	       s->now.us >= PROOF_RTTS * rtt_us;
}

static void observe_trying(struct search *s, const struct observation *o, struct decision *d)
{
	tally_add(&s->now, o);
	if (search_has_lost(s, s->now.retrans, s->now.segs)) {
		/* that it carries more all the same may be chance, for as many as those before */
		if (s->now.n >= (carries_more(s) ? BASE_N : 2))
			lost(s, d);
	} else if (is_enough(s, o->min_rtt_us)) {
		did_not_lose(s, d);
	}
}

/* What lost, and a step; where the least that is tried is between them, that */
static uint64_t below_high(const struct search *s)
{
	return larger(s->high - s->high / LESS, floor_of(s));
}

/* Between what was carried at best and, where it is known, what lost: the first one */
static void begin_trying(struct search *s, enum search_reason reason, struct decision *d)
{
	uint64_t first = clamp_rate(s->base.best), least = floor_of(s);

	s->low = 0;
	s->better = 0;
	s->better_goodput = 0;
	s->tolerated = 0;
	s->upward = false;
	s->peaked = false;
	tally_clear(&s->proof);
	if (first < least)
		first = least;
	if (s->high && first >= s->high)
		first = below_high(s);
	if (s->high && first >= s->high) {
		take_back(s, SEARCH_NO_HELP, d);
		return;
	}
	s->step = first;
	try_rate(s, first, reason, d);
}

/* --- the others ------------------------------------------------------------- */

static void observe_watching(struct search *s, const struct observation *o, struct decision *d)
{
	if (o->verdict != VERDICT_OVERRUN) {
		s->others++;
		/* most of the time it is not overrun */
		if (s->others > s->base.n) {
			s->others = 0;
			tally_clear(&s->base);
		}
		return;
	}
	tally_add(&s->base, o);
	if (s->base.n < BASE_N || !may_change(s))
		return;
	s->high = 0;
	begin_trying(s, SEARCH_OVERRUN, d);
}

/* The remote takes less than it did: what it carries at a rate that loses is the new base. */
static void lose_again(struct search *s, struct decision *d)
{
	s->base = s->now;
	s->losing = 0;
	s->high = s->rate;
	if (!may_change(s))
		take_back(s, SEARCH_TOO_MANY, d);
	else
		begin_trying(s, SEARCH_LOSES_AGAIN, d);
}

static void probe(struct search *s, struct decision *d)
{
	s->upward = true;
	s->full_us = 0;
	s->high = 0;
	/* from what is proved, which is more by the margin */
	s->low = larger(s->low, s->rate);
	s->step = first_step(s->low);
	try_more(s, d);
	if (d->action)
		d->reason = SEARCH_PROBE;
}

static void observe_kept(struct search *s, const struct observation *o, struct decision *d)
{
	uint32_t most = is_lowered(s) ? PROBES_LOWERED : PROBES_MAX;
	uint64_t wait = FULL_US << (s->probes < most ? s->probes : most);

	if (search_has_lost(s, o->retrans, o->segs)) {
		tally_add(&s->now, o);
		s->full_us = 0;
		if (++s->losing >= LOSING)
			lose_again(s, d);
		return;
	}
	if (s->losing && !--s->losing)
		tally_clear(&s->now);
	if (!is_full(s, rate_of(o->acked, o->us)))
		return;
	s->full_us += o->us;
	raise_floor(s);
	if (wait > DAY_S * PPM)
		wait = DAY_S * PPM;
	if (s->full_us >= wait && may_change(s) && s->low < RATE_MAX)
		probe(s, d);
}

/* --- time ------------------------------------------------------------------- */

/* A clock that was set back takes what was to come with it. */
static void move_times(struct search *s, int64_t now)
{
	int64_t back = s->seen - now;

	if (!s->seen || back <= 0)
		return;
	s->again -= s->again ? back : 0;
	s->floor_until -= s->floor_until ? back : 0;
	s->day -= s->day ? back : 0;
	s->counted -= s->counted ? back : 0;
	s->seen = now;
}

static void count_day(struct search *s, int64_t now)
{
	if (s->day && now - s->day < DAY_S)
		return;
	s->day = now;
	s->changes = 0;
}

/* What was proved so long ago, or was not to be tried until then, is not known any more. */
static bool is_forgotten(const struct search *s, int64_t now)
{
	int64_t last = s->counted > s->again ? s->counted : s->again;

	return last && now - last >= FORGET_S;
}

void search_seen(struct search *s, const struct observation *o)
{
	move_times(s, o->at);
	s->seen = o->at > 0 ? o->at : 1;
	if (search_counts(o))
		s->counted = s->seen;
}

void search_tick(struct search *s, int64_t now, struct decision *d)
{
	memset(d, 0, sizeof(*d));
	move_times(s, now);
	count_day(s, now);
	if (is_forgotten(s, now))
		forget(s, d);
}

/* It stays watched, and whoever changed it has time to come to rest. */
void search_stand_down(struct search *s, int64_t now)
{
	struct decision unused = { 0 };

	move_times(s, now);
	s->seen = now;
	take_back(s, SEARCH_NO_REASON, &unused);
}

void search_veto(struct search *s, int64_t now, struct decision *d)
{
	memset(d, 0, sizeof(*d));
	move_times(s, now);
	s->seen = now > 0 ? now : 1;
	take_back_for(s, VETO_S, SEARCH_VETO, d);
}

/* Near enough for every other way to find the rate: it is left alone. */
static void leave_near(struct search *s, struct decision *d)
{
	if (!s->rate)
		return;
	begin_watching(s);
	set_rate(s, 0, SEARCH_NEAR, d);
	s->settling = false;
}

static void observe_counted(struct search *s, const struct observation *o, struct decision *d)
{
	switch (s->state) {
	case SEARCH_WATCHING:
		observe_watching(s, o, d);
		break;
	case SEARCH_TRYING:
		observe_trying(s, o, d);
		break;
	case SEARCH_KEPT:
		observe_kept(s, o, d);
		break;
	default:
		break;
	}
}

void search_observe(struct search *s, const struct observation *o, uint32_t min_rtt_us,
		    struct decision *d)
{
	search_tick(s, o->at, d);
	s->seen = o->at > 0 ? o->at : 1;
	if (o->min_rtt_us && o->min_rtt_us < min_rtt_us) {
		leave_near(s, d);
		return;
	}
	if (s->state == SEARCH_TAKEN_BACK && o->at >= s->again)
		begin_watching(s);
	if (!search_counts(o))
		return;
	s->counted = s->seen;
	if (o->paced != s->rate)
		return;
	if (s->settling) {
		s->settling = false;
		return;
	}
	observe_counted(s, o, d);
}
