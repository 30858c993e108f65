#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# ctcp-setup watch: what neighbours undo of the circuits is set again within a second, or
# said where it may not be, and is left where it was undone three times within a minute.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
. "$SELFTESTS/watch_lib.sh"

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

# --- what neighbours do ------------------------------------------------------

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

# plain_route: ours without its algorithm is set again
plain_route()
{
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
}

# other_route: one in the place of ours, or before it, is somebody's
other_route()
{
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
}

# unheard: nobody tells of a sysctl, and a route of others is no reason to look
unheard()
{
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
}

routes()
{
	fresh routes
	another_device eth2
	in_host ip addr add 10.79.0.1/24 dev eth2
	# shellcheck disable=SC2086
	setup $LHC --quiet eth1
	watch --json
	plain_route
	other_route
	unheard
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
	# shellcheck disable=SC2034 # of watch_lib.sh
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

# --- again and again ---------------------------------------------------------

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
	# shellcheck disable=SC2034 # of watch_lib.sh
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

cases neighbours reloaded classes halves routes flaps carrier odd_name another_one \
	overruns three_times
finish
