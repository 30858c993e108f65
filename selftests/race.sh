#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: qemu
#
# What a user does on one processor while another one sends.  Newer kernels (7.x) set
# SO_MAX_PACING_RATE without the socket's lock, and at 0 the core does not pace: a circuit
# with a rate paces in its place, and a switch with room for ten frames loses nothing.
# The switch is a tbf on r2 with a quarter more than the circuit's rate.

. "$(dirname "$0")/lib.sh"
need_commands circuit_hostile circuit_nl
need_module

RTT_MS=50
RATE=2000000	# bytes/s
WINDOW=66	# segments, RATE x RTT
SWITCH=15140	# bytes, ten frames
BEGIN_MS=1500	# long after the first ten segments

# zero NAME MS LIMIT: SO_MAX_PACING_RATE 0 over and over from then on
zero()
{
	local before out

	before=$(dropped rtr r2)
	out=$(in_src timeout 60 circuit_hostile zero -p "$2" -t 4000 $DST4 $PORT)
	# that it sends: how fast an emulated machine is, is not for us to say
	at_least "$1: bytes in 4 s" $((3 * WINDOW * 1448)) "$(field bytes "$out")"
	at_most "$1: lost in the switch" "$3" $(($(dropped rtr r2) - before))
	end_sockets src
}

network $((RTT_MS / 2))
in_src circuit_nl new wave prefix 10.77.2.0/24 window $WINDOW rate $RATE
in_rtr tc qdisc add dev r2 root tbf rate $((RATE / 100000))mbit burst 3028 limit $SWITCH
serve dst
zero "SO_MAX_PACING_RATE 0 from the first segment on" 0 0
# What is sent in one go when it comes for the first time
zero "SO_MAX_PACING_RATE 0 in the midst of it" $BEGIN_MS $WINDOW
finish
