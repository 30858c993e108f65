// SPDX-License-Identifier: GPL-2.0
/*
 * windows, accept: many sockets ask for a window, to have it more than once
 *
 * windows opens -n sockets, each of which asks for -w segments (TCP_CIRCUIT_FCWND).
 * -s says when:
 *
 *	before		before connect(); the default
 *	syn		in SYN_SENT
 *	established	once it is connected
 *	disconnect	after a first connection has ended, before the next connect()
 *	toggle		each time that it returns from another algorithm; one socket
 *			after the other leaves for cubic, and returns at its next turn
 *
 * accept listens and asks for the window on its listener, which the accepted sockets
 * inherit; then each of these asks once more.
 *
 * Both send on all sockets and look at their windows every WINDOWS_MS.  At the end they
 * print the line of report.c.
 *
 * With -g PID:UID windows gives its sockets away once they are connected: it enters the
 * user namespace of PID and makes UID there their owner by fchown(2).  Whoever opened a
 * socket is its user all the same, and has one window and one breaker.
 */
#include <fcntl.h>
#include <sched.h>

#include "hostile.h"

#define TOGGLE_MS	20	/* from one socket's turn to the next one's */
#define WINDOWS_MS	2	/* from one look to the next */

static int open_windows(const struct options *o, int i,
			const struct sockaddr_in *to, struct seen *seen)
{
	int fd = new_socket(o, i);

	if (state_is(o, "before"))
		ask(fd, o, seen);
	if (state_is(o, "disconnect")) {
		connect_now(fd, to);
		disconnect(fd);
		if (*o->algorithm)
			set_algorithm(fd, o->algorithm);
		ask(fd, o, seen);
	}
	start_connecting(fd, to);
	if (state_is(o, "syn"))
		ask(fd, o, seen);
	errno = 0;
	await_connected(fd);
	if (state_is(o, "established"))
		ask(fd, o, seen);
	return fd;
}

/* The one whose @turn it is leaves for cubic, or returns. */
static void toggle(const struct options *o, int turn, struct seen *seen)
{
	int fd = streams[turn % o->sockets].fd;
	bool leaves = turn / o->sockets % 2 == 0;

	set_algorithm(fd, leaves ? "cubic" : "circuit");
	if (!leaves)
		ask(fd, o, seen);
}

static void send_and_look(const struct options *o, struct seen *seen)
{
	long begin = clock_ms(), toggled = begin;
	int turn = 0;

	while (clock_ms() - begin < o->ms) {
		feed(o);
		look(o, seen);
		if (state_is(o, "toggle") && clock_ms() - toggled >= TOGGLE_MS) {
			toggled = clock_ms();
			toggle(o, turn++, seen);
		}
		pause_ms(WINDOWS_MS);
	}
	report(o, seen);
	drop_all(o);
}

/* The new owner is of another user namespace than whoever opened the sockets. */
static void give_away(const struct options *o)
{
	char path[64];
	int ns;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", o->ns_pid);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	if (ns < 0 || setns(ns, CLONE_NEWUSER))
		die(path);
	close(ns);
	for (int i = 0; i < o->sockets; i++)
		if (fchown(streams[i].fd, o->give_to, -1))
			die("fchown");
}

void run_windows(const struct options *o, const char *address, int port)
{
	struct sockaddr_in to = address_of(address, 0, port);
	struct seen seen = { 0 };

	for (int i = 0; i < o->sockets; i++)
		streams[i].fd = open_windows(o, i, &to, &seen);
	if (o->ns_pid)
		give_away(o);
	send_and_look(o, &seen);
}

void run_accept(const struct options *o, int port)
{
	int listener = listen_at(o, port);
	struct seen seen = { 0 };

	ask(listener, o, &seen);
	accept_all(o, listener);
	for (int i = 0; i < o->sockets; i++)
		ask(streams[i].fd, o, &seen);
	send_and_look(o, &seen);
}
