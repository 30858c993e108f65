// SPDX-License-Identifier: GPL-2.0
/*
 * SO_RCVLOWAT for what iperf3 and nuttcp receive, who set none: LOWAT=N bytes.
 *
 * In virtual time a program takes no time, so a receiver is woken by each frame, which is
 * most of what a long run costs.  With it, it is woken by N bytes, and the kernel
 * acknowledges each frame as it did, as long as they are a small part of its window
 * (__tcp_ack_snd_check()).  So it waits until the window is open (AFTER bytes): the start
 * of a connection is as it was, and that of one which reads less all of it.
 *
 * Of both programs the connection for control says no more than single words.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define AFTER	(32U << 20)	/* bytes */
#define FDS	1024

typedef ssize_t (*read_fn)(int fd, void *buf, size_t count);
typedef ssize_t (*recv_fn)(int fd, void *buf, size_t count, int flags);

/* dlsym() gives a function as an object's address */
union function {
	void *symbol;
	read_fn read;
	recv_fn recv;
};

static void set_lowat(int fd)
{
	const char *text = getenv("LOWAT");
	int lowat = text ? atoi(text) : 1;

	/* What is no socket, such as a file, has none */
	setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &lowat, sizeof(lowat));
}

/* @n: bytes, or an error */
static ssize_t count_read(int fd, ssize_t n)
{
	static size_t had[FDS];

	if (n <= 0 || fd >= FDS || had[fd] >= AFTER)
		return n;
	had[fd] += (size_t)n;
	if (had[fd] >= AFTER)
		set_lowat(fd);
	return n;
}

ssize_t read(int fd, void *buf, size_t count)
{
	static union function next;

	if (!next.symbol)
		next.symbol = dlsym(RTLD_NEXT, "read");
	return count_read(fd, next.read(fd, buf, count));
}

ssize_t recv(int fd, void *buf, size_t count, int flags)
{
	static union function next;

	if (!next.symbol)
		next.symbol = dlsym(RTLD_NEXT, "recv");
	return count_read(fd, next.recv(fd, buf, count, flags));
}
