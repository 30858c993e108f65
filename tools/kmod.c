// SPDX-License-Identifier: GPL-2.0
/*
 * Modules through libkmod: modprobe.d's options, aliases and dependencies
 * count, its blacklist does not (the name was asked for).
 */
#include <errno.h>
#include <fcntl.h>
#include <libkmod.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "kmod.h"

static int no_module(const char *name, struct err *e)
{
	struct utsname u;

	uname(&u);
	return err_set(e, -ENOENT,
		       "there is no module %s for kernel %s; build it there (dkms install, or make install), then modprobe %s shows it loads",
		       name, u.release, name);
}

static int insert(struct kmod_ctx *ctx, const char *name, struct err *e)
{
	struct kmod_list *list = NULL, *pos;
	int rc;

	rc = kmod_module_new_from_lookup(ctx, name, &list);
	if (rc < 0 || !list)
		return no_module(name, e);
	kmod_list_foreach(pos, list) {
		struct kmod_module *mod = kmod_module_get_module(pos);

		rc = kmod_module_probe_insert_module(mod, 0, NULL, NULL, NULL, NULL);
		kmod_module_unref(mod);
		if (rc < 0)
			break;
	}
	kmod_module_unref_list(list);
	if (rc == -ENOENT)
		return no_module(name, e);
	if (rc < 0)
		return err_set(e, rc, "cannot load module %s: %s; modprobe %s and dmesg say more",
			       name, strerror(-rc), name);
	return 0;
}

/*
 * Loaded, in the kernel itself, or there to be loaded.  What is in the kernel itself and
 * neither listed by modules.builtin nor in /sys is not known.
 */
bool module_is_known(const char *name)
{
	struct kmod_ctx *ctx = kmod_new(NULL, NULL);
	struct kmod_list *list = NULL;
	char dir[128];
	bool known;

	snprintf(dir, sizeof(dir), "/sys/module/%.100s", name);
	known = !access(dir, F_OK);
	if (ctx && !known) {
		kmod_set_log_priority(ctx, 0);
		known = kmod_module_new_from_lookup(ctx, name, &list) >= 0 && list;
		kmod_module_unref_list(list);
	}
	kmod_unref(ctx);
	return known;
}

int module_load(const char *name, struct err *e)
{
	struct kmod_ctx *ctx = kmod_new(NULL, NULL);
	int rc;

	if (!ctx)
		return err_set(e, -ENOMEM, "cannot load module %s: out of memory", name);
	kmod_set_log_priority(ctx, 0);
	rc = insert(ctx, name, e);
	kmod_unref(ctx);
	return rc;
}

/* -EBUSY, -EAGAIN: in use.  Already gone is as good as removed. */
int module_remove(const char *name, struct err *e)
{
	struct kmod_ctx *ctx = kmod_new(NULL, NULL);
	struct kmod_module *mod;
	int rc;

	if (!ctx)
		return err_set(e, -ENOMEM, "cannot remove module %s: out of memory", name);
	kmod_set_log_priority(ctx, 0);
	rc = kmod_module_new_from_name(ctx, name, &mod);
	if (!rc) {
		rc = kmod_module_remove_module(mod, O_NONBLOCK);
		kmod_module_unref(mod);
	}
	kmod_unref(ctx);
	if (rc == -ENOENT)
		return 0;
	return rc ? err_set(e, rc, "cannot remove module %s: %s", name, strerror(-rc)) : 0;
}
