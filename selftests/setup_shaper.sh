#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Who holds the rate of a circuit that names no shaper: chosen by queues, rates and the
# circuits that are there, said with its reason, kept in the state in words, and forced
# where that is asked for.  What is somebody's stays.  VLANs of one device and circuits on
# the device itself together have no more than its wire leads to (--uplink).

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands ctcp-setup tc jq
need_module

# circuit NAME NET: words of a circuit to 10.NET.0.0/16
circuit()
{
	echo "$1 --to 10.$2.0.0/16 --via 10.78.0.254 --rate 1gbit --rtt 10ms"
}

# circuits_file LINE...: each with add before it and eth1 behind it
circuits_file()
{
	printf 'add %s eth1\n' "$@" >"$TMP/circuits"
}

# add NAME NET [OPTION...]
add()
{
	local words

	read -ra words <<<"$(circuit "$1" "$2")"
	shift 2
	setup add "${words[@]}" "$@" eth1
}

# shapers: of all circuits, in the order of their names, in one line
shapers()
{
	setup list --json | jq -r 'sort_by(.name)[] | .name + ":" + .shaper' | paste -sd' '
}

# Whether this kernel has what classes take is for the tool to find; the test asks tc.
has_classes()
{
	in_host tc qdisc add dev far1 root handle 1: htb 2>/dev/null || return 1
	in_host tc filter add dev far1 parent 1: protocol ip pref 1 flower \
		dst_ip 192.0.2.0/24 classid 1:1 2>/dev/null
	local rc=$?

	in_host tc qdisc del dev far1 root
	return $rc
}

# --- one queue ---------------------------------------------------------------

alone()
{
	local before

	without_module
	host alone
	before=$(state)
	works "alone: --dry-run" add lhc 81 --dry-run --quiet
	matches "alone: --dry-run tells why" \
		'^# shaper of eth1: none, the circuit is alone on eth1' "$OUT"
	unchanged "alone: --dry-run changes nothing" "$before"
	works "alone: --json" add lhc 81 --json
	json_is "alone: the module holds it" none .shaper
	json_is "alone: and paces" 1000000000 .pace_bit_s
	matches "alone: why" 'alone on eth1, .*own timers' "$(jq -r .reason <<<"$OUT")"
	matches "alone: no qdisc is touched" '^qdisc noqueue' "$(root_qdisc eth1)"
	works "alone: a second one" add ska 82
	matches "alone: a second one is held alike, and told why" \
		'  chosen   eth1: none, no class holds the other circuits' "$OUT"
	equal "alone: both" "lhc:none ska:none" "$(shapers)"
	works "undo" setup undo --all --quiet
	unchanged "alone: all as before" "$before"
	# the bare command is as it ever was: the whole device, and no choice
	works "bare" setup --rate 1gbit --rtt 10ms --json eth1
	json_is "bare: tbf" tbf .shaper
	json_is "bare: no reason" null .reason
	matches "bare: what else it holds" \
		'^all else that leaves by eth1 is held to 1gbit, too, in the same queue$' \
		"$(jq -r '.notes[]' <<<"$OUT")"
	matches "bare: how long that lasts" \
		'until ctcp-setup undo eth1, or the next boot: ctcp-setup save /etc/ctcp-setup/circuits keeps it' \
		"$(jq -r '.notes[]' <<<"$OUT")"
	works "bare: changed" setup change eth1 --shaper none
	matches "bare: none is the module, as with add" \
		'^  shaper   none: only pacing holds the rate$' "$OUT"
	equal "bare: the module paces" 125000000 "$(circuit_value eth1 rate)"
	works "bare: unpaced" setup change eth1 --shaper none --unpaced
	matches "bare: unpaced, it is said what would" \
		'^  shaper   none: something else must hold the rate; with --pace the module does$' "$OUT"
	works "bare: --shaper none" setup --rate 1gbit --rtt 10ms --shaper none eth1
	matches "bare: --shaper none, it is said what would" \
		'^  shaper   none: something else must hold the rate; with --pace the module does$' "$OUT"
	works "bare: undo" setup undo --quiet eth1
	host_end
}

several()
{
	local before kept written wanted=htb:htb:htb

	without_module
	host several
	has_classes || wanted=none:none:none
	before=$(state)
	circuits_file "$(circuit lhc 81)" "$(circuit ska 82)"
	works "several: apply" setup apply "$TMP/circuits"
	if [ "$wanted" = htb:htb:htb ]; then
		matches "several: why" \
			'  chosen   eth1: htb, 2 circuits share the one queue of eth1' "$OUT"
	else
		matches "several: why" '  chosen   eth1: none, the modules sch_htb' "$OUT"
	fi
	equal "several: it is said once" 1 "$(grep -c chosen <<<"$OUT")"
	works "several: add one more" add esa 83 --json
	equal "several: all alike" "$wanted" "$(setup list --json | jq -r 'map(.shaper) | join(":")')"
	works "several: verify" setup verify
	works "several: del" setup del esa --quiet
	kept=$(state)
	written=$(stat -c '%n %i %y' "$CTCP_RUNDIR"/*.state)
	works "several: apply again" setup apply --json "$TMP/circuits"
	json_is "several: apply again changes nothing" 0 '.changes | length'
	json_is "several: apply again chooses nothing" 0 '.chosen | length'
	unchanged "several: apply again changes nothing" "$kept"
	equal "several: apply again writes nothing" "$written" \
		"$(stat -c '%n %i %y' "$CTCP_RUNDIR"/*.state)"
	setup save >"$TMP/saved"
	equal "several: save has it in words" 2 "$(grep -c -- '--shaper \(htb --unpaced\|none --pace\) ' "$TMP/saved")"
	works "several: the other stays as it was chosen" setup del ska --quiet
	equal "several: alone, and still so" "lhc:${wanted%%:*}" "$(shapers)"
	works "several: chosen anew" setup change lhc --shaper auto
	equal "several: chosen anew, alone" "lhc:none" "$(shapers)"
	works "undo" setup undo --all --quiet
	unchanged "several: all as before" "$before"
	host_end
}

forced()
{
	local before

	without_module
	host forced
	before=$(state)
	works "forced: --pace" add lhc 81 --pace --json
	json_is "forced: --pace needs no reason" null .reason
	works "forced: --shaper" add ska 82 --shaper none --unpaced --json
	json_is "forced: --shaper needs no reason" null .reason
	equal "forced: unpaced" 2 "$(circuit_value ska flags)"
	complains "forced: both" 2 '--shaper auto chooses whether the module paces' \
		add esa 83 --shaper auto --pace
	complains "forced: what no class has" 2 '--rest is for what is in no class' \
		add esa 83 --shaper none --rest 1gbit
	works "undo" setup undo --all --quiet
	unchanged "forced: all as before" "$before"
	host_end
}

# --- what is there -----------------------------------------------------------

queues()
{
	local before

	without_module
	host queues 4
	before=$(state)
	circuits_file "$(circuit lhc 81)" "$(circuit ska 82)"
	works "queues: apply" setup apply "$TMP/circuits"
	matches "queues: why" 'eth1: none, eth1 has 4 queues, .*one lock' "$OUT"
	equal "queues: the module holds both" "lhc:none ska:none" "$(shapers)"
	equal "queues: no root qdisc of ours" "" "$(root_qdisc eth1 | grep c7c0:)"
	works "undo" setup undo --all --quiet
	unchanged "queues: all as before" "$before"
	host_end
}

rates()
{
	without_module
	host rates
	circuits_file "$(circuit lhc 81 | sed s/1gbit/10gbit/)" \
		"$(circuit ska 82 | sed s/1gbit/10gbit/)"
	works "rates: --dry-run" setup apply --dry-run --quiet "$TMP/circuits"
	matches "rates: why" 'none, the circuits of eth1 have 20gbit, and from 20gbit on' "$OUT"
	host_end
}

# An fq below each queue of an mq that somebody made stays, and spaces the packets.
somebodys()
{
	local before n

	without_module
	host somebodys 2
	in_host tc qdisc replace dev eth1 root handle 1: mq
	for n in 1 2; do
		in_host tc qdisc replace dev eth1 parent "1:$n" handle "1$n:" fq 2>/dev/null || {
			echo "# no fq here"
			host_end
			return
		}
	done
	before=$(state)
	works "somebody's: add" add lhc 81
	matches "somebody's: the fq below is told of" '2 queues, .*; the fq there spaces' "$OUT"
	works "somebody's: undo" setup undo --all --quiet
	unchanged "somebody's: all as before, qdiscs too" "$before"
	in_host tc qdisc replace dev eth1 parent 1:2 handle 22: pfifo
	works "somebody's: fq below one of two queues" add lhc 81 --dry-run --quiet
	matches "somebody's: not all of them" "own timers space" "$OUT"
	host_end
}

# --- VLANs -------------------------------------------------------------------

# vlan ID
vlan()
{
	ip -n "$HOST" -batch - <<-END
		link add link eth1 name eth1.$1 type vlan id $1
		link set eth1.$1 addrgenmode none
		link set eth1.$1 up
		addr add 10.79.$1.1/24 dev eth1.$1
	END
}

vlans()
{
	local before

	without_module
	host vlans
	vlan 5
	vlan 6
	ip -n "$HOST" link add link eth1.5 name eth1.5.7 up type vlan id 7
	before=$(state)
	works "VLANs: add" setup add five --rate 4gbit --rtt 10ms --uplink 9gbit --json eth1.5
	json_is "VLANs: a tbf of its own" tbf .shaper
	matches "VLANs: why" 'has eth1.5 for itself' "$(jq -r .reason <<<"$OUT")"
	matches "VLANs: it is there" '^qdisc tbf c7c0:.* root .* rate 4Gbit' "$(root_qdisc eth1.5)"
	matches "VLANs: the parent's queue is as it was" '^qdisc noqueue' "$(root_qdisc eth1)"
	complains "VLANs: more than the uplink" 1 \
		'with circuit six those on eth1 and what sits on it have 10gbit, more than the 9gbit of its uplink; less, or --overbook' \
		setup add six --rate 6gbit --rtt 10ms eth1.6
	complains "VLANs: another uplink" 1 \
		'--uplink: 10gbit of circuit six is not the 9gbit that circuit five states for eth1' \
		setup add six --rate 1gbit --rtt 10ms --uplink 10gbit eth1.6
	works "VLANs: what is left" setup add six --rate 4gbit --rtt 10ms --quiet eth1.6
	complains "VLANs: on the parent itself" 1 'with circuit lhc those on eth1 and what' \
		add lhc 81 --rate 2gbit
	works "VLANs: on the parent, what is left" add lhc 81 --quiet
	complains "VLANs: a VLAN of a VLAN" 1 'with circuit seven those on eth1 and what' \
		setup add seven --rate 1gbit --rtt 10ms eth1.5.7
	complains "VLANs: change" 1 'with circuit five those on eth1' \
		setup change five --rate 5gbit
	works "VLANs: change, on purpose" setup change five --rate 5gbit --overbook --quiet
	works "VLANs: verify" setup verify
	works "VLANs: del of one" setup del five --quiet
	equal "VLANs: del of one: its tbf goes" "" "$(root_qdisc eth1.5 | grep tbf)"
	matches "VLANs: del of one: the other's stays" ' rate 4Gbit' "$(root_qdisc eth1.6)"
	works "undo" setup undo --all --quiet
	unchanged "VLANs: all as before" "$before"
	host_end
}

uplink()
{
	local before

	without_module
	host uplink
	before=$(state)
	add lhc 81 --uplink 2500mbit --quiet
	matches "uplink: the state has it" ' --uplink 2.5gbit ' "$(cat "$CTCP_RUNDIR"/*.state)"
	complains "uplink: too much" 1 \
		'with circuit ska those on eth1 have 3gbit, more than the 2.5gbit of its uplink' \
		add ska 82 --rate 2gbit
	works "uplink: what is left" add ska 82 --rate 1500mbit --quiet
	complains "uplink: less of it" 1 'those on eth1 have 2.5gbit, more than the 2gbit' \
		setup change lhc --uplink 2gbit
	setup save >"$TMP/saved"
	works "undo" setup undo --all --quiet
	works "uplink: apply of what was saved" setup apply --quiet "$TMP/saved"
	works "uplink: it is as saved" setup diff "$TMP/saved"
	works "undo" setup undo --all --quiet
	unchanged "uplink: all as before" "$before"
	if has_classes; then
		works "uplink: htb" add lhc 81 --uplink 3gbit --shaper htb --quiet
		matches "uplink: all else has what is left of it" 'rate 2Gbit ' \
			"$(in_host tc class show dev eth1 | grep ' c7c0:ffff ')"
		setup undo --all --quiet
	fi
	host_end
}

alone
several
forced
queues
rates
somebodys
vlans
uplink
finish
