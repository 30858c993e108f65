// SPDX-License-Identifier: GPL-2.0
/*
 * read: the other end of accept and inherit
 *
 * It connects to them, and reads what comes.
 */
#include "hostile.h"

void run_read(const struct options *o, const char *address, int port)
{
	static char chunk[CHUNK];
	long begin = clock_ms();

	connect_all(o, address, port, false);
	while (clock_ms() - begin < o->ms) {
		for (int i = 0; i < o->sockets; i++)
			while (recv(streams[i].fd, chunk, sizeof(chunk),
				    MSG_TRUNC) > 0)
				;
		pause_ms(1);
	}
	drop_all(o);
}
