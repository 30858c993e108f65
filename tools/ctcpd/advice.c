// SPDX-License-Identifier: GPL-2.0
/*
 * Advice: see advice.h.
 */
#include <stdarg.h>
#include <stdio.h>

#include "advice.h"
#include "need.h"
#include "rough.h"
#include "text.h"

void advice_say(struct advice *a, const char *fmt, ...)
{
	va_list ap;

	if (a->n == ADVICE_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(a->text[a->n], ADVICE_TEXT, fmt, ap);
	va_end(ap);
	text_clean(a->text[a->n++]);
}

void advice_set(struct advice *a, bool here, const char *name, const char *fmt, ...)
{
	struct setting *s = &a->settings[a->n_settings];
	va_list ap;

	if (a->n_settings == SETTINGS_MAX)
		return;
	s->here = here;
	s->name = name;
	va_start(ap, fmt);
	vsnprintf(s->value, sizeof(s->value), fmt, ap);
	va_end(ap);
	a->n_settings++;
}

uint64_t advice_rtt(const struct judgement *j)
{
	return j->min_rtt_us ?: j->rtt_us;
}

uint64_t advice_rate(const struct judgement *j, const struct place *p)
{
	if (p->rate)
		return p->rate;
	return j->best_rate > ADVICE_RATE ? j->best_rate : ADVICE_RATE;
}

/* A rate in bits, and in bytes, as people take the one for the other. */
const char *both(char buf[BOTH_TEXT], uint64_t bytes_per_s)
{
	char bits[ROUGH_TEXT], bytes[ROUGH_TEXT];

	snprintf(buf, BOTH_TEXT, "%s (%s)", rough_rate(bits, sizeof(bits), bytes_per_s),
		 rough_bytes(bytes, sizeof(bytes), bytes_per_s, "/s"));
	return buf;
}

static void advise_application(const struct judgement *j, const struct place *p,
			       struct advice *a)
{
	(void)p;
	advice_say(a,
		   "The application had nothing to send for %.0f%% of the time: what it reads from, or the processor it runs on, is slower than the network.",
		   j->app / 10.0);
	advice_say(a,
		   "Nothing of TCP is to be changed; several files at once, larger reads, or a second process may help.");
}

static void advise_clean(const struct judgement *j, const struct place *p, struct advice *a)
{
	(void)j;
	(void)p;
	advice_say(a, "Nothing is to be changed: only the path's own rate limits it.");
}

static void advise_unknown(const struct judgement *j, const struct place *p, struct advice *a)
{
	(void)p;
	advice_say(a, "Too little was seen to tell: %s.",
		   j->reason ? reason_text(j->reason) : "it sent too little, or for too short");
}

void advise(const struct judgement *j, const struct place *p, struct advice *a)
{
	static void (* const parts[VERDICTS])(const struct judgement *j, const struct place *p,
					      struct advice *a) = {
		[VERDICT_UNKNOWN] = advise_unknown,
		[VERDICT_OVERRUN] = advise_overrun,
		[VERDICT_REMOTE_WINDOW] = advise_remote_window,
		[VERDICT_SEND_BUFFER] = advise_send_buffer,
		[VERDICT_APPLICATION] = advise_application,
		[VERDICT_APP_WINDOW] = advise_app_window,
		[VERDICT_LOSS] = advise_loss,
		[VERDICT_LOCAL_DROPS] = advise_local_drops,
		[VERDICT_CLEAN] = advise_clean,
	};

	a->n = 0;
	a->n_settings = 0;
	parts[j->verdict](j, p, a);
}
