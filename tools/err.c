// SPDX-License-Identifier: GPL-2.0
/*
 * Sentences for people: see err.h.
 */
#include <stdarg.h>
#include <stdio.h>

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
}

/* A note past the last slot, or to nobody, is dropped: nothing depends on one. */
void note(struct notes *notes, const char *fmt, ...)
{
	va_list ap;

	if (!notes || notes->n == NOTES_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(notes->text[notes->n], sizeof(notes->text[0]), fmt, ap);
	va_end(ap);
	text_clean(notes->text[notes->n++]);
}
