/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which circuit a connection belongs to, as the module decides (circuit/match.h): that
 * with the longest prefix that its peer is in; of two as long, that with its outgoing
 * device, then that with its mark.
 *
 * As in the module a lookup tries each shape in use (prefix length, with a device or
 * not, with a mark or not), the most specific first, so that its cost grows with the
 * shapes and not with the circuits.
 */
#ifndef CTCP_BELONG_H
#define CTCP_BELONG_H

#include "live.h"

#define SHAPES	((128 + 1) * 4)

struct belong_rule {
	struct prefix to;
	uint32_t ifindex, mark;		/* 0 = any */
	const struct live *circuit;
};

struct rules {
	uint32_t n;
	struct belong_rule *list;		/* in order */
	bool used[2][SHAPES];		/* of IPv4, of IPv6 */
	bool by_device;			/* some have one */
};

int rules_make(struct rules *rs, const struct lives *ls);
void rules_free(struct rules *rs);
const struct live *rules_match(const struct rules *rs, const struct prefix *peer,
			       uint32_t ifindex, uint32_t mark);

#endif
