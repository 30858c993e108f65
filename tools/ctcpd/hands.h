/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What makes the kernel pace, in one of several ways, which act.c takes by device:
 *
 *	classes	one htb at the root of the device (hands_class.h): below 20 Gbit/s, one queue,
 *		or several if the operator says so
 *	sockets	each socket's own pacing rate (hands_by_socket.c): where one lock would cost
 *		too much
 *
 * Those of a device that the first way fits are paced by it; the next one is for what does not
 * fit that.  A set of changes is made by one of them, all of it or nothing.
 *
 * What all return, with a sentence:
 *	-EPERM		it is somebody else's, or was changed by him: stand down, say so once
 *	-EALREADY	a run of an administrator's was cut short, or waits to be confirmed
 *	-EAGAIN		somebody is at work: at the next poll
 *	-ENODEV, -ENETDOWN	the device is gone; it is down, or has no link by which to know
 *			what fits it
 *	-EOPNOTSUPP	not so, of this device or on this machine
 *	-EACCES		the process may not, of any device
 *	others		of the kernel, or of a file; nothing was changed
 */
#ifndef CTCPD_HANDS_H
#define CTCPD_HANDS_H

#include "err.h"
#include "paced.h"

#define HANDS_NOBODY	UINT32_MAX

enum hand_state {
	HAND_SET,	/* as we set it */
	HAND_CHANGED,	/* by somebody else, or taken away */
	HAND_DOWN,	/* its device is down, or cannot be asked at present */
	HAND_GONE,	/* with its device */
};

/* One that is in force, as far as what we keep of it tells */
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

/* What of a device decides by which hands it is paced */
struct hands_device {
	uint64_t speed_mbit;	/* 0 = unknown */
	uint32_t tx_queues;
};

enum hands_kind {
	HANDS_CLASSES,
	HANDS_SOCKETS,
	HANDS_KINDS,
	HANDS_NONE = HANDS_KINDS,
};

struct hands_bpf;

struct hands {
	const struct hands_ops *ops;
	struct hands_bpf *bpf;	/* of sockets; NULL = not loaded at present */
};

struct hands_ops {
	const char *name;	/* in JSON and metrics, never changed */
	/* How root takes back what this process may not, as the end of a sentence */
	const char *by_hand;
	/*
	 * Whether the device can be paced so.  @one_lock: classes also with several queues, by
	 * the operator.  @acts: what only a try tells is tried; else it is what others would be
	 * able to.
	 */
	int (*fit)(struct hands *h, int ifindex, bool one_lock, bool acts, struct err *e);
	/* What an earlier run left half done is taken back first, also by an empty list. */
	int (*apply)(struct hands *h, const struct pace *list, uint32_t n, bool one_lock,
		     struct hands_result *r, struct err *e);
	/*
	 * What somebody changed is not ours any more.  @device: and all else on its device.
	 * NULL: to take it back is all there is, which the next step does with what else changes.
	 */
	int (*let_go)(struct hands *h, const struct pace *one, bool device,
		      struct hands_result *r, struct err *e);
	/* Each that is in force.  What @each returns ends it. */
	int (*look)(struct hands *h, hand_fn each, void *data, struct err *e);
	/*
	 * Of a device on which what was in force is told of no more: -EPERM, it stands all the
	 * same, but nothing tells whose it is.  NULL: what is told of is what there is.
	 */
	int (*unrecorded)(struct hands *h, int ifindex, struct err *e);
	/* With each poll */
	int (*tick)(struct hands *h, struct err *e);
	/* What is paced stays paced. */
	void (*close)(struct hands *h);
};

extern const struct hands_ops hands_by_class, hands_by_socket;

static inline const struct hands_ops *hands_ops(enum hands_kind kind)
{
	return kind == HANDS_CLASSES ? &hands_by_class : &hands_by_socket;
}

#endif
