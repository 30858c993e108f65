// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that is brought in at once: see heap.h.
 */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "heap.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE	23	/* glibc has it from 2.35 on */
#endif

#define LEAST	(256U << 10)	/* bytes, below which it would not pay */
#define MOST	(256U << 20)

/* What is freed stays, and what is large comes from it, too. */
static void keep_heap(void)
{
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, INT32_MAX);
}

/* Whole pages of it */
static void populate(void *p, size_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = ((uintptr_t)p + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)p + bytes) & ~(page - 1);

	if (first < end)
		madvise((void *)first, end - first, MADV_POPULATE_WRITE);
}

void heap_expect(size_t bytes)
{
	void *p;

	if (bytes < LEAST)
		return;
	keep_heap();
	if (bytes > MOST)
		bytes = MOST;
	p = malloc(bytes);
	if (p)
		populate(p, bytes);
	free(p);
}

void heap_return(void)
{
	malloc_trim(0);
}
