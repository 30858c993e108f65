// SPDX-License-Identifier: GPL-2.0
/*
 * Pacing by sockets, as one of the ways that hands.h has: see hands_bpf.h.
 *
 * It is for devices that classes do not fit for their one lock.  The program is loaded with the
 * first prefix that is paced, or with what an earlier run has left pinned, and goes with the last
 * one.  No qdisc is touched, so that somebody's own at the root is in nobody's way.
 *
 * An administrator comes first: theirs.h, asked with each change, and with each look, as nothing
 * of his takes ours out of his way.  What else somebody may change, and what of it is seen:
 *
 *  the program	detached, or its pins removed: all is stood down from
 *  a prefix	taken out of its map: that one is
 *  a socket	another SO_MAX_PACING_RATE is its application's own, whoever has set it: a lower
 *		one stays, and each comes back
 *
 * To let go of it is to take it back: nothing else would.  A pass over all sockets costs the same
 * for one remote and for all, so that is for the next batch.
 */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "hands_bpf.h"
#include "hands_class.h"
#include "out.h"
#include "theirs.h"

/* --- the program ---------------------------------------------------------- */

/* What keeps this process from it concerns sockets alone: classes go on. */
static int load(struct hands *h, struct err *e)
{
	int rc = h->bpf ? 0 : hands_bpf_open(&h->bpf, e);

	return rc && rc != -EAGAIN && rc != -ENOMEM ? -EOPNOTSUPP : rc;
}

static void end(struct hands *h)
{
	hands_bpf_close(h->bpf);
	h->bpf = NULL;
}

/* Where nothing but its queues keeps classes from the device, they are the operator's to choose. */
static void tell_of_classes(int ifindex, bool one_lock, struct err *e)
{
	struct err why = *e, unsaid;

	if (hands_fit(ifindex, one_lock, &unsaid) != -EOPNOTSUPP ||
	    hands_fit(ifindex, true, &unsaid))
		return;
	err_set(e, 0, "%.600s; with one-lock = yes it is paced by classes", why.text);
}

static int fit(struct hands *h, int ifindex, bool one_lock, bool acts, struct err *e)
{
	int rc = hands_takes_device(ifindex, e);

	if (rc == -EOPNOTSUPP || rc == -ENODEV)
		return rc;
	rc = acts || h->bpf ? load(h, e) : hands_bpf_can(e);
	if (rc == -EOPNOTSUPP)
		tell_of_classes(ifindex, one_lock, e);
	return rc;
}

/* --- changes -------------------------------------------------------------- */

static int check_one(const struct theirs *t, const struct pace *one, struct hands_result *r,
		     struct err *e)
{
	char dev[IFNAMSIZ];

	if (!one->rate)
		return 0;
	if (!if_indextoname((unsigned int)one->ifindex, dev))
		return err_set(e, -ENODEV, "there is no device of index %d any more", one->ifindex);
	return theirs_check(t, one, dev, &r->device, e);
}

static int check_all(const struct pace *list, uint32_t n, struct hands_result *r, struct err *e)
{
	struct theirs t;
	uint32_t i;
	int rc = theirs_read(&t, e);

	if (rc)
		return rc;
	for (i = 0; i < n && !rc; i++) {
		rc = check_one(&t, &list[i], r, e);
		if (rc)
			r->at = i;
	}
	theirs_free(&t);
	return rc;
}

/* The first that is to be paced stands for its device, and the next try for the next one. */
static void blame_machine(const struct pace *list, uint32_t n, struct hands_result *r)
{
	uint32_t i;

	for (i = 0; i < n && r->at == HANDS_NOBODY; i++)
		if (list[i].rate)
			r->at = i;
}

static int apply(struct hands *h, const struct pace *list, uint32_t n, bool one_lock,
		 struct hands_result *r, struct err *e)
{
	int rc;

	memset(r, 0, sizeof(*r));
	r->at = HANDS_NOBODY;
	/* what an earlier run left half done is ended when the program is loaded */
	if (!n) {
		hands_bpf_drop_others(&r->notes);
		return 0;
	}
	rc = check_all(list, n, r, e);
	if (rc)
		return rc;
	rc = load(h, e);
	if (rc == -EOPNOTSUPP)
		blame_machine(list, n, r);
	if (rc == -EOPNOTSUPP && r->at != HANDS_NOBODY)
		tell_of_classes(list[r->at].ifindex, one_lock, e);
	return rc ?: hands_bpf_apply(h->bpf, list, n, r, e);
}

/* --- those of devices that are gone --------------------------------------- */

struct taking {
	struct pace *list;
	uint32_t n;
};

static int take(const struct hand *hand, void *data)
{
	struct taking *t = data;
	struct pace *more;

	if (hand->state != HAND_GONE)
		return 0;
	more = grown(t->list, t->n, sizeof(*more));
	if (!more)
		return -ENOMEM;
	t->list = more;
	more[t->n] = hand->pace;
	more[t->n++].rate = 0;
	return 0;
}

static int take_gone(struct hands *h, struct err *e)
{
	struct taking t = { 0 };
	struct hands_result r;
	int rc = hands_bpf_look(h->bpf, take, &t, e);

	if (rc == -ENOMEM)
		err_set(e, rc, "out of memory");
	if (!rc && t.n)
		rc = hands_bpf_apply(h->bpf, t.list, t.n, &r, e);
	free(t.list);
	return rc;
}

/* --- looking -------------------------------------------------------------- */

struct looker {
	hand_fn each;
	void *data;
	const struct theirs *theirs;
};

static int look_at(const struct hand *was, void *data)
{
	const struct looker *l = data;
	struct hand h = *was;
	struct err why;

	if (h.state == HAND_SET && theirs_check(l->theirs, &h.pace, h.dev, &h.device, &why)) {
		h.state = HAND_CHANGED;
		out_copy(h.why, sizeof(h.why), why.text);
	}
	return l->each(&h, l->data);
}

/* Nothing is loaded to look at nothing. */
static int look(struct hands *h, hand_fn each, void *data, struct err *e)
{
	struct looker l = { .each = each, .data = data };
	struct theirs t;
	int rc = h->bpf ? 1 : hands_bpf_is_pinned(e);

	if (rc <= 0)
		return rc;
	rc = load(h, e) ?: theirs_read(&t, e);
	if (rc)
		return rc;
	l.theirs = &t;
	rc = hands_bpf_look(h->bpf, look_at, &l, e);
	theirs_free(&t);
	return rc;
}

/* --- with each poll ------------------------------------------------------- */

/* What was on a device that is gone would keep its place, and all that is pinned, for ever. */
static int tick(struct hands *h, struct err *e)
{
	int rc;

	if (!h->bpf)
		return 0;
	rc = take_gone(h, e) ?: hands_bpf_tick(h->bpf, e);
	if (!rc && !hands_bpf_is_used(h->bpf))
		end(h);
	return rc;
}

const struct hands_ops hands_by_socket = {
	.name = "sockets",
	.by_hand = "as root, rm -r " PACE_PINS " takes it back for connections that begin, and rm /run/ctcp-setup/ctcpd-*.lock tells ctcpd",
	.fit = fit, .apply = apply, .look = look, .tick = tick, .close = end,
};
