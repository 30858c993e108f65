// SPDX-License-Identifier: GPL-2.0
/*
 * Find a circuit's connections, and give them circuit: see adopt.h.
 */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adopt.h"
#include "fault.h"
#include "grow.h"

#define ALGORITHM	"circuit"
#define RENO		"circuit-reno"	/* the same, where nothing gives a window */
#define WORK_STACK	65536	/* bytes */

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP	262
#endif

/* --- which ----------------------------------------------------------------- */

static bool has_circuit(const char *algorithm)
{
	return !strcmp(algorithm, ALGORITHM) || !strcmp(algorithm, RENO);
}

/* An option set on an MPTCP socket applies to all its subflows, whatever their peer. */
enum fate fate_of(const struct conn *c)
{
	if (has_circuit(c->algorithm))
		return FATE_CIRCUIT;
	if (c->mptcp)
		return FATE_MPTCP;
	if (c->inode)
		return FATE_WANTED;
	/* a socket reaches these states only after its process has closed it */
	return c->state == TCP_FIN_WAIT1 || c->state == TCP_CLOSING || c->state == TCP_LAST_ACK ?
	       FATE_ORPHANED : FATE_UNACCEPTED;
}

struct finder {
	struct adoption *ad;
	const struct object *object;	/* whose connections are looked for */
};

static int keep(struct adoption *ad, const struct conn *c)
{
	struct adoptee *more = grown(ad->list, ad->n, sizeof(*more));

	if (!more)
		return -ENOMEM;
	ad->list = more;
	more[ad->n++] = (struct adoptee){ .conn = *c, .fate = fate_of(c) };
	return 0;
}

/* Keep connections in one of the object's prefixes; another's may be longer (drop_others()). */
static int on_conn(const struct conn *c, void *data)
{
	const struct finder *f = data;
	uint32_t i;

	if (!c->algorithm[0])
		return 0;
	for (i = 0; i < f->object->n; i++)
		if (prefix_holds(&f->object->prefixes[i], &c->peer))
			return keep(f->ad, c);
	return 0;
}

/* Ask for the device only if a circuit depends on it. */
static const struct live *circuit_of(const struct rules *rs, struct nl *nl,
				     const struct conn *c)
{
	uint32_t ifindex = rs->by_device ? conn_device(nl, c) : 0;

	return rules_match(rs, &c->peer, ifindex, c->mark);
}

static int drop_others(struct adoption *ad, const struct rules *rs, const struct live *of,
		       struct err *e)
{
	uint32_t i, n = 0;
	struct nl nl;
	int rc = nlm_open(&nl, NETLINK_ROUTE, e);

	for (i = 0; i < ad->n && !rc; i++)
		if (circuit_of(rs, &nl, &ad->list[i].conn) == of)
			ad->list[n++] = ad->list[i];
	ad->n = n;
	nlm_close(&nl);
	return rc;
}

static int compare(const void *a, const void *b)
{
	uint32_t p = ((const struct adoptee *)a)->conn.inode;
	uint32_t q = ((const struct adoptee *)b)->conn.inode;

	return (p > q) - (p < q);
}

/* Find the connections of @of, one of @ls, which has all circuits. */
int adoption_find(struct adoption *ad, const struct lives *ls, const struct live *of,
		  struct err *e)
{
	struct finder f = { ad, &of->object };
	struct rules rs;
	int rc = conns_read(on_conn, &f, e);

	if (rc)
		return rc;
	if (rules_make(&rs, ls))
		return err_set(e, -ENOMEM, "out of memory");
	rc = drop_others(ad, &rs, of, e);
	rules_free(&rs);
	if (ad->n)
		qsort(ad->list, ad->n, sizeof(*ad->list), compare);
	return rc;
}

/* --- how ------------------------------------------------------------------- */

/* glibc of Debian 11 knows neither call, its kernel headers do. */
static int duplicate(struct adoptee *a, const struct holder *h)
{
	int pidfd, fd;

	a->step = "pidfd_open";
	pidfd = (int)syscall(__NR_pidfd_open, h->pid, 0);
	if (pidfd < 0)
		return -errno;
	a->step = "pidfd_getfd";
	fd = (int)syscall(__NR_pidfd_getfd, pidfd, h->fd, 0);
	if (fd < 0)
		fd = -errno;
	close(pidfd);
	return fd;
}

/* By now another file may have the number, and another socket the inode. */
static enum fate look_at(int fd, const struct conn *c)
{
	uint64_t cookie = 0;
	socklen_t cookie_len = sizeof(cookie), len = sizeof(int);
	int protocol = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len) ||
	    getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &cookie_len))
		return FATE_CLOSED;
	if (protocol == IPPROTO_MPTCP)
		return FATE_MPTCP;
	return protocol == IPPROTO_TCP && cookie == c->cookie ? FATE_WANTED : FATE_CLOSED;
}

/* The circuit may have gone meanwhile: then nothing gives it a window. */
static enum fate give(struct adoptee *a, int fd)
{
	char now[ALGORITHM_LEN] = "";
	socklen_t len = sizeof(now);

	a->step = "TCP_CONGESTION";
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, ALGORITHM, strlen(ALGORITHM)) ||
	    getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, now, &len)) {
		a->error = errno;
		return FATE_REFUSED;
	}
	a->error = 0;
	return strcmp(now, ALGORITHM) ? FATE_REFUSED : FATE_ADOPTED;
}

/* The duplicate stays open: see adopt(). */
static enum fate adopt_duplicate(struct adoptee *a, const struct holder *h)
{
	int fd = duplicate(a, h);
	enum fate fate;

	if (fd == -EBADF || fd == -ESRCH)
		return FATE_CLOSED;
	if (fd < 0) {
		a->error = -fd;
		return FATE_REFUSED;
	}
	faulty_hold();
	fate = look_at(fd, &a->conn);
	return fate == FATE_WANTED ? give(a, fd) : fate;
}

struct work {
	struct adoptee *a;
	const struct holder *h;
};

static int work(void *data)
{
	const struct work *w = data;

	w->a->fate = adopt_duplicate(w->a, w->h);
	return 0;
}

/*
 * If the socket's process has closed it meanwhile, close(2) of the duplicate is the last one and
 * waits for as long as SO_LINGER says; a file that is open when its process exits does not wait
 * (inet_release()).  So each adoption is done by a child that then exits.  The child has its own
 * descriptors and shares our memory, so that nothing is copied.
 */
static enum fate adopt(struct adoptee *a, const struct holder *h)
{
	static char stack[WORK_STACK] __attribute__((aligned(16)));
	struct work w = { a, h };
	pid_t pid;

	a->fate = FATE_REFUSED;
	a->step = "clone";
	a->error = EINTR;	/* unless the child runs to its end */
	pid = clone(work, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, &w);
	if (pid < 0)
		a->error = errno;
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return a->fate;
}

static bool is_open(const struct adoptee *a)
{
	return a->fate == FATE_WANTED || a->fate == FATE_REFUSED || a->fate == FATE_CLOSED;
}

/* If one process that holds a socket did not let us, try the next one that holds it. */
static bool on_holder(const struct holder *h, void *data)
{
	const struct adoptee key = { .conn.inode = h->inode };
	struct adoption *ad = data;
	struct adoptee *a;

	a = ad->n ? bsearch(&key, ad->list, ad->n, sizeof(key), compare) : NULL;
	if (!a || !is_open(a))
		return true;
	holder_program(h->pid, a->program);
	a->pid = h->pid;
	a->fate = ad->dry_run ? FATE_ADOPTED : adopt(a, h);
	ad->open -= !is_open(a);
	return ad->open;
}

int adoption_do(struct adoption *ad, struct err *e)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < ad->n; i++)
		ad->open += is_open(&ad->list[i]);
	if (ad->open)
		rc = holders_walk(on_holder, ad, &ad->blind, e);
	for (i = 0; i < ad->n; i++)
		ad->count[ad->list[i].fate]++;
	return rc;
}

void adoption_free(struct adoption *ad)
{
	free(ad->list);
	memset(ad, 0, sizeof(*ad));
}
