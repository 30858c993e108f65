// SPDX-License-Identifier: GPL-2.0
/*
 * The journal's text and its stacks of records: see journal.h.  No I/O here,
 * that is journal_file.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "journal.h"

#define MAGIC "ctcp-setup journal 1"

/* CRC-32 as in zlib, IEEE 802.3; a journal is a few KiB, so bit by bit. */
static uint32_t crc32_of(const char *p, size_t n)
{
	uint32_t crc = UINT32_MAX;
	int bit;

	while (n--) {
		crc ^= (unsigned char)*p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static void put_line(FILE *out, const char *body)
{
	fprintf(out, "%s\t%08x\n", body, crc32_of(body, strlen(body)));
}

static void put_record(FILE *out, const struct record *r)
{
	char body[4 * ITEM_VALUE];

	snprintf(body, sizeof(body), "record\t%u\t%s\t%s\t%s\t%s\t%s", r->seq,
		 item_kind_name(r->kind), r->name, r->before, r->prior, r->after);
	put_line(out, body);
}

static void put_body(FILE *out, const struct journal *j)
{
	char body[CIRCUIT_TEXT + 16], text[CIRCUIT_TEXT];
	uint32_t i;

	put_line(out, MAGIC);
	snprintf(body, sizeof(body), "netns\t%s", j->netns);
	put_line(out, body);
	snprintf(body, sizeof(body), "dev\t%s", j->circuit.dev);
	put_line(out, body);
	snprintf(body, sizeof(body), "circuit\t%s",
		 circuit_format(text, sizeof(text), &j->circuit));
	put_line(out, body);
	put_line(out, j->applying ? "state\tapplying" :
		      j->undone ? "state\tundone" : "state\tapplied");
	for (i = 0; i < j->n; i++)
		put_record(out, &j->records[i]);
}

/* *@text is the caller's to free. */
int journal_format(const struct journal *j, char **text, size_t *len)
{
	FILE *out = open_memstream(text, len);

	if (!out)
		return -ENOMEM;
	put_body(out, j);
	if (fflush(out)) {
		fclose(out);
		free(*text);
		return -ENOMEM;
	}
	fprintf(out, "end\t%u\t%08x\n", j->n, crc32_of(*text, *len));
	return fclose(out) ? -ENOMEM : 0;
}

static bool copy(char *to, size_t size, const char *from)
{
	if (!from || strlen(from) >= size)
		return false;
	strcpy(to, from);
	return true;
}

static int parse_record(char *rest, struct journal *j)
{
	struct record *r = &j->records[j->n];
	char *seq, *kind;

	if (j->n == RECORDS_MAX)
		return -EBADMSG;
	memset(r, 0, sizeof(*r));
	seq = strsep(&rest, "\t");
	kind = strsep(&rest, "\t");
	if (!kind || item_kind_parse(kind, &r->kind))
		return -EBADMSG;
	r->seq = (uint32_t)strtoul(seq, NULL, 10);
	if (!copy(r->name, sizeof(r->name), strsep(&rest, "\t")) ||
	    !copy(r->before, sizeof(r->before), strsep(&rest, "\t")) ||
	    !copy(r->prior, sizeof(r->prior), strsep(&rest, "\t")) ||
	    !copy(r->after, sizeof(r->after), strsep(&rest, "\t")))
		return -EBADMSG;
	j->n++;
	return 0;
}

/* Takes what it knows; journal_parse() compares the whole afterwards. */
static int parse_line(char *line, struct journal *j)
{
	char dev[IFNAMSIZ];
	char *key = strsep(&line, "\t");
	struct err e = { "" };

	if (!line)
		return -EBADMSG;
	if (!strcmp(key, "record"))
		return parse_record(line, j);
	if (!strcmp(key, "netns"))
		return copy(j->netns, sizeof(j->netns), strsep(&line, "\t")) ? 0 : -EBADMSG;
	if (!strcmp(key, "dev"))
		return parse_dev(strsep(&line, "\t"), j->circuit.dev, &e);
	if (!strcmp(key, "circuit")) {
		memcpy(dev, j->circuit.dev, sizeof(dev));
		if (circuit_parse(strsep(&line, "\t"), &j->circuit))
			return -EBADMSG;
		memcpy(j->circuit.dev, dev, sizeof(dev));
	}
	if (!strcmp(key, "state")) {
		const char *state = strsep(&line, "\t");

		j->applying = !strcmp(state, "applying");
		j->undone = !strcmp(state, "undone");
	}
	return 0;
}

/* -EBADMSG: cut short, changed, or never a journal; @j is then of no use. */
int journal_parse(const char *text, size_t len, struct journal *j)
{
	char *copy_of, *again, *rest, *line;
	size_t again_len;
	int rc = 0;

	memset(j, 0, sizeof(*j));
	if (memchr(text, 0, len))
		return -EBADMSG;
	copy_of = strndup(text, len);
	if (!copy_of)
		return -ENOMEM;
	for (rest = copy_of; rest && *rest && !rc; ) {
		line = strsep(&rest, "\n");
		rc = parse_line(line, j);
	}
	free(copy_of);
	if (rc || !j->netns[0] || !j->circuit.dev[0] || !j->circuit.rate)
		return -EBADMSG;
	rc = journal_format(j, &again, &again_len);
	if (rc)
		return rc;
	if (again_len != len || memcmp(again, text, len))
		rc = -EBADMSG;
	free(again);
	return rc;
}

bool record_is(const struct record *r, enum item_kind kind, const char *name)
{
	return r->kind == kind && !strcmp(r->name, name);
}

struct record *record_find(struct journal *j, enum item_kind kind, const char *name)
{
	uint32_t i;

	for (i = 0; i < j->n; i++)
		if (record_is(&j->records[i], kind, name))
			return &j->records[i];
	return NULL;
}

/* A module is the machine's, all else belongs to one namespace. */
static bool same_place(enum item_kind kind, const char *a, const char *b)
{
	return kind == ITEM_MODULE || !strcmp(a, b);
}

/* The record of the same item that was put on top of @r, by another circuit. */
struct record *record_above(struct journals *js, const struct journal *j,
			    const struct record *r, struct journal **owner)
{
	struct record *above = NULL, *other;
	uint32_t i;

	for (i = 0; i < js->n; i++) {
		if (js->list[i] == j || !same_place(r->kind, js->list[i]->netns, j->netns))
			continue;
		other = record_find(js->list[i], r->kind, r->name);
		if (!other || other->seq <= r->seq || (above && above->seq < other->seq))
			continue;
		above = other;
		*owner = js->list[i];
	}
	return above;
}

bool item_is_shared(struct journals *js, const char *netns, const char *dev,
		    enum item_kind kind, const char *name)
{
	uint32_t i;

	for (i = 0; i < js->n; i++) {
		struct journal *j = js->list[i];

		if (!strcmp(j->netns, netns) && !strcmp(j->circuit.dev, dev))
			continue;
		if (same_place(kind, j->netns, netns) && record_find(j, kind, name))
			return true;
	}
	return false;
}

uint32_t next_seq(const struct journals *js)
{
	uint32_t i, k, most = 0;

	for (i = 0; i < js->n; i++)
		for (k = 0; k < js->list[i]->n; k++)
			if (js->list[i]->records[k].seq > most)
				most = js->list[i]->records[k].seq;
	return most + 1;
}

struct journal *journals_find(struct journals *js, const char *netns,
			      const char *dev)
{
	uint32_t i;

	for (i = 0; i < js->n; i++)
		if (!strcmp(js->list[i]->netns, netns) &&
		    !strcmp(js->list[i]->circuit.dev, dev))
			return js->list[i];
	return NULL;
}
