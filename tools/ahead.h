/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Many requests at once.  One that waits for its answer costs three system calls, and of
 * thousands of circuits there are tens of thousands.
 *
 * Ahead: while a socket is asking, nlm_get() only takes down what is asked for, and fails
 * with -EINPROGRESS, and so does nlm_dump(); ahead_ask() then asks all of it in a few
 * datagrams.  After ahead_serve() nlm_get() has its answers from there; what was not
 * asked for is asked as ever.  A caller that asks for more once it knows the first answer
 * is run again, until ahead_ask() finds nothing new.
 *
 * Posted: while a socket posts, nlm_talk() only takes down what it would send, and returns
 * 0; post_flush() sends it, in order.  No answer is waited for: whoever posts reads
 * afterwards what there is (man 7 netlink: without NLM_F_ACK a failure alone is answered).
 *
 * Answers are as of when they were asked: for a caller that holds the lock, and changes
 * nothing between ahead_ask() and ahead_end().
 */
#ifndef CTCP_AHEAD_H
#define CTCP_AHEAD_H

#include <stdbool.h>

#include "nl.h"

int ahead_begin(struct nl *nl, struct err *e);
/* *@n: of those not asked so far; what got no answer is asked anew by nlm_get() */
void ahead_ask(struct nl *nl, uint32_t *n);
void ahead_serve(struct nl *nl);
void ahead_end(struct nl *nl);

bool ahead_asks(const struct nl *nl);
/* For nlm_get(): 1: it has to be asked; else as nlm_get(). */
int ahead_get(struct nl *nl, const struct nlmsghdr *req, mnl_cb_t each, void *data,
	      struct err *e);

/* What @first posts, NULL = none, is sent before what @nl posts. */
int post_begin(struct nl *nl, struct nl *first, struct err *e);
int post_add(struct nl *nl, const struct nlmsghdr *req, struct err *e);
int post_flush(struct nl *nl, struct err *e);
/* What was not flushed is not sent. */
void post_end(struct nl *nl);

#endif
