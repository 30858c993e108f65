// SPDX-License-Identifier: GPL-2.0
/*
 * hoard, hold: connections whose receive windows take memory
 *
 * hoard accepts -n connections and never reads: the kernel holds all that arrives.  It
 * prints how many bytes that were at most: held_max=.
 *
 * hold listens, connects to its own port at -n addresses from ADDRESS on, and keeps these
 * connections: what each may receive is granted, and never used.  It prints the receive
 * buffer of the first one that it accepts, bytes, as soon as it is connected: rcvbuf=.
 */
#include <linux/sock_diag.h>

#include "hostile.h"

#ifndef SO_MEMINFO
#define SO_MEMINFO	55
#endif

/* Bytes that the kernel holds for what nobody has read */
static uint64_t held(const struct options *o)
{
	uint64_t sum = 0;

	for (int i = 0; i < o->sockets; i++) {
		uint32_t mem[SK_MEMINFO_VARS] = { 0 };
		socklen_t len = sizeof(mem);

		if (getsockopt(streams[i].fd, SOL_SOCKET, SO_MEMINFO, mem, &len))
			die("SO_MEMINFO");
		sum += mem[SK_MEMINFO_RMEM_ALLOC];
	}
	return sum;
}

void run_hoard(const struct options *o, int port)
{
	int listener = listen_at(o, port);
	uint64_t most = 0;
	long begin;

	accept_all(o, listener);
	begin = clock_ms();
	while (clock_ms() - begin < o->ms) {
		uint64_t now = held(o);

		if (now > most)
			most = now;
		pause_ms(10);
	}
	printf("held_max=%llu\n", (unsigned long long)most);
	fflush(stdout);
	drop_all(o);
}

void run_hold(const struct options *o, const char *address, int port)
{
	int listener = listen_at(o, port), child, rcvbuf;
	socklen_t len = sizeof(rcvbuf);
	struct seen seen = { 0 };

	ask(listener, o, &seen);
	connect_all(o, address, port, true);
	child = accept(listener, NULL, NULL);
	if (getsockopt(child, SOL_SOCKET, SO_RCVBUF, &rcvbuf, &len))
		die("SO_RCVBUF");
	printf("rcvbuf=%d\n", rcvbuf);
	fflush(stdout);
	pause_ms(o->ms);
	drop_all(o);
}
