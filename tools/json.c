// SPDX-License-Identifier: GPL-2.0
/*
 * JSON as all of this project writes it: see json.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "text.h"

json_t *json_plain(const char *s)
{
	char *copy = strdup(s);
	json_t *string;

	if (!copy)
		return NULL;
	text_clean(copy);
	string = json_string(copy);
	free(copy);
	return string;
}

json_t *json_count(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

int print_json(FILE *out, json_t *root, struct err *e)
{
	if (!root)
		return err_set(e, -ENOMEM, "cannot print: out of memory");
	json_dumpf(root, out, JSON_INDENT(2));
	fputc('\n', out);
	json_decref(root);
	return 0;
}
