// SPDX-License-Identifier: GPL-2.0
/*
 * zero: SO_MAX_PACING_RATE 0, set over and over, so that nothing paces the stream
 *
 * At 0 the core does not pace, and newer kernels (7.x) set the option without the
 * socket's lock.  From -p ms on a process of its own sets it all the time, while the
 * stream sends.
 *
 * Prints the bytes acknowledged and the segments sent again: bytes= retrans=.
 */
#include <signal.h>
#include <sys/wait.h>

#include "hostile.h"

static void set_zero_for_ever(int fd)
{
	const unsigned int none = 0;

	for (;;)
		setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &none, sizeof(none));
}

void run_zero(const struct options *o, const char *address, int port)
{
	long begin = clock_ms();
	pid_t setter = 0;

	connect_all(o, address, port, false);
	while (clock_ms() - begin < o->ms) {
		if (!setter && clock_ms() - begin >= o->turn_ms) {
			setter = fork();
			if (!setter)
				set_zero_for_ever(streams[0].fd);
		}
		feed(o);
		pause_ms(1);
	}
	if (setter) {
		kill(setter, SIGKILL);
		waitpid(setter, NULL, 0);
	}
	printf("bytes=%llu retrans=%u\n",
	       (unsigned long long)tcp_info_of(streams[0].fd).tcpi_bytes_acked,
	       tcp_info_of(streams[0].fd).tcpi_total_retrans);
	drop_all(o);
}
