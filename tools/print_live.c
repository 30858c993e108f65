// SPDX-License-Identifier: GPL-2.0
/*
 * Live circuits, evidence and events for a person, and as JSON.
 *
 * JSON is in base units: bit/s, us, segments.
 */
#include <inttypes.h>
#include <string.h>

#include "print.h"
#include "text.h"
#include "units.h"

/* A rate past what a person may ask for is shown roughly. */
static void print_rate(FILE *out, uint64_t rate)
{
	char text[32];

	if (rate <= RATE_MAX)
		fprintf(out, "%s", format_rate(text, sizeof(text), rate));
	else
		print_bytes(out, rate, "/s");
}

/* The module holds the rate, and no qdisc has to. */
static bool is_paced(const struct object *o)
{
	return o->rate && !(o->flags & TCP_CIRCUIT_F_UNPACED);
}

/* Which traffic is the circuit's: " to 192.0.2.0/24, 2001:db8::/32 by eth1". */
void print_selectors(FILE *out, const struct object *o)
{
	char text[64], dev[IFNAMSIZ];
	uint32_t i;

	for (i = 0; i < o->n; i++)
		fprintf(out, "%s%s", i ? ", " : " to ",
			format_prefix(text, sizeof(text), &o->prefixes[i]));
	if (o->dev[0])
		fprintf(out, " by %s", text_copy(dev, sizeof(dev), o->dev));
	if (o->mark)
		fprintf(out, " with mark %u", o->mark);
}

static void print_threshold(FILE *out, const struct evidence *ev, uint32_t segments)
{
	if (ev->segments)
		fprintf(out, ", %.3g%%", 100.0 * segments / ev->segments);
	if (ev->threshold)
		fprintf(out, " where %g%% are too many", ev->threshold / 10.0);
}

static void print_reason(FILE *out, const struct evidence *ev)
{
	char a[32], b[32];

	switch (ev->reason) {
	case TCP_CIRCUIT_REASON_LOSS:
		fprintf(out, "%u of %u segments lost", ev->lost, ev->segments);
		print_threshold(out, ev, ev->lost);
		break;
	case TCP_CIRCUIT_REASON_CE:
		fprintf(out, "%u of %u segments marked by ECN", ev->ce, ev->segments);
		print_threshold(out, ev, ev->ce);
		break;
	case TCP_CIRCUIT_REASON_DELAY:
		fprintf(out, "a round trip of at least %s where window and rate explain %s",
			format_time(a, sizeof(a), ev->rtt),
			format_time(b, sizeof(b), ev->rtt_expected));
		break;
	case TCP_CIRCUIT_REASON_SHORTFALL:
		fprintf(out, "window in use and only ");
		print_rate(out, ev->rate);
		fprintf(out, " delivered");
		break;
	default:
		fprintf(out, "reason %u, not known to this ctcp-setup", ev->reason);
	}
}

/* "user 1000: 800 of 4000 segments lost, ... in 500ms; window 1000 -> 10" */
void print_evidence(FILE *out, const struct evidence *ev)
{
	char ms[32];

	fprintf(out, "user %u: ", ev->uid);
	print_reason(out, ev);
	fprintf(out, " in %s; window %u -> %u",
		format_time(ms, sizeof(ms), ev->ms * 1000ULL), ev->window, ev->window_cut);
}

static void print_breaker(FILE *out, const struct live *l, const char *name)
{
	char word[WORD(TCP_CIRCUIT_NAME_LEN)];

	if (l->tripped_users)
		fprintf(out,
			"  TRIPPED  %s: the window of %u user%s is cut; ctcp-setup reset %s gives it back at once\n",
			name, l->tripped_users, l->tripped_users == 1 ? "" : "s",
			shell_word(word, sizeof(word), name));
	if (l->evidence.reason) {
		fprintf(out, "  tripped  %s: ", l->tripped_users ? "by" : "last by");
		print_evidence(out, &l->evidence);
		fprintf(out, "\n");
	}
}

/* Loss as a part of what has left: what arrived, and what did not. */
static void print_counters(FILE *out, const struct live *l)
{
	double sent = (double)l->delivered + (double)l->lost;

	fprintf(out, ", %" PRIu64 " lost", l->lost);
	if (l->lost)
		fprintf(out, ", %.3g%%", 100 * (double)l->lost / sent);
	if (l->ce)
		fprintf(out, ", %" PRIu64 " marked", l->ce);
	if (l->trips)
		fprintf(out, ", tripped %u time%s", l->trips, l->trips == 1 ? "" : "s");
}

void print_live(FILE *out, const struct live *l)
{
	char buf[64], dev[IFNAMSIZ];
	const char *name = live_name(l, buf, sizeof(buf));

	fprintf(out, "  %s  %s", l->no_object ? "peer   " : "circuit", name);
	if (!l->no_object)
		print_selectors(out, &l->object);
	else if (l->object.dev[0])
		fprintf(out, " by %s", text_copy(dev, sizeof(dev), l->object.dev));
	if (l->of_user)
		fprintf(out, " of user %u", l->uid);
	fprintf(out, ": %u of %u segments shared out, %u socket%s, %u with an equal share",
		l->cwnd_total, l->object.window, l->sockets, l->sockets == 1 ? "" : "s",
		l->hungry);
	if (l->object.rate) {
		fprintf(out, is_paced(&l->object) ? ", paced at " : ", rate ");
		print_rate(out, l->object.rate);
	}
	object_print_flags(out, &l->object);
	print_counters(out, l);
	fprintf(out, "\n");
	print_breaker(out, l, name);
}

void print_totals(FILE *out, const struct totals *t)
{
	fprintf(out,
		"in all: %u of %u circuits, %u of %u prefixes, %u peers, %" PRIu64
		" bytes; connections: %" PRIu64 " with a window, %" PRIu64
		" without; breakers: tripped %" PRIu64 " times, closed %" PRIu64 "\n",
		t->circuits, t->circuits_max, t->prefixes, t->prefixes_max, t->peers, t->memory,
		t->opened, t->reno, t->trips, t->resets);
}

static const char *cause_text(uint32_t cause)
{
	switch (cause) {
	case TCP_CIRCUIT_CAUSE_QUIET:
		return "its quiet time has passed";
	case TCP_CIRCUIT_CAUSE_RESET:
		return "reset";
	case TCP_CIRCUIT_CAUSE_REMOVED:
		return "its circuit was removed";
	case TCP_CIRCUIT_CAUSE_FORGOTTEN:
		return "too many breakers without a socket";
	case TCP_CIRCUIT_CAUSE_DISABLED:
		return "net.ipv4.tcp_circuit_breaker is 0";
	default:
		return "for a cause not known to this ctcp-setup";
	}
}

static void print_config(FILE *out, const struct object *o)
{
	fprintf(out, "window %u", o->window);
	if (o->rate) {
		fprintf(out, ", rate ");
		print_rate(out, o->rate);
	}
	object_print_flags(out, o);
	if (o->n || o->dev[0] || o->mark)
		fprintf(out, ",");
	print_selectors(out, o);
}

/* One line: time, event, whose, and what has changed or why. */
void print_event(FILE *out, const struct event *ev)
{
	const struct live *l = &ev->live;
	char at[40], buf[64];

	event_time(&ev->at, at, sizeof(at));
	fprintf(out, "%s %s %s", at, event_name(ev->cmd), live_name(l, buf, sizeof(buf)));
	switch (ev->cmd) {
	case TCP_CIRCUIT_CMD_TRIPPED_NTF:
		fprintf(out, ": ");
		print_evidence(out, &l->evidence);
		break;
	case TCP_CIRCUIT_CMD_CLOSED_NTF:
		fprintf(out, ": %s", cause_text(l->cause));
		if (l->evidence.reason) {
			fprintf(out, "; it had tripped by ");
			print_evidence(out, &l->evidence);
		}
		break;
	case TCP_CIRCUIT_CMD_CHANGED_NTF:
		if (ev->changes) {
			fprintf(out, ": %s", ev->changes);
			break;
		}
		/* fall through */
	case TCP_CIRCUIT_CMD_ADDED_NTF:
		fprintf(out, ": ");
		print_config(out, &l->object);
	}
	fprintf(out, "\n");
}

/* --- JSON ------------------------------------------------------------------ */

static json_t *json_bits(uint64_t rate)
{
	return json_count(rate > INT64_MAX / 8 ? INT64_MAX : rate * 8);
}

/* "" = there is none */
static json_t *json_text(const char *s)
{
	return *s ? json_plain(s) : json_null();
}

static json_t *json_prefixes(const struct object *o)
{
	json_t *list = json_array();
	char text[64];
	uint32_t i;

	for (i = 0; i < o->n; i++)
		json_array_append_new(list, json_string(format_prefix(text, sizeof(text),
								      &o->prefixes[i])));
	return list;
}

static json_t *json_evidence(const struct evidence *ev)
{
	static const char * const reasons[] = { NULL, "loss", "ce", "delay", "shortfall" };

	if (!ev->reason)
		return json_null();
	return json_pack("{s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:f,s:I,s:I}", "reason",
			 ev->reason < sizeof(reasons) / sizeof(reasons[0]) ?
			 reasons[ev->reason] : "other",
			 "uid", (json_int_t)ev->uid, "slot_us", (json_int_t)ev->ms * 1000,
			 "segments", (json_int_t)ev->segments,
			 "lost_segments", (json_int_t)ev->lost,
			 "ce_segments", (json_int_t)ev->ce, "rtt_us", (json_int_t)ev->rtt,
			 "rtt_expected_us", (json_int_t)ev->rtt_expected,
			 "delivered_bit_s", json_bits(ev->rate),
			 "threshold", ev->threshold / 1000.0,
			 "window_segments", (json_int_t)ev->window,
			 "cut_segments", (json_int_t)ev->window_cut);
}

json_t *json_live(const struct live *l)
{
	const struct object *o = &l->object;
	char peer[64] = "";

	if (l->no_object)
		format_addr(peer, sizeof(peer), &l->peer);
	return json_pack("{s:o,s:o,s:I,s:o,s:o,s:I,s:I,s:o,s:I,s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:I,s:I,s:b,s:o}",
			 "name", json_text(o->name), "peer", json_text(peer),
			 "id", (json_int_t)l->id, "prefixes", json_prefixes(o),
			 "outgoing", json_text(o->dev), "mark", (json_int_t)o->mark,
			 "flags", (json_int_t)o->flags,
			 "uid", l->of_user ? json_integer(l->uid) : json_null(),
			 "fcwnd_segments", (json_int_t)o->window,
			 "cwnd_total_segments", (json_int_t)l->cwnd_total,
			 "sockets", (json_int_t)l->sockets, "hungry", (json_int_t)l->hungry,
			 "rate_bit_s", json_bits(o->rate),
			 "pace_bit_s", json_bits(is_paced(o) ? o->rate : 0),
			 "delivered_segments", json_count(l->delivered),
			 "lost_segments", json_count(l->lost), "ce_segments", json_count(l->ce),
			 "trips", (json_int_t)l->trips,
			 "tripped_users", (json_int_t)l->tripped_users,
			 "tripped", !!l->tripped_users, "evidence", json_evidence(&l->evidence));
}

json_t *json_totals(const struct totals *t)
{
	json_t *root = json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}",
				 "circuits", (json_int_t)t->circuits,
				 "circuits_max", (json_int_t)t->circuits_max,
				 "prefixes", (json_int_t)t->prefixes,
				 "prefixes_max", (json_int_t)t->prefixes_max,
				 "peers", (json_int_t)t->peers,
				 "peers_max", (json_int_t)t->peers_max,
				 "breakers_kept", (json_int_t)t->kept,
				 "breakers_kept_max", (json_int_t)t->kept_max);

	json_object_set_new(root, "memory_bytes", json_count(t->memory));
	json_object_set_new(root, "opened", json_count(t->opened));
	json_object_set_new(root, "reno", json_count(t->reno));
	json_object_set_new(root, "restored", json_count(t->restored));
	json_object_set_new(root, "timeouts", json_count(t->timeouts));
	json_object_set_new(root, "recoveries", json_count(t->recoveries));
	json_object_set_new(root, "trips", json_count(t->trips));
	json_object_set_new(root, "resets", json_count(t->resets));
	json_object_set_new(root, "no_memory", json_count(t->no_memory));
	return root;
}

static const char *cause_name(uint32_t cause)
{
	static const char * const names[] = { NULL, "quiet", "reset", "removed", "forgotten",
					       "disabled" };

	return cause && cause < sizeof(names) / sizeof(names[0]) ? names[cause] : "other";
}

json_t *json_event(const struct event *ev)
{
	json_t *root = json_live(&ev->live);
	char at[40];

	event_time(&ev->at, at, sizeof(at));
	json_object_set_new(root, "time", json_string(at));
	json_object_set_new(root, "event", json_string(event_name(ev->cmd)));
	if (ev->cmd == TCP_CIRCUIT_CMD_CLOSED_NTF)
		json_object_set_new(root, "cause", json_string(cause_name(ev->live.cause)));
	if (ev->changes)
		json_object_set_new(root, "changes", json_string(ev->changes));
	return root;
}
