// SPDX-License-Identifier: GPL-2.0
/*
 * Modules through libkmod: modprobe.d's options, aliases and dependencies
 * count, its blacklist does not (the name was asked for).
 *
 * The library is opened where a module is loaded, removed or looked for, which few runs do: it
 * brings libcrypto and two more, and all four take as long to start as the rest of a short run.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libkmod.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "kmod.h"

#define LIBRARY	"libkmod.so.2"

static struct {
	typeof(kmod_list_next) *kmod_list_next;
	typeof(kmod_module_get_module) *kmod_module_get_module;
	typeof(kmod_module_new_from_lookup) *kmod_module_new_from_lookup;
	typeof(kmod_module_new_from_name) *kmod_module_new_from_name;
	typeof(kmod_module_probe_insert_module) *kmod_module_probe_insert_module;
	typeof(kmod_module_remove_module) *kmod_module_remove_module;
	typeof(kmod_module_unref) *kmod_module_unref;
	typeof(kmod_module_unref_list) *kmod_module_unref_list;
	typeof(kmod_new) *kmod_new;
	typeof(kmod_set_log_priority) *kmod_set_log_priority;
	typeof(kmod_unref) *kmod_unref;
} lib;

static const struct {
	const char *name;
	void *pointer;
} functions[] = {
	{ "kmod_list_next", &lib.kmod_list_next },
	{ "kmod_module_get_module", &lib.kmod_module_get_module },
	{ "kmod_module_new_from_lookup", &lib.kmod_module_new_from_lookup },
	{ "kmod_module_new_from_name", &lib.kmod_module_new_from_name },
	{ "kmod_module_probe_insert_module", &lib.kmod_module_probe_insert_module },
	{ "kmod_module_remove_module", &lib.kmod_module_remove_module },
	{ "kmod_module_unref", &lib.kmod_module_unref },
	{ "kmod_module_unref_list", &lib.kmod_module_unref_list },
	{ "kmod_new", &lib.kmod_new },
	{ "kmod_set_log_priority", &lib.kmod_set_log_priority },
	{ "kmod_unref", &lib.kmod_unref },
};

static bool open_library(void)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW), *function;
	size_t i;

	for (i = 0; handle && i < sizeof(functions) / sizeof(functions[0]); i++) {
		function = dlsym(handle, functions[i].name);
		if (!function)
			return false;
		memcpy(functions[i].pointer, &function, sizeof(function));
	}
	return handle;
}

/* NULL, and dlerror() says why, or it was memory */
static struct kmod_ctx *open_kmod(void)
{
	static bool is_open;
	struct kmod_ctx *ctx;

	is_open = is_open || open_library();
	ctx = is_open ? lib.kmod_new(NULL, NULL) : NULL;
	if (ctx)
		lib.kmod_set_log_priority(ctx, 0);
	return ctx;
}

/* @by_hand: the command that does without the library */
static int cannot_open(const char *what, const char *name, const char *by_hand, struct err *e)
{
	const char *why = dlerror();

	if (!why)
		return err_set(e, -ENOMEM, "cannot %s module %s: out of memory", what, name);
	return err_set(e, -ELIBACC, "cannot %s module %s: %s; %s %s does it by hand", what, name,
		       why, by_hand, name);
}

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

	rc = lib.kmod_module_new_from_lookup(ctx, name, &list);
	if (rc < 0 || !list)
		return no_module(name, e);
	for (pos = list; pos; pos = lib.kmod_list_next(list, pos)) {
		struct kmod_module *mod = lib.kmod_module_get_module(pos);

		rc = lib.kmod_module_probe_insert_module(mod, 0, NULL, NULL, NULL, NULL);
		lib.kmod_module_unref(mod);
		if (rc < 0)
			break;
	}
	lib.kmod_module_unref_list(list);
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
	struct kmod_list *list = NULL;
	struct kmod_ctx *ctx;
	char dir[128];
	bool known;

	snprintf(dir, sizeof(dir), "/sys/module/%.100s", name);
	if (!access(dir, F_OK))
		return true;
	ctx = open_kmod();
	if (!ctx)
		return false;
	known = lib.kmod_module_new_from_lookup(ctx, name, &list) >= 0 && list;
	lib.kmod_module_unref_list(list);
	lib.kmod_unref(ctx);
	return known;
}

int module_load(const char *name, struct err *e)
{
	struct kmod_ctx *ctx = open_kmod();
	int rc;

	if (!ctx)
		return cannot_open("load", name, "modprobe", e);
	rc = insert(ctx, name, e);
	lib.kmod_unref(ctx);
	return rc;
}

/* -EBUSY, -EAGAIN: in use.  Already gone is as good as removed. */
int module_remove(const char *name, struct err *e)
{
	struct kmod_ctx *ctx = open_kmod();
	struct kmod_module *mod;
	int rc;

	if (!ctx)
		return cannot_open("remove", name, "modprobe -r", e);
	rc = lib.kmod_module_new_from_name(ctx, name, &mod);
	if (!rc) {
		rc = lib.kmod_module_remove_module(mod, O_NONBLOCK);
		lib.kmod_module_unref(mod);
	}
	lib.kmod_unref(ctx);
	if (rc == -ENOENT)
		return 0;
	return rc ? err_set(e, rc, "cannot remove module %s: %s", name, strerror(-rc)) : 0;
}
