// SPDX-License-Identifier: GPL-2.0
/* What a kernel may lack: see lacks.h. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lacks.h"

static void to_upper(char *s)
{
	for (; *s; s++)
		*s = (char)toupper((unsigned char)*s);
}

int lacks_kind(int rc, const char *family, const char *kind, struct err *why)
{
	char option[32];
	size_t used;

	if (rc != -ENOENT)
		return rc;
	snprintf(option, sizeof(option), "%.4s_%.16s", family, kind);
	to_upper(option);
	used = strnlen(why->text, sizeof(why->text));
	snprintf(why->text + used, sizeof(why->text) - used,
		 "; %s is module %s_%s, CONFIG_NET_%s", kind, family, kind, option);
	return -EOPNOTSUPP;
}
