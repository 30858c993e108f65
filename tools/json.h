/* SPDX-License-Identifier: GPL-2.0 */
/*
 * JSON (jansson) as all of this project writes it.
 */
#ifndef CTCP_JSON_H
#define CTCP_JSON_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "err.h"

/* Of a name that may be any bytes; NULL: no memory */
json_t *json_plain(const char *s);
json_t *json_count(uint64_t n);		/* at most INT64_MAX, which is all that JSON's has */
/* Consumes @root.  What cannot be written is left in ferror(@out). */
int print_json(FILE *out, json_t *root, struct err *e);

#endif
