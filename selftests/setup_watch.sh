#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# ctcp-setup watch: what neighbours undo of the circuits is set again within a second, or
# said where it may not be, and is left where it was undone three times within a minute.
# What a command does meanwhile is no difference.  apply --wait: devices that come late.
#
# Within a second: from the command that undid it until the kernel has it again, or until
# the line is there.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands ctcp-setup circuit_nl tc jq flock
need_module

IN_TIME=1000	# ms

LHC="add lhc --to 10.81.0.0/16 --via 10.78.0.254 --rate 1gbit --rtt 10ms"
SIX="add six --to fd81::/32 --via fd78::254 --rate 1gbit --rtt 10ms"

# ms that the machine has been up
now_ms()
{
	local up

	read -r up _ </proc/uptime
	echo $((10#${up/./}0))
}

# --- watch -----------------------------------------------------------------

# said PATTERN: a line of the watch that matches
said()
{
	grep -qE -- "$1" "$TMP/watch"
}

# watch [OPTION...]: in the background, until it says that it watches
watch()
{
	: >"$TMP/watch"
	spawn -e -n "$HOST" ctcp-setup watch "$@" >>"$TMP/watch" 2>"$TMP/watch.err" &
	WATCH=$!
	defer "kill $WATCH"
	until_true 10 said watching || fail "watch begins" "$(cat "$TMP/watch" "$TMP/watch.err")"
}

# watch_ends NAME [PID]: by SIGTERM, cleanly and at once
watch_ends()
{
	local begun pid=${2:-$WATCH}

	begun=$(now_ms)
	kill -TERM "$pid"
	wait "$pid"
	equal "$1: SIGTERM ends it, exit status" 0 $?
	at_most "$1: ms until it has ended" $IN_TIME $(($(now_ms) - begun))
	equal "$1: nothing on standard error" "" "$(<"$TMP/watch.err")"
}

is_locked()
{
	! flock -n "$CTCP_RUNDIR/lock" true
}

# lines PATTERN: of the watch, how many
lines()
{
	grep -cE -- "$1" "$TMP/watch"
}

# in_time NAME COMMAND...: it succeeds within a second of $BEGUN
in_time()
{
	local what=$1

	shift
	until_true 3 "$@"
	succeeds "$what" "$@"
	at_most "$what: ms" $IN_TIME $(($(now_ms) - BEGUN))
}

# settled: what it has heard was looked at
settled()
{
	sleep 0.7
}

# How often it has slept
sleeps()
{
	awk '/^voluntary_ctxt_switches/ { print $2 }' "/proc/$WATCH/status"
}

# idle NAME: nothing happens, and nothing is looked at; without inotify it asks for the
# state's file twice a second
idle()
{
	local before

	settled
	before=$(sleeps)
	sleep 4
	at_most "$1: sleeps in 4 s in which nothing happens" 12 $(($(sleeps) - before))
}

has_route()
{
	in_host ip route show 10.81.0.0/16 | grep -q 'via 10.78.0.254 dev eth1 .*congctl circuit'
}

# as_set_up NAME
as_set_up()
{
	works "$1: verify" setup verify
}

# undone NAME PATTERN COMMAND...: what it does to lhc is set again, and the line says so
undone()
{
	local what=$1 pattern=$2

	shift 2
	: >"$TMP/watch"
	BEGUN=$(now_ms)
	in_host "$@" || fail "$what: the command" "$*"
	in_time "$what: restored" said " restored lhc $pattern"
	as_set_up "$what"
}

# --- what neighbours do ----------------------------------------------------

fresh()
{
	without_module
	host "$1"
	BEFORE=$(state)
}

# renamed OLD NEW
renamed()
{
	ip -n "$HOST" link set "$1" down
	ip -n "$HOST" link set "$1" name "$2"
	ip -n "$HOST" link set "$2" up
}

# A name that is neither UTF-8 nor without control characters is watched as any; what is
# said has another, and is not dropped.
odd_name()
{
	local odd=$'e\xff1'

	fresh odd-name
	renamed eth1 "$odd"
	renamed "$odd" eth1
	until_true 10 both_up eth1 far1
	BEFORE=$(state)
	# shellcheck disable=SC2086 # words
	setup $LHC --quiet --shaper htb eth1
	watch --json
	BEGUN=$(now_ms)
	renamed eth1 "$odd"
	in_time "an odd name: its route" said '"restored".*"dev":"e\?1","item":"route"'
	as_set_up "an odd name"
	BEGUN=$(now_ms)
	in_host tc qdisc del dev "$odd" root
	in_time "an odd name: its class" said '"restored".*"item":"class","name":"e\?1 c7c0:1"'
	as_set_up "an odd name once more"
	watch_ends "an odd name"
	renamed "$odd" eth1
	host_done "an odd name"
}

# host_done NAME: without a circuit, as the module stays while another namespace has one
host_done()
{
	works "$1: undo" setup undo --quiet --all
	unchanged "$1: all as before" "$BEFORE"
	host_end
}

# Each item once, as several of one within a minute would be left.
neighbours()
{
	local before file handle

	without_module
	host neighbours
	in_host ip link set eth1 txqueuelen 0
	BEFORE=$(state)
	# shellcheck disable=SC2086 # its words
	setup $LHC --shaper tbf --quiet eth1
	before=$(state)
	file=$(cat "$CTCP_RUNDIR"/*.state)
	watch
	idle "a tbf"
	undone "qdisc deleted" 'qdisc eth1: default.* -> tbf rate 1gbit' \
		tc qdisc del dev eth1 root
	undone "route deleted" 'route 10.81.0.0/16: absent -> .*congctl circuit' \
		ip route del 10.81.0.0/16
	undone "circuit deleted" 'circuit lhc: absent -> window' ctcp-setup circuit del lhc
	undone "txqueuelen" 'txqlen eth1: 0 -> ' ip link set eth1 txqueuelen 0
	settled
	unchanged "restored: all as set up" "$before"
	same "restored: the state is not written" "$file" "$(cat "$CTCP_RUNDIR"/*.state)"
	handle=$(root_qdisc eth1)
	: >"$TMP/watch"
	BEGUN=$(now_ms)
	in_host tc qdisc replace dev eth1 root handle 7: pfifo limit 7
	in_time "qdisc of another kind: said" said \
		' differs lhc qdisc eth1: foreign pfifo 7: -> tbf .*; somebody else'
	matches "qdisc of another kind: it stays" '^qdisc pfifo 7:' "$(root_qdisc eth1)"
	in_host tc qdisc change dev eth1 root handle 7: pfifo limit 8
	settled
	equal "qdisc of another kind: said once" 1 "$(lines ' differs ')"
	undone "qdisc of another kind deleted" 'qdisc eth1: default.* -> tbf' \
		tc qdisc del dev eth1 root
	equal "qdisc of another kind deleted: as before" "$handle" "$(root_qdisc eth1)"
	watch_ends "neighbours"
	host_done "neighbours"
}

# The module goes with its last circuit and is loaded again by watch, as another family of
# netlink's, which is heard, too.
reloaded()
{
	fresh reloaded
	# shellcheck disable=SC2086 # its words
	setup $LHC --quiet eth1
	watch
	BEGUN=$(now_ms)
	in_host sh -c 'ctcp-setup circuit del lhc && rmmod tcp_circuit' ||
		fail "the module is removed"
	in_time "the module removed with its circuit: restored" \
		said ' restored lhc circuit lhc: absent -> window'
	as_set_up "the module removed with its circuit"
	settled
	undone "the circuit of a module that watch has loaded" \
		'circuit lhc: absent -> window' ctcp-setup circuit del lhc
	watch_ends "reloaded"
	host_done "reloaded"
}

# Classes and filters go with the root that they are below, and come back with it.  While it
# is somebody else's there is one line, and nothing is asked of the kernel.
classes()
{
	local n

	fresh classes
	# shellcheck disable=SC2086
	setup $LHC --shaper htb --quiet eth1
	# shellcheck disable=SC2086
	setup $SIX --shaper htb --quiet eth1
	watch
	idle "classes"
	: >"$TMP/watch"
	BEGUN=$(now_ms)
	in_host tc qdisc del dev eth1 root
	in_time "root deleted: its classes" said ' restored lhc class eth1 '
	in_time "root deleted: its filters" said ' restored six filter eth1 fd81::/32: absent -> '
	as_set_up "root deleted"
	: >"$TMP/watch"
	BEGUN=$(now_ms)
	in_host tc qdisc replace dev eth1 root handle 7: pfifo limit 7
	in_time "root of another kind: said" said ' differs .* qdisc eth1: foreign pfifo 7: -> '
	for n in 1 2; do
		in_host ip link set eth1 alias "look $n"
		settled
	done
	sleep 12
	in_host ip link set eth1 alias ""
	idle "root of another kind"
	equal "root of another kind: the only line" 1 "$(wc -l <"$TMP/watch")"
	BEGUN=$(now_ms)
	in_host tc qdisc del dev eth1 root
	in_time "root of another kind deleted: classes" said ' restored lhc class eth1 '
	in_time "root of another kind deleted: filters" said ' restored six filter eth1 '
	as_set_up "root of another kind deleted"
	watch_ends "classes"
	host_done "classes"
}

# One of the two filters of a prefix leads on to its class.
halves()
{
	fresh halves
	# shellcheck disable=SC2086
	setup $LHC --shaper htb --quiet eth1
	watch
	undone "filter for untagged frames deleted" \
		'filter eth1 10.81.0.0/16: unfinished -> class c7c0:1' \
		tc filter del dev eth1 parent c7c0: protocol ip pref 116
	undone "filter for tagged frames deleted" \
		'filter eth1 10.81.0.0/16: unfinished -> class c7c0:1' \
		tc filter del dev eth1 parent c7c0: protocol 802.1Q pref 1116
	undone "rate of a class changed" 'class eth1 c7c0:1: rate 5mbit .* -> rate 1gbit ' \
		tc class change dev eth1 parent c7c0: classid c7c0:1 htb rate 5mbit
	watch_ends "halves"
	host_done "halves"
}

routes()
{
	fresh routes
	another_device eth2
	in_host ip addr add 10.79.0.1/24 dev eth2
	# shellcheck disable=SC2086
	setup $LHC --quiet eth1
	watch --json
	: >"$TMP/watch"
	BEGUN=$(now_ms)
	in_host ip route replace 10.81.0.0/16 via 10.78.0.254
	in_time "route without congctl: restored" has_route
	until_true 2 said restored
	run cat "$TMP/watch"
	json_is "route without congctl: event" restored .event
	json_is "route without congctl: whose" "lhc eth1" '.circuit + " " + .dev'
	json_is "route without congctl: what" "route 10.81.0.0/16" '.item + " " + .name'
	json_is "route without congctl: is, wants" \
		"10.81.0.0/16 via 10.78.0.254, 10.81.0.0/16 via 10.78.0.254 congctl circuit" \
		'.is + ", " + .wants'
	json_is "route without congctl: why not" null .why
	: >"$TMP/watch"
	BEGUN=$(now_ms)
	in_host ip route replace 10.81.0.0/16 via 10.79.0.254
	in_time "route by another way: said" said '"event":"differs".*"why":"somebody leads it'
	matches "route by another way: it stays" 'via 10.79.0.254 dev eth2' \
		"$(in_host ip route show 10.81.0.0/16)"
	BEGUN=$(now_ms)
	in_host ip route del 10.81.0.0/16
	in_time "route by another way deleted: restored" has_route
	settled
	: >"$TMP/watch"
	BEGUN=$(now_ms)
	in_host ip route prepend 10.81.0.0/16 via 10.79.0.254
	in_time "route put in front: said" said \
		'"event":"differs".*"why":"somebody.s is used before it'
	in_host ip route del 10.81.0.0/16 via 10.79.0.254
	settled
	matches "route put in front: ours stays" '^10.81.0.0/16 via 10.78.0.254 .*congctl circuit' \
		"$(in_host ip route show 10.81.0.0/16)"
	: >"$TMP/watch"
	in_host sysctl -qw net.ipv4.tcp_sack=0
	settled
	equal "sysctl: nobody tells of it" 0 "$(value net.ipv4.tcp_sack)"
	in_host ip route add 10.99.0.0/16 via 10.78.0.254
	settled
	equal "a route of others: not looked at" "0 0" \
		"$(value net.ipv4.tcp_sack) $(wc -l <"$TMP/watch")"
	BEGUN=$(now_ms)
	in_host ip link set eth1 mtu 1400
	in_host ip link set eth1 mtu 1500
	in_time "sysctl: with the next look" said '"item":"sysctl","name":"net.ipv4.tcp_sack"'
	as_set_up "routes"
	watch_ends "routes"
	works "routes: undo" setup undo --quiet --all
	host_end
}

# Of IPv6 the address goes, too, and the route can come back only when that is there again.
flaps()
{
	local n

	fresh flaps
	# shellcheck disable=SC2086
	setup $LHC --quiet eth1
	# shellcheck disable=SC2086
	setup $SIX --quiet eth1
	watch
	for n in 1 2 3 4; do
		: >"$TMP/watch"
		in_host ip link set eth1 down
		settled
		if [ "$n" = 1 ]; then
			succeeds "link down: said" said ' blocked lhc: eth1 is down'
			equal "link down: the route went" "" "$(in_host ip route show 10.81.0.0/16)"
		fi
		BEGUN=$(now_ms)
		in_host ip link set eth1 up
		in_time "link up, $n of 4: restored" has_route
		[ "$n" -gt 1 ] || in_time "no address: it is said what the kernel refuses" said \
			' refused six route fd81::/32: absent -> .*; .*kernel refuses'
		[ "$n" -gt 1 ] || { settled; cp "$TMP/watch" "$TMP/watch.1"; }
	done
	settled
	equal "no address: it is said once" 1 "$(grep -c 'kernel refuses' "$TMP/watch.1")"
	equal "link up: of the last, and no other word" "1 1" \
		"$(lines ' restored lhc route') $(grep -vc ' blocked ' "$TMP/watch")"
	BEGUN=$(now_ms)
	in_host ip addr add fd78::1/64 dev eth1 nodad
	in_time "the address back: restored" said ' restored six route fd81::/32'
	as_set_up "flaps"
	watch_ends "flaps"
	works "flaps: undo" setup undo --quiet --all
	equal "flaps: no route of ours" "" "$(in_host ip route show proto 199)"
	equal "flaps: no state" "" "$(find "$CTCP_RUNDIR" -name '*.state')"
	host_end
}

# Without a carrier a manager takes the address, sooner or later, and with it goes the route;
# nobody undoes anything, so that it may be more than three times in a minute.
carrier()
{
	local n

	fresh carrier
	# shellcheck disable=SC2086
	setup $LHC --quiet eth1
	watch
	for n in 1 2 3 4; do
		in_host ip link set far1 down
		settled
		in_host ip addr del 10.78.0.1/24 dev eth1
		settled
		equal "no carrier, $n of 4: the route went" "" \
			"$(in_host ip route show 10.81.0.0/16)"
		in_host ip link set far1 up
		BEGUN=$(now_ms)
		in_host ip addr add 10.78.0.1/24 dev eth1
		in_time "carrier, $n of 4: restored" has_route
	done
	as_set_up "carrier"
	watch_ends "carrier"
	host_done "carrier"
}

# --- more than fits ----------------------------------------------------------

# flood add|del: far more notifications than fit into the watch's buffer of 4 MiB
flood()
{
	awk -v what="$1" 'BEGIN {
		for (i = 0; i < 20000; i++)
			printf "route %s 11.%d.%d.0/24 via 10.78.0.254\n", what, i / 256, i % 256
	}' | ip -n "$HOST" -batch -
}

# overrun COMMAND...: all that it does meanwhile does not fit, with this as its last
overrun()
{
	kill -STOP "$WATCH"
	"$@"
	: >"$TMP/watch"
}

# dropped PROTOCOL: how many of it did not fit into any socket; NETLINK_ROUTE is 0,
# NETLINK_GENERIC 16
dropped()
{
	in_host awk -v protocol="$1" '$2 == protocol { n += $9 } END { print n + 0 }' \
		/proc/net/netlink
}

# Stopped, it reads nothing.  What was lost may have been a link that went down and came up,
# so that nobody is blamed: it may be more than three times.
overruns()
{
	local n what=(add del add del)

	fresh overruns
	# shellcheck disable=SC2086
	setup $LHC --quiet eth1
	watch
	for n in 1 2 3 4; do
		overrun flood "${what[n - 1]}"
		in_host ip route del 10.81.0.0/16
		at_least "routes, $n of 4: notifications that did not fit" 1 "$(dropped 0)"
		BEGUN=$(now_ms)
		kill -CONT "$WATCH"
		in_time "routes, $n of 4: restored" has_route
		settled
	done
	overrun in_host circuit_nl fill 20000 >/dev/null
	in_host ctcp-setup circuit del lhc 2>/dev/null
	at_least "circuits: notifications that did not fit" 1 "$(dropped 16)"
	BEGUN=$(now_ms)
	kill -CONT "$WATCH"
	in_time "circuits: restored" said ' restored lhc circuit lhc: absent -> window'
	in_host circuit_nl fill 20000 del >/dev/null
	settled
	undone "heard after all of it" 'route 10.81.0.0/16: absent' ip route del 10.81.0.0/16
	undone "heard after all of it, of the module" 'circuit lhc: absent -> window' \
		ctcp-setup circuit del lhc
	watch_ends "overruns"
	host_done "overruns"
}

# Three times within a minute it is left; a command or a minute makes it good.
three_times()
{
	local n

	fresh three
	# shellcheck disable=SC2086
	setup $LHC --quiet eth1
	watch
	for n in 1 2; do
		BEGUN=$(now_ms)
		in_host ip route del 10.81.0.0/16
		in_time "undone, $n: restored" has_route
		settled
	done
	BEGUN=$(now_ms)
	in_host ip route del 10.81.0.0/16
	in_time "undone the third time: said" said ' left lhc route 10.81.0.0/16: absent -> .*3 times'
	settled
	equal "undone the third time: left" "" "$(in_host ip route show 10.81.0.0/16)"
	sleep 70
	in_host ip addr add 10.78.0.2/24 dev eth1
	settled
	equal "left for good" "" "$(in_host ip route show 10.81.0.0/16)"
	equal "left: said once" "1 2" "$(lines ' left ') $(lines ' restored ')"
	works "a command sets it" setup change lhc --quiet
	settled
	undone "undone after a command" 'route 10.81.0.0/16: absent' ip route del 10.81.0.0/16
	sleep 61
	undone "undone a minute later" 'route 10.81.0.0/16: absent' ip route del 10.81.0.0/16
	undone "undone, the second in a minute" 'route 10.81.0.0/16: absent' \
		ip route del 10.81.0.0/16
	watch_ends "three times"
	in_host ip addr del 10.78.0.2/24 dev eth1
	host_done "three times"
}

# --- commands beside it ----------------------------------------------------

commands()
{
	local n

	fresh commands
	watch
	matches "watch before any circuit" ' watching 0 circuits$' "$(<"$TMP/watch")"
	# shellcheck disable=SC2086
	works "add" setup $LHC --quiet eth1
	for n in 2 3 4; do
		works "change $n" setup change lhc --rate "${n}gbit" --quiet
	done
	# shellcheck disable=SC2086
	works "add of another" setup $SIX --quiet eth1
	works "del of it" setup del six --quiet
	settled
	equal "commands are no differences" 1 "$(wc -l <"$TMP/watch")"
	as_set_up "commands"
	BEGUN=$(now_ms)
	in_host ip route del 10.81.0.0/16
	in_time "of a circuit that came later: restored" has_route
	works "undo while it runs" setup undo --all --quiet
	settled
	unchanged "undo while it runs: all as before" "$BEFORE"
	watch_ends "commands"
	host_end
}

# The change on trial is not held against what is to come back, and nothing else is.
waiting()
{
	fresh waiting
	# shellcheck disable=SC2086
	setup $LHC --quiet eth1
	watch
	setup change lhc --rate 2gbit --confirm-within 10s --quiet
	settled
	equal "on trial: no difference" 1 "$(wc -l <"$TMP/watch")"
	BEGUN=$(now_ms)
	in_host ip route del 10.81.0.0/16
	in_time "undone while a change waits: said" said \
		' differs lhc route 10.81.0.0/16: absent -> .*waits for confirmation'
	equal "undone while a change waits: not restored" "" \
		"$(in_host ip route show 10.81.0.0/16)"
	BEGUN=$(now_ms)
	setup confirm --quiet
	in_time "confirmed: restored" has_route
	settled
	equal "confirmed: its rate" 250000000 "$(circuit_value lhc rate)"
	setup change lhc --rate 3gbit --confirm-within 2s --quiet
	sleep 6
	equal "not confirmed: back" 250000000 "$(circuit_value lhc rate)"
	equal "not confirmed: no difference" 1 "$(lines ' restored ')"
	as_set_up "waiting"
	watch_ends "waiting"
	host_done "waiting"
}

# With --say nothing is restored, and each difference said once.
only_said()
{
	fresh say
	# shellcheck disable=SC2086
	setup $LHC --quiet eth1
	watch --say
	BEGUN=$(now_ms)
	in_host ip route del 10.81.0.0/16
	in_time "--say: said" said ' differs lhc route 10.81.0.0/16: absent -> .*--say'
	in_host ip link set eth1 mtu 1400
	in_host ip link set eth1 mtu 1500
	settled
	equal "--say: not restored" "" "$(in_host ip route show 10.81.0.0/16)"
	equal "--say: said once" 1 "$(lines ' differs ')"
	watch_ends "--say"
	works "--say: the command again" setup change lhc --quiet
	as_set_up "--say"
	host_done "--say"
}

two()
{
	local first

	fresh two
	# shellcheck disable=SC2086
	setup $LHC --quiet eth1
	watch
	first=$WATCH
	cp "$TMP/watch" "$TMP/watch.1"
	spawn -e -n "$HOST" ctcp-setup watch >"$TMP/watch.2" 2>&1 &
	WATCH=$!
	defer "kill $WATCH"
	until_true 10 grep -q watching "$TMP/watch.2"
	BEGUN=$(now_ms)
	in_host ip route del 10.81.0.0/16
	in_time "two watches: restored" has_route
	settled
	equal "two watches: once" 1 \
		"$(cat "$TMP/watch" "$TMP/watch.2" | grep -c ' restored ')"
	as_set_up "two watches"
	watch_ends "the first" "$first"
	watch_ends "the second"
	host_done "two watches"
}

# What hangs while it holds the lock keeps the watch waiting, which says so.  As /run is, the
# folder is one in memory: of a lock on an overlay the kernel tells another device.
held()
{
	local holder

	mkdir -p "$CTCP_RUNDIR"
	mount -t tmpfs -o mode=755 none "$CTCP_RUNDIR"
	fresh held
	# shellcheck disable=SC2086
	setup $LHC --quiet eth1
	watch
	flock "$CTCP_RUNDIR/lock" sleep 25 &
	holder=$!
	until_true 2 is_locked
	in_host ip route del 10.81.0.0/16
	sleep 9
	equal "another at work for 9 s: no word" 1 "$(wc -l <"$TMP/watch")"
	sleep 11
	matches "another at work: said for whom it waits" \
		" waiting process $holder \(flock .* sleep 25\) has held the lock for 10 s; " \
		"$(<"$TMP/watch")"
	equal "another at work: said once" 2 "$(wc -l <"$TMP/watch")"
	wait "$holder"
	BEGUN=$(now_ms)
	in_time "another at work: it goes on then" has_route
	as_set_up "another at work"
	watch_ends "another at work"
	host_done "another at work"
	umount "$CTCP_RUNDIR"
}

# Killed in a run; the watch makes good what the next command would.
cut_short()
{
	local before

	fresh cut-short
	# shellcheck disable=SC2086
	setup $LHC --quiet eth1
	before=$(state)
	watch
	BEGUN=$(now_ms)
	# shellcheck disable=SC2086
	CTCP_DIE_AT=1 in_host ctcp-setup-faulty $SIX --quiet eth1
	in_time "cut short: said" said ' recovered an earlier run was cut short'
	settled
	unchanged "cut short: as before that run" "$before"
	watch_ends "cut short"
	host_done "cut short"
}

# A device that is made anew under its name begins anew.
another_one()
{
	fresh anew
	another_device eth2
	in_host ip addr add 10.79.0.1/24 dev eth2
	# shellcheck disable=SC2086
	setup ${LHC/10.78/10.79} --shaper tbf --quiet eth2
	watch
	in_host ip link del eth2
	until_true 2 said ' blocked lhc: there is no device eth2'
	succeeds "device gone: said" said ' blocked lhc: there is no device eth2'
	BEGUN=$(now_ms)
	another_device eth2
	in_host ip addr add 10.79.0.1/24 dev eth2
	in_time "device anew: the qdisc" said ' restored lhc qdisc eth2: '
	in_time "device anew: the route" said ' restored lhc route 10.81.0.0/16: '
	as_set_up "device anew"
	watch_ends "device anew"
	works "device anew: undo" setup undo --quiet eth2
	equal "device anew: no qdisc of ours" "" "$(root_qdisc eth2 | grep c7c0)"
	host_end
}

# --- apply --wait ----------------------------------------------------------

late_devices()
{
	local before

	fresh late
	# shellcheck disable=SC2086
	echo "${LHC/10.78/10.79} eth2" >"$TMP/circuits"
	before=$(state)
	BEGUN=$(now_ms)
	complains "apply --wait: the time is over" 1 'circuit lhc: there is no device eth2' \
		setup apply --wait 2s --quiet "$TMP/circuits"
	setup apply --wait 30s --quiet "$TMP/circuits" >"$TMP/late" 2>&1 &
	sleep 1
	unchanged "apply --wait: nothing yet" "$before"
	ip -n "$HOST" -batch - <<-END
		link add eth2 numtxqueues 1 type veth peer name far-eth2
		addr add 10.79.0.1/24 dev eth2
	END
	sleep 1
	equal "apply --wait: it is down" "" "$(configured)"
	BEGUN=$(now_ms)
	in_host ip link set eth2 up
	wait $!
	equal "apply --wait: it came, exit status" 0 $?
	at_most "apply --wait: ms after it was up" $IN_TIME $(($(now_ms) - BEGUN))
	equal "apply --wait: no word" "" "$(<"$TMP/late")"
	as_set_up "apply --wait"
	BEGUN=$(now_ms)
	works "apply --wait: all are there" setup apply --wait 30s --quiet "$TMP/circuits"
	at_most "apply --wait: all are there: ms" $IN_TIME $(($(now_ms) - BEGUN))
	complains "apply --wait without a unit" 2 '--wait: "60" has no unit' \
		setup apply --wait 60 "$TMP/circuits"
	complains "--wait elsewhere" 2 '"--wait" is not an option of diff' \
		setup diff --wait 60s "$TMP/circuits"
	complains "--say elsewhere" 2 '"--say" is not an option of apply' \
		setup apply --say "$TMP/circuits"
	works "apply --wait: undo" setup undo --quiet --all
	host_end
}

# --- apply --partial ---------------------------------------------------------

has_circuit()
{
	[ -n "$(circuit_value "$1" window)" ]
}

# left_out NAME COUNT [PATTERN...]: apply --partial leaves so many out, and says these
left_out()
{
	local name=$1 n=$2

	shift 2
	run setup apply --partial --quiet "$TMP/circuits"
	equal "$name: exit status" 5 "$RC"
	matches "$name: counted" "^ctcp-setup: $n of 3 circuits are left out" "$ERR"
	while [ $# -gt 0 ]; do
		matches "$name: said" "^note: $1.*: it is left out for now$" "$ERR"
		shift
	done
}

# One device is dead, and of another the gateway cannot be reached: the third has its circuit,
# and they have theirs as soon as they can.
partial()
{
	local late

	fresh partial
	another_device eth3
	cat >"$TMP/circuits" <<-END
		$LHC --shaper tbf eth1
		add ska --to 10.82.0.0/16 --via 10.79.0.254 --rate 1gbit --rtt 10ms eth2
		add esa --to 10.83.0.0/16 --via 10.99.0.254 --rate 1gbit --rtt 10ms eth3
	END
	complains "without --partial" 1 'circuit ska: there is no device eth2' \
		setup apply --quiet "$TMP/circuits"
	left_out "--partial" 2 'circuit ska: there is no device eth2' 'circuit esa: .*10.83.0.0/16'
	as_set_up "--partial"
	succeeds "--partial: the one that can be" has_route
	equal "--partial: it alone" lhc "$(setup list --json | jq -r '.[].name')"
	left_out "--partial once more" 2 'circuit ska: there is no device eth2'
	setup apply --partial --wait 60s --quiet "$TMP/circuits" >"$TMP/late" 2>&1 &
	late=$!
	sleep 1
	BEGUN=$(now_ms)
	ip -n "$HOST" -batch - <<-END
		link add eth2 numtxqueues 1 type veth peer name far-eth2
		addr add 10.79.0.1/24 dev eth2
		link set far-eth2 up
		link set eth2 up
	END
	in_time "--partial --wait: a device came" has_circuit ska
	as_set_up "--partial --wait: a device came"
	in_host ip addr add 10.99.0.1/24 dev eth3
	until_true 7 has_circuit esa
	succeeds "--partial --wait: a gateway came" has_circuit esa
	wait "$late"
	equal "--partial --wait: all came, exit status" 0 $?
	as_set_up "--partial --wait: all came"
	in_host ip link set eth2 down
	sed -i '/^add ska/s/1gbit/2gbit/; /^add esa/s/1gbit/3gbit/' "$TMP/circuits"
	left_out "--partial, a device down" 1 'circuit ska: eth2 is down'
	equal "--partial, a device down: it stays, and the other changes" "125000000 375000000" \
		"$(circuit_value ska rate) $(circuit_value esa rate)"
	in_host ip link set eth2 up
	works "--partial, it is up" setup apply --partial --quiet "$TMP/circuits"
	equal "--partial, it is up: it changes" 250000000 "$(circuit_value ska rate)"
	echo "add bad --rate 1gbit eth1" >>"$TMP/circuits"
	complains "--partial: a line that is wrong" 1 'line 4: --rtt is missing' \
		setup apply --partial "$TMP/circuits"
	complains "--partial with --confirm-within" 2 '--partial makes several changes' \
		setup apply --partial --confirm-within 5s "$TMP/circuits"
	complains "--partial elsewhere" 2 '"--partial" is not an option of diff' \
		setup diff --partial "$TMP/circuits"
	works "--partial: undo" setup undo --quiet --all
	host_end
}

# eth2_comes: another device than before
eth2_comes()
{
	another_device eth2
	in_host ip addr add 10.79.0.1/24 dev eth2
}

# loses_device NAME WORDS: lhc stood on eth2, which is gone, and six stands on eth1
loses_device()
{
	fresh anew
	eth2_comes
	cat >"$TMP/circuits" <<-END
		${LHC/10.78/10.79} $2 eth2
		$SIX eth1
	END
	works "$1: before" setup apply --quiet "$TMP/circuits"
	in_host ip link del eth2
}

# apply_anew NAME WORDS: what stands in the state and is alike, but has lost its device, is
# refused while there is none, and set up on the next of that name.
apply_anew()
{
	local name="apply, $1, a device anew"

	loses_device "$name" "$2"
	complains "$name: it is gone" 1 'circuit lhc: there is no device eth2' \
		setup apply --quiet "$TMP/circuits"
	complains "$name: it is gone, diff" 4 'circuit lhc: there is no device eth2' \
		setup diff "$TMP/circuits"
	run setup apply --partial --quiet "$TMP/circuits"
	equal "$name: it is gone, --partial: exit status" 5 "$RC"
	matches "$name: it is gone, --partial: said" '^note: circuit lhc: there is no device eth2' "$ERR"
	eth2_comes
	run setup diff "$TMP/circuits"
	equal "$name: diff: exit status" 1 "$RC"
	works "$name: it has come" setup apply --quiet "$TMP/circuits"
	as_set_up "$name: it has come"
	in_host ip link del eth2
	setup apply --partial --wait 60s --quiet "$TMP/circuits" >"$TMP/late" 2>&1 &
	sleep 1
	eth2_comes
	wait $!
	equal "$name: --partial waits for it, exit status" 0 $?
	matches "$name: --partial waits for it: said" '^note: circuit lhc: there is no device eth2' \
		"$(<"$TMP/late")"
	as_set_up "$name: --partial waits for it"
	in_host ip link set eth2 down
	says "$name: it is down" 1 'circuit lhc: eth2 is down' \
		setup apply --quiet "$TMP/circuits"
	in_host ip link set eth2 up
	works "$name: it is up" setup apply --quiet "$TMP/circuits"
	as_set_up "$name: it is up"
	works "$name: undo" setup undo --quiet --all
	host_end
}

# anew_among NAME WORDS: as then, and a run has left lhc out before another eth2 came
anew_among()
{
	loses_device "$1" "$2"
	run setup apply --partial --quiet "$TMP/circuits"
	equal "$1: without the device: exit status" 5 "$RC"
	eth2_comes
}

# What is somebody's on the other device, or has the circuit's name, is refused by its name.
anew_foreign()
{
	local shaper

	for shaper in tbf htb; do
		anew_among "device anew, $shaper, somebody's root" "--shaper $shaper"
		in_host tc qdisc add dev eth2 root handle 7: pfifo limit 7
		complains "device anew, $shaper, somebody's root: apply" 1 \
			'eth2 has a root qdisc of somebody else.s, pfifo 7:' \
			setup apply --quiet "$TMP/circuits"
		run setup apply --partial --quiet "$TMP/circuits"
		equal "device anew, $shaper, somebody's root: --partial: exit status" 5 "$RC"
		matches "device anew, $shaper, somebody's root: it stays" 'pfifo 7:.*limit 7p' \
			"$(root_qdisc eth2)"
		in_host tc qdisc del dev eth2 root
		works "device anew, $shaper, it is gone" setup apply --quiet "$TMP/circuits"
		as_set_up "device anew, $shaper, it is gone"
		setup undo --quiet --all
		host_end
	done
	anew_among "device anew, watch" "--shaper tbf"
	in_host ip link del eth2
	watch
	ip -n "$HOST" link add eth2 numtxqueues 1 type veth peer name far-eth2
	in_host tc qdisc add dev eth2 root handle 7: pfifo limit 7
	ip -n "$HOST" -batch - <<-END
		addr add 10.79.0.1/24 dev eth2
		link set far-eth2 up
		link set eth2 up
	END
	until_true 3 said ' differs lhc qdisc eth2'
	settled
	watch_ends "device anew, watch"
	complains "device anew, somebody's root, after watch: apply" 1 \
		'eth2 has a root qdisc of somebody else.s, pfifo 7:' \
		setup apply --quiet "$TMP/circuits"
	setup undo --quiet --all
	host_end
	anew_among "device anew, somebody's circuit" "--shaper tbf"
	in_host circuit_nl new lhc prefix 10.99.0.0/16 window 10
	complains "device anew, somebody's circuit: apply" 1 'there is a circuit lhc that no state' \
		setup apply --quiet "$TMP/circuits"
	in_host circuit_nl del lhc
	setup undo --quiet --all
	host_end
}

# A route that was there before the circuit, and that its owner has set on the other device
anew_route()
{
	local route="10.81.0.0/16 via 10.79.0.254 dev eth2"

	fresh anew-route
	eth2_comes
	# shellcheck disable=SC2086 # its words
	in_host ip route add $route
	echo "${LHC/10.78/10.79} --shaper tbf eth2" >"$TMP/circuits"
	works "device anew, a route of before" setup apply --quiet "$TMP/circuits"
	in_host ip link del eth2
	eth2_comes
	# shellcheck disable=SC2086
	in_host ip route add $route
	works "device anew, a route of before: apply" setup apply --quiet "$TMP/circuits"
	as_set_up "device anew, a route of before"
	setup undo --quiet --all
	in_host ip route replace 10.81.0.0/16 via 10.79.0.254 dev eth2 congctl circuit
	works "a route that was as wanted before" setup apply --quiet "$TMP/circuits"
	in_host ip route replace 10.81.0.0/16 via 10.78.0.254 dev eth1
	setup apply --quiet "$TMP/circuits"
	matches "a route that was as wanted before: led elsewhere, it stays" 'via 10.78.0.254' \
		"$(in_host ip route show 10.81.0.0/16)"
	setup undo --quiet --all
	host_end
}

buffers()
{
	value net.ipv4.tcp_rmem
	value net.ipv4.tcp_wmem
}

# What a circuit needs that is left out, or whose device is down, stays; and one that does not
# fit its device any more keeps no other from being changed.
left_as_it_is()
{
	local before

	fresh left
	eth2_comes
	cat >"$TMP/circuits" <<-END
		add lhc --to 10.81.0.0/16 --via 10.79.0.254 --rate 10gbit --rtt 10ms --mss 1400 --shaper tbf eth2
		$SIX eth1
	END
	works "left out" setup apply --quiet "$TMP/circuits"
	before=$(buffers)
	sed 's/10.79.0.254/10.99.0.254/' "$TMP/circuits" >"$TMP/unreachable"
	run setup apply --partial --quiet "$TMP/unreachable"
	equal "left out: exit status" 5 "$RC"
	equal "left out: the buffers" "$before" "$(buffers)"
	as_set_up "left out"
	in_host ip link set eth2 down
	in_host ip addr flush dev eth2
	in_host ip link set eth2 up
	sed '/^add six/s/1gbit/3gbit/' "$TMP/circuits" >"$TMP/six"
	run setup apply --partial --quiet "$TMP/six"
	equal "the kernel refuses its route: exit status" 5 "$RC"
	equal "the kernel refuses its route: another changes" 375000000 "$(circuit_value six rate)"
	in_host ip addr add 10.79.0.1/24 dev eth2
	works "its address is there again" setup apply --quiet "$TMP/circuits"
	as_set_up "its address is there again"
	in_host ip link set eth2 mtu 1300
	sed -i '/^add six/s/1gbit/2gbit/' "$TMP/circuits"
	works "no longer fits its device: another changes" setup apply --quiet "$TMP/circuits"
	matches "no longer fits its device: said" \
		'^note: circuit lhc: --mss: 1400 does not fit .*; what was set up stays' \
		"$(setup apply "$TMP/circuits")"
	equal "no longer fits its device: the other has changed" 250000000 "$(circuit_value six rate)"
	in_host ip link set eth2 mtu 1500
	in_host ip link set eth2 down
	run setup apply --partial --quiet "$TMP/circuits"
	equal "its device is down: exit status" 5 "$RC"
	equal "its device is down: the buffers" "$before" "$(buffers)"
	in_host ip link del eth2
	eth2_comes
	in_host ip link set eth2 mtu 1300
	complains "does not fit the next device" 1 'circuit lhc: --mss: 1400 does not fit' \
		setup apply --quiet "$TMP/circuits"
	run setup apply --partial --quiet "$TMP/circuits"
	equal "does not fit the next device: --partial: exit status" 5 "$RC"
	in_host ip link set eth2 mtu 1500
	works "it fits" setup apply --quiet "$TMP/circuits"
	as_set_up "it fits"
	setup undo --quiet --all
	host_end
}

# What somebody has in the place of one circuit, or of all on a device, is theirs.
partial_foreign()
{
	fresh foreign
	another_device eth3
	in_host ip addr add 10.79.0.1/24 dev eth3
	in_host tc qdisc add dev eth3 root handle 7: netem limit 1000
	cat >"$TMP/circuits" <<-END
		$LHC --shaper tbf eth1
		add ska --to 10.82.0.0/16 --via 10.79.0.254 --rate 1gbit --rtt 10ms --shaper htb eth3
		add esa --to 10.83.0.0/16 --via 10.79.0.254 --rate 1gbit --rtt 10ms --shaper htb eth3
	END
	left_out "--partial, a root qdisc of somebody's" 2 \
		'circuit ska: eth3 has a root qdisc of somebody else.s, netem 7:' \
		'circuit esa: eth3 has a root qdisc of somebody else.s, netem 7:'
	as_set_up "--partial, a root qdisc of somebody's"
	equal "--partial, a root qdisc of somebody's: the other device's alone" lhc \
		"$(setup list --json | jq -r '.[].name')"
	matches "--partial, a root qdisc of somebody's: it stays" "qdisc netem 7: root" \
		"$(in_host tc qdisc show dev eth3)"
	in_host tc qdisc del dev eth3 root
	in_host circuit_nl new esa prefix 10.99.0.0/16 window 10
	left_out "--partial, a circuit of somebody's" 1 'circuit esa: there is a circuit esa'
	as_set_up "--partial, a circuit of somebody's"
	equal "--partial, a circuit of somebody's: the others" "lhc ska" \
		"$(setup list --json | jq -r '.[].name' | sort | xargs)"
	in_host circuit_nl del esa
	works "--partial, it is gone" setup apply --partial --quiet "$TMP/circuits"
	works "--partial, foreign: undo" setup undo --quiet --all
	host_end
}

# What does not fit beside the others of the file is left out, and they are set up.
partial_over()
{
	local more="--via 10.79.0.254 --rtt 10ms --shaper htb --uplink 1gbit"

	fresh over
	another_device eth3
	in_host ip addr add 10.79.0.1/24 dev eth3
	cat >"$TMP/circuits" <<-END
		add lhc --to 10.81.0.0/16 --rate 600mbit $more eth3
		add ska --to 10.82.0.0/16 --rate 600mbit $more eth3
		add esa --to 10.83.0.0/16 --rate 300mbit $more eth3
	END
	left_out "--partial, too much for the uplink" 1 \
		'circuit ska: --rate: with circuit ska those on eth3 have 1.5gbit, more than the 1gbit of its uplink'
	as_set_up "--partial, too much for the uplink"
	equal "--partial, too much for the uplink: the others" "esa lhc" \
		"$(setup list --json | jq -r '.[].name' | sort | xargs)"
	sed -i 's/^\(add ska .*\)--uplink 1gbit/\1--uplink 2gbit/' "$TMP/circuits"
	left_out "--partial, another uplink" 1 'circuit ska: --uplink: 2gbit of circuit ska is not the 1gbit'
	sed -i '/^add ska /s/2gbit/1gbit/; /^add ska /s/600mbit/100mbit/' "$TMP/circuits"
	works "--partial, it fits" setup apply --partial --quiet "$TMP/circuits"
	works "--partial, too much: undo" setup undo --quiet --all
	host_end
}

neighbours
reloaded
classes
halves
routes
flaps
carrier
overruns
three_times
commands
waiting
only_said
odd_name
two
held
cut_short
another_one
late_devices
partial
apply_anew tbf "--shaper tbf"
apply_anew htb "--shaper htb"
apply_anew none "--shaper none --pace"
apply_anew "shaper not named" ""
anew_foreign
anew_route
left_as_it_is
partial_foreign
partial_over
finish
