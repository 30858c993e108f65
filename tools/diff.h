/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the circuits want of each item, against what the kernel has of it.
 *
 *	target = what the item was before us, with the wants of all circuits
 *	now    = what it is; ours (as set, or as a run that was cut short was about to),
 *		 as before, or somebody's
 *
 * An item that no circuit wants any more has what it was before as its target.  What
 * is ours becomes the target.  What is not stays as it is, but for an item of the
 * circuit that this command sets; and a number that somebody made large enough for
 * all circuits stays in any case.  Below a root that is made anew nothing is anybody's.
 *
 * Of several routes to a prefix the item is the one that is ours, used or not; if it is gone,
 * the one of its metric.  What somebody has before it is told of, and stays.
 *
 * A command that sets one circuit reads the items of that one, and those that circuits
 * share (@trust): of the rest it would change nothing that somebody else has changed.
 */
#ifndef CTCP_DIFF_H
#define CTCP_DIFF_H

#include "map.h"
#include "pool.h"
#include "state.h"
#include "wants.h"

#define NOBODY UINT32_MAX
#define SHARED_MAX 16	/* the module, and sysctls */
#define ELSEWHERE_MAX 4	/* rmem_max, wmem_max, tcp_mem */

/* A number that only the machine's own namespace has, or can set, and what it should be. */
struct elsewhere {
	char name[ITEM_NAME];
	char value[ITEM_VALUE];
};

/* What it is here, and why it cannot be set: -EROFS, or -ENOENT without a value */
struct not_here {
	char name[ITEM_NAME];
	char now[ITEM_VALUE];
	int rc;
};

struct change {
	enum item_kind kind;
	const char *name;
	const char *from, *to;
	uint32_t circuit;	/* whose want, NOBODY = it goes back */
	int ifindex;		/* of the device that it is bound to, 0 = none */
	bool step;		/* on the way; another change of the item follows */
	bool shadowed;		/* @to is there, and @from, somebody's, is used before it */
};

struct item {
	enum item_kind kind;
	const char *name;
	int ifindex;
	uint32_t base;		/* in the state's list, NOBODY = not changed by us so far */
	uint32_t circuit;	/* the last that wants it and is told of, any, or NOBODY */
	enum rule rule;
	bool asked;		/* by a circuit that this command sets */
	bool held;		/* it stays: a circuit that may want it cannot be planned */
	bool aside;		/* ... or is none of this run's */
	bool left;		/* it stays as it is */
	bool fresh;		/* this run gave it its base */
	bool made;		/* it was changed */
	const char *why;	/* it was not */
	const char *before;	/* of a fresh item what is there */
	const char *now;	/* NULL: it cannot be read, or is gone */
	const char *ahead;	/* somebody's route that is used before it, NULL = none */
	const char *target;
	const char *as_is;	/* what the wants make of @now */
	const char *wanted;	/* by the last of the wants, but for a route's */
};

struct diff {
	struct state *state;
	struct backend *backend;
	struct notes *notes;
	bool force;		/* what is somebody's goes back, too */
	bool no_module;		/* is loaded */
	bool no_htcp;		/* is loaded */
	bool revert;		/* a list of before comes back, as far as it can */
	bool whole;		/* what cannot be read is an error, and nothing is changed */
	bool look;		/* nothing will be changed: a difference is no error */
	bool restore;		/* what the circuits want is set again, whoever undid it */
	bool heal;		/* apply: so it is, but not in place of somebody else's */
	bool aside;		/* the circuit that wants is not one that is told of */
	bool yields;		/* what somebody else has changed is an error, -EPERM */
	bool trust;		/* what is bound to a circuit that stands is as it was set */
	bool shared_held;	/* as what all circuits share is */
	uint32_t n_items;
	struct item **items;
	uint32_t n_shared;
	struct item *shared[SHARED_MAX];	/* that the last diff_want_shared() wanted */
	struct map by_name[ITEM_KINDS];
	struct pool texts;	/* of items that are not the state's */
	uint32_t n;		/* of what is to be changed */
	struct change *list;
	struct item **of;	/* of each change */
	uint32_t *by_circuit;	/* their places in the list, of a diff that looks */
	const struct item *foreign;	/* why diff_end() failed, NULL = nothing is in its place */
	uint32_t already, gone, left;
	uint32_t n_elsewhere;
	struct elsewhere elsewhere[ELSEWHERE_MAX];
	uint32_t n_not_here;
	struct not_here not_here[ELSEWHERE_MAX];
};

const char *drift_stays(const struct change *c);
bool drift_is_blocked(const struct change *c);
int diff_text(struct diff *d, const char **to, const char *from);
struct item *diff_find(struct diff *d, enum item_kind kind, const char *name);
struct base *item_base(const struct diff *d, const struct item *it);
bool item_is_leftover(const struct item *it);
bool item_is_ours(struct diff *d, const struct item *it);
int diff_begin(struct diff *d, struct err *e);
int diff_want(struct diff *d, const struct wants *w, uint32_t circuit, bool asked,
	      struct err *e);
int diff_want_shared(struct diff *d, const struct wants *w, uint32_t circuit, bool asked,
		     struct err *e);
void diff_want_same(struct diff *d, uint32_t circuit);
bool diff_keeps_route(struct diff *d, const char *to, int ifindex);
void diff_hold(struct diff *d, const struct member *m);
void diff_set_aside(struct diff *d, const struct member *m);
void diff_set_aside_others(struct diff *d);
int diff_end(struct diff *d, struct err *e);
uint32_t diff_first(const struct diff *d, uint32_t circuit);
const struct change *diff_change(const struct diff *d, uint32_t circuit, uint32_t k);
void diff_free(struct diff *d);

#endif
