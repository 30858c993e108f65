#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# ctcp-setup circuit sets, lists and deletes circuits without a plan, and what it
# lists are words that it takes; ctcp-setup monitor tells what becomes of circuits,
# as it happens and in the order in which it does.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands ctcp-setup jq
need_module

EVENTS=$TMP/events

# --- circuits ----------------------------------------------------------------

# all_of NAME: as the kernel tells of it
all_of()
{
	configured | grep "^name=$1 "
}

circuits()
{
	local before before_list list

	host circuits
	another_device eth2
	before=$(state)
	works "list of none" setup circuit list
	equal "list of none" "" "$OUT"
	works "set" setup circuit set lab prefix 192.0.2.0/24 prefix 2001:db8::/32 window 1000
	matches "set: what the kernel has" \
		'prefixes=192.0.2.0/24,2001:db8::/32 window=1000 rate=0 ifindex=0 mark=0 flags=0$' \
		"$(all_of lab)"
	works "set again" setup circuit set lab prefix ::/0 window 20 rate 622.08mbit \
		dev eth2 mark 7 unpaced
	matches "set again: in its place" \
		"prefixes=::/0 window=20 rate=77760000 ifindex=[1-9][0-9]* mark=7 flags=2$" \
		"$(all_of lab)"
	works "set of another" setup circuit set "it's;\$HOME" prefix 192.0.2.7 window 1
	works "list" setup circuit list
	list=$OUT
	same "list: the words of set" \
		"'it'\\''s;\$HOME' prefix 192.0.2.7/32 window 1
lab prefix ::/0 window 20 rate 622080000bit dev eth2 mark 7 unpaced" "$(sort <<<"$OUT")"
	before_list=$(configured)
	setup circuit del lab
	setup circuit del "it's;\$HOME"
	unchanged "del of both: all as before" "$before"
	run in_host sh -e -c "$(sed 's/^/ctcp-setup circuit set /' <<<"$list")"
	equal "the list as commands" "0 " "$RC $ERR"
	same "the list as commands: the same circuits" "$before_list" "$(configured)"
	host_end
}

# --- events ------------------------------------------------------------------

# watch [OPTION...]: in the background
watch()
{
	spawn -e -n "$HOST" ctcp-setup monitor "$@" >"$EVENTS" 2>"$TMP/watch.err" &
	WATCH=$!
	until_true 10 watching
}

# It has subscribed, when what it is told of comes.
# shellcheck disable=SC2317 # called by until_true
watching()
{
	in_host circuit_nl new probe prefix 203.0.113.0/24 window 1
	in_host circuit_nl del probe
	grep -q probe "$EVENTS"
}

# event NAME PATTERN: it comes, at the end of a line
event()
{
	until_true 10 grep -qE -- "$2" "$EVENTS"
	matches "$1" "$2" "$(grep -v probe "$EVENTS")"
}

# watch_end SIGNAL: it ends well
watch_end()
{
	kill "-$1" $WATCH
	wait $WATCH
	equal "$1 ends it: exit status, message" "0 " "$? $(<"$TMP/watch.err")"
}

events()
{
	host events
	watch
	setup --quiet --rate 4gbit --rtt 26ms --pace eth1
	event "a run" ' added eth1: window 11163, rate 4gbit, to 0.0.0.0/0, ::/0 by eth1$'
	setup --quiet --rate 2gbit --rtt 26ms eth1
	event "another run" ' changed eth1: window 11163 -> 5582, rate 4gbit -> 2gbit, flags none -> unpaced$'
	setup undo --quiet eth1
	event "undo" ' removed eth1$'
	matches "each with its time" \
		'^[0-9]{4}(-[0-9]{2}){2}T([0-9]{2}:){2}[0-9]{2}\.[0-9]{3}[+-][0-9]{4} removed eth1$' \
		"$(<"$EVENTS")"
	equal "in their order" "added changed removed" \
		"$(grep ' eth1' "$EVENTS" | cut -d ' ' -f 2 | paste -sd ' ')"
	watch_end TERM
	watch --json
	setup circuit set lab prefix 192.0.2.0/24 window 10
	setup circuit set lab prefix 192.0.2.0/25 window 10
	setup circuit del lab
	event "--json: the last" '"event":"removed".*lab|lab.*"event":"removed"'
	same "--json: an object a line" "added lab 10
changed lab 10 prefixes 192.0.2.0/24 -> 192.0.2.0/25
removed lab 10" "$(grep -v probe "$EVENTS" |
		jq -r '"\(.event) \(.name) \(.fcwnd_segments) \(.changes // "")"' |
		sed 's/ *$//')"
	watch_end INT
	host_end
}

# The owner of the namespace may say there what the kernel says, and is not believed.
forged()
{
	host forged
	watch
	in_host circuit_nl gone
	setup circuit set lab prefix 192.0.2.0/24 window 10
	event "the module is gone, says somebody: it goes on" ' added lab: window 10'
	watch_end TERM
	host_end
}

# Stopped, it reads nothing, and the kernel keeps what fits into its buffer of 4 MiB:
# a changed circuit is a message of half a kilobyte at least.  What fitted is told first, in
# its order; what did not, as the last change of c0, is what the next one is held against.
overrun()
{
	host overrun
	watch
	kill -STOP $WATCH
	in_host circuit_nl fill 20000 >/dev/null
	in_host circuit_nl fill 1 del >/dev/null
	setup circuit set c0 prefix 192.0.2.0/25 window 10
	kill -CONT $WATCH
	event "too many for its buffer" ' lost: events came faster than they were read'
	setup circuit set c0 prefix 192.0.2.0/25 window 11
	event "what was lost is known" ' changed c0: window 10 -> 11$'
	matches "what fitted is told before" ' added c0: ' "$(sed '/ lost: /q' "$EVENTS")"
	equal "nothing of it is told behind that" 0 \
		"$(sed '1,/ lost: /d' "$EVENTS" | grep -c ' added c[0-9]')"
	setup circuit set lab prefix 192.0.2.0/24 window 10
	event "it goes on" ' added lab: window 10'
	watch_end TERM
	host_end
}

# The module goes: nothing more will come.
unloaded()
{
	without_module || {
		skip "the module unloaded" "it is in use on this machine"
		return
	}
	modprobe tcp_circuit
	host unloaded
	watch
	modprobe -r tcp_circuit
	wait $WATCH
	equal "unloaded: exit status" 1 "$?"
	matches "unloaded: says so" 'ctcp-setup: module tcp_circuit was unloaded' \
		"$(<"$TMP/watch.err")"
	matches "unloaded: a line, too" ' unloaded: the module is gone$' "$(<"$EVENTS")"
	host_end
}

circuits
events
forged
overrun
unloaded
finish
