// SPDX-License-Identifier: GPL-2.0
/*
 * circuit_hostile: what a user without privileges, or a peer, may try
 *
 *	circuit_hostile SUBCOMMAND [options] ADDRESS PORT
 *	circuit_hostile accept|inherit|greet|hoard [options] PORT
 *
 * The latter listen.  What a subcommand tries is said at the top of its file:
 *
 *	windows		windows.c	asks for a window on each of many sockets
 *	accept		windows.c	does so on a listener and on what it accepts
 *	send		send.c		sends, with loss or changes of its own
 *	inherit		send.c		sends on what a listener of root's has accepted
 *	greet		greet.c		serves connections of a byte each
 *	dead		dead.c		writes to streams of which nothing arrives
 *	hole		dead.c		sends streams whose first segment never arrives
 *	sleep		sleep.c		holds streams with a share back by their pace
 *	ahead		sleep.c		has fq hold what it sends for 9 s
 *	waves		waves.c		sends on all sockets, resets them, begins again
 *	relay		waves.c		sends on one socket after the other, resets each
 *	forget		forget.c	has the round trip forgotten before each byte
 *	bursts		bursts.c	measures how long bursts take: no attack
 *	many		many.c		sends to many peers, each with a circuit
 *	evict		evict.c		hides loss behind that of many connections
 *	hoard		hoard.c		accepts, and never reads
 *	hold		hoard.c		keeps connections to itself
 *	read		read.c		reads from accept and inherit: no attack
 *	leak		leak.c		keeps a socket that was reset
 *	leave		leave.c		takes a full window along to cubic
 *	zero		zero.c		sets SO_MAX_PACING_RATE 0 all the time
 *
 * Options:
 *
 *	-u UID		become this user first, without capabilities; inherit: once it listens
 *	-n SOCKETS	how many, default 1
 *	-t MS		how long it lasts, default 1000
 *	-w SEGMENTS	the window that each socket asks for, default none
 *	-s STATE	a variant of the subcommand: see its file, and streams.c
 *	-C ALGORITHM	of the sockets, default circuit; "": the system's
 *	-b ADDRESS	bind the first socket to this one, the next to those that follow
 *	-p MS		a pause or a duration: see the subcommand's file; default 1
 *	-l MS		send, inherit: their packets die on the way, by turns, from then on
 *	-g PID:UID	windows: gives its sockets to UID of the user namespace of PID
 *
 * What is found out is printed as one line of NAME=value words, at the end unless the
 * subcommand's file says otherwise.
 *
 * What the subcommands share:
 *
 *	socket.c	one socket
 *	streams.c	all of them
 *	round_trip.c	round trips that the kernel forgets or invents
 *	report.c	the windows of all, and what became of them
 */
#include <getopt.h>

#include "hostile.h"

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
	int		least;	/* sockets */
} commands[] = {
	{ "windows", run_windows, NULL, 1 },
	{ "accept", NULL, run_accept, 1 },
	{ "send", run_send, NULL, 1 },
	{ "inherit", NULL, run_inherit, 1 },
	{ "greet", NULL, run_greet, 1 },
	{ "dead", run_dead, NULL, 1 },
	{ "hole", run_hole, NULL, 1 },
	{ "sleep", run_sleep, NULL, 1 },
	{ "ahead", run_ahead, NULL, 1 },
	{ "waves", run_waves, NULL, 1 },
	{ "forget", run_forget, NULL, 1 },
	{ "relay", run_relay, NULL, 1 },
	{ "bursts", run_bursts, NULL, 1 },
	{ "evict", run_evict, NULL, EVICT_BULK },
	{ "many", run_many, NULL, 1 },
	{ "hoard", NULL, run_hoard, 1 },
	{ "read", run_read, NULL, 1 },
	{ "leak", run_leak, NULL, 2 },
	{ "leave", run_leave, NULL, 1 },
	{ "hold", run_hold, NULL, 1 },
	{ "zero", run_zero, NULL, 1 },
	{ NULL, NULL, NULL, 0 },
};

/* The names of those that connect, or of those that serve */
static void print_names(bool connect)
{
	const char *before = "";

	for (const struct command *c = commands; c->name; c++) {
		if (!c->connect == connect)
			continue;
		fprintf(stderr, "%s%s", before, c->name);
		before = "|";
	}
}

static int usage(void)
{
	fputs("usage: circuit_hostile ", stderr);
	print_names(true);
	fputs("\n                       [OPTION...] ADDRESS PORT\n       circuit_hostile ", stderr);
	print_names(false);
	fputs(" [OPTION...] PORT\n"
	      "options: -u UID -n SOCKETS -t MS -w ASK -s STATE -C ALGORITHM -b ADDRESS -p MS -l MS -g PID:UID\n",
	      stderr);
	return 2;
}

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
	if (!c->name || !parse(argc, argv, &o) || o.sockets < c->least)
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
