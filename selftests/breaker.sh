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
# circuit's way.  An emulated machine has a tenth of all rates and counts; what CUBIC
# has is not asserted there, nor waited for.

. "$(dirname "$0")/lib.sh"
need_commands ethtool circuit_nl circuit_sock circuit_streams ctcp-setup
need_module

RATE_MBIT=1000
REROUTES=3		# of each kind: CUBIC's share is the middle of them
if [ "$LAB" != uml ]; then
	RATE_MBIT=100
	REROUTES=1
fi
SHARED_MBIT=$((RATE_MBIT / 10))
SHARE_MBIT=$((SHARED_MBIT / 2))		# CUBIC's, beside one circuit
LEAST_MBIT=$((SHARE_MBIT * 40 / 100))	# that the breaker must leave to it
MANY=$RATE_MBIT		# losses; less than what a breaker must bear
BURST=$((5 * RATE_MBIT))	# losses at once: nearly a window, and more than a tenth of a slot
SEEN=$((50 * MANY))	# duplicates
RTT_MS=50
FAR=10.77.9.1
SHARED=10.77.3.1
THRESHOLD=100		# thousandths
RATED=(rate $((RATE_MBIT * 125000)))	# a circuit for which all evidence counts
[ "$LAB" = uml ] || RATED=()		# an emulated path may well fall short of it
ROOT=0 NOBODY=65534
LOSS=1 CE=2 DELAY=3 SHORTFALL=4	# enum tcp_circuit_reason
QUIET=1 RESET=2 REMOVED=3 DISABLED=5	# enum tcp_circuit_cause

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
way_back()
{
	local port

	for port in eth1 eth2; do
		in_dst tc qdisc replace dev $port root netem limit 1000000 \
			delay "$1ms"
	done
}

set_up()
{
	in_src ctcp-setup --quiet --rate ${RATE_MBIT}mbit --rtt ${RTT_MS}ms \
		eth1 >/dev/null || fail "ctcp-setup on src"
	in_dst ctcp-setup --quiet --shaper none --rate ${RATE_MBIT}mbit \
		--rtt ${RTT_MS}ms eth1 >/dev/null || fail "ctcp-setup on dst"
	way_back $RTT_MS
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

burst_lost()
{
	[ "$(far lost)" -ge $BURST ]
}

# log_lines REASON...: of trips by one of them
log_lines()
{
	local words=("" "loss" "congestion marks" "standing delay" "shortfall")
	local reason list=

	for reason in "$@"; do
		list="$list${list:+|}${words[reason]}"
	done
	dmesg | grep -cE "tcp_circuit: circuit far: breaker of uid $ROOT tripped by ($list):"
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
	"in_$1" ss -tK state established state syn-sent "dport = :$PORT" >/dev/null
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
		fresh "${RATED[@]}"
	done
	damage delay 0ms
}

# All, until so many are lost: 12 ms at 1 Gbit/s
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

cross_sends()
{
	[ -n "$(cross_bytes)" ]
}

# cross NAME: CUBIC takes the shared path; its sender is CROSS
cross()
{
	background rtr circuit_sock send -C cubic -n 100000000000 $SHARED $PORT \
		>/dev/null
	CROSS=$!
	if [ "$LAB" = uml ]; then
		sleep 3
		at_least "$1: CUBIC alone, Mbit/s" 80 "$(cross_rates 1)"
	else
		until_true 10 cross_sends
	fi
}

# reroute NAME STREAMS "REASON...": leaves the flow where it is; RATES are CUBIC's after it
reroute()
{
	local logged

	# shellcheck disable=SC2086 # numbers
	logged=$(log_lines $3)
	watch_events
	cross "$1"
	flow 130000 -n "$2"
	established
	sleep 1
	ip -n "$RTR" route replace $FAR via $SHARED
	RATES=
	! in_virtual_time || RATES=$(cross_rates 8)
	until_true 60 state_is open
	watch_end
	equal "$1: trips" 1 "$(far trips)"
	# shellcheck disable=SC2086 # numbers
	equal "$1: lines in the log" 1 $(($(log_lines $3) - logged))
	evidence "$1" "$3" "$(event tripped)"
	end_stream rtr $CROSS
}

# evidence NAME "REASON..." EVENT: one of these
evidence()
{
	local reason

	reason=$(field reason "$3")
	equal "$1: events" 1 "$(grep -c 'event=tripped ' <<<"$EVENTS")"
	matches "$1: reason, of $2: $reason" "^[$2]$" "$reason"
	equal "$1: whose sockets" $ROOT "$(field uid "$3")"
	equal "$1: window before" "$WINDOW" "$(field ev_window "$3")"
	at_most "$1: window after" $((WINDOW < 100 ? WINDOW / 10 : 10)) \
		"$(field window_cut "$3")"
	case $reason in
	"$LOSS") beyond "$1: lost" $THRESHOLD ev_lost segments "$3" ;;
	"$CE") beyond "$1: marked" $THRESHOLD ev_ce segments "$3" ;;
	"$DELAY") beyond "$1: round trip over what is explained" 2000 \
		rtt rtt_expected "$3" ;;
	"$SHORTFALL") at_most "$1: delivered, bytes/s" $((RATE_MBIT * 62500)) \
		"$(field ev_rate "$3")" ;;
	esac
}

# beyond NAME THOUSANDTHS FIELD OF EVENT: no event, no number
beyond()
{
	local part whole got=

	part=$(field "$3" "$5")
	whole=$(field "$4" "$5")
	[ "${whole:-0}" = 0 ] || got=$((part * 1000 / whole))
	at_least "$1, thousandths" $(($2 + 1)) "$got"
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

# spares NAME STREAMS TIMES [REASON [WORD...]]: of the circuit.  Whoever is beside it
# has 40 % of his share within 5 s: the second that ends then is looked at, and the
# eighth, so that it stays so.  The share is what one circuit and CUBIC would have
# each; four streams are still one circuit, and leave as much.
# How far CUBIC falls in the second that it takes to trip is chance: each timeout of its
# own costs it 30 %, and all it grows by is 2 Mbit/s each second (four streams, 24
# times: 17 to 92 in the fifth, half of them at least 50; onto a queue of 10 ms, one
# stream, 14 times: 93, but 20 to 23 five times; of three more two had 4, with CUBIC
# still waiting for a timeout of its own).
spares()
{
	local all='' time

	for ((time = 1; time <= $3; time++)); do
		[ "$time" = 1 ] || mended
		fresh "${@:5}"
		reroute "$1" "$2" "${4:-$LOSS}"
		all+=$(cat -n <<<"$RATES")$'\n'
		[ -z "$RATES" ] || echo "# $1: CUBIC in the seconds after it, Mbit/s:" $RATES
	done
	in_virtual_time || return 0
	at_least "$1: CUBIC in the second that ends 5 s after it, Mbit/s of a share of $SHARE_MBIT" \
		$LEAST_MBIT "$(middle 5 "$all")"
	at_least "$1: CUBIC in the eighth, Mbit/s" $LEAST_MBIT "$(middle 8 "$all")"
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
# 190 times, 12 s once.  So each may take 15 s, and the middle one of all what four slots
# take (in_time).
TRIPS_MS=()

trips_in_time()
{
	local began

	began=$(now_ms)
	until_true 15 state_is open
	TRIPS_MS+=($(($(now_ms) - began)))
	succeeds "$1: tripped, after ${TRIPS_MS[-1]} ms" state_is open
}

# Four slots, and the one in which the damage began
in_time()
{
	in_virtual_time || return 0
	at_most "ms until a breaker trips, the middle one of ${TRIPS_MS[*]}" 2600 \
		"$(printf '%s\n' "${TRIPS_MS[@]}" | sort -n | sed -n "$(((${#TRIPS_MS[@]} + 1) / 2))p")"
}

now_ms()
{
	date +%s%3N
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
	# How many by the time that somebody looks is the machine's speed, emulated.
	! in_virtual_time ||
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

# Its circuit removed, the flow belongs to the next that matches, eth1's, and there its
# user's breaker is open.
removed()
{
	flow 130000
	established
	damage loss 30%
	trips_in_time "30 % random loss, then removed"
	watch_events
	succeeds "tripped, and removed" in_src circuit_nl del far
	until_true 5 happened removed
	watch_end
	equal "removed: its events, in order" "closed removed" \
		"$(sed -n 's/^event=\([^ ]*\) .*/\1/p' <<<"$EVENTS" | paste -sd ' ')"
	equal "the event's cause: removed" $REMOVED \
		"$(field cause "$(event closed)")"
	equal "its evidence is that of the trip" $LOSS \
		"$(field reason "$(event closed)")"
	until_true 10 breaker_is src eth1 open
	succeeds "the next circuit that matches: its user's breaker is open there" \
		breaker_is src eth1 open
	flow_end
	damage delay 0ms
	in_src circuit_nl reset
	fresh
}

# Another window for the circuit is no pardon, and what is left of it is cut as before.
replaced()
{
	flow 130000
	established
	damage loss 30%
	trips_in_time "30 % random loss, then replaced"
	damage delay 0ms
	in_src circuit_nl new replace far prefix $FAR prefix 10.77.9.2 \
		window $((2 * WINDOW)) || fail "a replaced circuit"
	equal "tripped, and replaced: window" $((2 * WINDOW)) "$(far window)"
	sleep 2
	equal "tripped, and replaced: users whose breaker is open" 1 "$(far tripped_users)"
	equal "tripped, and replaced: trips" 1 "$(far trips)"
	cut
	flow_end
	succeeds "tripped, replaced, without a stream" state_is open
	in_src circuit_nl reset
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

# shared_queue MS [MBIT]: of the shared path, drop-tail.  What it held is gone: a tbf that
# is merely changed keeps the qdisc below it.
shared_queue()
{
	local mbit=${2:-$SHARED_MBIT}

	in_rtr tc qdisc del dev r3 root
	in_rtr tc qdisc add dev r3 root handle 1: tbf \
		rate "${mbit}mbit" burst 3028 limit $((mbit * 125 * $1))
}

ecn()
{
	local ns

	for ns in src rtr dst; do
		set_in $ns net.ipv4.tcp_ecn "$1"
	done
}

# Paths that lose nothing, or too little: what is seen there beside loss.  A standing
# delay is one only where the circuit has a rate; who waits twice as long for a whole
# window delivers half, and it is by chance which of the two a slot has first.  fq_codel
# gives CUBIC its share by itself, and only the trip shows the breaker; with a single
# queue it is the breaker.
other_evidence()
{
	in_virtual_time || return 0
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

# Where the round trip is short, a queue may cost half of the rate and be no more than
# the 5 ms that a standing delay must exceed: 1 Gbit/s x 2 ms, onto 400 Mbit/s.
shortfall()
{
	in_virtual_time || return 0
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
	evidence "onto 400 Mbit/s at 2 ms" $SHORTFALL "$(event tripped)"
	WINDOW=$(circuit_field src eth1 window)
	way_back $RTT_MS
	mended
	shared_queue $RTT_MS
}

# What is late and yet no shortfall: beside the circuit's window, a stream with a window
# of its own, twice as large, keeps the queue of a path that has 0.6 of the rate, which
# the circuit's window alone would not.
standing_delay()
{
	local own name="a window of one's own beside it, onto 0.6 of the rate"

	in_virtual_time || return 0
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
	kill -STOP $FLOW	# or it says that its socket has died, too
	end_stream src $own
	mended
	shared_queue $RTT_MS
}

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

# "A rate set ten times too high on a path with 80 % loss: what is sent falls below 1.2 x
# what is needed within 2 s."  It can be read in two ways.
#
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

	in_virtual_time || return 0
	for streams in 1 4; do
		overrated_path $streams
		overrated_lossy_path $streams
	done
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

# What only delay and shortfall could take for a path that is shared
innocents()
{
	in_virtual_time || return 0
	fresh "${RATED[@]}"
	slow_reader
	pausing_sender
	bursts_beside_bulk
	slow_shaper 2
	slow_shaper 5
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

# What is set while a breaker is open applies to it: a shorter quiet time, and none at all.
settings()
{
	watch_events
	flow 130000
	established
	damage loss 30%
	trips_in_time "30 % random loss, quiet time of 300 s"
	damage delay 0ms
	flow_end
	set_in src net.ipv4.tcp_circuit_breaker_quiet 3
	until_true 30 state_is closed
	succeeds "a quiet time of 3 s instead: closed" state_is closed
	set_in src net.ipv4.tcp_circuit_breaker_quiet 0
	flow 130000
	established
	damage loss 30%
	trips_in_time "30 % random loss, no quiet time"
	damage delay 0ms
	flow_end
	set_in src net.ipv4.tcp_circuit_breaker 0
	until_true 30 state_is closed
	succeeds "breakers turned off: closed" state_is closed
	watch_end
	equal "the event's cause: disabled" $DISABLED "$(field cause "$(event closed)")"
	at_least "its evidence is that of the trip" 1 "$(field reason "$(event closed)")"
	set_in src net.ipv4.tcp_circuit_breaker 100
	set_in src net.ipv4.tcp_circuit_breaker_quiet 300
	fresh
}

# A longer quiet time is for who gives evidence from then on, and for nobody else: an open
# breaker closes when it was to close.
longer_quiet()
{
	local lost

	set_in src net.ipv4.tcp_circuit_breaker_quiet 10
	flow 130000
	established
	damage loss 30%
	trips_in_time "30 % random loss, quiet time of 10 s"
	damage delay 0ms
	flow_end
	sleep 3		# the last slot has ended
	set_in src net.ipv4.tcp_circuit_breaker_quiet 300
	until_true 15 state_is closed
	succeeds "a quiet time of 300 s instead, no evidence since: closed" state_is closed
	fresh

	in_virtual_time || return 0
	set_in src net.ipv4.tcp_circuit_breaker_quiet 120
	flow 600000 -n 8
	established
	damage loss 30%
	trips_in_time "30 % random loss, quiet time of 120 s"
	set_in src net.ipv4.tcp_circuit_breaker_quiet 300
	lost=$(far lost)
	until_true 110 lost_since "$lost"
	succeeds "a quiet time of 300 s instead: more is lost" lost_since "$lost"
	damage delay 0ms
	flow_end
	sleep 130
	succeeds "130 s later: still open" state_is open
	until_true 180 state_is closed
	succeeds "300 s after the last loss: closed" state_is closed
	fresh
}

# lost_since N: so much more that a slot has ended, of 256 segments at least and 30 % lost
lost_since()
{
	[ "$(far lost)" -ge $(($1 + 256)) ]
}

topology
WINDOW=$(circuit_field src eth1 window)
fresh "${RATED[@]}"
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
removed
replaced
quiet
settings
longer_quiet
duplicates
own_window
short_connections
off
other_evidence
shortfall
standing_delay
overrate
innocents
in_time
finish
