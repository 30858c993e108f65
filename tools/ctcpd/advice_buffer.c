// SPDX-License-Identifier: GPL-2.0
/*
 * Advice about what bounds the bytes in flight: the remote's receive window, our send buffer,
 * a window of the application's own.
 */
#include <stdio.h>

#include "advice.h"
#include "need.h"
#include "rough.h"
#include "units.h"

#define UNSCALED	65535U	/* bytes: the largest window without window scale */

/* So that a default of Linux is never asked to be made smaller */
static uint32_t at_least(uint32_t n, uint32_t least)
{
	return n > least ? n : least;
}

static void say_window(const struct judgement *j, uint32_t window, struct advice *a)
{
	char size[ROUGH_TEXT], rtt[32], rate[BOTH_TEXT];

	advice_say(a,
		   "The receive window held it for %.0f%% of the time: %s at most, which carries %s at a round trip of %s.",
		   j->rwnd / 10.0, rough_bytes(size, sizeof(size), window, ""),
		   both(rate, window_rate(window, advice_rtt(j))),
		   format_time(rtt, sizeof(rtt), advice_rtt(j)));
}

static void say_need(const struct need *n, const char *whose, struct advice *a)
{
	char size[ROUGH_TEXT], rate[BOTH_TEXT];

	if (n->streams == 1)
		advice_say(a, "For %s %s must have %s.", both(rate, n->rate), whose,
			   rough_bytes(size, sizeof(size), n->window, ""));
	else
		advice_say(a,
			   "For %s %s must have %s in each of %u connections: 1 GiB is TCP's largest window.",
			   both(rate, n->rate), whose,
			   rough_bytes(size, sizeof(size), n->window, ""), n->streams);
}

/* SO_RCVBUF: the kernel takes twice of what is asked for, at most twice rmem_max. */
static void ask_for_window(const struct need *n, struct advice *a)
{
	uint32_t buffer = at_least(n->buffer, RMEM_DEFAULT);

	advice_set(a, false, "net.ipv4.tcp_rmem", "4096 131072 %u", buffer);
	advice_set(a, false, "net.core.rmem_max", "%u", buffer);
	advice_set(a, false, "net.ipv4.tcp_window_scaling", "1");
	advice_set(a, false, "net.ipv4.tcp_moderate_rcvbuf", "1");
	if (n->buffer <= RMEM_DEFAULT)
		advice_say(a,
			   "Linux's own settings are enough for that: look for some that were made smaller, or for an application that sets SO_RCVBUF.");
	advice_say(a,
		   "An application that sets SO_RCVBUF keeps its window from growing: none should, or one that asks for %u bytes at least.",
		   n->window);
}

/* Window enough, and it was used by less than a half: nobody reads it empty. */
static bool reads_slowly(const struct judgement *j)
{
	uint64_t busy_rate = j->busy ? j->rate * 1000 / j->busy : j->rate;
	uint64_t window = window_rate(j->snd_wnd_max, j->rtt_us ?: j->min_rtt_us);

	return j->snd_wnd_max && busy_rate < window / 2;
}

static void say_slow_reader(const struct judgement *j, struct advice *a)
{
	char size[ROUGH_TEXT], most[BOTH_TEXT], rate[BOTH_TEXT];

	advice_say(a,
		   "The receive window held it for %.0f%% of the time, but it is large enough: %s carries %s, and %s was had.",
		   j->rwnd / 10.0, rough_bytes(size, sizeof(size), j->snd_wnd_max, ""),
		   both(most, window_rate(j->snd_wnd_max, advice_rtt(j))), both(rate, j->rate));
	advice_say(a,
		   "The application there takes its data no faster: its disk, its processor, or what it does with them; settings of TCP do not help.");
}

void advise_remote_window(const struct judgement *j, const struct place *p, struct advice *a)
{
	uint32_t window = j->snd_wnd_max;
	struct need n;

	if (!advice_rtt(j))
		return;
	need_of(advice_rate(j, p), advice_rtt(j), &n);
	if (j->no_wscale) {
		say_window(j, UNSCALED, a);
		advice_say(a,
			   "The two have agreed on no window scale (RFC 7323): net.ipv4.tcp_window_scaling is 0 at one end, or a firewall between takes the option out of the SYN.");
	} else if (reads_slowly(j)) {
		say_slow_reader(j, a);
		return;
	} else if (window) {
		say_window(j, window, a);
	}
	say_need(&n, "the receive window", a);
	ask_for_window(&n, a);
}

void advise_send_buffer(const struct judgement *j, const struct place *p, struct advice *a)
{
	char rate[BOTH_TEXT];
	struct need n;

	if (!advice_rtt(j))
		return;
	need_of(advice_rate(j, p), advice_rtt(j), &n);
	if (j->sndbuf_bytes)
		advice_say(a,
			   "Our send buffer held it for %.0f%% of the time: %u bytes, about half of them data, carry %s.",
			   j->sndbuf / 10.0, j->sndbuf_bytes,
			   both(rate, window_rate(j->sndbuf_bytes / 2, advice_rtt(j))));
	/* where TCP sizes it, it ends near tcp_wmem's last */
	if (j->sndbuf_bytes && j->sndbuf_bytes < p->tcp_wmem / 10 * 9) {
		advice_say(a,
			   "tcp_wmem lets it grow to %u bytes: the application has set SO_SNDBUF, which keeps it from that; it should set none, or %u bytes at least.",
			   p->tcp_wmem, n.window);
		if (p->tcp_wmem >= n.buffer)
			return;
	}
	say_need(&n, "the send buffer", a);
	advice_set(a, true, "net.ipv4.tcp_wmem", "4096 16384 %u",
		   at_least(n.buffer, WMEM_DEFAULT));
	advice_set(a, true, "net.core.wmem_max", "%u", at_least(n.buffer, WMEM_DEFAULT));
}

void advise_app_window(const struct judgement *j, const struct place *p, struct advice *a)
{
	struct need now, wanted;
	char size[ROUGH_TEXT], rate[BOTH_TEXT], rtt[32];

	if (!advice_rtt(j))
		return;
	need_of(j->flight ? window_rate(j->flight, advice_rtt(j)) : j->rate, advice_rtt(j),
		&now);
	need_of(advice_rate(j, p), advice_rtt(j), &wanted);
	advice_say(a,
		   "The application keeps about %s in flight and no more, which carries %s at a round trip of %s; TCP would take more.",
		   rough_bytes(size, sizeof(size), now.window, ""), both(rate, now.rate),
		   format_time(rtt, sizeof(rtt), now.rtt_us));
	advice_say(a,
		   "OpenSSH's channel ends at 2 MiB: HPN-SSH, GridFTP, or another protocol than ssh for the data has no such window.");
	advice_say(a, "Or several connections at once: %llu fill %s.",
		   (unsigned long long)((wanted.bdp + now.window - 1) / now.window),
		   both(rate, wanted.rate));
}
