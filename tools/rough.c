// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers as a person reads them: see rough.h.
 */
#include <stdio.h>

#include "rough.h"

const char *rough_rate(char *buf, size_t len, uint64_t bytes_per_s)
{
	static const char * const units[] = { "bit", "kbit", "mbit", "gbit", "tbit" };
	double value = 8.0 * (double)bytes_per_s;
	unsigned int i = 0;

	while (value >= 999.95 && i < 4) {
		value /= 1000;
		i++;
	}
	snprintf(buf, len, "%.4g%s", value, units[i]);
	return buf;
}

const char *rough_bytes(char *buf, size_t len, uint64_t bytes, const char *tail)
{
	static const char * const units[] = { "bytes", "kB", "MB", "GB" };
	double value = (double)bytes;
	unsigned int i = 0;

	while (value >= 1000 && i < 3) {
		value /= 1000;
		i++;
	}
	snprintf(buf, len, "%.4g %s%s", value, units[i], tail);
	return buf;
}
