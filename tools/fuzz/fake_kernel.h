/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A kernel that answers with what the fuzzer likes: in place of libmnl's sockets, of a
 * device's index and name, and of the module's sysctl.
 *
 * Its answers are datagrams: two bytes of length, low byte first, then as many bytes.
 * Behind the last one receiving fails with ENOBUFS.  A message whose sequence number and
 * port are 0 passes for an answer to any request.
 */
#ifndef CTCP_FAKE_KERNEL_H
#define CTCP_FAKE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#define FAKE_IFINDEX 7	/* of every device */

void fake_kernel_begin(const uint8_t *data, size_t size);

/* Aborts where more was asked than any answer gives reason to. */
void fake_kernel_end(void);

#endif
