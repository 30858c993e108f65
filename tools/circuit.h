/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A circuit: what a person asked for, checked, and nothing else.
 */
#ifndef CTCP_CIRCUIT_H
#define CTCP_CIRCUIT_H

#include <linux/tcp_circuit.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "out.h"

enum shaper {
	SHAPER_TBF,	/* one token bucket at the root of the device */
	SHAPER_FQ,	/* fq pacing of each socket, one fq under each queue */
	SHAPER_HTB,	/* a class of one htb at the root, beside others */
	SHAPER_NONE,	/* something else holds the rate */
	SHAPER_AUTO,	/* not chosen so far (choose.h); of no circuit in a state */
};

/* Of the rate, by the path: guarantee.h */
enum guarantee {
	GUARANTEE_FULL,
	GUARANTEE_SEMI,
	GUARANTEE_NONE,
};

/* Whose traffic comes first where the rate is guaranteed in part */
enum prefer {
	PREFER_UNSAID,
	PREFER_CIRCUIT,
	PREFER_OTHERS,
};

struct prefix {
	int family;		/* AF_INET, AF_INET6, or 0 = none */
	unsigned int len;	/* bits */
	unsigned char addr[16];	/* network order */
};

#define TO_MAX	16	/* prefixes of a circuit; as an item (item.h) they all fit */
#define TO_TEXT	(TO_MAX * (INET6_ADDRSTRLEN + 4))

struct circuit {
	char dev[IFNAMSIZ];
	char name[TCP_CIRCUIT_NAME_LEN];	/* "" = the device's */
	uint64_t rate;		/* bytes/s, L2 without preamble and FCS */
	uint64_t rtt_us;	/* at no load */
	uint32_t multiple;	/* of the BDP, thousandths */
	uint32_t streams;	/* sockets expected to share the circuit */
	uint32_t mss;		/* as TCP announces it, 0 = from the MTU */
	uint64_t burst;		/* bytes, 0 = by rule */
	uint64_t limit;		/* bytes, 0 = by rule */
	uint64_t rest;		/* bytes/s for what is no circuit of htb, 0 = what is left */
	uint64_t uplink;	/* bytes/s that its wire leads to, 0 = not stated (admit.h) */
	uint32_t loss;		/* packets that the path loses, parts per billion */
	enum shaper shaper;
	enum guarantee guarantee;
	enum prefer prefer;
	uint32_t n_to;		/* 0 = all that leaves by the device */
	struct prefix to[TO_MAX];	/* the far side, in order (prefix_compare()) */
	struct prefix via[2];	/* gateways, full length: IPv4's, IPv6's */
	bool default_cc;
	bool pace;		/* the module paces the circuit at the rate */
	bool overbook;		/* its rate and prefix were not held against others' */
	bool early_window;	/* open a client's window right behind the SYN-ACK */
	bool bare;		/* the bare command made it, and puts its next one in its place */
	bool ctcpd;		/* the daemon's: a class with its queue and filters, and no more */
};

#define CIRCUIT_DEFAULTS { .multiple = 1300, .streams = 1, .shaper = SHAPER_TBF }

bool dev_is_valid(const char *s);
int parse_dev(const char *s, char dev[IFNAMSIZ], struct err *e);
int parse_name(const char *s, char name[TCP_CIRCUIT_NAME_LEN], struct err *e);
int parse_address(const char *s, struct prefix *p);
int parse_prefix(const char *s, struct prefix *p, struct err *e);
int parse_to(const char *s, struct circuit *c, struct err *e);
int parse_via(const char *s, struct circuit *c, struct err *e);
int parse_shaper(const char *s, enum shaper *shaper, struct err *e);
const char *shaper_name(enum shaper shaper);
int prefix_compare(const void *a, const void *b);
struct prefix prefix_middle(const struct prefix *p);
bool prefix_equal(const struct prefix *a, const struct prefix *b);
void prefix_cut(struct prefix *p, unsigned int len);
bool prefix_holds(const struct prefix *p, const struct prefix *addr);
void prefix_put(struct out *o, const struct prefix *p);
char *format_prefix(char *buf, size_t len, const struct prefix *p);
char *format_addr(char *buf, size_t len, const struct prefix *p);
char *format_to(char *buf, size_t len, const struct circuit *c);

const struct prefix *circuit_via(const struct circuit *c, const struct prefix *to);
int circuit_family(const struct circuit *c);
int circuit_check(const struct circuit *c, struct err *e);
const char *circuit_name(const struct circuit *c);
bool circuit_shares(const struct circuit *c);

#endif
