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
 * What all return, with a sentence:
 *	-EPERM		it is somebody else's, or was changed by him: stand down, say so once
 *	-EALREADY	a run of an administrator's was cut short, or waits to be confirmed
 *	-EAGAIN		a ctcp-setup is at work: at the next poll
 *	-ENODEV, -ENETDOWN	the device is gone, or down
 *	-EOPNOTSUPP	not by classes of this device: hands_fit()
 *	-EACCES		the process may not: CAP_NET_ADMIN
 *	others		of the kernel, or of the state's file; nothing was changed
 */
#ifndef CTCPD_HANDS_CLASS_H
#define CTCPD_HANDS_CLASS_H

#include "err.h"
#include "paced.h"

#define HANDS_NOBODY	UINT32_MAX

enum hand_state {
	HAND_SET,	/* as we set it */
	HAND_CHANGED,	/* by somebody else, or taken away */
	HAND_DOWN,	/* its device is down, or cannot be asked at present */
	HAND_GONE,	/* with its device */
};

/* One that the state tells of */
struct hand {
	struct pace pace;
	char dev[IFNAMSIZ];	/* as it is called now */
	char name[TCP_CIRCUIT_NAME_LEN];	/* ctcpd-N, in ctcp-setup's output */
	enum hand_state state;
	bool device;		/* changed is what all of the device have: its root, all else */
	char why[256];		/* what is, and what we set; "" = HAND_SET */
};

typedef int (*hand_fn)(const struct hand *h, void *data);

struct hands_result {
	uint32_t changed;	/* settings of the kernel's */
	uint32_t at;		/* what failed, in the list; HANDS_NOBODY = no single one */
	bool device;		/* and all others on its device */
	struct notes notes;	/* what was left, what a rollback met */
};

/* Whether the device may have classes; @one_lock: also with several queues, by its operator */
int hands_fit(int ifindex, bool one_lock, struct err *e);

/* Each that the state tells of; nothing is locked.  What @each returns ends it. */
int hands_look(hand_fn each, void *data, struct err *e);

/*
 * All of @list, or nothing.  One that is as it should be is left as it is, so that the same
 * again does nothing; what an earlier run of ours left half done is taken back first, also by
 * an empty list.  What was on a device that is gone is forgotten.
 */
int hands_apply(const struct pace *list, uint32_t n, bool one_lock, struct hands_result *r,
		struct err *e);

/*
 * What somebody changed is his: the state forgets it, and the kernel has it as it is.
 * @device: and all else that we have on its device.
 */
int hands_let_go(const struct pace *one, bool device, struct hands_result *r, struct err *e);

#endif
