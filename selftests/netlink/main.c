// SPDX-License-Identifier: GPL-2.0
/*
 * circuit_netlink: the netlink family "tcp_circuit", request by request
 *
 * Runs as root in a namespace of its own with the loopback up, circuit loaded, the
 * namespace's tcp_circuit_fcwnd at NETNS_FCWND and its ceiling_circuits small
 * enough to reach.  The loopback has 10.77.2.1 and a4d:201::.  TAP on stdout.
 *
 *	points.c	what is compared
 *	request.c	requests, written as words, and their answers
 *	refuse.c	each refusal has an errno and a reason, and changes nothing
 *	set.c		NEW and what it makes
 *	get.c		GET of one and of all
 *	events.c	what is told to who listens
 *	privileges.c	who may do and see what
 */
#include "test.h"

int main(void)
{
	uint64_t memory;

	if (nl_open(&nl, TCP_CIRCUIT_GENL_NAME))
		bail(TCP_CIRCUIT_GENL_NAME);
	memory = stat_of(TCP_CIRCUIT_STATS_A_MEMORY);
	check_refusals();
	check_good();
	check_answer();
	check_modes();
	check_prefixes();
	check_match();
	check_automatic();
	check_changing_dump();
	check_generation();
	check_events();
	check_privileges();
	check_namespaces();
	check_full();
	check_full_of_prefixes();
	same("nothing is left: circuits", 0, stat_of(TCP_CIRCUIT_STATS_A_CIRCUITS));
	same("nothing is left: prefixes", 0, stat_of(TCP_CIRCUIT_STATS_A_PREFIXES));
	same("nothing is left: memory", memory, stat_of(TCP_CIRCUIT_STATS_A_MEMORY));
	same("an answer nobody asked for", 0, event_waits());
	return finish_points();
}
