#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml root
#
# ctcp-setup verify --measure: what a circuit carries against what was planned, whichever
# counters there are, and of one that is short the likely reason.  Exit status 1 where a
# busy circuit is short, and nowhere else.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands ctcp-setup jq circuit_sock
need_module

# 100 Mbit/s, 20 ms: 250000 bytes x 1.3 in segments of 1514 is 215, which hold 86.8 Mbit/s
# at 30 ms.
CIRCUIT=(--rate 100mbit --rtt 20ms)

setup_lhc()
{
	setup add lhc --to 10.77.2.0/24 "${CIRCUIT[@]}" --quiet eth1
}

# measure [WORD...]: $OUT, $ERR and "$RC" of it
measure()
{
	run setup verify --measure --json "$@"
}

# told NAME VERDICT REASON RC [WORD...]: of the first circuit
told()
{
	local name=$1 verdict=$2 reason=$3 rc=$4

	shift 4
	measure "$@"
	equal "$name: verdict" "$verdict $reason" \
		"$(jq -r '.circuits[0] | "\(.verdict) \(.reason)"' <<<"$OUT")"
	equal "$name: exit status" "$rc" "$RC"
}

# of FIELD: a number of the first circuit, in $OUT
of()
{
	jq -r ".circuits[0].$1" <<<"$OUT"
}

# carries NAME MBIT: within 3 %: the module counts what a stream reports each 100 ms
carries()
{
	within "$1: kbit/s achieved" $(($2 * 1000)) $(($(of achieved_bit_s) / 1000)) $(($2 * 30))
}

# sends [OPTION...]: a stream to the circuit, until stream_end
sends()
{
	stream_begin "$@"
	until_true 20 stream_has 2000000 || fail "a stream that sends"
}

# stream_has BYTES: acknowledged.  Others may use the port, too, by IPv6.
# shellcheck disable=SC2317 # called by until_true
stream_has()
{
	[ "$(in_src ss -Hti "dst $DST4 and dport = :$PORT" |
		sed -n 's/.*\bbytes_acked:\([0-9]*\).*/\1/p')" -ge "$1" ]
}

# --- verdicts ------------------------------------------------------------------

idle()
{
	works "idle: exit status" setup verify --measure --for 1s
	matches "idle: a row" \
		'^lhc +100mbit +0bit +0 bytes/s +0\.0 +0% +- +0% +idle: nothing wanted to send$' "$OUT"
	matches "idle: as set up, too" '^1 circuit as set up$' "$OUT"
	works "idle, --quiet" setup verify --measure --for 1s --quiet
	equal "idle, --quiet: nothing" "" "$OUT"
	told "idle, --json" idle null 0 --for 1s
	equal "idle, --json: no difference" 0 "$(jq '.differences | length' <<<"$OUT")"
	equal "idle, --json: how long" 1 $(($(of duration_us) / 1000000))
	says "a circuit that is none" 4 'has set up no circuit ska' setup verify --measure ska
}

# A few segments a hundredth of a second are data in flight at any look, and no want.
light()
{
	background src bash -c "exec 3>/dev/tcp/$DST4/$PORT
		for ((i = 0; i < 1000; i++)); do printf %5000s >&3; sleep 0.01; done" 2>/dev/null
	# shellcheck disable=SC2034 # of lib.sh
	STREAM=$!
	told "a program that writes slowly" light null 0 --for 3s
	at_least "a program that writes slowly: kbit/s" 3000 $(($(of achieved_bit_s) / 1000))
	at_most "a program that writes slowly: looks at which it wanted more" 2 "$(of looks_wanted)"
	stream_end
}

held()
{
	sends
	told "paced by the module" held null 0
	carries "paced by the module" 100
	equal "paced by the module: busy" "$(of looks)" "$(of looks_wanted)"
	equal "paced by the module: no shaper" null "$(of shaper_bit_s)"
	equal "paced by the module: its connections" 1 "$(of streams)"
	within "paced by the module: round trip, us" 20000 "$(of min_rtt_us)" 1000
	stream_end
}

held_by_shapers()
{
	local shaper

	for shaper in tbf htb; do
		setup change lhc --quiet --shaper none --unpaced
		setup change lhc --quiet --shaper $shaper --unpaced
		sends
		told "held by $shaper" held null 0
		carries "held by $shaper" 100
		equal "held by $shaper: drops" 0 "$(of drops)"
		equal "held by $shaper: whose it is" "$([ $shaper = htb ] && echo true || echo false)" \
			"$(of shaper_own)"
		stream_end
	done
}

# --- short, and why --------------------------------------------------------------

# short NAME REASON [WORD...]: and what a person reads
short()
{
	local name=$1 reason=$2

	shift 2
	told "$name" short "$reason" 1 "$@"
	matches "$name: said" '^ctcp-setup: 1 circuit is short of its rate$' "$ERR"
}

loss()
{
	setup change lhc --quiet --loss 8%
	delay 10 loss 8%
	sends
	short "8% lost" loss
	matches "8% lost: why" '^[78](\.[0-9]+)?% of the segments were lost' "$(of why)"
	stream_end
	delay 10
	setup change lhc --quiet --loss 0
}

window()
{
	delay 15
	sends
	short "half as long again a round trip" window
	carries "half as long again a round trip" 87
	matches "half as long again a round trip: why" \
		'^215 segments of window carry 8[67][.0-9]*mbit at a round trip of 30[.0-9]*ms; --rtt says 20ms$' \
		"$(of why)"
	stream_end
	delay 10
}

# 64 KB of buffer have room for less than a third of the 250 KB in flight.
receiver()
{
	serve_end
	PORT=$((PORT + 1))
	serve dst -B 65536
	sends
	short "a small receive buffer" receive_window
	at_least "a small receive buffer: per cent of the time" 60 \
		$(($(of receive_window_us) * 100 / $(of busy_us)))
	stream_end
}

sender()
{
	sends -S 65536
	short "a small send buffer" send_buffer
	stream_end
}

# The congctl of a route is set over what a socket asked for before (tcp_ca_dst_init()): a
# stream that was there before its circuit keeps its own.
algorithm()
{
	setup del lhc --quiet
	sends -C cubic
	setup_lhc
	short "a stream that runs cubic" algorithm
	matches "a stream that runs cubic: why" \
		'^(1 of 1|its) streams run another algorithm than circuit; ctcp-setup adopt lhc ' "$(of why)"
	setup adopt lhc --quiet
	told "adopted" held null 0
	stream_end
}

# Four other streams in the same tbf, which ask for 30 of its 100 Mbit/s; what they get of it
# beside a window that does not yield is theirs to fight for.
others()
{
	local pids=()

	setup change lhc --quiet --shaper tbf --unpaced
	for _ in 1 2 3 4; do
		background src circuit_sock send -C cubic -M 937500 -n 100000000000 $DST6 $PORT \
			>/dev/null
		pids+=($!)
	done
	sends
	short "other traffic in the shaper" others
	at_most "other traffic in the shaper: kbit/s achieved" 90000 \
		$(($(of achieved_bit_s) / 1000))
	matches "other traffic in the shaper: why" '^other traffic has [0-9.]+mbit of what the shaper on eth1 sends$' "$(of why)"
	kill "${pids[@]}"
	wait "${pids[@]}" 2>/dev/null
	stream_end
	setup change lhc --quiet --shaper none --pace
}

# A queue with no room for one GSO packet, which a stream that is not paced sends at once: each
# is dropped whole, until the probe of an empty flight (RFC 1122, 4.2.2.17) sends one segment.
drops()
{
	setup change lhc --quiet --shaper htb --unpaced --limit 9000
	stream_begin
	until_true 20 stream_has 1 || fail "a stream that begins"
	short "a queue of 6 packets" drops
	at_least "a queue of 6 packets: drops" 1 "$(of drops)"
	stream_end
	setup del lhc --quiet
	setup_lhc
}

breaker()
{
	in_src sysctl -qw net.ipv4.tcp_circuit_breaker=100 net.ipv4.tcp_circuit_breaker_ms=500
	delay 10 loss 33%
	stream_begin
	until_true 60 breaker_is src lhc open
	short "a third lost" breaker
	matches "a third lost: why" \
		'^the breaker has cut the window of 1 user; ctcp-setup reset lhc gives it back$' \
		"$(of why)"
	run setup verify --measure --for 1s --quiet
	matches "a third lost, --quiet: a row" '^lhc .* short: the breaker ' "$OUT"
	equal "a third lost, --quiet: no more" 1 "$(wc -l <<<"$OUT")"
	delay 10
	stream_end
	setup reset --quiet
}

# --- counters that go back ---------------------------------------------------------

# beside COMMAND...: while it is measured; waits for the end of both
beside()
{
	run setup verify --measure --json --for 4s &
	sleep 1
	"$@"
	wait $!
	OUT=$(<"$TMP/out")
}

# shellcheck disable=SC2317 # called by beside
root_anew()
{
	in_src tc qdisc del dev eth1 root
	setup change lhc --quiet --rate 100mbit
}

# shellcheck disable=SC2317 # called by beside
circuit_anew()
{
	setup circuit del lhc
	setup change lhc --quiet --rate 100mbit
}

anew()
{
	setup change lhc --quiet --shaper htb --unpaced
	sends
	beside root_anew
	equal "its shaper made anew" "unknown shaper_anew null" \
		"$(jq -r '.circuits[0] | "\(.verdict) \(.reason) \(.achieved_bit_s)"' <<<"$OUT")"
	beside circuit_anew
	equal "its circuit made anew" "unknown circuit_anew" \
		"$(jq -r '.circuits[0] | "\(.verdict) \(.reason)"' <<<"$OUT")"
	beside setup change lhc --quiet --rate 90mbit
	equal "its rate changed" "unknown rate_changed" \
		"$(jq -r '.circuits[0] | "\(.verdict) \(.reason)"' <<<"$OUT")"
	setup change lhc --quiet --rate 100mbit --shaper none --pace
	stream_end
}

# --- two at once, and what differs ------------------------------------------------------

several()
{
	setup add ska --to fd77:2::/64 --rate 50mbit --rtt 20ms --quiet eth1
	sends
	run setup verify --measure --for 2s
	equal "two circuits: exit status" 0 "$RC"
	matches "two circuits: the first" '^lhc +100mbit .* held$' "$OUT"
	matches "two circuits: the second" '^ska +50mbit .* idle: nothing wanted to send$' "$OUT"
	equal "two circuits: rows as wide as their head" 1 \
		"$(sed -n '1,3s/\(verdict\|held\|idle\).*//p' <<<"$OUT" | awk '{ print length }' |
			sort -u | wc -l)"
	measure --for 1s ska
	equal "one of two" ska "$(jq -r '[.circuits[].name] | join(" ")' <<<"$OUT")"
	in_src sysctl -qw net.ipv4.tcp_sack=0
	run setup verify --measure --for 1s
	equal "a difference: exit status" 1 "$RC"
	matches "a difference: a line" '^ska on eth1: sysctl net.ipv4.tcp_sack is 0, plan wants 1$' "$OUT"
	matches "a difference: measured all the same" '^lhc +100mbit .* held$' "$OUT"
	matches "a difference: said" '^ctcp-setup: [12] differences? from what was set up' "$ERR"
	in_src sysctl -qw net.ipv4.tcp_sack=1
	stream_end
	setup undo --all --quiet
}

network 10
single_packets
# shellcheck disable=SC2034 # of setup_lib.sh
HOST=$SRC
# shellcheck disable=SC2119 # no option
serve dst
# or it would be the reason wherever less than half is delivered
in_src sysctl -qw net.ipv4.tcp_circuit_breaker=0
setup_lhc
idle
light
held
held_by_shapers
setup change lhc --quiet --shaper none --pace
loss
window
receiver
sender
algorithm
others
drops
anew
breaker
several
serve_end
finish
