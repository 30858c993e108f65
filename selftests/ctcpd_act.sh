#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml root
#
# ctcpd in `mode = act`: unaided it finds the remote that is overrun and the rate that this one
# takes, and leaves the other alone; the next transfer is paced from its first byte on; a
# restart loses nothing and sets nothing twice; what somebody else changes or sets up is stood
# down from, once; where what it keeps cannot be written it says so, and what is paced stays; in
# `observe` it says what it would do, and does nothing.
#
# The network is that of ctcpd_lib.sh: the sender's way carries four times what the slow one takes.
# What is delivered decides, which an emulated machine delivers as it can: there the hands are
# tried by command (ctcpd_hands.sh).

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/ctcpd_lib.sh"
need_root
need_commands ctcpd ctcp-setup circuit_sock jq tc
need_module

export CTCP_RUNDIR=$TMP/state
HISTORY=$TMP/history/history.db
MODE=observe

# --- the daemon and its flows ---------------------------------------------------------

configure()
{
	printf '%s\n' '[ctcpd]' "mode = $MODE" 'poll = 1s' 'min-rtt = none' '[history]' \
		"file = $HISTORY" >"$TMP/ctcpd.conf"
}

# mode_becomes MODE: by SIGHUP
mode_becomes()
{
	MODE=$1
	configure
	kill -HUP $DAEMON
	eventually 20 value_is .config.mode "$1"
}

# Beside it one that has nothing to send, as those of iperf3 and FTP that control a transfer
control_begins()
{
	# shellcheck disable=SC2016 # the inner shell's
	background src bash -c 'exec 3<>"/dev/tcp/$0/$1" && echo hello >&3 && exec sleep 100000' \
		$SLOW4 $PORT
	defer "kill $!"
}

# --- what the kernel has ----------------------------------------------------------------

device()
{
	in_src tc qdisc show dev eth1
	in_src tc class show dev eth1
	in_src ip -o link show dev eth1 | grep -o 'qlen [0-9]*'
}

classes()
{
	in_src tc class show dev eth1 | sort
}

# Of the one remote that is paced
class()
{
	in_src tc -s class show dev eth1 | grep -A 1 '^class htb c7c0:1 '
}

# kbit
class_rate()
{
	class | sed -n 's/.* rate \([0-9]*\)Mbit .*/\1000/p; s/.* rate \([0-9]*\)Kbit .*/\1/p'
}

class_bytes()
{
	class | sed -n 's/.*Sent \([0-9]*\) bytes.*/\1/p'
}

is_paced()
{
	class | grep -q rate
}

is_not_paced()
{
	! is_paced
}

# field NAME: of the stream to the slow one
of_stream()
{
	in_src ss -tinH dst $SLOW4 | grep -o " $1:[0-9/]*" | sed 's/.*[:\/]//' | sort -n | tail -1
}

# --- observe -----------------------------------------------------------------------------

observes()
{
	local before

	before=$(device)
	configure
	begin
	matches "observe: said at the beginning" 'observes; it changes nothing' "$(<"$LOG")"
	background src circuit_sock send -n 100000000000 $DST4 $PORT >/dev/null 2>&1
	defer "kill $!"
	slow_begins
	eventually 180 grep -q "$SLOW4: would be paced" "$LOG"
	equal "observe: it says what it would do" 1 "$(logged "$SLOW4: would be paced at [0-9.]+mbit: ")"
	polls
	equal "observe: once" 1 "$(logged "$SLOW4: would be paced")"
	equal "observe: of the other nothing" 0 "$(logged "$DST4: would")"
	equal "observe: nothing is changed" "$before" "$(device)"
	equal "observe: no state of ctcp-setup" 0 "$(find "$CTCP_RUNDIR" -name '*.state' 2>/dev/null | wc -l)"
}

# --- act ---------------------------------------------------------------------------------

# the_rate KBIT: that the slow one takes, or where time is not virtual, one that it delivered
the_rate()
{
	if in_virtual_time; then
		within "act: the rate, kbit" 10000 "$1" 300
	else
		at_least "act: the rate, kbit" 1000 "$1"
		at_most "act: the rate, kbit, is none above what it takes" 10300 "$1"
	fi
}

paces()
{
	local at

	at=$(lines)
	mode_becomes act
	succeeds "act: it is paced" says_since 30 "$at" "$SLOW4: paced at"
	matches "act: said" 'paces what is overrun' "$(<"$LOG")"
	succeeds "act: a class" is_paced
	eventually 300 was_said_since "$at" "$SLOW4: (kept|paced) at .* hardly retransmits"
	at_least "act: a rate is found" 1 "$(said_since "$at" "$SLOW4: .* hardly retransmits")"
	succeeds "act: what it was before is in the line" was_said_since "$at" \
		'hardly retransmits; [0-9.]+% resent before, [0-9.e-]+% now'
	the_rate "$(class_rate)"
	equal "act: the other has no class" 2 "$(classes | wc -l)"
	equal "act: of the other the log has nothing" 0 "$(logged "$DST4: (paced|would)")"
}

# What overran the receiver before does so no more, and carries what it takes: of 17,000 segments,
# of which 0.4 % were sent again before, none is.
proves()
{
	local again acked began

	# what was tried last may have lost, and left the buffer full
	polls
	again=$(of_stream retrans)
	acked=$(of_stream bytes_acked)
	began=$(date +%s%N)
	sleep 20
	again=$(($(of_stream retrans) - again))
	acked=$(($(of_stream bytes_acked) - acked))
	in_virtual_time || return 0
	equal "20 s: sent again" 0 "$again"
	# bytes that 10 mbit carry in that time, of 1448 in 1514
	at_least "20 s: 97 % of what it takes" \
		$(($(($(date +%s%N) - began)) / 800 * 1448 / 1514 * 97 / 100)) "$acked"
}

shown()
{
	matches "ctcp-setup list: whose it is" 'ctcpd' "$(in_src ctcp-setup list)"
	equal "ctcp-setup show: whose it is" ctcpd \
		"$(in_src ctcp-setup show --json | jq -r '[.. | .owner? // empty][0]')"
	succeeds "ctcp-setup verify: as it is" in_src ctcp-setup verify
}

next_transfer()
{
	local before

	slow_ends
	polls
	before=$(class_bytes)
	in_src circuit_sock send -n 3000000 $SLOW4 $PORT >/dev/null
	at_least "the next transfer: all of it is paced" 3000000 $(($(class_bytes) - before))
	slow_begins
}

# --- restarts ----------------------------------------------------------------------------

# restarts SIGNAL: what the kernel has is neither set again nor lost
restarts()
{
	local before bytes at

	before=$(classes)
	bytes=$(class_bytes)
	at=$(lines)
	end "$1"
	equal "$1: it stays paced" "$before" "$(classes)"
	begin
	polls
	equal "$1: the same class" "$before" "$(classes)"
	equal "$1: nothing is set once more" 0 "$(said_since "$at" "$SLOW4: .*paced")"
	at_least "$1: its counters go on" "$bytes" "$(class_bytes)"
}

restart_of_both_kinds()
{
	restarts TERM
	equal "TERM: exit status" 0 $ENDED
	restarts KILL
}

# The kernel has forgotten it, the history has not: paced before a byte goes there
reboot()
{
	slow_ends
	end TERM
	in_src ctcp-setup undo --all --quiet
	equal "a reboot: nothing is paced" 0 "$(classes | wc -l)"
	begin
	succeeds "a reboot: it is paced before it sends" eventually 20 is_paced
	slow_begins
}

# --- somebody else -------------------------------------------------------------------------

# As on a machine that knows nothing of it
find_anew()
{
	local at

	ask forget 10.77.0.0/16 >/dev/null
	at=$(lines)
	eventually 180 was_said_since "$at" "$SLOW4: paced at" || fail "it is paced again" "$(<"$LOG")"
}

changed_by_hand()
{
	local at

	at=$(lines)
	in_src tc class change dev eth1 classid c7c0:1 htb rate 5mbit
	succeeds "changed by hand: said" says_since 20 "$at" \
		"$SLOW4: not paced by ctcpd, and left alone for 24 h: class .*5mbit.*"
	polls
	equal "changed by hand: once" 1 "$(said_since "$at" "left alone")"
	matches "changed by hand: as he has it" 'rate 5Mbit' "$(class)"
	equal "changed by hand: no circuit of ours" "" "$(in_src ctcp-setup list --json | jq -r '.[].name')"
	in_src ctcp-setup undo --all --force --quiet
	find_anew
}

administrator()
{
	local at

	at=$(lines)
	in_src ctcp-setup add lhc --to 10.99.0.0/16 --shaper htb --via 10.77.1.254 --rate 30mbit \
		--rtt 20ms --quiet eth1 || fail "an administrator adds a circuit"
	succeeds "an administrator's circuit: said" says_since 20 "$at" 'an administrator'
	polls
	equal "an administrator's circuit: once" 1 "$(said_since "$at" 'an administrator')"
	equal "an administrator's circuit: ours is gone" lhc \
		"$(in_src ctcp-setup list --json | jq -r '.[].name')"
	# also where it is found once more
	ask forget 10.77.0.0/16 >/dev/null
	succeeds "an administrator's circuit: why it is not paced" says_since 180 "$at" \
		'eth1 has circuit lhc, which an administrator set up'
	polls
	equal "an administrator's circuit: tried once" 1 "$(said_since "$at" 'eth1 has circuit lhc')"
	in_src ctcp-setup undo --all --quiet
	find_anew
}

# As by a ctcp-setup that hangs
held_up()
{
	local at holder

	at=$(lines)
	flock -F "$CTCP_RUNDIR/lock" sleep 1000 &
	holder=$!
	defer "kill $holder"
	succeeds "held up: said" says_since 40 "$at" \
		'pacing stays as it is, for [0-9]+ s by now: another ctcp-setup is at work'
	polls
	equal "held up: once" 1 "$(said_since "$at" 'pacing stays as it is')"
	equal "held up: not yet over" 0 "$(said_since "$at" 'pacing goes on')"
	kill $holder
	succeeds "held up: over" says_since 20 "$at" 'pacing goes on: what held it up lasted [0-9]+ s'
	succeeds "held up: it is paced all the time" is_paced
}

# What is kept of it lies on a disk that is full: what is paced stays so
disk_is_full()
{
	local at

	at=$(lines)
	dd if=/dev/zero of="$CTCP_RUNDIR/fill" bs=4k >/dev/null 2>&1
	ask forget $SLOW4 >/dev/null
	succeeds "a full disk: said" says_since 20 "$at" \
		'pacing by classes cannot be changed: .*No space left.*; what is paced stays so'
	polls
	equal "a full disk: once" 1 "$(said_since "$at" 'cannot be changed')"
	matches "a full disk: status" 'pacing by classes cannot be changed: .*No space left' \
		"$(ask status)"
	matches "a full disk: status --json" 'No space left' "$(value .pacing.changes_error)"
	equal "a full disk: it acts" acts "$(value .pacing.state)"
	succeeds "a full disk: it stays paced" is_paced
	rm "$CTCP_RUNDIR/fill"
	succeeds "space again: what was forgotten is taken back" eventually 20 is_not_paced
	equal "space again: status" null "$(value .pacing.changes_error)"
	find_anew
}

acts_again()
{
	value_is .pacing.state acts
}

# One that is begun where nothing can be kept has no lock
disk_is_read_only()
{
	local at before

	end TERM
	before=$(classes)
	at=$(lines)
	mount -o remount,ro "$CTCP_RUNDIR" || fail "the disk becomes read-only"
	begin
	succeeds "a disk that is read-only: said" says_since 20 "$at" \
		'cannot be changed: .*Read-only file system; what is paced stays so'
	succeeds "a disk that is read-only: it does not say that it paces" \
		was_said_since "$at" 'observes, as it cannot pace; what is paced stays so'
	polls
	equal "a disk that is read-only: once" 1 "$(said_since "$at" 'by classes cannot be changed')"
	matches "a disk that is read-only: status" \
		'cannot act, though mode = act: .*Read-only file system' "$(ask status)"
	equal "a disk that is read-only: status --json" cannot-act "$(value .pacing.state)"
	equal "a disk that is read-only: what is paced stays so" "$before" "$(classes)"
	mount -o remount,rw "$CTCP_RUNDIR"
	# the daemon's own mounts are as they were when it was begun
	nsenter --target $DAEMON --mount mount -o remount,rw "$CTCP_RUNDIR"
	succeeds "it is writable again: it acts" eventually 20 acts_again
	succeeds "it is writable again: said" says_since 20 "$at" 'paces what is overrun'
	equal "it is writable again: the same classes" "$before" "$(classes)"
	equal "it is writable again: nothing is set once more" 0 "$(said_since "$at" "$SLOW4: .*paced")"
}

forgets()
{
	equal "forget: how many were paced" 1 "$(ask forget $SLOW4 --json | jq .paced)"
	succeeds "forget: it is not paced" eventually 10 is_not_paced
	find_anew
}

takes_back()
{
	local at

	at=$(lines)
	mode_becomes observe
	succeeds "act to observe: said" says_since 20 "$at" '1 remotes or subnets are not paced any more'
	equal "act to observe: the device is as before" "$DEVICE" "$(device)"
	polls
	equal "act to observe: it stays so" "$DEVICE" "$(device)"
}

# Last, as no flow outlives it: what comes back is a device of its name, without addresses.
device_goes()
{
	local at

	mode_becomes act
	eventually 30 is_paced || fail "a device goes: it is paced before" "$(<"$LOG")"
	at=$(lines)
	ip -n "$SRC" link del eth1
	succeeds "a device is gone: said" says_since 20 "$at" \
		'eth1 is gone: 1 remote is not paced until it is back'
	polls
	matches "a device is gone: why" 'nothing can be paced on eth1.*: it is gone' \
		"$(ask why $SLOW4)"
	matches "a device is gone: status" 'eth1: nothing is paced: it is gone, and 1 remote is' \
		"$(ask status)"
	wire "$SRC" eth1 "$RTR" r1
	succeeds "a device is back: said" says_since 20 "$at" 'eth1 is back: 1 remote is paced again'
	equal "a device is back: its class, and that of all else" 2 "$(classes | wc -l)"
	polls
	equal "a device is back: each is said once" "1 1" \
		"$(said_since "$at" 'eth1 is gone') $(said_since "$at" 'eth1 is back')"
	equal "a device is back: the remote has no line" 0 "$(said_since "$at" "$SLOW4: .*paced")"
	succeeds "a device is back: ctcp-setup verify" in_src ctcp-setup verify
}

network 10
second_remote
delay 10 rate 40mbit
serve dst
serve_slow
control_begins
DEVICE=$(device)
mkdir "$CTCP_RUNDIR"
mount -t tmpfs -o size=256k,mode=755 state "$CTCP_RUNDIR"
defer "umount $CTCP_RUNDIR"
cases observes paces proves shown next_transfer restart_of_both_kinds reboot changed_by_hand \
	administrator held_up disk_is_full disk_is_read_only forgets takes_back device_goes
end TERM
equal "at the end: exit status" 0 $ENDED
finish
