#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu
#
# The circuit breaker: trips when a circuit turns out to be a path that others
# share, so that they live; not for random loss, a burst, or an outage.  Sticky,
# until the administrator or a long quiet time; one line in the log and one event,
# with the evidence; seen by ss.  It cuts its user's window, and nobody else's.
#
#	src --- rtr === dst	r2: the circuit, 1 Gbit/s
#				r3: a tenth of it, which CUBIC uses already
#
# 10.77.9.1 is on dst's lo, and a circuit by itself; rtr's route to it is the
# circuit's way.  An emulated machine has a tenth of all rates and counts, and what
# CUBIC has is not asserted.

. "$(dirname "$0")/lib.sh"
need_commands ethtool circuit_nl circuit_sock circuit_streams ctcp-setup
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
THRESHOLD=100		# thousandths
ROOT=0 NOBODY=65534
LOSS=1 CE=2 DELAY=3	# enum tcp_circuit_reason
QUIET=1 RESET=2		# enum tcp_circuit_cause

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

# fresh [WORD...]: the circuit to FAR once more, without a past
fresh()
{
	in_src circuit_nl del far 2>/dev/null
	in_src circuit_nl new excl far prefix $FAR window "$WINDOW" "$@" ||
		fail "a circuit for $FAR"
}

# far NAME: a number of that circuit
far()
{
	circuit_field src far "$1"
}

state_is()
{
	breaker_is src far "$1"
}

# watch_events, watch_end: what happens meanwhile is a line each in EVENTS
watch_events()
{
	background src circuit_nl monitor >"$TMP/events"
	WATCH=$!
	until_true 10 grep -q ready "$TMP/events"
}

watch_end()
{
	kill $WATCH
	wait $WATCH 2>/dev/null
	EVENTS=$(grep 'name=far ' "$TMP/events")
}

# event NAME: the last of them that says so
event()
{
	grep "event=$1 " <<<"$EVENTS" | tail -n 1
}

happened()
{
	grep -q "event=$1 name=far " "$TMP/events"
}

# Emulated, it takes its time.
many_lost()
{
	[ "$(far lost)" -ge $MANY ]
}

# log_lines REASON
log_lines()
{
	local words=("" "loss" "congestion marks" "standing delay")

	dmesg | grep -c "tcp_circuit: circuit far: breaker of uid $ROOT tripped by ${words[$1]}:"
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

# untripped NAME
untripped()
{
	equal "$1: trips" 0 "$(far trips)"
	equal "$1: state" 0 "$(far breaker)"
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
		at_least "$percent % random loss: lost" $MANY "$(far lost)"
		flow_end
		fresh
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
	at_least "a burst of $MANY losses: lost" $MANY "$(far lost)"
	untripped "a burst of $MANY losses"
	flow_end
	fresh
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
	fresh
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

# reroute NAME STREAMS REASON: leaves the flow where it is; RATES are CUBIC's after it
reroute()
{
	local cross logged

	logged=$(log_lines "$3")
	watch_events
	background rtr circuit_sock send -C cubic -n 100000000000 $SHARED $PORT \
		>/dev/null
	cross=$!
	sleep 3
	cubic_has "$1: CUBIC alone, Mbit/s" 80 "$(cross_rates 1)"
	flow 130000 -n "$2"
	sleep 2
	ip -n "$RTR" route replace $FAR via $SHARED
	RATES=$(cross_rates 8)
	until_true 60 state_is open
	watch_end
	equal "$1: trips" 1 "$(far trips)"
	equal "$1: lines in the log" 1 $(($(log_lines "$3") - logged))
	evidence "$1" "$3" "$(event tripped)"
	end_stream rtr $cross
}

# evidence NAME REASON EVENT
evidence()
{
	equal "$1: events" 1 "$(grep -c 'event=tripped ' <<<"$EVENTS")"
	equal "$1: reason" "$2" "$(field reason "$3")"
	equal "$1: whose sockets" $ROOT "$(field uid "$3")"
	equal "$1: window before" "$WINDOW" "$(field ev_window "$3")"
	at_most "$1: window after" $((WINDOW < 100 ? WINDOW / 10 : 10)) \
		"$(field window_cut "$3")"
	case $2 in
	"$LOSS") beyond "$1: lost" $THRESHOLD ev_lost segments "$3" ;;
	"$CE") beyond "$1: marked" $THRESHOLD ev_ce segments "$3" ;;
	"$DELAY") beyond "$1: round trip over what is explained" 2000 \
		rtt rtt_expected "$3" ;;
	esac
}

# beyond NAME THOUSANDTHS FIELD OF EVENT
beyond()
{
	at_least "$1, thousandths" $(($2 + 1)) \
		$(($(field "$3" "$5") * 1000 / $(field "$4" "$5")))
}

mended()
{
	in_src circuit_nl reset
	flow_end
	by_circuit
	fresh
}

# middle SECOND RATES: of that second in all reroutes
middle()
{
	local all

	all=$(awk -v second="$1" '$1 == second { print $2 }' <<<"$2" | sort -n)
	sed -n "$((($(wc -l <<<"$all") + 1) / 2))p" <<<"$all"
}

# spares NAME STREAMS TIMES [REASON [WORD...]]: of the circuit; CUBIC's share is half of 100 Mbit/s, 40 % of it 20.
# How far it falls in the second that it takes to trip is chance: each timeout of its
# own costs it 30 %, and all it grows by is 2 Mbit/s each second (four streams, 24
# times: 17 to 92 in the fifth, half of them at least 50).
spares()
{
	local all='' time

	for ((time = 1; time <= $3; time++)); do
		[ "$time" = 1 ] || mended
		fresh "${@:5}"
		reroute "$1" "$2" "${4:-$LOSS}"
		all+=$(cat -n <<<"$RATES")$'\n'
		echo "# $1: CUBIC in the seconds after it, Mbit/s:" $RATES
	done
	cubic_has "$1: CUBIC in the fifth second after it, Mbit/s" 20 \
		"$(middle 5 "$all")"
	cubic_has "$1: CUBIC in the eighth, Mbit/s" 20 "$(middle 8 "$all")"
}

# cwnd is a tenth at most, and ten segments, for all streams of the user together, and
# ss says by how much.
cut()
{
	local out

	out=$(in_src ss -Hti "dport = :$PORT")
	at_most "tripped: what streams hold together" \
		$((WINDOW < 100 ? WINDOW / 10 : 10)) \
		"$(sed -n 's/.*\bcwnd:\([0-9]*\).*/\1/p' <<<"$out" |
			awk '{ n += $1 } END { print n }')"
	matches "tripped: ss shows it" "cwnd_gain:0\.0" "$out"
	at_least "tripped: loss that did it, thousandths" 100 \
		"$(dmesg | sed -n 's/.*segments lost (\([0-9]*\)\.\([0-9]\) %).*/\1\2/p' |
			tail -n 1)"
}

# Streams may end, the path may be mended: it stays, and cuts nobody else.
sticky()
{
	flow_end
	by_circuit
	sleep 3
	succeeds "sticky when all streams have ended" state_is open
	flow 130000
	sleep 2
	succeeds "sticky for a new stream" state_is open
	cut
	spares_users
}

# Another user on the same circuit, meanwhile
spares_users()
{
	local out

	out=$(in_src timeout 60 circuit_streams -u $NOBODY -w 1000 -t 1000 $FAR $PORT)
	equal "another user has not tripped" 1 "$(far tripped_users)"
	at_least "another user's window, $WINDOW before" $((WINDOW * 8 / 10)) \
		"$(field sum_max "$out")"
}

reset_by_hand()
{
	refused "reset of a circuit that is not there" \
		in_src circuit_nl reset nosuch
	succeeds "reset of another circuit" in_src circuit_nl reset eth1
	succeeds "is not of this one" state_is open
	watch_events
	succeeds "reset by its address" in_src circuit_nl reset $FAR
	succeeds "closed by it" state_is closed
	until_true 5 happened closed
	watch_end
	equal "the event's cause" $RESET "$(field cause "$(event closed)")"
	equal "the event's reason is the trip's" $LOSS \
		"$(field reason "$(event closed)")"
	until_true 5 window_is_back
	succeeds "the window is back" window_is_back
	flow_end
	fresh
}

window_is_back()
{
	in_src ss -Hti "dport = :$PORT" | grep -q "cwnd:$WINDOW\b"
}

# trips_in_time NAME: it is 2 s mostly; but a stream whose repairs are lost, too, sends
# next to nothing between timeouts, which double: at 40 % of loss 3 to 4.4 s in nine of
# 190 times, 12 s once.
trips_in_time()
{
	until_true 120 state_is open
	succeeds "$1: tripped" state_is open
}

# No more damage, and the window back
repaired()
{
	damage delay 0ms
	in_src circuit_nl reset far
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
	fresh
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
	fresh
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
		state_is open && break
	done
	succeeds "connections of 0.7 s after each other: tripped" state_is open
	repaired
	fresh
}

# With a short quiet time: closed that long after the last lossy slot.
quiet()
{
	set_in src net.ipv4.tcp_circuit_breaker_quiet 10
	watch_events
	flow 130000
	established
	damage loss 30%
	trips_in_time "30 % random loss"
	flow_end
	damage delay 0ms
	sleep 3
	succeeds "not yet closed 3 s later" state_is open
	until_true 20 state_is closed
	succeeds "closed after its quiet time" state_is closed
	until_true 5 happened closed
	watch_end
	equal "the event's cause: quiet" $QUIET "$(field cause "$(event closed)")"
	until_true 20 nobody_kept
	equal "users that are remembered then" 0 \
		"$(field kept "$(in_src circuit_nl stats)")"
	set_in src net.ipv4.tcp_circuit_breaker_quiet 300
	fresh
}

nobody_kept()
{
	[ "$(field kept "$(in_src circuit_nl stats)")" = 0 ]
}

# shared_queue MS: of the shared path, drop-tail
shared_queue()
{
	in_rtr tc qdisc replace dev r3 root handle 1: tbf \
		rate ${SHARED_MBIT}mbit burst 3028 limit $((SHARED_MBIT * 125 * $1))
}

ecn()
{
	local ns

	for ns in src rtr dst; do
		set_in $ns net.ipv4.tcp_ecn "$1"
	done
}

# Paths that lose nothing, or too little: what is seen there beside loss.  A standing
# delay is one only where the circuit has a rate.
other_evidence()
{
	[ "$LAB" = uml ] || return 0
	shared_queue 10
	spares "onto a queue of 10 ms" 1 1 $LOSS rate $((RATE_MBIT * 125000))
	mended
	shared_queue 1000
	spares "onto a queue of 1 s" 1 1 $DELAY rate $((RATE_MBIT * 125000))
	mended
	shared_queue 1000
	in_rtr tc qdisc replace dev r3 parent 1: handle 2: fq_codel ecn
	ecn 1
	spares "onto fq_codel with ECN" 1 1 $CE
	mended
	ecn 2
	shared_queue $RTT_MS
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

# What this host holds back itself is nobody's queue.
slow_shaper()
{
	local before

	in_src tc qdisc replace dev eth1 root tbf rate $((RATE_MBIT / 2))mbit \
		burst 100kb limit 20000000
	flow 130000
	sleep 5
	before=$(far delivered)
	sleep 5
	within "a local shaper that holds less than the rate: Mbit/s" \
		$((RATE_MBIT / 2)) \
		$((($(far delivered) - before) * 1514 * 8 / 5000000)) \
		$((RATE_MBIT / 50))
	innocent "a local shaper that holds less than the rate" 1
}

# 12 Mbit/s x 600 ms; bursts of six losses, 5.6 % of all
bursts_of_loss()
{
	in_src tc qdisc replace dev eth1 root tbf rate 12mbit burst 3028 limit 4000000
	in_dst tc qdisc replace dev eth1 root netem limit 1000000 delay 600ms
	damage loss gemodel 1% 16.7%
	WINDOW=773 fresh rate 1500000
	flow 130000
	sleep 60
	at_least "bursts of loss: lost" 300 "$(far lost)"
	innocent "bursts of loss at 12 Mbit/s x 600 ms" 1
	damage delay 0ms
	in_dst tc qdisc replace dev eth1 root netem limit 1000000 delay ${RTT_MS}ms
}

# With a rate, all evidence counts.
innocents()
{
	[ "$LAB" = uml ] || return 0
	fresh rate $((RATE_MBIT * 125000))
	damage loss 5%
	flow 130000
	sleep 20
	at_least "5 % random loss of a circuit with a rate: lost" $MANY "$(far lost)"
	innocent "5 % random loss of a circuit with a rate" 1
	damage delay 0ms
	flow 130000
	sleep 1.5
	damage loss 100%
	sleep 3
	damage delay 0ms
	innocent "an outage of 3 s of a circuit with a rate" 4
	slow_reader
	pausing_sender
	slow_shaper
	bursts_of_loss
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

# What src may set, laxer than the machine's own
lax()
{
	local name=net.ipv4.tcp_circuit_ceiling_breaker before

	before=$(sysctl -n $name)
	sysctl -qw $name=0
	defer "sysctl -qw $name=$before"
}

topology
WINDOW=$(circuit_field src eth1 window)
fresh
lax
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
other_evidence
innocents
finish
