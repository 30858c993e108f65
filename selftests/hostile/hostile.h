/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of circuit_hostile share
 */
#ifndef SELFTESTS_HOSTILE_HOSTILE_H
#define SELFTESTS_HOSTILE_HOSTILE_H

#include "../sock.h"

#define SOCKETS_MAX	1024
#define CHUNK		(64 * 1024)	/* bytes, of one write at most */
#define MSS		1448	/* bytes */
#define LAG_US		1000000	/* TCP_TX_DELAY in SYN_SENT, for -s lag */
#define ALL_ACKED_MS	500	/* nothing is in flight then */
#define EVICT_BULK	4	/* sockets of evict that send all they can */
#define DEAD_MS		20	/* from one turn of dead, hole, sleep and ahead to the next */
#define ESTABLISHED	1	/* tcpi_state, of the kernel's own header */
#define CLOSED		7

struct options {
	const char	*algorithm;	/* "": the system's */
	const char	*state;		/* a variant of the subcommand */
	const char	*bind;		/* an address of the first socket, or NULL */
	int		sockets;
	long		ms;		/* how long it lasts */
	uint32_t	ask;		/* for a window, segments; 0: none asks */
	int		uid;		/* to become; -1: none */
	bool		any;		/* look at windows of all algorithms */
	long		turn_ms;	/* a pause or a duration, by the subcommand */
	long		lossy_ms;	/* packets die from then on; -1: never */
	int		ns_pid;		/* in whose user namespace give_to is; 0: none */
	int		give_to;	/* uid of the sockets' new owner */
	bool		silent;		/* does not read TCP_CIRCUIT_INFO */
};

struct stream {
	int	fd;
	uint64_t acked;		/* bytes, as far as they were reported */
};

/* Of all streams together */
struct seen {
	uint32_t	sum_max;	/* of windows, segments */
	uint32_t	flight_max;	/* of what is in flight, segments */
	int		refused;	/* requests for a window */
};

static inline void pause_ms(long ms)
{
	usleep(ms * 1000);
}

static inline bool state_is(const struct options *o, const char *state)
{
	return !strcmp(o->state, state);
}

/* socket.c */
struct sockaddr_in address_of(const char *text, int i, int port);
int new_socket(const struct options *o, int i);
void start_connecting(int fd, const struct sockaddr_in *to);
void await_connected(int fd);
void connect_now(int fd, const struct sockaddr_in *to);
void disconnect(int fd);
int listen_at(const struct options *o, int port);
void drop(int fd);
void ask(int fd, const struct options *o, struct seen *seen);
struct tcp_circuit_info circuit_info_of(int fd);
void delay_departure(int fd, int us);

/* streams.c */
extern struct stream streams[SOCKETS_MAX];
void connect_all(const struct options *o, const char *address, int port,
		 bool one_each);
void accept_all(const struct options *o, int listener);
void drop_all(const struct options *o);
void feed(const struct options *o);
void send_byte(const struct options *o);
bool all_acked(const struct options *o);
void set_ttl(const struct options *o, int ttl);
void set_max_pace(const struct options *o, unsigned int rate);

/* round_trip.c */
void connect_near(const struct options *o, int fd, int near);
void forget_delay(int fd);
void leave_and_return(const struct options *o);
void forget_rtt(const struct options *o, int us);

/* report.c */
void look(const struct options *o, struct seen *seen);
void report(const struct options *o, const struct seen *seen);

/* Subcommands, each in the file that main.c names */
void run_windows(const struct options *o, const char *address, int port);
void run_accept(const struct options *o, int port);
void run_send(const struct options *o, const char *address, int port);
void run_inherit(const struct options *who, int port);
void run_greet(const struct options *o, int port);
void run_dead(const struct options *o, const char *address, int port);
void run_hole(const struct options *o, const char *address, int port);
void run_sleep(const struct options *o, const char *address, int port);
void run_ahead(const struct options *o, const char *address, int port);
void run_waves(const struct options *o, const char *address, int port);
void run_forget(const struct options *o, const char *address, int port);
void run_relay(const struct options *o, const char *address, int port);
void run_bursts(const struct options *o, const char *address, int port);
void run_many(const struct options *o, const char *address, int port);
void run_evict(const struct options *o, const char *address, int port);
void run_hoard(const struct options *o, int port);
void run_hold(const struct options *o, const char *address, int port);
void run_read(const struct options *o, const char *address, int port);
void run_leak(const struct options *o, const char *address, int port);
void run_leave(const struct options *who, const char *address, int port);
void run_zero(const struct options *o, const char *address, int port);

#endif
