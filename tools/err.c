// SPDX-License-Identifier: GPL-2.0
/*
 * Sentences for people: see err.h.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "text.h"

/* Returns @code, so that a caller can say `return err_set(e, -EINVAL, ...)`. */
int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	text_clean(e->text);
	return code;
}

void notes_add(struct notes *to, const struct notes *from)
{
	unsigned int i;

	for (i = 0; i < from->n; i++)
		note(to, "%s", from->text[i]);
	if (to)
		to->more += from->more;
}

static bool is_said(const struct notes *notes, const char *text)
{
	unsigned int i;

	for (i = 0; i < notes->n; i++)
		if (!strcmp(notes->text[i], text))
			return true;
	return false;
}

/* Each once; one past the last slot is counted, and one to nobody dropped. */
void note(struct notes *notes, const char *fmt, ...)
{
	char text[sizeof(notes->text[0])];
	va_list ap;

	if (!notes)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	text_clean(text);
	if (is_said(notes, text))
		return;
	if (notes->n == NOTES_MAX)
		notes->more++;
	else
		strcpy(notes->text[notes->n++], text);
}
