// SPDX-License-Identifier: GPL-2.0
/*
 * send, inherit: send without end, and tell each second what the streams had
 *
 * send connects to ADDRESS.  Without -s and -l it does nothing else than honest users do,
 * and plays these, too.
 *
 * inherit listens as the user who started it, and becomes UID before it accepts and
 * sends, as a server does that binds its port as root and gives each connection to a
 * process of its user.  The streams are that user's, and their breaker is his.  inherit
 * never reads TCP_CIRCUIT_INFO, which would have circuit look at the stream once more.
 *
 * -l MS makes loss of one's own from then on: packets of all streams die on the way for
 * TTL_DEAD_MS (by a TTL of 1), arrive for TTL_ALIVE_MS, and so on.
 *
 * -s says what send does with each socket at each turn, every -p ms:
 *
 *	poll	it reads TCP_CIRCUIT_INFO, which has circuit look at the stream's share
 *	flap	it leaves for Reno, or returns
 *	delay	every DELAY_EACH turns it changes TCP_TX_DELAY, to some 5 s: what it
 *		sends is to leave fq that much later
 *
 * Both print the line of report.c each second.
 */
#include "hostile.h"

#define TTL_DEAD_MS	30
#define TTL_ALIVE_MS	100
#define DELAY_US	5000000
#define DELAY_EACH	200	/* turns */

/* @ms: since the beginning */
static void lose_by_turns(const struct options *o, long ms)
{
	if (o->lossy_ms < 0 || ms < o->lossy_ms)
		return;
	ms %= TTL_DEAD_MS + TTL_ALIVE_MS;
	set_ttl(o, ms < TTL_DEAD_MS ? 1 : 64);
}

/* What -s says, at each turn */
static void tease(const struct options *o, int turn)
{
	for (int i = 0; i < o->sockets; i++) {
		if (state_is(o, "poll"))
			circuit_info_of(streams[i].fd);
		else if (state_is(o, "flap"))
			set_algorithm(streams[i].fd, turn % 2 ? "circuit" : "reno");
		else if (state_is(o, "delay") && turn % DELAY_EACH == DELAY_EACH - 1)
			delay_departure(streams[i].fd, DELAY_US + turn);
	}
}

static void send_and_tell(const struct options *o)
{
	int turn = 0;
	long begin = clock_ms(), told = begin;
	struct seen seen = { 0 };

	while (clock_ms() - begin < o->ms) {
		lose_by_turns(o, clock_ms() - begin);
		feed(o);
		look(o, &seen);
		pause_ms(o->turn_ms);
		tease(o, turn++);
		if (clock_ms() - told < 1000)
			continue;
		told += 1000;
		report(o, &seen);
		seen.sum_max = 0;
		seen.flight_max = 0;
	}
	drop_all(o);
}

void run_send(const struct options *o, const char *address, int port)
{
	connect_all(o, address, port, false);
	send_and_tell(o);
}

void run_inherit(const struct options *who, int port)
{
	int listener = listen_at(who, port);
	struct options all = *who;

	all.silent = true;
	become_user(all.uid);
	accept_all(&all, listener);
	send_and_tell(&all);
}
