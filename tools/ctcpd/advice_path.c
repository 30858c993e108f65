// SPDX-License-Identifier: GPL-2.0
/*
 * Advice about what loses packets: the receiver or the last hop before it, the network, a
 * qdisc of this host.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "advice.h"
#include "choose.h"
#include "need.h"
#include "rough.h"
#include "units.h"

#define PACE_PERCENT	95U	/* of the most it was seen to take: room for other traffic */

static double loss(const struct judgement *j)
{
	return j->segs ? (double)j->retrans / j->segs : 0;
}

/* Three digits of it, as bit/s, not more than it */
static uint64_t rounded(uint64_t bytes_per_s)
{
	uint64_t bits = 8 * (bytes_per_s < RATE_MAX ? bytes_per_s : RATE_MAX), unit = 1;

	while (bits / unit >= 1000)
		unit *= 10;
	return bits / unit * unit / 8;
}

/* A class for all that goes there: an administrator's keeps ctcpd off all of the device. */
static void say_class(const struct judgement *j, const struct place *p, uint64_t pace,
		      struct advice *a)
{
	char rate[32], rtt[32];

	advice_say(a,
		   "For all that goes there: ctcp-setup add NAME --to %s --rate %s --rtt %s --guarantee none %s",
		   p->remote, format_rate(rate, sizeof(rate), pace),
		   format_time(rtt, sizeof(rtt), advice_rtt(j)), p->dev);
	if (p->acts)
		advice_say(a,
			   "ctcpd then leaves all of %s to the administrator, and paces nothing there.",
			   p->dev);
}

/* A link-local address has no route of its own, which a circuit would be. */
static bool has_route(const char *remote)
{
	struct in6_addr a;

	return inet_pton(AF_INET6, remote, &a) != 1 || !IN6_IS_ADDR_LINKLOCAL(&a);
}

/* By hand: a socket of the application's own, or a class. */
static void say_paces(const struct judgement *j, const struct place *p, uint64_t pace,
		      struct advice *a)
{
	advice_say(a,
		   "An application can pace itself: SO_MAX_PACING_RATE of %llu bytes/s%s.",
		   (unsigned long long)(pace / (p->flows ?: 1)),
		   p->flows > 1 ? ", for each of its connections" : "");
	if (pace < LOCK_RATE && *p->dev && *p->remote && advice_rtt(j) && !p->paced &&
	    has_route(p->remote))
		say_class(j, p, pace, a);
}

void advise_overrun(const struct judgement *j, const struct place *p, struct advice *a)
{
	uint64_t takes = j->best_rate > j->rate ? j->best_rate : j->rate, pace;
	char most[BOTH_TEXT], had[BOTH_TEXT];

	pace = rounded(takes / 100 * PACE_PERCENT);
	advice_say(a,
		   "It was seen to take %s at most, and had %s: %.3g%% of the segments were sent again.",
		   both(most, takes), both(had, j->rate), 100 * loss(j));
	if (pace >= RATE_MIN) {
		advice_say(a,
			   "At no more than %s it should lose little; a policer's own rate may be lower.",
			   both(most, pace));
		say_paces(j, p, pace, a);
	}
	advice_say(a,
		   "Its owner may look for drops at its network card (ethtool -S), a longer ring (ethtool -G), and the buffer of the switch or firewall before it.");
}

void advise_loss(const struct judgement *j, const struct place *p, struct advice *a)
{
	uint64_t rate = advice_rate(j, p), most = mathis_rate(j->mss, advice_rtt(j), loss(j));
	char had[BOTH_TEXT], can[BOTH_TEXT], rtt[32];

	if (!advice_rtt(j) || most == UINT64_MAX)
		return;
	advice_say(a,
		   "%.3g%% of the segments were lost: at a round trip of %s Reno has about %s (Mathis), and it had %s.",
		   100 * loss(j), format_time(rtt, sizeof(rtt), advice_rtt(j)), both(can, most),
		   both(had, j->rate));
	advice_say(a, "For %s no more than %.3g%% may be lost.", both(can, rate),
		   100 * mathis_loss(j->mss, advice_rtt(j), rate));
	advice_say(a,
		   "Neither end is the cause: look along the path, with owamp or perfSONAR, for a bad line, a card, or a link that is full.");
	if (!strcmp(p->algorithm, "reno")) {
		advice_say(a, "Reno takes longest to recover; H-TCP and CUBIC do so sooner.");
		advice_set(a, true, "net.ipv4.tcp_congestion_control", "htcp");
	}
}

#define SHORT_LIMIT "its limit is too short for what is sent at once: fq instead paces each connection"
#define ON_PURPOSE "it drops what has waited, on purpose: fq paces, and does not"

static const struct {
	const char *kind, *text;
} qdiscs[] = {
	{ "pfifo_fast",
	  "it ends at the device's txqueuelen: fq instead paces each connection" },
	{ "pfifo", SHORT_LIMIT },
	{ "bfifo", SHORT_LIMIT },
	{ "fq", "one connection passes its flow_limit, or all together its limit: raise them" },
	{ "fq_codel", ON_PURPOSE },
	{ "codel", ON_PURPOSE },
	{ "cake", ON_PURPOSE },
	{ "tbf", "its limit is shorter than what is sent before TCP slows down" },
	{ "htb", "the queue of a class is shorter than what is sent before TCP slows down" },
	{ "mq", "it has one below each transmit queue, of which one or all drop" },
};

static const char *qdisc_text(const char *kind)
{
	size_t i;

	for (i = 0; i < sizeof(qdiscs) / sizeof(qdiscs[0]); i++)
		if (!strcmp(qdiscs[i].kind, kind))
			return qdiscs[i].text;
	return NULL;
}

static bool shapes(const char *kind)
{
	return !strcmp(kind, "tbf") || !strcmp(kind, "htb");
}

void advise_local_drops(const struct judgement *j, const struct place *p, struct advice *a)
{
	const char *text = qdisc_text(p->qdisc);
	struct need n;

	advice_say(a, "This host dropped %u packets itself before they left%s%s.",
		   j->local_drops, *p->dev ? " by " : "", p->dev);
	if (text)
		advice_say(a, "The root of %s is %s: %s.", p->dev, p->qdisc, text);
	if (shapes(p->qdisc) && advice_rtt(j)) {
		need_of(j->best_rate ?: j->rate, advice_rtt(j), &n);
		advice_say(a,
			   "One round trip at the best rate seen is %llu bytes, which is a limit to begin with; ctcp-setup show tells whether it is a circuit's.",
			   (unsigned long long)n.bdp);
	}
	advice_say(a, "tc -s qdisc show dev %s tells where, in \"dropped\".",
		   *p->dev ? p->dev : "DEV");
}
