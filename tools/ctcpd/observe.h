/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the daemon sees, poll by poll: samples become flows, flows remotes, remotes verdicts,
 * of which the log has the changes and the history the visits that ended.
 *
 * observe_poll() says itself what it has failed with, once, and the next one tries again.
 */
#ifndef CTCPD_OBSERVE_H
#define CTCPD_OBSERVE_H

#include "config.h"
#include "diag.h"
#include "flows.h"
#include "keep.h"
#include "log.h"
#include "metrics.h"
#include "qdrops.h"
#include "remotes.h"

struct observer {
	const struct config *config;
	struct log *log;
	struct keep *keep;
	struct diag diag;
	struct qdrops *qdrops;
	struct flows *flows;
	struct flows_tap tap;
	struct remotes *remotes;
	struct poll_totals totals;
	bool suspects;		/* some flow is to be looked at between polls */
	bool diag_open;
};

#define TELL_LINES	100U	/* verdicts that the log has of one poll */

int observe_begin(struct observer *o, const struct config *c, struct log *log, struct keep *keep,
		  struct err *e);
void observe_end(struct observer *o);	/* visits are handed to the history */
/* True: it was read, and the remotes are as of it */
bool observe_poll(struct observer *o);
void observe_look(struct observer *o);

/* s of CLOCK_REALTIME; us of CLOCK_BOOTTIME are diag_clock()'s */
int64_t now_s(void);
/* @at_us of CLOCK_BOOTTIME as s of CLOCK_REALTIME */
int64_t when_s(uint64_t at_us);

/* tell.c: the line in the log that a verdict is worth, if it is */
bool tell_is_trouble(enum verdict v);
bool tell_is_left_alone(const struct remote *r, const struct config *c);
void tell_forget(const struct remote *r, struct log *log);
/* One poll's: zeroed but for the first two, then tell() for each remote, and tell_end() */
struct telling {
	const struct config *config;
	struct log *log;
	uint32_t lines;
	uint32_t left_out;	/* that have changed, and no line was left for */
};

void tell(struct remote *r, struct telling *t);
void tell_end(const struct telling *t);

#endif
