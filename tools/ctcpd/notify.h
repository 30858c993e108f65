/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What systemd is told of the daemon: sd_notify(3)'s protocol, a datagram to the socket that
 * NOTIFY_SOCKET names, a path or with @ an abstract name.  By hand: it is 20 lines, and
 * libsystemd would be the daemon's largest dependency.
 *
 * Without that variable nobody is told, and that is no error.
 */
#ifndef CTCPD_NOTIFY_H
#define CTCPD_NOTIFY_H

#include <stdint.h>

/* "READY=1", "STOPPING=1", "WATCHDOG=1", "STATUS=...", lines of them.  0 or -errno */
int notify(const char *state);
/* How often "WATCHDOG=1" is due, us: half of what the unit says; 0 = never */
uint64_t notify_watchdog(void);

#endif
