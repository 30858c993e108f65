#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# ctcp-setup --dry-run changes nothing, and its lines, run as they stand, make of a
# second namespace what ctcp-setup makes of a first.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands ctcp-setup tc
need_module

CIRCUIT=(--rate 4gbit --rtt 26ms)
ROUTES=

# Two hosts differ in their hardware addresses, and in nothing else.
applied()
{
	state | grep -v -e '^/' -e '^module' | sed 's/ address [0-9a-f]*//'
}

# twin NAME: a host with $QUEUES and $ROUTES, each a line of ip -batch
twin()
{
	host "$1" "$QUEUES"
	in_host ip -batch - <<<"$ROUTES"
}

# dry_run_of NAME ARGUMENT...: one host by ctcp-setup, its twin by the lines
dry_run_of()
{
	local name=$1 lines before tool

	shift
	twin tool
	before=$(state)
	run setup --dry-run "$@" eth1
	lines=$OUT
	equal "$name: --dry-run: exit status" 0 "$RC"
	unchanged "$name: --dry-run changes nothing" "$before"
	run setup --quiet "$@" eth1
	equal "$name: exit status" 0 "$RC"
	tool=$(applied)
	host_end
	twin hand
	run in_host sh -e -c "$lines"
	equal "$name: the lines run as they stand" "0 " "$RC $ERR"
	same "$name: the lines make what ctcp-setup makes" "$tool" "$(applied)"
	host_end
}

# What a route may have besides, there before or of the route that covers it
dry_runs_on_routes()
{
	QUEUES=1
	ROUTES="route add 10.79.0.0/16 via 10.80.0.1 dev eth1 onlink src 10.78.0.1 \
		mtu lock 1400 advmss 1200 rto_min 40ms rtt 30ms
		route add fd79::/32 via fd78::fe pref high mtu 1400 hoplimit lock 9"
	dry_run_of "a route on link" "${CIRCUIT[@]}" --to 10.79.0.0/16
	dry_run_of "a new route like it" "${CIRCUIT[@]}" --to 10.79.1.0/24
	dry_run_of "an IPv6 route with a preference" "${CIRCUIT[@]}" --to fd79::/32
	dry_run_of "a new IPv6 route like it" "${CIRCUIT[@]}" --to fd79:0:1::/48
	ROUTES=
}

dry_runs()
{
	QUEUES=1
	dry_run_of "tbf" "${CIRCUIT[@]}"
	dry_run_of "odd numbers" --rate 622.08mbit --rtt 540.5ms --multiple 1.15
	dry_run_of "100 Gbit/s" --rate 100gbit --rtt 8ms --mss 1200
	dry_run_of "slow" --rate 64kbit --rtt 100us
	dry_run_of "fq" "${CIRCUIT[@]}" --shaper fq --streams 3
	dry_run_of "none" "${CIRCUIT[@]}" --shaper none
	dry_run_of "loss" "${CIRCUIT[@]}" --loss 1%
	dry_run_of "pacing" "${CIRCUIT[@]}" --pace
	dry_run_of "an early window" "${CIRCUIT[@]}" --early-window
	dry_run_of "a name" "${CIRCUIT[@]}" --name "it's;\$HOME&c." --pace
	dry_run_of "fq, paced by the module" --rate 40gbit --rtt 1ms --shaper fq --pace
	dry_run_of "a route" "${CIRCUIT[@]}" --to 10.79.0.0/16 --via 10.78.0.254
	dry_run_of "an IPv6 route" "${CIRCUIT[@]}" --to fd79::/32 --via fd78::fe
	dry_run_of "a route of the kernel's" "${CIRCUIT[@]}" --to 10.78.0.0/24
	QUEUES=4
	dry_run_of "fq on four queues" "${CIRCUIT[@]}" --shaper fq --streams 8
}

# As many lines as there are queues, and no less.
many_queues()
{
	QUEUES=1300
	twin many
	works "1,300 queues: --dry-run" setup --dry-run --quiet "${CIRCUIT[@]}" --shaper fq eth1
	equal "1,300 queues: lines of tc" 1301 "$(grep -c '^tc qdisc replace' <<<"$OUT")"
	works "1,300 queues" setup --quiet "${CIRCUIT[@]}" --shaper fq eth1
	equal "1,300 queues: each has fq" 1300 \
		"$(in_host tc qdisc show dev eth1 | grep -c '^qdisc fq ')"
	host_end
}

dry_runs
dry_runs_on_routes
many_queues
finish
