/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hands by classes: what is paced, as classes of one root htb of each device, set up through
 * the state of ctcp-setup and as it sets up circuits: all of a batch or nothing of it, and
 * killed in between it is known what to take back.
 *
 * The traffic keeps its congestion control, its window and its route: of a remote there are a
 * class, a queue below it, and the filters that lead to it.  A rate is changed in place.
 *
 * An administrator comes first.  A device on which he has a circuit, a prefix that is a
 * circuit's of his, a root qdisc that somebody made are left alone; and what somebody has
 * changed of ours is let go of and stays as he has it.  His commands take our classes away
 * where they are in the way.  A run of his that was cut short is his to end.
 *
 * What all return is in hands.h; -EALREADY and -EAGAIN are about ctcp-setup, -EACCES is about
 * CAP_NET_ADMIN, and -EOPNOTSUPP what hands_fit() tells.
 */
#ifndef CTCPD_HANDS_CLASS_H
#define CTCPD_HANDS_CLASS_H

#include "hands.h"
#include "plan.h"

struct change;			/* diff.h */
struct nl;			/* nl.h */
struct qdisc;			/* qdisc.h */
struct state;			/* state.h */
struct store;			/* store.h */

/*
 * Of a device's facts alone: -EOPNOTSUPP, one lock would cost it too much; -ENETDOWN, that is not
 * known, as it tells its speed only while it has a link.
 */
int hands_check_lock(const struct facts *f, bool one_lock, struct err *e);
/* Whether the device may have classes; @one_lock: also with several queues, by its operator */
int hands_fit(int ifindex, bool one_lock, struct err *e);
/* Whether remotes by it are paced in any way: not by the loopback, nor by a bridge */
int hands_takes_device(int ifindex, struct err *e);
int hands_read_device(int ifindex, struct hands_device *d, struct err *e);

/* Each that the state tells of; nothing is locked */
int hands_look(hand_fn each, void *data, struct err *e);

/*
 * All of @list, or nothing.  One that is as it should be is left as it is, so that the same
 * again does nothing; what an earlier run of ours left half done is taken back first, also by
 * an empty list.  What was on a device that is gone is forgotten.
 */
int hands_apply(const struct pace *list, uint32_t n, bool one_lock, struct hands_result *r,
		struct err *e);

/*
 * hands_record.c: the root qdisc is as ctcpd sets one up, and the state has nothing of it.  -EPERM:
 * so it is, with a sentence for a person.
 */
bool hands_is_unrecorded(const struct state *st, int ifindex, const struct qdisc *root);
int hands_check_record(struct nl *nl, const struct state *st, const struct store *s, int ifindex,
		       const char *dev, struct err *e);
/* By a state and a socket of its own */
int hands_unrecorded(int ifindex, struct err *e);

/* hands_why.c: what is there now in place of ours, a sentence for a person */
void hands_why_changed(const struct change *c, char *why, size_t len);
/* -EPERM; @path: where the state was */
int hands_why_unrecorded(const char *dev, const char *path, struct err *e);

/*
 * What somebody changed is his: the state forgets it, and the kernel has it as it is.
 * @device: and all else that we have on its device.
 */
int hands_let_go(const struct pace *one, bool device, struct hands_result *r, struct err *e);

#endif
