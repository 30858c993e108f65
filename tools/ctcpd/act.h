/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is done about what was seen: of each remote that is overrun a search (search.h), of
 * all that are to be paced one set (paced.h), and hands (hands.h) that make it so.
 *
 * act_poll() comes after each poll that was read.  In `observe` nothing is set: the searches get
 * as far as their first rate, and the log says what would be paced, once for each remote.
 *
 * What the hands refuse as somebody else's, or find changed, is stood down from: once said, not
 * tried again for as long as search_stand_down() has it.  Searches are kept in the history
 * (history_search.h), so that the first byte of the next transfer is paced, also after a restart;
 * what the kernel has is what counts, where the two differ.
 */
#ifndef CTCPD_ACT_H
#define CTCPD_ACT_H

#include "config.h"
#include "hands.h"
#include "keep.h"
#include "log.h"
#include "paced.h"
#include "remotes.h"
#include "search.h"

struct act;			/* act.c */

/* Of one remote, or of a subnet taken as one, of which there is a search */
struct pacing {
	struct prefix to;
	int ifindex;			/* 0 = its device is gone */
	char dev[IFNAMSIZ];
	const struct search *search;
	uint64_t rate;			/* bytes/s in force, 0 = it is not paced */
	uint64_t would;			/* bytes/s that `act` would begin with, 0 = none */
	enum search_reason reason;	/* of its last change */
	int64_t since;			/* s, CLOCK_REALTIME, of its last change; 0 = none */
	const char *stood_down;		/* what somebody else has there, a sentence; "" = nobody */
	const char *hands;		/* "classes", "sockets"; "" = it is not paced */
	/* why nothing can be paced on its device; "" = it can, or is not asked */
	const char *unfit;
};

/* A device that something is to be paced on */
struct pacing_device {
	const char *dev;
	const char *hands;		/* "classes", "sockets"; "" = none fit */
	const char *why;		/* not classes, or not by any; "" = classes */
};

struct act_totals {
	uint32_t searches, paced, trying, kept, taken_back, stood_down;	/* now */
	uint64_t paced_changes;		/* rates set or taken back, since the daemon began */
	uint64_t failed;		/* polls whose changes could not be made, so far */
	uint32_t paced_by[HANDS_KINDS];	/* of @paced */
	uint32_t unfit;			/* devices without hands, or gone */
	bool acts;			/* mode = act, and the hands can */
	const char *unable;		/* why not, though mode = act; "" = they can */
	/*
	 * why what is paced could not be changed as of the last poll, or what an earlier run may
	 * have paced not be looked at; "" = it could
	 */
	const char *hindered;
};

typedef int (*pacing_fn)(const struct pacing *p, void *data);
typedef int (*pacing_device_fn)(const struct pacing_device *p, void *data);

/* Reads the searches of the history, looks at what the kernel has */
struct act *act_begin(const struct config *c, struct log *log, struct keep *keep, int64_t now,
		      struct err *e);	/* NULL: no memory */
/* What is paced stays paced; searches are saved */
void act_end(struct act *a);
/* With each poll; @whole: the remotes' counters are of this poll */
void act_poll(struct act *a, struct remotes *rs, bool whole, uint64_t now_us, int64_t now);
/* The configuration is another one: from act to observe all pacing is taken back, and said */
void act_reload(struct act *a, int64_t now);
/* Searches in @p go, and what is paced by them; how many were paced */
uint32_t act_forget(struct act *a, const struct prefix *p, int64_t now);

/* That by which an address is paced or searched: its own, or its subnet's.  False: none is */
bool act_find(const struct act *a, const struct prefix *addr, struct pacing *p);
int act_each(const struct act *a, pacing_fn each, void *data);
int act_devices_each(const struct act *a, pacing_device_fn each, void *data);
const struct act_totals *act_totals(const struct act *a);

#endif
