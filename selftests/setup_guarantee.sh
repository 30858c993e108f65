#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml root
#
# Which algorithm a path gets by --guarantee and --prefer: circuit or H-TCP.  Where it is
# H-TCP its routes say so, a shaper holds the rate, and nothing of the module is part of it;
# where it is circuit on a path that is guaranteed in part the breaker is armed.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands ctcp-setup jq circuit_sock ss
need_module
grep -qw htcp /proc/sys/net/ipv4/tcp_available_congestion_control || modprobe -q tcp_htcp ||
	skip_all "this kernel has no H-TCP"

BREAKER=net.ipv4.tcp_circuit_breaker

# add NAME PREFIX [OPTION...]
add()
{
	local name=$1 to=$2

	shift 2
	setup add "$name" --to "$to" --via 10.78.0.254 --rate 100mbit --rtt 20ms "$@" eth1
}

# congctl PREFIX: of its route
congctl()
{
	ip -n "$HOST" route show "$1" | sed -n 's/.*congctl \([a-z]*\).*/\1/p'
}

# --- which -------------------------------------------------------------------------

# gets ALGORITHM SHAPER WORDS REASON: what a new path gets by these words
gets()
{
	local circuit=absent

	[ "$1" = htcp ] || circuit=215
	# shellcheck disable=SC2086 # words
	works "$3: add" add lhc 10.81.0.0/16 $3
	equal "$3: its route" "$1" "$(congctl 10.81.0.0/16)"
	equal "$3: its circuit's window" "$circuit" "$(window_of lhc)"
	matches "$3: its shaper" "^  shaper   $2" "$OUT"
	[ -z "$4" ] || matches "$3: the reason" "^  congctl  $1: $4.* \(Alali 2016, 3\.5\.3\)$" "$OUT"
	works "$3: verify" setup verify
	setup save >"$TMP/saved"
	works "$3: the same from a file" setup apply --json "$TMP/saved"
	json_is "$3: nothing to change" 0 '.changes | length'
	OUT=$(setup show --json lhc)
	json_is "$3: show" "$1" '.[0].congctl'
	works "$3: undo" setup undo lhc --quiet
}

window_of()
{
	local window

	window=$(circuit_value "$1" window)
	echo "${window:-absent}"
}

rule()
{
	local before

	host rule
	before=$(state)
	gets circuit none "--guarantee full" ""
	gets circuit none "--guarantee semi --prefer circuit" \
		"guaranteed in part, its own traffic preferred; the breaker stays armed"
	gets htcp htb "--guarantee semi --prefer others" "guaranteed in part, others' traffic"
	gets htcp htb "--guarantee none" "not guaranteed,"
	gets htcp tbf "--guarantee none --shaper tbf" "not guaranteed,"
	unchanged "all of them undone" "$before"
	complains "semi alone" 2 'whose traffic is preferred\?' \
		add lhc 10.81.0.0/16 --guarantee semi
	complains "pacing without the module" 2 "--pace is the module's, and this path gets htcp" \
		add lhc 10.81.0.0/16 --guarantee none --pace
	host_end
}

# Without the module there is nothing that it would have to do.
no_module()
{
	without_module || return
	host no-module
	works "without the module: add" add lhc 10.81.0.0/16 --guarantee none --quiet
	equal "without the module: it is not loaded" no "$(module_loaded && echo yes || echo no)"
	works "without the module: verify" setup verify
	works "without the module: show" setup show lhc
	works "with it for another path" add ska 10.82.0.0/16 --quiet
	equal "with it for another path: it is loaded" yes "$(module_loaded && echo yes || echo no)"
	works "with it for another path: undo" setup undo --all --quiet
	host_end
}

# --- from one to the other ------------------------------------------------------------

# From the rate that the module holds a path goes to H-TCP as the message says.
held_by_the_module()
{
	local shaper

	setup change lhc --guarantee full --shaper none --quiet
	matches "the module's: it paces" '--shaper none --pace ' "$(setup save)"
	complains "the module's to H-TCP: what holds the rate then?" 1 \
		'this path gets htcp .*, whose rate the module cannot hold, .* --shaper auto chooses' \
		setup change lhc --guarantee none
	for shaper in htb tbf fq auto; do
		works "the module's to H-TCP by $shaper" \
			setup change lhc --guarantee semi --prefer others --shaper "$shaper" --quiet
		matches "the module's to H-TCP by $shaper: saved" \
			"--shaper ${shaper/auto/htb} --unpaced " "$(setup save)"
		works "the module's again, from $shaper" \
			setup change lhc --guarantee full --shaper none --quiet
	done
	setup save | sed 's/--shaper none --pace/--guarantee none/' >"$TMP/circuits"
	works "the module's to H-TCP by a file that names no shaper" \
		setup apply --quiet "$TMP/circuits"
	matches "the module's to H-TCP by a file: a class holds it" '--shaper htb --unpaced ' \
		"$(setup save)"
	works "back to a class" \
		setup change lhc --guarantee semi --prefer circuit --quiet
}

changes()
{
	local before

	host changes
	modprobe tcp_circuit
	in_host sysctl -qw $BREAKER=0
	before=$(state)
	add lhc 10.81.0.0/16 --guarantee none --quiet
	equal "none: the breaker is nobody's business" 0 "$(value $BREAKER)"
	works "to circuit" setup change lhc --guarantee semi --prefer circuit --quiet
	equal "to circuit: its route" circuit "$(congctl 10.81.0.0/16)"
	equal "to circuit: its window" 215 "$(window_of lhc)"
	equal "to circuit: the breaker is armed" 100 "$(value $BREAKER)"
	works "to circuit: verify" setup verify
	in_host sysctl -qw $BREAKER=0
	run setup verify
	equal "a breaker disarmed: verify" 1 "$RC"
	matches "a breaker disarmed: verify says so" "sysctl $BREAKER is 0, plan wants 100" "$OUT"
	works "the same again" setup change lhc --guarantee semi --quiet
	equal "the same again: armed" 100 "$(value $BREAKER)"
	held_by_the_module
	complains "a module's pace for H-TCP" 1 '--pace is the module' \
		setup change lhc --guarantee none --shaper none --pace
	works "to H-TCP" setup change lhc --prefer others --quiet
	equal "to H-TCP: its route" htcp "$(congctl 10.81.0.0/16)"
	equal "to H-TCP: no circuit" absent "$(window_of lhc)"
	equal "to H-TCP: the breaker is as before" 0 "$(value $BREAKER)"
	works "to H-TCP: verify" setup verify
	works "undo" setup undo lhc --quiet
	unchanged "undo: all as before" "$before"
	host_end
}

# What --dry-run prints leads there, too.
dry_run()
{
	host dry
	works "--dry-run" add lhc 10.81.0.0/16 --guarantee none --quiet --dry-run
	equal "--dry-run: nothing of the module" "" "$(grep -E 'modprobe|ctcp-setup' <<<"$OUT")"
	in_host sh -e <<<"$OUT" >/dev/null
	equal "--dry-run, run by a shell: its route" htcp "$(congctl 10.81.0.0/16)"
	matches "--dry-run, run by a shell: its class" 'rate 100Mbit ceil 100Mbit' \
		"$(in_host tc class show dev eth1 classid c7c0:1)"
	host_end
}

# --- traffic ------------------------------------------------------------------------------

runs()
{
	[ "$(in_src ss -Hti "dport = :$PORT" | grep -owE 'circuit|circuit-reno|htcp')" = "$1" ]
}

traffic()
{
	network 10
	single_packets
	HOST=$SRC
	# shellcheck disable=SC2119 # no option
	serve dst
	setup add lhc --to 10.77.2.0/24 --rate 100mbit --rtt 20ms --guarantee semi \
		--prefer others --quiet eth1
	stream_begin
	succeeds "a connection there runs H-TCP" until_true 20 runs htcp
	run setup verify --measure --json --for 10s
	equal "measured: by its class alone" "null true" \
		"$(jq -r '.circuits[0] | "\(.delivered_segments) \(.shaper_own)"' <<<"$OUT")"
	within "measured: kbit/s" 90000 \
		$(($(jq '.circuits[0].achieved_bit_s' <<<"$OUT") / 1000)) 10500
	stream_end
	setup change lhc --prefer circuit --quiet
	stream_begin
	succeeds "preferred, it runs circuit" until_true 20 runs circuit
	stream_end
	setup undo --all --quiet
	serve_end
}

rule
no_module
changes
dry_run
traffic
finish
