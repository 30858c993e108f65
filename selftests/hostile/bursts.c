// SPDX-License-Identifier: GPL-2.0
/*
 * bursts: how long a burst takes
 *
 * This is no attack, but what somebody notices of one.  One stream sends BURST segments,
 * waits until they have been acknowledged, pauses for -p ms (BURST_PAUSE, unless -p is
 * more than 1), and begins again.
 *
 * Prints the number of bursts, and how long they took on average and at most, ms:
 * bursts= mean= worst=.
 */
#include "hostile.h"

#define BURST		100	/* segments */
#define BURST_PAUSE	50	/* ms */

/* ms until @bytes are acknowledged */
static long burst_ms(int fd, size_t bytes)
{
	static char chunk[CHUNK];
	long begin = clock_ms();
	struct tcp_info info;

	while (bytes) {
		ssize_t n = send(fd, chunk, bytes < CHUNK ? bytes : CHUNK, MSG_NOSIGNAL);

		if (n > 0)
			bytes -= n;
		else
			pause_ms(1);
	}
	do {
		pause_ms(1);
		info = tcp_info_of(fd);
	} while (info.tcpi_unacked || info.tcpi_notsent_bytes);
	return clock_ms() - begin;
}

void run_bursts(const struct options *o, const char *address, int port)
{
	long begin = clock_ms(), worst = 0, sum = 0, n = 0;

	connect_all(o, address, port, false);
	do {
		long ms = burst_ms(streams[0].fd, BURST * MSS);

		if (ms > worst)
			worst = ms;
		sum += ms;
		n++;
		pause_ms(o->turn_ms > 1 ? o->turn_ms : BURST_PAUSE);
	} while (clock_ms() - begin < o->ms);
	printf("bursts=%ld mean=%ld worst=%ld\n", n, sum / n, worst);
	drop_all(o);
}
