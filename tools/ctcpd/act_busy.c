// SPDX-License-Identifier: GPL-2.0
/*
 * Hands that somebody else holds up: a ctcp-setup at work has its lock for some milliseconds, of
 * which nothing is said.  One that hangs keeps pacing as it is for as long as it lives, which is
 * told once it has lasted for BUSY_POLLS, and once more when it is over.
 */
#include <errno.h>

#include "act_inside.h"

#define BUSY_POLLS	12U	/* one after the other: a minute, with poll = 5s */

static unsigned long long lasted_s(const struct act *a, const struct act_busy *b)
{
	return (a->us - b->since_us) / 1000000;
}

static void is_busy(const struct act *a, struct act_busy *b, const char *why)
{
	/* at its beginning there is no poll as yet */
	if (!a->us || (b->polls && b->step == a->step))
		return;
	b->step = a->step;
	if (!b->polls++)
		b->since_us = a->us;
	if (b->polls == BUSY_POLLS)
		log_say(a->log, LOG_WARNING, "pacing stays as it is, for %llu s by now: %s",
			lasted_s(a, b), why);
}

static void is_over(const struct act *a, struct act_busy *b)
{
	if (b->polls >= BUSY_POLLS)
		log_say(a->log, LOG_NOTICE, "pacing goes on: what held it up lasted %llu s",
			lasted_s(a, b));
	b->polls = 0;
}

void act_busy_note(const struct act *a, struct act_hands *h, int rc, const char *why)
{
	if (rc == -EAGAIN)
		is_busy(a, &h->busy, why);
	else
		is_over(a, &h->busy);
}
