// SPDX-License-Identifier: GPL-2.0
/*
 * The pool of sockets
 */
#include "fuzz.h"

struct slot pool[SOCKETS];

/* What the socket says of itself; false: circuit does not run it. */
bool look(int slot, struct tcp_circuit_info *info)
{
	pool[slot].known = pool[slot].kind != FREE &&
			   get_circuit_info(pool[slot].fd, info);
	if (!pool[slot].known)
		return false;
	check_info(info);
	pool[slot].last = *info;
	return true;
}

void check_socket(int slot)
{
	struct tcp_circuit_info info;

	look(slot, &info);
}

void use(int fd, const char *algorithm)
{
	setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, algorithm,
		   strlen(algorithm));
}

void drop(int slot)
{
	if (pool[slot].kind == FREE)
		return;
	reset_on_close(pool[slot].fd);
	close(pool[slot].fd);
	pool[slot].kind = FREE;
	pool[slot].fd = -1;
}

void put(int slot, int fd, int family, enum kind kind)
{
	drop(slot);
	if (fd < 0)
		return;
	pool[slot].fd = fd;
	pool[slot].family = family;
	pool[slot].known = false;
	pool[slot].kind = kind;
}

/* One of ours; always the same for the same seed */
int any_socket(void)
{
	int slot = below(SOCKETS);

	for (int i = 0; i < SOCKETS; i++, slot = (slot + 1) % SOCKETS)
		if (pool[slot].kind != FREE)
			return slot;
	put(slot, socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), AF_INET,
	    PLAIN);
	return slot;
}

int find_kind(enum kind kind)
{
	int slot = below(SOCKETS);

	for (int i = 0; i < SOCKETS; i++, slot = (slot + 1) % SOCKETS)
		if (pool[slot].kind == kind)
			return slot;
	return -1;
}
