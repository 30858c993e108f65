/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Segments left in flight by streams that gave up their shares at once
 *
 * They take part of the window for a round trip of the stream that sent them, which
 * may be longer or shorter than that of whoever wants the window next.  So they are
 * kept as batches, each with the time at which it is over.  Of more than LEFT_BATCHES
 * the two that end closest to each other become one, which ends at their mean, weighted
 * by their segments: segments x time stays what it was, so that whoever is reset over
 * and over takes neither more nor less of the window than is in flight.
 *
 * Times are in us of a clock that never goes back to 0: a batch that is over stays until
 * the next is added, however late.
 *
 * Arithmetic alone: also compiled in user space, by its unit test.
 */
#ifndef _CIRCUIT_LEFT_H
#define _CIRCUIT_LEFT_H

#include <linux/math64.h>
#include <linux/types.h>

#define LEFT_BATCHES	8

struct left_batch {
	u32	segments;
	u64	until;		/* us */
};

/* In the order of their ends; a batch of no segments is a free place, at the end */
struct left {
	struct left_batch	batch[LEFT_BATCHES];
};

static inline bool left_is_over(const struct left_batch *b, u64 now)
{
	return !b->segments || b->until <= now;
}

/* Segments that are in flight at @now */
static inline u32 left_segments(const struct left *l, u64 now)
{
	u32 i, sum = 0;

	for (i = 0; i < LEFT_BATCHES; i++)
		if (!left_is_over(&l->batch[i], now))
			sum += l->batch[i].segments;
	return sum;
}

/* How long until all are over, us */
static inline u32 left_lasts(const struct left *l, u64 now)
{
	u32 i, lasts = 0;

	for (i = 0; i < LEFT_BATCHES; i++)
		if (!left_is_over(&l->batch[i], now) && l->batch[i].until - now > lasts)
			lasts = l->batch[i].until - now;
	return lasts;
}

/* Segments are 2^31 at most, as a window is much less; @a ends first, by less than 2^32 us. */
static inline struct left_batch left_mean(struct left_batch a, struct left_batch b)
{
	u32 segments = a.segments + b.segments;
	u64 later = div64_u64((b.until - a.until) * b.segments, segments);

	return (struct left_batch){ segments, a.until + later };
}

/* Of @n batches the two closest to each other become one. */
static inline void left_merge(struct left_batch *batch, u32 n)
{
	u32 i, closest = 1;

	for (i = 2; i < n; i++)
		if (batch[i].until - batch[i - 1].until <
		    batch[closest].until - batch[closest - 1].until)
			closest = i;
	batch[closest] = left_mean(batch[closest - 1], batch[closest]);
	for (i = closest; i < n; i++)
		batch[i - 1] = batch[i];
}

/* From @now on @segments (at least 1) more are in flight, for @lasts us. */
static inline void left_add(struct left *l, u64 now, u32 segments, u32 lasts)
{
	struct left_batch all[LEFT_BATCHES + 1], new = { segments, now + lasts };
	bool placed = false;
	u32 i, n = 0;

	if (!segments)
		return;

	for (i = 0; i < LEFT_BATCHES; i++) {
		const struct left_batch *b = &l->batch[i];

		if (left_is_over(b, now))
			continue;
		if (!placed && b->until > new.until) {
			all[n++] = new;
			placed = true;
		}
		all[n++] = *b;
	}
	if (!placed)
		all[n++] = new;
	if (n > LEFT_BATCHES)
		left_merge(all, n--);
	for (i = 0; i < LEFT_BATCHES; i++)
		l->batch[i] = i < n ? all[i] : (struct left_batch){ 0, 0 };
}

/* One segment that was to be over at @until, or about then, is accounted for elsewhere. */
static inline void left_remove(struct left *l, u64 now, u64 until)
{
	struct left_batch *nearest = NULL;
	u64 off, least = U64_MAX;
	u32 i;

	for (i = 0; i < LEFT_BATCHES; i++) {
		if (left_is_over(&l->batch[i], now))
			continue;
		off = l->batch[i].until > until ? l->batch[i].until - until :
						  until - l->batch[i].until;
		if (off < least) {
			least = off;
			nearest = &l->batch[i];
		}
	}
	if (nearest)
		nearest->segments--;
}

#endif /* _CIRCUIT_LEFT_H */
