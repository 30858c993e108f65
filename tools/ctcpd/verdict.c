// SPDX-License-Identifier: GPL-2.0
/*
 * Verdicts and reasons, for programs and for people.
 */
#include <string.h>

#include "verdict.h"

static const struct {
	const char *name, *text;
} verdicts[VERDICTS] = {
	[VERDICT_UNKNOWN] = { "unknown", "not known" },
	[VERDICT_OVERRUN] = { "overrun", "overruns its receiver, or the last hop before it" },
	[VERDICT_REMOTE_WINDOW] = { "remote-window", "limited by the peer's receive window" },
	[VERDICT_SEND_BUFFER] = { "send-buffer", "limited by the send buffer of this host" },
	[VERDICT_APPLICATION] = { "application", "limited by the application" },
	[VERDICT_APP_WINDOW] = { "application-window",
				 "limited by a window of the application's own" },
	[VERDICT_LOSS] = { "loss", "limited by the network's loss" },
	[VERDICT_LOCAL_DROPS] = { "local-drops", "loses at a queue of this host" },
	[VERDICT_CLEAN] = { "clean", "limited by nothing but the path's rate" },
};

static const struct {
	const char *name, *text;
} reasons[REASONS] = {
	[REASON_NONE] = { "", "" },
	[REASON_FIRST_SAMPLE] = { "first-sample",
				  "it was seen once, and what it did before is not counted" },
	[REASON_TINY] = { "tiny", "it has sent too little to be judged by" },
	[REASON_BRIEF] = { "brief", "it was seen for too short a time" },
	[REASON_FEW_LOSSES] = { "few-losses",
				"it lost too few segments to tell chance from other causes" },
	[REASON_SAME_WINDOW] = { "same-window",
				 "it loses whenever its window has reached the same size" },
	[REASON_LARGE_WINDOW] = { "large-window",
				  "it loses wherever its window is largest" },
	[REASON_BURSTS] = { "bursts", "it loses in bursts, at a rate that has a ceiling" },
	[REASON_STARTS] = { "starts", "it loses as it begins to send again after a pause" },
	[REASON_FASTER] = { "faster", "it loses as it paces far above what is delivered" },
	[REASON_REGULAR] = { "regular", "it loses more evenly than chance would have it" },
	[REASON_EVEN_RATE] = { "even-rate",
			       "its rate is steadier than random loss would leave it" },
	[REASON_HEAVY] = { "heavy",
			   "it loses all the time, more than chance would of windows so large" },
	[REASON_TIME] = { "time", "this held it for most of the time" },
	[REASON_FLIGHT] = { "flight",
			    "the amount in flight stays the same, below what the windows allow" },
	[REASON_RANDOM] = { "random", "it loses at any window, each segment by chance" },
	[REASON_OTHERS] = { "others",
			    "it loses in bursts, at windows that change with others' traffic" },
	[REASON_DROPPED_HERE] = { "dropped-here",
				  "queueing disciplines of this host dropped when it lost" },
	[REASON_NO_LOSS] = { "no-loss", "it loses nothing" },
	[REASON_LITTLE_LOSS] = { "little-loss", "it loses too little to be slowed" },
};

const char *verdict_name(enum verdict v)
{
	return (unsigned int)v < VERDICTS ? verdicts[v].name : verdicts[VERDICT_UNKNOWN].name;
}

int verdict_of_name(const char *name)
{
	int v;

	for (v = 0; v < VERDICTS; v++) {
		if (!strcmp(name, verdicts[v].name))
			return v;
	}
	return -1;
}

const char *verdict_text(enum verdict v)
{
	return (unsigned int)v < VERDICTS ? verdicts[v].text : verdicts[VERDICT_UNKNOWN].text;
}

const char *reason_name(enum reason r)
{
	return (unsigned int)r < REASONS ? reasons[r].name : "";
}

const char *reason_text(enum reason r)
{
	return (unsigned int)r < REASONS ? reasons[r].text : "";
}
