// SPDX-License-Identifier: GPL-2.0
/*
 * An event, told apart from the message and held against what was known: the
 * kernel tells what a circuit is now, and people ask what has changed.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "print.h"
#include "text.h"

const char *event_name(uint8_t cmd)
{
	switch (cmd) {
	case TCP_CIRCUIT_CMD_ADDED_NTF:
		return "added";
	case TCP_CIRCUIT_CMD_CHANGED_NTF:
		return "changed";
	case TCP_CIRCUIT_CMD_REMOVED_NTF:
		return "removed";
	case TCP_CIRCUIT_CMD_TRIPPED_NTF:
		return "tripped";
	case TCP_CIRCUIT_CMD_CLOSED_NTF:
		return "closed";
	default:
		return NULL;
	}
}

/* -ENOMSG: of a kind that is not known here; -EBADMSG: not understood. */
int event_parse(const struct nlmsghdr *nlh, struct event *ev)
{
	const struct genlmsghdr *head = mnl_nlmsg_get_payload(nlh);

	memset(ev, 0, sizeof(*ev));
	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*head))
		return -EBADMSG;
	ev->cmd = head->cmd;
	if (!event_name(ev->cmd))
		return -ENOMSG;
	clock_gettime(CLOCK_REALTIME, &ev->at);
	return live_parse(nlh, &ev->live);
}

void event_free(struct event *ev)
{
	live_free(&ev->live);
	free(ev->changes);
	ev->changes = NULL;
}

/* 2026-01-31T23:59:59.123+0100 */
void event_time(const struct timespec *at, char *buf, size_t len)
{
	char zone[8];
	struct tm tm;
	size_t n;

	localtime_r(&at->tv_sec, &tm);
	n = strftime(buf, len, "%Y-%m-%dT%H:%M:%S", &tm);
	strftime(zone, sizeof(zone), "%z", &tm);
	snprintf(buf + n, len - n, ".%03ld%s", at->tv_nsec / 1000000, zone);
}

static char *prefixes_text(const struct object *o)
{
	char *text = NULL, one[64];
	size_t len;
	FILE *out = open_memstream(&text, &len);
	uint32_t i;

	for (i = 0; out && i < o->n; i++)
		fprintf(out, "%s%s", i ? "," : "",
			format_prefix(one, sizeof(one), &o->prefixes[i]));
	if (out)
		fclose(out);
	return text;
}

static void say(FILE *out, const char *what, const char *was, const char *is)
{
	if (was && is && strcmp(was, is))
		fprintf(out, "%s%s %s -> %s", ftell(out) ? ", " : "", what, was, is);
}

#define FLAGS_TEXT 64	/* room for the words of all flags */

static const char *flags_text(const struct object *o, char buf[FLAGS_TEXT])
{
	FILE *out = fmemopen(buf, FLAGS_TEXT, "w");

	if (!out)
		return NULL;
	object_print_flags(out, o);
	if (!ftell(out))
		fprintf(out, " none");
	fclose(out);
	return buf + 1;		/* each word has a blank before it */
}

static void say_number(FILE *out, const char *what, uint64_t was, uint64_t is)
{
	char a[24], b[24];

	snprintf(a, sizeof(a), "%llu", (unsigned long long)was);
	snprintf(b, sizeof(b), "%llu", (unsigned long long)is);
	say(out, what, a, b);
}

/* In words, for the caller to free; NULL: they are alike, or out of memory. */
static char *compare(const struct object *was, const struct object *is)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	char *a = prefixes_text(was), *b = prefixes_text(is);
	char ra[32] = "none", rb[32] = "none", fa[FLAGS_TEXT], fb[FLAGS_TEXT];

	if (was->rate)
		tc_rate(ra, sizeof(ra), was->rate);
	if (is->rate)
		tc_rate(rb, sizeof(rb), is->rate);
	if (out) {
		say_number(out, "window", was->window, is->window);
		say(out, "rate", ra, rb);
		say(out, "prefixes", a, b);
		say(out, "dev", was->dev[0] ? was->dev : "any", is->dev[0] ? is->dev : "any");
		say_number(out, "mark", was->mark, is->mark);
		say(out, "flags", flags_text(was, fa), flags_text(is, fb));
		fclose(out);
	}
	free(a);
	free(b);
	if (text && !len) {
		free(text);
		text = NULL;
	}
	if (text)
		text_clean(text);
	return text;
}

/* The object's own copy, as the event is printed and freed. */
static int copy_object(const struct object *from, struct live *to)
{
	uint32_t i;

	memset(to, 0, sizeof(*to));
	to->object = *from;
	to->object.n = 0;
	to->object.prefixes = NULL;
	for (i = 0; i < from->n; i++)
		if (object_add_prefix(&to->object, &from->prefixes[i])) {
			live_free(to);
			return -ENOMEM;
		}
	return 0;
}

static void forget(struct lives *known, struct live *l)
{
	live_free(l);
	*l = known->list[--known->n];
}

/*
 * What was known becomes what is, and @ev says in words what is different.  lives_add()
 * doubles the room at powers of two, so that one that was forgotten costs nothing.
 */
int event_learn(struct lives *known, struct event *ev)
{
	struct live *was = lives_find(known, ev->live.object.name), now;
	bool gone = ev->cmd == TCP_CIRCUIT_CMD_REMOVED_NTF;

	if (ev->live.no_object || (!gone && ev->cmd > TCP_CIRCUIT_CMD_CHANGED_NTF))
		return 0;
	if (was && ev->cmd == TCP_CIRCUIT_CMD_CHANGED_NTF)
		ev->changes = compare(&was->object, &ev->live.object);
	if (was)
		forget(known, was);
	if (gone)
		return 0;
	if (copy_object(&ev->live.object, &now))
		return -ENOMEM;
	return lives_add(known, &now);
}
