// SPDX-License-Identifier: GPL-2.0
/*
 * The differences of two samples: see interval.h.
 */
#include <string.h>

#include "interval.h"

/*
 * By how much a counter of 32 bits grew, which may have wrapped.  2^31 segments and more
 * between two polls are more than any link carries: it went back.
 */
static bool grew(uint32_t before, uint32_t now, uint32_t *by)
{
	*by = now - before;
	return *by < 1U << 31;
}

static bool grew_64(uint64_t before, uint64_t now, uint64_t *by)
{
	*by = now - before;
	return now >= before;
}

static bool count_segments(struct interval *i, const struct sample *a, const struct sample *b)
{
	return grew(a->data_segs_out, b->data_segs_out, &i->segs) &&
	       grew(a->total_retrans, b->total_retrans, &i->retrans) &&
	       grew(a->delivered, b->delivered, &i->delivered) &&
	       grew(a->delivered_ce, b->delivered_ce, &i->delivered_ce) &&
	       grew(a->dsack_dups, b->dsack_dups, &i->dsack_dups) &&
	       grew(a->reord_seen, b->reord_seen, &i->reord);
}

static bool count_bytes(struct interval *i, const struct sample *a, const struct sample *b)
{
	if (!grew_64(a->conn.acked, b->conn.acked, &i->acked))
		return false;
	if (a->known & b->known & KNOWS_BYTES_SENT)
		return grew_64(a->bytes_sent, b->bytes_sent, &i->sent) &&
		       grew_64(a->bytes_retrans, b->bytes_retrans, &i->retrans_bytes);
	i->sent = (uint64_t)i->segs * b->conn.mss;
	i->retrans_bytes = (uint64_t)i->retrans * b->conn.mss;
	return true;
}

static uint64_t at_most(uint64_t n, uint64_t most)
{
	return n < most ? n : most;
}

/* The kernel counts them in jiffies, so that one may be more than the whole by a jiffy. */
static bool count_time(struct interval *i, const struct sample *a, const struct sample *b)
{
	if (!grew_64(a->conn.busy, b->conn.busy, &i->busy) ||
	    !grew_64(a->conn.rwnd, b->conn.rwnd, &i->rwnd) ||
	    !grew_64(a->conn.sndbuf, b->conn.sndbuf, &i->sndbuf))
		return false;
	i->busy = at_most(i->busy, i->us);
	i->rwnd = at_most(i->rwnd, i->busy);
	i->sndbuf = at_most(i->sndbuf, i->busy - i->rwnd);
	return true;
}

bool interval_make(struct interval *i, const struct sample *before, const struct sample *now)
{
	memset(i, 0, sizeof(*i));
	i->before = before;
	i->now = now;
	return before->conn.cookie == now->conn.cookie &&
	       grew_64(before->at_us, now->at_us, &i->us) && i->us &&
	       count_segments(i, before, now) && count_bytes(i, before, now) &&
	       count_time(i, before, now);
}

uint64_t interval_bytes(const struct interval *i)
{
	return i->delivered ? (uint64_t)i->delivered * i->now->conn.mss : i->acked;
}
