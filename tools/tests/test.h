/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every test includes, in the order that cmocka wants.
 */
#ifndef CTCP_TEST_H
#define CTCP_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
