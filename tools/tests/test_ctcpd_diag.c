// SPDX-License-Identifier: GPL-2.0
/*
 * Samples of captured messages, against what ss said of the same sockets.
 */
#include <errno.h>
#include <linux/inet_diag.h>
#include <string.h>

#include "test.h"

#include "ctcpd/diag.h"
#include "ctcpd_captured.h"

static union {
	struct nlmsghdr hdr;
	char space[1024];
} msg;

static void is_addr(const struct prefix *p, const char *want)
{
	char text[64];

	assert_string_equal(format_addr(text, sizeof(text), p), want);
}

static struct sample parsed(const void *bytes, size_t len)
{
	struct sample s;

	memcpy(&msg, bytes, len);
	assert_int_equal(len, msg.hdr.nlmsg_len);
	assert_int_equal(sample_parse(&msg.hdr, &s), 0);
	return s;
}

static void test_ipv4(void **state)
{
	struct sample s = parsed(socket_4, sizeof(socket_4));

	(void)state;
	is_addr(&s.conn.peer, "192.0.2.2");
	is_addr(&s.conn.local, "192.0.2.1");
	assert_int_equal(s.conn.peer_port, 5001);
	assert_int_equal(s.conn.local_port, 49536);
	assert_int_equal(s.conn.cookie, 0x24a01);
	assert_string_equal(s.conn.algorithm, "bbr");
	assert_int_equal(s.conn.acked, 3000001);
	assert_int_equal(s.conn.mss, 1448);
	assert_int_equal(s.known, KNOWS_BYTES_SENT | KNOWS_SND_WND | KNOWS_SKMEM);
	assert_int_equal(s.sndbuf, 290304);
	assert_int_equal(s.wmem_queued, 0);
	assert_true(s.has_wscale);
	assert_int_equal(s.snd_wscale, 10);
	assert_int_equal(s.rtt_us, 831);
	assert_int_equal(s.rttvar_us, 277);
	assert_int_equal(s.rto_us, 204000);
	assert_int_equal(s.snd_cwnd, 26);
	assert_int_equal(s.snd_ssthresh, 136);
	assert_int_equal(s.bytes_sent, 6190808);
	assert_int_equal(s.bytes_retrans, 2546776);
	assert_int_equal(s.segs_out, 4279);
	assert_int_equal(s.data_segs_out, 4277);
	assert_int_equal(s.at_us, 0);
}

static void test_mapped(void **state)
{
	struct sample s = parsed(socket_mapped, sizeof(socket_mapped));

	(void)state;
	assert_int_equal(s.conn.peer.family, AF_INET);
	is_addr(&s.conn.peer, "192.0.2.2");
	assert_int_equal(s.bytes_sent, 20000);
	assert_int_equal(s.conn.acked, 20001);
}

static void test_ipv6(void **state)
{
	struct sample s = parsed(socket_6, sizeof(socket_6));

	(void)state;
	is_addr(&s.conn.peer, "2001:db8::2");
	assert_int_equal(s.conn.local_port, 41974);
	assert_int_equal(s.conn.mss, 1428);
	assert_int_equal(s.rtt_us, 55);
	assert_int_equal(s.bytes_sent, 10);
}

/* An attribute cut to @len bytes of payload, as an older kernel has it */
static struct sample with_less(uint16_t type, uint16_t len)
{
	struct nlattr *attr;
	struct sample s;

	memcpy(&msg, socket_4, sizeof(socket_4));
	mnl_attr_for_each(attr, &msg.hdr, sizeof(struct inet_diag_msg)) {
		char *end = (char *)attr + MNL_ALIGN(attr->nla_len);
		char *kept = (char *)attr + MNL_ATTR_HDRLEN + MNL_ALIGN(len);

		if (mnl_attr_get_type(attr) != type)
			continue;
		memmove(kept, end, (size_t)((char *)mnl_nlmsg_get_payload_tail(&msg.hdr) - end));
		msg.hdr.nlmsg_len -= (uint32_t)(end - kept);
		attr->nla_len = (uint16_t)(MNL_ATTR_HDRLEN + len);
		break;
	}
	assert_int_equal(sample_parse(&msg.hdr, &s), 0);
	return s;
}

static void test_older(void **state)
{
	struct sample s = with_less(INET_DIAG_INFO, 192);	/* 4.10: up to sndbuf_limited */

	(void)state;
	assert_int_equal(s.known, KNOWS_SKMEM);
	assert_int_equal(s.bytes_sent, 0);
	assert_int_equal(s.snd_wnd, 0);
	assert_int_equal(s.conn.acked, 3000001);
	s = with_less(INET_DIAG_INFO, 224);			/* 4.19: up to reord_seen */
	assert_int_equal(s.known, KNOWS_BYTES_SENT | KNOWS_SKMEM);
	assert_int_equal(s.bytes_sent, 6190808);
	s = with_less(INET_DIAG_SKMEMINFO, 12);
	assert_int_equal(s.known, KNOWS_BYTES_SENT | KNOWS_SND_WND);
	assert_int_equal(s.sndbuf, 0);
}

static void test_not_one(void **state)
{
	struct inet_diag_msg *diag;
	struct sample s;

	(void)state;
	memcpy(&msg, socket_4, sizeof(socket_4));
	diag = mnl_nlmsg_get_payload(&msg.hdr);
	diag->idiag_family = AF_UNIX;
	assert_int_equal(sample_parse(&msg.hdr, &s), -EBADMSG);
	memcpy(&msg, socket_4, sizeof(socket_4));
	msg.hdr.nlmsg_len = sizeof(msg.hdr) + sizeof(*diag) - 1;
	assert_int_equal(sample_parse(&msg.hdr, &s), -EBADMSG);
}

static void test_sends(void **state)
{
	static const struct {
		uint8_t state;
		bool sends;
	} all[] = {	/* include/net/tcp_states.h */
		{ 1, true }, { 2, false }, { 3, false }, { 4, true }, { 5, false }, { 6, false },
		{ 7, false }, { 8, true }, { 9, true }, { 10, false }, { 11, true }, { 12, false },
	};
	struct conn c = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		c.state = all[i].state;
		assert_int_equal(diag_sends(&c), all[i].sends);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ipv4), cmocka_unit_test(test_mapped),
		cmocka_unit_test(test_ipv6), cmocka_unit_test(test_older),
		cmocka_unit_test(test_not_one), cmocka_unit_test(test_sends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
