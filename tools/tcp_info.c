// SPDX-License-Identifier: GPL-2.0
/*
 * What a connection does, of the kernel's struct tcp_info: see conn.h.  In a file of its
 * own, as linux/tcp.h and netinet/tcp.h define the same names.
 */
#include <linux/tcp.h>
#include <string.h>

#include "conn.h"

#define NO_RTT UINT32_MAX	/* of tcpi_min_rtt, before the first one */

/* An older kernel tells less: what is not there is 0. */
void conn_info(const void *info, size_t len, struct conn *c)
{
	struct tcp_info ti = { 0 };

	memcpy(&ti, info, len < sizeof(ti) ? len : sizeof(ti));
	c->min_rtt = ti.tcpi_min_rtt == NO_RTT ? 0 : ti.tcpi_min_rtt;
	c->mss = ti.tcpi_snd_mss;
	c->unsent = ti.tcpi_notsent_bytes;
	c->acked = ti.tcpi_bytes_acked;
	c->busy = ti.tcpi_busy_time;
	c->rwnd = ti.tcpi_rwnd_limited;
	c->sndbuf = ti.tcpi_sndbuf_limited;
}
