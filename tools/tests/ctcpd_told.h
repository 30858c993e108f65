/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the daemon tells: values of its JSON by their keys, and the text that is made of it.
 */
#ifndef CTCPD_TEST_TOLD_H
#define CTCPD_TEST_TOLD_H

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

static inline json_int_t number(const json_t *o, const char *key)
{
	const json_t *n = json_object_get(o, key);

	if (!json_is_integer(n))
		print_error("no number \"%s\"\n", key);
	assert_true(json_is_integer(n));
	return json_integer_value(n);
}

static inline const char *word(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	if (!s)
		print_error("no text \"%s\"\n", key);
	assert_non_null(s);
	return s;
}

/* What @print writes of @answer; freed by the caller */
static inline char *printed(void (*print)(FILE *out, const json_t *answer), const json_t *answer)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	print(out, answer);
	fclose(out);
	return text;
}

static inline void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		print_error("\"%s\" is not in:\n%s\n", part, text);
	assert_non_null(strstr(text, part));
}

#endif
