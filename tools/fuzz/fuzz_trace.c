// SPDX-License-Identifier: GPL-2.0
/*
 * What ctcpd reads: the first byte says what the rest is, lines of a trace, messages about
 * sockets, or two reads of qdiscs.  A line that is taken is written as one that says the
 * same; a sample, too, is a line that says the same.
 */
#include <stdlib.h>
#include <string.h>

#include "ctcpd/diag.h"
#include "ctcpd/qdrops.h"
#include "ctcpd/trace.h"
#include "fuzz.h"

static void write_as(const struct trace_line *t, char line[TRACE_LINE])
{
	size_t n = 0;

	*line = 0;
	if (t->kind == TRACE_SAMPLE)
		n = trace_sample(&t->sample, line);
	else if (t->kind == TRACE_DROPS)
		n = trace_drops(t->at_us, t->ifindex, t->drops, line);
	else if (t->kind == TRACE_LEAVES)
		n = trace_leaves(t->sample.conn.cookie, t->ifindex, line);
	else if (t->kind == TRACE_GONE)
		n = trace_gone(t->sample.conn.cookie, line);
	fuzz_true("fits", n < TRACE_LINE, line);
}

static void says_the_same(const struct trace_line *t)
{
	char once[TRACE_LINE], twice[TRACE_LINE];
	struct trace_line again;
	struct err e = { "" };

	write_as(t, once);
	fuzz_true("is read again", !trace_parse(once, &again, &e), once);
	write_as(&again, twice);
	fuzz_same("line", once, twice);
}

static void line(const char *s)
{
	struct err e = { "" };
	struct trace_line t;
	int rc = trace_parse(s, &t, &e);

	fuzz_true("says why", !rc || (rc < 0 && e.text[0]), s);
	if (!rc)
		says_the_same(&t);
}

static int one_line(const struct trace_line *t, void *data, struct err *e)
{
	(void)data;
	(void)e;
	says_the_same(t);
	return 0;
}

static void file(const uint8_t *data, size_t size)
{
	FILE *in = size ? fmemopen((void *)data, size, "r") : NULL;
	struct err e = { "" };

	if (!in)
		return;
	fuzz_true("says why", !trace_read(in, one_line, NULL, &e) || e.text[0], "a file");
	fclose(in);
}

/* The kernel gives each socket a cookie, and each sample its time is given. */
static int socket_message(const struct nlmsghdr *nlh, void *data)
{
	struct trace_line t = { .kind = TRACE_SAMPLE };

	(void)data;
	if (sample_parse(nlh, &t.sample) || !t.sample.conn.cookie)
		return MNL_CB_OK;
	t.sample.at_us = 1;
	says_the_same(&t);
	return MNL_CB_OK;
}

static int any_drops(uint32_t ifindex, uint32_t n, void *data)
{
	(void)ifindex;
	(void)data;
	fuzz_true("something", n > 0, "drops");
	return 0;
}

static void qdiscs(const char *buf, size_t size)
{
	size_t first = size / 2 / NLMSG_ALIGNTO * NLMSG_ALIGNTO;
	struct qdrops *q = qdrops_new();

	if (!q)
		abort();
	qdrops_take(q, buf, first);
	qdrops_each(q, any_drops, NULL);
	qdrops_take(q, buf + first, size - first);
	qdrops_each(q, any_drops, NULL);
	qdrops_free(q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_text t;
	char *copy;

	if (!size)
		return 0;
	/* as malloc() aligns it, and of its own size */
	copy = malloc(size);
	if (!copy)
		abort();
	memcpy(copy, data + 1, size - 1);
	switch (*data) {
	case 's':
		nlm_each(copy, size - 1, socket_message, NULL);
		break;
	case 'q':
		qdiscs(copy, size - 1);
		break;
	case 'f':
		file(data + 1, size - 1);
		break;
	default:
		fuzz_split(&t, data, size);
		line(t.part[0]);
		fuzz_free(&t);
	}
	free(copy);
	return 0;
}
