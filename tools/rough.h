/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers as a person reads them, to four digits: what is measured is no better.  Exact ones
 * are units.h's.
 */
#ifndef CTCP_ROUGH_H
#define CTCP_ROUGH_H

#include <stddef.h>
#include <stdint.h>

#define ROUGH_TEXT	32

/* 941.5mbit, as tc(8) has units */
const char *rough_rate(char *buf, size_t len, uint64_t bytes_per_s);
/* "500 MB", "77.76 MB": a unit of 1000, as link rates are; @tail, such as "/s", behind it */
const char *rough_bytes(char *buf, size_t len, uint64_t bytes, const char *tail);

#endif
