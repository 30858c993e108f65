// SPDX-License-Identifier: GPL-2.0
/*
 * Which verdicts the log has, and how: see observe.h.
 *
 * A verdict is said where somebody can do something about it, and once it is over; a host with
 * ten thousand clients whose applications have nothing to send is silent.  With --debug what
 * nobody need act on is said, too; never what is unknown, or nearer than min-rtt.
 *
 * When a path that they share fails, all remotes change at once: of one poll the log has
 * TELL_LINES lines and the number of the others, which count as said.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rough.h"
#include "units.h"

#include "observe.h"

#define SUBJECT_TEXT	(INET6_ADDRSTRLEN + 8)

_Static_assert(LOG_SUBJECTS > REMOTES_MAX, "each remote is a subject of the log");

bool tell_is_trouble(enum verdict v)
{
	switch (v) {
	case VERDICT_OVERRUN:
	case VERDICT_REMOTE_WINDOW:
	case VERDICT_SEND_BUFFER:
	case VERDICT_APP_WINDOW:
	case VERDICT_LOSS:
	case VERDICT_LOCAL_DROPS:
		return true;
	default:
		return false;
	}
}

/* Below min-rtt neither a window nor a rate is worth a person's time. */
bool tell_is_left_alone(const struct remote *r, const struct config *c)
{
	return r->now.min_rtt_us && r->now.min_rtt_us < c->min_rtt_us;
}

/* "941.5mbit, 0.052% resent, rtt 47.1ms": what the verdict rests on */
static const char *evidence(const struct judgement *j, char *buf, size_t len)
{
	char rate[ROUGH_TEXT], rtt[SPAN_TEXT];
	double resent = j->segs ? 100.0 * j->retrans / j->segs : 0;

	rough_rate(rate, sizeof(rate), j->rate);
	/* tenths of a ms: more is noise */
	format_time(rtt, sizeof(rtt), j->rtt_us >= 1000 ? j->rtt_us / 100 * 100 : j->rtt_us);
	snprintf(buf, len, "%s, %.3g%% resent, rtt %s", rate, resent, rtt);
	return buf;
}

static const char *subject_of(const struct remote *r, char buf[SUBJECT_TEXT])
{
	char address[INET6_ADDRSTRLEN];

	snprintf(buf, SUBJECT_TEXT, "remote %s", format_addr(address, sizeof(address), &r->addr));
	return buf;
}

void tell_forget(const struct remote *r, struct log *log)
{
	char subject[SUBJECT_TEXT];

	log_forget(&log->said, subject_of(r, subject));
}

/* Without a line of its own */
static void leave_out(struct remote *r, struct telling *t, const char *subject)
{
	if (log_fate(&t->log->said, subject, verdict_name(r->now.verdict), diag_clock()) !=
	    LOG_SAY)
		return;
	t->left_out++;
	r->told = r->now.verdict;
}

static void say(struct remote *r, struct telling *t, int priority, const char *subject)
{
	const char *address = subject + strlen("remote ");
	const struct judgement *j = &r->now;
	const char *why = reason_text(j->reason);
	char buf[128];

	if (!log_state(t->log, priority, subject, verdict_name(j->verdict), "%s: %s%s%s (%s)",
		       address, verdict_text(j->verdict), *why ? "; " : "", why,
		       evidence(j, buf, sizeof(buf))))
		return;
	t->lines++;
	r->told = j->verdict;
}

/*
 * Of one that has never been in trouble nothing is said.  What is not known takes nothing
 * back: a visit begins with it each time.
 */
void tell(struct remote *r, struct telling *t)
{
	char subject[SUBJECT_TEXT];
	bool trouble = tell_is_trouble(r->now.verdict);

	if (!r->flows || r->now.verdict == VERDICT_UNKNOWN || tell_is_left_alone(r, t->config))
		return;
	subject_of(r, subject);
	if (!trouble && !t->log->debug && log_is_new(&t->log->said, subject))
		return;
	if (t->lines >= TELL_LINES && !t->log->debug)
		leave_out(r, t, subject);
	else
		say(r, t, trouble ? LOG_NOTICE : LOG_INFO, subject);
}

void tell_end(const struct telling *t)
{
	if (t->left_out)
		log_say(t->log, LOG_NOTICE, "and %u more remotes changed; ctcpd status has them",
			t->left_out);
}
