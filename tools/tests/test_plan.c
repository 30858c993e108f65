// SPDX-License-Identifier: GPL-2.0
/*
 * The arithmetic: a table from 1 Mbit/s x 0.1 ms to 400 Gbit/s x 600 ms.
 *
 * Each row is worked out by hand in its comment.  Common to all: 1448 bytes of
 * data in a segment of 1500 (20 IP, 20 TCP, 12 timestamps), 1514 on the wire; a
 * GSO packet of 65536 bytes is ceil(65536 / 1448) = 46 segments, 46 x 1514 =
 * 69644 bytes; pages of 4096.  64 GiB of RAM unless the row says less.  tcp_mem:
 * twice the buffers of the circuit's window, and 2 x 131072 / 4096 = 64 pages for each
 * stream; x 5/4, x 3/2.  One stream holds at most 65535 x 2^14 / 1448 = 741523.1
 * segments.
 */
#include <errno.h>
#include <string.h>

#include "test.h"

#include "guarantee.h"
#include "plan.h"
#include "units.h"

#define MBIT	125000ULL
#define GBIT	125000000ULL
#define MS	1000ULL
#define GIB	(1ULL << 30)
#define MAX_S32	2147483647U

struct row {
	/* the question; 0 = as usual */
	uint64_t rate, rtt_us;
	uint32_t multiple, streams, mtu, mss, gso, loss;
	bool pace;
	uint64_t ram, burst, limit;
	enum shaper shaper;
	int family;
	/* the answer */
	int rc;
	const char *says;	/* in the error, or in one of the notes */
	uint32_t fcwnd, share, stream, rounds;	/* 0 = fcwnd, fcwnd, fcwnd, 1 */
	uint64_t limit_is, burst_is;
	uint32_t buffer;
	uint64_t mem[3];
	uint32_t maxrate, packets, flow_packets;
};

static const struct row rows[] = {
	/*
	 * 125000 B/s x 0.0001 s x 1.3 = 16.25 B, /1514 -> 1, at least 2.  2 x 1514
	 * = 3028 is less than a GSO packet: 69644.  200 us are 25 B: 69644.
	 * Buffer 4 x 3028 = 12112; 2 x 12112 / 4096 = 5.9 -> 6, with 64 of the stream
	 * 70, 87.5 -> 88, 105.
	 */
	{ .rate = 1 * MBIT, .rtt_us = 100, .says = "the window is 2",
	  .fcwnd = 2, .limit_is = 69644, .burst_is = 69644,
	  .buffer = 12112, .mem = { 70, 88, 105 } },
	/*
	 * The same for 3 streams: 2 each, 6 in all, which one alone may hold: 4 x 6 x
	 * 1514 = 36336.  72672 / 4096 = 17.7 -> 18, and 3 x 64: 210, 262.5, 315.
	 */
	{ .rate = 1 * MBIT, .rtt_us = 100, .streams = 3, .says = "the window is 2",
	  .fcwnd = 6, .share = 2, .limit_is = 69644, .burst_is = 69644,
	  .buffer = 36336, .mem = { 210, 263, 315 } },
	/*
	 * 12.5e6 x 0.0005 x 1.3 = 8125 B, 5.37 -> 6; 9084 B, a GSO packet instead.
	 * 4 x 9084 = 36336; 72672 / 4096 = 17.7 -> 18 + 64 = 82, 102.5, 123.
	 */
	{ .rate = 100 * MBIT, .rtt_us = 500, .says = "one GSO packet",
	  .fcwnd = 6, .limit_is = 69644, .burst_is = 69644,
	  .buffer = 36336, .mem = { 82, 103, 123 } },
	/*
	 * The slowest and longest: 1000 B/s x 10 s x 1.3 = 13000 B, 8.6 -> 9;
	 * 9 x 1514 = 13626; buffer 54504; 109008 / 4096 = 26.6 -> 27 + 64 = 91, 113.75,
	 * 136.5.
	 */
	{ .rate = 1000, .rtt_us = 10000 * MS, .says = "one GSO packet",
	  .fcwnd = 9, .limit_is = 69644, .burst_is = 69644,
	  .buffer = 54504, .mem = { 91, 114, 137 } },
	/*
	 * Thesis, table 3.5: 125e6 x 0.05 x 1.3 = 8125000, 5366.6 -> 5367; x 1514 =
	 * 8125638; 200 us = 25000, less than a GSO packet.  Buffer 32502552;
	 * 65005104 / 4096 = 15870.4 -> 15871 + 64 = 15935, 19918.75, 23902.5.
	 */
	{ .rate = 1 * GBIT, .rtt_us = 50 * MS,
	  .fcwnd = 5367, .limit_is = 8125638, .burst_is = 69644,
	  .buffer = 32502552, .mem = { 15935, 19919, 23903 } },
	/*
	 * N = 125e6 x 0.05 / 1514 = 4128.137.  A loss of 1 %: N x 1e-4 = 0.41, N x 1e-6 =
	 * 0.0041, N x 1e-8 = 0.000041: k = 3, 8 x 8125638 = 65005104; 130010208 / 4096 =
	 * 31740.8 -> 31741 + 64 = 31805, 39756.25, 47707.5.
	 */
	{ .rate = 1 * GBIT, .rtt_us = 50 * MS, .loss = 10000000, .rounds = 3,
	  .fcwnd = 5367, .limit_is = 8125638, .burst_is = 69644,
	  .buffer = 65005104, .mem = { 31805, 39757, 47708 } },
	/*
	 * 5 %: x 0.05^4 = 6.25e-6: 0.0258, x 0.05^5 = 3.125e-7: 0.00129, x 0.05^6:
	 * 0.000065: k = 5, 12 x 8125638; 195015312 / 4096 = 47611.16 -> 47612 + 64 = 47676,
	 * 59595, 71514.
	 */
	{ .rate = 1 * GBIT, .rtt_us = 50 * MS, .loss = 50000000, .rounds = 5,
	  .fcwnd = 5367, .limit_is = 8125638, .burst_is = 69644,
	  .buffer = 97507656, .mem = { 47676, 59595, 71514 } },
	/*
	 * 20 %: x 0.2^8 = 2.56e-6: 0.010568, one in 94.6, and k ends at 7: 16 x 8125638 =
	 * 130010208; 260020416 / 4096 = 63481.5 -> 63482 + 64 = 63546, 79432.5, 95319.
	 */
	{ .rate = 1 * GBIT, .rtt_us = 50 * MS, .loss = 200000000, .rounds = 7,
	  .says = "with 20% the window stalls about once in 94 round trips",
	  .fcwnd = 5367, .limit_is = 8125638, .burst_is = 69644,
	  .buffer = 130010208, .mem = { 63546, 79433, 95319 } },
	/*
	 * N = 125000 x 0.0001 / 1514 is less than one packet: 1.  10 %: 1 x 0.1^3 is just
	 * 1/1000, k = 2: 6 x 3028 = 18168; 36336 / 4096 = 8.9 -> 9 + 64 = 73, 91.25, 109.5.
	 * A billionth more is not, k = 3: 8 x 3028 = 24224; 48448 / 4096 = 11.8 -> 12 + 64 =
	 * 76, 95, 114.
	 */
	{ .rate = 1 * MBIT, .rtt_us = 100, .loss = 100000000, .rounds = 2,
	  .fcwnd = 2, .limit_is = 69644, .burst_is = 69644,
	  .buffer = 18168, .mem = { 73, 92, 110 } },
	{ .rate = 1 * MBIT, .rtt_us = 100, .loss = 100000001, .rounds = 3,
	  .fcwnd = 2, .limit_is = 69644, .burst_is = 69644,
	  .buffer = 24224, .mem = { 76, 95, 114 } },
	/*
	 * The reference: 500e6 x 0.026 x 1.3 = 16.9e6, 11162.48 -> 11163; x 1514 =
	 * 16900782; 200 us = 100000 B.  Buffer 67603128; 135206256 / 4096 =
	 * 33009.3 -> 33010 + 64 = 33074, 41342.5, 49611.
	 */
	{ .rate = 4 * GBIT, .rtt_us = 26 * MS,
	  .fcwnd = 11163, .limit_is = 16900782, .burst_is = 100000,
	  .buffer = 67603128, .mem = { 33074, 41343, 49611 } },
	/* One in 22000, N = 13e6 / 1514 = 8586.5: 8586.5 / 22000^2 = 1.8e-5, k = 1 */
	{ .rate = 4 * GBIT, .rtt_us = 26 * MS, .loss = 45455,
	  .fcwnd = 11163, .limit_is = 16900782, .burst_is = 100000,
	  .buffer = 67603128, .mem = { 33074, 41343, 49611 } },
	/*
	 * 1.0 x BDP: 13e6, 8586.5 -> 8587; 13000718; buffer 52002872;
	 * 104005744 / 4096 = 25392.03 -> 25393 + 64 = 25457, 31821.25, 38185.5.
	 */
	{ .rate = 4 * GBIT, .rtt_us = 26 * MS, .multiple = 1000,
	  .fcwnd = 8587, .limit_is = 13000718, .burst_is = 100000,
	  .buffer = 52002872, .mem = { 25457, 31822, 38186 } },
	/*
	 * Four streams: 11163 / 4 = 2790.75 -> 2791 each, and all of it for one whose
	 * others are idle: its buffer.  33010 + 4 x 64 = 33266, 41582.5, 49899.
	 */
	{ .rate = 4 * GBIT, .rtt_us = 26 * MS, .streams = 4,
	  .fcwnd = 11163, .share = 2791, .limit_is = 16900782, .burst_is = 100000,
	  .buffer = 67603128, .mem = { 33266, 41583, 49899 } },
	/*
	 * Jumbo: 9014 on the wire, 16.9e6 / 9014 = 1874.86 -> 1875; 16901250; 8948 of
	 * data, 65536 / 8948 = 7.3 -> 8 x 9014 = 72112 < 100000.  Buffer 67605000;
	 * 135210000 / 4096 = 33010.3 -> 33011 + 64 = 33075, 41343.75, 49612.5.
	 */
	{ .rate = 4 * GBIT, .rtt_us = 26 * MS, .mtu = 9000,
	  .fcwnd = 1875, .limit_is = 16901250, .burst_is = 100000,
	  .buffer = 67605000, .mem = { 33075, 41344, 49613 } },
	/* BIG TCP: 524280 / 8948 = 58.6 -> 59 x 9014 = 531826 > 100000 */
	{ .rate = 4 * GBIT, .rtt_us = 26 * MS, .mtu = 9000, .gso = 524280,
	  .fcwnd = 1875, .limit_is = 16901250, .burst_is = 531826,
	  .buffer = 67605000, .mem = { 33075, 41344, 49613 } },
	/*
	 * MSS 1000: 1054 on the wire, 16.9e6 / 1054 = 16034.2 -> 16035; 16900890;
	 * 65536 / 988 = 66.3 -> 67 x 1054 = 70618.  Buffer 67603560; 135207120 / 4096 =
	 * 33009.6 -> 33010 + 64.
	 */
	{ .rate = 4 * GBIT, .rtt_us = 26 * MS, .mss = 1000,
	  .fcwnd = 16035, .limit_is = 16900890, .burst_is = 100000,
	  .buffer = 67603560, .mem = { 33074, 41343, 49611 } },
	/* IPv6: the MSS is 1440, the wire is the same 1514 */
	{ .rate = 4 * GBIT, .rtt_us = 26 * MS, .family = AF_INET6,
	  .fcwnd = 11163, .limit_is = 16900782, .burst_is = 100000,
	  .buffer = 67603128, .mem = { 33074, 41343, 49611 } },
	/*
	 * The satellite of the cliff, 155 Mbit/s x 540 ms on 2 GiB: 19375000 x 0.54
	 * x 1.3 = 13601250, 8983.7 -> 8984; 13601776; buffer 54407104;
	 * 108814208 / 4096 = 26565.97 -> 26566 + 64 = 26630, 33287.5, 39945.
	 */
	{ .rate = 155 * MBIT, .rtt_us = 540 * MS, .ram = 2 * GIB,
	  .fcwnd = 8984, .limit_is = 13601776, .burst_is = 69644,
	  .buffer = 54407104, .mem = { 26630, 33288, 39945 } },
	/*
	 * Too much for 2 GiB: 1.25e9 x 0.2 x 1.3 = 325e6, 214663.1 -> 214664;
	 * 325001296; buffer 1300005184; 2600010368 / 4096 = 634768.2 -> 634769 + 64 pages
	 * of 524288.  Half: 262144, 5/8: 327680, 3/4: 393216.  634833 x 4096 =
	 * 2479.8 MiB.
	 */
	{ .rate = 10 * GBIT, .rtt_us = 200 * MS, .ram = 2 * GIB,
	  .says = "would take 2479 MiB, this machine has 2048 MiB",
	  .fcwnd = 214664, .limit_is = 325001296, .burst_is = 250000,
	  .buffer = 1300005184, .mem = { 262144, 327680, 393216 } },
	/*
	 * 12.5e9 x 0.01 x 1.3 = 162.5e6, 107331.6 -> 107332, two streams 53666;
	 * 162500648; 200 us = 2500000.  Buffer 650002592; 1300005184 / 4096 = 317384.1 ->
	 * 317385 + 2 x 64 = 317513, 396891.25, 476269.5.
	 */
	{ .rate = 100 * GBIT, .rtt_us = 10 * MS, .streams = 2, .says = "--shaper fq",
	  .fcwnd = 107332, .share = 53666, .limit_is = 162500648, .burst_is = 2500000,
	  .buffer = 650002592, .mem = { 317513, 396892, 476270 } },
	/* 1625e6 / 1514 = 1073315.7 -> 1073316 > 741523: 2 streams */
	{ .rate = 100 * GBIT, .rtt_us = 100 * MS, .rc = -ERANGE, .says = "--streams 2 or more" },
	/*
	 * Three streams: 357772; one alone 741523, 4 x 741523 x 1514 = 4490663288 > 2^31
	 * - 1.  4 x 1073316 x 1514 = 6500001696 in buffers of 3 x 2147483647, twice:
	 * 3145727.998 pages -> 3145728 + 3 x 64 = 3145920, 3932400, 4718880.
	 */
	{ .rate = 100 * GBIT, .rtt_us = 100 * MS, .streams = 3,
	  .says = "more than the kernel takes; 2147483647",
	  .fcwnd = 1073316, .share = 357772, .stream = 741523,
	  .limit_is = 1625000424, .burst_is = 2500000,
	  .buffer = MAX_S32, .mem = { 3145920, 3932400, 4718880 } },
	/*
	 * Four, and a loss of 1e-4: N = 825627.5, x 1e-8 = 0.00826, x 1e-12 = 8e-7, k = 2; 12
	 * x 1073316 x 1514 / 4096 = 4760743.4 is more than four streams' buffers both ways, 8 x
	 * MAX_S32 / 4096 = 4194304; + 4 x 64 = 4194560, 5243200, 6291840.
	 */
	{ .rate = 100 * GBIT, .rtt_us = 100 * MS, .streams = 4, .loss = 100000, .rounds = 2,
	  .fcwnd = 1073316, .share = 268329, .stream = 741523,
	  .limit_is = 1625000424, .burst_is = 2500000,
	  .buffer = MAX_S32, .mem = { 4194560, 5243200, 6291840 } },
	/* 50e9 x 0.1 x 1.3 = 6.5e9 B: no limit of tbf holds 4293263 x 1514 */
	{ .rate = 400 * GBIT, .rtt_us = 100 * MS, .streams = 6, .rc = -ERANGE,
	  .says = "6500000182 bytes is more than tbf can say, 4294967295; --shaper fq" },
	/*
	 * The longest: 39e9 / 1514 = 25759577.3 -> 25759578; / 741523 = 34.7 -> 35.
	 */
	{ .rate = 400 * GBIT, .rtt_us = 600 * MS, .rc = -ERANGE,
	  .says = "--streams 35 or more" },
	{ .rate = 400 * GBIT, .rtt_us = 600 * MS, .streams = 34, .rc = -ERANGE,
	  .says = "--streams 35 or more" },
	/*
	 * With fq and 35: 25759578 / 35 = 735987.9 -> 735988 segments; 50e9 / 35 =
	 * 1428571428.6 B/s; buffers end at 2^31 - 1; 70 of them would be 36700160
	 * pages of 4096, RAM is 16777216: 8388608, 10485760, 12582912.  Room for the
	 * 741523 of a stream whose others are idle.
	 */
	{ .rate = 400 * GBIT, .rtt_us = 600 * MS, .streams = 35, .shaper = SHAPER_FQ,
	  .says = "this machine has 65536 MiB",
	  .fcwnd = 25759578, .share = 735988, .stream = 741523, .limit_is = 39000001092,
	  .buffer = MAX_S32, .mem = { 8388608, 10485760, 12582912 },
	  .maxrate = 1428571428, .packets = 25759578, .flow_packets = 741523 },
	/*
	 * The largest window, 2^26 x 1514 = 101602820096 bytes in a second: 90.5 -> 91
	 * streams, 737460.04 -> 737461 each, 1116514506.5 B/s.  A byte more is a segment
	 * more.
	 */
	{ .rate = 101602820096, .rtt_us = 1000 * MS, .multiple = 1000, .streams = 91,
	  .shaper = SHAPER_FQ, .says = "this machine has 65536 MiB",
	  .fcwnd = 67108864, .share = 737461, .stream = 741523, .limit_is = 101602820096,
	  .buffer = MAX_S32, .mem = { 8388608, 10485760, 12582912 },
	  .maxrate = 1116514506, .packets = 67108864, .flow_packets = 741523 },
	{ .rate = 101602820097, .rtt_us = 1000 * MS, .multiple = 1000, .streams = 91,
	  .shaper = SHAPER_FQ, .rc = -ERANGE,
	  .says = "67108865 segments is more than a circuit takes, 67108864" },
	/* 4 Gbit/s by fq: a packet is a segment at worst */
	{ .rate = 4 * GBIT, .rtt_us = 26 * MS, .shaper = SHAPER_FQ,
	  .says = "no more than 1 at a time",
	  .fcwnd = 11163, .limit_is = 16900782,
	  .buffer = 67603128, .mem = { 33074, 41343, 49611 },
	  .maxrate = 500000000, .packets = 11163, .flow_packets = 11163 },
	/* Four streams: a quarter each; paced by the module, all of it for one alone */
	{ .rate = 4 * GBIT, .rtt_us = 26 * MS, .shaper = SHAPER_FQ, .streams = 4,
	  .says = "no more than 4 at a time",
	  .fcwnd = 11163, .share = 2791, .limit_is = 16900782,
	  .buffer = 67603128, .mem = { 33266, 41583, 49899 },
	  .maxrate = 125000000, .packets = 11163, .flow_packets = 11163 },
	{ .rate = 4 * GBIT, .rtt_us = 26 * MS, .shaper = SHAPER_FQ, .streams = 4,
	  .pace = true,
	  .fcwnd = 11163, .share = 2791, .limit_is = 16900782,
	  .buffer = 67603128, .mem = { 33266, 41583, 49899 },
	  .maxrate = 500000000, .packets = 11163, .flow_packets = 11163 },
	/* 5e9 B/s >= 2^32 - 1; 5e9 / 4294967295 = 1.2 -> 2 */
	{ .rate = 40 * GBIT, .rtt_us = 1 * MS, .shaper = SHAPER_FQ, .rc = -ERANGE,
	  .says = "up to 34.35gbit, not 40gbit; --pace, or --streams 2 or more" },
	/*
	 * Paced by the module fq has no say: all ones.  6.5e6 / 1514 = 4293.3 -> 4294,
	 * 6501116; buffer 26004464; 52008928 / 4096 = 12697.5 -> 12698 + 64 = 12762,
	 * 15952.5, 19143.
	 */
	{ .rate = 40 * GBIT, .rtt_us = 1 * MS, .shaper = SHAPER_FQ, .pace = true,
	  .fcwnd = 4294, .limit_is = 6501116,
	  .buffer = 26004464, .mem = { 12762, 15953, 19143 },
	  .maxrate = UINT32_MAX, .packets = 10000, .flow_packets = 4294 },
	/* No shaper: the window and the buffers alone */
	{ .rate = 4 * GBIT, .rtt_us = 26 * MS, .shaper = SHAPER_NONE,
	  .fcwnd = 11163, .limit_is = 16900782,
	  .buffer = 67603128, .mem = { 33074, 41343, 49611 } },
	/* Asked for: a small bucket cuts packets, one below a segment passes none */
	{ .rate = 1 * GBIT, .rtt_us = 50 * MS, .burst = 3028, .says = "cuts such packets up",
	  .fcwnd = 5367, .limit_is = 8125638, .burst_is = 3028,
	  .buffer = 32502552, .mem = { 15935, 19919, 23903 } },
	{ .rate = 1 * GBIT, .rtt_us = 50 * MS, .burst = 1513, .rc = -ERANGE,
	  .says = "at least 1514" },
	/* 1000 B/s x 274 s = 274000 */
	{ .rate = 1000, .rtt_us = 50 * MS, .burst = 300000, .rc = -ERANGE,
	  .says = "at most 274000" },
	{ .rate = 1 * GBIT, .rtt_us = 50 * MS, .limit = 30000, .says = "drops such packets",
	  .fcwnd = 5367, .limit_is = 30000, .burst_is = 69644,
	  .buffer = 32502552, .mem = { 15935, 19919, 23903 } },
	{ .rate = 1 * GBIT, .rtt_us = 50 * MS, .limit = 1000, .rc = -ERANGE,
	  .says = "at least 1514" },
	{ .rate = 1 * GBIT, .rtt_us = 50 * MS, .mss = 1461, .rc = -ERANGE,
	  .says = "at most 1460" },
	{ .rate = 1 * GBIT, .rtt_us = 50 * MS, .mtu = 100, .rc = -ERANGE,
	  .says = "an MTU of 100" },
};

static void ask(const struct row *r, struct circuit *c, struct facts *f)
{
	*c = (struct circuit)CIRCUIT_DEFAULTS;
	strcpy(c->dev, "eth1");
	c->rate = r->rate;
	c->rtt_us = r->rtt_us;
	c->multiple = r->multiple ?: 1300;
	c->streams = r->streams ?: 1;
	c->mss = r->mss;
	c->burst = r->burst;
	c->limit = r->limit;
	c->shaper = r->shaper;
	c->loss = r->loss;
	c->pace = r->pace;
	c->n_to = !!r->family;
	c->to[0].family = r->family;
	*f = (struct facts){
		.dev = "eth1", .up = true, .header = 14, .gso_max_segs = 65535,
		.tx_queues = 1, .txqlen = 1000, .page = 4096,
	};
	f->mtu = r->mtu ?: 1500;
	f->gso_max_size = r->gso ?: 65536;
	f->ram = r->ram ?: 64 * GIB;
}

static bool said(const struct row *r, const struct notes *notes, const struct err *e)
{
	bool found = !r->says || strstr(e->text, r->says);
	unsigned int i;

	for (i = 0; i < notes->n; i++)
		found |= r->says && strstr(notes->text[i], r->says);
	return found;
}

static void check(const struct row *r, const struct plan *p)
{
	int i;

	assert_int_equal(p->fcwnd, r->fcwnd);
	assert_int_equal(p->share, r->share ?: r->fcwnd);
	assert_int_equal(p->stream, r->stream ?: r->fcwnd);
	assert_int_equal(p->rounds, r->rounds ?: 1);
	assert_int_equal(p->limit, r->limit_is);
	assert_int_equal(p->burst, r->burst_is);
	assert_int_equal(p->buffer, r->buffer);
	for (i = 0; i < 3; i++)
		assert_int_equal(p->tcp_mem[i], r->mem[i]);
	assert_int_equal(p->maxrate, r->maxrate);
	assert_int_equal(p->packets, r->packets);
	assert_int_equal(p->flow_packets, r->flow_packets);
}

static void test_table(void **state)
{
	struct circuit c;
	struct facts f;
	struct plan p;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = { "" };
		struct notes notes = { 0 };
		int rc;

		ask(&rows[i], &c, &f);
		rc = plan_make(&c, &f, &p, &notes, &e);
		if (rc != rows[i].rc || !said(&rows[i], &notes, &e))
			print_error("row %zu: rc %d, says \"%s\" \"%s\"\n", i, rc, e.text,
				    notes.n ? notes.text[0] : "");
		assert_int_equal(rc, rows[i].rc);
		assert_true(said(&rows[i], &notes, &e));
		if (!rc)
			check(&rows[i], &p);
	}
}

/* Same input, same plan; and the usual case has nothing to remark on. */
static void test_pure(void **state)
{
	const struct row r = { .rate = 4 * GBIT, .rtt_us = 26 * MS };
	struct notes notes = { 0 };
	struct plan a, b;
	struct circuit c;
	struct facts f;
	struct err e;

	(void)state;
	ask(&r, &c, &f);
	assert_int_equal(plan_make(&c, &f, &a, &notes, &e), 0);
	memset(&b, 0xff, sizeof(b));
	assert_int_equal(plan_make(&c, &f, &b, &notes, &e), 0);
	assert_memory_equal(&a, &b, sizeof(a));
	assert_int_equal(notes.n, 0);
}

static void check_device(const struct facts *f, int rc, const char *says)
{
	struct circuit c = CIRCUIT_DEFAULTS;
	struct notes notes = { 0 };
	struct err e = { "" };

	c.rate = 10 * GBIT;
	c.rtt_us = 1 * MS;
	assert_int_equal(plan_check_device(&c, f, &notes, &e), rc);
	if (rc)
		assert_non_null(strstr(e.text, says));
	else if (says)
		assert_non_null(strstr(notes.text[0], says));
	else
		assert_int_equal(notes.n, 0);
}

static void test_devices(void **state)
{
	const struct facts good = { .dev = "eth1", .up = true, .mtu = 1500 };
	struct facts f = good;

	(void)state;
	check_device(&f, 0, NULL);
	f.up = false;
	check_device(&f, -ENETDOWN, "eth1 is down; ip link set eth1 up");
	f = good;
	f.loopback = true;
	check_device(&f, -EOPNOTSUPP, "loopback");
	f = good;
	strcpy(f.kind, "bridge");
	check_device(&f, -EOPNOTSUPP, "without a port");
	strcpy(f.ports, "eth2 eth3");
	check_device(&f, -EOPNOTSUPP, "leaves by: eth2 eth3");
	f = good;
	f.speed_mbit = 1000;
	check_device(&f, -ERANGE, "10gbit is more than eth1 carries, 1000mbit");
	f.speed_mbit = 9999;
	check_device(&f, -ERANGE, "10gbit is more than eth1 carries, 9999mbit");
	f.speed_mbit = 10000;
	check_device(&f, 0, NULL);
	f = good;
	strcpy(f.master, "br0");
	strcpy(f.master_kind, "bridge");
	check_device(&f, 0, "eth1 is a port of br0 (bridge)");
	f = good;
	strcpy(f.parent, "eth0");
	check_device(&f, 0, "eth1 sits on eth0");
}

static struct plan planned(const struct row *r, int rc)
{
	struct notes notes = { 0 };
	struct err e = { "" };
	struct circuit c;
	struct facts f;
	struct plan p;

	ask(r, &c, &f);
	assert_int_equal(plan_make(&c, &f, &p, &notes, &e), rc);
	return p;
}

/* IPv6's header is 20 bytes longer: as many on the wire, of which fewer are TCP's. */
static void test_families(void **state)
{
	struct row r = { .rate = 1 * GBIT, .rtt_us = 50 * MS, .family = AF_INET };
	struct plan p = planned(&r, 0);

	(void)state;
	assert_int_equal(p.mss, 1460);
	assert_int_equal(p.payload, 1448);
	assert_int_equal(p.wire, 1514);
	r.family = AF_INET6;
	p = planned(&r, 0);
	assert_int_equal(p.mss, 1440);
	assert_int_equal(p.payload, 1428);
	assert_int_equal(p.wire, 1514);
}

/* At the ends of what the kernel's own numbers hold */
static void test_bounds(void **state)
{
	/* 500e6 x 1.08 x 1.3 = 702e6: four times that are between 2^31 and 2^32 */
	const struct row long_path = { .rate = 4 * GBIT, .rtt_us = 1080 * MS };
	const struct row htb = {
		.rate = 1 * GBIT, .rtt_us = 50 * MS, .shaper = SHAPER_HTB, .gso = 524280,
	};
	struct row fq = { .rate = UINT32_MAX, .rtt_us = 1 * MS, .shaper = SHAPER_FQ };

	(void)state;
	assert_int_equal(planned(&long_path, 0).buffer, MAX_S32);
	/* 363 segments of 1514 bytes are more than sch_htb takes */
	assert_int_equal(planned(&htb, 0).quantum, 200000);
	/* all ones is no rate to fq */
	planned(&fq, -ERANGE);
	fq.rate--;
	assert_int_equal(planned(&fq, 0).maxrate, UINT32_MAX - 1);
}

/* What circuits leave of a device, a hundredth of it or 10 mbit at least */
static void test_rest(void **state)
{
	(void)state;
	assert_int_equal(plan_rest_rate(10 * GBIT, 4 * GBIT), 6 * GBIT);
	assert_int_equal(plan_rest_rate(10 * GBIT, 10 * GBIT), 10 * MBIT);
	assert_int_equal(plan_rest_rate(10 * GBIT, 11 * GBIT), 10 * MBIT);
	assert_int_equal(plan_rest_rate(100 * MBIT, 100 * MBIT), 1 * MBIT);
	assert_int_equal(plan_rest_rate(0, 10 * GBIT), RATE_MAX);
}

/* Of two circuits: the sum, and half of the machine as ever; said once. */
static void test_memory(void **state)
{
	const struct facts f = { .ram = 1ULL << 30, .page = 4096 };
	struct plan p = { .need = 100000 };
	struct notes notes = { 0 };

	(void)state;
	plan_memory(&f, 20001, &p, &notes);
	assert_int_equal(p.tcp_mem[0], 120001);
	assert_int_equal(p.tcp_mem[1], 150002);
	assert_int_equal(p.tcp_mem[2], 180002);
	assert_int_equal(notes.n, 0);
	plan_memory(&f, 100000, &p, &notes);
	assert_int_equal(p.tcp_mem[0], 131072);
	assert_int_equal(notes.n, 1);
	p.need = 200000;
	plan_memory(&f, 0, &p, &notes);
	plan_memory(&f, 1, &p, &notes);
	assert_int_equal(notes.n, 1);
}

/* Alali 2016, 3.4 and 3.5.3 */
static void test_guarantee(void **state)
{
	static const struct {
		enum guarantee guarantee;
		enum prefer prefer;
		const char *algorithm;
		const char *says;	/* of a combination that is none */
	} rows[] = {
		{ GUARANTEE_FULL, PREFER_UNSAID, "circuit", NULL },
		{ GUARANTEE_SEMI, PREFER_CIRCUIT, "circuit", NULL },
		{ GUARANTEE_SEMI, PREFER_OTHERS, "htcp", NULL },
		{ GUARANTEE_NONE, PREFER_UNSAID, "htcp", NULL },
		{ GUARANTEE_SEMI, PREFER_UNSAID, "circuit",
		  "whose traffic is preferred? --prefer circuit or --prefer others" },
		{ GUARANTEE_FULL, PREFER_OTHERS, "circuit", "with full the path gets circuit" },
		{ GUARANTEE_NONE, PREFER_CIRCUIT, "htcp", "with none the path gets htcp" },
	};
	struct circuit c = CIRCUIT_DEFAULTS;
	struct err e;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		c.guarantee = rows[i].guarantee;
		c.prefer = rows[i].prefer;
		e.text[0] = 0;
		assert_string_equal(circuit_algorithm(&c), rows[i].algorithm);
		assert_int_equal(guarantee_check(&c, &e), rows[i].says ? -EINVAL : 0);
		if (rows[i].says)
			assert_non_null(strstr(e.text, rows[i].says));
	}
	c.guarantee = GUARANTEE_NONE;
	c.prefer = PREFER_UNSAID;
	c.pace = true;
	assert_int_equal(guarantee_check(&c, &e), -EINVAL);
	assert_non_null(strstr(e.text, "--pace is the module's, and this path gets htcp (not "));
	assert_non_null(strstr(e.text, "; --shaper htb, tbf or fq holds the rate"));
	c.pace = false;
	c.early_window = true;
	assert_int_equal(guarantee_check(&c, &e), -EINVAL);
	assert_non_null(strstr(e.text, "--early-window is the module's"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_pure),
		cmocka_unit_test(test_families),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_guarantee),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
