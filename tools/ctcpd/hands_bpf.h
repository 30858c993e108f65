/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hands by sockets: each socket's own pacing rate (SO_MAX_PACING_RATE), set from outside by BPF.
 * No qdisc and no lock is involved, so that devices of 20 Gbit/s and above and those of several
 * queues can be paced, for which hands_fit() (hands_class.h) has -EOPNOTSUPP.
 *
 * TCP paces by itself, with its own timer, all but the first ten segments of a connection; where
 * the socket sends by fq, fq does it in its place, by the same rate.  A socket whose rate was
 * taken back stays paced by TCP, at what its congestion control makes of window and round trip:
 * the kernel has no way back from that.
 *
 * A prefix is paced by device: that to which the socket's route leads, as the kernel has it
 * cached.  So one prefix may have a rate by each of two devices, and a socket that is rerouted
 * has its new rate with the next round trip, or tick.
 *
 * A class holds all sockets of a prefix together, a pacing rate one alone: pace_slot.h has how
 * the rate is divided, and by how much the sum may be off.  Sockets that began after the program
 * was attached follow within a round trip, those of before with hands_bpf_tick().
 *
 * An application's own SO_MAX_PACING_RATE stays: in force is the lower one of both, and what
 * was there comes back where pacing ends.  One that it sets later is seen at the next round trip
 * or tick.  One of 34 Gbit/s or more is left alone, as bpf_setsockopt(), which takes an int,
 * could not set it back; and no socket has more than that by us.
 *
 * A socket of which the congestion control is circuit is an administrator's, and not paced.  Only
 * sockets of the caller's network namespace are.
 *
 * What is paced is pinned below PACE_PINS, by the namespace's cookie: it stays in force when the
 * process ends, however it ends, and who opens it next goes on with it.
 *
 * What all return, with a sentence:
 *	-EACCES		the process may not: CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN
 *	-EOPNOTSUPP	this kernel or this machine cannot: no BTF, bpffs, cgroup2; or the program
 *			was built without libbpf 1.0 or clang
 *	-EAGAIN		another process has it open
 *	-ENODEV		the device is gone
 *	others		of the kernel; nothing was changed
 */
#ifndef CTCPD_HANDS_BPF_H
#define CTCPD_HANDS_BPF_H

#include "hands.h"

#define PACE_PINS	"/sys/fs/bpf/ctcpd"

/* Whether this kernel and this machine can, as far as it is known without a try: no -EACCES */
int hands_bpf_can(struct err *e);
/*
 * Whether something is pinned of this network namespace: 1, 0.  -EOPNOTSUPP: this process may not
 * see that; -ESTALE: it is another version's, which it cannot go on with
 */
int hands_bpf_is_pinned(struct err *e);
/* What is another version's goes, as far as it can: pace_pins.h */
void hands_bpf_drop_others(struct notes *notes);

/* With what is pinned already, none of it twice */
int hands_bpf_open(struct hands_bpf **h, struct err *e);
/* What is paced stays paced.  Where nothing is, nothing stays pinned, either. */
void hands_bpf_close(struct hands_bpf *h);

/*
 * All of @list, or nothing; in force for all sockets when it returns.  What is as it should be
 * is left as it is.  r->changed counts prefixes.
 */
int hands_bpf_apply(struct hands_bpf *h, const struct pace *list, uint32_t n,
		    struct hands_result *r, struct err *e);
/*
 * Divides anew, with each poll: two passes over all sockets of the namespace, about 1.4 us for
 * each in each; none where nothing is paced
 */
int hands_bpf_tick(struct hands_bpf *h, struct err *e);
/* Each that is paced.  What @each returns ends it. */
int hands_bpf_look(struct hands_bpf *h, hand_fn each, void *data, struct err *e);
/* Whether a prefix is paced, or one that was is still a socket's */
bool hands_bpf_is_used(const struct hands_bpf *h);
/* All is taken back; hands_bpf_close() leaves nothing then. */
int hands_bpf_undo(struct hands_bpf *h, struct hands_result *r, struct err *e);

#endif
