// SPDX-License-Identifier: GPL-2.0
/*
 * Cells of what is printed of an answer: see cells.h.
 */
#include <string.h>
#include <time.h>

#include "text.h"
#include "units.h"

#include "cells.h"

uint64_t cell_number(const json_t *o, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(o, key));

	return n > 0 ? (uint64_t)n : 0;
}

double cell_percent(const json_t *o, const char *key)
{
	return 100 * json_number_value(json_object_get(o, key));
}

double cell_resent(const json_t *o)
{
	uint64_t segs = cell_number(o, "sent_segments");

	return segs ? 100.0 * (double)cell_number(o, "retransmitted_segments") / (double)segs : 0;
}

void cell_put_number(FILE *out, uint64_t n, const char *what)
{
	fprintf(out, "%llu %s%s", (unsigned long long)n, what, n == 1 ? "" : "s");
}

const char *cell_word(const json_t *o, const char *key, char *buf, size_t len)
{
	const char *s = json_string_value(json_object_get(o, key));

	return text_copy(buf, len, s ?: "-");
}

const char *cell_rate(const json_t *o, const char *key, char buf[ROUGH_TEXT])
{
	uint64_t n = cell_number(o, key);

	return n ? rough_rate(buf, ROUGH_TEXT, n) : "-";
}

const char *cell_amount(const json_t *o, const char *key, char buf[ROUGH_TEXT])
{
	return rough_bytes(buf, ROUGH_TEXT, cell_number(o, key), "");
}

/* 47.1ms: tenths are enough, as of 100 us or more whole ones are */
const char *cell_rtt(const json_t *o, char buf[ROUGH_TEXT])
{
	uint64_t us = cell_number(o, "min_rtt_us") ?: cell_number(o, "rtt_us");

	if (!us)
		return "-";
	return format_time(buf, ROUGH_TEXT, us >= 1000 ? us / 100 * 100 : us);
}

const char *cell_when(const json_t *o, const char *key, char buf[ROUGH_TEXT])
{
	time_t t = (time_t)cell_number(o, key);
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(buf, ROUGH_TEXT, "%Y-%m-%d %H:%M", &tm))
		return "-";
	return buf;
}

int cell_width(const json_t *list, const char *key, int least)
{
	int width = least, n;
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one) {
		n = (int)json_string_length(json_object_get(one, key));
		if (n > width && n < WORD_TEXT)
			width = n;
	}
	return width;
}
