// SPDX-License-Identifier: GPL-2.0
/*
 * What the fuzz targets share: see fuzz.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

/* Up to a NUL or the end of the line; its own allocation, so that ASan sees its end. */
static char *take(const uint8_t *data, size_t size)
{
	size_t n = 0;
	char *s;

	while (n < size && data[n] && data[n] != '\n')
		n++;
	s = malloc(n + 1);
	if (!s)
		abort();
	if (n)
		memcpy(s, data, n);
	s[n] = 0;
	return s;
}

void fuzz_split(struct fuzz_text *t, const uint8_t *data, size_t size)
{
	size_t i, n;

	t->n = 0;
	for (i = 0; i < FUZZ_PARTS; i++) {
		const uint8_t *end = size ? memchr(data, '\n', size) : NULL;

		t->n += size > 0;
		t->part[i] = take(data, size);
		n = end ? (size_t)(end - data) + 1 : size;
		data = size ? data + n : data;
		size -= n;
	}
}

void fuzz_free(struct fuzz_text *t)
{
	size_t i;

	for (i = 0; i < FUZZ_PARTS; i++)
		free(t->part[i]);
}

void fuzz_same(const char *what, const char *was, const char *is)
{
	if (!strcmp(was, is))
		return;
	fprintf(stderr, "%s: \"%s\" became \"%s\"\n", what, was, is);
	abort();
}

void fuzz_true(const char *what, int is, const char *of)
{
	if (is)
		return;
	fprintf(stderr, "%s: not so of \"%s\"\n", what, of);
	abort();
}
