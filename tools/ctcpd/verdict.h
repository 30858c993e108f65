/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Verdicts: what limits a flow, or a remote's flows, and the evidence for it.
 */
#ifndef CTCPD_VERDICT_H
#define CTCPD_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

enum verdict {
	VERDICT_UNKNOWN,	/* too little evidence */
	VERDICT_OVERRUN,	/* the receiver, or the last hop before it, takes less */
	VERDICT_REMOTE_WINDOW,	/* the peer's receive window */
	VERDICT_SEND_BUFFER,	/* our send buffer */
	VERDICT_APPLICATION,	/* the application has nothing to send */
	VERDICT_APP_WINDOW,	/* a window of the application's own, such as OpenSSH's channel */
	VERDICT_LOSS,		/* the network loses: random loss, or other people's traffic */
	VERDICT_LOCAL_DROPS,	/* a qdisc of this host drops */
	VERDICT_CLEAN,		/* nothing but the path's rate */
	VERDICTS
};

/* Why it is so, or why it is not known: one sentence each, verdict_reason_text() */
enum reason {
	REASON_NONE,
	/* unknown: */
	REASON_FIRST_SAMPLE,	/* there is no second one yet */
	REASON_TINY,		/* it has sent too little */
	REASON_BRIEF,		/* it has been seen for too short a time */
	REASON_FEW_LOSSES,	/* too few to tell by chance from others */
	/* overrun: */
	REASON_SAME_WINDOW,	/* losses come whenever the window has reached one size */
	REASON_LARGE_WINDOW,	/* they come wherever it is largest */
	REASON_BURSTS,		/* they come in bursts, at a rate that has a ceiling */
	REASON_STARTS,		/* they come as it begins to send again */
	REASON_FASTER,		/* they come as it paces far above what is delivered */
	REASON_REGULAR,		/* they come more evenly than chance has it */
	REASON_EVEN_RATE,	/* they leave a rate that is more even than chance has it */
	REASON_HEAVY,		/* all the time, and more than chance would of windows so large */
	/* held by an end: */
	REASON_TIME,		/* most of its time */
	REASON_FLIGHT,		/* one amount in flight, whatever the windows allow */
	/* loss: */
	REASON_RANDOM,		/* at any window, each independent of the others */
	REASON_OTHERS,		/* in bursts, at windows and rates that differ */
	/* local-drops: */
	REASON_DROPPED_HERE,	/* when it lost, a qdisc of this host had dropped */
	/* clean: */
	REASON_NO_LOSS,
	REASON_LITTLE_LOSS,	/* so little that it costs nothing */
	REASONS
};

/*
 * @us, @acked, @segs, @retrans, @local_drops, the rates and windows are those since the flow
 * was first seen; the shares, as the verdict, are of its last minutes.  Of a remote they are
 * sums, means weighted by time, the highest rate and the least round trip of all flows; the
 * windows are those of the flow that the verdict rests on.
 */
struct judgement {
	enum verdict verdict;
	enum reason reason;
	uint64_t us;			/* time that it was seen */
	uint64_t acked;			/* bytes in that time */
	uint32_t segs, retrans;		/* segments in that time */
	uint32_t local_drops;
	/*
	 * thousandths of the time: with data, held by the peer's window, by the send buffer,
	 * by the application, which had nothing to send
	 */
	uint16_t busy, rwnd, sndbuf, app;
	uint64_t rate;			/* bytes/s, acked in that time */
	uint64_t best_rate;		/* bytes/s, the highest delivery rate seen */
	uint32_t cwnd_max, cwnd_mean;	/* segments */
	uint32_t mss;
	uint32_t rtt_us, min_rtt_us;
	uint32_t snd_wnd_max;		/* bytes, 0 = not known */
	uint32_t sndbuf_bytes;		/* SO_SNDBUF, 0 = not known */
	/* of the losses; judge.c has what they mean: */
	uint32_t dispersion;		/* hundredths; 100 = as chance gives them */
	uint16_t even;			/* -ln of how likely chance spaces them so, hundredths */
	uint16_t spread;		/* thousandths: how far apart the windows at loss are */
	uint16_t levels;		/* of how many */
	uint16_t high;			/* -ln of how likely so many are at large ones, ... */
	uint16_t even_rate;		/* ... and leave a rate so even; both hundredths */
	uint16_t excess;		/* ... and are so many for the windows; hundredths, too */
	uint32_t rate_dispersion;	/* hundredths; 100 = as chance leaves it, or not known */
	/* bytes, the median of seconds that the application limited; 0 = not known */
	uint32_t flight;
	bool no_wscale;			/* the two ends agreed on no window scale (RFC 7323) */
};

/*
 * "overrun", "remote-window", "send-buffer", "application", "application-window", "loss",
 * "local-drops", "clean", "unknown": in --json, metrics and the history, never changed
 */
const char *verdict_name(enum verdict v);
/* -1: no such name */
int verdict_of_name(const char *name);
/* "overruns its receiver, or the last hop before it" */
const char *verdict_text(enum verdict v);
const char *reason_name(enum reason r);
const char *reason_text(enum reason r);

#endif
