/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers with units, as iproute2 writes them (tc(8), PARAMETERS), but exact
 * and without its two traps: a bare number for a rate or a time is refused,
 * and so is "mbps", which tc reads as megabytes per second.  -EINVAL: not a number of this
 * kind; -ERANGE: out of range.  What is formatted parses to the same.
 */
#ifndef CTCP_UNITS_H
#define CTCP_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "err.h"

#define MBIT		125000ULL		/* bytes/s */
#define RATE_MIN	1000ULL			/* bytes/s: 8 kbit/s */
#define RATE_MAX	125000000000ULL		/* bytes/s: 1 tbit/s */
#define RTT_MAX_US	10000000ULL		/* 10 s */
#define WAIT_MIN_US	1000000ULL		/* 1 s */
#define WAIT_MAX_US	86400000000ULL		/* 1 d */
#define MULTIPLE_MIN	10U			/* thousandths: 0.01 */
#define MULTIPLE_MAX	10000U			/* thousandths: 10 */
#define SPAN_TEXT	32
#define LOSS_END	500000000U		/* parts per billion: less than a half */

int parse_rate(const char *s, uint64_t *bytes_per_s, struct err *e);
int parse_time(const char *s, uint64_t *us, struct err *e);
int parse_span(const char *what, const char *s, uint64_t min_us, uint64_t max_us, uint64_t *us,
	       struct err *e);
int parse_wait(const char *what, const char *s, uint64_t *us, struct err *e);
int parse_size(const char *what, const char *s, uint64_t *bytes, struct err *e);
int parse_multiple(const char *s, uint32_t *thousandths, struct err *e);
int parse_loss(const char *s, uint32_t *ppb, struct err *e);
int parse_count(const char *what, const char *s, uint32_t min, uint32_t max,
		uint32_t *out, struct err *e);

char *format_rate(char *buf, size_t len, uint64_t bytes_per_s);
char *format_time(char *buf, size_t len, uint64_t us);
char *format_span(char *buf, size_t len, uint64_t us);
char *format_size(char *buf, size_t len, uint64_t bytes);
char *format_loss(char *buf, size_t len, uint32_t ppb);

#endif
