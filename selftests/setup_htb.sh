#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Several circuits on a device, each held to its rate by a class of one root htb: the
# classes are as planned, traffic takes the class of its destination's longest prefix, no
# circuit exceeds its rate, and a change of one touches no packet of another.  Killed or
# failing at any step, all is as before; what somebody else has on our root is named and
# stays.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands ctcp-setup ctcp-setup-faulty circuit_streams ethtool tc jq
need_module

STEPS_MAX=60
GATEWAYS=(--via 10.78.0.254)

# add NAME PREFIX RATE [OPTION...]
add()
{
	local name=$1 to=$2 rate=$3

	shift 3
	setup add "$name" --to "$to" "${GATEWAYS[@]}" --rate "$rate" --rtt 10ms --shaper htb \
		--quiet "$@" eth1
}

classes()
{
	in_host tc class show dev eth1 | sort
}

filters()
{
	in_host tc filter show dev eth1
}

# Everything, with what tc shows of classes and filters.  The module has prefixes in
# the order in which they came.
all_state()
{
	state | sed 's|prefixes=fd81::/32,10.81.0.0/16|prefixes=10.81.0.0/16,fd81::/32|'
	classes
	filters
}

# all_unchanged DESCRIPTION BEFORE
all_unchanged()
{
	same "$1" "$2" "$(all_state)"
}

# class MINOR: a line
class()
{
	classes | grep "^class htb c7c0:$1 "
}

# sent MINOR: packets that its class had so far
sent()
{
	in_host tc -s class show dev eth1 | grep -A 1 "^class htb c7c0:$1 " |
		sed -n 's/.*Sent [0-9]* bytes \([0-9]*\) pkt.*/\1/p'
}

# dropped MINOR
dropped()
{
	in_host tc -s class show dev eth1 | grep -A 1 "^class htb c7c0:$1 " |
		sed -n 's/.*dropped \([0-9]*\),.*/\1/p'
}

# --- what is made ------------------------------------------------------------

two()
{
	local before kept

	without_module
	host two
	before=$(all_state)
	works "add" add lhc 10.81.0.0/16 1gbit
	matches "add: the root" '^qdisc htb c7c0:[^ ]* root .* default 0xffff ' "$(root_qdisc eth1)"
	# 125e6 x 10 ms x 1.3 in segments of 1514 is 1074, 1626036 bytes
	matches "add: its class, nothing to borrow" \
		'root leaf 1: prio 0 rate 1Gbit ceil 1Gbit ' "$(class 1)"
	matches "add: a queue of its own" 'qdisc bfifo 1:[^ ]* parent c7c0:1 limit 1626036b' \
		"$(in_host tc -r qdisc show dev eth1)"
	matches "add: all else, where the speed is not known" 'rate 1Tbit ceil 1Tbit ' \
		"$(class ffff)"
	equal "add: a qdisc holds the rate, not the module" 2 "$(circuit_value lhc flags)"
	kept=$(class 1)
	works "add a second one" add ska 10.82.0.0/16,fd82::/32 2gbit --via fd78::254 --rest 3gbit
	matches "add a second one: its class" 'rate 2Gbit ceil 2Gbit ' "$(class 2)"
	matches "add a second one: all else" 'rate 3Gbit ceil 3Gbit ' "$(class ffff)"
	equal "add a second one: the first is as it was" "$kept" "$(class 1)"
	works "add one that the module holds" setup add mod --to 10.84.0.0/16 "${GATEWAYS[@]}" \
		--rate 1gbit --rtt 10ms --shaper none --quiet eth1
	equal "add one that the module holds: no class" 3 "$(classes | wc -l)"
	works "verify" setup verify
	works "show" setup show ska
	matches "show: the class's counters" 'class +c7c0:2, sent 0 bytes' "$OUT"
	works "show --json" setup show ska --json
	json_is "show: the class" c7c0:2 '.[0].class'
	json_is "show: its counters" 0 '.[0].qdisc.sent_packets'
	works "change of the rate" setup change lhc --rate 1500mbit --quiet
	matches "change of the rate: in place" 'leaf 1: .*rate 1500Mbit ceil 1500Mbit' "$(class 1)"
	works "the same again" setup change lhc --json
	json_is "the same again changes nothing" 0 '.changes | length'
	works "del" setup del lhc --quiet
	equal "del: its class goes" "" "$(class 1)"
	equal "del: its filters, too" 0 "$(filters | grep -c '10.81')"
	works "the next has the number that is free" add esa 10.81.0.0/16 1gbit
	matches "the next has the number that is free: 1" 'rate 1Gbit ' "$(class 1)"
	works "del of the one that says --rest" setup del ska --quiet
	matches "all else as if it had not" 'rate 1Tbit ' "$(class ffff)"
	works "undo" setup undo --all --quiet
	all_unchanged "undo: all as before" "$before"
	host_end
}

refusals()
{
	local before

	host refusals
	add lhc 10.81.0.0/16 1gbit --rest 1gbit
	before=$(all_state)
	complains "tbf beside htb" 1 'tbf of ska would hold both to one rate' \
		setup add ska --to 10.82.0.0/16 "${GATEWAYS[@]}" --rate 1gbit --rtt 1ms --shaper tbf eth1
	complains "another --rest" 1 'rest: 2gbit is not the 1gbit that circuit lhc says' \
		add ska 10.82.0.0/16 1gbit --rest 2gbit
	complains "htb without a prefix" 2 'htb needs --to' \
		setup add ska --rate 1gbit --rtt 1ms --shaper htb eth1
	all_unchanged "refused: nothing was changed" "$before"
	another_device eth2
	in_host tc qdisc add dev eth2 root handle 5: htb
	complains "a root of somebody else's" 1 'eth2 has a root qdisc of somebody else' \
		setup add ska --to 10.82.0.0/16 --via 10.78.0.254 --rate 1gbit --rtt 1ms \
		--shaper htb eth2
	setup undo --all --quiet
	host_end
}

# What --dry-run prints does the same; tc's buckets are of whole microseconds.
dry_run()
{
	local real

	host really
	add lhc 10.81.0.0/16,fd81::/32 1gbit --via fd78::254
	real=$(classes | sed 's/burst [^ ]*//g'; filters)
	setup undo --all --quiet
	host_end
	host dry
	works "--dry-run" setup add lhc --to 10.81.0.0/16,fd81::/32 --via 10.78.0.254 --rate 1gbit \
		--rtt 10ms --shaper htb --via fd78::254 --quiet --dry-run eth1
	in_host sh -e <<<"$(grep '^tc' <<<"$OUT")"
	same "--dry-run, run by a shell" "$real" \
		"$(classes | sed 's/burst [^ ]*//g'; filters)"
	in_host tc qdisc del dev eth1 root
	add lhc 10.81.0.0/16 1gbit
	setup change lhc --to 10.85.0.0/16 "${GATEWAYS[@]}" --quiet --dry-run >"$TMP/lines" 2>&1
	equal "a new prefix has its filter before the old one has none" "replace replace del del" \
		"$(sed -n 's/^tc filter \([a-z]*\) .*/\1/p' "$TMP/lines" | tr '\n' ' ' | sed 's/ $//')"
	setup undo --all --quiet
	host_end
}

# --- which class ---------------------------------------------------------------

# send FROM ADDRESS N: datagrams, to nobody
send()
{
	in_host bash -c "exec 3>/dev/udp/$1/9 && for ((i = 0; i < $2; i++)); do echo >&3; done"
}

# counted DESCRIPTION ADDRESS MINOR: three datagrams there are this class's
counted()
{
	local before others

	before=$(sent "$3")
	others=$(in_host tc -s class show dev eth1 | grep -c '^class')
	send "$2" 3
	equal "$1" $((before + 3)) "$(sent "$3")"
	[ "$others" = 4 ] || fail "$1: four classes" "got: $others"
}

neighbours()
{
	ip -n "$HOST" -batch - <<-END
		neigh replace 10.78.0.254 lladdr 02:00:00:00:00:09 dev eth1
		neigh replace fd78::254 lladdr 02:00:00:00:00:09 dev eth1
		link add link eth1 name eth1.5 type vlan id 5
		link set eth1.5 addrgenmode none
		link set eth1.5 up
		addr add 10.79.0.1/24 dev eth1.5
		addr add fd79::1/64 dev eth1.5 nodad
		neigh replace 10.79.0.254 lladdr 02:00:00:00:00:09 dev eth1.5
		neigh replace fd79::254 lladdr 02:00:00:00:00:09 dev eth1.5
		route add 10.81.5.0/24 via 10.79.0.254
		route add fd81:5::/32 via fd79::254
		route add 10.91.0.0/16 via 10.78.0.254
		route add fd91::/16 via fd78::254
		route add 10.92.0.0/16 via 10.79.0.254
	END
	in_host sysctl -qw net.ipv6.conf.all.router_solicitations=0
}

classified()
{
	local before

	host classified
	neighbours
	add lhc 10.81.0.0/16,fd81::/16 1gbit --via fd78::254
	add ska 10.81.7.0/24,fd81:7::/32,10.82.0.1 1gbit --via fd78::254 --overbook
	add esa 10.83.0.0/16 1gbit
	counted "IPv4" 10.81.1.1 1
	counted "IPv6" fd81:1::1 1
	counted "a longer prefix of another circuit, IPv4" 10.81.7.1 2
	counted "a longer prefix of another circuit, IPv6" fd81:7::1 2
	counted "a single address" 10.82.0.1 2
	counted "a third circuit" 10.83.255.255 3
	counted "by a VLAN device above, IPv4" 10.81.5.1 1
	counted "by a VLAN device above, IPv6" fd81:5::1 1
	counted "all else, IPv4" 10.91.0.1 ffff
	counted "all else, IPv6" fd91::1 ffff
	counted "all else by a VLAN device" 10.92.0.1 ffff
	works "change to another prefix" setup change lhc --to 10.91.0.0/16 "${GATEWAYS[@]}" --quiet
	counted "the new prefix" 10.91.0.1 1
	counted "what was a part of the old one" 10.81.7.1 2
	works "all of IPv4 and of IPv6" setup change esa --to 0.0.0.0/0,::/0 --via 10.78.0.254 \
		--via fd78::254 --overbook --quiet
	counted "all of IPv4" 10.99.0.1 3
	counted "all of IPv6" fd99::1 3
	counted "all of IPv4 by a VLAN device" 10.92.0.1 3
	counted "but what has a longer prefix" 10.91.0.1 1
	equal "no packet past the classes" 0 "$(in_host tc -s -d qdisc show dev eth1 |
		sed -n 's/.*direct_packets_stat \([0-9]*\).*/\1/p')"
	setup undo --all --quiet
	host_end
}

# Two IPv6 prefixes whose handles would be the same: each has one of its own, and goes
# without the other.
same_handle()
{
	local one=fd81:0:caef:11df::/64 other=fd81:0:9047:5c3a::/64

	host same-handle
	GATEWAYS=(--via fd78::254)
	add lhc $one 1gbit
	works "the same handle: add" add ska $other 1gbit
	works "the same handle: verify" setup verify
	equal "the same handle: both, with and without a tag" 4 "$(filters | grep -c dst_ip)"
	works "the same handle: change of the first" setup change lhc --to $one,fd82::/32 \
		--via fd78::254 --quiet
	works "the same handle: del of the first" setup del lhc --quiet
	equal "the same handle: the other stays" 2 "$(filters | grep -c "dst_ip ${other%/64}")"
	works "the same handle: verify of the other" setup verify
	works "the same handle: add of the first" add lhc $one 1gbit
	setup change ska --rate 2gbit --quiet
	works "the same handle: verify of both" setup verify
	works "the same handle: undo" setup undo --all --quiet
	GATEWAYS=(--via 10.78.0.254)
	host_end
}

# A prefix that another circuit was given: its filter is older than the class it leads to.
moved()
{
	local before

	without_module
	host moved
	before=$(all_state)
	add lhc 10.81.0.0/16,10.84.0.0/16 1gbit
	add ska 10.82.0.0/16 1gbit
	setup save >"$TMP/saved"
	sed '/^add lhc /s/10.81.0.0.16,//; /^add ska /s/10.82.0.0.16/&,10.81.0.0\/16/' \
		"$TMP/saved" >"$TMP/moved"
	works "a prefix moved" setup apply --quiet "$TMP/moved"
	matches "a prefix moved: it leads there" 'classid c7c0:2' \
		"$(filters | grep -B 3 'dst_ip 10.81.0.0/16')"
	works "a prefix moved: verify" setup verify
	works "a prefix moved: del of who has it" setup del ska --quiet
	equal "a prefix moved: its class goes" "" "$(class 2)"
	works "a prefix moved: as it was" setup apply --quiet "$TMP/saved"
	works "a prefix moved: once more" setup apply --quiet "$TMP/moved"
	works "a prefix moved: undo" setup undo --all --quiet
	all_unchanged "a prefix moved: all as before" "$before"
	host_end
}

# A tbf answers for any class id: none of them is in the way.
from_tbf()
{
	local before

	without_module
	host from-tbf
	before=$(all_state)
	works "from a tbf: add" add lhc 10.81.0.0/16 1gbit --shaper tbf
	works "from a tbf: change" setup change lhc --shaper htb --quiet
	matches "from a tbf: its class" 'rate 1Gbit ceil 1Gbit ' "$(class 1)"
	works "from a tbf: verify" setup verify
	works "from a tbf: and back" setup change lhc --shaper tbf --quiet
	matches "from a tbf: and back: the root" '^qdisc tbf c7c0:' "$(root_qdisc eth1)"
	works "from a tbf: and back: verify" setup verify
	works "from a tbf: undo" setup undo --all --quiet
	all_unchanged "from a tbf: all as before" "$before"
	host_end
}

# Of a circuit that cannot be planned what it has stays, and no more than that.
device_down()
{
	local kept

	host device-down
	add lhc 10.81.0.0/16 1gbit
	add ska 10.82.0.0/16 2gbit
	kept=$(class 2)
	ip -n "$HOST" link set eth1 down
	works "the device is down: del of one" setup del lhc --quiet
	equal "the device is down: its class goes" "" "$(class 1)"
	equal "the device is down: its filters, too" 0 "$(filters | grep -c '10.81')"
	equal "the device is down: the other's stays" "$kept" "$(class 2)"
	equal "the device is down: its filters, too" 2 "$(filters | grep -c '10.82')"
	ip -n "$HOST" link set eth1 up
	setup change ska --quiet
	works "up again: verify" setup verify
	setup undo --all --quiet
	host_end
}

# --- steps ---------------------------------------------------------------------

LHC="add lhc --to 10.81.0.0/16,fd81::/32 --via 10.78.0.254 --via fd78::254 --rate 1gbit --rtt 10ms --shaper htb eth1"
SKA="add ska --to 10.82.0.0/16 --via 10.78.0.254 --rate 2gbit --rtt 10ms --shaper htb --rest 1gbit eth1"
ESA="add esa --to 10.83.0.0/16 --via 10.78.0.254 --rate 3gbit --rtt 10ms --shaper htb eth1"
NEW=("${LHC/1gbit/2gbit}" "$ESA")

# circuits_file FILE LINE...
circuits_file()
{
	local file=$1

	shift
	printf '%s\n' "$@" >"$TMP/$file"
}

# steps DIE|FAIL EXIT NAME: at each step of apply from two circuits to two others
steps()
{
	local n=1 old

	circuits_file old "$LHC" "$SKA"
	circuits_file new "${NEW[@]/10.81.0.0\/16/10.81.0.0\/17}"
	setup apply --quiet "$TMP/old"
	old=$(all_state)
	while [ $n -lt $STEPS_MAX ]; do
		local -x "CTCP_$1_AT=$n"
		run in_host ctcp-setup-faulty apply --quiet "$TMP/new"
		[ "$RC" = "$2" ] || break
		[ "$1" = FAIL ] || setup apply --quiet "$TMP/old" 2>/dev/null ||
			fail "$3: apply of the old list, step $n"
		[ "$(all_state)" = "$old" ] || same "$3: as before, step $n" "$old" "$(all_state)"
		n=$((n + 1))
	done
	equal "$3: no step left" 0 "$RC"
	at_least "$3: steps" 12 $((n - 1))
	works "$3: verify" setup verify
	equal "$3: three classes" 3 "$(classes | wc -l)"
}

# From nothing, and to nothing.
first_steps()
{
	local n=1 before=$1

	circuits_file old "$LHC"
	while [ $n -lt $STEPS_MAX ]; do
		CTCP_DIE_AT=$n run in_host ctcp-setup-faulty apply --quiet "$TMP/old"
		[ "$RC" = 137 ] || break
		setup undo --all --quiet || fail "the first one killed: undo, step $n"
		[ "$(all_state)" = "$before" ] ||
			same "the first one killed: as before, step $n" "$before" "$(all_state)"
		n=$((n + 1))
	done
	equal "the first one killed: no step left" 0 "$RC"
	for ((n = 1; n < STEPS_MAX; n++)); do
		CTCP_DIE_AT=$n run in_host ctcp-setup-faulty undo --all --quiet
		[ "$RC" = 137 ] || break
		setup undo --all --quiet || fail "undo killed: undo, step $n"
		[ "$(all_state)" = "$before" ] ||
			same "undo killed: as before, step $n" "$before" "$(all_state)"
		setup apply --quiet "$TMP/old"
	done
	equal "undo killed: no step left" 0 "$RC"
}

faults()
{
	local before

	without_module
	host faults
	before=$(all_state)
	steps DIE 137 killed
	steps FAIL 1 failing
	works "undo --all" setup undo --all --quiet
	all_unchanged "faults: all as before" "$before"
	first_steps "$before"
	all_unchanged "faults: all as before once more" "$before"
	host_end
}

# --- others --------------------------------------------------------------------

guests()
{
	local before

	without_module
	host guests
	before=$(all_state)
	add lhc 10.81.0.0/16 1gbit
	in_host tc filter add dev eth1 parent c7c0: protocol ip pref 7 u32 \
		match ip dst 10.85.0.0/16 classid c7c0:77
	in_host tc class add dev eth1 parent c7c0: classid c7c0:77 htb rate 1mbit
	run setup verify
	equal "guests: verify" 1 "$RC"
	equal "guests: they are not ours to change" \
		"ctcp-setup: 2 differences from what was set up; what is somebody else's is not ours to change" \
		"$ERR"
	matches "guests: a class is named" 'eth1: class c7c0:77 on our root' "$OUT"
	matches "guests: a filter is named" 'eth1: filter pref 7 u32 handle 0x80000800' "$OUT"
	run setup verify --json
	json_is "guests: a list" "class filter" '[.[].item] | join(" ")'
	works "guests: add beside them" add ska 10.82.0.0/16 1gbit
	works "guests: del beside them" setup del ska --quiet
	run setup undo eth1
	equal "guests: undo" 1 "$RC"
	matches "guests: undo says so" 'root of eth1 stays.* class c7c0:77 on it, and more' "$ERR"
	equal "guests: undo leaves theirs" 1 "$(class 77 | wc -l)"
	equal "guests: and their filter" 1 "$(filters | grep -c 'flowid c7c0:77')"
	equal "guests: what was ours is gone" "" "$(class 1)"
	run setup verify
	matches "guests: what is left over of ours, and what was before" \
		'^left over: qdisc eth1 is htb default ffff, before it was default$' "$OUT"
	matches "guests: what is left over goes by" \
		'set up; ctcp-setup undo --all --force restores what is left over$' "$ERR"
	in_host tc filter del dev eth1 parent c7c0: pref 7
	in_host tc class del dev eth1 classid c7c0:77
	works "guests gone: undo" setup undo eth1 --quiet
	all_unchanged "guests: all as before" "$before"
	add lhc 10.81.0.0/16 1gbit
	in_host tc class change dev eth1 parent c7c0: classid c7c0:1 htb rate 1mbit ceil 2mbit
	run setup verify
	matches "a class that somebody changed" \
		'class eth1 c7c0:1 is rate 1mbit ceil 2mbit .*, plan wants rate 1gbit' "$OUT"
	in_host tc filter del dev eth1 parent c7c0: protocol ip pref 116
	run setup verify
	matches "a filter that somebody took" 'filter eth1 10.81.0.0/16 is unfinished' "$OUT"
	works "the same again" add_again
	works "the same again: verify" setup verify
	in_host tc qdisc del dev eth1 root
	add ska 10.82.0.0/16 1gbit
	works "a root that somebody took is made with all that was on it" setup verify
	setup undo --all --quiet
	all_unchanged "guests: all as before, after all" "$before"
	host_end
}

# What is left over beside a circuit goes without it, as verify advises.
left_over()
{
	host left-over
	add lhc 10.81.0.0/16 1gbit
	in_host tc class add dev eth1 parent c7c0: classid c7c0:77 htb rate 1mbit
	run setup undo lhc
	equal "left over: undo" 1 "$RC"
	works "left over: another" setup add ska --quiet --to 10.82.0.0/16 --via 10.78.0.254 \
		--rate 1gbit --rtt 10ms --pace eth1
	run setup verify
	equal "left over: beside it" 2 "$(grep -c '^left over: .*, before it was ' <<<"$OUT")"
	equal "left over: what helps" \
		"ctcp-setup: 2 differences from what was set up; ctcp-setup undo NAME --force, by the NAME of a circuit that is gone, restores what is left over" \
		"$ERR"
	works "left over: undo by its name, forced" setup undo lhc --force --quiet
	works "left over: verify" setup verify
	equal "left over: the other one stands" "1 circuit as set up" "$OUT"
	setup undo --all --quiet
	host_end
}

# A device that was deleted and made anew has nothing of its circuit: show tells what verify
# does.
made_anew()
{
	local lines i

	host anew
	for i in 1 2; do
		[ $i = 1 ] || ip -n "$HOST" link del v100
		ip -n "$HOST" -batch - <<-END
			link add link eth1 name v100 type vlan id 100
			link set v100 addrgenmode none
			link set v100 up
			addr add 10.79.0.1/24 dev v100
		END
		[ $i = 2 ] || works "made anew: before" setup add lhc --quiet --to 10.81.0.0/16 \
			--via 10.79.0.254 --rate 1gbit --rtt 10ms --shaper htb v100
	done
	run setup verify lhc
	lines=$(sed -n 's/^lhc on v100: /  drift    /p' <<<"$OUT")
	equal "made anew: verify: exit status" 1 "$RC"
	matches "made anew: verify names the class" 'class v100 c7c0:1 is absent' "$lines"
	run setup show lhc
	equal "made anew: show: exit status" 1 "$RC"
	same "made anew: show says the same" "$lines" "$(grep '^  drift ' <<<"$OUT")"
	equal "made anew: show counts nothing of a class that is none" "" \
		"$(grep '^  class ' <<<"$OUT")"
	run setup show --json lhc
	json_is "made anew: show --json: likewise" "null $(wc -l <<<"$lines")" \
		'.[0] | "\(.qdisc) \(.drift | length)"'
	works "made anew: the same again" setup change lhc --quiet
	works "made anew: show after that" setup show lhc
	matches "made anew: the class counts" '^  class    c7c0:1, sent ' "$OUT"
	setup undo --all --quiet
	host_end
}

# half NAME PROTOCOL PRIORITY PREFIX: of the two filters of a prefix somebody deletes that
# one; lhc has a length of its own in each family, so that the priority is its alone
half()
{
	local file=$TMP/halves what=$1 before

	before=$(all_state)
	in_host tc filter del dev eth1 parent c7c0: protocol "$2" pref "$3"
	run setup verify
	equal "$what: verify: exit status" 1 "$RC"
	matches "$what: verify" "filter eth1 $4 is unfinished, plan wants class c7c0:1" "$OUT"
	run setup diff "$file"
	matches "$what: diff" "filter +eth1 $4: unfinished -> class c7c0:1" "$OUT"
	works "$what: apply" setup apply --quiet "$file"
	works "$what: apply: verify" setup verify
	all_unchanged "$what: apply: as set up" "$before"
	in_host tc filter del dev eth1 parent c7c0: protocol "$2" pref "$3"
	works "$what: del" setup del lhc --quiet
	equal "$what: del: no class is left" "" "$(class 1)"
	equal "$what: del: no filter is left" "" "$(filters | grep 'classid c7c0:1 ')"
	works "$what: del: verify" setup verify
	works "$what: the file again" setup apply --quiet "$file"
}

# A filter that is left leads to its class, which the kernel does not delete then.
halves()
{
	local before

	without_module
	host halves
	before=$(all_state)
	add lhc 10.81.0.0/16,fd81::/32 1gbit --via fd78::254
	add ska 10.82.0.0/24,fd82::/48 1gbit --via fd78::254
	setup save >"$TMP/halves"
	half "IPv4 without a tag gone" ip 116 10.81.0.0/16
	half "IPv4 with a tag gone" 802.1Q 1116 10.81.0.0/16
	half "IPv6 without a tag gone" ipv6 296 fd81::/32
	half "IPv6 with a tag gone" 802.1Q 1296 fd81::/32
	in_host tc filter del dev eth1 parent c7c0: protocol ip pref 116
	in_host tc filter del dev eth1 parent c7c0: protocol ipv6 pref 280
	works "halves gone: undo" setup undo --all --quiet
	all_unchanged "halves gone: undo: all as before" "$before"
	host_end
}

# shellcheck disable=SC2317 # called by works
add_again()
{
	setup change lhc --rate 1gbit --quiet
}

# --- many ------------------------------------------------------------------------

many()
{
	local before n

	without_module
	host many
	before=$(state)
	for ((n = 1; n <= 300; n++)); do
		echo "add c$n --to 10.90.$((n / 100)).$((n % 100)) --via 10.78.0.254" \
			"--rate 10mbit --rtt 10ms --shaper htb eth1"
	done >"$TMP/circuits"
	works "apply of 300" setup apply --quiet "$TMP/circuits"
	equal "300 classes, and one for all else" 301 "$(classes | wc -l)"
	works "300: verify" setup verify
	works "300: apply again" setup apply --json "$TMP/circuits"
	json_is "300: apply again changes nothing" 0 '.changes | length'
	works "300: del" setup del c7 --quiet
	equal "300: del takes one" 300 "$(classes | wc -l)"
	works "300: one more" add more 10.91.0.0/16 10mbit
	matches "300: it has the number that is free" 'rate 10Mbit ' "$(class 7)"
	ip -n "$HOST" neigh replace 10.78.0.254 lladdr 02:00:00:00:00:09 dev eth1
	send 10.90.2.99 5
	equal "300: one of them has what is its" 5 "$(sent 12b)"
	works "300: undo" setup undo --all --quiet
	unchanged "300: all as before" "$before"
	host_end
}

# --- rates -------------------------------------------------------------------------

#	eth1 of src ---- rtr ---- dst, which has 10.81.0.1, 10.82.0.1, 10.83.0.1, fd81::1
far_sides()
{
	local n

	network 5
	single_packets
	for n in 81 82 83; do
		ip -n "$DST" addr add 10.$n.0.1/32 dev lo
		ip -n "$RTR" route add 10.$n.0.0/16 via $DST4
	done
	HOST=$SRC
	GATEWAYS=(--via 10.77.1.254)
}

# line RATE_MBIT MS: payload that a line of that rate carries
line()
{
	echo $(($1 * 125 * $2 * 1448 / 1514))
}

# stream ADDRESS FILE [OPTION...]: in the background
stream()
{
	local to=$1 file=$2

	shift 2
	spawn -e -n "$SRC" timeout 120 circuit_streams -w 500 "$@" "$to" $PORT >"$TMP/$file" &
}

# is_rate NAME RATE_MBIT MS FILE: what its stream carried, within 1 %
is_rate()
{
	within "$1: bytes in $3 ms at ${2}mbit" "$(line "$2" "$3")" \
		"$(field bytes "$(<"$TMP/$4")")" $(($(line "$2" "$3") / 100))
	equal "$1: sent again" 0 "$(field retrans "$(<"$TMP/$4")")"
}

together()
{
	local a b

	stream 10.81.0.1 a -t 2000
	a=$!
	stream 10.82.0.1 b -t 2000
	b=$!
	wait $a $b
	is_rate "two at once, the first" 200 2000 a
	is_rate "two at once, the second" 100 2000 b
	equal "the idle third" 0 "$(dropped 3)"
	stream 10.81.0.1 a -t 2000
	wait $!
	is_rate "one alone has no more" 200 2000 a
}

# What others' circuits do, again and again, beside one that sends.
beside()
{
	local a n

	stream 10.81.0.1 a -t 3000
	a=$!
	for ((n = 0; n < 10; n++)); do
		add "new$n" "10.85.$n.0/24" 50mbit || fail "beside: add $n"
		setup change ska --rate $((100 + n))mbit --quiet || fail "beside: change $n"
		setup change esa --to 10.83.$n.0/24,10.84.0.0/16 "${GATEWAYS[@]}" --quiet ||
			fail "beside: prefixes $n"
		setup del "new$n" --quiet >/dev/null || fail "beside: del $n"
		sleep 0.2
	done
	wait $a
	is_rate "beside 40 changes of others" 200 3000 a
	equal "beside 40 changes of others: dropped" 0 "$(dropped 1)"
	setup change ska --rate 100mbit --quiet >/dev/null
}

# Its own rate changed while it sends: its queue stays.
own_change()
{
	local a

	stream 10.81.0.1 a -t 2000
	a=$!
	sleep 1
	setup change lhc --rate 250mbit --quiet
	sleep 0.3
	setup change lhc --rate 200mbit --quiet
	wait $a
	equal "its own rate changed: sent again" 0 "$(field retrans "$(<"$TMP/a")")"
	equal "its own rate changed: dropped" 0 "$(dropped 1)"
	at_least "its own rate changed: bytes" $(($(line 200 2000) * 99 / 100)) \
		"$(field bytes "$(<"$TMP/a")")"
}

rates()
{
	far_sides
	serve dst
	add lhc 10.81.0.0/16 200mbit
	add ska 10.82.0.0/16 100mbit
	add esa 10.83.0.0/16 300mbit
	together
	beside
	own_change
	setup undo --all --quiet
}

two
refusals
dry_run
classified
same_handle
moved
from_tbf
device_down
faults
guests
left_over
made_anew
halves
many
! in_virtual_time || rates
finish
