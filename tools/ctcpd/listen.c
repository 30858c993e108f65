// SPDX-License-Identifier: GPL-2.0
/*
 * Where to listen: see listen.h.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "circuit.h"
#include "units.h"

#include "listen.h"

#define BACKLOG 16

static int split(const char *s, char addr[INET6_ADDRSTRLEN + 2], const char **port,
		 struct err *e)
{
	const char *colon = strrchr(s, ':');
	size_t n = colon ? (size_t)(colon - s) : 0;

	if (!n || strchr(colon, ']'))
		return err_set(e, -EINVAL,
			       "\"%.60s\" is no address with a port; write e.g. 127.0.0.1:9810 or [::1]:9810",
			       s);
	if (n >= INET6_ADDRSTRLEN + 2)
		return err_set(e, -EINVAL, "\"%.60s...\" is too long for an address with a port",
			       s);
	memcpy(addr, s, n);
	addr[n] = 0;
	*port = colon + 1;
	return 0;
}

/* An IPv6 address has colons of its own, so that it must be in brackets. */
static int parse_host(char *addr, struct prefix *p, struct err *e)
{
	size_t n = strlen(addr);
	bool in_brackets = *addr == '[' && addr[n - 1] == ']';

	if (in_brackets) {
		addr[n - 1] = 0;
		addr++;
	}
	if (parse_address(addr, p))
		return err_set(e, -EINVAL,
			       "\"%s\" is no address; names of hosts are none, write e.g. 127.0.0.1:9810 or [::1]:9810",
			       addr);
	if (p->family == AF_INET6 && !in_brackets)
		return err_set(e, -EINVAL, "\"%s\" must be in brackets: [%s]", addr, addr);
	if (p->family == AF_INET && in_brackets)
		return err_set(e, -EINVAL, "\"[%s]\" is an IPv4 address; write it without brackets",
			       addr);
	return 0;
}

static void fill(struct listen *l, const struct prefix *p, uint16_t port)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&l->addr;
	struct sockaddr_in *in = (struct sockaddr_in *)&l->addr;

	memset(l, 0, sizeof(*l));
	l->addr.ss_family = (sa_family_t)p->family;
	if (p->family == AF_INET6) {
		l->len = sizeof(*in6);
		in6->sin6_port = htons(port);
		memcpy(&in6->sin6_addr, p->addr, sizeof(in6->sin6_addr));
		l->local = IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
	} else {
		l->len = sizeof(*in);
		in->sin_port = htons(port);
		memcpy(&in->sin_addr, p->addr, sizeof(in->sin_addr));
		l->local = p->addr[0] == IN_LOOPBACKNET;
	}
}

int listen_parse(const char *s, struct listen *l, struct err *e)
{
	char addr[INET6_ADDRSTRLEN + 2];
	const char *port = NULL;
	struct prefix p;
	uint32_t n;
	int rc;

	rc = split(s, addr, &port, e);
	if (!rc)
		rc = parse_host(addr, &p, e);
	if (!rc && parse_count("port", port, 1, UINT16_MAX, &n, e))
		rc = -EINVAL;
	if (!rc)
		fill(l, &p, (uint16_t)n);
	return rc;
}

int listen_open(const char *s, const struct listen *l, struct err *e)
{
	int fd = socket(l->addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int yes = 1, rc;

	if (fd < 0)
		return err_set(e, -errno, "cannot listen on %s: %s", s, strerror(errno));
	/* connections of the daemon before this one may be in TIME_WAIT */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (l->addr.ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
	if (!bind(fd, (const struct sockaddr *)&l->addr, l->len) && !listen(fd, BACKLOG))
		return fd;
	rc = -errno;
	close(fd);
	if (rc == -EADDRINUSE)
		return err_set(e, rc, "cannot listen on %s: another program does already; ss -ltnp tells which",
			       s);
	if (rc == -EADDRNOTAVAIL)
		return err_set(e, rc, "cannot listen on %s: this host has no such address", s);
	return err_set(e, rc, "cannot listen on %s: %s", s, strerror(-rc));
}
