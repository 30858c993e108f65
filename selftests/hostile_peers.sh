#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml root
#
# A peer that is far, silent or slow takes nothing from a near one of the same circuit.
#
#	far_resets	what a far peer leaves in flight, beside bursts to a near one
#	silent		a peer that answers nothing for long, whether or not its streams are polled
#	trickle		a peer that answers little
#	distances	no harm at all: a near and a far peer of one circuit

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/hostile_lib.sh"

# What a far stream has in flight when it is reset counts for one round trip of that stream, and
# for no more than it is; then a near stream has that part of the window.
far_resets()
{
	local near out

	in_rtr tc qdisc replace dev r2 root netem limit 1000000 delay 300ms
	background rtr circuit_sock serve $PORT >/dev/null
	near=$!
	in_src circuit_nl new excl wave prefix 10.77.0.0/16 window 200
	out=$(hostile bursts -u $ALICE -t 2000 10.77.1.254 $PORT)
	at_most "bursts alone: worst, ms" 40 "$(field worst "$out")"
	background src timeout 20 circuit_hostile relay -u $MALLORY -n 600 -p 20 \
		$DST4 $PORT >"$TMP/relay"
	sleep 1.5
	out=$(hostile bursts -u $ALICE -t 9000 10.77.1.254 $PORT)
	# For a round trip of the far peer, 320 ms, the window is full of its segments.  The mean
	# of some 50 bursts is 110 to 148 ms, and 213 to 459 where each of its next streams takes
	# all that becomes free; the slowest burst, up to 1.2 s, tells nothing of that.
	at_most "bursts beside a far peer's resets: mean, ms" 180 "$(field mean "$out")"
	end_sockets src
	kill $near
	damage
	no_wave
}

# known_forever NETNS DEV ADDRESS NETNS DEV: a permanent neighbour entry, as ARP would not wait
# for a distant peer
known_forever()
{
	"in_$1" ip neigh replace "$3" dev "$2" nud permanent \
		lladdr "$("in_$4" cat "/sys/class/net/$5/address")"
}

# distant_peer DELAY [OPTION...]: a circuit to this peer and to rtr, and Mallory's streams to the
# peer (one, unless OPTION says more), which have the whole window
distant_peer()
{
	local delay=$1

	shift
	known_forever rtr r2 10.77.2.1 dst eth1
	known_forever dst eth1 10.77.2.254 rtr r2
	in_dst tc qdisc replace dev eth1 root netem limit 1000000 delay "$delay"
	in_src circuit_nl new excl wave prefix 10.77.0.0/16 window 200 >/dev/null
	background rtr circuit_sock serve $PORT >/dev/null
	NEAR_PID=$!
	background src circuit_hostile send -u $MALLORY -n 1 -t 200000 "$@" $DST4 $PORT >/dev/null
	# shellcheck disable=SC2034 # of mallory_ends
	MALLORY_PID=$!
	until_true 60 many_connected 1 || fail "a connection to a distant peer"
}

# hers_beside WHAT LEAST: Alice, who sends to rtr, has at least so many segments
hers_beside()
{
	in_src circuit_hostile send -u $ALICE -n 1 -t 9000 10.77.1.254 $PORT >"$TMP/near"
	at_least "beside a peer $1: segments of hers, from the 6th second" "$2" \
		"$(least "$TMP/near" sum_max 6 8)"
}

distant_peer_ends()
{
	mallory_ends
	in_dst tc qdisc replace dev eth1 root netem limit 1000000 delay 0ms
	kill $NEAR_PID
	wait $NEAR_PID 2>/dev/null
	next_server
}

# silent_peer WORDS [OPTION...]: the peer answers 20 s late; its streams have the window when
# Alice begins to send to another peer of the circuit
silent_peer()
{
	local words=$1

	shift
	distant_peer 20s "$@"
	# the first segments are acknowledged, and a window has been sent
	sleep 21
	hers_beside "$words" $((200 * SPARED / 100))
	at_most "beside a peer $words: her bursts of half of the window, mean ms" \
		$((RTT_MS * 3 / 2)) \
		"$(her_bursts 10.77.1.254)"
	distant_peer_ends
}

# Reading TCP_CIRCUIT_INFO makes the module look at the stream's share.
silent()
{
	in_virtual_time || return 0
	silent_peer "that is silent"
	silent_peer "that is silent, whose stream is asked each ms" -s poll
	silent_peer "that is silent, whose 8 streams are asked each ms" -s poll -n 8
}

# The peer makes the round trip longer step by step, so that there is no timeout.
slow_peer()
{
	local ms

	distant_peer 20ms
	for ms in 300 900 1800 3000; do
		in_dst tc qdisc replace dev eth1 root netem limit 1000000 delay ${ms}ms
		sleep 5
	done
}

# After slow_peer, the peer acknowledges a segment now and then.  With holes, two or three segments
# of 45 never arrive: the oldest is sent again and again, while those sent after it grow old.
trickle()
{
	local how

	in_virtual_time || return 0
	for how in "in order" "with holes"; do
		slow_peer
		in_rtr tc qdisc add dev r2 clsact
		[ "$how" = "in order" ] ||
			in_rtr tc filter add dev r2 egress protocol ip u32 \
				match ip protocol 6 0xff match u32 0 0xf000 at 24 action drop
		damage rate 9kbit
		sleep 8
		hers_beside "that acknowledges a segment now and then, $how" \
			$((200 / 2 * SPARED / 100))
		in_rtr tc qdisc del dev r2 clsact
		in_rtr tc qdisc del dev r2 root
		damage
		distant_peer_ends
	done
}

# A stream to a far peer is not judged late because a near peer of the same circuit answers at once.
distances()
{
	local near ms

	in_rtr tc qdisc del dev r1 root
	background rtr circuit_sock serve $PORT >/dev/null
	near=$!
	for ms in $RTT_MS 100; do
		in_rtr tc qdisc replace dev r2 root netem limit 1000000 delay ${ms}ms
		distant $ms
	done
	kill $near
	delay $((RTT_MS / 2))
}

# distant MS: bulk to dst beside a connection to rtr that is idle by now
distant()
{
	local idle

	in_src circuit_nl new excl wave prefix 10.77.0.0/16 window 36 rate 6250000 \
		>/dev/null || fail "a circuit to rtr and dst"
	background src circuit_hostile send -u $ALICE -t 60000 10.77.1.254 $PORT \
		>"$TMP/near"
	idle=$!
	until_true 20 acked "$TMP/near" 1
	kill -STOP $idle
	hostile send -u $ALICE -t 15100 $DST4 $PORT >/dev/null
	equal "a near peer, and one $1 ms away: trips" 0 \
		"$(circuit_field src wave trips)"
	kill -KILL $idle
	wait $idle 2>/dev/null
	no_wave
}

hostile_network
cases far_resets silent trickle distances
finish
