/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file is replaced as a whole: all of the new one is there, or the old one as it was,
 * also after a crash or a loss of power.
 */
#ifndef CTCP_REPLACE_H
#define CTCP_REPLACE_H

#include <stddef.h>

#include "err.h"

int write_all(int fd, const char *text, size_t len);
int sync_dir(const char *dir);

/*
 * One that a person named: its mode stays, without setuid and such, and where it was another
 * user's nobody else may write to it; where it is a link what that leads to is it, if the
 * kernel follows that.
 */
int replace_file(const char *name, const char *text, size_t len, struct err *e);

#endif
