#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml
#
# What trips a circuit breaker beside loss, on paths that lose nothing or too little:
# congestion marks, a standing delay, a shortfall.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/breaker_lib.sh"
. "$SELFTESTS/breaker_cross_lib.sh"

ecn()
{
	local ns

	for ns in src rtr dst; do
		set_in $ns net.ipv4.tcp_ecn "$1"
	done
}

# Evidence other than loss, on paths that lose nothing, or too little.  A standing delay
# is evidence only where the circuit has a rate; a doubled round trip also halves what is
# delivered, so chance decides whether delay or shortfall is found first.  fq_codel gives
# CUBIC its share by itself, so only the trip shows the breaker; with a single queue it is
# the breaker that gives it.
other_evidence()
{
	shared_queue 10
	spares "onto a queue of 10 ms" 1 7 $LOSS "${RATED[@]}"
	mended
	shared_queue 1000
	spares "onto a queue of 1 s" 1 1 "$DELAY $SHORTFALL" "${RATED[@]}"
	mended
	shared_queue 1000
	in_rtr tc qdisc replace dev r3 parent 1: handle 2: fq_codel ecn
	ecn 1
	spares "onto fq_codel with ECN" 1 1 $CE
	mended
	shared_queue 1000
	in_rtr tc qdisc replace dev r3 parent 1: handle 2: fq_codel flows 1 ecn
	spares "onto one queue of CoDel with ECN" 1 1 $CE
	mended
	ecn 2
	shared_queue $RTT_MS
}

# Where the round trip is short, a queue that costs half of the rate may delay by less
# than the 5 ms that a standing delay must exceed: 2 ms, onto 0.4 of the rate.
shortfall()
{
	way_back 2
	shared_queue 100 $((RATE_MBIT * 4 / 10))
	WINDOW=$((RATE_MBIT * 215 / 1000))
	fresh "${RATED[@]}"
	watch_events
	flow 130000
	sleep 2
	untripped "before it is rerouted"
	ip -n "$RTR" route replace $FAR via $SHARED
	until_true 60 state_is open
	watch_end
	evidence "onto 0.4 of the rate at 2 ms" $SHORTFALL "$(event tripped)"
	WINDOW=$(circuit_field src eth1 window)
	way_back $RTT_MS
	mended
	shared_queue $RTT_MS
}

# A delay without a shortfall: a stream with a window of its own, twice as large as the
# circuit's, keeps a queue on a path that has 0.6 of the rate.  The circuit's window
# alone would not.
standing_delay()
{
	local own name="a window of one's own beside it, onto 0.6 of the rate"

	shared_queue 1000 $((RATE_MBIT * 6 / 10))
	fresh "${RATED[@]}"
	watch_events
	flow 130000
	sleep 1
	ip -n "$RTR" route replace $FAR via $SHARED
	sleep 4
	untripped "onto 0.6 of the rate"
	background src circuit_sock send -C circuit -w $((2 * WINDOW)) \
		-n 100000000000 $FAR $PORT >/dev/null
	own=$!
	until_true 20 state_is open
	watch_end
	evidence "$name" $DELAY "$(event tripped)"
	at_least "$name: delivered, bytes/s" $((RATE_MBIT * 62500)) \
		"$(field ev_rate "$(event tripped)")"
	kill -STOP $FLOW	# or it reports that its socket has died, too
	end_stream src $own
	mended
	shared_queue $RTT_MS
}

breaker_network
other_evidence
shortfall
standing_delay
finish
