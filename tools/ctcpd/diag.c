// SPDX-License-Identifier: GPL-2.0
/*
 * Ask sock_diag(7) for all sockets, or for one: see diag.h.
 */
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <string.h>
#include <time.h>

#include "diag.h"

/* Those that send, or still have data to send */
#define STATES	(1U << TCP_ESTABLISHED | 1U << TCP_FIN_WAIT1 | 1U << TCP_CLOSE_WAIT | \
		 1U << TCP_CLOSING | 1U << TCP_LAST_ACK)

#define EXTENSIONS (1U << (INET_DIAG_INFO - 1) | 1U << (INET_DIAG_CONG - 1) | \
		    1U << (INET_DIAG_SKMEMINFO - 1))

/* us of CLOCK_BOOTTIME, which nobody sets and which goes on while the machine sleeps */
uint64_t diag_clock(void)
{
	struct timespec ts = { 0 };

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static bool is_loopback(const struct prefix *p)
{
	static const unsigned char one[16] = { [15] = 1 };

	if (p->family == AF_INET)
		return p->addr[0] == 127;
	return !memcmp(p->addr, one, sizeof(one));
}

/* By the loopback device, which loses nothing: also to an address of this host's own */
static bool is_own(const struct conn *c)
{
	return is_loopback(&c->peer) || prefix_equal(&c->peer, &c->local);
}

/* --- the filter ------------------------------------------------------------ */

/*
 * "Not to 127.0.0.0/8" and "not to ::1", as the kernel's inet_diag_bc_run() reads it: at each
 * step the offset to the next, if it is so and if not; at the end it is listed, behind the end
 * it is not.  A v4-mapped peer is compared as IPv4.
 */
struct step {
	struct inet_diag_bc_op op;
	char cond[sizeof(struct inet_diag_hostcond)];
	uint32_t addr[4];
};

struct filter {
	struct step step;
	struct inet_diag_bc_op refuse;
};

static void put_step(struct step *s, uint8_t family, uint8_t bits)
{
	const struct inet_diag_hostcond cond = {
		.family = family, .prefix_len = bits, .port = -1,
	};

	memcpy(s->cond, &cond, sizeof(s->cond));
	s->op = (struct inet_diag_bc_op){
		.code = INET_DIAG_BC_D_COND, .yes = sizeof(*s), .no = sizeof(struct filter),
	};
}

static void put_filters(struct nlmsghdr *nlh)
{
	struct filter f[2] = { 0 };
	uint32_t n = sizeof(f) / sizeof(*f), i;

	put_step(&f[0].step, AF_INET, 8);
	f[0].step.addr[0] = htonl(INADDR_LOOPBACK);
	put_step(&f[1].step, AF_INET6, 128);
	f[1].step.addr[3] = htonl(1);
	for (i = 0; i < n; i++)
		f[i].refuse = (struct inet_diag_bc_op){
			.code = INET_DIAG_BC_JMP, .yes = sizeof(f->refuse),
			.no = (unsigned short)((n - i - 1) * sizeof(*f) + sizeof(f->refuse) + 4),
		};
	mnl_attr_put(nlh, INET_DIAG_REQ_BYTECODE, sizeof(f), f);
}

/* --- all ------------------------------------------------------------------- */

struct reader {
	sample_fn each;
	void *data;
};

static int on_sample(const struct nlmsghdr *nlh, void *data)
{
	const struct reader *r = data;
	struct sample s;
	int rc = sample_parse(nlh, &s);

	s.at_us = diag_clock();
	if (!rc && !is_own(&s.conn))
		rc = r->each(&s, r->data);
	errno = -rc;
	return rc ? MNL_CB_ERROR : MNL_CB_OK;
}

/*
 * TCPDIAG_GETSOCK lists both families; SOCK_DIAG_BY_FAMILY one, and for each the kernel goes
 * through the sockets of all network namespaces.
 */
int diag_all(struct diag *d, sample_fn each, void *data, struct err *e)
{
	union nl_request req = { 0 };
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&req);
	struct inet_diag_req *diag = mnl_nlmsg_put_extra_header(nlh, sizeof(*diag));
	struct reader r = { each, data };
	struct err why = { "" };
	int rc;

	nlh->nlmsg_type = TCPDIAG_GETSOCK;
	diag->idiag_ext = EXTENSIONS;
	diag->idiag_states = STATES;
	put_filters(nlh);
	rc = nlm_dump(&d->nl, nlh, on_sample, &r, &why);
	return rc ? conns_error(rc, &why, e) : 0;
}

/* --- one ------------------------------------------------------------------- */

static int on_one(const struct nlmsghdr *nlh, void *data)
{
	struct sample *s = data;

	errno = -sample_parse(nlh, s);
	return errno ? MNL_CB_ERROR : MNL_CB_OK;
}

static void put_identity(struct inet_diag_sockid *id, const struct conn *c)
{
	memcpy(id->idiag_dst, c->peer.addr, c->peer.len / 8);
	memcpy(id->idiag_src, c->local.addr, c->local.len / 8);
	id->idiag_dport = htons(c->peer_port);
	id->idiag_sport = htons(c->local_port);
	id->idiag_if = c->ifindex;
	id->idiag_cookie[0] = (uint32_t)c->cookie;
	id->idiag_cookie[1] = (uint32_t)(c->cookie >> 32);
}

static void put_request(struct nlmsghdr *nlh, const struct conn *who)
{
	struct inet_diag_req_v2 *diag = mnl_nlmsg_put_extra_header(nlh, sizeof(*diag));

	nlh->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	diag->sdiag_family = (uint8_t)who->peer.family;
	diag->sdiag_protocol = IPPROTO_TCP;
	diag->idiag_ext = EXTENSIONS;
	diag->idiag_states = STATES;
	put_identity(&diag->id, who);
}

bool diag_sends(const struct conn *c)
{
	return STATES & 1U << c->state;
}

/* Its addresses may have become another's (ESTALE): then it is gone as well. */
int diag_one(struct diag *d, const struct conn *who, struct sample *s, struct err *e)
{
	union nl_request req = { 0 };
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&req);
	struct err why = { "" };
	int rc;

	put_request(nlh, who);
	memset(s, 0, sizeof(*s));
	rc = nlm_get(&d->nl, nlh, on_one, s, &why);
	s->at_us = diag_clock();
	if (rc == -ESTALE || (!rc && s->conn.cookie != who->cookie))
		rc = -ENOENT;
	return rc ? err_set(e, rc, "cannot ask for a TCP socket: %s", why.text) : 0;
}

int diag_open(struct diag *d, struct err *e)
{
	return nlm_open(&d->nl, NETLINK_SOCK_DIAG, e);
}

void diag_close(struct diag *d)
{
	nlm_close(&d->nl);
}
