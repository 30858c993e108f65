/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The search for the rate of one remote that is overrun, or of a subnet taken as one: what
 * was observed of it goes in, what to do with it comes out.
 *
 * Pure: no system call, no clock, no memory of its own.  The model, its constants and why
 * they are so are told in search.c.
 *
 *	watching	not paced; overruns are counted
 *	trying		paced at a rate that has to prove itself
 *	kept		paced a margin below a rate that has
 *	taken-back	not paced, as it did not help; not tried again for a while
 *
 * What is known of a remote comes from its own acknowledgements: one that fakes them has its
 * own rate wrong, and nobody else's.
 */
#ifndef CTCPD_SEARCH_H
#define CTCPD_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "verdict.h"

enum search_state {
	SEARCH_WATCHING,
	SEARCH_TRYING,
	SEARCH_KEPT,
	SEARCH_TAKEN_BACK,
	SEARCH_STATES
};

/*
 * Of one interval, or a visit, all flows to the remote together.  Bytes are those that the class
 * counts, with all headers (search_on_wire()): a rate is held against them.
 */
struct observation {
	int64_t at;		/* s, CLOCK_REALTIME, of its end; may be set back */
	enum verdict verdict;
	uint64_t us;		/* it lasted; at most 2^43, 100 days */
	uint64_t acked;		/* bytes */
	uint32_t segs, retrans;	/* segments */
	uint64_t best_rate;	/* bytes/s, the highest delivery rate seen, 0 = not known */
	uint32_t min_rtt_us;	/* 0 = not known */
	uint16_t app;		/* thousandths of @us without anything to send */
	uint64_t paced;		/* bytes/s at which it was paced all the time, 0 = at none */
	bool mixed;		/* its rate changed meanwhile */
};

/* Several observations that are counted */
struct tally {
	uint32_t n;
	uint64_t us, acked;
	uint64_t segs, retrans;
	uint64_t best;		/* bytes/s, of one of them */
	uint64_t peak;		/* bytes/s, delivery rate */
};

struct search {
	enum search_state state;
	bool upward;		/* it tries more than the rate that is kept */
	bool settling;		/* the first observation at a rate counts nothing */
	bool peaked;		/* the highest delivery rate was tried, as less lost as well */
	uint64_t rate;		/* bytes/s that is to be in force, 0 = not paced */
	/*
	 * bytes/s: what did not lose, what did; 0 = not known.  What is kept is a margin below
	 * @low; of a search that an earlier ctcpd wrote it is @low, until the next probe.
	 */
	uint64_t low, high;
	uint64_t step;		/* bytes/s: of the next one upward */
	uint64_t floor;		/* bytes/s: no less is tried ... */
	int64_t floor_until;	/* s: ... until then; 0 = there is none */
	uint64_t better;	/* bytes/s: it lost, but carried more than without; 0 = none */
	uint64_t better_goodput;
	uint32_t better_part;	/* parts per million that were sent again */
	uint32_t tolerated;	/* ... which the rate that is kept is allowed */
	struct tally base;	/* before it was paced, or since it loses at a rate that was kept */
	struct tally now;	/* at this rate */
	struct tally proof;	/* at @low, or as yet the best: why it is kept */
	uint32_t others;	/* counted while watching, that were not overrun */
	uint32_t losing;	/* of those kept, that lost; a clean one takes one off */
	uint32_t failures;	/* taken back so often */
	uint32_t probes;	/* upward, in vain, since the last that was not */
	uint64_t full_us;	/* clean and full at the rate that is kept */
	int64_t seen;		/* s: the last observation, 0 = none */
	int64_t counted;	/* s: the last that counted */
	int64_t again;		/* s: when what was taken back may be tried again */
	int64_t day;		/* s: when changes began to be counted */
	uint32_t changes;	/* of the rate, since */
};

enum search_action {
	SEARCH_NOTHING,
	SEARCH_PACE,		/* at decision.rate, also where it was paced at another */
	SEARCH_UNPACE,
};

/* Why, for the log and `why`: search_reason_text() */
enum search_reason {
	SEARCH_NO_REASON,
	SEARCH_OVERRUN,		/* it is tried, as it is overrun */
	SEARCH_TRY_LESS,	/* as it lost */
	SEARCH_TRY_MORE,	/* as it did not */
	SEARCH_PROVED,		/* kept: no worse, and retransmits less */
	SEARCH_BETTER,		/* kept: it carries more */
	SEARCH_LOSES_AGAIN,	/* the remote takes less than it did */
	SEARCH_PROBE,		/* more is tried, after so long without loss */
	SEARCH_PROBE_IN_VAIN,
	SEARCH_NO_HELP,		/* taken back */
	SEARCH_TOO_MANY,	/* taken back: its rate changes too often */
	SEARCH_NEAR,		/* round trip too short */
	SEARCH_FORGOTTEN,
	SEARCH_VETO,		/* of a subnet: a host of it is not held by what the others share */
	SEARCH_REASONS
};

struct decision {
	enum search_action action;
	uint64_t rate;		/* bytes/s, RATE_MIN to RATE_MAX */
	enum search_reason reason;	/* also where only the state changes */
};

uint64_t search_goodput(const struct tally *t);	/* bytes/s, with headers; 0 = not known */
/* @bytes of data in segments of @mss of it, each with @headers: link, IP and TCP with options */
uint64_t search_on_wire(uint64_t bytes, uint32_t mss, uint32_t headers);

/* @min_rtt_us: what is nearer is left alone */
void search_observe(struct search *s, const struct observation *o, uint32_t min_rtt_us,
		    struct decision *d);
/* It is paced with others: that it is there, and what it shows is what all of them do */
void search_seen(struct search *s, const struct observation *o);
/* Nothing was observed; whether it is time to forget */
void search_tick(struct search *s, int64_t now, struct decision *d);
/* Somebody else changed what was paced, or an administrator set up his own: it is not paced */
void search_stand_down(struct search *s, int64_t now);

/* Of a subnet: it is not to be paced as one, for an hour at first */
void search_veto(struct search *s, int64_t now, struct decision *d);

/* Whether so many segments of one interval, or of several, are a loss beside what is known */
bool search_has_lost(const struct search *s, uint64_t retrans, uint64_t segs);
/* Whether it says something of the path at all */
bool search_counts(const struct observation *o);
/* There was data to send nearly all the time: what it carried is what it was let */
bool search_is_held(const struct observation *o);

#define SEARCH_ALIKE_MIN	3U	/* hosts that show the same */

/*
 * Whether hosts of a subnet are held by something that they share: at least SEARCH_ALIKE_MIN of
 * them, and two thirds of those that are kept, within a quarter of their median, and @together,
 * what several of them took at one time without loss, is no more than one of them takes.  One
 * that takes a tenth more than the median, as does @used, what other hosts of the subnet were seen
 * to take without loss, is a veto; and of one that is being tried nobody knows as yet.
 * *@rate: the highest of all of these.
 */
bool search_alike(const struct search *const *hosts, uint32_t n, uint64_t together, uint64_t used,
		  uint64_t *rate);
/*
 * The subnet's own, from then on: proved like any other rate, but never below NO_WORSE of @rate.
 * If it loses there, it is taken back.
 */
void search_begin_subnet(struct search *s, const struct search *const *hosts, uint32_t n,
			 uint64_t rate, int64_t now);

#define SEARCH_TEXT	1280

/* "kept rate=118750000 low=...": what is 0 is left out.  search_parse(): -EBADMSG */
void search_format(const struct search *s, char text[SEARCH_TEXT]);
int search_parse(const char *text, struct search *s, struct err *e);

const char *search_state_name(enum search_state state);
const char *search_reason_text(enum search_reason reason);
/* In the history and in JSON, never changed; what is not known is SEARCH_NO_REASON's, "none" */
const char *search_reason_name(enum search_reason reason);
enum search_reason search_reason_of_name(const char *name);

#endif
