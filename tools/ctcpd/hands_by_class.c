// SPDX-License-Identifier: GPL-2.0
/*
 * Pacing by classes, as one of the ways that hands.h has: see hands_class.h.
 */
#include "hands_class.h"

static int fit(struct hands *h, int ifindex, bool one_lock, bool acts, struct err *e)
{
	(void)h;
	(void)acts;
	return hands_fit(ifindex, one_lock, e);
}

static int apply(struct hands *h, const struct pace *list, uint32_t n, bool one_lock,
		 struct hands_result *r, struct err *e)
{
	(void)h;
	return hands_apply(list, n, one_lock, r, e);
}

static int let_go(struct hands *h, const struct pace *one, bool device, struct hands_result *r,
		  struct err *e)
{
	(void)h;
	return hands_let_go(one, device, r, e);
}

static int look(struct hands *h, hand_fn each, void *data, struct err *e)
{
	(void)h;
	return hands_look(each, data, e);
}

static int unrecorded(struct hands *h, int ifindex, struct err *e)
{
	(void)h;
	return hands_unrecorded(ifindex, e);
}

/* A class is the kernel's once it is set. */
static int tick(struct hands *h, struct err *e)
{
	(void)h;
	(void)e;
	return 0;
}

static void end(struct hands *h)
{
	(void)h;
}

const struct hands_ops hands_by_class = {
	.name = "classes",
	.by_hand = "as root, ctcp-setup show tells what is ctcpd's, and ctcp-setup undo DEV takes back all on DEV, circuits included",
	.fit = fit, .apply = apply, .let_go = let_go, .look = look, .unrecorded = unrecorded,
	.tick = tick, .close = end,
};
