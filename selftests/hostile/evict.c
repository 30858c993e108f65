// SPDX-License-Identifier: GPL-2.0
/*
 * evict: lose much, and have it forgotten for what many other connections lose
 *
 * EVICT_BULK sockets send all they can to ADDRESS.  The others each send a little to an
 * address of their own, from EVICT_HELP on.  After -p ms all are reset, and it begins
 * again.  On a path that loses packets each of them adds to what circuit remembers of
 * the user, and there is only so much room for that: the losses of the first sockets
 * must not be forgotten first.
 *
 * Prints the number of cycles, and in how many of these a bulk socket was tripped at the
 * end: cycles= tripped=.
 */
#include "hostile.h"

#define EVICT_LITTLE	20	/* segments */
#define EVICT_HELP	"10.99.1.1"

/* One cycle.  How many of the bulk sockets were tripped at its end? */
static int evict_once(const struct options *o, const char *address, int port)
{
	static char chunk[CHUNK];
	struct sockaddr_in to = address_of(address, 0, port);
	long begin = clock_ms();
	int tripped = 0;

	for (int i = 0; i < o->sockets; i++) {
		struct sockaddr_in help = address_of(EVICT_HELP, i, port);

		streams[i].fd = new_socket(o, 0);
		start_connecting(streams[i].fd, i < EVICT_BULK ? &to : &help);
	}
	while (clock_ms() - begin < o->turn_ms) {
		for (int i = 0; i < EVICT_BULK; i++)
			while (send(streams[i].fd, chunk, CHUNK, MSG_NOSIGNAL) > 0)
				;
		for (int i = EVICT_BULK; i < o->sockets; i++)
			if (!tcp_info_of(streams[i].fd).tcpi_bytes_acked)
				send(streams[i].fd, chunk, EVICT_LITTLE * MSS, MSG_NOSIGNAL);
		pause_ms(20);
	}
	for (int i = 0; i < EVICT_BULK; i++)
		tripped += tcp_info_of(streams[i].fd).tcpi_state == ESTABLISHED &&
			   circuit_info_of(streams[i].fd).tci_breaker ==
			   TCP_CIRCUIT_BREAKER_TRIPPED;
	drop_all(o);
	return tripped;
}

void run_evict(const struct options *o, const char *address, int port)
{
	long begin = clock_ms();
	int cycles = 0, tripped = 0;

	while (clock_ms() - begin < o->ms) {
		tripped += evict_once(o, address, port) > 0;
		cycles++;
	}
	printf("cycles=%d tripped=%d\n", cycles, tripped);
}
