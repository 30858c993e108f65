/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands: each gets the parsed command line and returns 0 or -errno with
 * a sentence in @e.  What they did not do on purpose they say in notes.
 */
#ifndef CTCP_COMMAND_H
#define CTCP_COMMAND_H

#include "args.h"
#include "changes.h"
#include "kernel.h"
#include "live.h"

/* What a command has open.  Large, so it lives on the heap. */
struct session {
	const struct args *args;
	struct kernel kernel;
	struct journals journals;
	char netns[NETNS_KEY];
	struct facts facts;
	struct plan plan;
	struct route_want route;
	struct wants wants;
	struct changes changes;
	struct lives lives;	/* show: the circuits that there are */
	struct notes notes;	/* what the plan decided, what was skipped */
	struct notes trouble;	/* what a recovery or a rollback met */
};

int session_open(struct session *s, const struct args *a, struct err *e);
void session_close(struct session *s);
int session_plan(struct session *s, const struct circuit *c, struct err *e);
int session_changes(struct session *s, const struct circuit *c, struct err *e);
int session_drift(struct session *s, const struct journal *j, struct err *e);
bool session_has(const struct session *s, const struct journal *j);
void session_check_route(struct session *s, const struct circuit *c);
int session_lock(struct session *s, struct err *e);
int need_net_admin(const char *or, struct err *e);

int command_setup(const struct args *a, struct err *e);
int command_show(const struct args *a, struct err *e);
int command_verify(const struct args *a, struct err *e);
int command_reset(const struct args *a, struct err *e);
int command_monitor(const struct args *a, struct err *e);
int command_circuit(const struct args *a, struct err *e);
int command_undo(const struct args *a, struct err *e);

#endif
