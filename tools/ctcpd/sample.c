// SPDX-License-Identifier: GPL-2.0
/*
 * A sample, of one message of sock_diag(7): see diag.h.  Apart from diag.c, as linux/tcp.h and
 * netinet/tcp.h define the same names.
 */
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <string.h>

#include "diag.h"

/* Where a field of struct tcp_info ends: what an older kernel tells is shorter */
#define END_OF(field) (offsetof(struct tcp_info, field) + sizeof(((struct tcp_info *)0)->field))

static void read_state(const struct tcp_info *ti, struct sample *s)
{
	s->ca_state = ti->tcpi_ca_state;
	s->snd_wscale = ti->tcpi_snd_wscale;
	s->has_wscale = ti->tcpi_options & TCPI_OPT_WSCALE;
	s->app_limited = ti->tcpi_delivery_rate_app_limited;
	s->rtt_us = ti->tcpi_rtt;
	s->rttvar_us = ti->tcpi_rttvar;
	s->rto_us = ti->tcpi_rto;
	s->snd_cwnd = ti->tcpi_snd_cwnd;
	s->snd_ssthresh = ti->tcpi_snd_ssthresh;
	s->unacked = ti->tcpi_unacked;
	s->lost = ti->tcpi_lost;
	s->retrans = ti->tcpi_retrans;
	s->sacked = ti->tcpi_sacked;
	s->reordering = ti->tcpi_reordering;
	s->snd_wnd = ti->tcpi_snd_wnd;
	s->delivery_rate = ti->tcpi_delivery_rate;
	s->pacing_rate = ti->tcpi_pacing_rate;
	s->max_pacing_rate = ti->tcpi_max_pacing_rate;
}

static void read_counters(const struct tcp_info *ti, struct sample *s)
{
	s->total_retrans = ti->tcpi_total_retrans;
	s->segs_out = ti->tcpi_segs_out;
	s->data_segs_out = ti->tcpi_data_segs_out;
	s->delivered = ti->tcpi_delivered;
	s->delivered_ce = ti->tcpi_delivered_ce;
	s->bytes_sent = ti->tcpi_bytes_sent;
	s->bytes_retrans = ti->tcpi_bytes_retrans;
	s->dsack_dups = ti->tcpi_dsack_dups;
	s->reord_seen = ti->tcpi_reord_seen;
}

static void read_info(const struct nlattr *attr, struct sample *s)
{
	size_t len = mnl_attr_get_payload_len(attr);
	struct tcp_info ti = { 0 };

	memcpy(&ti, mnl_attr_get_payload(attr), len < sizeof(ti) ? len : sizeof(ti));
	if (len >= END_OF(tcpi_reord_seen))
		s->known |= KNOWS_BYTES_SENT;
	if (len >= END_OF(tcpi_snd_wnd))
		s->known |= KNOWS_SND_WND;
	read_state(&ti, s);
	read_counters(&ti, s);
}

static void read_memory(const struct nlattr *attr, struct sample *s)
{
	uint32_t mem[SK_MEMINFO_SNDBUF + 3];

	if (mnl_attr_get_payload_len(attr) < sizeof(mem))
		return;
	memcpy(mem, mnl_attr_get_payload(attr), sizeof(mem));
	s->sndbuf = mem[SK_MEMINFO_SNDBUF];
	s->wmem_queued = mem[SK_MEMINFO_WMEM_QUEUED];
	s->wmem_alloc = mem[SK_MEMINFO_WMEM_ALLOC];
	s->known |= KNOWS_SKMEM;
}

int sample_parse(const struct nlmsghdr *nlh, struct sample *s)
{
	const struct nlattr *attr;
	int rc;

	memset(s, 0, sizeof(*s));
	rc = conn_parse(nlh, &s->conn);
	if (rc)
		return rc;
	mnl_attr_for_each(attr, nlh, sizeof(struct inet_diag_msg)) {
		if (mnl_attr_get_type(attr) == INET_DIAG_INFO)
			read_info(attr, s);
		if (mnl_attr_get_type(attr) == INET_DIAG_SKMEMINFO)
			read_memory(attr, s);
	}
	return 0;
}
