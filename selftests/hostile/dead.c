// SPDX-License-Identifier: GPL-2.0
/*
 * dead, hole: streams that keep sending although their data does not arrive
 *
 * All packets of dead die on the way.  It writes a byte now and then, so that each stream
 * always has something to send, and seems to need the share of the window that it holds.
 *
 * hole begins each stream with the bytes "HOLE"; the path is to drop the segment that
 * begins so, each time it is sent.  For two timeouts nothing else arrives either; from
 * then on all the rest does.  Such a stream has timed out although its data is
 * delivered: it may neither hold a share nor send beside the shares of others.
 */
#include "hostile.h"

#define HOLE_MS		2000	/* two timeouts */

void run_dead(const struct options *o, const char *address, int port)
{
	static char chunk[CHUNK / 2];
	long begin = clock_ms();
	size_t len = sizeof(chunk);

	connect_all(o, address, port, false);
	set_ttl(o, 1);
	while (clock_ms() - begin < o->ms) {
		for (int i = 0; i < o->sockets; i++)
			send(streams[i].fd, chunk, len, MSG_NOSIGNAL);
		len = 1;
		pause_ms(DEAD_MS);
	}
	drop_all(o);
}

void run_hole(const struct options *o, const char *address, int port)
{
	static char chunk[CHUNK] = "HOLE";
	long begin = clock_ms();

	connect_all(o, address, port, false);
	set_ttl(o, 1);
	for (int i = 0; i < o->sockets; i++)
		send(streams[i].fd, chunk, sizeof(chunk), MSG_NOSIGNAL);
	memset(chunk, 0, sizeof(chunk));
	pause_ms(HOLE_MS);
	set_ttl(o, 64);
	while (clock_ms() - begin < o->ms) {
		feed(o);
		pause_ms(DEAD_MS);
	}
	drop_all(o);
}
