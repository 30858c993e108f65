#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# transfer.sh: one iperf3 transfer over one circuit, inside the lab
#
# Both hosts are set up by ctcp-setup itself; only delay and loss are the lab's.
# From the environment:
#
#	RATE RTT	as ctcp-setup takes them: 4gbit 26ms
#	ALG		congestion control of both ends
#	SECONDS_LONG	of the transfer
#	LOSS		percent of packets towards the receiver, 0 for none
#	OFFLOADS	on: 64 KB packets, for speed; off: what is lost is one frame
#	FCWND		a window instead of the one that ctcp-setup chose, segments
#
# Leaves in /lab: setup (what ctcp-setup said), client.json, server.json, qdisc.json, and the
# files before, after and nothing, whose times on the host say how long ctcp-setup took,
# and a program that does nothing.

. "$(dirname "$0")/../lib.sh"
need_commands iperf3 ctcp-setup

half_ms()
{
	awk -v rtt="${RTT%ms}" 'BEGIN { print rtt / 2 }'
}

modprobe tcp_circuit || exit 1
network "$(half_ms)"
if [ "$OFFLOADS" = off ]; then single_packets; fi
if [ "$LOSS" != 0 ]; then delay "$(half_ms)" loss "$LOSS%"; fi
modprobe "tcp_$ALG" 2>/dev/null

# The clock that counts is the host's: inside, no time passes.
in_src sh -c ": >/lab/before
	ctcp-setup --rate $RATE --rtt $RTT eth1 >/lab/setup || exit
	: >/lab/after
	/bin/true
	: >/lab/nothing" || exit 1
in_dst ctcp-setup --rate "$RATE" --rtt "$RTT" eth1 >/dev/null || exit 1
if [ -n "${FCWND:-}" ]; then
	in_src sh -c "ctcp-setup circuit set $(in_src ctcp-setup circuit list |
		sed "s/ window [0-9]*/ window $FCWND/")" || exit 1
fi

export PORT=5201	# for listening()
background dst iperf3 -s -1 -i 0.1 -J >/lab/server.json
SERVER=$!
until_true 10 listening dst || exit 1
in_src iperf3 -c $DST4 -C "$ALG" -t "$SECONDS_LONG" -i 0.1 -J \
	>/lab/client.json || exit 1
wait $SERVER
in_src tc -j -s qdisc show dev eth1 >/lab/qdisc.json
