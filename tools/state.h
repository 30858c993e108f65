/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state: what ctcp-setup holds of one network namespace.
 *
 *	circuits	what shall be
 *	base		the items that were changed for them: before us, and ours
 *	confirm		whose change waits for confirmation, and until when
 *
 * What every item should be follows from the circuits and from what it was before,
 * so that undo is the list without a circuit, rollback the list of before, and
 * recovery the same once more (diff.h).
 *
 * As text it is a file of command lines, one a circuit, and of base lines:
 *
 *	ctcp-setup 1 boot 0c1e...
 *	device eth1 7
 *	add lhc --rate 4gbit --rtt 26ms --to 192.0.2.0/24 --shaper none --pace eth1
 *	class c7c0:1
 *	add ska --rate 2gbit --rtt 26ms --to 198.51.100.0/24 --shaper htb --unpaced eth1
 *	device eth2 8
 *	bare
 *	add eth2 --rate 1gbit --rtt 10ms --shaper tbf --unpaced eth2
 *	base sysctl net.ipv4.tcp_sack 0 before 0 ours 1
 *	base qdisc eth1 7 before default ours "tbf rate ..." next default
 *	end
 *
 * A run that is under way, or was cut short, has its circuits as "adding" and those
 * that they replace as "removing", and what it is about to set as "next".  A device is
 * known by its index; of one that is gone the kernel has taken what was bound to it.
 * Its name is the kernel's, which may be one that nobody could set up a circuit by.
 * A class is that of the circuit in the next line, which has it as long as it is there; and
 * behind a line "bare" is one that the bare command made, whatever its device is called now.
 * Behind a line "ctcpd" is one of the daemon's, which paces a remote by a class and changes
 * nothing else; it gives way to whatever an administrator sets up (state_insert()).
 *
 * While a change waits for confirmation (ctcp-setup --confirm-within) its circuits are
 * "trial" and those in whose place they are "before", which are back unless it is confirmed
 * by then.  A line behind the first says when that is, in ns of CLOCK_BOOTTIME, as the file
 * is void after a boot, and whose change it is: user, process, terminal, command.
 *
 *	confirm 93784000123456 by 1000 alice pid 4242 tty /dev/pts/3 command "change lhc"
 *	trial lhc --rate 2gbit --rtt 26ms --to 192.0.2.0/24 --shaper none --pace eth1
 *	before lhc --rate 4gbit --rtt 26ms --to 192.0.2.0/24 --shaper none --pace eth1
 *
 * On the way back those of before are "adding", those on trial "removing", and
 * "reverting" ends the confirm line: cut short, it is begun anew.  A change that was cut
 * short has both, too, but not that word: it is taken back as any, and nothing waits.
 */
#ifndef CTCP_STATE_H
#define CTCP_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "circuit.h"
#include "confirm.h"
#include "err.h"
#include "item.h"
#include "out.h"
#include "pool.h"

enum standing {
	STANDING,	/* as the last run that ended left it */
	ADDING,		/* of a run under way */
	REMOVING,
	TRIAL,		/* it stands, and goes unless it is confirmed */
	BEFORE,		/* it does not stand, and comes back then */
};

struct member {
	struct circuit circuit;		/* with its name */
	int ifindex;			/* of its device, 0 = there is none */
	bool anew;			/* on which nothing was set up: another was, and is gone */
	uint32_t classid;		/* minor of its class, 0 = --shaper htb is not its */
	enum standing standing;
	bool left_out;			/* by apply --partial: what was set up stays, and no more */
};

/* A device that the state tells of, as the kernel has it */
struct device_now {
	int ifindex;
	char dev[IFNAMSIZ];		/* "" = it is gone */
};

struct base {
	enum item_kind kind;
	int ifindex;			/* of the device that it is bound to, 0 = none */
	const char *name;
	const char *before;		/* what it was before us */
	const char *ours;		/* what we set */
	const char *next;		/* what a run is about to set, NULL = nothing */
};

struct state {
	uint32_t n_circuits, n_base;
	struct member *circuits;
	struct base *base;
	uint32_t gone;			/* items that went with their device */
	struct confirm confirm;
	char *text;			/* what was parsed, of which texts of @base are parts */
	struct pool pool;		/* those that are not */
};

void state_free(struct state *st);
bool state_is_empty(const struct state *st);
bool state_is_pending(const struct state *st);

struct member *state_add(struct state *st, const struct circuit *c, int ifindex);
struct base *state_add_base(struct state *st, enum item_kind kind, const char *name,
			    int ifindex, const char *before);
struct base *state_room_for_base(struct state *st);
int state_text(struct state *st, const char **to, const char *from);
void base_clear(struct base *b);
void state_pack_base(struct state *st);

void state_recover(struct state *st);
void state_settle(struct state *st);
void state_confirm(struct state *st);
void state_revert(struct state *st);
void state_drop_before(struct state *st);
bool member_is(const struct member *m, const char *word);

/* Not one that goes */
static inline bool member_is_there(const struct member *m)
{
	return m->standing != REMOVING;
}

struct member *state_find(struct state *st, const char *name);
int state_insert(struct state *st, const struct circuit *c, int ifindex, uint32_t *at,
		 struct err *e);
int state_insert_all(struct state *st, uint32_t *at, struct err *e);
int state_replace(struct state *st, const struct circuit *c, int ifindex, uint32_t *at,
		  struct err *e);
int state_drop(struct state *st, const char *word, bool *any, struct err *e);
bool state_device_is_ctcpds(const struct state *st, int ifindex);
bool state_pending_is_ctcpds(const struct state *st);
void state_recover_ctcpds(struct state *st);
uint64_t state_rest(const struct state *st, uint32_t at, uint64_t speed);

int state_devices_are(struct state *st, struct device_now *list, uint32_t n);

int state_format(const struct state *st, const char *boot, char **text, size_t *len);
void circuit_put(struct out *o, const struct circuit *c);
bool circuit_is_same(const struct circuit *a, const struct circuit *b);
int circuits_parse(const char *text, size_t len, struct state *st, struct err *e);
int state_parse(const char *text, size_t len, const char *boot, struct state *st,
		struct err *e);

#endif
