/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The BPF program that paces sockets (pace.bpf.c) in the kernel: loaded, attached to the root of
 * cgroup v2, pinned; its maps those that are pinned already, if there are.
 */
#ifndef CTCPD_PACE_LOAD_H
#define CTCPD_PACE_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "pace_pins.h"
#include "pace_slot.h"

struct bpf_link;
struct bpf_object;

enum pace_pass {
	PACE_COUNT,	/* who runs */
	PACE_SET,	/* each socket's rate */
	PACE_PASSES,
};

struct pace_load {
	char dir[PACE_DIR];	/* where it is pinned, "" = nowhere */
	int lock;		/* that folder, held */
	struct bpf_object *object;
	struct bpf_link *event;	/* of pace_event() */
	struct bpf_link *pass[PACE_PASSES];
	struct pace_slot *slots;	/* PACE_SLOTS, the kernel's own */
	int trie;
};

extern const unsigned char pace_object[], pace_object_end[];

/* -EACCES, -EOPNOTSUPP, -EAGAIN and others: hands_bpf.h */
int pace_load(struct pace_load *l, struct err *e);
/* @unpins: nothing stays in the kernel.  Else what is pinned does. */
void pace_unload(struct pace_load *l, bool unpins);

/* Of this network namespace: as pace_pins_look() */
int pace_is_pinned(struct err *e);
void pace_drop_others(struct notes *notes);
/* Whether it is still pinned, which somebody may have ended */
bool pace_stays(const struct pace_load *l);
/* Whether sockets that begin are still followed, which somebody may have ended */
bool pace_is_attached(const struct pace_load *l);
/* A pass to come, so that what is done before can count on it: a descriptor, or -errno */
int pace_pass_open(const struct pace_load *l, enum pace_pass pass);
/* All sockets; closes it */
int pace_pass_run(int fd);

#endif
