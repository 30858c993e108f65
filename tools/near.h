/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How far a word is from one that it may have been meant for.
 */
#ifndef CTCP_NEAR_H
#define CTCP_NEAR_H

#include <limits.h>

/*
 * Letters that are to be put in, left out, changed, or swapped with the next one; 1 where the
 * one begins with the other (delete, del); UINT_MAX of a word of more than 16 letters.
 */
unsigned int word_distance(const char *a, const char *b);

#endif
