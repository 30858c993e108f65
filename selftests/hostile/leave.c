// SPDX-License-Identifier: GPL-2.0
/*
 * leave: take a full window along to another algorithm
 *
 * It sends for -t ms, and then sets cubic on its socket.  CUBIC grows from the window and
 * the slow-start threshold that it finds.
 *
 * Prints the window before, the threshold after, and the largest window within 0.3 s,
 * segments: window= ssthresh= cwnd_max=.
 */
#include "hostile.h"

void run_leave(const struct options *who, const char *address, int port)
{
	struct options all = *who;
	const struct options *o = &all;
	struct seen seen = { 0 };
	struct tcp_info info;
	long begin = clock_ms();

	all.any = true;

	connect_all(o, address, port, false);
	while (clock_ms() - begin < o->ms) {
		feed(o);
		look(o, &seen);
		pause_ms(1);
	}
	set_algorithm(streams[0].fd, "cubic");
	info = tcp_info_of(streams[0].fd);
	printf("window=%u ssthresh=%u ", seen.sum_max, info.tcpi_snd_ssthresh);
	begin = clock_ms();
	seen.sum_max = 0;
	while (clock_ms() - begin < 300) {
		feed(o);
		look(o, &seen);
		pause_ms(1);
	}
	printf("cwnd_max=%u\n", seen.sum_max);
	drop_all(o);
}
