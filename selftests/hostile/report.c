// SPDX-License-Identifier: GPL-2.0
/*
 * What all streams had together, and the line that tells it
 *
 *	sum_max=	the largest sum of their windows since the last line, segments
 *	flight_max=	the largest sum of what they had in flight, so, too
 *	refused=	requests for a window that failed with EPERM
 *	tripped=	streams whose breaker is open
 *	gifts=		streams whose window is one that tcp_circuit_fcwnd_max allows
 *	acked=		bytes acknowledged since the last line
 *
 * A stream counts in the sums while it has data in flight and is circuit's; for leave,
 * whatever its algorithm is.  inherit does not ask for the breaker and the source of the
 * window, and says 0 of both.
 */
#include "hostile.h"

/* Neither another algorithm's, nor circuit's fallback to Reno without a window */
static bool is_circuits(int fd)
{
	char name[16] = "";
	socklen_t len = sizeof(name);

	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len))
		die("TCP_CONGESTION");
	return !strcmp(name, "circuit");
}

void look(const struct options *o, struct seen *seen)
{
	uint32_t sum = 0, flight = 0;

	for (int i = 0; i < o->sockets; i++) {
		struct tcp_info info;

		if (!o->any && !is_circuits(streams[i].fd))
			continue;
		info = tcp_info_of(streams[i].fd);
		if (!info.tcpi_unacked)
			continue;
		sum += info.tcpi_snd_cwnd;
		flight += info.tcpi_unacked;
	}
	if (sum > seen->sum_max)
		seen->sum_max = sum;
	if (flight > seen->flight_max)
		seen->flight_max = flight;
}

/* Bytes of all that were acknowledged since the last call */
static uint64_t acked(const struct options *o)
{
	uint64_t sum = 0;

	for (int i = 0; i < o->sockets; i++) {
		uint64_t bytes = tcp_info_of(streams[i].fd).tcpi_bytes_acked;

		sum += bytes - streams[i].acked;
		streams[i].acked = bytes;
	}
	return sum;
}

void report(const struct options *o, const struct seen *seen)
{
	int tripped = 0, users = 0;

	for (int i = 0; i < o->sockets && !o->silent; i++) {
		struct tcp_circuit_info info = circuit_info_of(streams[i].fd);

		tripped += info.tci_breaker == TCP_CIRCUIT_BREAKER_TRIPPED;
		users += info.tci_source == TCP_CIRCUIT_SOURCE_USER;
	}
	printf("sum_max=%u flight_max=%u refused=%d tripped=%d gifts=%d acked=%llu\n",
	       seen->sum_max, seen->flight_max, seen->refused, tripped, users,
	       (unsigned long long)acked(o));
	fflush(stdout);
}
