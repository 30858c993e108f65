#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# ctcp-setup watch beside commands: what they do is no difference, what they left undone is
# made good.  Nor does a second watch set anything twice, and --say sets nothing.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
. "$SELFTESTS/watch_lib.sh"

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

is_locked()
{
	! flock -n "$CTCP_RUNDIR/lock" true
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
	# shellcheck disable=SC2034 # of watch_lib.sh
	BEGUN=$(now_ms)
	# shellcheck disable=SC2086
	CTCP_DIE_AT=1 in_host ctcp-setup-faulty $SIX --quiet eth1
	in_time "cut short: said" said ' recovered an earlier run was cut short'
	settled
	unchanged "cut short: as before that run" "$before"
	watch_ends "cut short"
	host_done "cut short"
}

cases commands waiting only_said two held cut_short
finish
