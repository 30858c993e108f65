// SPDX-License-Identifier: GPL-2.0
/*
 * What must hold of each answer
 *
 * The storm's streams and the pool's sockets are held to the same rules.
 */
#include "fuzz.h"

#define CLOSED		7	/* tcpi_state, of the kernel's own header */

uint64_t cut;

static void check_counts(const struct tcp_circuit_info *i)
{
	/* Beside the window, those share so much whose breaker has tripped. */
	uint32_t more = i->tci_sockets + CUT_MOST;

	if (i->tci_cwnd_share > i->tci_cwnd_total)
		rule("share %u of %u", i->tci_cwnd_share, i->tci_cwnd_total);
	if (i->tci_cwnd_total > TCP_CIRCUIT_WINDOW_LIMIT + more)
		rule("total %u by %u", i->tci_cwnd_total, i->tci_sockets);
	if (i->tci_delivered > COUNTED || i->tci_lost > COUNTED)
		rule("%llu delivered, %llu lost",
		     (unsigned long long)i->tci_delivered,
		     (unsigned long long)i->tci_lost);
	if (i->tci_hungry > i->tci_sockets)
		rule("%u hungry of %u", i->tci_hungry, i->tci_sockets);
	if (steady && i->tci_cwnd_total > steady + more)
		rule("total %u by %u of a window of %u", i->tci_cwnd_total,
		     i->tci_sockets, steady);
}

void check_info(const struct tcp_circuit_info *i)
{
	bool none = i->tci_source == TCP_CIRCUIT_SOURCE_NONE;

	if (none != !i->tci_fcwnd || i->tci_fcwnd > TCP_CIRCUIT_WINDOW_LIMIT)
		rule("tci_fcwnd %u from source %u", i->tci_fcwnd, i->tci_source);
	/* Without a circuit it is dead or not connected: another one's window. */
	if (i->tci_sockets && (i->tci_snd_cwnd < 1 ||
			       i->tci_snd_cwnd > TCP_CIRCUIT_FCWND_LIMIT))
		rule("tci_snd_cwnd %u", i->tci_snd_cwnd);
	if (i->tci_source > TCP_CIRCUIT_SOURCE_USER ||
	    i->tci_state > TCP_CIRCUIT_STREAM_HUNGRY ||
	    i->tci_breaker > TCP_CIRCUIT_BREAKER_TRIPPED ||
	    i->tci_reason > TCP_CIRCUIT_REASON_SHORTFALL)
		rule("source %u, state %u, breaker %u, reason %u",
		     i->tci_source, i->tci_state, i->tci_breaker,
		     i->tci_reason);
	if (!i->tci_id != !i->tci_sockets)
		rule("id %u of a circuit of %u", i->tci_id, i->tci_sockets);
	check_counts(i);
}

int state_of(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) ?
		-1 : info.tcpi_state;
}

/* Of one that was made to look at its window between the two; a dead one does not. */
void check_cut(int fd, const struct tcp_circuit_info *before,
	       const struct tcp_circuit_info *after)
{
	uint32_t most = after->tci_fcwnd / 10;

	if (state_of(fd) == CLOSED || !after->tci_sockets ||
	    before->tci_trips != after->tci_trips ||
	    before->tci_breaker != TCP_CIRCUIT_BREAKER_TRIPPED ||
	    after->tci_breaker != TCP_CIRCUIT_BREAKER_TRIPPED)
		return;
	most = most < 1 ? 1 : most > CUT_MOST ? CUT_MOST : most;
	cut++;
	if (after->tci_snd_cwnd > most)
		rule("tripped: %u segments, at most %u of %u", after->tci_snd_cwnd,
		     most, after->tci_fcwnd);
}
