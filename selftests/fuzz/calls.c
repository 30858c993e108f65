// SPDX-License-Identifier: GPL-2.0
/*
 * What programs do with sockets, but for our own options
 */
#include "fuzz.h"

bool do_open(void)
{
	int family = below(2) ? AF_INET : AF_INET6;
	int slot = below(SOCKETS);

	put(slot, socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0), family, PLAIN);
	if (pool[slot].kind != FREE && below(4))
		use(pool[slot].fd, "circuit");
	return pool[slot].kind != FREE;
}

/*
 * What waits for a pace of a byte a second is sent long after the end of the phase,
 * and what is closed already is not in every kernel ended by ss -K.
 */
static bool may_linger(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	return !getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) &&
	       (!info.tcpi_notsent_bytes || info.tcpi_pacing_rate >= SLOW);
}

bool do_close(void)
{
	int slot = any_socket();

	if (below(2) || !may_linger(pool[slot].fd))
		drop(slot);
	close(pool[slot].fd);
	pool[slot].kind = FREE;
	pool[slot].fd = -1;
	return true;
}

bool do_listen(void)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6 };
	int slot = any_socket(), fd = pool[slot].fd;

	if (pool[slot].kind != PLAIN || pool[slot].family != AF_INET6)
		return false;
	if (bind(fd, (void *)&any, sizeof(any)) || listen(fd, 8))
		return false;
	pool[slot].kind = LISTENER;
	return true;
}

static socklen_t address(int family, uint16_t port, struct sockaddr_in6 *a6)
{
	const char *mapped = family == AF_INET ? "" : "::ffff:";
	char text[32];

	snprintf(text, sizeof(text), "%s127.0.0.%u", mapped, 1 + below(3));
	if (family == AF_INET6 && below(2))
		return socket_address("::1", port, a6);
	return socket_address(text, port, a6);
}

/* To a listener of the pool; on loopback it is accepted at once. */
bool do_connect(void)
{
	int listener = find_kind(LISTENER), slot = find_kind(PLAIN);
	struct sockaddr_in6 to, own;
	socklen_t len = sizeof(own);
	int fd;

	if (listener < 0 || slot < 0)
		return do_open() && do_listen();
	if (getsockname(pool[listener].fd, (void *)&own, &len))
		bail("getsockname");
	len = address(pool[slot].family, own.sin6_port, &to);
	connect(pool[slot].fd, (void *)&to, len);
	pool[slot].known = false;	/* a refused one forgets */
	pool[slot].kind = CONNECTED;
	fd = accept4(pool[listener].fd, NULL, NULL, SOCK_NONBLOCK);
	if (fd >= 0)
		put(below(SOCKETS), fd, AF_INET6, CONNECTED);
	return fd >= 0;
}

bool do_disconnect(void)
{
	struct sockaddr nowhere = { .sa_family = AF_UNSPEC };
	int slot = any_socket();

	if (connect(pool[slot].fd, &nowhere, sizeof(nowhere)))
		return false;
	pool[slot].known = false;
	pool[slot].kind = PLAIN;
	return true;
}

bool do_send(void)
{
	static char data[30000];
	int slot = any_socket();

	return send(pool[slot].fd, data, below(sizeof(data)),
		    MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
}

bool do_receive(void)
{
	static char data[1 << 20];
	int slot = find_kind(CONNECTED);

	return slot >= 0 && recv(pool[slot].fd, data, sizeof(data),
				 MSG_DONTWAIT | MSG_TRUNC) > 0;
}

bool do_shutdown(void)
{
	int slot = any_socket();

	pool[slot].known = false;	/* ... as does one that listened */
	return !shutdown(pool[slot].fd, below(3));
}

bool do_algorithm(void)
{
	static const char *const names[] = { "circuit", "circuit", "reno",
					     "cubic", "bbr", "circui", "" };
	int slot = any_socket(), i = below(COUNT(names));

	/* When root names one that it has not got, the kernel runs modprobe. */
	if (i >= 5 && !nobody && below(400))
		i = 0;
	use(pool[slot].fd, names[i]);
	pool[slot].known = false;
	return true;
}

/* Options that meet ours in the kernel */
bool do_neighbour(void)
{
	static const struct {
		int	level, name;
	} others[] = {
		{ SOL_SOCKET, SO_MAX_PACING_RATE }, { SOL_SOCKET, SO_SNDBUF },
		{ SOL_SOCKET, SO_RCVBUF }, { SOL_SOCKET, SO_PRIORITY },
		{ IPPROTO_TCP, TCP_WINDOW_CLAMP }, { IPPROTO_TCP, TCP_MAXSEG },
		{ IPPROTO_TCP, TCP_NODELAY }, { IPPROTO_TCP, TCP_CORK },
		{ IPPROTO_TCP, TCP_QUICKACK }, { IPPROTO_IP, IP_TOS },
		{ IPPROTO_TCP, TCP_NOTSENT_LOWAT }, { IPPROTO_IP, IP_MTU_DISCOVER },
		{ IPPROTO_IPV6, IPV6_ADDRFORM }, { IPPROTO_TCP, TCP_USER_TIMEOUT },
	};
	int slot = any_socket(), i = below(COUNT(others)), err;
	uint64_t v = value();

	if (others[i].name == IPV6_ADDRFORM)
		v = AF_INET;
	err = setsockopt(pool[slot].fd, others[i].level, others[i].name, &v,
			 below(2) ? 4 : 8);
	if (others[i].name == IPV6_ADDRFORM && !err)
		pool[slot].family = AF_INET;
	if (!below(8))
		check_socket(slot);
	return !err;
}
