// SPDX-License-Identifier: GPL-2.0
/*
 * ctcpd_denied FILE...: what this process may do, for a test of a unit that should be able to do
 * next to nothing
 *
 * One line of words NAME=0 (it may) or NAME=ERRNO; FILE=0: that could be opened for writing,
 * and made if it was not there; with a / at its end, that folder could be made.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/if_packet.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void tell(const char *name, long rc)
{
	printf("%s=%d ", name, rc < 0 ? errno : 0);
}

static void tell_fd(const char *name, int fd)
{
	tell(name, fd);
	if (fd >= 0)
		close(fd);
}

static void tell_path(const char *path)
{
	if (path[strlen(path) - 1] == '/')
		tell(path, mkdir(path, 0700));
	else
		tell_fd(path, open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

/* A program that returns 0: the least that a kernel takes */
static int load_bpf(void)
{
	struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER, .insn_cnt = 2,
		.insns = (unsigned long)program, .license = (unsigned long)"GPL",
	};

	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

/* @line begins with "Cap": 0 where none of them is there */
static void tell_capabilities(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	unsigned long long all = 0, one;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Cap%*[a-zA-Z]: %llx", &one) == 1)
			all |= one;
	if (f)
		fclose(f);
	printf("capabilities=%llx ", f ? all : ~0ULL);
}

int main(int argc, char **argv)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	printf("uid=%d ", (int)getuid());
	tell_capabilities();
	tell("code", code == MAP_FAILED ? -1 : 0);
	tell_fd("bpf", load_bpf());
	tell_fd("packet", socket(AF_PACKET, SOCK_RAW, 0));
	tell_fd("vsock", socket(AF_VSOCK, SOCK_STREAM, 0));
	tell_fd("netlink", socket(AF_NETLINK, SOCK_RAW, 0));
	tell_fd("inet", socket(AF_INET, SOCK_STREAM, 0));
	tell("mount", mount("none", "/mnt", "tmpfs", 0, NULL));
	tell("nice", setpriority(PRIO_PROCESS, 0, 5));
	tell("userns", unshare(CLONE_NEWUSER));
	for (i = 1; i < argc; i++)
		tell_path(argv[i]);
	putchar('\n');
	return 0;
}
