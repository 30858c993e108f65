// SPDX-License-Identifier: GPL-2.0
/*
 * Hands by sockets where libbpf 1.0 or clang was not there to build them: see hands_bpf.h.
 */
#include <errno.h>

#include "hands_bpf.h"

static int unable(struct err *e)
{
	return err_set(e, -EOPNOTSUPP,
		       "this ctcpd was built without libbpf 1.0 or clang, and cannot pace by sockets");
}

int hands_bpf_can(struct err *e)
{
	return unable(e);
}

int hands_bpf_is_pinned(struct err *e)
{
	(void)e;
	return 0;
}

void hands_bpf_drop_others(struct notes *notes)
{
	(void)notes;
}

bool hands_bpf_is_used(const struct hands_bpf *h)
{
	(void)h;
	return false;
}

int hands_bpf_open(struct hands_bpf **h, struct err *e)
{
	*h = NULL;
	return unable(e);
}

void hands_bpf_close(struct hands_bpf *h)
{
	(void)h;
}

int hands_bpf_apply(struct hands_bpf *h, const struct pace *list, uint32_t n,
		    struct hands_result *r, struct err *e)
{
	(void)h;
	(void)list;
	(void)n;
	(void)r;
	return unable(e);
}

int hands_bpf_tick(struct hands_bpf *h, struct err *e)
{
	(void)h;
	return unable(e);
}

int hands_bpf_look(struct hands_bpf *h, hand_fn each, void *data, struct err *e)
{
	(void)h;
	(void)each;
	(void)data;
	return unable(e);
}

int hands_bpf_undo(struct hands_bpf *h, struct hands_result *r, struct err *e)
{
	(void)h;
	(void)r;
	return unable(e);
}
