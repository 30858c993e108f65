// SPDX-License-Identifier: GPL-2.0
/*
 * The metrics of a world that is made up, served as ctcpd serves its own, for
 * selftests/dashboard/test_dashboard.py:
 *
 *	ctcpd_exporter ADDRESS:PORT
 *
 * Of three remotes one is paced by a class and one by its sockets.  It is as if polled ten times
 * a second: all that is counted has grown each time.  It ends when stdin does.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctcpd_act_fake.h"

#include "ctcpd/metrics.h"

#define REMOTES		3U
#define POLL_MS		100

static const struct search kept = { .state = SEARCH_KEPT, .rate = 115000000 };
static const struct search tried = { .state = SEARCH_TRYING, .rate = 60000000 };

static struct poll_totals totals = {
	.flows = REMOTES, .remotes = REMOTES, .cpu_us = 1234, .history_ok = true,
	.flows_of = { [VERDICT_OVERRUN] = REMOTES }, .remotes_of = { [VERDICT_OVERRUN] = REMOTES },
};

static struct fake_act pacing = {
	.totals = { .searches = 2, .paced = 2, .kept = 1, .trying = 1, .paced_by = { 1, 1 },
		    .acts = true, .unable = "", .hindered = "" },
	.n = 2, .list = {
		{ .to = { AF_INET, 32, { 10, 0, 0, 1 } }, .search = &kept, .rate = 115000000,
		  .stood_down = "", .hands = "classes", .unfit = "" },
		{ .to = { AF_INET, 32, { 10, 0, 0, 2 } }, .search = &tried, .rate = 60000000,
		  .stood_down = "", .hands = "sockets", .unfit = "" },
	},
};

/* 10.0.0.1, 10.0.0.2, ...: the last with the most bytes */
static struct flow flow_to(uint8_t n)
{
	struct flow f = { .first_us = 1000000, .last.conn = {
		.peer = { AF_INET, 32, { 10, 0, 0, n } }, .cookie = n, .algorithm = "cubic" } };

	f.facts.us = 4000000;
	f.facts.acked = 100000000ULL * n;
	f.facts.recent = (struct work){ .us = 4000000, .acked = f.facts.acked, .busy = 3000000,
					.rwnd = 1000000 };
	f.facts.segs = 80000;
	f.facts.retrans = 800;
	f.facts.best_rate = 125000000;
	f.facts.min_rtt_us = 47123;
	return f;
}

static struct remotes *some_remotes(void)
{
	struct remotes *rs = remotes_new();
	int rc = rs ? 0 : -1;
	uint8_t n;

	if (rs)
		remotes_begin(rs, 1000000);
	for (n = 1; n <= REMOTES && !rc; n++) {
		struct flow f = flow_to(n);

		rc = remotes_flow(rs, &f, false);
	}
	return rc || remotes_end(rs, 1000000, NULL, NULL) ? NULL : rs;
}

/* As of a poll: 1 Gbit/s, one segment in a hundred sent again */
static void count(struct poll_totals *t, struct act_totals *a)
{
	t->polls++;
	t->failed++;
	t->history_failed++;
	t->acked += 12500000;
	t->segs += 8700;
	t->retrans += 87;
	t->local_drops += 3;
	a->paced_changes++;
	a->failed++;
}

static bool tell(struct metrics *m, struct remotes *rs)
{
	size_t len;
	char *text;

	if (metrics_text(&totals, rs, fake_act(&pacing), &text, &len))
		return false;
	metrics_set(m, text, len);
	return true;
}

/* Until stdin ends; false: no memory */
static bool serve(struct metrics *m, struct remotes *rs)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	do {
		count(&totals, &pacing.totals);
		if (!tell(m, rs))
			return false;
	} while (!poll(&in, 1, POLL_MS));
	return true;
}

int main(int argc, char **argv)
{
	struct err e = { "it wants ADDRESS:PORT" };
	struct remotes *rs = some_remotes();
	struct metrics *m = NULL;
	bool served;
	int rc;

	if (argc == 2)
		m = metrics_start(argv[1], &rc, &e);
	if (!m || !rs) {
		fprintf(stderr, "ctcpd_exporter: %s\n", m ? "no memory" : e.text);
		return EXIT_FAILURE;
	}
	served = serve(m, rs);
	metrics_stop(m);
	remotes_free(rs);
	return served ? EXIT_SUCCESS : EXIT_FAILURE;
}
