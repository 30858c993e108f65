// SPDX-License-Identifier: GPL-2.0
/*
 * All sockets of the program: connect or accept them, feed them, drop them
 *
 * How connect_all() connects depends on -s, for whichever subcommand calls it:
 *
 *	reuse	each socket is connected to the host itself first (round_trip.c)
 *	lag	TCP_TX_DELAY is set while the socket connects, and taken back
 *		(round_trip.c)
 *	unknown	TCP_TX_DELAY is set before connect(): the kernel may know no round
 *		trip of the connection
 */
#include "hostile.h"

#define BYTE_MS		1000	/* the most that send_byte() waits */

struct stream streams[SOCKETS_MAX];

/*
 * Connect all to @address or, with @one_each, to as many addresses from there on, and ask
 * for their windows.
 */
void connect_all(const struct options *o, const char *address, int port,
		 bool one_each)
{
	int near = state_is(o, "reuse") ? listen_at(o, 0) : -1;
	struct seen seen = { 0 };

	for (int i = 0; i < o->sockets; i++) {
		struct sockaddr_in to = address_of(address, one_each ? i : 0,
						   port);

		streams[i].fd = new_socket(o, i);
		if (near >= 0)
			connect_near(o, streams[i].fd, near);
		if (state_is(o, "unknown"))
			delay_departure(streams[i].fd, 1);
		start_connecting(streams[i].fd, &to);
		if (state_is(o, "lag"))
			delay_departure(streams[i].fd, LAG_US);
	}
	for (int i = 0; i < o->sockets; i++) {
		errno = 0;
		await_connected(streams[i].fd);
		if (state_is(o, "lag"))
			forget_delay(streams[i].fd);
		ask(streams[i].fd, o, &seen);
	}
	if (near >= 0)
		close(near);
}

void accept_all(const struct options *o, int listener)
{
	for (int i = 0; i < o->sockets; i++) {
		streams[i].fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
		if (streams[i].fd < 0)
			die("accept");
	}
}

void drop_all(const struct options *o)
{
	for (int i = 0; i < o->sockets; i++)
		drop(streams[i].fd);
}

/* Each gets as much as its send buffer takes. */
void feed(const struct options *o)
{
	static char chunk[CHUNK];

	for (int i = 0; i < o->sockets; i++)
		while (send(streams[i].fd, chunk, sizeof(chunk), MSG_NOSIGNAL) > 0)
			;
}

/* Each sends a byte.  Returns once all have sent a segment, or after BYTE_MS. */
void send_byte(const struct options *o)
{
	long begin = clock_ms();

	for (int i = 0; i < o->sockets; i++)
		send(streams[i].fd, "", 1, MSG_NOSIGNAL);
	for (int i = 0; i < o->sockets; i++)
		while (!tcp_info_of(streams[i].fd).tcpi_data_segs_out &&
		       clock_ms() - begin < BYTE_MS)
			pause_ms(1);
}

/* Is nothing in flight? */
bool all_acked(const struct options *o)
{
	for (int i = 0; i < o->sockets; i++)
		if (tcp_info_of(streams[i].fd).tcpi_unacked)
			return false;
	return true;
}

/* With a TTL of 1 packets die on the way. */
void set_ttl(const struct options *o, int ttl)
{
	for (int i = 0; i < o->sockets; i++)
		if (setsockopt(streams[i].fd, IPPROTO_IP, IP_TTL, &ttl,
			       sizeof(ttl)))
			die("IP_TTL");
}

void set_max_pace(const struct options *o, unsigned int rate)
{
	for (int i = 0; i < o->sockets; i++)
		if (setsockopt(streams[i].fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate,
			       sizeof(rate)))
			die("SO_MAX_PACING_RATE");
}
