// SPDX-License-Identifier: GPL-2.0
/*
 * A search as text, and back: see search.h.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "search.h"
#include "units.h"

#define PPM 1000000ULL

static const char * const states[SEARCH_STATES] = {
	[SEARCH_WATCHING] = "watching",
	[SEARCH_TRYING] = "trying",
	[SEARCH_KEPT] = "kept",
	[SEARCH_TAKEN_BACK] = "taken-back",
};

static const char * const reasons[SEARCH_REASONS] = {
	[SEARCH_NO_REASON] = "",
	[SEARCH_OVERRUN] = "it is overrun; the best rate that it took is tried",
	[SEARCH_TRY_LESS] = "it lost at that rate; less is tried",
	[SEARCH_TRY_MORE] = "it lost hardly anything at that rate; more is tried",
	[SEARCH_PROVED] = "it carries at least 98% of what it did before, and hardly retransmits",
	[SEARCH_BETTER] = "it carries more than before",
	[SEARCH_LOSES_AGAIN] = "it loses again at a rate that it took; less is tried",
	[SEARCH_PROBE] = "it used its rate in full for long without loss; more is tried",
	[SEARCH_PROBE_IN_VAIN] = "it takes no more than it did",
	[SEARCH_NO_HELP] = "pacing does not help it",
	[SEARCH_TOO_MANY] = "the rate that it takes changes too often",
	[SEARCH_NEAR] = "its round trip is too short to be paced",
	[SEARCH_FORGOTTEN] = "it had no interval that counts for two weeks",
	[SEARCH_VETO] = "a host of it takes more, or has much to send and did not show the same",
};

static const char * const names[SEARCH_REASONS] = {
	[SEARCH_NO_REASON] = "none",
	[SEARCH_OVERRUN] = "overrun",
	[SEARCH_TRY_LESS] = "try-less",
	[SEARCH_TRY_MORE] = "try-more",
	[SEARCH_PROVED] = "proved",
	[SEARCH_BETTER] = "better",
	[SEARCH_LOSES_AGAIN] = "loses-again",
	[SEARCH_PROBE] = "probe",
	[SEARCH_PROBE_IN_VAIN] = "probe-in-vain",
	[SEARCH_NO_HELP] = "no-help",
	[SEARCH_TOO_MANY] = "too-many",
	[SEARCH_NEAR] = "near",
	[SEARCH_FORGOTTEN] = "forgotten",
	[SEARCH_VETO] = "veto",
};

const char *search_reason_name(enum search_reason reason)
{
	return names[reason < SEARCH_REASONS ? reason : SEARCH_NO_REASON];
}

enum search_reason search_reason_of_name(const char *name)
{
	int r = SEARCH_REASONS;

	while (--r > SEARCH_NO_REASON && strcmp(names[r], name))
		;
	return (enum search_reason)r;
}

const char *search_state_name(enum search_state state)
{
	return state < SEARCH_STATES ? states[state] : "";
}

const char *search_reason_text(enum search_reason reason)
{
	return reason < SEARCH_REASONS ? reasons[reason] : "";
}

struct field {
	const char *name;
	size_t at, size;
	uint64_t most;
};

#define FIELD(name, member, most) \
	{ name, offsetof(struct search, member), sizeof(((struct search *)0)->member), most }
#define TALLY(name, member) \
	FIELD(name "-n", member.n, UINT32_MAX), FIELD(name "-us", member.us, 1ULL << 50), \
	FIELD(name "-acked", member.acked, 1ULL << 60), \
	FIELD(name "-segs", member.segs, 1ULL << 43), \
	FIELD(name "-retrans", member.retrans, 1ULL << 43), \
	FIELD(name "-best", member.best, UINT64_MAX), FIELD(name "-peak", member.peak, UINT64_MAX)

static const struct field fields[] = {
	FIELD("upward", upward, 1), FIELD("settling", settling, 1),
	FIELD("peaked", peaked, 1),
	FIELD("rate", rate, RATE_MAX), FIELD("low", low, RATE_MAX), FIELD("high", high, RATE_MAX),
	FIELD("step", step, 1ULL << 60), FIELD("floor", floor, RATE_MAX),
	FIELD("floor-until", floor_until, INT64_MAX / 2), FIELD("better", better, RATE_MAX),
	FIELD("better-goodput", better_goodput, UINT64_MAX),
	FIELD("better-part", better_part, PPM), FIELD("tolerated", tolerated, 2 * PPM),
	TALLY("base", base), TALLY("now", now), TALLY("proof", proof),
	FIELD("others", others, UINT32_MAX), FIELD("losing", losing, UINT32_MAX),
	FIELD("failures", failures, UINT32_MAX), FIELD("probes", probes, UINT32_MAX),
	FIELD("full-us", full_us, 1ULL << 50), FIELD("seen", seen, INT64_MAX / 2),
	FIELD("counted", counted, INT64_MAX / 2),
	FIELD("again", again, INT64_MAX / 2), FIELD("day", day, INT64_MAX / 2),
	FIELD("changes", changes, UINT32_MAX),
};

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

static uint64_t field_get(const struct search *s, const struct field *f)
{
	const char *at = (const char *)s + f->at;
	uint64_t n64;
	uint32_t n32;

	if (f->size == sizeof(bool))
		return *(const bool *)at;
	if (f->size == sizeof(n32)) {
		memcpy(&n32, at, sizeof(n32));
		return n32;
	}
	memcpy(&n64, at, sizeof(n64));
	return n64;
}

static void field_set(struct search *s, const struct field *f, uint64_t n)
{
	char *at = (char *)s + f->at;
	uint32_t n32 = (uint32_t)n;

	if (f->size == sizeof(bool))
		*(bool *)at = n;
	else if (f->size == sizeof(n32))
		memcpy(at, &n32, sizeof(n32));
	else
		memcpy(at, &n, sizeof(n));
}

void search_format(const struct search *s, char text[SEARCH_TEXT])
{
	struct out o = out_to(text, SEARCH_TEXT);
	size_t i;

	out_text(&o, search_state_name(s->state));
	for (i = 0; i < N_FIELDS; i++) {
		uint64_t n = field_get(s, &fields[i]);

		if (!n)
			continue;
		out_bytes(&o, " ", 1);
		out_text(&o, fields[i].name);
		out_pair(&o, "=", n);
	}
}

static const struct field *find_field(const char *word, size_t len)
{
	size_t i;

	for (i = 0; i < N_FIELDS; i++)
		if (strlen(fields[i].name) == len && !memcmp(fields[i].name, word, len))
			return &fields[i];
	return NULL;
}

static bool parse_word(const char *word, struct search *s)
{
	const char *value = strchr(word, '=');
	const struct field *f = value ? find_field(word, (size_t)(value - word)) : NULL;
	uint64_t n;
	char *end;

	if (!f || value[1] < '1' || value[1] > '9')
		return false;
	errno = 0;
	n = strtoull(value + 1, &end, 10);
	if (errno || *end || n > f->most)
		return false;
	field_set(s, f, n);
	return true;
}

/* A state with what it needs: whoever reads it acts on it. */
static bool is_whole(const struct search *s)
{
	bool paced = s->state == SEARCH_TRYING || s->state == SEARCH_KEPT;

	return paced ? s->rate >= RATE_MIN : !s->rate;
}

static int parse_state(const char *word, struct search *s)
{
	size_t i;

	for (i = 0; i < SEARCH_STATES; i++) {
		if (!word || strcmp(states[i], word))
			continue;
		s->state = (enum search_state)i;
		return 0;
	}
	return -EBADMSG;
}

int search_parse(const char *text, struct search *s, struct err *e)
{
	char copy[SEARCH_TEXT], *rest = copy, *word;

	memset(s, 0, sizeof(*s));
	if (strlen(text) >= sizeof(copy))
		return err_set(e, -EBADMSG, "a search of %zu bytes is longer than any, %u",
			       strlen(text), SEARCH_TEXT - 1);
	memcpy(copy, text, strlen(text) + 1);
	word = strsep(&rest, " ");
	if (parse_state(word, s))
		return err_set(e, -EBADMSG, "\"%s\" is not the state of a search", word);
	while ((word = strsep(&rest, " "))) {
		if (parse_word(word, s))
			continue;
		memset(s, 0, sizeof(*s));
		return err_set(e, -EBADMSG, "\"%s\" is not a word of a search", word);
	}
	if (is_whole(s))
		return 0;
	memset(s, 0, sizeof(*s));
	return err_set(e, -EBADMSG, "a search that is %s has rate in vain, or none",
		       search_state_name(s->state));
}
