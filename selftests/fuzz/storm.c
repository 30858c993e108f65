// SPDX-License-Identifier: GPL-2.0
/*
 * Streams of a storm, which nobody else closes
 */
#include "fuzz.h"

#define STREAMS		4	/* beside the pool */

static struct {
	int	from, to;	/* fds; -1: none */
} streams[STREAMS];

static int circuit_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		bail("socket");
	use(fd, "circuit");
	return fd;
}

void close_streams(void)
{
	for (int i = 0; i < STREAMS; i++) {
		reset_on_close(streams[i].from);
		close(streams[i].from);
		close(streams[i].to);
		streams[i].from = -1;
		streams[i].to = -1;
	}
}

void open_streams(void)
{
	struct sockaddr_in a4 = { .sin_family = AF_INET };
	int listener = circuit_socket();
	socklen_t len = sizeof(a4);

	a4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (void *)&a4, len) || listen(listener, STREAMS) ||
	    getsockname(listener, (void *)&a4, &len))
		bail("a listener");
	for (int i = 0; i < STREAMS; i++) {
		streams[i].from = circuit_socket();
		if (connect(streams[i].from, (void *)&a4, len))
			bail("connect");
		streams[i].to = accept(listener, NULL, NULL);
		if (streams[i].to < 0)
			bail("accept");
	}
	close(listener);
}

/* As much as goes out; then each looks at its window. */
void blow(void)
{
	static char data[1 << 20];
	struct tcp_circuit_info before, after;
	uint32_t none = 0;

	for (int i = 0; i < STREAMS; i++) {
		int fd = streams[i].from;

		send(fd, data, sizeof(data) / 8, MSG_DONTWAIT | MSG_NOSIGNAL);
		while (recv(streams[i].to, data, sizeof(data),
			    MSG_DONTWAIT | MSG_TRUNC) > 0)
			;
		if (!get_circuit_info(fd, &before) ||
		    setsockopt(fd, SOL_TCP_CIRCUIT, TCP_CIRCUIT_FCWND, &none,
			       sizeof(none)) || !get_circuit_info(fd, &after))
			bail("a stream");
		check_info(&after);
		check_cut(fd, &before, &after);
	}
}
