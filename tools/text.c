// SPDX-License-Identifier: GPL-2.0
/*
 * What may be written to a terminal and into JSON: UTF-8 (RFC 3629) without control
 * characters, which a terminal obeys.
 */
#include <jansson.h>

#include "out.h"
#include "text.h"

static bool is_utf8(const char *s)
{
	json_t *string = json_string(s);
	bool valid = string;

	json_decref(string);
	return valid;
}

/* As nearly all is, for which no JSON need be made */
static bool is_ascii(const char *s)
{
	while (*s >= ' ' && *s < 0x7f)
		s++;
	return !*s;
}

/* Bytes of the control character that @s begins with, 0 of another.  C2 80 to C2 9F: C1 */
static int control_bytes(const unsigned char *s, bool utf8)
{
	if (*s < ' ' || *s == 0x7f || (!utf8 && *s >= 0x80))
		return 1;
	return *s == 0xc2 && s[1] < 0xa0 ? 2 : 0;
}

/* @s is NUL-terminated. */
bool text_is_plain(const char *s)
{
	if (is_ascii(s))
		return true;
	if (!is_utf8(s))
		return false;
	for (; *s; s++)
		if (control_bytes((const unsigned char *)s, true))
			return false;
	return true;
}

/* A "?" for each byte that is none of it. */
void text_clean(char *s)
{
	bool utf8;

	if (is_ascii(s))
		return;
	utf8 = is_utf8(s);
	while (*s) {
		int n = control_bytes((const unsigned char *)s, utf8);

		for (s += !n; n > 0; n--)
			*s++ = '?';
	}
}

/* @s cleaned, as much of it as there is room for. */
const char *text_copy(char *buf, size_t len, const char *s)
{
	out_copy(buf, len, s);
	text_clean(buf);
	return buf;
}
