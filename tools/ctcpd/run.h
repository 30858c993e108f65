/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The daemon: one loop over timers, signals and the control socket.
 *
 * SIGHUP reads the configuration again; one that is wrong changes nothing, and the log says
 * why.  SIGTERM and SIGINT end it: visits end, too, and go into the history.
 */
#ifndef CTCPD_RUN_H
#define CTCPD_RUN_H

#include "act.h"
#include "control.h"
#include "observe.h"

struct run_options {
	const char *config;	/* NULL: CONFIG_FILE, if it is there */
	const char *socket;
	bool debug;
};

struct daemon {
	struct run_options options;
	struct config config;
	struct err refused;		/* why the last reload was; "" = it was not */
	struct log log;
	struct keep keep;
	struct observer observer;
	struct act *act;		/* NULL: it has not begun */
	struct metrics *metrics;	/* NULL: off */
	struct control *control;
	int epoll, polls, looks, signals;
	uint64_t began_us;		/* CLOCK_BOOTTIME */
	uint64_t watchdog_us;		/* between two signs of life, 0 = nobody waits for them */
	uint64_t alive_us;		/* the last one */
	bool begun, stop;
	bool said_acts;			/* what the log has of it, and systemd's status */
};

/*
 * Until a signal ends it.  0, or a sentence and -errno; EX_CONFIG where it cannot begin, nor could
 * it if it were started again.
 */
int run(const struct run_options *options, struct err *e);

/* Of -errno, by which it could not begin */
bool run_error_lasts(int rc);

/* dispatch.c: control_fn, @data is the daemon */
int daemon_answer(const json_t *question, json_t **answer, void *data, struct err *e);

/* reload.c */
void daemon_reload(struct daemon *d);
void daemon_say_mode(struct daemon *d);
int daemon_metrics(struct daemon *d, struct err *e);
/* Once more where it could not listen: also at the beginning, and with each poll */
void daemon_metrics_again(struct daemon *d);
void daemon_tell_metrics(struct daemon *d);
int daemon_timers(struct daemon *d);	/* as the configuration has them */

#endif
