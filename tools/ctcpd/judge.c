// SPDX-License-Identifier: GPL-2.0
/*
 * Facts -> judgement: see judge.h; what facts are made of, facts.c.
 *
 * What losses tell
 * ----------------
 * Chance: each segment is lost with probability p, whatever the window.  The mean window of
 * Reno is then W = 1.31 / sqrt(p), 1.22 / sqrt(p) where losses are periodic, which response.c
 * takes (Mathis, Semke, Mahdavi, Ott, 1997, CCR 27(3)); of CUBIC W = 1.19 (rtt / p)^0.75, rtt in
 * seconds, and 1.054 where they are periodic (RFC 9438, 5.1).  If the segments go in bursts of k,
 * the window is cut once for each burst, and W is sqrt(k), or k^0.75, times that: a flow too fast
 * for its losses loses in bursts.  What else holds a flow leaves it a smaller window.  Four things
 * are asked of the counts:
 *
 *  when	In cell i, n(i) segments were sent and x(i) lost; p = sum x / sum n.  By chance
 *		chi2 = sum (x - n p)^2 / (n p (1 - p)) is k - 1 of k cells, with the
 *		variance 2 (k - 1) + sum 1 / (n p), so that
 *			dispersion = chi2 / (k - 1)	1 by chance; the size of bursts; < 1 where
 *							they are evenly spread
 *		and chi2 is taken to have a gamma distribution of that mean and variance, whose
 *		ends spacing.c bounds; test_ctcpd_spacing.c draws by chance, and counts.
 *		A cell is a look; what is even is told by cells of three looks, too: a recovery,
 *		and a retransmission timeout of 200 ms, hide it from one.
 *  how large	Of Reno and of CUBIC, whether more was lost than chance may hit with windows
 *		such as it had (response.h).  Then the losses come in bursts, though these may be
 *		even from look to look: what "when" tells is more, or this.
 *  how even	Of what is sent, chance takes now more, now less: what arrives varies by that at
 *		least, unless a queue behind the loss evens it, of which the round trip tells.
 *		What a policer lets pass is C, to a burst, whatever comes (delivered.h).  What an
 *		application or a window holds is even, too, and says nothing.
 *  where	ssthresh behind a loss is a fixed share of the window that met it.  A
 *		bottleneck without others' traffic has always the same room, C x rtt and its
 *		buffer, and is overrun at the same window each time (of Reno, CUBIC and H-TCP
 *		to 1 or 2 % in the lab).  By chance the windows lie far apart: Reno's with a
 *		relative standard deviation of 0.38 to 0.40, CUBIC's of 0.29 to 0.58, H-TCP's
 *		of 0.37 to 0.71 (test_ctcpd_chance.c: losses of 1e-5 to 1e-2, 2 to 200 ms).
 *		A burst that outlasts the recovery cuts the window once more, which is not
 *		a window that the bottleneck was overrun at (losses.c, is_of_same_burst()).
 *		A window that the peer or the send buffer holds meets all losses alike, and
 *		is none either; nor is one that leaves at once, behind a pause: it overruns a
 *		buffer at whatever size it has.  series_chance() bounds how likely chance puts
 *		four of five, or more of them, as near as they are.
 *		A buffer of two frames overflows by a burst now and then, at any window, but lets
 *		none past its room.  Chance meets a segment of the largest windows as likely as
 *		another (high.h).  Other people's flows that last are met at large windows, too,
 *		but with the queue that they keep, of which the round trip tells.
 *
 * When and where are independent of each other by chance: their logarithms are added (Fisher),
 * and
 *
 *	-ln P(when, how large, or how even) - ln P(where) >= NOT_CHANCE	the losses have a cause
 *
 * The cause is the receiver or the last hop before it, if what it takes is always the same: the
 * windows at loss; or the rate of the seconds that lose, where the algorithm does not heed
 * loss, so that its ssthresh says nothing, or where windows are of a few segments.  BBR probes
 * by a quarter more for one of each eight round trips (BBRv1: bbr_pacing_gain[] of tcp_bbr.c), and
 * overruns a buffer of less than that each time, at a rate delivered that stays C; a policer has
 * no room to speak of, and a rate.
 * Others may leave the same room for a while.  A flow that has then nothing in its way but our
 * own device, and loses nothing there, does not overrun a hop (ceiling.c, ceiling_is_harmless()).
 * It does where its largest windows lose: a policer's bucket lets that rate pass while it lasts.
 * If neither is the same, the room is what other people leave, but for six more:
 *
 *  more evenly	A policer, or a full buffer, lets C pass, and what is sent above that is lost: a
 *		flow that goes on sending loses as much in each second.  What other people leave
 *		comes in bursts, and what chance leaves is as uneven as chance
 *		(docs/verdicts has the most even flow that overran nothing).  A queue that drops
 *		early spaces its drops, too: evenness counts where most of such a queue's are the
 *		flow's own (AS_EVEN).
 *  heavily	One segment in sixteen, or more, in nearly each look, and of windows that are larger
 *		on average than chance leaves: a hop with a bucket or a buffer of a few frames,
 *		over a short round trip (heavy.h).  Other people's traffic pauses, or leaves no
 *		such windows.
 *  an even rate	What arrives is as even as chance would not leave it ("how even"), nor other
 *		people.
 *  at the ceiling	What is full delivers what it takes, C, to an ACK or two in each look: the
 *		highest rate that there is (ceiling.h).  Pauses of the application, after which
 *		the window begins anew, other people's traffic in between, and H-TCP, of which
 *		a cut leaves now a half and now four fifths (htcp_beta_update() of tcp_htcp.c),
 *		hide the window that meets a loss, but not that rate.  Either MOST of the looks
 *		that lose do so at C, and all losses together are not chance; or CEILING_PART of
 *		them do, and what is lost in those alone is not, nor as even as what was chosen:
 *		a look that loses much is slower, and not at C.  Random loss on a path that is
 *		full all the time comes at C, too, but it is chance.  Where it is our own device
 *		that is full at C, the ceiling is ours, and says nothing.
 *  at starts	Behind a pause shorter than the retransmission timeout the window is as it was,
 *		and there are no ACKs to clock it: it leaves at the rate of our device, and is
 *		too much at once for the buffer of a slower hop.  Chance, and other people, do
 *		not know when we begin: they hit a segment of a start as likely as another.
 *  when faster	BBR paces at the highest rate of the last ten round trips.  A policer's full
 *		bucket lets a burst pass at the rate of our device, and BBR goes on at that rate
 *		when the bucket is empty.  It detects policers itself: for 48 round trips it
 *		paces at what was delivered, without a loss, and then it probes again
 *		(bbr_lt_bw_sampling() of tcp_bbr.c).  So it loses where it paces FASTER than
 *		what is delivered, now and of late (faster.h).  Chance, and other people, do
 *		not know how we pace.
 *
 * No overrun: where most of the time the queue of our own device is as full as TCP allows.
 * Then the path takes all that we can send, and what it loses is not for want of pacing; and
 * a window that stops growing at that rate meets all losses alike.
 *
 * Which verdict comes first
 * -------------------------
 *  1 unknown		nothing was seen, or too little sent
 *  2 local-drops	our qdiscs dropped when segments were missed, or cut the window; as
 *			this looks like an overrun
 *  3 overrun		as above, if the network had NETWORK_LEAST of the time: that much of
 *			it gets better by pacing, whatever holds the flow for the rest
 *  4 remote-window, send-buffer, application-window, application: MOST of the time
 *  5 loss, clean	what is left: with losses, or without
 *
 * The time shares are in each judgement, whatever its verdict.
 */
#include <math.h>

#include "judge.h"
#include "permille.h"

#define RATE_MOST	1e18	/* bytes/s; more does not fit */

/* Below these a flow is unknown: it has hardly left slow start, which says what slow start
 * does.  An initial window of 10 has sent 300 segments after five round trips.
 */
#define TINY_BYTES	1000000U
#define TINY_SEGS	300U
#define BRIEF_US	2000000U	/* ten looks */

#define MOST		500U	/* thousandths of the time: half, so that no two are most */
#define NETWORK_LEAST	250U	/* thousandths of the time */

#define LOSSES_LEAST	3U	/* segments: fewer are no series of anything */
#define LITTLE_LOSS	0.000001	/* of the segments: Reno's window is 1220 then */
#define NOT_CHANCE	9.2	/* ln 10000, of one of them; both together exceed it by chance in
				 * e^-t (1 + t) (Fisher), one of 1000
				 */
#define MAYBE_CHANCE	6.9	/* ln 1000: between the two nothing is said */
#define BURST		2.0	/* dispersion: losses in twos are bursts, what is less may be
				 * that chance itself changes ...
				 */
#define BURST_STEADY	1.5	/* ... which would change the rate of what heeds loss, too */
/*
 * Dispersion: what drops early, RED (Floyd, Jacobson 1993) or PIE (RFC 8033), spaces its drops: in
 * the long run to 0.33 and 0.29 of chance's variance where all are of one flow, and to 0.67 and
 * 0.65 of a half of them.  Within six seconds such a half comes to less than this, and is taken
 * for regular, of some one flow in a thousand (test_ctcpd_chance.c).  What has three quarters of
 * such a queue is taken for it in the long run: it overruns that queue.
 */
#define AS_EVEN		0.5
#define EVEN_RATE	0.6	/* dispersion of what is delivered: p is known to an eighth */
#define LEVELS_LEAST	3U	/* windows at loss, from which they may be alike */
#define SAME_WINDOW	0.20	/* four of five within so much, and a segment: half of chance's
				 * deviation
				 */
#define LARGE_LEAST	10U	/* windows at loss, from which one may be the largest, and ... */
#define SHALLOW		8U	/* ... and no queue of an eighth of one: others keep one */
#define BURSTS_LEAST	6U	/* of those that lost a burst, and ... */
#define SAME_BURST	0.03	/* two of three within so much: by chance of one flow in forty */
#define RATES_LEAST	8U	/* seconds that lose, from which their rates may be alike */
#define SAME_RATE	0.06	/* two of three within so much: they differ by ACKs that come
				 * together; the third is for BBR, which at each tenth second has
				 * no window for 200 ms and a round trip, and for pauses
				 */

#define SOME_LOOKS	4.6	/* ln 100: so many at starts, at the largest window, when faster */
#define CEILING_PART	250U	/* thousandths of the looks that lose: pacing helps with those */

#define LOCAL_LEAST	3U	/* segments lost when qdiscs had dropped */
#define CUTS_LEAST	2U	/* windows cut: one may be by something else at that time */

#define SECONDS_LEAST	3U	/* app-limited, from which flight may stay the same */
#define SAME_FLIGHT	0.15	/* four of five within so much; a poll's rtt is one of many */
#define RTT_VARIES	0.10	/* largest over smallest - 1, from which flight tells apart */

/* --- what they come to ----------------------------------------------------- */

static void fill_losses(const struct losses_say *say, struct judgement *j)
{
	j->dispersion = (uint32_t)fmin(say->spacing.dispersion * 100, UINT32_MAX);
	j->even = (uint16_t)fmin(say->even * 100, UINT16_MAX);
	j->rate_dispersion = (uint32_t)fmin(say->rate_dispersion * 100, UINT32_MAX);
	j->even_rate = (uint16_t)fmin(say->even_rate * 100, UINT16_MAX);
	j->high = (uint16_t)fmin(say->high * 100, UINT16_MAX);
	j->excess = (uint16_t)fmin(fmax(say->response, say->heavy) * 100, UINT16_MAX);
	j->spread = (uint16_t)fmin(say->width * 1000, UINT16_MAX);
	j->levels = say->levels;
}

static void fill(const struct flow_facts *f, const struct losses_say *say, struct judgement *j)
{
	*j = (struct judgement) {
		.us = f->us, .acked = f->acked,
		.segs = (uint32_t)least(f->segs, UINT32_MAX),
		.retrans = (uint32_t)least(f->retrans, UINT32_MAX),
		.local_drops = (uint32_t)least(f->local_drops, UINT32_MAX),
		.busy = permille(f->recent.busy, f->recent.us),
		.rwnd = permille(f->recent.rwnd, f->recent.us),
		.sndbuf = permille(f->recent.sndbuf, f->recent.us),
		.app = permille(f->recent.app, f->recent.us),
		.best_rate = f->best_rate, .cwnd_max = f->cwnd_max, .mss = f->mss,
		.rtt_us = f->rtt_us, .min_rtt_us = f->min_rtt_us,
		.snd_wnd_max = f->snd_wnd_max, .sndbuf_bytes = f->sndbuf_bytes,
		.no_wscale = f->no_wscale,
		.flight = (uint32_t)fmin(series_median(&f->flights), UINT32_MAX),
	};
	fill_losses(say, j);
	if (!j->us)
		return;
	j->rate = (uint64_t)fmin((double)j->acked * 1e6 / (double)j->us, RATE_MOST);
	j->cwnd_mean = (uint32_t)(f->cwnd_us / (double)j->us);
}

static bool says(struct judgement *j, enum verdict v, enum reason r)
{
	j->verdict = v;
	j->reason = r;
	return true;
}

static bool is_too_little(const struct flow_facts *f, struct judgement *j)
{
	if (!f->intervals)
		return says(j, VERDICT_UNKNOWN, REASON_FIRST_SAMPLE);
	if (f->acked < TINY_BYTES || f->segs < TINY_SEGS)
		return says(j, VERDICT_UNKNOWN, REASON_TINY);
	if (f->us < BRIEF_US)
		return says(j, VERDICT_UNKNOWN, REASON_BRIEF);
	return false;
}

/* --- losses ---------------------------------------------------------------- */

static const struct loss_facts *loss_of(const struct flow_facts *f)
{
	static const struct loss_facts nothing;

	return f->loss ?: &nothing;
}

static bool has_steady_rate(const struct flow_facts *f)
{
	return loss_of(f)->rates.n >= RATES_LEAST && !ceiling_is_ours(&loss_of(f)->ceiling) &&
	       series_width(&loss_of(f)->rates, TWO_OF_THREE) <= SAME_RATE;
}

/* Windows of two and three segments are alike by rounding alone. */
static bool at_same_window(const struct losses_say *say)
{
	return say->levels >= LEVELS_LEAST && say->level &&
	       say->width + 1.0 / say->level <= SAME_WINDOW;
}

/* Where its window is largest, though also at others */
static bool at_largest_window(const struct losses_say *say)
{
	return say->high >= SOME_LOOKS && say->levels >= LARGE_LEAST;
}

/* Between them it may lose by chance, which says nothing of where. */
static bool bursts_at_same_window(const struct losses_say *say)
{
	return say->bursts >= BURSTS_LEAST && say->burst_width <= SAME_BURST;
}

/*
 * What the bottleneck takes is always the same.  At the rate of our own device a flow may lose
 * nothing for as long as a policer's bucket lasts, which its largest windows outlast.
 */
static bool is_steady(const struct flow_facts *f, const struct losses_say *say)
{
	if (at_largest_window(say))
		return true;
	if (ceiling_is_harmless(&loss_of(f)->ceiling))
		return false;
	return at_same_window(say) || bursts_at_same_window(say) || has_steady_rate(f);
}

/* What is full is not our own device, and so much of what loses does so at one rate. */
static bool loses_at_ceiling(const struct flow_facts *f, unsigned int permille)
{
	return ceiling_is_of_path(&loss_of(f)->ceiling, permille);
}

static bool come_in_bursts(const struct flow_facts *f, const struct losses_say *say)
{
	bool heeds = say->levels >= LEVELS_LEAST;
	bool steady = has_steady_rate(f) || loses_at_ceiling(f, CEILING_PART);

	return say->spacing.dispersion >= (heeds && steady ? BURST_STEADY : BURST);
}

/*
 * Four things are asked of when: by look, by three looks, how large the windows are, and how even
 * the rate is.  The rarest of four is that much less rare.
 */
static double of_four(double against_chance)
{
	return fmax(0, against_chance - log(4));
}

/* -ln of how likely chance gives losses at such times */
static double against_chance_when(const struct flow_facts *f, const struct losses_say *say)
{
	return come_in_bursts(f, say) ? of_four(say->spacing.bursty) : say->even;
}

/* Neither chance, nor what others leave, is as even as that. */
static bool is_regular(const struct flow_facts *f, const struct losses_say *say)
{
	return !come_in_bursts(f, say) && say->even >= MAYBE_CHANCE;
}

/* ... or so many at such windows */
static double against_chance_of_losses(const struct flow_facts *f, const struct losses_say *say)
{
	double windows = fmax(say->response, say->heavy);

	return fmax(against_chance_when(f, say), fmax(windows, say->even_rate));
}

/* -ln of how likely chance has them at such windows */
static double against_chance_where(const struct losses_say *say)
{
	/* the rarer of two */
	return fmax(-say->chance, at_largest_window(say) ? say->high - M_LN2 : 0);
}

static double against_chance(const struct flow_facts *f, const struct losses_say *say)
{
	return against_chance_of_losses(f, say) + against_chance_where(say);
}

/* A hop that passes its rate and no more, and no queue that would even what arrives */
static bool has_even_rate(const struct losses_say *say)
{
	return say->even_rate >= MAYBE_CHANCE;
}

/* So much, all the time, of such windows: neither chance nor other people leave these. */
static bool loses_heavily(const struct losses_say *say)
{
	return say->heavy >= MAYBE_CHANCE;
}

static bool loses_at_starts(const struct flow_facts *f)
{
	return hits_against_chance(&loss_of(f)->starts.hits) >= SOME_LOOKS;
}

/* What heeds loss has windows at loss, which tell more, or loses at starts alone. */
static bool loses_when_faster(const struct flow_facts *f)
{
	return !loss_of(f)->losses.was_cut &&
	       hits_against_chance(&loss_of(f)->faster.hits) >= SOME_LOOKS;
}

static bool own_device_is_full(const struct flow_facts *f)
{
	return permille(f->recent.queued, f->recent.us) >= MOST;
}

static bool has_one_rate(const struct flow_facts *f, const struct losses_say *say)
{
	return is_steady(f, say) || loses_at_ceiling(f, CEILING_PART);
}

/*
 * -ln of how likely it is chance, of losses that have one cause; 0: they have not.  @say: of all
 * losses, and then of those that show it most.
 */
static double overrun_shown(const struct flow_facts *f, struct losses_say *say)
{
	struct losses_say there;
	double shown = 0;

	if (f->lost < LOSSES_LEAST || own_device_is_full(f))
		return 0;
	if (is_steady(f, say) || loses_at_ceiling(f, MOST) || loses_at_starts(f) ||
	    loses_when_faster(f) || is_regular(f, say) || has_even_rate(say) || loses_heavily(say))
		shown = against_chance(f, say);
	if (!loses_at_ceiling(f, CEILING_PART))
		return shown;
	losses_say(&loss_of(f)->ceiling.losses, &there);
	there.even = 0;		/* they were chosen by how little they lost */
	/* the rarer of two, of all losses and of these */
	if (against_chance(f, &there) - M_LN2 <= shown)
		return shown;
	*say = there;
	return against_chance(f, say) - M_LN2;
}

static enum reason where_most(const struct losses_say *say)
{
	return at_largest_window(say) && !at_same_window(say) ? REASON_LARGE_WINDOW :
							       REASON_SAME_WINDOW;
}

static bool overruns(const struct flow_facts *f, struct losses_say say, struct judgement *j)
{
	if (overrun_shown(f, &say) < NOT_CHANCE)
		return false;
	fill_losses(&say, j);
	if (against_chance_where(&say) >= against_chance_of_losses(f, &say))
		return says(j, VERDICT_OVERRUN, where_most(&say));
	if (has_even_rate(&say) && say.even_rate >= against_chance_of_losses(f, &say))
		return says(j, VERDICT_OVERRUN, REASON_EVEN_RATE);
	if (loses_heavily(&say) && say.heavy >= against_chance_of_losses(f, &say))
		return says(j, VERDICT_OVERRUN, REASON_HEAVY);
	if (is_regular(f, &say) || (!come_in_bursts(f, &say) && say.even >= say.response))
		return says(j, VERDICT_OVERRUN, REASON_REGULAR);
	if (has_one_rate(f, &say))
		return says(j, VERDICT_OVERRUN, REASON_BURSTS);
	if (loses_at_starts(f))
		return says(j, VERDICT_OVERRUN, REASON_STARTS);
	if (loses_when_faster(f))
		return says(j, VERDICT_OVERRUN, REASON_FASTER);
	/* the cause, though something else is less likely by chance */
	return says(j, VERDICT_OVERRUN, has_even_rate(&say) ? REASON_EVEN_RATE : REASON_HEAVY);
}

static bool by_losses(const struct flow_facts *f, const struct losses_say *say,
		      struct judgement *j)
{
	struct losses_say most = *say;

	if (!f->lost)
		return says(j, VERDICT_CLEAN, REASON_NO_LOSS);
	if ((double)f->lost < LITTLE_LOSS * (double)f->recent_segs)
		return says(j, VERDICT_CLEAN, REASON_LITTLE_LOSS);
	if (!f->loss || f->lost < LOSSES_LEAST || overrun_shown(f, &most) >= MAYBE_CHANCE)
		return says(j, VERDICT_UNKNOWN, REASON_FEW_LOSSES);
	if (come_in_bursts(f, say) && against_chance_when(f, say) >= NOT_CHANCE)
		return says(j, VERDICT_LOSS, REASON_OTHERS);
	return says(j, VERDICT_LOSS, REASON_RANDOM);
}

/* --- the verdict ----------------------------------------------------------- */

static bool dropped_here(const struct flow_facts *f, struct judgement *j)
{
	if ((f->lost_local < LOCAL_LEAST && f->cuts < CUTS_LEAST) || f->lost_local * 2 < f->lost)
		return false;
	return says(j, VERDICT_LOCAL_DROPS, REASON_DROPPED_HERE);
}

/*
 * There is something in flight all the time, so that the application writes at least once in
 * a round trip, and it is the same amount.  What writes at a rate of its own has more in flight
 * where the round trip is longer: only where it never is the two are alike.
 */
static bool has_own_window(const struct flow_facts *f, const struct judgement *j)
{
	double flight = series_width(&f->flights, FOUR_OF_FIVE);
	double rtt = f->app_rtt_min ? (double)f->app_rtt_max / f->app_rtt_min - 1 : 0;

	return j->busy >= ALWAYS && f->flights.n >= SECONDS_LEAST && flight <= SAME_FLIGHT &&
	       (rtt < RTT_VARIES || flight <= rtt / 2);
}

static bool held_by_an_end(const struct flow_facts *f, struct judgement *j)
{
	if (j->rwnd >= MOST)
		return says(j, VERDICT_REMOTE_WINDOW, REASON_TIME);
	if (j->sndbuf >= MOST)
		return says(j, VERDICT_SEND_BUFFER, REASON_TIME);
	if (j->app < MOST)
		return false;
	if (has_own_window(f, j))
		return says(j, VERDICT_APP_WINDOW, REASON_FLIGHT);
	return says(j, VERDICT_APPLICATION, REASON_TIME);
}

/* Thousandths of the time in which neither end held it */
static unsigned int network_share(const struct work *w)
{
	uint64_t held = w->rwnd + w->sndbuf + w->app;

	return permille(w->us - least(held, w->us), w->us);
}

static double evenness(const struct spacing_say *say)
{
	return say->dispersion <= AS_EVEN ? say->even : 0;
}

static void say_losses(const struct flow_facts *f, struct losses_say *say)
{
	struct delivered_say rate;
	struct spacing_say threes;

	losses_say(&loss_of(f)->losses, say);
	spacing_say(&loss_of(f)->threes, &threes);
	say->even = of_four(fmax(evenness(&say->spacing), evenness(&threes)));
	say->response = of_four(response_against_chance(&loss_of(f)->response));
	/* of windows in each look, and of these on average, the rarer */
	say->heavy = fmax(0, of_four(heavy_against_chance(&loss_of(f)->heavy)) - M_LN2);
	delivered_say(&loss_of(f)->delivered, &rate);
	say->rate_dispersion = rate.dispersion;
	if (rate.dispersion <= EVEN_RATE && network_share(&f->recent) >= ALWAYS)
		say->even_rate = of_four(rate.even);
	if (rate.queue * SHALLOW <= say->level)
		say->high = high_against_chance(&loss_of(f)->high);
}

void judge_flow(const struct flow_facts *f, struct judgement *j)
{
	struct losses_say say;

	say_losses(f, &say);
	fill(f, &say, j);
	if (is_too_little(f, j) || dropped_here(f, j))
		return;
	if (network_share(&f->recent) >= NETWORK_LEAST && overruns(f, say, j))
		return;
	if (!held_by_an_end(f, j))
		by_losses(f, &say, j);
}

bool judge_wants_looks(const struct flow_facts *f)
{
	return (f->lost || f->cuts) && f->acked >= TINY_BYTES;
}
