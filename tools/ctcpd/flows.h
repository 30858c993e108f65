/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The flows of this host: a table by socket cookie, and what each poll adds to it.
 *
 * A flow is a socket that sends.  flows_poll() reads all samples, makes an interval of each
 * that was there before and gives it to the policy; a flow that has gone is told once more
 * with @closed, then forgotten.  Between polls flows_look() asks for those alone for which
 * the policy wants a closer look (judge_wants_looks()), at most LOOKS_MAX at a time.
 *
 * flows_begin() to flows_end() is the table alone, for what has its samples from elsewhere
 * (replay, tests): flows_poll() is made of these.  A dump may miss a socket that moves while it
 * is read: a flow that was in none is gone only if the kernel says so when asked for it, or if
 * two polls missed it; none is after a poll that failed (@whole is false).
 *
 * Memory: at most FLOW_BYTES a flow, and LOSS_BYTES more of one that lost something, of FLOWS_MAX
 * between flows_begin() and flows_end(); none at all of sockets that have never sent.  Peers
 * decide how many connections there are, so that a poll leaves out what is more, and counts it.
 */
#ifndef CTCPD_FLOWS_H
#define CTCPD_FLOWS_H

#include "diag.h"
#include "judge.h"
#include "qdrops.h"

#define FLOW_BYTES	720U	/* with its part of the table and of malloc()'s own */
#define LOSS_BYTES	576U	/* more, of one that lost something */
#define FLOWS_MAX	100000U	/* 130 MB; ctcpd.service has 256 MB for all */
#define LOOKS_MAX	64	/* flows that are looked at between polls */

/* Of flow_facts, as of a poll */
struct flow_counts {
	uint64_t acked;		/* bytes */
	uint32_t segs, retrans;
};

struct flow {
	struct sample last;
	struct flow_facts facts;
	struct flow_counts polled, before;	/* of the last poll, and the one before */
	uint64_t first_us;	/* CLOCK_BOOTTIME, when it was first seen */
	uint32_t ifindex;	/* of the device that it leaves by, 0 = not known */
	bool looks;		/* is looked at between polls */
};

struct flows;			/* flows.c */

/* @closed: it has gone, and is forgotten after this call.  0 or -errno, which ends the walk */
typedef int (*flow_fn)(const struct flow *f, bool closed, void *data);

struct flows *flows_new(void);			/* NULL: no memory */
void flows_free(struct flows *fs);
uint32_t flows_count(const struct flows *fs);
uint32_t flows_left_out(const struct flows *fs);	/* by the last poll */
int flows_poll(struct flows *fs, struct diag *d, struct qdrops *q, flow_fn gone, void *data,
	       struct err *e);
int flows_look(struct flows *fs, struct diag *d, struct qdrops *q, struct err *e);
int flows_each(const struct flows *fs, flow_fn each, void *data);

/* What goes into the table, as it goes in: for record */
struct flows_tap {
	void (*sample)(const struct sample *s, void *data);
	void (*leaves)(uint64_t cookie, uint32_t ifindex, void *data);
	void (*drops)(uint64_t at_us, uint32_t ifindex, uint32_t n, void *data);
	void *data;
};

void flows_set_tap(struct flows *fs, const struct flows_tap *tap);	/* lasts as long as @fs */

/* As diag_one(): how a flow that a dump did not have is asked for */
typedef int (*flow_ask_fn)(const struct conn *who, struct sample *s, void *data);

void flows_begin(struct flows *fs);
int flows_feed(struct flows *fs, const struct sample *s);	/* 0 or -ENOMEM */
int flows_drops(struct flows *fs, uint64_t at_us, uint32_t ifindex, uint32_t n);
void flows_leaves(struct flows *fs, uint64_t cookie, uint32_t ifindex);
/* As conn_device() */
typedef uint32_t (*flow_device_fn)(const struct conn *c, void *data);
/*
 * Asks for the devices of flows that have none, and anew for those of some others by turn, as
 * routes change and devices are made anew.  Where no way leads the flow has the one it had.
 */
void flows_ask_devices(struct flows *fs, flow_device_fn ask, void *data);
/* Forgets what devices dropped that are not @there any more */
void flows_keep_devices(struct flows *fs, bool (*there)(uint32_t ifindex, const void *data),
			const void *data);
int flows_end(struct flows *fs, bool whole, flow_ask_fn ask, void *asked, flow_fn gone,
	      void *data);

#endif
