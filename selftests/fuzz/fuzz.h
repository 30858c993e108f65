/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of circuit_fuzz share
 */
#ifndef SELFTESTS_FUZZ_FUZZ_H
#define SELFTESTS_FUZZ_FUZZ_H

#include "../nl.h"
#include "../random.h"
#include "../rules.h"
#include "../sock.h"

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

#define SOCKETS		24
#define OBJECTS		6
#define PHASE		6000	/* calls */
#define COUNTED		1000000000	/* segments: no circuit here carries more */
#define SLOW		1000000	/* bytes/s: what has a pace below may never end */
#define CUT_MOST	10	/* segments that a breaker leaves at most */
#define SYSCTLS		"/proc/sys/net/ipv4/tcp_circuit_"

enum kind { FREE, PLAIN, LISTENER, CONNECTED };
enum phase { STORM, STEADY, ANYTHING, PHASES };

/* Of the pool */
struct slot {
	int	fd;
	int	family;		/* AF_INET, AF_INET6; mapped: AF_INET6 to a v4 */
	enum kind	kind;
	struct tcp_circuit_info	last;	/* of what was asked, as it was last seen */
	bool	known;		/* last holds */
};

/* A circuit: it has the same prefixes always, of which no two are alike. */
struct object {
	const char	*name;
	struct {
		int		family;
		const char	*address;
		uint8_t		len;
	} prefixes[2];
	uint32_t	mark;		/* no socket here has one */
	bool		in_storms;	/* none of the storm's streams belongs to it */
	bool		there;
	uint32_t	window;
	uint64_t	rate;
};

/* main.c */
extern bool nobody;		/* for a hundred calls now and then */

/* value.c */
uint64_t value(void);

/* check.c; cut: looks at a window that was cut */
extern uint64_t cut;
void check_info(const struct tcp_circuit_info *i);
int state_of(int fd);
void check_cut(int fd, const struct tcp_circuit_info *before,
	       const struct tcp_circuit_info *after);

/* pool.c */
extern struct slot pool[SOCKETS];
bool look(int slot, struct tcp_circuit_info *info);
void check_socket(int slot);
void use(int fd, const char *algorithm);
void drop(int slot);
void put(int slot, int fd, int family, enum kind kind);
int any_socket(void);
int find_kind(enum kind kind);

/* calls.c, and what else is a call: true where it succeeded */
bool do_open(void);
bool do_close(void);
bool do_listen(void);
bool do_connect(void);
bool do_disconnect(void);
bool do_send(void);
bool do_receive(void);
bool do_shutdown(void);
bool do_algorithm(void);
bool do_neighbour(void);

/* options.c */
void make_room(void);
bool do_set(void);
bool do_get(void);

/* objects.c */
#define OBJECTS_END	(objects + OBJECTS)
extern struct object objects[OBJECTS];
const char *longest_match(int family, const unsigned char *address);
const char *longest_match_of(int fd);
struct object *any_object(void);
const struct object *object_of(const struct nlmsghdr *answer);

/* request.c */
extern struct nl nl;
extern struct nl_message message;
int talk(nl_handler handler, void *arg);
void put_prefixes(const struct object *o);
int put_address(unsigned char *address);

/* change.c; changes: those of circuits */
extern uint64_t changes;
bool do_new(void);
bool do_del(void);
bool do_reset(void);
void remove_all(void);
void reset_all(void);

/* show.c; the namespace's counters, as they were last seen */
extern uint64_t opened, trips;
int circuits(void);
bool do_get_name(void);
bool do_get_address(void);
bool do_stats(void);

/* broken.c */
bool do_broken(void);

/* files.c */
ssize_t write_file(const char *path, const char *text, size_t len);
unsigned long long read_number(const char *path);
void write_number(const char *path, unsigned long long number);

/* sysctls.c */
void open_sysctls(void);
bool do_sysctl(void);
bool do_parameter(void);

/* loopback.c */
void set_mtu(int mtu);
void set_loss(unsigned int percent);

/* storm.c */
void close_streams(void);
void open_streams(void);
void blow(void);

/* phases.c */
extern enum phase phase;
extern uint32_t steady;		/* the namespace's window in this phase, or 0 */
extern bool orphans_die;	/* by ss -K, in this kernel */
void begin_phase(void);
void end_phase(void);
void pass_time(void);

#endif
