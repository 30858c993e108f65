#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu
#
# What does not trip a circuit breaker: random loss, a burst of it, an outage; nor what only
# delay and shortfall could take for a path that is shared.  None trips that is off.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/breaker_lib.sh"

BURST=$((5 * RATE_MBIT))	# losses at once: nearly a window, and more than a tenth of a slot
NOBODY=65534

# Emulated, it takes its time.
many_lost()
{
	[ "$(far lost)" -ge $MANY ]
}

burst_lost()
{
	[ "$(far lost)" -ge $BURST ]
}

random_loss()
{
	local percent

	for percent in 1 5; do
		damage loss $percent%
		flow 130000
		sleep 5
		until_true 60 many_lost
		untripped "$percent % random loss"
		at_least "$percent % random loss: lost" $MANY "$(far lost)"
		flow_end
		fresh "${RATED[@]}"
	done
	damage delay 0ms
}

# All, until so many are lost, in some 60 ms
burst()
{
	local until i

	flow 130000
	sleep 1.5
	until=$(($(dropped rtr r2) + BURST))
	damage loss 100%
	for ((i = 0; i < 2000; i++)); do
		[ "$(dropped rtr r2)" -lt $until ] || break
		sleep 0.005
	done
	damage delay 0ms
	sleep 2.4
	until_true 60 burst_lost
	at_least "a burst of $BURST losses: lost" $BURST "$(far lost)"
	untripped "a burst of $BURST losses"
	flow_end
	fresh "${RATED[@]}"
}

outage()
{
	flow 130000
	sleep 1.5
	damage loss 100%
	sleep 3
	damage delay 0ms
	sleep 4
	until_true 60 many_lost
	at_least "an outage of 3 s: lost" $MANY "$(far lost)"
	untripped "an outage of 3 s"
	flow_end
	fresh "${RATED[@]}"
}

# 20 ms of each 100 come 45 ms late, behind what left after them.  TCP, its reordering
# window held at a quarter of the round trip, sends them again, a fifth of all; the peer
# says that it had them (DSACK), and so none of them was lost.
overtaken()
{
	local i resent known

	in_virtual_time || return 0
	set_in src net.ipv4.tcp_recovery 3	# RACK, with a static window
	flow 130000
	sleep 1.5
	for ((i = 0; i < 50; i++)); do
		damage delay 45ms
		sleep 0.02
		damage delay 0ms
		sleep 0.08
	done
	sleep 1
	resent=$(of_stream 'retrans:[0-9]*/') known=$(of_stream dsack_dups:)
	at_least "overtaken: sent again" $((20 * MANY)) "$resent"
	within "overtaken: of these the peer had" "$resent" "$known" $((resent / 10))
	untripped "overtaken"
	flow_end
	fresh "${RATED[@]}"
	set_in src net.ipv4.tcp_recovery 1
}

off()
{
	set_in src net.ipv4.tcp_circuit_breaker 0
	flow 130000
	established
	damage loss 40%
	sleep 5
	until_true 60 many_lost
	untripped "threshold 0: off"
	at_least "threshold 0: lost" $MANY "$(far lost)"
	flow_end
	damage delay 0ms
	set_in src net.ipv4.tcp_circuit_breaker $THRESHOLD
}

# innocent NAME SECONDS: a flow for so long trips nothing, with a rate, too
innocent()
{
	sleep "$2"
	untripped "$1"
	flow_end
}

# PORT's server reads 256 KB each 20 ms, a tenth of the line.
slow_reader()
{
	# shellcheck disable=SC2034 # serve sets it
	local PORT=$((PORT + 1)) SERVER

	serve dst -C circuit -p 20
	flow 130000
	sleep 5
	matches "a receiver that reads slowly: ss says so" "rwnd_limited:" \
		"$(in_src ss -Hti "dport = :$PORT")"
	innocent "a receiver that reads slowly" 5
	serve_end
}

pausing_sender()
{
	local i

	flow 130000
	for ((i = 0; i < 10; i++)); do
		sleep 0.3
		kill -STOP $FLOW
		sleep 0.4
		kill -CONT $FLOW
	done
	innocent "a program that pauses" 1
}

# What one sends in bursts beside somebody's bulk stream: neither the turns before its share
# nor its pauses are a shortfall.
bursts_beside_bulk()
{
	fresh "${RATED[@]}"
	flow 130000
	established
	until_true 20 many_delivered
	in_src timeout 60 circuit_hostile bursts -u $NOBODY -t 5000 -p 400 $FAR $PORT \
		>/dev/null
	innocent "bursts of 100 segments each 400 ms beside a bulk stream" 2
}

# shellcheck disable=SC2317 # called by until_true
many_delivered()
{
	[ "$(far delivered)" -gt 10000 ]
}

# What this host holds back itself is nobody's queue.
# slow_shaper N: a local shaper that holds an Nth of the rate
slow_shaper()
{
	local before held=$((RATE_MBIT / $1))

	in_src tc qdisc replace dev eth1 root tbf rate ${held}mbit \
		burst 100kb limit 20000000
	flow 130000
	sleep 5
	before=$(far delivered)
	sleep 5
	within "a local shaper that holds 1/$1 of the rate: Mbit/s" $held \
		$((($(far delivered) - before) * 1514 * 8 / 5000000)) $((held / 25))
	innocent "a local shaper that holds 1/$1 of the rate" 1
}

# 12 Mbit/s x 600 ms; bursts of six losses, 5.6 % of all
bursts_of_loss()
{
	in_src tc qdisc replace dev eth1 root tbf rate 12mbit burst 3028 limit 4000000
	way_back 600
	damage loss gemodel 1% 16.7%
	WINDOW=773 fresh rate 1500000
	flow 130000
	sleep 60
	at_least "bursts of loss: lost" 300 "$(far lost)"
	innocent "bursts of loss at 12 Mbit/s x 600 ms" 1
	damage delay 0ms
	way_back $RTT_MS
}

# users N SECONDS: N who fetch short files from src, think, and fetch again.  Their
# shares come and go, and a stream that was limited by a small one may have a large one now.
users()
{
	local PORT=$((PORT + $1)) circuit=(prefix 10.77.2.1 window 990 rate 12500000)

	way_back 100
	in_src circuit_nl new users "${circuit[@]}"
	background src "$SELFTESTS/bench/users.py" serve $PORT circuit >/dev/null
	until_true 20 listening src
	in_dst "$SELFTESTS/bench/users.py" ask 10.77.1.1 $PORT "$1" "$2" >/dev/null
	equal "short files of $1 users: trips" 0 "$(circuit_field src users trips)"
	at_least "short files of $1 users: delivered" $((150 * $1)) \
		"$(circuit_field src users delivered)"
	wait $!
	in_src circuit_nl del users
	way_back $RTT_MS
}

# What only delay and shortfall could take for a path that is shared
innocents()
{
	in_virtual_time || return 0
	users 20 15
	users 95 15
	fresh "${RATED[@]}"
	slow_reader
	pausing_sender
	bursts_beside_bulk
	slow_shaper 2
	slow_shaper 5
	bursts_of_loss
}

breaker_network "${RATED[@]}"
random_loss
burst
outage
overtaken
fresh
off
innocents
finish
