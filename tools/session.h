/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the commands share: the kernel, the state, and facts -> plans -> wants -> diff.
 */
#ifndef CTCP_SESSION_H
#define CTCP_SESSION_H

#include <signal.h>

#include "args.h"
#include "commit.h"
#include "diff.h"
#include "kernel.h"
#include "live.h"
#include "order.h"
#include "pool.h"
#include "qdisc.h"
#include "site.h"
#include "store.h"

/* A circuit of the state with its numbers.  Of thousands of one device each is small. */
struct planned {
	const struct facts *facts;	/* of its device, as for all others on it; not NULL */
	struct plan plan;
	int rc;			/* why there are none: planned_why() says it */
	const char *why;
};

/* What was read of a device, for all circuits on it */
struct device {
	struct facts facts;
	struct device *next;
};

/* The largest of the numbers that circuits share, of those that wanted them so far */
struct most {
	bool known;
	bool asked;		/* by a circuit that this command sets */
	bool htcp;		/* the last was of a path with H-TCP, which wants no module */
	uint32_t buffer;
	uint64_t tcp_mem;	/* pages, below the first threshold: the others follow */
};

struct session {
	const struct args *args;
	struct kernel kernel;
	struct store store;
	struct state state;
	struct planned *planned;	/* of each circuit of the state */
	struct device *devices;		/* theirs */
	struct pool why;		/* why some have no numbers */
	struct order names;		/* of them, while they are planned */
	struct diff diff;
	struct outcome outcome;
	bool held;			/* the lock is; then: */
	sigset_t mask;			/* of signals, before */
	bool cut_short;			/* an earlier run was */
	bool theirs;			/* ... which was none of the daemon's */
	char failed_for[TCP_CIRCUIT_NAME_LEN];	/* circuit without a plan, "" = none */
	bool reverting;			/* what cannot be planned does not keep the others */
	bool ctcpd;			/* the daemon's run: administrators' circuits are aside */
	struct confirm caller;		/* of --confirm-within: this process */
	struct confirm waits;		/* as the state has it, also where that was cut short */
	struct most most;
	struct rest rest;		/* of htb, of one device: */
	int rest_of;			/* its index, 0 = of none so far */
	struct chosen chosen;		/* for circuits that name no shaper */
	struct lives lives;		/* show: the circuits that there are */
	struct notes notes;		/* what the plan decided, what was skipped */
	struct notes trouble;		/* what a recovery or a rollback met */
};

typedef int (*session_fn)(struct session *s, void *data, struct err *e);

int session_run(const struct args *a, session_fn run, void *data, struct err *e);
int session_hold(struct session *s, struct err *e);
void session_release(struct session *s);
int session_lock(struct session *s, struct err *e);
int session_lock_waiting(struct session *s, bool *waits, struct err *e);
int session_read(struct session *s, struct err *e);
int session_peek(struct session *s, struct err *e);
int session_preview(struct session *s, struct err *e);
int session_look(struct session *s, struct err *e);
int session_diff(struct session *s, struct err *e);
int session_restore(struct session *s, struct err *e);
int session_commit(struct session *s, enum resolve resolve, struct err *e);
void session_check_routes(struct session *s, const struct circuit *c);
int session_shaper(struct session *s, uint32_t i, struct qdisc *q, struct qdisc_stats *stats,
		   struct err *e);
const char *planned_why(const struct planned *p);
bool session_shows(const struct session *s, uint32_t i);
bool session_is_aside(const struct session *s, uint32_t i);
void session_ahead(struct session *s, uint32_t first,
		   bool (*asks)(const struct session *s, uint32_t i),
		   void (*ask)(struct session *s, uint32_t i));
int need_net_admin(const char *or, struct err *e);

#endif
