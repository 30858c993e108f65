// SPDX-License-Identifier: GPL-2.0
/*
 * waves, relay: sockets that send once and are gone, to send more than a window together
 *
 * waves connects -n sockets, sends on all of them, resets them after -p ms, and begins
 * again.  relay connects all of them first; then one after the other sends, and is reset
 * after -p ms.  What a socket leaves in flight must count for a round trip, or the next
 * ones find the window free again.
 *
 * Both print how many segments they sent, retransmissions included, and for how long:
 * sent= ms=.  -s, beside what it means to connect_all() (streams.c):
 *
 *	toggle	a socket leaves for Reno instead of being reset
 *	delay	the kernel forgets the round trip of a socket before it is reset
 *	unknown	waves sends a byte on each socket, whose round trip is not known from
 *		the beginning
 *	forget	so, but the round trip is forgotten once the socket is connected
 *	burst	before relay begins, each socket sends a segment at a pace at which the
 *		next one is to leave 0.8 s later: fq would let what all of them send
 *		leave at one time
 *	stretch	so, and TCP_TX_DELAY makes the kernel believe in a round trip of 100 s
 */
#include "hostile.h"

#define STRETCH_US	100000000
#define BURST_RATE	900	/* bytes/s: after a pause a segment lasts 0.8 s */
#define BURST_GAP_MS	15	/* until the segment has been sent */

/*
 * Data segments that the @i-th has sent, retransmissions included; then the socket is reset,
 * or leaves for Reno
 */
static uint64_t sent_by(const struct options *o, int i)
{
	uint64_t segments = tcp_info_of(streams[i].fd).tcpi_data_segs_out;

	if (state_is(o, "delay"))
		delay_departure(streams[i].fd, 1);
	if (state_is(o, "toggle"))
		set_algorithm(streams[i].fd, "reno");
	else
		drop(streams[i].fd);
	return segments;
}

static void tell_sent(uint64_t segments, long begin)
{
	printf("sent=%llu ms=%ld\n", (unsigned long long)segments,
	       clock_ms() - begin);
}

void run_waves(const struct options *o, const char *address, int port)
{
	long begin = clock_ms();
	uint64_t sent = 0;

	while (clock_ms() - begin < o->ms) {
		connect_all(o, address, port, false);
		if (state_is(o, "forget"))
			forget_rtt(o, 1);
		if (state_is(o, "unknown") || state_is(o, "forget")) {
			send_byte(o);
		} else {
			feed(o);
			pause_ms(o->turn_ms);
		}
		for (int i = 0; i < o->sockets; i++)
			sent += sent_by(o, i);
	}
	tell_sent(sent, begin);
}

/* What each sends next is to leave 0.8 s later, whatever its pace is then. */
static void prepare_bursts(const struct options *o)
{
	static char segments[10 * MSS];

	if (state_is(o, "stretch"))
		for (int i = 0; i < o->sockets; i++)
			delay_departure(streams[i].fd, STRETCH_US);
	/* the core does not pace the first ten segments */
	for (int i = 0; i < o->sockets; i++)
		send(streams[i].fd, segments, sizeof(segments), MSG_NOSIGNAL);
	pause_ms(ALL_ACKED_MS);
	set_max_pace(o, BURST_RATE);
	for (int i = 0; i < o->sockets; i++)
		send(streams[i].fd, segments, MSS, MSG_NOSIGNAL);
	pause_ms(BURST_GAP_MS);
	set_max_pace(o, ~0U);
}

void run_relay(const struct options *o, const char *address, int port)
{
	static char chunk[CHUNK];
	uint64_t sent = 0;
	long begin;

	connect_all(o, address, port, false);
	if (state_is(o, "burst") || state_is(o, "stretch"))
		prepare_bursts(o);
	begin = clock_ms();
	for (int i = 0; i < o->sockets; i++) {
		send(streams[i].fd, chunk, sizeof(chunk), MSG_NOSIGNAL);
		pause_ms(o->turn_ms);
		sent += sent_by(o, i);
	}
	tell_sent(sent, begin);
}
