/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module's arithmetic (circuit/match.c, judge.c, split.h) takes from the
 * kernel, for its unit tests in user space
 */
#ifndef _UNIT_LINUX_TYPES_H
#define _UNIT_LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;

#define U32_MAX		UINT32_MAX
#define U64_MAX		UINT64_MAX
#define READ_ONCE(x)	(x)
#define WRITE_ONCE(x, value)	((x) = (value))
#define min_t(type, a, b)	((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define max_t(type, a, b)	((type)(a) > (type)(b) ? (type)(a) : (type)(b))

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

#endif /* _UNIT_LINUX_TYPES_H */
