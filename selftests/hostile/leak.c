// SPDX-License-Identifier: GPL-2.0
/*
 * leak: a socket that was reset and is never closed
 *
 * It opens two streams (-n 2) and sends on both for half a second.  Then it prints the
 * port of the first one, "ready port=", for somebody to reset that stream from the other
 * end.  The descriptor stays open: it must not keep a share of the window.
 *
 * Prints the window of the second stream before the reset and after it, segments, and
 * how long it took to become the whole window, ms (-1: the first one was never reset):
 * before= after= ms=.
 */
#include "hostile.h"

void run_leak(const struct options *o, const char *address, int port)
{
	struct sockaddr_in self;
	socklen_t len = sizeof(self);
	struct seen seen = { 0 };
	long begin = clock_ms(), reset = 0;
	uint32_t window, before = 0, after = 0;

	connect_all(o, address, port, false);
	window = circuit_info_of(streams[1].fd).tci_fcwnd;
	if (getsockname(streams[0].fd, (void *)&self, &len))
		die("getsockname");
	while (clock_ms() - begin < 500) {
		feed(o);
		look(o, &seen);
		pause_ms(1);
	}
	before = tcp_info_of(streams[1].fd).tcpi_snd_cwnd;
	printf("ready port=%d\n", ntohs(self.sin_port));
	fflush(stdout);
	while (clock_ms() - begin < o->ms) {
		feed(o);
		if (!reset && tcp_info_of(streams[0].fd).tcpi_state == CLOSED)
			reset = clock_ms();
		after = tcp_info_of(streams[1].fd).tcpi_snd_cwnd;
		if (reset && after >= window)
			break;
		pause_ms(1);
	}
	printf("before=%u after=%u ms=%ld\n", before, after,
	       reset ? clock_ms() - reset : -1);
	drop_all(o);
}
