# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# breaker_lib.sh: what the tests of the circuit breaker (breaker_*.sh) share; source it after
# lib.sh
#
#	src --- rtr === dst	r2: the circuit, 400 Mbit/s
#				r3: a tenth of it, a path shared with other traffic
#
# 10.77.9.1 is on dst's lo, and a circuit by itself; rtr's route to it decides which path
# the circuit takes.  An emulated machine has a quarter of all rates and counts.

need_commands ethtool circuit_nl circuit_sock circuit_streams ctcp-setup
need_module

# High enough that a tenth of it fills a slot of the breaker; no higher, as each segment costs
# the host time.
RATE_MBIT=400
[ "$LAB" = uml ] || RATE_MBIT=100
SHARED_MBIT=$((RATE_MBIT / 10))
# shellcheck disable=SC2034 # of tests that source this
MANY=$RATE_MBIT		# losses, fewer than those that must not trip a breaker
RTT_MS=50
FAR=10.77.9.1
SHARED=10.77.3.1
THRESHOLD=100		# thousandths
# shellcheck disable=SC2034 # of tests that source this
RATED=(rate $((RATE_MBIT * 125000)))	# a circuit for which all evidence counts
# shellcheck disable=SC2034
[ "$LAB" = uml ] || RATED=()		# an emulated path may not reach the rate
ROOT=0
LOSS=1 CE=2 DELAY=3 SHORTFALL=4	# enum tcp_circuit_reason

# --- network and circuit -------------------------------------------------------

# breaker_network [WORD...]: make the network, a circuit with these words to FAR, and a sink there
breaker_network()
{
	topology
	WINDOW=$(circuit_field src eth1 window)
	fresh "$@"
	lax
	default_circuit
	serve dst -C circuit
}

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

# way_back MS: delay on the way back only, so that r2 and r3 are free for other qdiscs
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

# shared_queue MS [MBIT]: give the shared path a new drop-tail queue.  Delete the old one, as a
# tbf that is merely changed keeps the qdisc below it.
shared_queue()
{
	local mbit=${2:-$SHARED_MBIT}

	in_rtr tc qdisc del dev r3 root
	in_rtr tc qdisc add dev r3 root handle 1: tbf \
		rate "${mbit}mbit" burst 3028 limit $((mbit * 125 * $1))
}

# fresh [WORD...]: make the circuit to FAR anew
fresh()
{
	in_src circuit_nl del far 2>/dev/null
	in_src circuit_nl new excl far prefix $FAR window "$WINDOW" "$@" ||
		fail "a circuit for $FAR"
}

# Allow src a breaker laxer than the machine's own.
lax()
{
	local name=net.ipv4.tcp_circuit_ceiling_breaker before

	before=$(sysctl -n $name)
	sysctl -qw $name=0
	defer "sysctl -qw $name=$before"
}

# far NAME: print a number of the circuit to FAR
far()
{
	circuit_field src far "$1"
}

state_is()
{
	breaker_is src far "$1"
}

# --- streams and damage ----------------------------------------------------------

# flow MS [OPTION...]: streams of the circuit, in the background
flow()
{
	background src circuit_streams -t "$@" $FAR $PORT >"$TMP/flow"
	FLOW=$!
}

# Wait for the flow's connection before losing packets: lost SYNs would take seconds.
established()
{
	until_true 10 sending
}

# of_stream PREFIX: print the number that ss shows behind PREFIX
of_stream()
{
	in_src ss -Hti "dport = :$PORT" | sed -n "s|.*\b$1\([0-9]*\).*|\1|p"
}

# end_stream src|rtr PID: stop the process first, so that ss -K ends its sockets while they
# still have a process (see orphans_die()) and the process does not close the others when the
# first one fails.  Then end those that it had closed itself.
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

damage()
{
	in_rtr tc qdisc replace dev r2 root netem limit 1000000 "$@"
}

mended()
{
	in_src circuit_nl reset
	flow_end
	by_circuit
	fresh
}

# --- events ----------------------------------------------------------------------

# watch_events, watch_end: put the circuit's events between the two into EVENTS, a line each
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

# event NAME: print the last event of this name
event()
{
	grep "event=$1 " <<<"$EVENTS" | tail -n 1
}

happened()
{
	grep -q "event=$1 name=far " "$TMP/events"
}

# --- points ----------------------------------------------------------------------

# untripped NAME
untripped()
{
	equal "$1: trips" 0 "$(far trips)"
	equal "$1: state" 0 "$(far breaker)"
}

# evidence NAME "REASON..." EVENT: EVENT is the only trip, for one of these reasons
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

# beyond NAME THOUSANDTHS FIELD OF EVENT: FIELD exceeds this part of OF; fails without an event
beyond()
{
	local part whole got=

	part=$(field "$3" "$5")
	whole=$(field "$4" "$5")
	[ "${whole:-0}" = 0 ] || got=$((part * 1000 / whole))
	at_least "$1, thousandths" $(($2 + 1)) "$got"
}

# All streams of the user together have a cwnd of a tenth of the window, ten segments at most;
# ss shows the cut.
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
