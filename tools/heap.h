/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of the heap that is about to be used.
 *
 * The kernel brings in a page when it is first touched, by an exception each, and a state of
 * thousands of circuits touches thousands of pages: on a virtual machine that can take longer
 * than all that is computed on them.  Asked for at once (MADV_POPULATE_WRITE, Linux 5.14),
 * they cost a system call; where the kernel cannot, they come as they always do.
 */
#ifndef CTCP_HEAP_H
#define CTCP_HEAP_H

#include <stddef.h>

/* The next @bytes that are allocated, in pieces of any size */
void heap_expect(size_t bytes);

/* What is free of it goes back: for a process that lives on. */
void heap_return(void);

#endif
