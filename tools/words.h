/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A line of words: blanks between them, "..." around one that has blanks or nothing in
 * it, and \ before a " or \ inside of that.  In a file that
 * people write # begins a comment, so that such a word is in quotes, too.
 *
 * words_split(): how many, -EBADMSG, a quotation mark is not closed, -E2BIG, too many.
 */
#ifndef CTCP_WORDS_H
#define CTCP_WORDS_H

#include <stdio.h>

#define WORDS_MAX 64

/* @word's index among @n of @list, from @first on; -EINVAL: it is none of them. */
int word_find(const char * const list[], int first, int n, const char *word);
int words_split(char *line, char *words[WORDS_MAX + 1]);
void word_print(FILE *out, const char *word);

#endif
