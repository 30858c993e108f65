#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu
#
# The circuit breaker: trips when a circuit turns out to be a path that others
# share, so that they live; not for random loss, a burst, or an outage.  Sticky,
# until the administrator or a long quiet time; one line in the log; seen by ss.
#
#	src --- rtr === dst	r2: the circuit, 1 Gbit/s
#				r3: a tenth of it, which CUBIC uses already
#
# 10.77.9.1 is on dst's lo; rtr's route to it is the circuit's way.  An emulated
# machine has a tenth of all rates and counts, and what CUBIC has is not asserted.

. "$(dirname "$0")/lib.sh"
need_commands ethtool circuit_sock circuit_streams ctcp-setup setpriv
need_module

RATE_MBIT=1000
REROUTES=5		# of each kind: CUBIC's share is the middle of them
if [ "$LAB" != uml ]; then
	RATE_MBIT=100
	REROUTES=1
fi
SHARED_MBIT=$((RATE_MBIT / 10))
MANY=$RATE_MBIT		# losses: a burst; less than what a breaker must bear
SEEN=$((50 * MANY))	# duplicates
RTT_MS=50
FAR=10.77.9.1
SHARED=10.77.3.1

topology()
{
	network
	wire "$RTR" r3 "$DST" eth2
	ip -n "$RTR" addr add 10.77.3.254/24 dev r3
	ip -n "$DST" addr add $SHARED/24 dev eth2
	ip -n "$DST" addr add $FAR/32 dev lo
	ip -n "$SRC" route add $FAR via 10.77.1.254
	single_packets
	offloads_off rtr r3
	offloads_off dst eth2
	set_up
	in_rtr tc qdisc replace dev r3 root tbf rate ${SHARED_MBIT}mbit \
		burst 3028 limit $((SHARED_MBIT * 125 * RTT_MS))
	by_circuit
}

# The way back has all of the delay, so that r2 and r3 are free for the rest.
set_up()
{
	local port

	in_src ctcp-setup --quiet --rate ${RATE_MBIT}mbit --rtt ${RTT_MS}ms \
		eth1 >/dev/null || fail "ctcp-setup on src"
	in_dst ctcp-setup --quiet --shaper none --rate ${RATE_MBIT}mbit \
		--rtt ${RTT_MS}ms eth1 >/dev/null || fail "ctcp-setup on dst"
	for port in eth1 eth2; do
		in_dst tc qdisc replace dev $port root netem limit 1000000 \
			delay ${RTT_MS}ms
	done
}

by_circuit()
{
	ip -n "$RTR" route replace $FAR via 10.77.2.1
}

# What the breaker and everything about it says, for the circuit to FAR
line()
{
	in_src awk -v peer=$FAR '$1 == peer' /proc/net/tcp_circuit
}

state_is()
{
	[ "$(line | awk '{ print $NF }')" = "$1" ]
}

trips()
{
	line | awk '{ n = $10 } END { print n + 0 }'
}

# Segments, since the circuit is there: 2 s longer than its last stream
lost()
{
	line | awk '{ print $9 }'
}

# Emulated, it takes its time.
many_lost()
{
	[ "$(lost)" -ge $MANY ]
}

log_lines()
{
	dmesg | grep -c "tcp_circuit: circuit to .*breaker tripped"
}

# flow MS [OPTION...]: streams of the circuit, in the background
flow()
{
	background src circuit_streams -t "$@" $FAR $PORT >"$TMP/flow"
	FLOW=$!
}

# The flow's SYN is not what is to be lost: again and again, it would take seconds.
established()
{
	until_true 10 sending
}

sending()
{
	[ -n "$(in_src ss -Htn state established "dport = :$PORT")" ]
}

# end_stream src|rtr PID.  Stopped first: its open sockets are killed while they have
# a process, see orphans_die(), which cannot close the rest when the first one fails.
# Then those that it had closed itself.
end_stream()
{
	kill -STOP "$2" 2>/dev/null
	"in_$1" ss -K state established state syn-sent "dport = :$PORT" >/dev/null
	kill -KILL "$2" 2>/dev/null
	wait "$2" 2>/dev/null
	end_sockets "$1"
}

flow_end()
{
	end_stream src $FLOW
}

# untripped NAME: nor a line in the log
untripped()
{
	equal "$1: trips" 0 "$(trips)"
	equal "$1: state" closed "$(line | awk '{ print $NF }')"
}

damage()
{
	in_rtr tc qdisc replace dev r2 root netem limit 1000000 "$@"
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
		at_least "$percent % random loss: lost" $MANY "$(lost)"
		flow_end
		until_true 10 no_circuit
	done
	damage delay 0ms
}

# By the path, since it is there
dropped()
{
	in_rtr tc -s qdisc show dev r2 | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p'
}

# All, until so many are lost: 12 ms at 1 Gbit/s
burst()
{
	local until i

	flow 130000
	sleep 1.5
	until=$(($(dropped) + MANY))
	damage loss 100%
	for ((i = 0; i < 2000; i++)); do
		[ "$(dropped)" -lt $until ] || break
		sleep 0.005
	done
	damage delay 0ms
	sleep 2.4
	until_true 60 many_lost
	at_least "a burst of $MANY losses: lost" $MANY "$(lost)"
	untripped "a burst of $MANY losses"
	flow_end
	until_true 10 no_circuit
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
	at_least "an outage of 3 s: lost" $MANY "$(lost)"
	untripped "an outage of 3 s"
	flow_end
}

cross_bytes()
{
	in_rtr ss -Hti "dport = :$PORT" |
		sed -n 's/.*bytes_acked:\([0-9]*\).*/\1/p'
}

# Mbit/s of CUBIC in each of the next COUNT seconds
cross_rates()
{
	local before now

	before=$(cross_bytes)
	for ((i = 0; i < $1; i++)); do
		sleep 1
		now=$(cross_bytes)
		echo $(((now - before) * 8 / 1000000))
		before=$now
	done
}

# cubic_has DESCRIPTION LEAST GOT, of 100 Mbit/s
cubic_has()
{
	[ "$LAB" != uml ] || at_least "$@"
}

# reroute NAME STREAMS: leaves the flow where it is; RATES are CUBIC's after it
reroute()
{
	local cross logged

	logged=$(log_lines)
	background rtr circuit_sock send -C cubic -n 100000000000 $SHARED $PORT \
		>/dev/null
	cross=$!
	sleep 3
	cubic_has "$1: CUBIC alone, Mbit/s" 80 "$(cross_rates 1)"
	flow 130000 -n "$2"
	sleep 2
	ip -n "$RTR" route replace $FAR via $SHARED
	RATES=$(cross_rates 8)
	until_true 60 state_is tripped
	equal "$1: trips" 1 "$(trips)"
	equal "$1: lines in the log" 1 $(($(log_lines) - logged))
	end_stream rtr $cross
}

mended()
{
	in_src sh -c 'echo reset >/proc/net/tcp_circuit'
	flow_end
	by_circuit
}

# middle SECOND RATES: of that second in all reroutes
middle()
{
	local all

	all=$(awk -v second="$1" '$1 == second { print $2 }' <<<"$2" | sort -n)
	sed -n "$((($(wc -l <<<"$all") + 1) / 2))p" <<<"$all"
}

# spares NAME STREAMS TIMES: CUBIC's share is half of 100 Mbit/s, 40 % of it 20.
# How far it falls in the second that it takes to trip is chance: each timeout of its
# own costs it 30 %, and all it grows by is 2 Mbit/s each second (four streams, 24
# times: 17 to 92 in the fifth, half of them at least 50).
spares()
{
	local all='' time

	for ((time = 1; time <= $3; time++)); do
		[ "$time" = 1 ] || mended
		reroute "$1" "$2"
		all+=$(cat -n <<<"$RATES")$'\n'
		echo "# $1: CUBIC in the seconds after it, Mbit/s:" $RATES
	done
	cubic_has "$1: CUBIC in the fifth second after it, Mbit/s" 20 \
		"$(middle 5 "$all")"
	cubic_has "$1: CUBIC in the eighth, Mbit/s" 20 "$(middle 8 "$all")"
}

# cwnd is a tenth at most, for all streams together, and ss says by how much.
cut()
{
	local out window

	window=$(in_src sysctl -n net.ipv4.tcp_circuit_fcwnd)
	out=$(in_src ss -Hti "dport = :$PORT")
	at_least "tripped: a tenth of the window, least what streams hold" \
		"$(sed -n 's/.*\bcwnd:\([0-9]*\).*/\1/p' <<<"$out" |
			awk '{ n += $1 } END { print n }')" $((window / 10))
	matches "tripped: ss shows it" "cwnd_gain:0\.0" "$out"
	at_least "tripped: loss that did it, thousandths" 100 \
		"$(dmesg | sed -n 's/.*lost in the last.* ms, \([0-9]*\)\.\([0-9]\) %.*/\1\2/p' |
			tail -n 1)"
}

# Streams may end, the path may be mended: it stays.
sticky()
{
	flow_end
	by_circuit
	sleep 3
	succeeds "sticky when all streams have ended" state_is tripped
	flow 130000
	sleep 2
	succeeds "sticky for a new stream" state_is tripped
	cut
	leaving
}

reset_by_hand()
{
	refused "what is not reset is refused" \
		in_src sh -c 'echo open >/proc/net/tcp_circuit'
	succeeds "reset of another peer" \
		in_src sh -c 'echo reset 192.0.2.1 >/proc/net/tcp_circuit'
	succeeds "is not of this one" state_is tripped
	succeeds "reset" in_src sh -c "echo reset $FAR >/proc/net/tcp_circuit"
	succeeds "closed by it" state_is closed
	until_true 5 window_is_back
	succeeds "the window is back" window_is_back
	flow_end
}

window_is_back()
{
	in_src ss -Hti "dport = :$PORT" |
		grep -q "cwnd:$(in_src sysctl -n net.ipv4.tcp_circuit_fcwnd)\b"
}

# trips_in_time NAME: it is 2 s mostly; but a stream whose repairs are lost, too, sends
# next to nothing between timeouts, which double: at 40 % of loss 3 to 4.4 s in nine of
# 190 times, 12 s once.
trips_in_time()
{
	until_true 120 state_is tripped
	succeeds "$1: tripped" state_is tripped
}

# No more damage, and the window back
repaired()
{
	damage delay 0ms
	in_src sh -c 'echo reset >/proc/net/tcp_circuit'
}

# Duplicates that the network makes are no credit for losses to come: far fewer segments
# are sent again before it trips.
duplicates()
{
	local seen

	damage duplicate 50%
	flow 130000
	sleep 5
	until_true 60 many_seen
	untripped "5 s of duplicates"
	seen=$(of_stream dsack_dups:)
	at_least "5 s of duplicates: seen" $SEEN "$seen"
	damage loss 30%
	trips_in_time "30 % lost after 5 s of duplicates"
	at_most "30 % lost after 5 s of duplicates: sent again by then" \
		$((seen / 2)) "$(of_stream 'retrans:[0-9]*/')"
	repaired
	flow_end
}

many_seen()
{
	[ "$(of_stream dsack_dups:)" -ge $SEEN ]
}

# of_stream PREFIX: the number that ss shows behind it
of_stream()
{
	in_src ss -Hti "dport = :$PORT" | sed -n "s|.*\b$1\([0-9]*\).*|\1|p"
}

# Outside of what streams share, and of what they prove by it, but in the circuit
own_window()
{
	local sender

	background src circuit_sock send -C circuit -w $((5 * RATE_MBIT)) \
		-n 100000000000 $FAR $PORT >/dev/null
	sender=$!
	established
	damage loss 30%
	trips_in_time "30 % lost of a window of one's own"
	repaired
	end_stream src $sender
}

# None of them lasts long enough to trip it alone; three or four one after the other do
# (11 once in sixty times), not counting those whose SYN was lost.
short_connections()
{
	damage loss 20%
	for _ in $(seq 100); do
		flow 600
		sleep 0.7
		flow_end
		state_is tripped && break
	done
	succeeds "connections of 0.7 s after each other: tripped" state_is tripped
	repaired
}

# An id is a circuit, and so is no way out of one whose breaker has tripped.
leaving()
{
	matches "without CAP_NET_ADMIN, another id: refused" \
		"TCP_CIRCUIT_ID: Operation not permitted" \
		"$(in_src setpriv --bounding-set=-net_admin \
			circuit_sock send -I 5 -n 1000 $FAR $PORT 2>&1)"
	succeeds "with it, another id" in_src circuit_sock send -I 5 \
		-n 1000 $FAR $PORT
}

# With a short quiet time: closed that long after the last lossy slot.
quiet()
{
	set_in src net.ipv4.tcp_circuit_breaker_quiet 10
	flow 130000
	established
	damage loss 30%
	trips_in_time "30 % random loss"
	flow_end
	damage delay 0ms
	sleep 3
	succeeds "not yet closed 3 s later" state_is tripped
	until_true 20 no_circuit
	equal "closed and gone after its quiet time" "" "$(line)"
	set_in src net.ipv4.tcp_circuit_breaker_quiet 300
}

no_circuit()
{
	[ -z "$(line)" ]
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
	at_least "threshold 0: lost" $MANY "$(lost)"
	flow_end
	damage delay 0ms
	set_in src net.ipv4.tcp_circuit_breaker 100
}

topology
default_circuit
serve dst -C circuit
random_loss
burst
outage
spares "onto $SHARED_MBIT Mbit/s" 1 $REROUTES
sticky
reset_by_hand
spares "four streams onto $SHARED_MBIT Mbit/s" 4 $REROUTES
mended
quiet
duplicates
own_window
short_connections
off
finish
