/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which algorithm a path gets, by what guarantees its rate and whose traffic is preferred:
 * Alali 2016, 3.4 and 3.5.3.
 *
 *	guarantee	prefer		algorithm
 *	full				circuit	classified, policed and scheduled on all of
 *						the path: nobody else's packets are there
 *	semi		circuit		circuit	forwarded only, and admitted by the average
 *	semi		others		htcp	use of links: spikes of others fill a buffer
 *	none				htcp	best effort: the rate has to be found, and
 *						others have as much right to it
 *
 * On a semi-guaranteed path circuit goes on at its rate while others' packets and its own
 * are lost (784 Mbit/s beside 500 of UDP on a line of 1 Gbit/s, which lost 27 %), where
 * H-TCP gives way (430 Mbit/s, 0.8 %).
 */
#ifndef CTCP_GUARANTEE_H
#define CTCP_GUARANTEE_H

#include "circuit.h"
#include "err.h"

#define HTCP_NAME	"htcp"
#define HTCP_MODULE	"tcp_htcp"

int parse_guarantee(const char *s, enum guarantee *guarantee, struct err *e);
int parse_prefer(const char *s, enum prefer *prefer, struct err *e);
const char *guarantee_name(enum guarantee guarantee);
const char *prefer_name(enum prefer prefer);

bool circuit_is_htcp(const struct circuit *c);
const char *circuit_algorithm(const struct circuit *c);
const char *circuit_algorithm_why(const struct circuit *c);
int guarantee_check(const struct circuit *c, struct err *e);

#endif
