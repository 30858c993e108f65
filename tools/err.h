/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One sentence for the person at the keyboard.
 *
 * Inside, a function says what went wrong with -errno.  Where a function also
 * knows the bad value and what would be right, it writes that sentence here,
 * and main() prints it once, at the edge.
 */
#ifndef CTCP_ERR_H
#define CTCP_ERR_H

struct err {
	char text[768];
};

/* Sentences that are not errors: what a plan had to decide, what was skipped. */
#define NOTES_MAX 24

struct notes {
	unsigned int n;
	char text[NOTES_MAX][384];
};

void notes_add(struct notes *to, const struct notes *from);
int err_set(struct err *e, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void note(struct notes *notes, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
