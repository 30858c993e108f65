#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# ctcp-setup does what it says: the kernel has the numbers that the sizing rules
# give, read by tc, ip and sysctl and not by the tool itself; a second run changes
# nothing, and other numbers are changed in place.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands ctcp-setup tc jq
need_module

# 4 Gbit/s, 26 ms: 13 000 000 bytes; 1.3 times that in segments of 1514 is
# 11163; queue 11163 x 1514; bucket 4 Gbit/s x 200 us; buffers 4 windows.
CIRCUIT=(--rate 4gbit --rtt 26ms)
FCWND=11163
LIMIT=16900782
BURST=100000
BUFFER=67603128

# Flags of a circuit, enum tcp_circuit_flags
PACED=0
EARLY_WINDOW=1
UNPACED=2

# rate_and_flags NAME
rate_and_flags()
{
	echo "$(circuit_value "$1" rate) $(circuit_value "$1" flags)"
}

# The two numbers, and what the kernel has then
numbers()
{
	host numbers
	works "ctcp-setup ${CIRCUIT[*]} eth1" setup --quiet "${CIRCUIT[@]}" eth1
	equal "window" $FCWND "$(circuit_value eth1 window)"
	equal "rate, which the shaper holds: bytes/s" "500000000 $UNPACED" \
		"$(rate_and_flags eth1)"
	equal "of all that leaves by the device" \
		"$(in_host cat /sys/class/net/eth1/ifindex) 0.0.0.0/0,::/0" \
		"$(circuit_value eth1 ifindex) $(word prefixes "$(in_host circuit_nl get eth1)")"
	equal "the namespace's own window stays" 0 \
		"$(value net.ipv4.tcp_circuit_fcwnd)"
	matches "a tbf of its rate, bucket and room" \
		"^qdisc tbf [0-9a-f]+:.* root .*rate 4Gbit burst ${BURST}b .*limit ${LIMIT}b" \
		"$(root_qdisc eth1)"
	equal "one qdisc" 1 "$(in_host tc qdisc show dev eth1 | wc -l)"
	equal "tcp_rmem" "4096 131072 $BUFFER" "$(value net.ipv4.tcp_rmem)"
	equal "tcp_wmem" "4096 16384 $BUFFER" "$(value net.ipv4.tcp_wmem)"
	equal "tcp_no_metrics_save" 1 "$(value net.ipv4.tcp_no_metrics_save)"
	equal "the default algorithm stays" "$DEFAULT" \
		"$(value net.ipv4.tcp_congestion_control)"
	host_end
}

# tbf_of NAME PATTERN ARGUMENT...: on a fresh host
tbf_of()
{
	local name=$1 pattern=$2

	shift 2
	host tbf
	works "$name" setup --quiet "$@" eth1
	matches "$name: tbf" "^qdisc tbf .*$pattern" "$(root_qdisc eth1)"
	host_end
}

# 100 Gbit/s is past 32 bits of bytes/s: a narrow attribute would show 31.3.  Its
# bucket of 2500000 bytes may be a tick of 64 ns short, which some tc show as a
# microsecond.
# At 10 Mbit/s x 20 ms, 32500 bytes, queue and bucket are one GSO packet of 46
# segments: 69644 bytes, tc's 68Kb.
other_rates()
{
	tbf_of "100 Gbit/s, 1 ms" \
		'rate 100Gbit burst 2(500000|499200|487500)b .*limit 16251276b' \
		--rate 100gbit --rtt 1ms
	tbf_of "10 Mbit/s, 20 ms" 'rate 10Mbit burst 68Kb .*limit 68Kb' \
		--rate 10mbit --rtt 20ms
	tbf_of "--burst and --limit" 'rate 1Gbit burst 80000b .*limit 300000b' \
		--rate 1gbit --rtt 1ms --burst 80000 --limit 300000
}

twice()
{
	local before sent

	host twice
	setup --quiet "${CIRCUIT[@]}" eth1
	datagrams 20
	before=$(state)
	sent=$(sent_packets)
	at_least "packets before the second run" 20 "$sent"
	works "a second run" setup "${CIRCUIT[@]}" eth1
	matches "a second run says that nothing changes" 'nothing to change' "$OUT"
	unchanged "a second run changes nothing" "$before"
	at_least "a second run keeps the qdisc's counters" "$sent" \
		"$(sent_packets)"
	run setup --dry-run "${CIRCUIT[@]}" eth1
	matches "--dry-run on top of it has nothing to do" '^# nothing to change' \
		"$OUT"
	host_end
}

# 8 kbit/s empties a queue of 200 packets in five minutes; 1250 bytes/s x 10 s x 1.3
# is 11 segments.  A change fills the bucket again (tbf_change()): 48 packets of 1442
# may leave at once.
in_place()
{
	local sent queued handle

	host in-place
	setup --quiet --rate 8kbit --rtt 10s --limit 1mb eth1
	datagrams 250
	sent=$(sent_packets)
	queued=$(backlog)
	handle=$(root_qdisc eth1 | cut -d ' ' -f 1-3)
	at_least "packets in the queue" 150 "$queued"
	works "other numbers" setup --rate 10kbit --rtt 10s --limit 2mb eth1
	matches "other numbers are there" 'rate 10Kbit .*limit 2Mb' "$(root_qdisc eth1)"
	equal "other numbers: same qdisc" "$handle" \
		"$(root_qdisc eth1 | cut -d ' ' -f 1-3)"
	at_least "other numbers: counters kept" "$sent" "$(sent_packets)"
	at_least "other numbers: queue kept" $((queued - 70)) "$(backlog)"
	equal "other numbers: window" 11 "$(circuit_value eth1 window)"
	works "another shaper" setup --quiet --rate 10kbit --rtt 10s --shaper fq eth1
	matches "another shaper is there" '^qdisc fq .* maxrate 10Kbit' \
		"$(root_qdisc eth1)"
	works "no shaper" setup --quiet --rate 10kbit --rtt 10s --shaper none eth1
	matches "no shaper: the device's own" '^qdisc noqueue' "$(root_qdisc eth1)"
	host_end
}

# 16250000 bytes x 1.3 / 1514 is 13953.1; 10733.2 packets x 0.01^3 is 0.0107, more than
# 1/1000, x 0.01^4 is 0.0001: three rounds
planned()
{
	json_is "window of the circuit" 13954 .fcwnd_segments
	json_is "share of a stream" 3489 .share_segments
	json_is "streams" 4 .streams
	json_is "loss" 0.01 .loss
	json_is "rounds of repair" 3 .repair_rounds
	json_is "buffer" $((2 * 4 * 13954 * 1514)) .buffer_bytes
	json_is "pace" 5000000000 .pace_bit_s
}

json()
{
	local buffer

	host json
	works "--json" setup --json "${CIRCUIT[@]}" eth1
	buffer=$(value net.ipv4.tcp_rmem)
	json_is "rate" 4000000000 .rate_bit_s
	json_is "round trip" 26000 .rtt_us
	json_is "window" "$(circuit_value eth1 window)" .fcwnd_segments
	json_is "name" eth1 .name
	json_is "buffer" "${buffer##* }" .buffer_bytes
	json_is "queue" "$(root_qdisc eth1 | sed 's/.*limit \([0-9]*\)b.*/\1/')" \
		.limit_bytes
	json_is "bucket" "$(root_qdisc eth1 | sed 's/.*burst \([0-9]*\)b.*/\1/')" \
		.burst_bytes
	json_is "applied" true .applied
	json_is "changes, a qdisc" 1 \
		'[.changes[] | select(.kind == "qdisc")] | length'
	run setup --json --dry-run --rate 5gbit --rtt 26ms --streams 4 --loss 1% \
		--pace eth1
	equal "--json --dry-run" "0 " "$RC $ERR"
	json_is "not applied" false .applied
	json_is "commands" 1 '[.commands[] | select(startswith("tc qdisc"))] | length'
	json_is "the circuit's command" \
		"ctcp-setup circuit set eth1 prefix 0.0.0.0/0 prefix ::/0 window 13954 rate 5gbit dev eth1" \
		'.commands[] | select(startswith("ctcp-setup"))'
	planned
	host_end
}

# differs NAME LINES: verify says so many, in both forms, with exit status 1
differs()
{
	local lines

	run setup verify
	lines=$OUT
	equal "$1: verify: exit status" 1 "$RC"
	equal "$1: verify: differences" "$2" "$(wc -l <<<"$lines")"
	matches "$1: verify counts them" "^ctcp-setup: $2 difference" "$ERR"
	run setup verify --json eth1
	equal "$1: verify --json: exit status" 1 "$RC"
	json_is "of verify, $1: differences" "$2" length
	OUT=$lines
}

verify()
{
	local before

	host verify
	works "verify without a circuit" setup verify
	complains "verify of a device without a circuit" 4 'has set up no circuit eth1, nor one on' setup verify eth1
	setup --quiet "${CIRCUIT[@]}" --to 10.79.0.0/16 --via 10.78.0.254 eth1
	works "verify" setup verify
	equal "verify: what it says" "1 circuit as set up" "$OUT"
	works "verify --json" setup verify --json eth1
	equal "verify --json: no difference" "[]" "$OUT"
	in_host tc qdisc del dev eth1 root
	in_host ip route del 10.79.0.0/16
	before=$(state)
	differs "shaper and route gone" 2
	matches "verify: the shaper" \
		'^eth1: qdisc eth1 is default, plan wants tbf rate 4gbit burst [0-9]+ limit [0-9]+ bytes$' "$OUT"
	matches "verify: the route" \
		'^eth1: route 10.79.0.0/16 is absent, plan wants 10.79.0.0/16 via 10.78.0.254 congctl circuit$' "$OUT"
	OUT=$(setup verify --json eth1 2>/dev/null)
	json_is "of verify: the shaper" "eth1 default" \
		'.[] | select(.item == "qdisc") | "\(.name) \(.is)"'
	unchanged "verify changes nothing" "$before"
	setup --quiet "${CIRCUIT[@]}" --to 10.79.0.0/16 --via 10.78.0.254 eth1
	works "verify after the same command again" setup verify --quiet
	in_host tc qdisc replace dev eth1 root pfifo
	differs "somebody's root qdisc" 1
	matches "verify: what has to go first" \
		"; once somebody else's root qdisc or route is gone, ctcp-setup change NAME" "$ERR"
	in_host tc qdisc del dev eth1 root
	works "verify: change, once it is gone" setup change eth1 --quiet
	works "verify: that is all" setup verify --quiet
	ip -n "$HOST" link del eth1
	differs "the device is gone" 1
	matches "verify: the device has to come back first" \
		"; once that is mended, ctcp-setup change NAME" "$ERR"
	matches "verify: the device" '^eth1: there is no device eth1' "$OUT"
	host_end
}

show()
{
	host show
	works "show without a circuit" setup show
	complains "show of a device without a circuit" 4 'eth1' setup show eth1
	setup --quiet "${CIRCUIT[@]}" eth1
	datagrams 5
	works "show" setup show
	matches "show: rate and round trip" '^eth1: .*4gbit.*26ms' "$OUT"
	matches "show: window" "$FCWND segments" "$OUT"
	equal "show: no drift" "" "$(grep drift <<<"$OUT")"
	works "show --json" setup show --json eth1
	json_is "of show: one circuit" 1 length
	at_least "show --json: packets sent" 5 "$(jq '.[0].qdisc.sent_packets' <<<"$OUT")"
	json_is "of show: no drift" 0 '.[0].drift | length'
	in_host circuit_nl new eth1 prefix ::/0 window 77
	in_host tc qdisc del dev eth1 root
	run setup show
	equal "show after somebody's changes: exit status" 1 "$RC"
	matches "show after somebody's changes: why" '^ctcp-setup: 1 circuit is not as set up' "$ERR"
	matches "show: the circuit has drifted" \
		'drift .*circuit eth1 is window=77 prefixes=::/0, plan wants window=11163 ' \
		"$OUT"
	matches "show: the shaper has drifted" 'drift .*qdisc eth1 is default' "$OUT"
	matches "show: what is planned is said to be so" '^  planned' "$OUT"
	works "a run on top of that" setup --quiet "${CIRCUIT[@]}" eth1
	equal "the window is there again" $FCWND "$(circuit_value eth1 window)"
	matches "the shaper is there again" "limit ${LIMIT}b" "$(root_qdisc eth1)"
	host_end
}

# Four share what one would have, and one whose others are idle may have it all.
streams()
{
	host streams
	works "--streams 4" setup --quiet "${CIRCUIT[@]}" --streams 4 eth1
	equal "--streams 4: window of the circuit" $FCWND \
		"$(circuit_value eth1 window)"
	matches "--streams 4: queue of all" "limit ${LIMIT}b" "$(root_qdisc eth1)"
	equal "--streams 4: buffers of each" "4096 131072 $BUFFER" \
		"$(value net.ipv4.tcp_rmem)"
	host_end
}

# 400 Gbit/s x 100 ms is 6.5e9 bytes, 4293263 segments, in six streams: more than
# one socket may ask for.
large()
{
	host large
	works "400 Gbit/s in six streams" setup --quiet --rate 400gbit --rtt 100ms \
		--streams 6 --shaper none eth1
	equal "400 Gbit/s in six streams: window of the circuit" 4293263 \
		"$(circuit_value eth1 window)"
	host_end
}

# 13 000 000 bytes are 8586.5 packets: x 0.01^3 is 0.0086 of them, x 0.01^4 is 0.00009:
# three rounds of repair, 2 x 4 x 16900782 bytes.
loss()
{
	host loss
	works "--loss 1%" setup "${CIRCUIT[@]}" --loss 1% eth1
	matches "--loss 1%: what for" 'buffers .* 3 rounds of repair at a loss of 1%' "$OUT"
	equal "--loss 1%: tcp_rmem" "4096 131072 135206256" "$(value net.ipv4.tcp_rmem)"
	equal "--loss 1%: tcp_wmem" "4096 16384 135206256" "$(value net.ipv4.tcp_wmem)"
	equal "--loss 1%: the window is the same" $FCWND \
		"$(circuit_value eth1 window)"
	works "--loss 1%, again" setup "${CIRCUIT[@]}" --loss 0.01 eth1
	matches "--loss 1%, again: nothing to do" 'nothing to change' "$OUT"
	host_end
}

# Of two circuits each has its own pace, and it goes with the circuit.
pace()
{
	local before

	host pace
	another_device eth2
	before=$(state)
	works "--pace" setup "${CIRCUIT[@]}" --pace eth1
	equal "--pace: bytes/s" "500000000 $PACED" "$(rate_and_flags eth1)"
	works "show" setup show
	matches "show: the pace" 'pace +4gbit' "$OUT"
	matches "show: the pace that the kernel tells of" \
		'circuit +eth1 to .* by eth1: .* paced at 4gbit' "$OUT"
	equal "show: no drift of the pace" "" "$(grep drift <<<"$OUT")"
	works "--pace of another circuit" setup --rate 1gbit --rtt 5ms --pace eth2
	equal "--pace of another circuit: bytes/s" "125000000 $PACED" \
		"$(rate_and_flags eth2)"
	equal "--pace of another circuit: not the first one's" "500000000 $PACED" \
		"$(rate_and_flags eth1)"
	works "undo of the other" setup undo --quiet eth2
	equal "undo of the other: it is gone" "" "$(circuit_value eth2 rate)"
	works "without --pace" setup --quiet "${CIRCUIT[@]}" eth1
	equal "without --pace: unpaced" "500000000 $UNPACED" "$(rate_and_flags eth1)"
	works "show without --pace" setup show
	matches "show without --pace: a rate" \
		'circuit +eth1 to .* by eth1: .*, rate 4gbit unpaced,' "$OUT"
	equal "show without --pace: no pace" "" "$(grep -w -e pace -e paced <<<"$OUT")"
	works "show --json without --pace" setup show --json eth1
	json_is "of show without --pace: rate" 4000000000 '.[0].circuit.rate_bit_s'
	json_is "of show without --pace: pace" "0 null" \
		'.[0] | "\(.circuit.pace_bit_s) \(.pace_bit_s)"'
	works "undo" setup undo --quiet eth1
	unchanged "undo: all as before" "$before"
	host_end
}

# Opt-in, and what a server does beside its pace.
early_window()
{
	local before

	host early-window
	before=$(state)
	works "--early-window" setup --quiet "${CIRCUIT[@]}" --early-window eth1
	equal "--early-window: flags" $((UNPACED | EARLY_WINDOW)) \
		"$(circuit_value eth1 flags)"
	works "show of --early-window" setup show
	matches "show of --early-window: the plan" 'early +.* behind the SYN-ACK' "$OUT"
	matches "show of --early-window: the kernel's" 'circuit +eth1 .* early-window' "$OUT"
	equal "show of --early-window: no drift" "" "$(grep drift <<<"$OUT")"
	works "--early-window --pace" setup --quiet "${CIRCUIT[@]}" --early-window --pace eth1
	equal "--early-window --pace: flags" $EARLY_WINDOW "$(circuit_value eth1 flags)"
	works "without --early-window" setup --quiet "${CIRCUIT[@]}" eth1
	equal "without --early-window: flags" $UNPACED "$(circuit_value eth1 flags)"
	works "undo" setup undo --quiet eth1
	unchanged "undo: all as before" "$before"
	host_end
}

# Another name is another circuit, and the one of before goes.
named()
{
	local before

	host named
	before=$(state)
	works "--name" setup --quiet "${CIRCUIT[@]}" --name lhcone eth1
	equal "--name: window" $FCWND "$(circuit_value lhcone window)"
	equal "--name: none of the device's" "" "$(circuit_value eth1 window)"
	works "show --json" setup show --json
	json_is "of show: the name" lhcone '.[0].name'
	json_is "of show: the circuit of this name" lhcone '.[0].circuit.name'
	works "without --name" setup --quiet "${CIRCUIT[@]}" eth1
	equal "without --name: the device's" $FCWND "$(circuit_value eth1 window)"
	equal "without --name: the other is gone" "" "$(circuit_value lhcone window)"
	works "undo" setup undo --quiet eth1
	unchanged "undo: all as before" "$before"
	host_end
}

# fq_is NAME MAXRATE TEXT: one flow may have all of the window in the queue
fq_is()
{
	matches "$1: fq" \
		"^qdisc fq [0-9a-f]+:.* limit 11163p flow_limit 11163p.* maxrate $2" "$3"
}

fair_queues()
{
	local queues i

	host fq
	works "--shaper fq" setup "${CIRCUIT[@]}" --streams 4 --shaper fq eth1
	matches "--shaper fq: what else it holds" \
		'^note: all else that leaves by eth1 is held to 1gbit, too, each flow$' "$OUT"
	fq_is "--shaper fq" 1Gbit "$(in_host tc qdisc show dev eth1)"
	works "--shaper fq --pace" \
		setup --quiet "${CIRCUIT[@]}" --streams 4 --shaper fq --pace eth1
	fq_is "--shaper fq --pace" 4Gbit "$(in_host tc qdisc show dev eth1)"
	host_end
	host fq 4
	works "fq on four queues" \
		setup --quiet "${CIRCUIT[@]}" --streams 4 --shaper fq eth1
	queues=$(in_host tc qdisc show dev eth1)
	matches "fq on four queues: mq at the root" '^qdisc mq [^0][^ ]*: root' "$queues"
	for i in 1 2 3 4; do
		fq_is "queue $i" 1Gbit "$(grep " parent [0-9a-f]*:$i " <<<"$queues")"
	done
	works "fq on four queues, again" \
		setup "${CIRCUIT[@]}" --streams 4 --shaper fq eth1
	matches "fq on four queues, again: nothing to do" 'nothing to change' "$OUT"
	host_end
}

no_shaper()
{
	local before

	host none
	before=$(in_host tc qdisc show)
	works "--shaper none" setup --quiet "${CIRCUIT[@]}" --shaper none eth1
	equal "--shaper none: window" $FCWND "$(circuit_value eth1 window)"
	same "--shaper none: no qdisc" "$before" "$(in_host tc qdisc show)"
	host_end
}

DEFAULT=$(sysctl -n net.ipv4.tcp_congestion_control)
numbers
other_rates
twice
in_place
json
show
verify
streams
large
loss
pace
early_window
named
fair_queues
no_shaper
finish
