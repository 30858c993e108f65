// SPDX-License-Identifier: GPL-2.0
/*
 * Our own options, in memory that belongs to the caller or does not
 */
#include <sys/mman.h>

#include "fuzz.h"

#define ROOM		8192	/* bytes of a caller's buffer, before a guard page */
#define ESTABLISHED	1	/* tcpi_state, of the kernel's own header */

static char *room, *no_page;	/* ROOM bytes up to a page that cannot be touched */

void make_room(void)
{
	room = mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED)
		bail("mmap");
	no_page = room + ROOM;
	if (mprotect(no_page, ROOM, PROT_NONE))
		bail("mprotect");
}

static int option(void)
{
	switch (below(8)) {
	case 0: return TCP_CIRCUIT_FCWND - 4 + below(12);
	case 1: return chance();
	case 2: case 3: return TCP_CIRCUIT_INFO;
	default: return TCP_CIRCUIT_FCWND;
	}
}

static bool is_ours(int name)
{
	return name == TCP_CIRCUIT_FCWND || name == TCP_CIRCUIT_INFO;
}

/* Options that there were once */
static bool is_gone(int name)
{
	return name == 0x4355 || name == 0x4357;
}

/* Where the caller's value is: most often in memory of its own, with its right
 * size or another, sometimes across or behind its end.
 */
static char *pointer(socklen_t len)
{
	switch (below(16)) {
	case 0: return NULL;
	case 1: return no_page;
	case 2: return no_page - below(16);
	case 3: return (char *)(uintptr_t)chance();
	case 4: return room + below(ROOM);
	default: return no_page - (len < ROOM ? len : ROOM);
	}
}

static socklen_t length(int name)
{
	switch (below(8)) {
	case 0: return below(129);
	case 1: return below(16) ? below(ROOM) : chance();
	default: return name == TCP_CIRCUIT_INFO ? 1 + below(160) : 4;
	}
}

static bool errno_is_named(int err)
{
	return err == EINVAL || err == EPERM || err == EFAULT ||
	       err == ENOPROTOOPT;
}

/* A call that worked: does it hold, and was nobody allowed it? */
static void check_set(int fd, const struct tcp_circuit_info *after, uint32_t v)
{
	bool own = after->tci_source == TCP_CIRCUIT_SOURCE_SOCKET;

	if (v != after->tci_asked)
		rule("asked for %u, got %u", v, after->tci_asked);
	if (!nobody && (own != !!v || (v && after->tci_fcwnd != v)))
		rule("root asked for %u: %u from source %u", v,
		     after->tci_fcwnd, after->tci_source);
	if (nobody && own)
		rule("nobody was given %u for himself", after->tci_fcwnd);
	if (state_of(fd) != ESTABLISHED)
		return;
	if (nobody && v > after->tci_fcwnd)
		rule("nobody was given %u segments of %u", v, after->tci_fcwnd);
	if (strcmp(after->tci_name, longest_match_of(fd)))
		rule("a socket of '%.31s' where the longest match is '%s'",
		     after->tci_name, longest_match_of(fd));
}

bool do_set(void)
{
	int slot = any_socket(), name = option(), err;
	struct tcp_circuit_info before, after;
	bool had = pool[slot].known || look(slot, &after);
	socklen_t len = length(name);
	char *p = pointer(len);
	uint64_t v = value();

	before = pool[slot].last;
	memset(no_page - 16, below(256), 16);
	memcpy(no_page - (len < 8 ? len : 8), &v, len < 8 ? len : 8);
	err = setsockopt(pool[slot].fd, SOL_TCP_CIRCUIT, name, p, len) ? errno
								       : 0;
	if (err && is_ours(name) && !errno_is_named(err))
		rule("set 0x%x: %s", name, strerror(err));
	if (is_gone(name) && !err)
		rule("set 0x%x, which is gone", name);
	if (!err && is_ours(name) && !had)
		rule("set 0x%x on a socket that is none of ours", name);
	if (!had || !look(slot, &after))
		return !err;
	if (err && before.tci_asked != after.tci_asked)
		rule("set 0x%x failed (%s) and changed something", name,
		     strerror(err));
	if (!err && p == no_page - len && name == TCP_CIRCUIT_FCWND) {
		check_set(pool[slot].fd, &after, v);
		if (before.tci_id == after.tci_id)
			check_cut(pool[slot].fd, &before, &after);
	}
	return !err;
}

bool do_get(void)
{
	int slot = any_socket(), fd = pool[slot].fd, name = option(), err;
	socklen_t len = length(name), got = len;
	char *p = pointer(len);

	memset(room, 0xa5, ROOM);
	err = getsockopt(fd, SOL_TCP_CIRCUIT, name, p,
			 below(32) ? &got : (socklen_t *)no_page) ? errno : 0;
	if (is_gone(name) && !err)
		rule("get 0x%x, which is gone", name);
	if (!is_ours(name))
		return !err;
	if (err && !errno_is_named(err))
		rule("get 0x%x: %s", name, strerror(err));
	if (!err && (got > len || got > sizeof(struct tcp_circuit_info)))
		rule("get 0x%x: %u of %u bytes", name, got, len);
	for (char *c = room; !err && c < no_page; c++)
		if ((c < p || c >= p + got) && *c != (char)0xa5)
			rule("get 0x%x wrote at %td of %u bytes", name, c - p,
			     got);
	return !err;
}
