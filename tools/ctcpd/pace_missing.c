// SPDX-License-Identifier: GPL-2.0
/*
 * What pacing by sockets needs: see pace_missing.h.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "out.h"
#include "pace_missing.h"
#include "pace_slot.h"

#define BTF	"/sys/kernel/btf/vmlinux"
#define BPFFS	"/sys/fs/bpf"

static const struct {
	unsigned int cap;
	const char *name;
} needed[] = {
	{ CAP_BPF, "CAP_BPF" },
	{ CAP_PERFMON, "CAP_PERFMON" },
	{ CAP_NET_ADMIN, "CAP_NET_ADMIN" },
};

static bool has(const struct __user_cap_data_struct *caps, unsigned int cap)
{
	return caps[CAP_TO_INDEX(cap)].effective & CAP_TO_MASK(cap);
}

int pace_missing_rights(struct err *e)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3] = { 0 };
	char text[64];
	struct out o = out_to(text, sizeof(text));
	size_t i;

	if (syscall(SYS_capget, &header, caps))
		return err_set(e, -errno, "its capabilities cannot be read: %s", strerror(errno));
	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!has(caps, needed[i].cap))
			out_word(&o, needed[i].name);
	if (!o.used)
		return 0;
	return err_set(e, -EACCES, "pacing by sockets needs%s%s, which this process has not",
		       *text == ' ' ? "" : " ", text);
}

int pace_missing_here(struct err *e)
{
	struct statfs fs;

	if (access(BTF, R_OK))
		return err_set(e, -EOPNOTSUPP,
			       BTF " is not there: the kernel was built without CONFIG_DEBUG_INFO_BTF, which pacing by sockets needs");
	if (statfs(BPFFS, &fs) || (uint32_t)fs.f_type != BPF_FS_MAGIC)
		return err_set(e, -EOPNOTSUPP,
			       "there is no bpffs at " BPFFS ", where what is paced would be pinned; mount -t bpf bpf "
			       BPFFS);
	return 0;
}

int pace_missing_marks(int marks, struct err *e)
{
	const struct pace_mark none = { 0 };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return err_set(e, -errno, "no socket can be opened: %s", strerror(errno));
	rc = bpf_map_update_elem(marks, &fd, &none, BPF_NOEXIST) ? -errno : 0;
	close(fd);
	if (!rc)
		return 0;
	return err_set(e, rc == -ENOMEM ? -EOPNOTSUPP : rc,
		       "the kernel keeps no mark with a socket: %s; net.core.optmem_max may be too low, or the processor lack cmpxchg16b",
		       strerror(-rc));
}

int pace_cgroup_root(char *dir, size_t len, struct err *e)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent *m;

	*dir = 0;
	while (f && !*dir && (m = getmntent(f)))
		if (!strcmp(m->mnt_type, "cgroup2"))
			out_copy(dir, len, m->mnt_dir);
	if (f)
		endmntent(f);
	if (*dir)
		return 0;
	return err_set(e, -EOPNOTSUPP,
		       "no cgroup2 is mounted, at whose root sockets would be followed; mount -t cgroup2 none DIR");
}
