/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cells of what is printed of an answer, which is JSON whatever it is: what is not there, or
 * is of another type, is "-" or 0.
 */
#ifndef CTCPD_CELLS_H
#define CTCPD_CELLS_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "rough.h"

#define WORD_TEXT	64
#define SENTENCE_TEXT	512

uint64_t cell_number(const json_t *o, const char *key);
double cell_percent(const json_t *o, const char *key);
double cell_resent(const json_t *o);	/* percent of its segments */
const char *cell_word(const json_t *o, const char *key, char *buf, size_t len);
const char *cell_rate(const json_t *o, const char *key, char buf[ROUGH_TEXT]);
const char *cell_amount(const json_t *o, const char *key, char buf[ROUGH_TEXT]);
const char *cell_rtt(const json_t *o, char buf[ROUGH_TEXT]);
const char *cell_when(const json_t *o, const char *key, char buf[ROUGH_TEXT]);
/* Of the column of what @key has in each of @list */
int cell_width(const json_t *list, const char *key, int least);

/* "1 flow", "2 flows" */
void cell_put_number(FILE *out, uint64_t n, const char *what);

#endif
