/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Notifications of the kernel: a socket of its own, which is asked nothing.  hear_read()
 * takes one datagram that has come; @lost is set where one did not fit or was damaged.
 */
#ifndef CTCP_HEAR_H
#define CTCP_HEAR_H

#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdint.h>

#include "nl.h"

uint64_t hear_clock(void);
int hear_open(struct nl *nl, const int *groups, int n, struct err *e);
int hear_read(struct nl *nl, mnl_cb_t each, void *data, bool *lost, struct err *e);

#endif
