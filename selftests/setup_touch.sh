#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml
#
# Adding, changing or removing a circuit does not touch the others: fifty changes of circuits
# in ten seconds, which carry traffic, too, beside twenty full circuits and a stream outside
# any circuit.  Compared packet by packet with a run without changes, no packet of the twenty
# and the one is lost or overtaken, and none arrives more than 1 ms later.
#
# Time is virtual: what the tool computes takes none of it, but each wait for the kernel
# does, and so does each packet that finds its class, filter or route missing.
#
# At the end of each layout, a change that does touch others must be detected.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
. "$SELFTESTS/touch_lib.sh"
need_module

# The window is 22 segments, 5 more than the path holds, so that there is always a queue and
# only the rate decides when a packet leaves, not how the far side pairs its ACKs.
# shellcheck disable=SC2034 # of touch_lib.sh
ONE_WAY_MS=20
RATE=5mbit
RTT=40ms

FULL=20		# circuits that are not changed, to 10.81.N.0/24
BUSY=5		# circuits that are changed, to 10.82.N.0/24
ROUNDS=10	# of five changes each
FIRST_MS=2500	# time of the first change: until then the streams fill their circuits
RUN_MS=$((FIRST_MS + ROUNDS * 1000))
CONTROL_MS=$((FIRST_MS + 1500))
LATER_US=1000

# VLANs: 1 to FULL; from 101 on those that are changed; then that of the circuit which is added
# and removed
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

# With an uplink each change also changes the rate of traffic outside the classes.
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

# changes ROUND: five changes, in a second with the tool's own waits
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

# one_run FILE MS COMMAND...: load all circuits, and run the command after FIRST_MS.  10.80.255.1
# is in no circuit, and 10.83.0.1 only while the circuit "new" exists.
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
	sleep 1	# for packets that are still on their way
	grep -E '^10\.(81\.|80\.255\.)' "$TMP/$file" >"$TMP/$file.others"
	next_server
}

# compared UNTIL_MS FILE: FILE against the run without changes
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

# --- what must be detected --------------------------------------------------------------

# Set each circuit up again, by a command of its own.
# shellcheck disable=SC2317 # called by one_run, as are the functions after it
again()
{
	local name

	for name in $(awk '{ print $2 }' "$TMP/circuits"); do
		setup change "$name" --quiet || fail "$LAYOUT: $name again"
	done
}

# root_anew DEVICE: remove its root qdisc and make it again
# shellcheck disable=SC2317
root_anew()
{
	in_src tc qdisc del dev "$1" root
	[ "$LAYOUT" != fq ] || in_src tc qdisc add dev eth1 root handle 1: fq
	again
}

# Remove filters 10 ms before their successors are there.
# shellcheck disable=SC2317
filters_late()
{
	in_src tc filter del dev eth1 parent c7c0: protocol ip pref 108
	sleep 0.01
	again
}

# The same with a route
# shellcheck disable=SC2317
route_late()
{
	ip -n "$SRC" route replace unreachable 10.81.1.0/24
	sleep 0.01
	ip -n "$SRC" route del unreachable 10.81.1.0/24
	again
}

# seen NAME FIELD FLOOR COMMAND...: the comparison shows at least FLOOR after this command
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
