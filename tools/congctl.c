// SPDX-License-Identifier: GPL-2.0
/*
 * Is an algorithm there, and if not, its module: see congctl.h.
 */
#include <errno.h>
#include <string.h>

#include "congctl.h"
#include "guarantee.h"
#include "item.h"
#include "kmod.h"
#include "sysctl.h"

/* Where nobody can tell it is: the kernel will say if it is not. */
bool congctl_is_here(const char *name)
{
	char available[ITEM_VALUE];
	struct err unused = { "" };

	return sysctl_get(AVAILABLE_CC, available, &unused) || has_word(available, name);
}

/* circuit comes with the module, which is an item of its own. */
int congctl_need(const char *name, struct err *e)
{
	struct err why = { "" };

	if (congctl_is_here(name))
		return 0;
	if (!strcmp(name, CC_NAME))
		return err_set(e, -ENOENT, "the kernel has no congestion control %s; modprobe %s",
			       CC_NAME, MODULE_NAME);
	if (!module_load(HTCP_MODULE, &why) && congctl_is_here(name))
		return 0;
	return err_set(e, -ENOENT,
		       "the kernel has no congestion control %s, which this path should get, and module %s cannot be loaded; a kernel with CONFIG_TCP_CONG_HTCP has it",
		       name, HTCP_MODULE);
}
