// SPDX-License-Identifier: GPL-2.0
/*
 * What the log has of pacing: each change of a rate or of a state that a person cares about,
 * with its reason and its numbers; of one poll at most ACT_LINES.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "act_inside.h"
#include "rough.h"

#define TO_TEXT_ONE	(INET6_ADDRSTRLEN + 4)

/* An address, or a subnet */
static const char *name_of(const struct acting *e, char buf[TO_TEXT_ONE])
{
	return acting_is_subnet(e) ? format_prefix(buf, TO_TEXT_ONE, &e->to) :
				     format_addr(buf, TO_TEXT_ONE, &e->to);
}

/* False: this poll has said enough */
static bool has_room(struct act *a)
{
	if (a->lines < ACT_LINES || a->log->debug) {
		a->lines++;
		return true;
	}
	a->left_out++;
	return false;
}

static double percent(uint32_t ppm)
{
	return ppm / 10000.0;
}

/* "; 2.1% resent before, 0% now", as far as it is known */
static const char *evidence(const struct acting *e, char buf[64], bool paced_before)
{
	if (!e->before && !e->after)
		buf[0] = 0;
	else if (!paced_before)
		snprintf(buf, 64, "; %.3g%% resent", percent(e->before));
	else
		snprintf(buf, 64, "; %.3g%% resent before, %.3g%% now", percent(e->before),
			 percent(e->after));
	return buf;
}

static const char *reason_of(const struct acting *e)
{
	if (acting_is_subnet(e) && e->reason == SEARCH_OVERRUN)
		return "hosts of it show the same, and take no more together";
	if (e->reason == SEARCH_NO_REASON)
		return "as it was before";
	return search_reason_text(e->reason);
}

void act_tell_rate(struct act *a, const struct acting *e, uint64_t was)
{
	char to[TO_TEXT_ONE], rate[ROUGH_TEXT], old[ROUGH_TEXT], buf[64];

	if (!has_room(a))
		return;
	rough_rate(rate, sizeof(rate), e->force);
	rough_rate(old, sizeof(old), was);
	if (!e->force)
		log_say(a->log, LOG_NOTICE, "%s: not paced any more: %s%s", name_of(e, to),
			reason_of(e), evidence(e, buf, true));
	else if (was)
		log_say(a->log, LOG_NOTICE, "%s: paced at %s, was %s: %s%s", name_of(e, to), rate,
			old, reason_of(e), evidence(e, buf, true));
	else
		log_say(a->log, LOG_NOTICE, "%s: paced at %s: %s%s", name_of(e, to), rate,
			reason_of(e), evidence(e, buf, false));
}

void act_tell_moved(struct act *a, const struct acting *e)
{
	char to[TO_TEXT_ONE], rate[ROUGH_TEXT];

	if (has_room(a))
		log_say(a->log, LOG_NOTICE, "%s: paced at %s on %s now, by which it is reached",
			name_of(e, to), rough_rate(rate, sizeof(rate), e->force), e->dev);
}

void act_tell_state(struct act *a, const struct acting *e)
{
	char to[TO_TEXT_ONE], rate[ROUGH_TEXT], buf[64];

	if (!has_room(a))
		return;
	if (e->search.rate)
		log_say(a->log, LOG_NOTICE, "%s: %s at %s: %s%s", name_of(e, to),
			search_state_name(e->search.state),
			rough_rate(rate, sizeof(rate), e->search.rate), reason_of(e),
			evidence(e, buf, true));
	else
		log_say(a->log, LOG_NOTICE, "%s: not paced any more: %s", name_of(e, to),
			reason_of(e));
}

void act_tell_would(struct act *a, const struct acting *e)
{
	char to[TO_TEXT_ONE], rate[ROUGH_TEXT], subject[TO_TEXT_ONE + 8], buf[64];

	/* the log has why */
	if (act_device_by(a, e->ifindex) == HANDS_NONE)
		return;
	snprintf(subject, sizeof(subject), "would %s", name_of(e, to));
	if (has_room(a))
		log_state(a->log, LOG_NOTICE, subject, "would", "%s: would be paced at %s: %s%s",
			  to, rough_rate(rate, sizeof(rate), e->search.rate), reason_of(e),
			  evidence(e, buf, false));
}

void act_tell_left(struct act *a, const struct acting *e, const char *why)
{
	char to[TO_TEXT_ONE];

	if (has_room(a))
		log_say(a->log, LOG_WARNING,
			"%s: not paced by ctcpd, and left alone for %lld h: %s", name_of(e, to),
			(long long)((e->search.again - e->search.seen) / 3600), why);
}

/* "24 h", or "24 to 48 h" */
static const char *how_long(const struct act_leaving *l, char buf[48])
{
	long long least = l->least_s / 3600, most = l->most_s / 3600;

	if (least == most)
		snprintf(buf, 48, "%lld h", most);
	else
		snprintf(buf, 48, "%lld to %lld h", least, most);
	return buf;
}

/*
 * Each reason once while the device is left: remotes that are found meanwhile are left for the
 * same.  The subject has the reason whole, of which a state would have the beginning.
 */
void act_tell_left_device(struct act *a, int ifindex, const struct act_leaving *l, const char *why)
{
	struct act_device *d = act_device(a, ifindex);
	char subject[sizeof(((struct err *)0)->text) + 64], buf[48];

	if (d && !d->left)
		d->left = a->step;
	snprintf(subject, sizeof(subject), "left on %s at %llu: %s", d ? d->dev : "",
		 d ? (unsigned long long)d->left : 0, why);
	log_state(a->log, LOG_WARNING, subject, "left",
		  "%s: not paced by ctcpd, and left alone for %s (remotes: %u): %s",
		  d ? d->dev : "a device", how_long(l, buf), l->n, why);
}

void act_tell_room(struct act *a, const struct acting *e, int64_t now)
{
	char to[TO_TEXT_ONE];

	if (has_room(a))
		log_say(a->log, LOG_NOTICE,
			"%s: forgotten, as nothing was seen of it for %lld h, to make room for others",
			name_of(e, to), (long long)((now - e->search.seen) / 3600));
}

void act_tell_end(struct act *a)
{
	if (a->left_out)
		log_say(a->log, LOG_NOTICE,
			"and %u more changes of pacing; ctcpd status has what is paced",
			a->left_out);
	a->lines = 0;
	a->left_out = 0;
}

void act_say_notes(struct act *a, const struct hands_result *r)
{
	unsigned int i;

	for (i = 0; i < r->notes.n; i++)
		log_state(a->log, LOG_NOTICE, r->notes.text[i], "said", "%s", r->notes.text[i]);
}
