/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands: each gets the parsed command line and returns 0 or -errno with
 * a sentence in @e.  What they did not do on purpose they say in notes.
 */
#ifndef CTCP_COMMAND_H
#define CTCP_COMMAND_H

#include "session.h"

int command_setup(const struct args *a, struct err *e);
int command_add(const struct args *a, struct err *e);
int command_change(const struct args *a, struct err *e);
int command_del(const struct args *a, struct err *e);
int command_confirm(const struct args *a, struct err *e);
int command_cancel(const struct args *a, struct err *e);
int command_list(const struct args *a, struct err *e);
int command_save(const struct args *a, struct err *e);
int command_apply(const struct args *a, struct err *e);
int command_diff(const struct args *a, struct err *e);
int command_show(const struct args *a, struct err *e);
int command_verify(const struct args *a, struct err *e);
int command_reset(const struct args *a, struct err *e);
int command_monitor(const struct args *a, struct err *e);
int command_watch(const struct args *a, struct err *e);
int command_circuit(const struct args *a, struct err *e);
int command_adopt(const struct args *a, struct err *e);
int command_undo(const struct args *a, struct err *e);

#endif
