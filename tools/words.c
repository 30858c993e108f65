// SPDX-License-Identifier: GPL-2.0
/*
 * Lines of words: see words.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "words.h"

/* The word at @p, in its place without its quotes; what follows it, or NULL if it has no end. */
static char *take_quoted(char *p)
{
	char *to = p;

	while (*p && *p != '"') {
		if (*p == '\\' && p[1])
			p++;
		*to++ = *p++;
	}
	if (!*p || (p[1] && p[1] != ' '))
		return NULL;
	p++;
	*to = 0;
	return p;
}

int word_find(const char * const list[], int first, int n, const char *word)
{
	int i;

	for (i = first; i < n; i++)
		if (!strcmp(list[i], word))
			return i;
	return -EINVAL;
}

/* How many there are; @line is cut into them, and NULL stands behind the last. */
int words_split(char *line, char *words[WORDS_MAX + 1])
{
	char *p = line;
	int n = 0;

	for (;;) {
		while (*p == ' ')
			p++;
		if (!*p)
			break;
		if (n == WORDS_MAX)
			return -E2BIG;
		if (*p == '"') {
			words[n++] = ++p;
			p = take_quoted(p);
			if (!p)
				return -EBADMSG;
		} else {
			words[n++] = p;
			p = strchrnul(p, ' ');
		}
		if (*p)
			*p++ = 0;
	}
	words[n] = NULL;
	return n;
}

/* With a blank before it. */
void word_print(FILE *out, const char *word)
{
	struct out o = { .grows = true };

	out_word(&o, word);
	if (!o.failed)
		fwrite(o.text, 1, o.used, out);
	free(o.text);
}
