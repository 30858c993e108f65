/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Admission: what the circuits of one wire have together is no more than it carries.
 *
 * A wire is a device and all that sends by it: VLANs, macvlans and such, also one on top
 * of another.  It carries its speed, if that is known, and no more than its uplink, if a
 * circuit states one (--uplink): a port of 100 Gbit/s may lead to a service of 10.  Of a
 * wire there is one uplink: circuits that state it must state the same.
 *
 * A wire's sum is the rates of all its circuits, and the rates that were stated for what
 * is in no class (--rest), once for each device.  A sum that is too large is refused by
 * the name of a circuit that this run adds without --overbook: the first that does not fit
 * beside all others that stand, and those before it.  A sum to which the run adds none is not
 * looked at, as it was admitted before.
 */
#ifndef CTCP_ADMIT_H
#define CTCP_ADMIT_H

#include "circuit.h"

/* A circuit, as admission sees it. */
struct load {
	const struct circuit *circuit;
	int ifindex;		/* of its device */
	int wire;		/* index of the device whose wire it takes */
	const char *wire_name;
	uint64_t speed;		/* of that device, bytes/s, 0 = not known */
	bool added;		/* by this run */
};

/* @refused: which circuit, where that is the reason (-ERANGE, -EEXIST); sorts @list */
int admit(struct load *list, uint32_t n, const struct circuit **refused, struct err *e);
uint64_t wire_capacity(uint64_t speed, uint64_t uplink);

#endif
