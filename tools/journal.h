/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The journal: what was there before, kept until undo.
 *
 * One file for each circuit (network namespace and device) in the run
 * directory, complete on disk before the first change.  Several circuits may
 * change one item (tcp_rmem): their records stack in the order of seq, each
 * one's `before` being the value the one below left.  Undoing one from the
 * middle hands its `before` to the one above, so that in any order the last
 * one restores what the machine had.
 *
 * The text is lines of fields between tabs, each line with a CRC-32 at its
 * end, then a count and a CRC of it all.  What is read is parsed and formatted
 * again; if that is not the same text to the byte, the journal is damaged and
 * nothing of it is used.
 */
#ifndef CTCP_JOURNAL_H
#define CTCP_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "circuit.h"
#include "err.h"
#include "item.h"

#define RECORDS_MAX	32
#define NETNS_KEY	24

struct record {
	uint32_t seq;			/* order among all circuits' records */
	enum item_kind kind;
	char name[ITEM_NAME];
	char before[ITEM_VALUE];	/* what undo restores */
	char prior[ITEM_VALUE];		/* what an applying run found, "" = none */
	char after[ITEM_VALUE];		/* ours */
};

struct journal {
	char netns[NETNS_KEY];
	struct circuit circuit;		/* and its device */
	bool applying;			/* written before, not yet after */
	bool undone;			/* but for the module, which was in use */
	uint32_t n;
	struct record records[RECORDS_MAX];
};

struct journals {
	char dir[256];
	int lock;			/* fd, -1 = not held */
	uint32_t n;
	struct journal **list;
};

int journal_format(const struct journal *j, char **text, size_t *len);
int journal_parse(const char *text, size_t len, struct journal *j);

int netns_key(char key[NETNS_KEY]);
const char *journals_dir(void);
int journals_lock(struct journals *js, struct err *e);
int journals_read(struct journals *js, struct err *e);
void journals_free(struct journals *js);
struct journal *journals_find(struct journals *js, const char *netns,
			      const char *dev);
int journal_write(const struct journals *js, const struct journal *j, struct err *e);
int journal_remove(const struct journals *js, const struct journal *j, struct err *e);

bool record_is(const struct record *r, enum item_kind kind, const char *name);
struct record *record_find(struct journal *j, enum item_kind kind, const char *name);
struct record *record_above(struct journals *js, const struct journal *j,
			    const struct record *r, struct journal **owner);
bool item_is_shared(struct journals *js, const char *netns, const char *dev,
		    enum item_kind kind, const char *name);
uint32_t next_seq(const struct journals *js);

#endif
