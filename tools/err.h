/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One sentence for the person at the keyboard.
 *
 * Inside, a function says what went wrong with -errno.  Where a function also
 * knows the bad value and what would be right, it writes that sentence here,
 * and main() prints it once, at the edge.
 *
 * So everywhere in libctcp.a, where a header does not say otherwise:
 *
 *	int f(..., struct err *e)	0, or -errno and a sentence in @e, which is not NULL
 *	int f(...)			0, or -errno
 *	what it fills			after a failure it holds nothing to be freed
 *	x_free(), x_close()		what was filled or opened is empty then, and may be
 *					freed again
 *
 * Rates are bytes/s, counted as a qdisc counts (L2 without preamble and FCS); times us;
 * sizes bytes; windows segments; addresses network order, and all else of the host.
 * Text is UTF-8 that ends with a NUL.  Nothing is safe in two threads at once.
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
	unsigned int more;	/* for which there is no room */
	char text[NOTES_MAX][384];
};

void notes_add(struct notes *to, const struct notes *from);
int err_set(struct err *e, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void note(struct notes *notes, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
