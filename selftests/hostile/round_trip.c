// SPDX-License-Identifier: GPL-2.0
/*
 * Round trips that a user has the kernel forget or invent
 *
 * A segment that has no share of the window counts as in flight for a round trip.  Where
 * circuit takes that for too short, a crowd of sockets sends more than the window; where
 * it takes it for too long, others wait for what has long arrived.
 */
#include "hostile.h"

/*
 * Connect @fd to the host itself, and disconnect it: the kernel's smallest round trip of
 * that socket is then one of the loopback.
 */
void connect_near(const struct options *o, int fd, int near)
{
	struct sockaddr_in to = { 0 };
	socklen_t len = sizeof(to);

	if (getsockname(near, (void *)&to, &len))
		die("getsockname");
	connect_now(fd, &to);
	disconnect(fd);
	set_algorithm(fd, o->algorithm);
}

/*
 * Take back LAG_US, which was set in SYN_SENT, by so much that srtt_us becomes 10: see
 * delay_departure().
 */
void forget_delay(int fd)
{
	delay_departure(fd, LAG_US - tcp_info_of(fd).tcpi_rtt + 10);
}

/* Another algorithm and back: circuit forgets what it kept of the stream. */
void leave_and_return(const struct options *o)
{
	for (int i = 0; i < o->sockets; i++) {
		set_algorithm(streams[i].fd, "reno");
		set_algorithm(streams[i].fd, o->algorithm);
	}
}

/*
 * The kernel and circuit forget the round trips of all streams.  On 7.x each change of
 * TCP_TX_DELAY does so: @us has to differ from the last one.
 */
void forget_rtt(const struct options *o, int us)
{
	for (int i = 0; i < o->sockets; i++)
		delay_departure(streams[i].fd, us);
	leave_and_return(o);
}
