// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into the virtual-time kernel, which is a program of the host: what it
 * believes to be the host's random numbers comes from LAB_SEED.  The kernel
 * asks nobody else (arch/um/include/asm/archrandom.h), so with its clock given
 * too (time-travel-start) two runs are the same to the last random byte: netem
 * loses the same packets, whatever the host is doing.
 *
 * Knuth's 64-bit linear congruential generator (MMIX), its top byte at a time;
 * the guest hashes it before use.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

ssize_t getrandom(void *to, size_t size, unsigned int flags)
{
	static uint64_t state;
	static int seeded;
	const char *seed = getenv("LAB_SEED");
	unsigned char *byte = to;
	size_t i;

	(void)flags;
	if (!seeded) {
		state = strtoull(seed ? seed : "0", NULL, 10);
		seeded = 1;
	}
	for (i = 0; i < size; i++) {
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		byte[i] = state >> 56;
	}
	return size;
}
