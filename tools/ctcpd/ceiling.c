// SPDX-License-Identifier: GPL-2.0
/*
 * What a flow loses at the ceiling of its rate: see ceiling.h, and judge.c for the model.
 */
#include <string.h>

#include "ceiling.h"

#define LOOK_LEAST_US	40000U	/* the shortest look is 50 ms (ctcpd.conf(5)) */
#define DELIVERED_LEAST	64U	/* segments: of fewer an ACK of two is more than NEAR */
#define NEAR		0.03	/* of the rate: looks differ by the ACKs at their ends */
#define LOSING_LEAST	5U	/* looks: of fewer it may be chance that they are at one rate */
#define LATE_PART	2U	/* half of a look: what is lost later is sent again behind it */
#define SOON_PART	10U	/* a tenth: till then a window grows by ten segments or so ... */
#define NEARLY		0.8F	/* ... and is cut.  Of the ceiling: the window that is left, and
				 * what the queue had, while others leave less
				 */
#define QUEUED_PART	3U	/* a third: in the lab a fifth at most where another hop is full,
				 * and two thirds at least where it is our own device
				 */

static bool is_idle(const struct interval *i)
{
	return i->busy < i->us / 10 * 9;
}

static bool tells(const struct interval *i, bool held)
{
	return !held && i->us >= LOOK_LEAST_US && i->us <= LOOK_MOST_US &&
	       i->delivered >= DELIVERED_LEAST && !is_idle(i) &&
	       i->rwnd + i->sndbuf < i->us / 10;
}

static void begin_anew(struct ceiling *c)
{
	*c = (struct ceiling) {
		.highest = c->highest, .rate = c->rate, .counted_from = c->rate,
	};
}

/* One rate that is out of line, of ACKs that had waited somewhere, is no ceiling. */
static void raise_to(struct ceiling *c, float rate)
{
	if (rate > c->highest) {
		c->rate = c->highest;
		c->highest = rate;
	} else if (rate > c->rate) {
		c->rate = rate;
	}
	if (c->rate > c->counted_from * (1 + 2 * NEAR))
		begin_anew(c);
}

static float rate_of(const struct interval *i)
{
	return (float)((double)i->delivered * i->now->conn.mss * 1e6 / (double)i->us);
}

/* Whether the flow is at its ceiling in @i */
static bool is_there(struct ceiling *c, const struct interval *i, bool queued)
{
	float rate = rate_of(i);

	raise_to(c, rate);
	if (rate < c->rate * (1 - NEAR))
		return false;
	c->looks++;
	c->queued += queued;
	c->reached = true;
	return true;
}

/*
 * Whether what @i loses was sent at the ceiling, in the look before.  A look that is much longer
 * than a round trip has its own retransmissions.
 */
static bool was_there(const struct ceiling *c, const struct interval *i)
{
	uint32_t rtt_us = i->now->rtt_us;

	if (!c->was_there)
		return false;
	return rtt_us > i->us / LATE_PART ||
	       (rtt_us > i->us / SOON_PART && rate_of(i) >= c->rate * NEARLY);
}

void ceiling_age(struct ceiling *c)
{
	if (!c->reached) {
		memset(c, 0, sizeof(*c));
		return;
	}
	c->reached = false;
	c->looks /= 2;
	c->queued /= 2;
	c->losing /= 2;
	c->elsewhere /= 2;
}

void ceiling_add(struct ceiling *c, const struct interval *i, bool held, bool queued)
{
	bool there, was;

	if (!losses_is_look(i)) {
		c->was_there = false;
		return;
	}
	there = tells(i, held) && is_there(c, i, queued);
	was = was_there(c, i);
	c->was_there = there;
	if (losses_begin(i)) {
		c->losing += there || was;
		c->elsewhere += !is_idle(i) && !there && !was;
	}
	if (there || was)
		losses_add(&c->losses, i, false);
}

bool ceiling_is_ours(const struct ceiling *c)
{
	return c->looks && c->queued * QUEUED_PART >= c->looks;
}

bool ceiling_is_harmless(const struct ceiling *c)
{
	return ceiling_is_ours(c) && c->elsewhere >= LOSING_LEAST && c->losing * 10 <= c->elsewhere;
}

bool ceiling_is_of_path(const struct ceiling *c, unsigned int permille)
{
	return c->losing >= LOSING_LEAST && !ceiling_is_ours(c) &&
	       c->losing * 1000 >= (c->losing + c->elsewhere) * permille;
}
