/* SPDX-License-Identifier: GPL-2.0 */
/*
 * States on disk: one file a network namespace, /run/ctcp-setup/NAMESPACE.state, or
 * below CTCP_RUNDIR; and beside them a file "module" while the module is one that we
 * loaded, for that is the machine's.  It has the boot and, once the module is there, which
 * load of it is ours: whoever removes it and loads it again has a module of their own.
 *
 * store_open(), store_lock(): -EPERM, the folder is a stranger's, or one that others may write to.
 * store_lock(): -EALREADY, another has had it for 5 s.  store_read(): -EBADMSG, damaged; no file
 * is an empty state.  store_write(): the state of before or all of this one is there.
 * store_prepare(): where it fails the one of before is; e says so if that failed, too.
 */
#ifndef CTCP_STORE_H
#define CTCP_STORE_H

#include <stdbool.h>

#include "state.h"

#define NETNS_KEY 24

struct store {
	char dir[256];
	char netns[NETNS_KEY];
	char boot[40];
	int lock;		/* fd, -1 = not held */
	char *text;		/* the file as it was read, NULL = there was none */
	size_t len;
	bool touched;		/* it was written since */
	const char *module;	/* its folder in sysfs */
	bool has_module;	/* the one that is there, we loaded */
	bool knows_load;	/* its note tells which load that was */
	bool stale_module;	/* there is a note, but of a load that is gone */
};

int store_open(struct store *s, struct err *e);
int store_make_dir(const struct store *s, struct err *e);	/* as well if it is there */
void store_close(struct store *s);
int store_lock(struct store *s, struct err *e);
void store_unlock(struct store *s);
bool store_is_locked(const struct store *s, char pid[16]);
int store_read(struct store *s, struct state *st, struct err *e);
int store_write(struct store *s, const struct state *st, struct err *e);
int store_prepare(struct store *s, const struct state *st, struct err *e);
int store_restore(struct store *s, struct err *e);
void store_path(const struct store *s, char *buf, size_t len);

int store_read_module(struct store *s, struct err *e);
int store_keep_module(struct store *s, bool keep, struct err *e);
int store_know_module(struct store *s, struct err *e);
bool store_others(const struct store *s, char *file, size_t len, char dev[IFNAMSIZ]);

#endif
