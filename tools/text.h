/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Text that others have written, as names of devices: any bytes may be in it.
 */
#ifndef CTCP_TEXT_H
#define CTCP_TEXT_H

#include <stdbool.h>

bool text_is_plain(const char *s);
void text_clean(char *s);

#endif
