/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the daemon and its BPF program (pace.bpf.c) share: of each prefix that is paced a slot,
 * found by a trie of pace_key, and of each socket a mark.
 *
 * A socket's pacing rate holds that socket alone, so that the rate of a prefix is divided:
 *
 *  running	sockets that use at least half of their share.  They divide evenly what the light
 *		ones leave.
 *  light	sockets that use less: an idle one, one that its application, its receiver or the
 *		path holds.  Each may go up to what it would have as one more that runs.
 *
 * Until it was measured, a socket runs that is new or has data to send.  Of what is divided the
 * sum is the rate, but for the time until the next measurement: a light socket that begins to
 * send may have its share beside what all others have, and what one that runs leaves of its
 * share, up to a half, nobody has.
 *
 * Rates of a slot and shares are counted as a qdisc counts; a socket's pacing rate is of payload,
 * as TCP counts it, unless fq paces it.
 */
#ifndef CTCPD_PACE_SLOT_H
#define CTCPD_PACE_SLOT_H

#include <linux/types.h>

/*
 * Of what the maps hold: another one with each change of it, so that what another version has
 * pinned is not taken for ours (pace_pins.h).
 */
#define PACE_LAYOUT	1U
#define PACE_SLOTS	8192U	/* twice PACED_MAX: who goes has his until no socket has it */
#define PACE_NONE	(~0ULL)	/* bytes/s: no limit, as SO_MAX_PACING_RATE has it */
/* bytes/s, 34 Gbit/s: bpf_setsockopt() takes an int of it, of which ~0 is none */
#define PACE_LIMIT	0xfffffffeULL
#define PACE_LEAST	1000ULL	/* bytes/s of one socket, however many divide */
#define PACE_MEASURE_US	100000ULL	/* less than that tells nothing of what a socket uses */

/* Of a trie (LPM): @bits of what follows it */
struct pace_key {
	__u32 bits;
	__u32 ifindex;		/* of the device by which it is sent */
	__u32 family;		/* AF_INET, also of a mapped address; AF_INET6; 0 = a free slot */
	__u8 addr[16];		/* network order */
};

#define PACE_KEY_BITS(len) (64U + (len))

struct pace_slot {
	struct pace_key key;
	__u32 generation;	/* each prefix that has it has another */
	__u64 rate;		/* bytes/s; 0: it goes */
	__s64 light;		/* bytes/s that the light ones use */
	__s32 running;
	__s32 lights;		/* of those that use anything */
	/* by the pass that counts, in their place at its end */
	__s64 light_counted;
	__s32 running_counted;
	__s32 lights_counted;
	__u32 rtt_us;		/* as it was given, for who reads it back */
	__u32 unused;
};

struct pace_mark {
	__u64 set;		/* bytes/s that we set, 0 = nothing of ours is in force */
	__u64 own;		/* SO_MAX_PACING_RATE without us */
	__u64 share;		/* bytes/s */
	__u64 bytes;		/* sent by then, with what was sent again */
	__u64 at_us;
	__u64 light;		/* bytes/s that it uses, 0 = it runs, or is idle */
	__u32 slot;
	__u32 generation;	/* 0 = it is of no slot */
	__u32 runs;
	__u32 unused;
};

static inline __u64 pace_used(__u64 bytes, __u64 us)
{
	if (!us)
		return 0;
	if (bytes > PACE_NONE / 1000000)
		return bytes / us * 1000000;
	return bytes * 1000000 / us;
}

/* The payload of segments that are @bytes with their headers, and the other way round */
static inline __u64 pace_payload(__u64 bytes, __u32 mss, __u32 headers)
{
	return mss ? bytes * mss / (mss + headers) : bytes;
}

static inline __u64 pace_on_wire(__u64 bytes, __u32 mss, __u32 headers)
{
	return mss ? bytes * (mss + headers) / mss : bytes;
}

static inline int pace_is_light(__u64 used, __u64 share)
{
	return used < share / 2;
}

/*
 * What a running one of @running has.  However much the light ones use, it is not less than
 * with all of them divided evenly.  Counts that are off for a while do no harm.
 */
static inline __u64 pace_share(__u64 rate, __s64 light, __s32 running, __s32 lights)
{
	__u64 n = running > 0 ? running : 1, all = n + (lights > 0 ? lights : 0);
	__u64 left = light <= 0 ? rate : (__u64)light < rate ? rate - light : 0;
	__u64 share = left / n, even = rate / all;

	if (share < even)
		share = even;
	return share < PACE_LEAST ? PACE_LEAST : share < PACE_LIMIT ? share : PACE_LIMIT;
}

/* One that is light: as if it ran, too */
static inline __u64 pace_light_share(__u64 rate, __s64 light, __s32 running, __s32 lights,
				     __u64 used)
{
	return pace_share(rate, light - (__s64)used, running + 1, lights - (used > 0));
}

/* What is to be in force: an application's own lower limit stays. */
static inline __u64 pace_in_force(__u64 own, __u64 share)
{
	return own < share ? own : share;
}

#endif
