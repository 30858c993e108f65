/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of circuit_netlink share
 */
#ifndef SELFTESTS_NETLINK_TEST_H
#define SELFTESTS_NETLINK_TEST_H

#include "../nl.h"

#define NETNS_FCWND	60U

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

/* Commands, and the ends of requests */
#define NEW	TCP_CIRCUIT_CMD_NEW
#define DEL	TCP_CIRCUIT_CMD_DEL
#define GET	TCP_CIRCUIT_CMD_GET
#define RESET	TCP_CIRCUIT_CMD_RESET
#define STATS	TCP_CIRCUIT_CMD_STATS
#define WHERE	" prefix=192.0.2.0/24"
#define REST	" prefix=198.51.100.0/24 window=10"

/* Answers to a request, one behind the other, without their headers */
struct answers {
	char	bytes[1 << 20];
	size_t	len;
	int	count;
};

/* The socket of all requests, and the last of them */
extern struct nl nl;
extern struct nl_message message;

/* points.c; @bad says what was wrong, it is empty when nothing was */
void point(const char *what, const char *bad);
void bail(const char *what);
void same(const char *what, uint64_t expected, uint64_t got);
void same_error(const char *what, int expected, int err);
void same_name(const char *what, const char *expected, const char *got);
void in_child(void (*run)(void));
int finish_points(void);

/* request.c; what returns an int returns 0 or an errno, and the reason is in nl.text */
void put(int type, const void *data, size_t len);
int request(uint8_t cmd, uint16_t flags, const char *words);
void must(uint8_t cmd, uint16_t flags, const char *words);
void make(const char *words);
void drop(const char *name);
void make_two(void);
void drop_two(void);
int keep(const struct nlmsghdr *h, void *answers);
int try_dump(struct answers *a);
void dump(struct answers *a);
bool equal_answers(const struct answers *a, const struct answers *b);
int get(const char *words, struct answers *a);
const struct nlattr *found(const struct answers *a, int type);
const char *name_of(const char *words);
int count_prefixes(const struct answers *a);
uint64_t stat_of(int type);

/* events.c */
bool event_waits(void);
int next_event(struct nl *listener, struct answers *a);

/* The tests */
void check_refusals(void);
void check_good(void);
void check_answer(void);
void check_modes(void);
void check_prefixes(void);
void check_full(void);
void check_full_of_prefixes(void);
void check_match(void);
void check_automatic(void);
void check_changing_dump(void);
void check_generation(void);
void check_events(void);
void check_privileges(void);
void check_namespaces(void);

#endif
