#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# A change with --confirm-within goes back by itself unless it is confirmed in time,
# within a second of the deadline, whatever becomes of the process that made it, of its
# session, of the process that holds the timer, and of the room on the disk; and no run
# after it is blocked for longer.
#
# What is to come back is state(), all that ctcp-setup may touch.  Steps are counted as in
# setup_undo.sh; those of --confirm-within, before the first change, are among them.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands ctcp-setup ctcp-setup-faulty tc jq pgrep script
need_module

STEPS_MAX=60
LATE=1000		# ms after the deadline
RATE=125000000		# bytes/s of the circuit that is there before
ON_TRIAL=250000000	# and of what is tried in its place

# ms that the machine has been up, as the deadline counts them
now_ms()
{
	local up

	read -r up _ </proc/uptime
	echo $((10#${up/./}0))
}

# The processes that hold a timer
timers()
{
	pgrep -x ctcp-confirm
}

no_timer()
{
	! timers >/dev/null
}

# fresh NAME: a host with the circuit lhc, BEFORE what it is like
fresh()
{
	without_module
	host "$1"
	setup add lhc --to 10.81.0.0/16 --via 10.78.0.254 --rate 1gbit --rtt 10ms --quiet eth1
	BEFORE=$(state)
}

# try TIME [OPTION...]: a change of it
try()
{
	local within=$1

	shift
	BEGUN=$(now_ms)
	setup change lhc --rate 2gbit --confirm-within "$within" --quiet "$@"
}

rate_is()
{
	got_host circuit_nl get lhc 2>/dev/null
	find_value rate '[0-9]*' "$GOT"
	[ "$VALUE" = "$1" ]
}

state_is_before()
{
	got_host state
	[ "$GOT" = "$BEFORE" ]
}

# back_in_time NAME MS: all is as before MS after $BEGUN, no sooner, and by itself
back_in_time()
{
	until_true $(($2 / 1000 + 5)) no_timer
	within "$1: ms until it is back" $(($2 + LATE / 2)) $(($(now_ms) - BEGUN)) $((LATE / 2 + 5))
	unchanged "$1: all as before" "$BEFORE"
}

# wait_until MS: after $BEGUN
wait_until()
{
	local left=$(($1 + BEGUN - $(now_ms)))

	[ "$left" -le 0 ] || sleep "$((left / 1000)).$(printf %03d $((left % 1000)))"
}

confirmed()
{
	fresh confirmed
	works "a change that is to be confirmed" try 5s
	equal "it is made" $ON_TRIAL "$(circuit_value lhc rate)"
	equal "a process holds its timer" 1 "$(timers | wc -l)"
	works "confirm" setup confirm
	matches "confirm says whose it was" \
		'^the change of .*"ctcp-setup change .*lhc.*"\) is confirmed$' "$OUT"
	succeeds "confirm ends the timer" until_true 2 no_timer
	wait_until 7000
	equal "confirmed it stays" $ON_TRIAL "$(circuit_value lhc rate)"
	works "confirmed: verify" setup verify
	works "a change on top" try 1s --rtt 20ms
	works "... confirmed, too" setup confirm --json
	json_is "confirm: what was confirmed" true .confirmed
	says "confirm once more" 1 'no change waits for confirmation$' setup confirm
	says "cancel once more" 1 'no change waits for confirmation$' setup cancel
	works "undo on trial" setup undo --quiet --confirm-within 50s eth1
	works "undo confirmed" setup confirm --quiet
	equal "undo confirmed: no state is left" "" \
		"$(find "$CTCP_RUNDIR" -name '*.state')"
	succeeds "undo confirmed: the timer ends" until_true 2 no_timer
	host_end
}

# Live: the circuit is the same object, at its old rate again.
not_confirmed()
{
	local id

	fresh not-confirmed
	id=$(circuit_value lhc id)
	try 5s
	wait_until 4900
	equal "not confirmed: it stays until the deadline" $ON_TRIAL "$(circuit_value lhc rate)"
	back_in_time "not confirmed" 5000
	equal "not confirmed: the same circuit" "$id" "$(circuit_value lhc id)"
	works "not confirmed: verify" setup verify
	works "not confirmed: another change" try 1s
	works "... which is confirmed" setup confirm --quiet
	host_end
}

waits()
{
	fresh waits
	try 50s
	works "show while it waits" setup show
	matches "show: whose, how, and for how long" \
		'^the change of .*\(uid [0-9]+, process [0-9]+.*"ctcp-setup change .*lhc.*"\) waits for confirmation, (49|50) s left$' "$OUT"
	works "list while it waits" setup list
	matches "list: the same" 'waits for confirmation, ' "$OUT"
	matches "list: what is tried" '^lhc .* 2gbit' "$OUT"
	works "verify while it waits" setup verify
	matches "verify: the same" 'waits for confirmation, ' "$OUT"
	run setup show --json
	json_is "show: what waits" "false 0" '.[] | select(.confirm) | .confirm | "\(.expired) \(.uid)"'
	json_is "show: us left" true '.[] | select(.confirm) | .confirm.left_us | . > 4e7 and . <= 5e7'
	run setup list --json
	json_is "list: it is on trial" true '.[0].trial'
	works "cancel" setup cancel
	matches "cancel says whose it was" 'is taken back$' "$OUT"
	unchanged "cancel: all as before" "$BEFORE"
	succeeds "cancel ends the timer" until_true 2 no_timer
	host_end
}

refused_meanwhile()
{
	local waits='the change of .*"ctcp-setup change .*"\) waits for confirmation, [0-9]+ s left; ctcp-setup confirm keeps it'

	fresh refused
	echo "add new --to 10.82.0.0/16 --via 10.78.0.254 --rate 1gbit --rtt 1ms eth1" \
		>"$TMP/circuits"
	try 50s
	complains "change meanwhile" 6 "$waits" setup change lhc --rate 3gbit
	complains "add meanwhile" 6 "$waits" setup add new --to 10.82.0.0/16 \
		--via 10.78.0.254 --rate 1gbit --rtt 1ms eth1
	complains "del meanwhile" 6 "$waits" setup del lhc
	complains "apply meanwhile" 6 "$waits" setup apply "$TMP/circuits"
	complains "the bare command meanwhile" 6 "$waits" setup --rate 1gbit --rtt 1ms eth1
	complains "undo meanwhile" 6 "$waits" setup undo eth1
	complains "undo --force meanwhile" 6 "$waits" setup undo --all --force
	run setup add new --to 10.82.0.0/16 --via 10.78.0.254 --rate 1gbit --rtt 1ms --dry-run eth1
	matches "--dry-run meanwhile says so" 'waits for confirmation' "$ERR"
	setup cancel --quiet
	unchanged "refused: all as before" "$BEFORE"
	host_end
}

bad_times()
{
	local range='out of range; from 1s to 1d$'

	fresh times
	complains "too short a time" 2 "--confirm-within: \"999ms\" is $range" try 999ms
	complains "too long a time" 2 "--confirm-within: \"25h\" is $range" try 25h
	complains "a time of no unit" 2 '"5" has no unit; 5s or 5min' try 5
	complains "no time" 2 '"soon" is not a time; write one from 1s to 1d$' try soon
	complains "of a command that changes nothing" 2 '--confirm-within" is not an option of show' \
		setup show --confirm-within 5s
	works "the longest" try 1d
	works "cancel of the longest" setup cancel --quiet
	unchanged "times: all as before" "$BEFORE"
	host_end
}

# verb NAME ARGUMENT...: goes back by itself
verb()
{
	local name=$1

	shift
	BEGUN=$(now_ms)
	works "$name on trial" setup "$@" --confirm-within 1s --quiet
	refused "$name on trial: it is made" state_is_before
	back_in_time "$name" 1000
}

all_verbs()
{
	fresh verbs
	another_device eth2
	ip -n "$HOST" link set eth2 txqueuelen 0
	BEFORE=$(state)
	echo "add new --to 10.82.0.0/16 --via 10.78.0.254 --rate 1gbit --rtt 1ms eth1" \
		>"$TMP/circuits"
	verb "add" add new --to 10.82.0.0/16 --via 10.78.0.254 --rate 1gbit --rtt 1ms eth1
	verb "change" change lhc --rate 2gbit --rtt 20ms
	verb "apply" apply "$TMP/circuits"
	verb "the bare command" --rate 1gbit --rtt 5ms eth2
	verb "the bare command in place of another" --name lhc --rate 4gbit --rtt 5ms \
		--to 10.83.0.0/16 --via 10.78.0.253 eth1
	verb "del" del lhc
	verb "undo" undo eth1
	verb "undo --all" undo --all
	setup --rate 1gbit --rtt 5ms --quiet eth2
	BEFORE=$(state)
	verb "another shaper" --rate 1gbit --rtt 5ms --shaper fq eth2
	verb "undo of several" undo --all
	host_end
}

# Killed after any step, the first before there is a timer: by the timer or by the next
# command all is as before.
caller_killed()
{
	local n=1 alone=0

	fresh killed
	echo "add new --to 10.82.0.0/16 --via 10.78.0.254 --rate 1gbit --rtt 1ms eth1" \
		>"$TMP/circuits"
	while [ $n -lt $STEPS_MAX ]; do
		CTCP_DIE_AT=$n run in_host ctcp-setup-faulty apply --quiet \
			--confirm-within 2s "$TMP/circuits"
		[ "$RC" = 137 ] || break
		if no_timer; then
			alone=$((alone + 1))
			setup cancel --quiet || fail "cancel after death at step $n"
		fi
		until_true 5 no_timer || fail "death at step $n: the timer ends"
		state_is_before || same "death at step $n" "$BEFORE" "$(state)"
		n=$((n + 1))
	done
	equal "no step left: the run survives" 0 "$RC"
	at_least "steps to die at" 6 $((n - 1))
	equal "of these without a timer" 1 $alone
	setup cancel --quiet
	unchanged "killed: all as before" "$BEFORE"
	host_end
}

# The next command does not wait for the timer of a change that was cut short.
killed_then_next()
{
	fresh next
	CTCP_DIE_AT=3 run in_host ctcp-setup-faulty change lhc --rate 2gbit --quiet \
		--confirm-within 50s
	equal "killed half way: exit status" 137 "$RC"
	complains "confirm of what was cut short" 1 'no change waits .* was cut short' setup confirm
	run setup change lhc --rate 1gbit --quiet
	equal "the next command after it: exit status" 0 "$RC"
	matches "... says so" 'earlier run was cut short' "$ERR"
	unchanged "... and all is as before" "$BEFORE"
	succeeds "... and the timer has ended" until_true 2 no_timer
	host_end
}

# killed -9 with all its session, and a terminal that was cut
session_ends()
{
	local pid

	fresh session
	BEGUN=$(now_ms)
	in_host setsid -w bash -c '
		ctcp-setup change lhc --rate 2gbit --quiet --confirm-within 3s
		kill -HUP 0; kill -KILL 0'
	equal "its session killed: it is made" $ON_TRIAL "$(circuit_value lhc rate)"
	back_in_time "its session killed" 3000
	BEGUN=$(now_ms)
	in_host script -qec "ctcp-setup change lhc --rate 2gbit --quiet --confirm-within 3s" \
		/dev/null </dev/null >/dev/null
	matches "its terminal cut: which it was" 'process [0-9]+ on /dev/pts/' "$(setup show)"
	pid=$(timers)
	equal "its terminal cut: the timer has none" "?" "$(ps -o tty= -p "$pid" | tr -d ' ')"
	succeeds "its terminal cut: the timer's folder" test "/proc/$pid/cwd" -ef /
	equal "its terminal cut: the timer's standard files" "null null null" \
		"$(for fd in 0 1 2; do basename "$(readlink "/proc/$pid/fd/$fd")"; done | xargs)"
	refused "its terminal cut: the timer has no file of the state" \
		sh -c "ls -l /proc/$pid/fd | grep $CTCP_RUNDIR"
	kill -HUP "$pid"
	back_in_time "its terminal cut" 3000
	host_end
}

# Nobody reads what it says: a pipe that is full, as a terminal behind a link that is cut.
stalled()
{
	local pid full=$TMP/full

	fresh stalled
	mkfifo "$full"
	exec 7<>"$full"
	dd if=/dev/zero of="$full" bs=4096 count=64 oflag=nonblock 2>/dev/null
	BEGUN=$(now_ms)
	spawn -e -n "$HOST" ctcp-setup change lhc --rate 2gbit --confirm-within 3s >"$full" 7>&- &
	pid=$!
	succeeds "nobody reads its output: it is made" until_true 2 rate_is $ON_TRIAL
	works "nobody reads its output: confirm" setup confirm
	kill $pid
	wait $pid
	equal "nobody reads its output: SIGTERM ends it" 143 $?
	setup change lhc --rate 1gbit --quiet
	BEGUN=$(now_ms)
	spawn -e -n "$HOST" ctcp-setup change lhc --rate 2gbit --confirm-within 3s >"$full" 7>&- &
	pid=$!
	back_in_time "nobody reads its output" 3000
	kill $pid
	wait $pid
	exec 7>&-
	host_end
}

timer_killed()
{
	fresh timer-killed
	try 2s
	pkill -KILL -x ctcp-confirm
	wait_until 3000
	equal "both killed: nobody takes it back" $ON_TRIAL "$(circuit_value lhc rate)"
	works "both killed: show" setup show
	matches "both killed: show says that it is over" \
		'not confirmed in time; the next command that changes anything takes it back$' "$OUT"
	matches "both killed: list says so" 'not confirmed in time' "$(setup list)"
	run setup verify
	equal "both killed: verify: exit status" 1 "$RC"
	matches "both killed: verify says so" 'not confirmed in time' "$OUT"
	run setup verify --json
	json_is "verify: what differs" confirm '.[0].item'
	run setup add new --to 10.82.0.0/16 --via 10.78.0.254 --rate 1gbit --rtt 1ms --quiet eth1
	equal "both killed: the next command: exit status" 0 "$RC"
	matches "both killed: the next command says so" \
		'the change of .* was not confirmed in time and is taken back first' "$ERR"
	equal "both killed: the next command takes it back" $RATE "$(circuit_value lhc rate)"
	equal "both killed: the next command does its own" $RATE "$(circuit_value new rate)"
	works "both killed: verify after that" setup verify
	setup del new --quiet
	unchanged "both killed: all as before" "$BEFORE"
	host_end
}

too_late()
{
	fresh too-late
	try 1s
	pkill -KILL -x ctcp-confirm
	wait_until 1100
	says "confirm, too late" 1 'too late: the change of .* and is taken back$' setup confirm
	unchanged "confirm, too late: all as before" "$BEFORE"
	try 50s
	pkill -TERM -x ctcp-confirm
	succeeds "a timer that is told to end" until_true 2 no_timer
	unchanged "a timer that is told to end: all as before" "$BEFORE"
	host_end
}

# Killed on the way back: begun anew by the next command, and by the timer.
cancel_killed()
{
	local n=1

	fresh cancel
	while [ $n -lt $STEPS_MAX ]; do
		try 2s --rtt 20ms
		CTCP_DIE_AT=$n run in_host ctcp-setup-faulty cancel --quiet
		[ "$RC" = 137 ] || break
		setup cancel --quiet || fail "cancel after cancel died at step $n"
		state_is_before || same "cancel after cancel died at step $n" "$BEFORE" "$(state)"
		try 2s --rtt 20ms
		CTCP_DIE_AT=$n run in_host ctcp-setup-faulty cancel --quiet
		until_true 4 no_timer || fail "the timer after cancel died at step $n"
		state_is_before || same "the timer after cancel died at step $n" "$BEFORE" "$(state)"
		n=$((n + 1))
	done
	equal "cancel: no step left" 0 "$RC"
	at_least "steps for cancel to die at" 1 $((n - 1))
	unchanged "cancel killed: all as before" "$BEFORE"
	host_end
}

# The first step that fails is the timer's start: nothing is changed without one.
failures()
{
	local n=1

	fresh failures
	while [ $n -lt $STEPS_MAX ]; do
		CTCP_FAIL_AT=$n run in_host ctcp-setup-faulty change lhc --rate 2gbit \
			--rtt 20ms --quiet --confirm-within 50s
		[ "$RC" = 1 ] || break
		state_is_before || same "a failure at step $n: rolled back" "$BEFORE" "$(state)"
		until_true 2 no_timer || fail "a failure at step $n: the timer ends"
		n=$((n + 1))
	done
	equal "no step left to fail" 0 "$RC"
	at_least "steps to fail at" 3 $((n - 1))
	setup cancel --quiet
	unchanged "failures: all as before" "$BEFORE"
	host_end
}

nothing_waits()
{
	! setup show | grep -q confirm
}

# The kernel goes back although nothing can be written; the state as soon as it can.
disk_full()
{
	mkdir -p "$CTCP_RUNDIR"
	mount -t tmpfs -o size=64k,mode=755 ctcp-run "$CTCP_RUNDIR"
	fresh full
	try 3s --rtt 20ms
	refused "the disk is full" dd if=/dev/zero of="$CTCP_RUNDIR/junk" bs=4k
	complains "confirm on a full disk" 1 'cannot write the state .*: No space left' setup confirm
	wait_until 2900
	equal "a full disk: it stays until the deadline" $ON_TRIAL "$(circuit_value lhc rate)"
	until_true 3 rate_is $RATE
	within "a full disk: ms until it is back" $((3000 + LATE / 2)) $(($(now_ms) - BEGUN)) \
		$((LATE / 2 + 5))
	equal "a full disk: its timer tries on" 1 "$(timers | wc -l)"
	matches "a full disk: show says that it is over" 'not confirmed in time' "$(setup show)"
	rm "$CTCP_RUNDIR/junk"
	succeeds "room again: the state follows" until_true 10 nothing_waits
	works "room again: verify" setup verify
	unchanged "room again: all as before" "$BEFORE"
	succeeds "room again: the timer ends" until_true 2 no_timer
	host_end
	umount "$CTCP_RUNDIR"
}

# However long the disk was full
disk_full_for_long()
{
	in_virtual_time || return 0
	mkdir -p "$CTCP_RUNDIR"
	mount -t tmpfs -o size=64k,mode=755 ctcp-run "$CTCP_RUNDIR"
	fresh long-full
	try 1s
	dd if=/dev/zero of="$CTCP_RUNDIR/junk" bs=4k 2>/dev/null
	wait_until 301000
	equal "a disk full for 5 minutes: its timer tries on" 1 "$(timers | wc -l)"
	rm "$CTCP_RUNDIR/junk"
	wait_until 362000
	succeeds "... and again within a minute: the state follows" nothing_waits
	unchanged "... all as before" "$BEFORE"
	succeeds "... the timer ends" until_true 2 no_timer
	host_end
	umount "$CTCP_RUNDIR"
}

# What waited before a boot is void, as is all that the state tells.
another_boot()
{
	fresh boot
	try 50s
	pkill -KILL -x ctcp-confirm
	sed -i '1s/ boot .*/ boot another/' "$CTCP_RUNDIR"/*.state
	says "after a boot nothing waits" 1 'no change waits for confirmation$' setup confirm
	works "after a boot nothing is in the way" setup add new --to 10.82.0.0/16 \
		--via 10.78.0.254 --rate 1gbit --rtt 1ms --quiet eth1
	setup circuit del lhc
	setup undo --quiet eth1
	host_end
}

# rename DEV NAME
rename()
{
	ip -n "$HOST" link set "$1" down
	ip -n "$HOST" link set "$1" name "$2"
	ip -n "$HOST" link set "$2" up
}

# What somebody does meanwhile keeps nothing else from coming back.
meanwhile()
{
	fresh meanwhile
	setup undo --quiet eth1
	setup --rate 1gbit --rtt 10ms --quiet eth1
	BEGUN=$(now_ms)
	setup --rate 2gbit --rtt 20ms --confirm-within 2s --quiet eth1
	in_host tc qdisc replace dev eth1 root handle 5: pfifo
	until_true 4 no_timer
	matches "somebody's qdisc stays" '^qdisc pfifo 5:' "$(root_qdisc eth1)"
	equal "the circuit is as before" $RATE "$(circuit_value eth1 rate)"
	in_host tc qdisc del dev eth1 root
	setup --rate 1gbit --rtt 10ms --quiet eth1
	setup --rate 2gbit --rtt 20ms --confirm-within 2s --quiet eth1
	rename eth1 wan0
	until_true 4 no_timer
	matches "renamed meanwhile: back by the new name" '^eth1 .* rate 1gbit .*dev wan0' \
		"$(setup circuit list)"
	works "renamed meanwhile: verify" setup verify
	works "renamed meanwhile: undo" setup undo --quiet wan0
	host_end
}

confirmed
not_confirmed
waits
refused_meanwhile
bad_times
all_verbs
caller_killed
killed_then_next
session_ends
stalled
timer_killed
too_late
cancel_killed
failures
disk_full
disk_full_for_long
another_boot
meanwhile
finish
