// SPDX-License-Identifier: GPL-2.0
/*
 * circuit_fuzz: random calls on a pool of sockets, and what must hold after each
 *
 *	circuit_fuzz [-s SEED] [-n CALLS] [-k]
 *
 * Runs as root in a namespace of its own with the loopback up, circuit loaded,
 * netem and ss at hand.  The same seed gives the same calls.  A call is one of
 * the table actions[]; a quarter of them is done as nobody.  The calls come in
 * phases: a storm, in which the loopback loses most of what a few steady streams
 * send and the breaker trips; one with a steady window; and one in which nothing
 * is steady.  Circuits come and go in all of them; in the first two each has the
 * steady window.  What must hold:
 *
 *	every answer	tci_fcwnd in 1..TCP_CIRCUIT_WINDOW_LIMIT, or 0 where nothing
 *			gives a window; the kernel's window of a socket in a circuit
 *			in 1..TCP_CIRCUIT_FCWND_LIMIT; share <= total
 *	a failed call	changes nothing; errno is one the header names
 *	a good one	holds, and gave nobody more than the header allows
 *	a circuit	is what was asked for last; nobody changes any
 *	a socket	that has looked belongs to the longest match
 *	sysctls		within their bounds, whatever was written
 *	steady window	(also in a storm) total <= window + sockets + the ten of those
 *			whose breaker has tripped
 *	tripped		a stream that has looked holds no more than the breaker left
 *	end of a phase	all sockets closed, all circuits removed: none is left
 *
 * Prints NAME=value for the number of calls, of those that succeeded, of changed
 * circuits, of looks at a window that was cut, of connections and of trips, and of
 * broken rules, each of which is described in a line "broken: ...".
 *
 * Parts:
 *
 *	phases.c	phases: a storm, a steady window, anything
 *	calls.c		what programs do with sockets
 *	options.c	our own options
 *	change.c	requests that change circuits
 *	show.c		requests that show them
 *	broken.c	a request that is not quite one
 *	sysctls.c	sysctls and the module's parameter
 *	pool.c		the pool of sockets
 *	objects.c	circuits as they have to be
 *	check.c		what must hold of each answer
 *	storm.c		streams of a storm
 *	request.c  value.c  files.c  loopback.c
 */
#include <getopt.h>
#include <signal.h>

#include "fuzz.h"

#define NOBODY		65534

uint64_t random_state, seed, turn, broken;
bool nobody;

static uint64_t calls, good;

static bool do_netlink(void)
{
	switch (below(12)) {
	case 0: case 1: case 2: return do_new();
	case 3: case 4: return do_del();
	case 5: return circuits() > 0;
	case 6: return do_get_name();
	case 7: case 8: return do_get_address();
	case 9: return do_reset();
	case 10: return do_stats();
	default: return do_broken();
	}
}

static const struct {
	bool		(*call)(void);
	unsigned int	weight;
} actions[] = {
	{ do_set, 27 }, { do_get, 24 }, { do_send, 8 }, { do_receive, 4 },
	{ do_connect, 5 }, { do_algorithm, 6 }, { do_neighbour, 5 },
	{ do_open, 4 }, { do_close, 3 }, { do_sysctl, 3 }, { do_disconnect, 3 },
	{ do_shutdown, 1 }, { do_listen, 1 }, { do_netlink, 4 }, { do_parameter, 1 },
};

static void act(void)
{
	unsigned int at = below(100);

	for (size_t i = 0; i < COUNT(actions); i++) {
		if (at < actions[i].weight) {
			good += actions[i].call();
			return;
		}
		at -= actions[i].weight;
	}
}

static void become(bool wanted)
{
	if (nobody != wanted && seteuid(wanted ? NOBODY : 0))
		bail("seteuid");
	nobody = wanted;
}

static void run(void)
{
	for (turn = 0; turn < calls; turn++) {
		if (turn % PHASE == 0)
			begin_phase();
		if (turn % 128 == 0) {
			become(!below(4));
			pass_time();
		}
		act();
		if (turn % 2048 == 0)
			for (int slot = 0; slot < SOCKETS; slot++)
				check_socket(slot);
		if (turn % PHASE == PHASE - 1 || turn == calls - 1) {
			become(false);
			end_phase();
		}
	}
}

int main(int argc, char **argv)
{
	int opt;

	seed = 1;
	calls = 1000000;
	while ((opt = getopt(argc, argv, "s:n:k")) != -1) {
		switch (opt) {
		case 's': seed = strtoull(optarg, NULL, 0); break;
		case 'n': calls = strtoull(optarg, NULL, 0); break;
		case 'k': orphans_die = true; break;
		default: return 2;
		}
	}
	seed_random(seed);
	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < SOCKETS; i++)
		pool[i].fd = -1;
	if (nl_open(&nl, TCP_CIRCUIT_GENL_NAME))
		bail("the family tcp_circuit");
	make_room();
	open_sysctls();
	run();
	do_stats();
	printf("seed=%llu calls=%llu good=%llu changes=%llu cut=%llu opened=%llu trips=%llu broken=%llu\n",
	       (unsigned long long)seed, (unsigned long long)calls,
	       (unsigned long long)good, (unsigned long long)changes,
	       (unsigned long long)cut, (unsigned long long)opened,
	       (unsigned long long)trips, (unsigned long long)broken);
	return broken > 0;
}
