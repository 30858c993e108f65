// SPDX-License-Identifier: GPL-2.0
/*
 * What somebody has changed of ours, as the log and ctcpd why have it.
 */
#include <errno.h>
#include <stdio.h>

#include "diff.h"
#include "hands_class.h"
#include "item.h"
#include "qdisc.h"

/* Ours is HTB's, whose number of a class says nothing to anybody. */
static void why_root(const struct change *c, char *why, size_t len)
{
	char now[96];
	struct qdisc q;

	if (qdisc_parse(c->from, &q))
		q.state = QDISC_UNFINISHED;
	if (q.state == QDISC_FOREIGN)
		snprintf(why, len, "the root qdisc of %s is %s %x: now, which somebody else set up",
			 c->name, q.kind, q.handle >> 16);
	else if (q.state == QDISC_DEFAULT)
		snprintf(why, len, "the root qdisc of %s was removed, and is the kernel's own now",
			 c->name);
	else
		snprintf(why, len, "the root qdisc of %s is %s now, as somebody changed it",
			 c->name,
			 item_describe(c->kind, c->name, c->from, now, sizeof(now)));
}

void hands_why_changed(const struct change *c, char *why, size_t len)
{
	char now[96], ours[96];

	if (c->kind == ITEM_QDISC)
		why_root(c, why, len);
	else
		snprintf(why, len, "%s %s is \"%s\", and was set to \"%s\"",
			 item_kind_name(c->kind), c->name,
			 item_describe(c->kind, c->name, c->from, now, sizeof(now)),
			 item_describe(c->kind, c->name, c->to, ours, sizeof(ours)));
}

/* The path last: of a sentence that is too long for the history the end is cut off. */
int hands_why_unrecorded(const char *dev, const char *path, struct err *e)
{
	return err_set(e, -EPERM,
		       "root qdisc htb %x: of %s is as ctcpd sets one up, but no state tells of it any more: it stays, and goes on pacing; tc qdisc del dev %s root removes it (the state was %s)",
		       OUR_MAJOR, dev, dev, path);
}
