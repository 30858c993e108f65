// SPDX-License-Identifier: GPL-2.0
/*
 * A kernel that answers with what the fuzzer likes: see fake_kernel.h.
 *
 * What libmnl has is defined here anew, and the linker takes the first; what has another
 * name goes by its --wrap (fuzz.mk).
 */
#include <errno.h>
#include <net/if.h>
#include <sanitizer/asan_interface.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <libmnl/libmnl.h>

#include "fake_kernel.h"
#include "fuzz.h"

#define PORT	4242U
#define ASKED_MAX 256U	/* requests; the longest, a dump begun ten times, takes 20 */

struct mnl_socket {
	bool open;
};

static struct {
	const uint8_t *at, *end;
	unsigned int asked;
	const char *behind;	/* of the last datagram in its buffer: nobody's */
	size_t unused;
	struct mnl_socket sockets[4];
} fake;

static void forbid(const char *from, size_t n)
{
	if (fake.unused)
		ASAN_UNPOISON_MEMORY_REGION(fake.behind, fake.unused);
	fake.behind = from;
	fake.unused = n;
	if (n)
		ASAN_POISON_MEMORY_REGION(from, n);
}

void fake_kernel_begin(const uint8_t *data, size_t size)
{
	memset(&fake, 0, sizeof(fake));
	fake.at = data;
	fake.end = data + size;
}

void fake_kernel_end(void)
{
	size_t i;

	for (i = 0; i < sizeof(fake.sockets) / sizeof(fake.sockets[0]); i++)
		fuzz_true("no socket is left open", !fake.sockets[i].open, "");
}

/* Bytes of the next datagram, *@data = its first, or -1 behind the last one. */
static ssize_t next_datagram(const uint8_t **data)
{
	size_t left = (size_t)(fake.end - fake.at), n;

	if (left < 2) {
		errno = ENOBUFS;
		return -1;
	}
	n = fake.at[0] | (size_t)fake.at[1] << 8;
	*data = fake.at + 2;
	return (ssize_t)(n > left - 2 ? left - 2 : n);
}

/* --- libmnl ---------------------------------------------------------------- */

struct mnl_socket *mnl_socket_open2(int bus, int flags)
{
	size_t i;

	(void)bus;
	(void)flags;
	for (i = 0; fake.sockets[i].open; i++)
		fuzz_true("few sockets", i + 1 < sizeof(fake.sockets) / sizeof(fake.sockets[0]),
			  "");
	fake.sockets[i].open = true;
	return &fake.sockets[i];
}

int mnl_socket_bind(struct mnl_socket *nl, unsigned int groups, pid_t pid)
{
	(void)nl;
	(void)groups;
	(void)pid;
	return 0;
}

int mnl_socket_setsockopt(const struct mnl_socket *nl, int type, void *buf, socklen_t len)
{
	(void)nl;
	(void)type;
	(void)buf;
	(void)len;
	return 0;
}

int mnl_socket_get_fd(const struct mnl_socket *nl)
{
	(void)nl;
	return -1;
}

unsigned int mnl_socket_get_portid(const struct mnl_socket *nl)
{
	(void)nl;
	return PORT;
}

int mnl_socket_close(struct mnl_socket *nl)
{
	fuzz_true("it was open", nl->open, "");
	nl->open = false;
	return 0;
}

ssize_t mnl_socket_sendto(const struct mnl_socket *nl, const void *req, size_t len)
{
	const struct nlmsghdr *nlh = req;

	fuzz_true("it is open", nl->open, "");
	fuzz_true("a whole message is sent",
		  len >= sizeof(*nlh) && len == nlh->nlmsg_len, "");
	fuzz_true("it comes to an end", ++fake.asked < ASKED_MAX, "");
	return (ssize_t)len;
}

static ssize_t take_datagram(void *buf, size_t bufsiz)
{
	const uint8_t *data;
	ssize_t n = next_datagram(&data);

	forbid(NULL, 0);
	if (n < 0)
		return n;
	fake.at = data + n;
	if ((size_t)n > bufsiz) {
		errno = ENOSPC;
		return -1;
	}
	memcpy(buf, data, (size_t)n);
	forbid((char *)buf + n, bufsiz - (size_t)n);
	return n;
}

ssize_t mnl_socket_recvfrom(const struct mnl_socket *nl, void *buf, size_t bufsiz)
{
	fuzz_true("it is open", nl->open, "");
	return take_datagram(buf, bufsiz);
}

/* --- others ---------------------------------------------------------------- */

int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len);
ssize_t __wrap_recvfrom(int fd, void *buf, size_t len, int flags, struct sockaddr *from,
			socklen_t *size);
int __wrap_link_index(const char *dev);
bool __wrap_sysctl_exists(const char *name);
char *__wrap_if_indextoname(unsigned int index, char *name);
void __wrap_free(void *p);
void __real_free(void *p);

int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len)
{
	(void)fd;
	(void)to;
	(void)len;
	return 0;
}

/* Its own address, which is all zeros, stands in @from. */
ssize_t __wrap_recvfrom(int fd, void *buf, size_t len, int flags, struct sockaddr *from,
			socklen_t *size)
{
	const uint8_t *data;

	(void)fd;
	(void)from;
	(void)size;
	fuzz_true("its length is told", flags & MSG_TRUNC, "");
	return flags & MSG_PEEK ? next_datagram(&data) : take_datagram(buf, len);
}

int __wrap_link_index(const char *dev)
{
	(void)dev;
	return FAKE_IFINDEX;
}

bool __wrap_sysctl_exists(const char *name)
{
	(void)name;
	return true;
}

/* A name, none any more, or one that a terminal would obey. */
char *__wrap_if_indextoname(unsigned int index, char *name)
{
	if (index % 3 == 2) {
		errno = ENXIO;
		return NULL;
	}
	return strcpy(name, index % 3 ? "eth1" : "e\033[2J");
}

/* The buffer goes: what stood behind its datagram is whoever has the memory next. */
void __wrap_free(void *p)
{
	forbid(NULL, 0);
	__real_free(p);
}
