#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml
#
# "A rate set ten times too high on a path with 80 % loss: what is sent falls below 1.2 x
# what is needed within 2 s", by the circuit breaker.  It can be read in two ways.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/breaker_lib.sh"

# SENT: segments that src has sent so far, what it sends again included; NEW: those
# that have arrived, each once
count()
{
	SENT=$(in_rtr cat /sys/class/net/r1/statistics/rx_packets)
	NEW=$(in_src ss -Hti "dport = :$PORT" | tr ' ' '\n' | awk -F: '
		$1 == "delivered" { n += $2 }
		$1 == "dsack_dups" { n -= $2 }
		END { print n + 0 }')
}

# counted SECONDS: SENT and NEW of so many seconds from now on
counted()
{
	local sent new

	count
	sent=$SENT new=$NEW
	sleep "$1"
	count
	SENT=$((SENT - sent)) NEW=$((NEW - new))
}

# overrated NAME LOSS: it begins now.  The path loses so much at least, in thousandths; one
# trip ends that.  SENT and NEW are those from 2 s to 4 s.
overrated()
{
	counted 1
	at_least "$1: lost by the path in the first second, thousandths" "$2" \
		$((1000 - 1000 * NEW / (SENT > 0 ? SENT : 1)))
	sleep 1
	counted 2
	until_true 60 state_is open
	watch_end
	evidence "$1" $LOSS "$(event tripped)"
	mended
}

# The path loses because the rate is ten times too high: streams fill it at its own rate
# when somebody sets the circuit to ten times that, and its queue holds 10 ms.  Needed is
# what arrives: that many segments, each once, would have had to be sent.  Four streams
# wait for timeouts in between, and lose less than nine tenths (690 to 820 thousandths).
overrated_path()
{
	local name="a rate set ten times too high, streams: $1"

	shared_queue 10
	ip -n "$RTR" route replace $FAR via $SHARED
	WINDOW=$((WINDOW / 13)) fresh rate $((SHARED_MBIT * 125000))
	watch_events
	flow 130000 -n "$1"
	sleep 1
	untripped "$name: before it"
	succeeds "$name: set" in_src circuit_nl new replace far prefix $FAR \
		window "$WINDOW" "${RATED[@]}"
	overrated "$name" $(($1 > 1 ? 500 : 800))
	at_least "$name: arrived from 2 s to 4 s, segments" 100 $NEW
	at_most "$name: sent then, thousandths of what arrived" 1200 \
		$((1000 * SENT / (NEW > 0 ? NEW : 1)))
}

# Or the path, again of a tenth of the rate, loses 80 % by chance.  There nobody gets a
# segment across for less than five, and no breaker can mend that.  Needed is then what
# a breaker leaves, ten segments each round trip.  It begins when streams are there: of
# their SYNs, too, four in five would be lost.
overrated_lossy_path()
{
	local name="80 % random loss, a rate ten times too high, streams: $1"

	shared_queue 10
	in_rtr tc qdisc replace dev r3 parent 1: handle 2: netem \
		limit $((SHARED_MBIT * 10000 / 1514 / 8)) loss 80%
	fresh "${RATED[@]}"
	watch_events
	flow 130000 -n "$1"
	sleep 1
	ip -n "$RTR" route replace $FAR via $SHARED
	overrated "$name" 800
	at_most "$name: sent from 2 s to 4 s, segments" \
		$((10 * 2000 / RTT_MS * 12 / 10)) $SENT
}

overrate()
{
	local streams

	for streams in 1 4; do
		overrated_path $streams
		overrated_lossy_path $streams
	done
	shared_queue $RTT_MS
}

breaker_network
overrate
finish
