#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml
#
# Loss costs what was lost and no more: goodput against the line's payload limit
# x (1 - loss), with the buffers that ctcp-setup --loss plans, from the first
# second on.  Reordering and duplication do not bring it down.  After an outage
# the window is full one round trip after the first packet gets through.

. "$(dirname "$0")/lib.sh"
need_commands ethtool circuit_nl circuit_sock circuit_streams ctcp-setup iperf3 jq
need_module

RATE_MBIT=1000
RTT_MS=50
TIME_MS=5000

# damage WORDS...: what netem does to what goes to dst
damage()
{
	in_rtr tc qdisc replace dev r2 root netem limit 1000000 "$@"
}

# set_up [OPTION...]: both hosts by ctcp-setup; dst's queue is the lab's
set_up()
{
	host_set_up src "$@"
	host_set_up dst --shaper none "$@"
}

host_set_up()
{
	"in_$1" ctcp-setup --quiet --rate ${RATE_MBIT}mbit --rtt ${RTT_MS}ms \
		"${@:2}" eth1 >"$TMP/setup" 2>&1 ||
		fail "ctcp-setup ${*:2} on $1" "$(<"$TMP/setup")"
}

# share OUTPUT: thousandths of the line's payload limit in TIME_MS
share()
{
	echo $(($(field bytes "$1") * 1000 /
		(RATE_MBIT * 125 * TIME_MS / 1514 * 1448)))
}

# goodput NAME LEAST: one stream for TIME_MS, after a second
goodput()
{
	local out

	out=$(in_src timeout 120 circuit_streams -w 1000 -t $TIME_MS -p 50 \
		$DST4 $PORT)
	at_least "$1: thousandths of the line" "$2" "$(share "$out")"
}

# random PERCENT LEAST SECONDS: of limit x (1 - loss), in thousandths.  The rule
# allows one stall for a retransmission timeout in 1,000 round trips, which is
# 50 s; so long a run that one does not decide it.
random()
{
	local TIME_MS=${3}000

	set_up --loss "$1%"
	damage loss "$1%"
	goodput "$1 % loss" $(($2 * (100 - $1) / 100))
}

# The plan's rule is the smallest: with what no loss needs it would not do.
smallest()
{
	local out

	set_up
	damage loss 1%
	out=$(in_src timeout 120 circuit_streams -w 1000 -t $TIME_MS -p 50 \
		$DST4 $PORT)
	at_most "1 % loss without --loss: thousandths of the line" 950 \
		"$(share "$out")"
}

# 5 ms late: each tenth packet waits, those behind it overtake.
disorder()
{
	set_up --loss 1%
	damage delay 5ms reorder 90%
	goodput "reordering by 5 ms" 900
	damage duplicate 1%
	goodput "1 % duplicated" 970
}

# Streams of the circuit, and those of them that count as hungry
counted()
{
	local circuit

	circuit=$(circuit_of src eth1)
	echo "$(field sockets "$circuit") $(field hungry "$circuit")"
}

two_there()
{
	[[ $(counted) = 2* ]]
}

# Tenths of a second, of SECONDS, in which both streams count as hungry, and in
# which there are both
both_hungry()
{
	local i now both=0 there=0

	for ((i = 0; i < 10 * $1; i++)); do
		sleep 0.1
		now=$(counted)
		[ "${now% *}" != 2 ] || there=$((there + 1))
		[ "$now" != "2 2" ] || both=$((both + 1))
	done
	echo $both $there
}

# A program that sends a fifth of the line keeps no half of the window, though the
# holes in what it sends take round trips to fill.
little_beside()
{
	local both full little there

	end_sockets src
	until_true 20 no_circuits
	set_up --loss 2%
	damage loss 2%
	background dst iperf3 -s -1 -p $((PORT + 2)) >/dev/null
	PORT=$((PORT + 2)) until_true 10 listening dst || fail "iperf3's server"
	background src circuit_streams -t 20000 $DST4 $PORT >/dev/null
	full=$!
	background src iperf3 -c $DST4 -p $((PORT + 2)) -C circuit -b 200M -t 8 -J \
		>"$TMP/little"
	little=$!
	until_true 20 two_there		# a SYN that is lost takes a second
	sleep 0.5
	read -r both there < <(both_hungry 4)
	at_least "2 % loss, a fifth of the line: tenths of 4 s as one of two streams" 38 \
		"$there"
	at_most "of these as one of two hungry" 20 "$both"
	wait $little
	at_least "the fifth, Mbit/s" 180 "$(jq \
		'.end.sum_received.bits_per_second / 1e6 | floor' <"$TMP/little")"
	kill $full
	wait $full 2>/dev/null
	end_sockets src
}

# The path is dead for 3 s.  Measured from the first ACK that shows that a packet
# got through: the time until a full window is in flight.
outage()
{
	local out

	end_sockets src
	set_up
	damage delay 0ms
	background src circuit_sock send -C circuit -n 100000000000 $DST4 $PORT \
		>/dev/null
	out=$!
	until_true 5 full_window || fail "before an outage: a full window"
	damage loss 100%
	sleep 3
	damage delay 0ms
	until_true_ms 10000 alive ||
		fail "after an outage of 3 s: a packet gets through"
	until_true_ms 1000 full_window || fail "after an outage of 3 s: a full window"
	at_most "after an outage of 3 s: ms to a full window" \
		$((RTT_MS * 13 / 10 + 10)) "$MS"
	kill $out
}

# until_true_ms LIMIT COMMAND...: poll each 5 ms; MS is how many it took
until_true_ms()
{
	local limit=$1

	shift
	MS=0
	while ! "$@"; do
		MS=$((MS + 5))
		[ $MS -lt "$limit" ] || return 1
		sleep 0.005
	done
}

connection()
{
	in_src ss -Hti "dport = :$PORT"
}

full_window()
{
	connection | awk '{
		for (i = 1; i <= NF; i++) {
			split($i, v, ":")
			n[v[1]] = v[2]
		}
	} END {
		# what is 0 is not shown
		flight = n["unacked"] - n["sacked"] - n["lost"]
		split(n["retrans"], r, "/")
		flight += r[1]
		exit !(n["cwnd"] && flight >= n["cwnd"] * 9 / 10)
	}'
}

# No timeout is backed off any more.
alive()
{
	! connection | grep -q backoff
}

network
single_packets
in_dst tc qdisc replace dev eth1 root netem limit 1000000 delay ${RTT_MS}ms
serve dst -C circuit
random 1 980 20
random 5 970 40
smallest
little_beside
disorder
outage
finish
