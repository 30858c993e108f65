/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Traces: samples as text, one a line, so that what the policy saw can be kept, read, and
 * judged again.
 *
 *	# ctcpd trace 1
 *	at=1234567 cookie=4f peer=192.0.2.1:5001 local=10.0.0.1:40122 cc=cubic ...
 *	leaves cookie=4f ifindex=3
 *	drops at=1234567 ifindex=3 n=12
 *	gone cookie=4f
 *
 * Words "key=value", the keys named as the fields of struct sample and of its conn, whose
 * sndbuf is "sndbuf_limited"; a field that is 0 is left out.  "leaves" says by which device a
 * flow leaves, "drops" what the qdiscs of one dropped since it was last said, "gone" that a
 * flow has had its last sample.
 *
 * trace_parse(): one line, with or without its end; -EBADMSG with a sentence, which quotes the
 * line's bad word.  trace_read(): a whole file, of which the sentence names the line; what
 * @each returns ends it.
 */
#ifndef CTCPD_TRACE_H
#define CTCPD_TRACE_H

#include <stdio.h>

#include "sample.h"

#define TRACE_HEAD	"# ctcpd trace 1\n"
#define TRACE_LINE	2048	/* bytes, with the NUL; every field at its most has 1400 */

struct trace_line {
	enum { TRACE_NOTHING, TRACE_SAMPLE, TRACE_LEAVES, TRACE_DROPS,
	       TRACE_GONE } kind;
				/* nothing: comment, blank */
	struct sample sample;	/* of leaves and gone: its cookie */
	uint64_t at_us;		/* of drops */
	uint32_t ifindex;	/* of leaves and drops */
	uint32_t drops;		/* packets, as qdrops_each() tells */
};

typedef int (*trace_fn)(const struct trace_line *t, void *data, struct err *e);

/* Without the line's end; its bytes, always less than TRACE_LINE */
size_t trace_sample(const struct sample *s, char line[TRACE_LINE]);
size_t trace_leaves(uint64_t cookie, uint32_t ifindex, char line[TRACE_LINE]);
size_t trace_gone(uint64_t cookie, char line[TRACE_LINE]);
size_t trace_drops(uint64_t at_us, uint32_t ifindex, uint32_t n, char line[TRACE_LINE]);
int trace_parse(const char *line, struct trace_line *t, struct err *e);
int trace_read(FILE *in, trace_fn each, void *data, struct err *e);

#endif
