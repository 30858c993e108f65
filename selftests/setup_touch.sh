#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml
#
# Whoever is added, changed, or taken away, nobody else is touched: beside twenty
# circuits that are full, and a stream that is in none, fifty changes of other circuits in
# ten seconds, those busy as well.  Packet by packet, against a run without any change: of
# the twenty and the one none is lost or overtaken, and none comes more than 1 ms later.
#
# Time is virtual: what the tool computes takes none of it, but each wait for the kernel
# does, and so does each packet that finds its class, filter or route missing.
#
# That a change which does touch others is seen is tested at the end of each layout.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
. "$SELFTESTS/touch_lib.sh"
need_module

# A window of 22 segments, 5 more than the path holds: there is a queue at any time, and
# what leaves is what the rate lets pass, whatever the far side's ACKs are paired to
# shellcheck disable=SC2034 # of touch_lib.sh
ONE_WAY_MS=20
RATE=5mbit
RTT=40ms

FULL=20		# circuits that nobody changes, to 10.81.N.0/24
BUSY=5		# circuits that are changed, to 10.82.N.0/24
ROUNDS=10	# of five changes each
FIRST_MS=2500	# of these: until then the streams fill their circuits
RUN_MS=$((FIRST_MS + ROUNDS * 1000))
CONTROL_MS=$((FIRST_MS + 1500))
LATER_US=1000

# VLANs: 1 to FULL, from 101 on those that are changed, the one that comes and goes
NEW=$((100 + BUSY + 1))

# circuit NAME PREFIX VLAN: a line of a circuits file
circuit()
{
	echo "add $1 --to $2 --rate $RATE --rtt $RTT $(how "$3")"
}

circuits_file()
{
	local n

	for ((n = 1; n <= FULL; n++)); do
		circuit "full$n" "10.81.$n.0/24" "$n"
	done
	for ((n = 1; n <= BUSY; n++)); do
		circuit "busy$n" "10.82.$n.0/24" $((100 + n))
	done
}

# An uplink, so that what is in no class has another rate with each change
begin()
{
	far_sides "$1"
	# shellcheck disable=SC2046 # numbers
	lay_out "$1" $(seq $FULL) $(seq 101 $NEW)
	circuits_file | sed '1s/ --rate/ --uplink 1gbit --rate/' >"$TMP/circuits"
	neighbours
	works "$LAYOUT: apply" setup apply --quiet "$TMP/circuits"
}

# --- changes ------------------------------------------------------------------------

change()
{
	local n=$1

	shift
	setup change "busy$n" "$@" --quiet
}

# changes ROUND: five of them, in a second with what the tool waits for
changes()
{
	local n=$(($1 % BUSY + 1)) words

	read -ra words <<<"$(circuit new 10.83.0.0/24 $NEW)"
	setup "${words[@]}" --quiet || fail "$LAYOUT: add, round $1"
	sleep 0.18
	change $n --rate $((3 + $1))mbit || fail "$LAYOUT: rate, round $1"
	sleep 0.18
	# shellcheck disable=SC2046 # two words
	change $n --to "10.82.$n.0/24,10.80.$1.0/24" $(via $((100 + n))) ||
		fail "$LAYOUT: prefixes, round $1"
	sleep 0.18
	change $n --rtt $((30 + $1))ms || fail "$LAYOUT: window, round $1"
	sleep 0.18
	setup del new --quiet || fail "$LAYOUT: del, round $1"
	sleep 0.18
}

# shellcheck disable=SC2317 # called by one_run
all_changes()
{
	local round begin

	begin=$(date +%s%N)
	for ((round = 0; round < ROUNDS; round++)); do
		changes $round
	done
	TOOK_MS=$((($(date +%s%N) - begin) / 1000000))
}

# --- runs ----------------------------------------------------------------------------

# one_run FILE MS COMMAND...: with all under load, the command after FIRST_MS.  In no
# circuit: 10.80.255.1, and 10.83.0.1 while there is none.
one_run()
{
	local file=$1 ms=$2 streams datagrams

	shift 2
	capture "$file"
	full_second
	background src timeout 60 circuit_streams -n $((FULL + BUSY)) -w 0 -t $((ms + 200)) \
		"$(addresses_of $FULL 81),$(addresses_of $BUSY 82)" $PORT >"$TMP/streams"
	streams=$!
	background src circuit_arrivals send -g 5000 -t $((ms + 200)) \
		"10.80.255.1,10.83.0.1,10.83.0.2" $PORT
	datagrams=$!
	sleep "$(awk "BEGIN { print $FIRST_MS / 1000 }")"
	"$@"
	wait $streams $datagrams
	capture_end
	end_sockets src
	sleep 1	# what is still on its way
	grep -E '^10\.(81\.|80\.255\.)' "$TMP/$file" >"$TMP/$file.others"
	next_server
}

# compared UNTIL_MS FILE: with the run without changes
compared()
{
	circuit_arrivals compare $FIRST_MS "$1" "$TMP/without.others" "$TMP/$2.others"
}

untouched()
{
	local got

	one_run without "$RUN_MS" true
	one_run with "$RUN_MS" all_changes
	at_most "$LAYOUT: $((5 * ROUNDS)) changes, ms" $((RUN_MS - FIRST_MS)) "$TOOK_MS"
	got=$(compared "$RUN_MS" with)
	echo "# $LAYOUT: $got"
	equal "$LAYOUT: streams of others" $((FULL + 1)) "$(field streams "$got")"
	# 5 mbit are 412 packets of 1514 bytes a second
	at_least "$LAYOUT: packets of others" $((FULL * 412 * (RUN_MS - FIRST_MS) / 1000 * 99 / 100)) \
		"$(field packets "$got")"
	equal "$LAYOUT: beside $((5 * ROUNDS)) changes, packets of others lost" 0 \
		"$(field lost "$got")"
	equal "$LAYOUT: ... bytes overtaken" 0 "$(field reordered "$got")"
	at_most "$LAYOUT: ... the latest, us" $LATER_US "$(field later_us "$got")"
}

# --- what would be seen --------------------------------------------------------------

# Each circuit by a command of its own, which sets what is not as that circuit wants it.
# shellcheck disable=SC2317 # called by one_run, as what follows it
again()
{
	local name

	for name in $(awk '{ print $2 }' "$TMP/circuits"); do
		setup change "$name" --quiet || fail "$LAYOUT: $name again"
	done
}

# The root qdisc of DEVICE is taken, and made again.
# shellcheck disable=SC2317
root_anew()
{
	in_src tc qdisc del dev "$1" root
	[ "$LAYOUT" != fq ] || in_src tc qdisc add dev eth1 root handle 1: fq
	again
}

# Filters are taken before their successors are there.
# shellcheck disable=SC2317
filters_late()
{
	in_src tc filter del dev eth1 parent c7c0: protocol ip pref 108
	sleep 0.01
	again
}

# So is a route.
# shellcheck disable=SC2317
route_late()
{
	ip -n "$SRC" route replace unreachable 10.81.1.0/24
	sleep 0.01
	ip -n "$SRC" route del unreachable 10.81.1.0/24
	again
}

# seen NAME FIELD FLOOR COMMAND...
seen()
{
	local name=$1 field=$2 floor=$3 got

	shift 3
	one_run control $CONTROL_MS "$@"
	got=$(compared $CONTROL_MS control)
	echo "# $LAYOUT, $name: $got"
	at_least "$LAYOUT: this test can fail: $name: $field" "$floor" "$(field "$field" "$got")"
}

controls()
{
	case $LAYOUT in
	htb)	seen "the root is made anew" lost 1 root_anew eth1
		seen "a filter comes late" reordered 1 filters_late ;;
	none)	seen "a route comes late" later_us $((LATER_US + 1)) route_late ;;
	fq)	seen "the root is made anew" lost 1 root_anew eth1 ;;
	vlan)	seen "a root is made anew" lost 1 root_anew eth1.1 ;;
	esac
}

layout()
{
	begin "$1"
	untouched
	controls
	works "$LAYOUT: verify" setup verify
	far_sides_end
}

for layout in ${ONLY_LAYOUT:-$LAYOUTS}; do
	layout "$layout"
done
finish
