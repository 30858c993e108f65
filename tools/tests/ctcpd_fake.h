/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A host with devices, a kernel that paces, and remotes that take so much: what the tests of
 * act see in place of hands_class.h, hands_bpf.h, theirs.h, the names of devices, and the remotes
 * that were polled.
 */
#ifndef CTCPD_TEST_FAKE_H
#define CTCPD_TEST_FAKE_H

#include "ctcpd_history.h"
#include "ctcpd_said.h"

#include "ctcpd/act_inside.h"
#include "ctcpd/act_observe.h"
#include "ctcpd/hands_bpf.h"
#include "ctcpd/hands_class.h"
#include "ctcpd/theirs.h"

#define WORLD_REMOTES	64U
#define WORLD_DEVICES	4U
#define POLL_S		5

/* Of a prefix, or of a device: what hands_apply() does about it */
struct refusal {
	struct prefix to;	/* family 0: none */
	int ifindex;		/* 0: by any device */
	int rc;
	bool device;		/* so it says */
};

/* What the remote takes, and its counters */
struct sim {
	struct remote remote;
	uint64_t takes;		/* bytes/s on the wire */
	uint64_t shares;	/* bytes/s of a hop that those of its subnet share, 0 = none ... */
	bool gentle;		/* ... which queues what is more, and drops nothing */
	bool idle;
	bool loser;		/* one of its users, of 10 % of all, loses what he sends */
};

struct world {
	struct place *place;
	struct config config;
	struct log log;
	struct said said;
	struct keep keep;
	struct act *act;
	struct sim sims[WORLD_REMOTES];
	uint32_t n;
	int64_t now;
	uint64_t us;
	char devices[WORLD_DEVICES][IFNAMSIZ];	/* by index from 1 on; "" = there is none */
	struct paced kernel, state;
	struct prefix changed[WORLD_REMOTES];	/* by somebody, in the kernel */
	bool changed_device;
	uint32_t n_changed;
	struct refusal refusals[4];
	uint32_t n_refusals;
	int look_rc, let_go_rc, fit_rc, record_rc;	/* of the next ones */
	uint32_t applies, settings, looks, let_goes, fits;	/* calls; of the kernel's changed */
	uint32_t batch;			/* changes of the last batch that was made */
	int fit_device;			/* of which fit_rc is, 0 = of all */
	struct hands_device device;	/* each */
	struct paced sockets;		/* paced by BPF, and so pinned */
	int takes_rc, can_rc, open_rc, tick_rc, theirs_rc, pinned_rc;
	bool others;			/* another version has pinned something, too */
	bool loaded;			/* the program */
	bool detached;			/* by somebody */
	struct prefix theirs;		/* an administrator's, family 0: none */
	int theirs_device;		/* ... */
	uint32_t loads, ticks, socket_settings, socket_batches;
};

extern struct world *world;

#endif
