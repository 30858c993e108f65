#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml root
#
# Streams that hold a share of the window and send little, or in vain, do not keep it from others.
#
#	dead		streams of which nothing arrives, though their user keeps writing
#	holes		streams of which one segment never arrives
#	sleepers	streams that hold themselves back, with a window
#	ahead		segments that fq is to send much later, with a window
#	delays		the same for segments delayed by TCP_TX_DELAY

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/hostile_lib.sh"

# Their user writes one byte at a time, which is enough to have something to send.
dead()
{
	fresh 200
	alice dead 11000
	until_true 20 acked "$TMP/dead" 4
	hostile dead -u $MALLORY -n 10 -t 6000 $DST4 $PORT
	wait $ALICE_PID
	! in_virtual_time ||
		at_least "beside dead streams: of what she had, from their 4th second on, %" \
			90 "$(worst dead 9 10)"
	no_wave
}

# The first segment of these streams never arrives, but the others do.  After two timeouts the
# streams hold no share, and must not send in addition to the shares either.
holes()
{
	local i total

	in_virtual_time || return 0
	fresh 200
	in_rtr tc qdisc add dev r2 clsact
	in_rtr tc filter add dev r2 egress protocol ip u32 match ip protocol 6 0xff \
		match u32 0x484f4c45 0xffffffff at 52 action drop
	alice beside 20000
	background src timeout 30 circuit_hostile hole -u $MALLORY -n 10 -t 12000 $DST4 $PORT
	until_true 20 timed_out || fail "ten streams that time out"
	for ((i = 0; i < 100; i++)); do
		flying
		sleep 0.04
	done >"$TMP/flying"
	total=$(sort -n "$TMP/flying" | tail -n 1)
	at_least "beside streams with a hole, two timeouts on: in flight together" 100 "$total"
	at_most "beside streams with a hole, two timeouts on: in flight together" 215 "$total"
	in_rtr tc qdisc del dev r2 clsact
	kill $ALICE_PID
	end_sockets src
	no_wave
}

# shellcheck disable=SC2317 # called by until_true
timed_out()
{
	[ "$(in_src ss -Htin "dst $DST4" | grep -c 'backoff:[2-9]')" -ge 10 ]
}

# flying: segments in flight of all streams, as the kernel counts them
flying()
{
	in_src ss -Htin "dst $DST4" | tr ' ' '\n' | awk -F '[:/]' '
		$1 == "unacked" { sum += $2 }
		$1 == "sacked" || $1 == "lost" { sum -= $2 }
		$1 == "retrans" { sum += $2 }
		END { print sum + 0 }'
}

# beside_sleepers NUMBER HOW: of streams that had the window a moment ago; each has all that it
# asked for and wants no more
beside_sleepers()
{
	local what="beside $1 that hold themselves back ($2)"

	fresh
	mallory "$1" sleep -p 200 -s "$2"
	sleep 1
	alice "sleepers" 10000
	wait $ALICE_PID
	at_least "$what: segments of hers, from the 7th second" \
		$((WINDOW * SPARED / 100)) "$(least "$TMP/sleepers" sum_max 7 9)"
	at_least "$what: bytes/s of hers, from the 7th second" \
		$((WINDOW * SPARED / 100 * PAYLOAD * 1000 / RTT_MS)) \
		"$(least "$TMP/sleepers" acked 7 9)"
	mallory_ends
}

# A stream does not keep its share by reading it again and again, and lifting the pace does
# not bring forward what the core has put off.
sleepers()
{
	local n how

	in_virtual_time || return 0
	room_at_once
	for n in 1 8; do
		for how in once poke raise drip; do
			beside_sleepers $n $how
		done
	done
	room_as_before
}

# Number of packets in src's fq
in_fq()
{
	in_src tc -s qdisc show dev eth1 |
		sed -n 's/.*backlog [^ ]* \([0-9]*\)p.*/\1/p' | head -n 1
}

# beside_ahead NUMBER HOW: of streams of which nothing is to leave before the 9th second; Alice
# begins when the window is free
beside_ahead()
{
	local what="beside $1 to leave 9 s later ($2)"

	fresh
	mallory "$1" ahead -s "$2"
	sleep 1.5
	equal "$what: packets in fq" 0 "$(in_fq)"
	alice ahead 6500
	wait $ALICE_PID
	at_least "$what: segments of hers, in the 6th second" \
		$((WINDOW * SPARED / 100)) "$(least "$TMP/ahead" sum_max 6 6)"
	mallory_ends
}

ahead()
{
	in_virtual_time || return 0
	room_at_once
	in_src tc qdisc replace dev eth1 root fq
	beside_ahead 1 alone
	beside_ahead 100 alone
	beside_ahead 1 go
	beside_ahead 100 go
	in_src tc qdisc del dev eth1 root
	room_as_before
}

# circuit does not honour TCP_TX_DELAY: streams could queue one window after another in fq.
delays()
{
	in_virtual_time || return 0
	in_src tc qdisc replace dev eth1 root fq
	fresh
	mallory 1 send -s delay
	sleep 1
	at_most "to leave 5 s later by TCP_TX_DELAY: packets in fq" 2 "$(in_fq)"
	mallory_ends
	in_src tc qdisc del dev eth1 root
}

hostile_network
cases dead holes sleepers ahead delays
finish
