// SPDX-License-Identifier: GPL-2.0
/*
 * Losses of a flow, as evidence: see losses.h, and judge.c for the model.
 */
#include <linux/tcp.h>
#include <math.h>
#include <string.h>

#include "losses.h"

#define BURST_SEGS	5U		/* lost at once: by chance only of thousands in a look */
#define BURST_RTTS	3U		/* from a cut to that by its tail: sent, lost, sent again */
#define SINCE_US	10000U
#define SINCE_MOST	1023U		/* of these */
#define SAME_CUT	1.5		/* segments: a share of a window is rounded */
#define LEVEL_LEAST	6U	/* segments: of smaller windows a step is more than chance's */
#define WIDTH_LEAST	0.005	/* of the window: nearer than that counts as that */
/*
 * Of the windows at which chance gives losses no more than 1.46 d lie in a range of d of their
 * median, where they are most dense: those of CUBIC over short round trips.  But over long ones its
 * plateau is at the window that met the last loss, and of the next ones 6.5 d lie in the range of d
 * about that, 1 % wide: of three to seven such windows series_chance() says e^-6.9 up to 7.5 times
 * as often as it should, and e^-9.2 up to 12 times (test_ctcpd_chance.c).
 */
#define CHANCE_DENSITY	2.5
/*
 * Reno's window begins at half of the W that met a loss, and grows by a segment in each round
 * trip: with u = p W^2 chance puts the next loss into a range of d W at W by d u exp(-3 u / 8),
 * which is 0.98 d at most; all of them have 1.08 d (test_ctcpd_chance.c).
 */
#define CHANCE_RENO	1.2

/* What was sent again for nothing was not lost. */
uint32_t losses_of(const struct interval *i)
{
	return i->retrans > i->dsack_dups ? i->retrans - i->dsack_dups : 0;
}

/* Chernoff's bound of the upper end of Poisson's distribution */
double losses_beyond(double lost, double most)
{
	return most > 0 && lost > most ? lost * log(lost / most) - lost + most : 0;
}

bool losses_in_recovery(const struct sample *s)
{
	return s->ca_state == TCP_CA_Recovery || s->ca_state == TCP_CA_Loss;
}

/* --- windows at loss ------------------------------------------------------- */

/* Of these ssthresh is no share of the window that met the loss. */
static bool obeys_loss(const char *algorithm)
{
	static const char * const others[] = { "bbr", "bbr2", "bbr3", "circuit", "dctcp" };
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (!strcmp(algorithm, others[i]))
			return false;
	}
	return true;
}

/* The first cut is that of slow start, which overshoots any path. */
static bool is_cut(const struct interval *i)
{
	const struct sample *a = i->before, *b = i->now;

	if (!losses_of(i) || !obeys_loss(b->conn.algorithm) ||
	    a->snd_ssthresh >= INFINITE_SSTHRESH || b->snd_ssthresh >= INFINITE_SSTHRESH)
		return false;
	/* a window that something else holds meets all losses alike */
	if (i->rwnd + i->sndbuf >= i->us / 10)
		return false;
	return a->snd_ssthresh != b->snd_ssthresh || !losses_in_recovery(a);
}

/* What a loss leaves of the window (RFC 9438, 4.6; RFC 5681, 3.2); 0: it varies */
static double share_left(const char *algorithm)
{
	if (!strcmp(algorithm, "cubic"))
		return 717.0 / 1024;
	return strcmp(algorithm, "reno") ? 0 : 0.5;
}

/*
 * A burst that lasts longer than a recovery cuts the window twice: what met the loss the second
 * time is what the first cut had left.
 */
static bool is_of_same_burst(const struct losses *l, const struct interval *i)
{
	double was = i->before->snd_ssthresh, left = share_left(i->now->conn.algorithm) * was;

	return l->was_cut && l->since_cut * SINCE_US <= BURST_RTTS * (uint64_t)i->now->rtt_us &&
	       left > 0 && was - left > SAME_CUT && fabs(i->now->snd_ssthresh - left) <= SAME_CUT;
}

static void count_since_cut(struct losses *l, const struct interval *i, bool cut)
{
	uint64_t since = l->since_cut + i->us / SINCE_US;

	l->was_cut |= cut;
	l->since_cut = cut ? 0 : (uint32_t)(since < SINCE_MOST ? since : SINCE_MOST);
}

/* Both cuts in one look: a window that is used only grows until it meets a loss. */
static bool is_cut_twice(const struct interval *i, double share)
{
	return share > 0 && i->us <= LOOK_MOST_US && i->busy >= i->us / 10 * 9 &&
	       !losses_in_recovery(i->before) &&
	       i->now->snd_ssthresh < i->before->snd_cwnd * share * (1 + share) / 2;
}

static bool is_burst(const struct interval *i)
{
	return i->us <= LOOK_MOST_US && losses_of(i) >= BURST_SEGS;
}

static void add_level(struct losses *l, const struct interval *i)
{
	double share = share_left(i->now->conn.algorithm), level = i->now->snd_ssthresh;
	uint32_t bit = 1U << l->levels.next;

	if (is_of_same_burst(l, i))
		return;
	l->bursts = is_burst(i) ? l->bursts | bit : l->bursts & ~bit;
	series_add(&l->levels, is_cut_twice(i, share) ? level / share : level);
}

bool losses_begin(const struct interval *i)
{
	return losses_of(i) && !losses_in_recovery(i->before);
}

bool losses_in_startup(const struct interval *i)
{
	return obeys_loss(i->now->conn.algorithm) && i->before->snd_ssthresh >= INFINITE_SSTHRESH;
}

bool losses_is_look(const struct interval *i)
{
	return i->us <= LOOK_MOST_US && !losses_in_startup(i);
}

/* A window that leaves at once overruns what the same window, clocked by ACKs, does not. */
void losses_add(struct losses *l, const struct interval *i, bool at_start)
{
	bool cut = is_cut(i);

	if (cut && !at_start)
		add_level(l, i);
	count_since_cut(l, i, cut);
	l->is_reno = !strcmp(i->now->conn.algorithm, "reno");
	if (!losses_in_startup(i))
		spacing_add(&l->looks, i, losses_of(i), CELL_LOOK_US);
}

/* --- what they say --------------------------------------------------------- */

static void say_levels(const struct losses *l, struct losses_say *say)
{
	double density = l->is_reno ? CHANCE_RENO : CHANCE_DENSITY;
	const struct series *levels = &l->levels;
	double level = series_median(levels);

	say->levels = levels->n;
	say->level = (uint32_t)level;
	say->width = series_width(levels, FOUR_OF_FIVE);
	say->chance = 0;
	if (level < LEVEL_LEAST)
		return;
	/* CUBIC's density has room for what rounding hides, Reno's has not */
	say->chance = series_chance(levels, density, l->is_reno ? 1 / level : 0,
				    fmax(WIDTH_LEAST, 1 / level));
}

static void say_bursts(const struct losses *l, struct losses_say *say)
{
	struct series met = { .n = 0 };
	uint16_t i;

	for (i = 0; i < l->levels.n; i++) {
		if (l->bursts & 1U << i)
			series_add(&met, l->levels.list[i]);
	}
	say->bursts = met.n;
	say->burst_width = series_width(&met, TWO_OF_THREE);
	/* of small windows a step is more than that */
	if (met.n)
		say->burst_width = fmax(say->burst_width, 1 / series_median(&met));
}

void losses_say(const struct losses *l, struct losses_say *say)
{
	say->even = 0;
	say->response = 0;
	say->rate_dispersion = 1;
	say->even_rate = 0;
	say->high = 0;
	say->heavy = 0;
	spacing_say(&l->looks, &say->spacing);
	say_levels(l, say);
	say_bursts(l, say);
}
