// SPDX-License-Identifier: GPL-2.0
/*
 * Circuit + facts -> plan.  The rules and their sources are in plan.h.
 *
 * Ranges, so that 64 bits hold every product: rate <= 1.25e11 bytes/s, rtt <=
 * 1e7 us, multiple <= 1e4 thousandths, streams <= 65535, 128 <= wire <= 2^16 + 2^8,
 * loss < 5e8 parts per billion.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <linux/tcp_circuit.h>

#include "choose.h"
#include "plan.h"
#include "units.h"

#define QUANTUM_MAX	200000U			/* bytes: sch_htb.c's own bound */
#define REST_LEAST	1250000ULL		/* bytes/s, 10 mbit */
#define BUCKET_SECONDS	274U			/* 2^32 ticks of 64 ns, rounded down */

static uint64_t div_up(uint64_t a, uint64_t b)
{
	return a / b + !!(a % b);
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A root qdisc on a bridge sees only what the host itself sends through it. */
static int check_bridge(const struct facts *f, struct err *e)
{
	if (strcmp(f->kind, "bridge"))
		return 0;
	if (!f->ports[0])
		return err_set(e, -EOPNOTSUPP,
			       "%s is a bridge without a port; shape the port that the circuit leaves by",
			       f->dev);
	return err_set(e, -EOPNOTSUPP,
		       "%s is a bridge and forwards past its own queue; shape the port that the circuit leaves by: %s",
		       f->dev, f->ports);
}

int plan_check_device(const struct circuit *c, const struct facts *f,
		      struct notes *notes, struct err *e)
{
	char rate[32];

	if (f->loopback)
		return err_set(e, -EOPNOTSUPP,
			       "%s is the loopback device; name the device that the circuit leaves by",
			       f->dev);
	if (check_bridge(f, e))
		return -EOPNOTSUPP;
	if (!f->up)
		return err_set(e, -ENETDOWN, "%s is down; ip link set %s up", f->dev, f->dev);
	if (f->speed_mbit && c->rate > f->speed_mbit * MBIT)
		return err_set(e, -ERANGE, "%s%s is more than %s carries, %" PRIu64 "mbit",
			       c->ctcpd ? "" : "--rate: ",
			       format_rate(rate, sizeof(rate), c->rate), f->dev, f->speed_mbit);
	if (f->master[0])
		note(notes,
		     "%s is a port of %s (%s): what %s forwards through it is shaped too; the circuit's routes and connections leave by %s",
		     f->dev, f->master, f->master_kind, f->master, f->out);
	if (f->parent[0])
		note(notes,
		     "%s sits on %s: the queue of %s is untouched, its other traffic still shares the wire",
		     f->dev, f->parent, f->parent);
	return 0;
}

static int plan_segment(const struct circuit *c, const struct facts *f,
			struct plan *p, struct err *e)
{
	uint32_t headers = circuit_family(c) == AF_INET6 ? TCP_IP6_HEADERS :
			   TCP_IP4_HEADERS;

	if (f->mtu < headers + MSS_MIN || f->mtu > 65536)
		return err_set(e, -ERANGE, "%s has an MTU of %u; from %u to 65536", f->dev, f->mtu,
			       headers + MSS_MIN);
	p->mss = f->mtu - headers;
	if (c->mss > p->mss)
		return err_set(e, -ERANGE, "--mss: %u does not fit the MTU of %s, %u; at most %u",
			       c->mss, f->dev, f->mtu, p->mss);
	if (c->mss && c->mss < MSS_MIN)
		return err_set(e, -ERANGE, "--mss: %u is less than TCP's smallest, %u", c->mss,
			       MSS_MIN);
	if (c->mss)
		p->mss = c->mss;
	p->wire = p->mss + headers + f->header;
	p->payload = p->mss - TCP_TIMESTAMPS;
	return 0;
}

/*
 * ceil(rate x rtt x multiple / (1e6 x 1000 x wire)).  The product passes 64
 * bits, so rate x rtt is split at 1e6; rounding up in two steps is exact,
 * since ceil(ceil(a / m) / n) = ceil(a / mn).
 */
static uint64_t window(const struct circuit *c, uint32_t wire)
{
	uint64_t bdp = c->rate * c->rtt_us;	/* bytes x 1e6, <= 1.25e18 */
	uint64_t bytes = bdp / 1000000 * c->multiple +
			 div_up(bdp % 1000000 * c->multiple, 1000000);

	return div_up(bytes, 1000ULL * wire);
}

static int plan_window(const struct circuit *c, struct plan *p,
		       struct notes *notes, struct err *e)
{
	uint64_t total = window(c, p->wire);
	uint64_t most = WINDOW_MAX / p->payload;

	if (most > TCP_CIRCUIT_FCWND_LIMIT)
		most = TCP_CIRCUIT_FCWND_LIMIT;
	if (total > TCP_CIRCUIT_WINDOW_LIMIT)
		return err_set(e, -ERANGE,
			       "a window of %" PRIu64
			       " segments is more than a circuit takes, %u; a larger MTU or --mss, or less --rate",
			       total, TCP_CIRCUIT_WINDOW_LIMIT);
	if (div_up(total, c->streams) > most)
		return err_set(e, -ERANGE,
			       "a window of %" PRIu64
			       " segments does not fit %u stream%s, each ends at %" PRIu64
			       "; --streams %" PRIu64 " or more",
			       total, c->streams, c->streams > 1 ? "s" : "", most,
			       div_up(total, most));
	if (total < (uint64_t)FCWND_MIN * c->streams) {
		note(notes,
		     "the circuit holds less than %u segments a stream; the window is %u, the least that does not wait for delayed acknowledgements",
		     FCWND_MIN, FCWND_MIN);
		total = (uint64_t)FCWND_MIN * c->streams;
	}
	p->fcwnd = (uint32_t)total;
	p->share = (uint32_t)div_up(total, c->streams);
	p->stream = (uint32_t)min_u64(total, most);
	return 0;
}

/* Held by one bucket and one queue of bytes, at the root or in a class. */
static bool has_bucket(const struct circuit *c)
{
	return c->shaper == SHAPER_TBF || c->shaper == SHAPER_HTB;
}

/* As the qdisc counts it */
static uint64_t gso_packet_of(const struct facts *f, const struct plan *p)
{
	return min_u64(div_up(f->gso_max_size, p->payload), f->gso_max_segs) * p->wire;
}

static int plan_limit(const struct circuit *c, const struct facts *f,
		      struct plan *p, struct notes *notes, struct err *e)
{
	p->gso_packet = gso_packet_of(f, p);
	p->limit = (uint64_t)p->fcwnd * p->wire;
	if (c->shaper == SHAPER_NONE)
		return 0;
	if (has_bucket(c) && !c->limit && p->limit < p->gso_packet) {
		note(notes,
		     "limit is %" PRIu64
		     " bytes, one GSO packet of %s, instead of the window's %" PRIu64,
		     p->gso_packet, f->dev, p->limit);
		p->limit = p->gso_packet;
	}
	if (c->limit)
		p->limit = c->limit;
	if (p->limit < p->wire)
		return err_set(e, -ERANGE,
			       "--limit: %" PRIu64 " bytes hold no packet of %s; at least %u",
			       p->limit, f->dev, p->wire);
	if (has_bucket(c) && p->limit > UINT32_MAX)
		return err_set(e, -ERANGE,
			       "a limit of %" PRIu64
			       " bytes is more than %s can say, %u; --shaper %s, or a smaller --limit",
			       p->limit, shaper_name(c->shaper), UINT32_MAX,
			       c->shaper == SHAPER_TBF ? "fq" : "none");
	return 0;
}

/* The kernel counts a bucket in ticks of 64 ns, 32 bits of them. */
static int check_bucket_time(const struct circuit *c, const struct plan *p,
			     struct err *e)
{
	uint64_t most = c->rate * BUCKET_SECONDS;
	char rate[32];

	if (p->burst > UINT32_MAX)
		return err_set(e, -ERANGE,
			       "a burst of %" PRIu64 " bytes is more than %s can say, %u",
			       p->burst, shaper_name(c->shaper), UINT32_MAX);
	if (p->burst > most)
		return err_set(e, -ERANGE,
			       "a burst of %" PRIu64
			       " bytes lasts more than %u s at %s; at most %" PRIu64,
			       p->burst, BUCKET_SECONDS, format_rate(rate, sizeof(rate), c->rate),
			       most);
	return 0;
}

static uint64_t burst_of(uint64_t rate, uint64_t gso_packet)
{
	return max_u64(gso_packet, rate / 1000000 * BURST_TIME_US +
		       rate % 1000000 * BURST_TIME_US / 1000000);
}

static uint32_t quantum_of(uint64_t gso_packet, uint32_t wire)
{
	return (uint32_t)max_u64(min_u64(gso_packet, QUANTUM_MAX), wire);
}

static int plan_bucket(const struct circuit *c, const struct facts *f,
		       struct plan *p, struct notes *notes, struct err *e)
{
	p->burst = burst_of(c->rate, p->gso_packet);
	if (c->shaper == SHAPER_HTB)
		p->quantum = quantum_of(p->gso_packet, p->wire);
	if (c->burst)
		p->burst = c->burst;
	if (p->burst < p->wire)
		return err_set(e, -ERANGE,
			       "--burst: %" PRIu64 " bytes pass no full segment of %s; at least %u",
			       p->burst, f->dev, p->wire);
	if (p->burst < p->gso_packet && c->shaper == SHAPER_TBF)
		note(notes,
		     "--burst: %" PRIu64 " bytes are less than one GSO packet of %s, %" PRIu64
		     " bytes: tbf cuts such packets up in software",
		     p->burst, f->dev, p->gso_packet);
	else if (p->limit < p->gso_packet)
		note(notes,
		     "--limit: %" PRIu64 " bytes are less than one GSO packet of %s, %" PRIu64
		     " bytes: %s drops such packets; ip link set %s gso_max_size makes them smaller",
		     p->limit, f->dev, p->gso_packet, shaper_name(c->shaper), f->dev);
	if (c->rate > LOCK_RATE)
		note(notes,
		     "above 20gbit %s at the root is one lock for all queues of %s and may not keep up; --shaper %s has one for each",
		     c->shaper == SHAPER_TBF ? "a tbf" : "an htb", f->dev,
		     c->shaper == SHAPER_TBF ? "fq" : "none");
	return check_bucket_time(c, p, e);
}

/* rate x rtt <= 1.25e18; a GSO packet <= 2^19 + headers, so that the limit fits 32 bits */
static int plan_paced(const struct circuit *c, const struct facts *f, struct plan *p,
		      struct err *e)
{
	uint64_t bdp = c->rate * c->rtt_us / 1000000;

	p->gso_packet = max_u64(gso_packet_of(f, p), p->wire);
	p->limit = min_u64(max_u64(bdp, PACED_SOCKETS * 2 * p->gso_packet), UINT32_MAX);
	p->burst = burst_of(c->rate, p->wire);
	p->quantum = quantum_of(p->gso_packet, p->wire);
	return check_bucket_time(c, p, e);
}

/* @speed: bytes/s, 0 = not known; @circuits: the sum of their rates */
uint64_t plan_rest_rate(uint64_t speed, uint64_t circuits)
{
	uint64_t least = min_u64(REST_LEAST, speed / 100);

	if (!speed)
		return RATE_MAX;
	return max_u64(speed > circuits ? speed - circuits : 0, least);
}

/* As of a circuit without options; the MTU was checked with a circuit. */
void plan_rest(const struct facts *f, uint64_t rate, struct rest *r)
{
	uint64_t payload = f->mtu - TCP_IP4_HEADERS - TCP_TIMESTAMPS;
	uint64_t packet = min_u64(div_up(f->gso_max_size, payload), f->gso_max_segs) *
			  (f->mtu + f->header);

	r->rate = rate;
	r->burst = (uint32_t)burst_of(rate, max_u64(packet, f->mtu + f->header));
	r->quantum = quantum_of(packet, f->mtu + f->header);
}

/* fq counts a flow's rate in 32 bits of bytes/s, all ones = none. */
static int plan_maxrate(const struct circuit *c, struct plan *p, struct notes *notes,
			struct err *e)
{
	uint64_t share = c->rate / c->streams;
	char rate[32];

	if (c->pace) {
		p->maxrate = (uint32_t)min_u64(c->rate, FQ_NO_MAXRATE);
		return 0;
	}
	if (share >= UINT32_MAX)
		return err_set(e, -ERANGE,
			       "fq paces one stream up to 34.35gbit, not %s; --pace, or --streams %"
			       PRIu64 " or more",
			       format_rate(rate, sizeof(rate), share),
			       c->rate / UINT32_MAX + 1);
	if (!share)
		return err_set(e, -ERANGE,
			       "--streams: %u leave less than 1 byte/s each",
			       c->streams);
	note(notes,
	     "fq holds each stream to its share and not their sum: no more than %u at a time; with --pace they share the rate",
	     c->streams);
	p->maxrate = (uint32_t)share;
	return 0;
}

/* Room in packets: of one flow for all that one stream may have in flight. */
static int plan_fq(const struct circuit *c, struct plan *p, struct notes *notes,
		   struct err *e)
{
	uint64_t packets = div_up(p->limit, p->wire);

	p->flow_packets = (uint32_t)max_u64(min_u64(packets, p->stream), 100);
	p->packets = (uint32_t)max_u64(packets, 10000);
	return plan_maxrate(c, p, notes, e);
}

/* x * ppb / 1e9, rounded up; x <= 1e16 */
static uint64_t part_of(uint64_t x, uint32_t ppb)
{
	return x / 1000000000 * ppb + div_up(x % 1000000000 * ppb, 1000000000);
}

/*
 * k, see plan.h.  In millionths of a packet a round trip: rate x rtt_us / wire is
 * that, and at most 1e16.  Rounded up, which asks for more room and never for less.
 */
static void plan_rounds(const struct circuit *c, struct plan *p, struct notes *notes)
{
	uint64_t most = 1000000 / STALL_ROUND_TRIPS;
	uint64_t stalls = max_u64(div_up(c->rate * c->rtt_us, p->wire), 1000000);
	char loss[32];

	stalls = part_of(part_of(stalls, c->loss), c->loss);
	for (p->rounds = 1; stalls > most && p->rounds < ROUNDS_MAX; p->rounds++)
		stalls = part_of(stalls, c->loss);
	if (stalls > most)
		note(notes,
		     "--loss: with %s the window stalls about once in %" PRIu64
		     " round trips, for all of the %u rounds of repair that the buffers have room for",
		     format_loss(loss, sizeof(loss), c->loss),
		     max_u64(1000000 / stalls, 1), ROUNDS_MAX);
}

static void plan_buffers(const struct circuit *c, const struct facts *f,
			 struct plan *p, struct notes *notes)
{
	uint64_t windows = 2ULL * (p->rounds + 1) * p->wire;
	uint64_t want = windows * p->stream;

	if (want > INT_MAX) {
		note(notes,
		     "buffers of %" PRIu64
		     " bytes are more than the kernel takes; %d, so a loss may stall a full window",
		     want, INT_MAX);
		want = INT_MAX;
	}
	p->buffer = (uint32_t)want;
	want = min_u64(windows * p->fcwnd, (uint64_t)c->streams * p->buffer);
	p->need = div_up(2 * (want + (uint64_t)c->streams * STREAM_FLOOR), f->page);
	plan_memory(f, 0, p, notes);
}

/* @others: pages that other circuits need.  May be called again with more. */
void plan_memory(const struct facts *f, uint64_t others, struct plan *p,
		 struct notes *notes)
{
	uint64_t need = p->need + others, half = f->ram / f->page / 2;

	p->tcp_mem[0] = need;
	p->tcp_mem[1] = div_up(need * 5, 4);
	p->tcp_mem[2] = div_up(need * 3, 2);
	if (need <= half)
		return;
	/* said already if this circuit alone is too much */
	if (!others || p->need <= half)
		note(notes,
		     "full buffers would take %" PRIu64 " MiB, this machine has %" PRIu64
		     " MiB: tcp_mem ends at half of that, and under memory pressure the circuit falls far below its rate",
		     need * f->page >> 20, f->ram >> 20);
	p->tcp_mem[0] = half;
	p->tcp_mem[1] = half * 5 / 4;
	p->tcp_mem[2] = half * 3 / 2;
}

int plan_make(const struct circuit *c, const struct facts *f, struct plan *p,
	      struct notes *notes, struct err *e)
{
	int rc;

	memset(p, 0, sizeof(*p));
	rc = plan_segment(c, f, p, e);
	if (!rc && c->ctcpd)
		return plan_paced(c, f, p, e);
	if (!rc)
		rc = plan_window(c, p, notes, e);
	if (!rc)
		rc = plan_limit(c, f, p, notes, e);
	if (!rc && has_bucket(c))
		rc = plan_bucket(c, f, p, notes, e);
	if (!rc && c->shaper == SHAPER_FQ)
		rc = plan_fq(c, p, notes, e);
	if (rc)
		return rc;
	plan_rounds(c, p, notes);
	plan_buffers(c, f, p, notes);
	return 0;
}
