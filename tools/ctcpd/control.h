/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The daemon's control socket, /run/ctcpd/control, a stream of lines of JSON: one question a
 * connection, one answer.
 *
 *	{"command": "why", "remote": "192.0.2.7"}
 *	{"ok": true, "answer": {...}} or {"ok": false, "errno": 2, "error": "..."}
 *
 * Root and the daemon's own user may ask all; others nothing (the socket's mode is 0600, of
 * its folder 0755).  A client that sends no whole question within CONTROL_MS, or takes nothing
 * of its answer for so long, is dropped: the daemon never waits for one.  What it sends behind its
 * question is read and dropped for as long, as to close a socket over it would reset the
 * connection, and that may cost the answer.
 *
 * FILE.lock is held as long as the daemon lives, so that a socket that one left behind who was
 * killed can be told from one that is in use.
 */
#ifndef CTCPD_CONTROL_H
#define CTCPD_CONTROL_H

#include <jansson.h>
#include <stdint.h>

#include "err.h"

#define CONTROL_FILE	"/run/ctcpd/control"
#define CONTROL_MS	2000U
#define CONTROL_QUESTION	4096U	/* bytes at most, with the newline */
#define CONTROL_CLIENTS	16U	/* at once; more wait in the socket's queue */

struct control;			/* control.c */

/* 0 and *@answer, or -errno and a sentence */
typedef int (*control_fn)(const json_t *question, json_t **answer, void *data, struct err *e);

/* -EADDRINUSE: a daemon answers there already */
struct control *control_listen(const char *file, int *rc, struct err *e);
void control_close(struct control *c);
int control_fd(const struct control *c);	/* an epoll of its own: readable, there is work */
void control_serve(struct control *c, control_fn answer, void *data);

/* The client's side: waits for the answer, at most 10 s; -ECONNREFUSED, -ENOENT: no daemon */
int control_ask(const char *file, json_t *question, json_t **answer, struct err *e);

uint64_t control_ms(void);	/* CLOCK_MONOTONIC, of both sides */

#endif
