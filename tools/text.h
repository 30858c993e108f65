/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Text that others have written, as names of devices: any bytes may be in it.
 */
#ifndef CTCP_TEXT_H
#define CTCP_TEXT_H

#include <stdbool.h>
#include <stddef.h>

bool text_is_plain(const char *s);
void text_clean(char *s);
const char *text_copy(char *buf, size_t len, const char *s);

#endif
