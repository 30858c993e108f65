// SPDX-License-Identifier: GPL-2.0
/*
 * sleep, ahead: streams that hold themselves back, to keep a share that they do not use
 *
 * sleep sends for -p ms, to take the window.  Then it sets SO_MAX_PACING_RATE to
 * 1 byte/s, which puts off the next segment of each stream for very long.  -s says what
 * else it does:
 *
 *	poke	it sets TCP_NODELAY every DEAD_MS: the core tries to send, and circuit
 *		looks at the share
 *	raise	it lifts the pace again, and pokes every RAISED_MS; what has been put off
 *		stays so
 *	drip	in place of 1 byte/s it sends bursts of less than half of what it had, so
 *		that circuit takes it for modest, and then goes down to two segments a
 *		second
 *
 * With any other word it does nothing else.
 *
 * ahead sends a segment at a pace at which the next one is to leave 9 s later, lifts the
 * pace again, and sends all it can.  Under fq the core does not wait for that time: it
 * hands a window over, and fq holds it until then.  With "-s go" ahead writes four
 * segments at once at that pace: the first one leaves, and the second one is held.
 */
#include "hostile.h"

#define RAISED_MS	5	/* from one poke to the next */
#define AHEAD_RATE	160	/* bytes/s: a segment lasts 9 s */
#define BURST_BYTES	(160 * 1448)	/* by all streams together */
#define BURST_GAP_MS	15	/* from one burst to the next */

/* TCP_NODELAY has the core send what a stream may: it looks at its share. */
static void poke_all(const struct options *o)
{
	int one = 1;

	for (int i = 0; i < o->sockets; i++)
		setsockopt(streams[i].fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* Each becomes modest by the little that it uses, and then slows itself down. */
static void drip(const struct options *o)
{
	static char chunk[BURST_BYTES];

	pause_ms(ALL_ACKED_MS);
	for (int n = 0; n < 8; n++) {
		for (int i = 0; i < o->sockets; i++)
			send(streams[i].fd, chunk, sizeof(chunk) / o->sockets, MSG_NOSIGNAL);
		pause_ms(BURST_GAP_MS);
	}
	set_max_pace(o, 2 * 1448);
	feed(o);
}

void run_sleep(const struct options *o, const char *address, int port)
{
	bool raises = state_is(o, "raise"), pokes = raises || state_is(o, "poke");
	long begin = clock_ms();

	connect_all(o, address, port, false);
	while (clock_ms() - begin < o->turn_ms) {
		feed(o);
		pause_ms(1);
	}
	if (state_is(o, "drip"))
		drip(o);
	else
		set_max_pace(o, 1);
	pause_ms(ALL_ACKED_MS);
	if (raises)
		set_max_pace(o, ~0U);
	while (clock_ms() - begin < o->ms) {
		if (pokes)
			poke_all(o);
		pause_ms(raises ? RAISED_MS : DEAD_MS);
	}
	drop_all(o);
}

void run_ahead(const struct options *o, const char *address, int port)
{
	static const char segments[4 * MSS];
	size_t len = state_is(o, "go") ? sizeof(segments) : AHEAD_RATE * 9;
	long begin = clock_ms();

	connect_all(o, address, port, false);
	/* the core does not pace the first ten segments */
	feed(o);
	pause_ms(ALL_ACKED_MS);
	set_max_pace(o, AHEAD_RATE);
	for (int i = 0; i < o->sockets; i++)
		send(streams[i].fd, segments, len, MSG_NOSIGNAL);
	pause_ms(ALL_ACKED_MS);
	set_max_pace(o, ~0U);
	while (clock_ms() - begin < o->ms) {
		feed(o);
		pause_ms(DEAD_MS);
	}
	drop_all(o);
}
