/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Live circuits: those that sockets of this network namespace hold at this moment,
 * as the module tells of them in /proc/net/tcp_circuit.
 *
 *	peer id window held sockets streams rate delivered lost trips state
 *	192.0.2.7 0 11163 8000 6 4 500000000 480000 12 0 closed
 *
 * A header line with the columns' names, then a line for each circuit.  Columns are
 * added at the end only, so those that are not known here are passed over; any
 * other difference and nothing of it is used.
 */
#ifndef CTCP_LIVE_H
#define CTCP_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "circuit.h"
#include "err.h"

#define LIVE_FILE "/proc/net/tcp_circuit"

struct live {
	struct prefix peer;		/* family 0: "*", any */
	uint64_t id;			/* TCP_CIRCUIT_ID of its sockets, 0 = none */
	uint64_t window, held;		/* segments, of all its streams */
	uint64_t sockets, streams;	/* that share it; with an equal share each */
	uint64_t rate;			/* bytes/s of pacing, 0 = unpaced */
	uint64_t delivered, lost;	/* segments */
	uint64_t trips;			/* of the breaker, so far */
	bool tripped;			/* the window is cut */
};

struct lives {
	uint32_t n;
	struct live *list;
};

int live_parse(const char *text, size_t len, struct lives *ls);
int lives_read(struct lives *ls, struct err *e);
int lives_reset(const struct prefix *peer, struct err *e);
void lives_free(struct lives *ls);
uint32_t lives_tripped(const struct lives *ls, const struct prefix *peer);
bool lives_know(const struct lives *ls, const struct prefix *peer);

#endif
