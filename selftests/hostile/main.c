// SPDX-License-Identifier: GPL-2.0
/*
 * circuit_hostile: what a user without privileges, or a peer, may try
 *
 *	circuit_hostile windows [options] ADDRESS PORT	(-s STATE: when it asks)
 *	circuit_hostile accept	[options] PORT
 *	circuit_hostile send	[options] ADDRESS PORT
 *	circuit_hostile inherit	[options] PORT
 *	circuit_hostile greet	[options] PORT
 *	circuit_hostile dead	[options] ADDRESS PORT
 *	circuit_hostile hole	[options] ADDRESS PORT
 *	circuit_hostile sleep	[options] ADDRESS PORT
 *	circuit_hostile waves	[options] ADDRESS PORT
 *	circuit_hostile forget	[options] ADDRESS PORT
 *	circuit_hostile relay	[options] ADDRESS PORT
 *	circuit_hostile bursts	[options] ADDRESS PORT
 *	circuit_hostile evict	[options] ADDRESS PORT
 *	circuit_hostile many	[options] ADDRESS PORT
 *	circuit_hostile hoard	[options] PORT
 *	circuit_hostile read	[options] ADDRESS PORT
 *	circuit_hostile leak	[options] ADDRESS PORT
 *	circuit_hostile leave	[options] ADDRESS PORT
 *	circuit_hostile hold	[options] ADDRESS PORT
 *	circuit_hostile zero	[options] ADDRESS PORT
 *
 *	-u UID		become this user first, without capabilities
 *	-n SOCKETS	-t MS		-w SEGMENTS that each asks for
 *	-C ALGORITHM	of the sockets, default circuit; "": the system's
 *	-b ADDRESS	bind to this one, and the following ones
 *	-p MS		between two looks of send and inherit, from a connection of
 *			waves and relay to its reset, default 1; between bursts, default 50
 *	-l MS		from then on send and inherit make loss of their own: their
 *			packets die on the way, by turns
 *	-g PID:UID	windows: opens its sockets, enters the user namespace of PID, and
 *			gives the sockets to UID there (fchown(2))
 *
 * windows sends by all sockets, each of which asks for the window: before connect(),
 * in SYN_SENT ("syn"), when "established", after "disconnect" and another connect(),
 * or whenever it comes back from another algorithm ("toggle").  accept does
 * so by a listener's children.  Both add up the windows of those that are circuit's
 * and have data outstanding, at each turn, and print the largest sum.  inherit listens
 * as it was started, and is UID when it accepts and sends.  greet accepts, sends a byte by
 * each, and resets it as soon as that is acknowledged.  dead writes a byte now and
 * then to streams of which nothing arrives.  hole begins each stream with the bytes "HOLE",
 * which the way is to drop: its first segment never arrives, and the others do two timeouts
 * later.  sleep sends for as long as -p says, then holds its streams back by a pace of one
 * byte a second; with "-s poke" it calls for another look now and then, with "-s raise" it
 * lifts the pace again, and calls for many; with "-s drip" it sends bursts of less than half
 * of what it had, and then two segments a second.  send with "-s poll" asks for
 * TCP_CIRCUIT_INFO at each turn, with "-s flap" goes to Reno and comes back, with "-s delay"
 * has all that it sends leave fq 5 s later (TCP_TX_DELAY).  ahead has the first of what it
 * sends leave fq 9 s later, and all else behind it; with "-s go" the second one of four
 * segments that it sends in one go.  waves connects all sockets, sends, resets
 * them, and begins again; relay connects all first, then sends by one after the other and
 * resets it (with -s toggle, sends it to Reno; with -s delay, has its kernel forget the
 * round trip first; with -s burst, has all that it sends leave fq at one time; with -s stretch
 * so, and the kernel believes in a round trip of 100 s).  With -s reuse
 * both connect each socket to the host itself before; with -s lag they have the kernel take
 * the round trip for 10 us; with -s unknown and -s forget waves sends a byte by each,
 * of whose round trip the kernel may know nothing (TCP_TX_DELAY, before connect() or then, and
 * another algorithm).  Both print the segments that were sent, and how long that took.  forget
 * has the kernel forget it before each byte that it sends, and again before its ACK.  bursts
 * sends BURST segments, waits until they have arrived, and begins again; it prints how long
 * that takes, ms.  evict sends by
 * EVICT_BULK sockets for as long as -p says, a little by the others to so many addresses
 * from 10.99.1.1 on, resets all, and begins again; it prints how often the first ones
 * were tripped.  many connects to so many addresses from
 * ADDRESS on.  hoard accepts and does not read; leak keeps a socket that was reset;
 * leave goes to cubic; hold keeps connections to itself, to so many addresses.  zero sends by
 * one socket, and a process of its own sets SO_MAX_PACING_RATE 0 all the time, from the moment
 * on that -p says; it prints the bytes sent and the segments sent again.
 *
 * Prints one line of NAME=value when it is done, send and inherit one each second, hold
 * one as soon as it is connected.
 */
#include <fcntl.h>
#include <getopt.h>
#include <linux/sock_diag.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "hostile.h"

#ifndef SO_MEMINFO
#define SO_MEMINFO	55
#endif

#define TTL_DEAD_MS	30	/* of these packets none arrives ... */
#define TTL_ALIVE_MS	100	/* ... and of these all */
#define TOGGLE_MS	20
#define WINDOWS_MS	2	/* from one look of windows and accept to the next */
#define MANY_MS		50
#define RAISED_MS	5	/* from one look to the next */
#define DELAY_US	5000000
#define DELAY_EACH	200	/* turns */
#define STRETCH_US	100000000
#define BURST_RATE	900	/* bytes/s: after a pause a segment lasts 0.8 s */
#define AHEAD_RATE	160	/* bytes/s */
#define BURST_BYTES	(160 * 1448)
#define BURST_GAP_MS	15
#define HOLE_MS		2000	/* two timeouts */
#define BURST		100	/* segments */
#define BURST_PAUSE	50	/* ms */
#define EVICT_BULK	4	/* sockets */
#define EVICT_LITTLE	20	/* segments */
#define EVICT_HELP	"10.99.1.1"

/* --- windows, accept ------------------------------------------------------ */

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

/* One after the other goes to cubic, and comes back at its next turn. */
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

/* Whoever opened them had another user namespace than who owns them from now on. */
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

static void run_windows(const struct options *o, const char *address, int port)
{
	struct sockaddr_in to = address_of(address, 0, port);
	struct seen seen = { 0 };

	for (int i = 0; i < o->sockets; i++)
		streams[i].fd = open_windows(o, i, &to, &seen);
	if (o->ns_pid)
		give_away(o);
	send_and_look(o, &seen);
}

/* Children inherit what the listener asked for, and each asks once more. */
static void run_accept(const struct options *o, int port)
{
	int listener = listen_at(o, port);
	struct seen seen = { 0 };

	ask(listener, o, &seen);
	accept_all(o, listener);
	for (int i = 0; i < o->sockets; i++)
		ask(streams[i].fd, o, &seen);
	send_and_look(o, &seen);
}

/* --- loss of one's own, and others ---------------------------------------- */

static void lose_by_turns(const struct options *o, long ms)
{
	if (o->lossy_ms < 0 || ms < o->lossy_ms)
		return;
	ms %= TTL_DEAD_MS + TTL_ALIVE_MS;
	set_ttl(o, ms < TTL_DEAD_MS ? 1 : 64);
}

/* What its -s says, at each turn */
static void tease(const struct options *o, int turn)
{
	for (int i = 0; i < o->sockets; i++) {
		if (state_is(o, "poll"))
			circuit_info_of(streams[i].fd);
		else if (state_is(o, "flap"))
			set_algorithm(streams[i].fd, turn % 2 ? "circuit" : "reno");
		else if (state_is(o, "delay") && turn % DELAY_EACH == DELAY_EACH - 1)
			delay_departure(streams[i].fd, DELAY_US + turn);
	}
}

static void send_and_tell(const struct options *o)
{
	int turn = 0;
	long begin = clock_ms(), told = begin;
	struct seen seen = { 0 };

	while (clock_ms() - begin < o->ms) {
		lose_by_turns(o, clock_ms() - begin);
		feed(o);
		look(o, &seen);
		pause_ms(o->turn_ms);
		tease(o, turn++);
		if (clock_ms() - told < 1000)
			continue;
		told += 1000;
		report(o, &seen);
		seen.sum_max = 0;
		seen.flight_max = 0;
	}
	drop_all(o);
}

static void run_send(const struct options *o, const char *address, int port)
{
	connect_all(o, address, port, false);
	send_and_tell(o);
}

/* As a server that binds as root and gives each connection to a user's process */
static void run_inherit(const struct options *who, int port)
{
	int listener = listen_at(who, port);
	struct options all = *who;

	all.silent = true;
	become_user(all.uid);
	accept_all(&all, listener);
	send_and_tell(&all);
}

/* Another one for @fd that has done what it was accepted for, or for none (-1) */
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

static void run_greet(const struct options *o, int port)
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

static void run_dead(const struct options *o, const char *address, int port)
{
	static char chunk[CHUNK / 2];
	long begin = clock_ms();
	size_t len = sizeof(chunk);

	connect_all(o, address, port, false);
	set_ttl(o, 1);
	while (clock_ms() - begin < o->ms) {
		for (int i = 0; i < o->sockets; i++)
			send(streams[i].fd, chunk, len, MSG_NOSIGNAL);
		len = 1;
		pause_ms(DEAD_MS);
	}
	drop_all(o);
}

static void run_hole(const struct options *o, const char *address, int port)
{
	static char chunk[CHUNK] = "HOLE";
	long begin = clock_ms();

	connect_all(o, address, port, false);
	set_ttl(o, 1);
	for (int i = 0; i < o->sockets; i++)
		send(streams[i].fd, chunk, sizeof(chunk), MSG_NOSIGNAL);
	memset(chunk, 0, sizeof(chunk));
	pause_ms(HOLE_MS);
	set_ttl(o, 64);
	while (clock_ms() - begin < o->ms) {
		feed(o);
		pause_ms(DEAD_MS);
	}
	drop_all(o);
}

static void set_zero_for_ever(int fd)
{
	const unsigned int none = 0;

	for (;;)
		setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &none, sizeof(none));
}

static void run_zero(const struct options *o, const char *address, int port)
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

/* Each sends what it may: the core looks at its share. */
static void poke_all(const struct options *o)
{
	int one = 1;

	for (int i = 0; i < o->sockets; i++)
		setsockopt(streams[i].fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* Each becomes modest by what it uses, and is slowed down then. */
static void drip(const struct options *o)
{
	static char chunk[BURST_BYTES];

	pause_ms(ALL_ACKED_MS);
	for (int n = 0; n < 8; n++) {
		for (int i = 0; i < o->sockets; i++)
			send(streams[i].fd, chunk, sizeof(chunk) / o->sockets, MSG_NOSIGNAL);
		pause_ms(BURST_GAP_MS);
	}
	set_max_pace(o, 2 * 1448);
	feed(o);
}

static void run_sleep(const struct options *o, const char *address, int port)
{
	bool raises = state_is(o, "raise"), pokes = raises || state_is(o, "poke");
	long begin = clock_ms();

	connect_all(o, address, port, false);
	while (clock_ms() - begin < o->turn_ms) {
		feed(o);
		pause_ms(1);
	}
	if (state_is(o, "drip"))
		drip(o);
	else
		set_max_pace(o, 1);
	pause_ms(ALL_ACKED_MS);
	if (raises)
		set_max_pace(o, ~0U);
	while (clock_ms() - begin < o->ms) {
		if (pokes)
			poke_all(o);
		pause_ms(raises ? RAISED_MS : DEAD_MS);
	}
	drop_all(o);
}

static void run_ahead(const struct options *o, const char *address, int port)
{
	static const char segments[4 * MSS];
	size_t len = state_is(o, "go") ? sizeof(segments) : AHEAD_RATE * 9;
	long begin = clock_ms();

	connect_all(o, address, port, false);
	/* the core does not pace the first ten segments */
	feed(o);
	pause_ms(ALL_ACKED_MS);
	set_max_pace(o, AHEAD_RATE);
	for (int i = 0; i < o->sockets; i++)
		send(streams[i].fd, segments, len, MSG_NOSIGNAL);
	pause_ms(ALL_ACKED_MS);
	set_max_pace(o, ~0U);
	while (clock_ms() - begin < o->ms) {
		feed(o);
		pause_ms(DEAD_MS);
	}
	drop_all(o);
}

/*
 * Data segments that the @i-th has sent, retransmissions included; then it is reset, or
 * leaves for Reno with -s toggle.  With -s delay its kernel forgets its round trip before.
 */
static uint64_t sent_by(const struct options *o, int i)
{
	uint64_t segments = tcp_info_of(streams[i].fd).tcpi_data_segs_out;

	if (state_is(o, "delay"))
		delay_departure(streams[i].fd, 1);
	if (state_is(o, "toggle"))
		set_algorithm(streams[i].fd, "reno");
	else
		drop(streams[i].fd);
	return segments;
}

static void tell_sent(uint64_t segments, long begin)
{
	printf("sent=%llu ms=%ld\n", (unsigned long long)segments,
	       clock_ms() - begin);
}

static void run_waves(const struct options *o, const char *address, int port)
{
	long begin = clock_ms();
	uint64_t sent = 0;

	while (clock_ms() - begin < o->ms) {
		connect_all(o, address, port, false);
		if (state_is(o, "forget"))
			forget_rtt(o, 1);
		if (state_is(o, "unknown") || state_is(o, "forget")) {
			send_byte(o);
		} else {
			feed(o);
			pause_ms(o->turn_ms);
		}
		for (int i = 0; i < o->sockets; i++)
			sent += sent_by(o, i);
	}
	tell_sent(sent, begin);
}

static void run_forget(const struct options *o, const char *address, int port)
{
	long begin = clock_ms();
	int us = 0;

	connect_all(o, address, port, false);
	while (clock_ms() - begin < o->ms) {
		forget_rtt(o, ++us);
		send_byte(o);
		leave_and_return(o);
		while (!all_acked(o) && clock_ms() - begin < o->ms)
			pause_ms(1);
	}
	drop_all(o);
}

/* What each sends next is to leave a second later, at any pace. */
static void prepare_bursts(const struct options *o)
{
	static char segments[10 * MSS];

	if (state_is(o, "stretch"))
		for (int i = 0; i < o->sockets; i++)
			delay_departure(streams[i].fd, STRETCH_US);
	/* the core does not pace the first ten segments */
	for (int i = 0; i < o->sockets; i++)
		send(streams[i].fd, segments, sizeof(segments), MSG_NOSIGNAL);
	pause_ms(ALL_ACKED_MS);
	set_max_pace(o, BURST_RATE);
	for (int i = 0; i < o->sockets; i++)
		send(streams[i].fd, segments, MSS, MSG_NOSIGNAL);
	pause_ms(BURST_GAP_MS);
	set_max_pace(o, ~0U);
}

static void run_relay(const struct options *o, const char *address, int port)
{
	static char chunk[CHUNK];
	uint64_t sent = 0;
	long begin;

	connect_all(o, address, port, false);
	if (state_is(o, "burst") || state_is(o, "stretch"))
		prepare_bursts(o);
	begin = clock_ms();
	for (int i = 0; i < o->sockets; i++) {
		send(streams[i].fd, chunk, sizeof(chunk), MSG_NOSIGNAL);
		pause_ms(o->turn_ms);
		sent += sent_by(o, i);
	}
	tell_sent(sent, begin);
}

/* ms until @bytes are acknowledged */
static long burst_ms(int fd, size_t bytes)
{
	static char chunk[CHUNK];
	long begin = clock_ms();
	struct tcp_info info;

	while (bytes) {
		ssize_t n = send(fd, chunk, bytes < CHUNK ? bytes : CHUNK, MSG_NOSIGNAL);

		if (n > 0)
			bytes -= n;
		else
			pause_ms(1);
	}
	do {
		pause_ms(1);
		info = tcp_info_of(fd);
	} while (info.tcpi_unacked || info.tcpi_notsent_bytes);
	return clock_ms() - begin;
}

static void run_bursts(const struct options *o, const char *address, int port)
{
	long begin = clock_ms(), worst = 0, sum = 0, n = 0;

	connect_all(o, address, port, false);
	while (clock_ms() - begin < o->ms) {
		long ms = burst_ms(streams[0].fd, BURST * MSS);

		if (ms > worst)
			worst = ms;
		sum += ms;
		n++;
		pause_ms(o->turn_ms > 1 ? o->turn_ms : BURST_PAUSE);
	}
	printf("bursts=%ld mean=%ld worst=%ld\n", n, sum / n, worst);
	drop_all(o);
}

/* One cycle of evict; how many of the first sockets are tripped at its end */
static int evict_once(const struct options *o, const char *address, int port)
{
	static char chunk[CHUNK];
	struct sockaddr_in to = address_of(address, 0, port);
	long begin = clock_ms();
	int tripped = 0;

	for (int i = 0; i < o->sockets; i++) {
		struct sockaddr_in help = address_of(EVICT_HELP, i, port);

		streams[i].fd = new_socket(o, 0);
		start_connecting(streams[i].fd, i < EVICT_BULK ? &to : &help);
	}
	while (clock_ms() - begin < o->turn_ms) {
		for (int i = 0; i < EVICT_BULK; i++)
			while (send(streams[i].fd, chunk, CHUNK, MSG_NOSIGNAL) > 0)
				;
		for (int i = EVICT_BULK; i < o->sockets; i++)
			if (!tcp_info_of(streams[i].fd).tcpi_bytes_acked)
				send(streams[i].fd, chunk, EVICT_LITTLE * MSS, MSG_NOSIGNAL);
		pause_ms(20);
	}
	for (int i = 0; i < EVICT_BULK; i++)
		tripped += tcp_info_of(streams[i].fd).tcpi_state == ESTABLISHED &&
			   circuit_info_of(streams[i].fd).tci_breaker ==
			   TCP_CIRCUIT_BREAKER_TRIPPED;
	drop_all(o);
	return tripped;
}

static void run_evict(const struct options *o, const char *address, int port)
{
	long begin = clock_ms();
	int cycles = 0, tripped = 0;

	while (clock_ms() - begin < o->ms) {
		tripped += evict_once(o, address, port) > 0;
		cycles++;
	}
	printf("cycles=%d tripped=%d\n", cycles, tripped);
}

static void run_many(const struct options *o, const char *address, int port)
{
	struct seen seen = { 0 };
	long begin;

	connect_all(o, address, port, true);
	begin = clock_ms();
	while (clock_ms() - begin < o->ms) {
		feed(o);
		pause_ms(MANY_MS);
	}
	report(o, &seen);
	drop_all(o);
}

/* --- who does not read ---------------------------------------------------- */

/* Bytes that the kernel holds for what nobody has read */
static uint64_t held(const struct options *o)
{
	uint64_t sum = 0;

	for (int i = 0; i < o->sockets; i++) {
		uint32_t mem[SK_MEMINFO_VARS] = { 0 };
		socklen_t len = sizeof(mem);

		if (getsockopt(streams[i].fd, SOL_SOCKET, SO_MEMINFO, mem, &len))
			die("SO_MEMINFO");
		sum += mem[SK_MEMINFO_RMEM_ALLOC];
	}
	return sum;
}

static void run_hoard(const struct options *o, int port)
{
	int listener = listen_at(o, port);
	uint64_t most = 0;
	long begin;

	accept_all(o, listener);
	begin = clock_ms();
	while (clock_ms() - begin < o->ms) {
		uint64_t now = held(o);

		if (now > most)
			most = now;
		pause_ms(10);
	}
	printf("held_max=%llu\n", (unsigned long long)most);
	fflush(stdout);
	drop_all(o);
}

/* What the kernel would hold for the first connection that is accepted */
static void run_hold(const struct options *o, const char *address, int port)
{
	int listener = listen_at(o, port), child, rcvbuf;
	socklen_t len = sizeof(rcvbuf);
	struct seen seen = { 0 };

	ask(listener, o, &seen);
	connect_all(o, address, port, true);
	child = accept(listener, NULL, NULL);
	if (getsockopt(child, SOL_SOCKET, SO_RCVBUF, &rcvbuf, &len))
		die("SO_RCVBUF");
	printf("rcvbuf=%d\n", rcvbuf);
	fflush(stdout);
	pause_ms(o->ms);
	drop_all(o);
}

/* The other end of accept and inherit: it reads what comes. */
static void run_read(const struct options *o, const char *address, int port)
{
	static char chunk[CHUNK];
	long begin = clock_ms();

	connect_all(o, address, port, false);
	while (clock_ms() - begin < o->ms) {
		for (int i = 0; i < o->sockets; i++)
			while (recv(streams[i].fd, chunk, sizeof(chunk),
				    MSG_TRUNC) > 0)
				;
		pause_ms(1);
	}
	drop_all(o);
}

/* --- what is left, and who leaves ----------------------------------------- */

/*
 * Two streams; whoever reads "ready" and the first one's port resets that from
 * the other end.  Its descriptor stays open; how long, then, until the other
 * stream's window is as large as the circuit's?
 */
static void run_leak(const struct options *o, const char *address, int port)
{
	struct sockaddr_in self;
	socklen_t len = sizeof(self);
	struct seen seen = { 0 };
	long begin = clock_ms(), reset = 0;
	uint32_t window, before = 0, after = 0;

	connect_all(o, address, port, false);
	window = circuit_info_of(streams[1].fd).tci_fcwnd;
	if (getsockname(streams[0].fd, (void *)&self, &len))
		die("getsockname");
	while (clock_ms() - begin < 500) {
		feed(o);
		look(o, &seen);
		pause_ms(1);
	}
	before = tcp_info_of(streams[1].fd).tcpi_snd_cwnd;
	printf("ready port=%d\n", ntohs(self.sin_port));
	fflush(stdout);
	while (clock_ms() - begin < o->ms) {
		feed(o);
		if (!reset && tcp_info_of(streams[0].fd).tcpi_state == CLOSED)
			reset = clock_ms();
		after = tcp_info_of(streams[1].fd).tcpi_snd_cwnd;
		if (reset && after >= window)
			break;
		pause_ms(1);
	}
	printf("before=%u after=%u ms=%ld\n", before, after,
	       reset ? clock_ms() - reset : -1);
	drop_all(o);
}

/* To cubic with a full window, and what it makes of it in 0.3 s */
static void run_leave(const struct options *who, const char *address, int port)
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

/* --- which ---------------------------------------------------------------- */

static int usage(void)
{
	fprintf(stderr,
		"usage: circuit_hostile windows|send|dead|hole|sleep|ahead|waves|relay|bursts|evict|many|read|leak|leave|hold|zero [-u UID] [-n SOCKETS] [-t MS] [-w ASK]\n"
		"                       [-s STATE] [-C ALGORITHM] [-b ADDRESS] [-p MS] [-l MS] [-g PID:UID] ADDRESS PORT\n"
		"       circuit_hostile accept|inherit|hoard [-u UID] [-n SOCKETS] [-t MS] [-w ASK] [-C ALGORITHM]\n"
		"                       [-p MS] [-l MS] PORT\n");
	return 2;
}

static bool parse(int argc, char **argv, struct options *o)
{
	int opt;

	while ((opt = getopt(argc, argv, "u:n:t:w:s:C:b:p:l:g:")) != -1) {
		switch (opt) {
		case 'u': o->uid = atoi(optarg); break;
		case 'n': o->sockets = atoi(optarg); break;
		case 't': o->ms = atol(optarg); break;
		case 'w': o->ask = strtoul(optarg, NULL, 0); break;
		case 's': o->state = optarg; break;
		case 'C': o->algorithm = optarg; break;
		case 'b': o->bind = optarg; break;
		case 'p': o->turn_ms = atol(optarg); break;
		case 'l': o->lossy_ms = atol(optarg); break;
		case 'g':
			if (sscanf(optarg, "%d:%d", &o->ns_pid, &o->give_to) != 2)
				return false;
			break;
		default: return false;
		}
	}
	return o->sockets > 0 && o->sockets <= SOCKETS_MAX;
}

static const struct command {
	const char	*name;
	void		(*connect)(const struct options *o, const char *address,
				   int port);
	void		(*serve)(const struct options *o, int port);
} commands[] = {
	{ "windows", run_windows, NULL },
	{ "accept", NULL, run_accept },
	{ "send", run_send, NULL },
	{ "inherit", NULL, run_inherit },
	{ "greet", NULL, run_greet },
	{ "dead", run_dead, NULL },
	{ "hole", run_hole, NULL },
	{ "sleep", run_sleep, NULL },
	{ "ahead", run_ahead, NULL },
	{ "waves", run_waves, NULL },
	{ "forget", run_forget, NULL },
	{ "relay", run_relay, NULL },
	{ "bursts", run_bursts, NULL },
	{ "evict", run_evict, NULL },
	{ "many", run_many, NULL },
	{ "hoard", NULL, run_hoard },
	{ "read", run_read, NULL },
	{ "leak", run_leak, NULL },
	{ "leave", run_leave, NULL },
	{ "hold", run_hold, NULL },
	{ "zero", run_zero, NULL },
	{ NULL, NULL, NULL },
};

int main(int argc, char **argv)
{
	struct options o = { .algorithm = "circuit", .state = "before",
			     .sockets = 1, .ms = 1000, .uid = -1, .turn_ms = 1,
			     .lossy_ms = -1 };
	const struct command *c = commands;

	if (argc < 2)
		return usage();
	while (c->name && strcmp(c->name, argv[1]))
		c++;
	argc--;
	argv++;
	if (!c->name || !parse(argc, argv, &o))
		return usage();
	argc -= optind;
	argv += optind;
	if (argc != (c->connect ? 2 : 1))
		return usage();
	if (c->serve != run_inherit)
		become_user(o.uid);
	if (c->connect)
		c->connect(&o, argv[0], atoi(argv[1]));
	else
		c->serve(&o, atoi(argv[0]));
	return 0;
}
