/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lists that grow by one element at a time.
 */
#ifndef CTCP_GROW_H
#define CTCP_GROW_H

#include <stdint.h>
#include <stdlib.h>

/*
 * @list of @n elements of @size bytes, with room for one more: at 0, 1, 2, 4, 8... it is
 * given twice the room, which so needs no count of its own.  NULL: out of memory, and
 * @list stands as it was.
 */
static inline void *grown(void *list, uint32_t n, size_t size)
{
	if (n & (n - 1))
		return list;
	return realloc(list, size * (n ? 2 * (size_t)n : 1));
}

#endif
