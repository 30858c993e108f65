// SPDX-License-Identifier: GPL-2.0
/*
 * Flows as they were recorded in the lab (selftests/flows, of seeds that the policy was
 * tuned by), judged again: the first twenty seconds or so of each, in traces/.  And once more
 * with counters that pass 2^32 in their midst.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

#include "ctcpd/flows.h"
#include "ctcpd/trace.h"

static const struct row {
	const char *file;
	enum verdict verdict;
	enum reason reason;
} rows[] = {
	/* frames of a buffer: a window of 20, cut a hundred times a second; and of 100 */
	{ "overrun-small-window", VERDICT_OVERRUN, REASON_REGULAR },
	{ "overrun-cubic", VERDICT_OVERRUN, REASON_SAME_WINDOW },
	/* windows that differ, but the rate does not */
	{ "overrun-policer", VERDICT_OVERRUN, REASON_BURSTS },
	/* its window is 8, and what it loses comes in less than twos */
	{ "overrun-policer-small-window", VERDICT_OVERRUN, REASON_BURSTS },
	/* one of four is lost, over 0.3 ms: its window is now one, now twenty */
	{ "overrun-heavy", VERDICT_OVERRUN, REASON_HEAVY },
	/* bursts that outlast a recovery cut the window twice */
	{ "overrun-two-cuts", VERDICT_OVERRUN, REASON_BURSTS },
	{ "overrun-bbr", VERDICT_OVERRUN, REASON_BURSTS },
	/* an application that pauses: a window of 5, which loses three times in each look */
	{ "overrun-even", VERDICT_OVERRUN, REASON_REGULAR },
	/* a policer, and a window of 4, which lives by its timeouts: by look that is chance */
	{ "overrun-even-by-three", VERDICT_OVERRUN, REASON_REGULAR },
	/* a window of 100, which is too much for 26 frames of buffer behind each pause */
	{ "overrun-starts", VERDICT_OVERRUN, REASON_STARTS },
	/* a policer and BBR, which sees it, and tries to send ten times as much now and then */
	{ "overrun-faster", VERDICT_OVERRUN, REASON_FASTER },
	/* other people share the slow hop for half of the time */
	{ "overrun-others-also", VERDICT_OVERRUN, REASON_SAME_WINDOW },
	/* a window of 9 in spite of a loss in twenty, in each look as many */
	{ "overrun-large-windows", VERDICT_OVERRUN, REASON_BURSTS },
	/* five losses in twenty seconds, all at one window; and six of Reno's, which pauses */
	{ "overrun-few-alike", VERDICT_OVERRUN, REASON_SAME_WINDOW },
	{ "overrun-reno-alike", VERDICT_OVERRUN, REASON_SAME_WINDOW },
	{ "loss-random", VERDICT_LOSS, REASON_RANDOM },
	/* one of five, by chance; it lives by its timeouts, from which looks begin */
	{ "loss-heavy", VERDICT_LOSS, REASON_RANDOM },
	/* by chance, at the rate of the path, or of our own device, where the window stops */
	{ "loss-bbr", VERDICT_LOSS, REASON_RANDOM },
	{ "loss-own-device", VERDICT_LOSS, REASON_RANDOM },
	/* other people's connections come and go */
	{ "loss-others", VERDICT_LOSS, REASON_OTHERS },
	{ "loss-others-bbr", VERDICT_LOSS, REASON_OTHERS },
	/* its rate stays the same, but that is our own port's, which others share */
	{ "loss-others-own-port", VERDICT_LOSS, REASON_OTHERS },
	/* what others' UDP leaves is always the same, and it loses at one window; not without */
	{ "loss-others-constant", VERDICT_LOSS, REASON_OTHERS },
	{ "local-drops", VERDICT_LOCAL_DROPS, REASON_DROPPED_HERE },
	/* a round trip of 1 ms, over which a packet has 22 segments, however slow it is */
	{ "local-drops-bbr", VERDICT_LOCAL_DROPS, REASON_DROPPED_HERE },
	{ "application", VERDICT_APPLICATION, REASON_TIME },
	{ "application-window", VERDICT_APP_WINDOW, REASON_FLIGHT },
	{ "remote-window", VERDICT_REMOTE_WINDOW, REASON_TIME },
	{ "send-buffer", VERDICT_SEND_BUFFER, REASON_TIME },
	{ "clean", VERDICT_CLEAN, REASON_NO_LOSS },
};

struct replay {
	struct flows *flows;
	bool wrap;		/* counters of 32 bits begin just below 2^32 */
	uint32_t add_segs, add_retrans, add_delivered;
	unsigned int samples;
};

#define BEFORE_WRAP 3000U	/* segments: some are sent before, and more behind it */

static void move(struct replay *r, struct sample *s)
{
	if (!r->samples++) {
		r->add_segs = -BEFORE_WRAP - s->data_segs_out;
		r->add_retrans = -2U - s->total_retrans;
		r->add_delivered = -BEFORE_WRAP - s->delivered;
	}
	s->data_segs_out += r->add_segs;
	s->total_retrans += r->add_retrans;
	s->delivered += r->add_delivered;
}

static int take_line(const struct trace_line *t, void *data, struct err *e)
{
	struct replay *r = data;
	struct sample s = t->sample;

	(void)e;
	switch (t->kind) {
	case TRACE_SAMPLE:
		if (r->wrap)
			move(r, &s);
		return flows_feed(r->flows, &s);
	case TRACE_DROPS:
		return flows_drops(r->flows, t->at_us, t->ifindex, t->drops);
	case TRACE_LEAVES:
		flows_leaves(r->flows, t->sample.conn.cookie, t->ifindex);
		return 0;
	default:
		return 0;
	}
}

static int check_flow(const struct flow *f, bool closed, void *data)
{
	const struct row *row = data;
	struct judgement j;

	(void)closed;
	judge_flow(&f->facts, &j);
	if (j.verdict != row->verdict || j.reason != row->reason)
		fail_msg("%s: expected %s (%s), got %s (%s)", row->file,
			 verdict_name(row->verdict), reason_name(row->reason),
			 verdict_name(j.verdict), reason_name(j.reason));
	return 0;
}

static void replay(const struct row *row, bool wrap)
{
	struct replay r = { .flows = flows_new(), .wrap = wrap };
	struct err e = { "" };
	char name[128];
	FILE *in;

	assert_non_null(r.flows);
	snprintf(name, sizeof(name), "tests/traces/%s.trace", row->file);
	in = fopen(name, "re");
	if (!in)
		fail_msg("%s: %s", name, strerror(errno));
	if (trace_read(in, take_line, &r, &e))
		fail_msg("%s: %s", name, e.text);
	fclose(in);
	assert_int_equal(flows_count(r.flows), 1);
	flows_each(r.flows, check_flow, (void *)row);
	flows_free(r.flows);
}

static void test_as_recorded(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		replay(&rows[i], false);
}

static void test_wrapped(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		replay(&rows[i], true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_recorded),
		cmocka_unit_test(test_wrapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
