// SPDX-License-Identifier: GPL-2.0
/*
 * greet: a server of very short connections
 *
 * It listens, sends a byte on each connection that it accepts, and resets it as soon as
 * the byte is acknowledged; -n connections at a time.  Behind SYN cookies and without
 * timestamps a server knows no round trip before that first ACK: such a connection must
 * not take more of the window than its one segment.
 */
#include <fcntl.h>

#include "hostile.h"

/*
 * The connection to take the place of @fd (-1: of none): the same one while its byte is in
 * flight, else the next one that waits, or -1
 */
static int greet_next(int fd, int listener)
{
	struct tcp_info info;

	if (fd >= 0) {
		info = tcp_info_of(fd);
		if (info.tcpi_state == ESTABLISHED &&
		    (!info.tcpi_data_segs_out || info.tcpi_unacked))
			return fd;
		drop(fd);
	}
	fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	if (fd >= 0)
		send(fd, "", 1, MSG_NOSIGNAL);
	return fd;
}

void run_greet(const struct options *o, int port)
{
	int listener = listen_at(o, port);
	long begin = clock_ms();

	fcntl(listener, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < o->sockets; i++)
		streams[i].fd = -1;
	while (clock_ms() - begin < o->ms) {
		for (int i = 0; i < o->sockets; i++)
			streams[i].fd = greet_next(streams[i].fd, listener);
		pause_ms(1);
	}
}
