// SPDX-License-Identifier: GPL-2.0
/*
 * Achieved against planned rates for a person, a row each, and as JSON.
 *
 * JSON is in base units: bit/s, bytes, us, segments.
 */
#include <inttypes.h>
#include <string.h>

#include "guarantee.h"
#include "print.h"
#include "rough.h"
#include "text.h"
#include "units.h"

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

/* Of what has left: what arrived, and what did not */
static double loss(const struct judgement *j)
{
	return percent((double)j->lost, (double)j->lost + (double)j->delivered);
}

/* --- why ------------------------------------------------------------------- */

static void why_breaker(const struct measured *m, char *buf, size_t len)
{
	char word[WORD(TCP_CIRCUIT_NAME_LEN)];
	uint32_t users = m->measure->last.tripped;

	if (users)
		snprintf(buf, len,
			 "the breaker has cut the window of %u user%s; ctcp-setup reset %s gives it back",
			 users, users == 1 ? "" : "s",
			 shell_word(word, sizeof(word), circuit_name(m->circuit)));
	else
		snprintf(buf, len, "a breaker tripped, and is closed again");
}

static void why_astray(const struct measured *m, char *buf, size_t len)
{
	const struct look *l = &m->measure->last;
	char word[WORD(TCP_CIRCUIT_NAME_LEN)];
	const char *algorithm = circuit_algorithm(m->circuit);
	int used = l->astray ?
		   snprintf(buf, len, "%u of %u streams run another algorithm than %s",
			    l->astray, l->wanting, algorithm) :
		   snprintf(buf, len, "its streams run another algorithm than %s", algorithm);

	if (!circuit_is_htcp(m->circuit) && (size_t)used < len)
		snprintf(buf + used, len - (size_t)used, "; ctcp-setup adopt %s gives it to them",
			 shell_word(word, sizeof(word), circuit_name(m->circuit)));
}

static void why_window(const struct measured *m, char *buf, size_t len)
{
	const struct look *l = &m->measure->last;
	char rtt[32], planned[32], most[32];

	snprintf(buf, len,
		 "%u segments of window carry %s at a round trip of %s; --rtt says %s",
		 l->window, rough_rate(most, sizeof(most), m->judgement->most),
		 format_time(rtt, sizeof(rtt), l->min_rtt),
		 format_time(planned, sizeof(planned), m->circuit->rtt_us));
}

static void why_streams(const struct measured *m, char *buf, size_t len)
{
	uint32_t n = m->measure->last.wanting;
	char most[32];

	snprintf(buf, len, "fq holds %u stream%s to %s together, and --streams expects %u", n,
		 n == 1 ? "" : "s", rough_rate(most, sizeof(most), m->judgement->most),
		 m->circuit->streams);
}

static void why_others(const struct measured *m, char *buf, size_t len)
{
	const struct judgement *j = m->judgement;
	char rate[32];

	snprintf(buf, len, "other traffic has %s of what the shaper on %s sends",
		 rough_rate(rate, sizeof(rate), j->sent - j->achieved), m->circuit->dev);
}

static void why_short(const struct measured *m, char *buf, size_t len)
{
	const struct stream_work *w = &m->measure->work;
	const struct judgement *j = m->judgement;

	switch (j->reason) {
	case REASON_BREAKER:
		why_breaker(m, buf, len);
		break;
	case REASON_DROPS:
		snprintf(buf, len, "the shaper on %s dropped %u packet%s", m->circuit->dev,
			 j->drops, j->drops == 1 ? "" : "s");
		break;
	case REASON_OTHERS:
		why_others(m, buf, len);
		break;
	case REASON_ALGORITHM:
		why_astray(m, buf, len);
		break;
	case REASON_LOSS:
		snprintf(buf, len, "%.3g%% of the segments were lost behind the shaper", loss(j));
		break;
	case REASON_STREAMS:
		why_streams(m, buf, len);
		break;
	case REASON_WINDOW:
		why_window(m, buf, len);
		break;
	case REASON_RWND:
		snprintf(buf, len, "the far side's receive window held its streams for %.0f%% of the time",
			 percent((double)w->rwnd, (double)w->busy));
		break;
	case REASON_SNDBUF:
		snprintf(buf, len, "their send buffers held its streams for %.0f%% of the time",
			 percent((double)w->sndbuf, (double)w->busy));
		break;
	default:
		snprintf(buf, len,
			 "no counter of this host tells why; the path may carry less, or a processor be busy");
	}
}

static void why_unknown(const struct measured *m, char *buf, size_t len)
{
	switch (m->judgement->reason) {
	case REASON_UNPLANNED:
		snprintf(buf, len, "%s", m->trouble);
		break;
	case REASON_MODULE_ANEW:
		snprintf(buf, len, "its circuit in the kernel came, went, or was made anew meanwhile");
		break;
	case REASON_SHAPER_ANEW:
		snprintf(buf, len, "its shaper came, went, or was made anew meanwhile");
		break;
	case REASON_RATE_CHANGED:
		snprintf(buf, len, "its rate was changed meanwhile");
		break;
	default:
		snprintf(buf, len, "neither the module, nor a shaper, nor its connections tell of it");
	}
}

/* What follows from the verdict; "" where it is held. */
const char *measured_why(const struct measured *m, char *buf, size_t len)
{
	buf[0] = 0;
	switch (m->judgement->verdict) {
	case VERDICT_UNKNOWN:
		why_unknown(m, buf, len);
		break;
	case VERDICT_IDLE:
		snprintf(buf, len, "nothing wanted to send");
		break;
	case VERDICT_LIGHT:
		snprintf(buf, len, "wanted to send more at %u of %u looks only", m->measure->wanted,
			 m->measure->looks);
		break;
	case VERDICT_HELD:
		break;
	case VERDICT_SHORT:
		why_short(m, buf, len);
	}
	text_clean(buf);
	return buf;
}

/* --- rows ------------------------------------------------------------------ */

/* @width: of the longest name */
void print_measured_head(FILE *out, int width)
{
	fprintf(out, "%-*s  %10s  %10s  %10s  %5s  %5s  %7s  %6s  verdict\n", width, "circuit", "planned",
		"achieved", "", "%", "busy", "drops", "lost");
}

static void print_counters(FILE *out, const struct measured *m)
{
	const struct judgement *j = m->judgement;
	char bits[32], bytes[32], drops[16] = "-", lost[16] = "-";

	if (m->measure->last.shaper && !(m->measure->broken & BROKEN_DROPS))
		snprintf(drops, sizeof(drops), "%u", j->drops);
	if (m->measure->last.module)
		snprintf(lost, sizeof(lost), "%.3g%%", loss(j));
	fprintf(out, "  %10s  %10s  %5.1f  %4.0f%%  %7s  %6s",
		rough_rate(bits, sizeof(bits), j->achieved),
		rough_bytes(bytes, sizeof(bytes), j->achieved, "/s"),
		percent((double)j->achieved, (double)j->planned),
		percent(m->measure->wanted, m->measure->looks), drops, lost);
}

void print_measured(FILE *out, int width, const struct measured *m)
{
	const struct judgement *j = m->judgement;
	char rate[32], why[WHY_TEXT];

	fprintf(out, "%-*s  %10s", width, circuit_name(m->circuit),
		format_rate(rate, sizeof(rate), j->planned));
	if (j->verdict == VERDICT_UNKNOWN)
		fprintf(out, "  %10s  %10s  %5s  %5s  %7s  %6s", "-", "-", "-", "-", "-", "-");
	else
		print_counters(out, m);
	measured_why(m, why, sizeof(why));
	fprintf(out, "  %s%s%s\n", measure_verdict_name(j->verdict), why[0] ? ": " : "", why);
}

/* --- JSON ------------------------------------------------------------------ */

static json_t *known(bool is, uint64_t n)
{
	return is ? json_count(n) : json_null();
}

static void json_of_module(json_t *root, const struct measured *m, bool is)
{
	const struct judgement *j = m->judgement;
	const struct look *l = &m->measure->last;

	json_object_set_new(root, "delivered_segments", known(is, j->delivered));
	json_object_set_new(root, "lost_segments", known(is, j->lost));
	json_object_set_new(root, "fcwnd_segments", known(is, l->window));
	json_object_set_new(root, "tripped_users", known(is, l->tripped));
	json_object_set_new(root, "trips", known(is, l->trips - m->measure->first.trips));
}

static void json_of_shaper(json_t *root, const struct measured *m, bool is)
{
	const struct judgement *j = m->judgement;
	bool drops = is && !(m->measure->broken & BROKEN_DROPS);

	json_object_set_new(root, "shaper_bit_s", known(is, j->sent * 8));
	json_object_set_new(root, "shaper_own", is ? json_boolean(m->measure->own) : json_null());
	json_object_set_new(root, "drops", known(drops, j->drops));
	json_object_set_new(root, "overlimits", known(drops, j->overlimits));
	json_object_set_new(root, "backlog_bytes", known(is, m->measure->last.stats.backlog));
}

static void json_of_streams(json_t *root, const struct measured *m, bool is)
{
	const struct look *l = &m->measure->last;
	const struct stream_work *w = &m->measure->work;

	json_object_set_new(root, "streams", known(is, l->streams));
	json_object_set_new(root, "wanting", known(is, l->wanting));
	json_object_set_new(root, "min_rtt_us", known(is && l->min_rtt, l->min_rtt));
	json_object_set_new(root, "acked_bytes", known(is, w->acked));
	json_object_set_new(root, "busy_us", known(is, w->busy));
	json_object_set_new(root, "receive_window_us", known(is, w->rwnd));
	json_object_set_new(root, "send_buffer_us", known(is, w->sndbuf));
}

json_t *json_measured(const struct measured *m)
{
	const struct judgement *j = m->judgement;
	const struct look *l = &m->measure->last;
	bool is = j->verdict != VERDICT_UNKNOWN;
	char why[WHY_TEXT];
	json_t *root;

	measured_why(m, why, sizeof(why));
	root = json_pack("{s:o,s:s,s:s,s:o,s:o,s:I,s:o,s:o,s:I,s:I}",
			 "dev", json_plain(m->circuit->dev),
			 "name", circuit_name(m->circuit),
			 "verdict", measure_verdict_name(j->verdict),
			 "reason", j->reason ? json_string(measure_reason_name(j->reason)) :
					       json_null(),
			 "why", why[0] ? json_string(why) : json_null(),
			 "planned_bit_s", (json_int_t)(j->planned * 8),
			 "achieved_bit_s", known(is, j->achieved * 8),
			 "duration_us", known(is, j->us),
			 "looks", (json_int_t)m->measure->looks,
			 "looks_wanted", (json_int_t)m->measure->wanted);
	json_of_module(root, m, is && l->module);
	json_of_shaper(root, m, is && l->shaper);
	json_of_streams(root, m, is && l->listed);
	return root;
}
