/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The daemon's configuration: /etc/ctcpd.conf, an INI file (libinih); ctcpd.conf(5) has every
 * key.  A missing file is the default; an unknown key, a value out of range or a section
 * that is not known is refused with file, line, the bad value, and what would be right.
 *
 *	[ctcpd]
 *	mode = observe
 *	one-lock = no
 *	subnets = no
 *	poll = 5s
 *	look = 200ms
 *	min-rtt = 1ms
 *	[history]
 *	file = /var/lib/ctcpd/history.db
 *	size = 64mb
 *	visits = 200000
 *	keep = 14d
 *	[metrics]
 *	listen =
 */
#ifndef CTCPD_CONFIG_H
#define CTCPD_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "history.h"

#define CONFIG_FILE	"/etc/ctcpd.conf"

enum mode {
	MODE_OBSERVE,		/* it changes nothing */
	MODE_ACT,		/* what is overrun is paced */
};

struct config {
	enum mode mode;
	bool one_lock;			/* a device with several queues may get one root qdisc */
	bool subnets;			/* hosts that show the same may be paced as one */
	uint64_t poll_us;		/* between two polls: 1 s to 60 s */
	uint64_t look_us;		/* between two looks at a suspect: 50 ms to 1 s; 0 = none */
	uint64_t min_rtt_us;		/* remotes below it are left alone */
	char history[256];		/* "" = none is kept */
	struct history_limits limits;
	char metrics[64];		/* ADDRESS:PORT or [ADDRESS]:PORT, "" = off */
};

void config_defaults(struct config *c);
/* After a failure @c is as it was */
int config_read(const char *file, bool must_be_there, struct config *c, struct err *e);

/* Keys as "poll" and "history.size", by number; NULL: there are no more */
#define CONFIG_VALUE	256	/* bytes, with the NUL */
const char *config_key(unsigned int i);
/* As the file would have it */
const char *config_value(const struct config *c, unsigned int i, char buf[CONFIG_VALUE]);

#endif
