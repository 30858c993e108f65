/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who holds the rate of a circuit that names no shaper (--shaper auto), by what is
 * known of its device and of the circuits there.
 *
 * The first rule that fits, and why:
 *
 *  tbf	a VLAN device that the circuit has for itself, no prefix named, below
 *	LOCK_RATE: one bucket holds all that leaves by it, and the parent's queues stay.
 *  htb	the path gets H-TCP (--guarantee), which the module does not pace; tbf
 *	without a prefix.
 *  module	no prefix: traffic would not find a class.
 *  htb	others of the device have classes: its root is one lock already, and what
 *	is in no class would share that of all else.
 *  module	the device, or what its circuits have together, reaches LOCK_RATE, or
 *	the device has several queues: a root qdisc is one lock for all of them.  With
 *	small packets one lock costs 98.7 -> 6.7 Gbit/s.
 *  module	the root qdisc is somebody's, which is never replaced.
 *  module	it holds the others of the device: one way for all of them.
 *  module	the circuit is alone: nothing is gained by another queue.
 *  module	more than CLASSES_QUICK circuits: each new class makes the kernel walk
 *	all classes of the qdisc (tc_ctl_tclass(): tc_bind_tclass()); 1024 take 0.06 s,
 *	4096 take 0.76 s.
 *  module	the kernel has no htb or no flower.
 *  htb	else: a class holds all that leaves to the prefix, UDP too.
 *
 * "Module" is --shaper none --pace.  fq, at the root or below each queue, then spaces the
 * packets if it is there; nothing is replaced for it, as TCP's timers do without.
 * Whether the module is there makes no difference: without it nothing is set up.
 */
#ifndef CTCP_CHOOSE_H
#define CTCP_CHOOSE_H

#include "circuit.h"

#define LOCK_RATE	2500000000ULL	/* bytes/s, 20 gbit: what one lock carries */
#define CLASSES_QUICK	1024U		/* classes that are made in less than 0.1 s */
#define CHOICE_TEXT	320

/* A device, and its circuits with the one that is chosen for. */
struct site {
	char dev[IFNAMSIZ];
	bool vlan;
	bool foreign;		/* the root qdisc is somebody's */
	bool fq;		/* at the root, or below each queue of its mq */
	bool classes;		/* the kernel has htb and flower */
	char root[16];		/* kind of the root qdisc, "" = none */
	uint32_t tx_queues;
	uint64_t speed_mbit;	/* 0 = not known */
	uint64_t rate;		/* of all circuits, bytes/s */
	uint32_t circuits;
	uint32_t in_classes;	/* of the others, by htb */
	uint32_t unshaped;	/* of the others, by none */
};

struct choice {
	enum shaper shaper;
	bool pace;
	char reason[CHOICE_TEXT];	/* a sentence that names the device */
};

void site_count(struct site *s, const struct circuit *c);
void choose_shaper(const struct site *s, const struct circuit *c, struct choice *choice);

#endif
