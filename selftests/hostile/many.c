// SPDX-License-Identifier: GPL-2.0
/*
 * many: a stream to each of many peers, to have more breakers trip than are kept
 *
 * It connects to -n addresses from ADDRESS on, and sends to all of them: each peer has
 * an automatic circuit of its own, and each of these a breaker.  Where the path loses
 * packets all of them trip; a user must not get rid of one by having many of them.
 *
 * Prints the line of report.c at the end.
 */
#include "hostile.h"

#define MANY_MS		50	/* from one turn to the next */

void run_many(const struct options *o, const char *address, int port)
{
	struct seen seen = { 0 };
	long begin;

	connect_all(o, address, port, true);
	begin = clock_ms();
	while (clock_ms() - begin < o->ms) {
		feed(o);
		pause_ms(MANY_MS);
	}
	report(o, &seen);
	drop_all(o);
}
