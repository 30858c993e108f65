/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Advice: what follows from a verdict for the people who can change it, as sentences and as
 * settings for sysctl.conf(5).
 *
 * For a remote it is what to send its owner (Hanford, Tierney and Ghosal 2015, 3.4.1, with
 * today's values); for what this host is the cause of, what to change here.  Pure.
 *
 * The rate that could be had is that of our own wire; where that is not known, the paper's
 * 10 Gbit/s, or what was seen, if it is more.
 */
#ifndef CTCPD_ADVICE_H
#define CTCPD_ADVICE_H

#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>

#include "conn.h"
#include "verdict.h"

#define ADVICE_MAX	8
#define ADVICE_TEXT	400
#define SETTINGS_MAX	4

#define ADVICE_RATE	1250000000ULL	/* bytes/s, 10 gbit */
#define RMEM_DEFAULT	6291456U	/* bytes, Linux's tcp_rmem[2]; 6.16 has more */
#define WMEM_DEFAULT	4194304U	/* bytes, Linux's tcp_wmem[2] */

/* Where flows go, and from where; each field "" or 0 where it is not known */
struct place {
	char remote[INET6_ADDRSTRLEN];
	char dev[IFNAMSIZ];		/* that they leave by */
	char qdisc[16];			/* the kind of its root */
	char algorithm[ALGORITHM_LEN];
	uint64_t rate;			/* bytes/s, of its wire */
	uint32_t tcp_wmem;		/* bytes, our tcp_wmem[2] */
	uint32_t flows;			/* at once */
	bool acts;			/* ctcpd paces: mode = act */
	bool paced;			/* by it, or a rate is searched for */
};

struct setting {
	bool here;			/* of this host, else of the remote */
	const char *name;
	char value[48];
};

struct advice {
	unsigned int n, n_settings;
	char text[ADVICE_MAX][ADVICE_TEXT];
	struct setting settings[SETTINGS_MAX];
};

void advise(const struct judgement *j, const struct place *p, struct advice *a);

/* For its parts; what there is no room for is left out */
void advice_say(struct advice *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void advice_set(struct advice *a, bool here, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
uint64_t advice_rtt(const struct judgement *j);		/* us, without queues; 0 = not known */
uint64_t advice_rate(const struct judgement *j, const struct place *p);	/* to be had */

#define BOTH_TEXT 64	/* "941.5mbit (117.7 MB/s)" */
const char *both(char buf[BOTH_TEXT], uint64_t bytes_per_s);

/* advice_buffer.c: windows and buffers; advice_path.c: what lies between the two */
void advise_remote_window(const struct judgement *j, const struct place *p, struct advice *a);
void advise_send_buffer(const struct judgement *j, const struct place *p, struct advice *a);
void advise_app_window(const struct judgement *j, const struct place *p, struct advice *a);
void advise_overrun(const struct judgement *j, const struct place *p, struct advice *a);
void advise_loss(const struct judgement *j, const struct place *p, struct advice *a);
void advise_local_drops(const struct judgement *j, const struct place *p, struct advice *a);

#endif
