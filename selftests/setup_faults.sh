#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# ctcp-setup killed at any system call of any command that changes something, and any system
# call of it failing (circuit_faults): the list of circuits is the old one or the new one, a
# command that says it failed has left the machine as it was, or says what is not, and one
# that says it is done has made it as it shall be, the same command again heals what was cut
# short, and undo leaves the host as it was before the first.  A command that only looks never
# tells of a difference where it could not look.
#
# All of them are some thirteen thousand, each of which takes a good part of a second, so a
# part is chosen by chance, anew at each run: FAULTS=N so many of each command, and of the
# calls that are looked at by themselves (CHOICE); FAULTS=all all of them; FAULTS=EIO, kill
# and so on all of that kind, and those calls; FAULTS_SEED=N chooses the same again.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands ctcp-setup circuit_faults circuit_nl tc pgrep
need_module

FAULTS=${FAULTS:-3}
SEED=${FAULTS_SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}

LHC="add lhc --to 10.81.0.0/16,fd81::/32 --via 10.78.0.254 --via fd78::254 --rate 1gbit --rtt 10ms --shaper htb eth1"
SKA="add ska --to 10.82.0.0/16 --via 10.78.0.254 --rate 2gbit --rtt 10ms --shaper htb eth1"
ESA="add esa --to 10.83.0.0/16 --via 10.78.0.254 --rate 3gbit --rtt 10ms --shaper htb eth1"

# machine NAME: the variable has everything, with what is below the root of eth1.  Which class
# a circuit has is the tool's choice; that its filters lead there is what verify looks at.
machine()
{
	got_host sh -c '{
			circuit_state
			tc class show dev eth1
			tc filter show dev eth1
		} | sed -E "s/ not_in_hw//; s/c7c0:[1-9][0-9]*/c7c0:N/g; s/leaf [0-9]+:/leaf N:/
			s/bfifo handle [0-9a-f]+:/bfifo handle N:/" | sort'
	printf -v "$1" %s "$GOT"
}

# list NAME: it has the circuits of the state, as the next command would find them, in any order
list()
{
	got_host sh -c "ctcp-setup save | grep -v '^#' | sort"
	printf -v "$1" %s "$GOT"
}

no_timer()
{
	! pgrep -x ctcp-confirm >/dev/null
}

# --- which faults ------------------------------------------------------------

# What a call may change that outlasts the program, x86-64's numbers: open write ioctl
# pwrite64 sendto sendmsg setsockopt clone fork kill flock fsync ftruncate rename mkdir unlink
# init_module delete_module openat finit_module pidfd_send_signal pidfd_getfd.  Between two of
# these a kill leaves the same.
CHANGING=" 2 1 16 18 44 46 54 56 57 62 73 74 77 82 83 87 175 176 257 313 424 438 "

# kinds FILE: of the calls in it, "kill 7" where the call before may have changed something,
# and "EIO 7"
kinds()
{
	awk -v most="$FAULTS" -v changing="$CHANGING" '
		{
			first = NR == 1 || index(changing, " " before " ") ? 2 : 3
			before = $2
			$2 = "kill"
			for (i = first; i <= NF; i++)
				if (most ~ /^([0-9]+|all)$/ || $i == most)
					print $i, $1
		}' "$1"
}

# drawn: FAULTS of the lines, if that is a number
drawn()
{
	awk -v most="$FAULTS" -v seed="$SEED" '
		{ line[n++] = $0 }
		END {
			srand(seed)
			left = most ~ /^[0-9]+$/ ? most : n
			for (i = 0; i < n; i++)
				if (rand() * (n - i) < left) {
					print line[i]
					left--
				}
		}'
}

# questions FILE: EIO for the first that it asks of the kernel and reads, of which it must know
# the answer: what cannot be asked is neither not there nor as it was.
questions()
{
	awk -v most="${QUESTIONS:-16}" '/ENOBUFS EINTR/ && n++ < most { print "EIO " $1 }' "$1"
}

# calls FILE NUMBER...: EIO at each call of one of these numbers, which are x86-64's
calls()
{
	awk -v numbers=" ${*:2} " 'index(numbers, " " $2 " ") && n++ < 24 { print "EIO " $1 }' "$1"
}

# access(2), stat(2): what cannot be looked at is neither gone nor read-only
looks()
{
	calls "$1" 21 4 262
}

# sendto(2), sendmsg(2): what was not asked is not waited for
unsent()
{
	calls "$1" 44 46
}

# folders FILE: EIO where the folder is made durable (open, fsync), after each rename or unlink
# in it, which are calls 82 and 87 of x86-64: the file is the new one by then.
folders()
{
	awk 'left-- > 0 { print "EIO " $1 } $2 == 82 || $2 == 87 { left = 2 }' "$1"
}

# --- one fault ---------------------------------------------------------------

# bad WHAT EXPECTED GOT: false if they are the same, else a point that failed
bad()
{
	[ "$2" != "$3" ] || return 1
	same "$AT: $1" "$2" "$3"
	BROKEN=$((BROKEN + 1))
}

# What it says of itself: 0 and 3 are done, 1 is as before; else it was killed.  undo, del
# and cancel go on past what the kernel refuses, and say that it is left, and past a state
# that cannot be written, and say that all is taken back.  A command that asks the kernel for
# one thing and has no answer says that it does not know.
PARTLY='settings? (is|are) not as before|taken back (all the same|but for)|is not known, ctcp-setup'
judge()
{
	local now

	[ "$RC" != 1 ] || ! has_line "$PARTLY" "$ERR" || RC=partly
	[[ $ERR != *"is not known, ctcp-setup"* ]] || UNKNOWN=$((UNKNOWN + 1))
	[[ $RC != [013] ]] || machine now
	case $RC in
	0 | 3) bad "exit $RC, so the machine is as asked for" "$NEW" "$now" ;;
	1) bad "exit 1, so the machine is as it was" "$OLD" "$now" ;;
	2 | 12[456]) bad "exit status" "0, 1, 3 or killed" "$RC $ERR" ;;
	esac
	list NOW_LIST
	[ "$NOW_LIST" = "$OLD_LIST" ] ||
		bad "the list is the old or the new one" "$NEW_LIST" "$NOW_LIST"
}

# The same command again, where its list is not the new one by now; one that has nothing
# left to do makes sure of it.
heal()
{
	local now

	if [ "$NOW_LIST" != "$NEW_LIST" ] || [ "$NEW_LIST" = "$OLD_LIST" ]; then
		run setup "$@"
		[ "$RC" = 0 ] || [ "$NEW_LIST" = "$OLD_LIST" ] ||
			bad "the same again: exit status" 0 "$RC $ERR"
	fi
	setup confirm --quiet 2>/dev/null	# of a change on trial
	setup apply --quiet "$NEW_FILE" 2>/dev/null
	run setup verify
	[ "$RC" = 0 ] || bad "healed: verify" 0 "$RC $OUT $ERR"
	machine now
	bad "healed: the machine" "$NEW" "$now"
	list now
	bad "healed: the list" "$NEW_LIST" "$now"
}

# begin FILE: these circuits and no others
begin()
{
	setup confirm --quiet 2>/dev/null
	if ! setup apply --quiet "$1" 2>/dev/null; then
		fail "apply of $1"
		return 1
	fi
	"$PREPARE"
	return 0
}

# walk NAME OLD NEW COMMAND...: from the circuits of one file to those of the other
walk()
{
	local name=$1 old=$TMP/$2 faults=0 kind n

	NEW_FILE=$TMP/$3
	shift 3
	BROKEN=0 UNKNOWN=0
	begin "$old"
	machine OLD
	list OLD_LIST
	run in_host circuit_faults list "$TMP/calls" ctcp-setup "$@"
	equal "$name without a fault: exit status" 0 "$RC"
	machine NEW
	list NEW_LIST
	while read -r kind n <&3; do
		begin "$old" || break
		AT="$name, $kind at call $n of $(wc -l <"$TMP/calls")"
		run in_host timeout 120 circuit_faults "$kind" "$n" ctcp-setup "$@"
		judge
		heal "$@"
		faults=$((faults + 1))
	done 3< <(${CHOICE:-kinds} "$TMP/calls" | ${DRAW:-drawn})
	begin "$old"
	AT=$name
	machine NOW
	bad "the way back: the machine" "$OLD" "$NOW"
	at_least "$name: faults" 1 $faults
	equal "$name: faults that did harm" 0 $BROKEN
	setup cancel --quiet 2>/dev/null
	without_lab
	succeeds "$name: no timer is left" until_true 5 no_timer
	setup undo --all --quiet 2>/dev/null
	unchanged "$name: undo leaves the host as it was" "$BEFORE"
}

# look NAME COMMAND...: at circuits as they were set up.  No fault makes it tell of a difference,
# and it changes nothing.
look()
{
	local name=$1 faults=0 kind n

	shift
	BROKEN=0
	begin "$TMP/one"
	machine OLD
	run in_host circuit_faults list "$TMP/calls" ctcp-setup "$@"
	equal "$name without a fault: exit status" 0 "$RC"
	# no file is made or written, and nothing large is asked for
	sed 's/ ENOSPC//' "$TMP/calls" >"$TMP/no-disk"
	while read -r kind n <&3; do
		AT="$name, $kind at call $n of $(wc -l <"$TMP/calls")"
		run in_host timeout 120 circuit_faults "$kind" "$n" ctcp-setup "$@"
		[[ $RC = @(0|3|4|137) ]] || bad "exit status" "0, 3, 4 or killed" "$RC $OUT $ERR"
		faults=$((faults + 1))
	done 3< <(kinds "$TMP/no-disk" | drawn)
	AT=$name
	machine NOW
	bad "the machine" "$OLD" "$NOW"
	[[ $FAULTS = @(ENOSPC|ENOMEM) ]] || at_least "$name: faults" 1 $faults
	equal "$name: faults that made it tell of a difference" 0 $BROKEN
}

# A confirm that fails has not confirmed.
refused_confirm()
{
	local kind n failed=0

	begin "$TMP/one"
	in_host circuit_faults list "$TMP/calls" ctcp-setup confirm --quiet
	while read -r kind n <&3; do
		begin "$TMP/one"
		run in_host circuit_faults "$kind" "$n" ctcp-setup confirm --quiet
		[ "$RC" = 1 ] || continue
		failed=$((failed + 1))
		works "confirm, $kind at call $n: still on trial" setup cancel --quiet
	done 3< <(folders "$TMP/calls")
	at_least "confirm: how often it failed" 2 $failed
	setup undo --all --quiet 2>/dev/null
}

# walk_unanswered NAME OLD NEW COMMAND...: of one question, which it asks without a way back
walk_unanswered()
{
	CHOICE=questions QUESTIONS=99 DRAW=cat walk "$1, not answered" "${@:2}"
	at_least "$1: how often it says that it does not know" 1 $UNKNOWN
}

# --- watch -------------------------------------------------------------------

watch_has() { ! kill -0 "$WATCH" 2>/dev/null || grep -q " $1" "$TMP/watch"; }

# beside_watch FAULT...: begun with that, it sees a route go, and is ended; 20 s: it looks
# again 10 s after a look that failed
beside_watch()
{
	: >"$TMP/watch"
	spawn -e -n "$HOST" circuit_faults "$@" ctcp-setup watch >"$TMP/watch" 2>"$TMP/watch.err" &
	WATCH=$!
	until_true 20 watch_has watching
	in_host ip route del 10.81.0.0/16 2>/dev/null
	until_true 20 watch_has "restored lhc route"
	pkill -TERM -P "$WATCH" -x ctcp-setup
	wait "$WATCH"
	RC=$? ERR=$(<"$TMP/watch.err")
}

# It goes on and restores, or ends and says why: its service begins it anew.  3: all is
# restored, a line of it could not be printed.
judge_watch()
{
	machine NOW
	case $RC in
	0 | 3) bad "it went on, so the machine is as it was" "$OLD" "$NOW" ;;
	1) bad "it ended and said why" "ctcp-setup:" "${ERR%%: *}:" ;;
	137) ;;
	*) bad "exit status" "0, 1, 3 or killed" "$RC $ERR" ;;
	esac
	list NOW
	bad "the list" "$OLD_LIST" "$NOW"
	setup apply --quiet "$TMP/one" 2>/dev/null
	machine NOW
	bad "healed: the machine" "$OLD" "$NOW"
}

walk_watch()
{
	local faults=0 kind n

	BROKEN=0
	begin "$TMP/one"
	machine OLD
	list OLD_LIST
	beside_watch list "$TMP/calls"
	equal "watch without a fault: exit status" 0 "$RC"
	machine NOW
	same "watch without a fault: the machine" "$OLD" "$NOW"
	while read -r kind n <&3; do
		AT="watch, $kind at call $n of $(wc -l <"$TMP/calls")"
		beside_watch "$kind" "$n"
		if [ "$RC" = 126 ]; then
			echo "# $AT: it had less to do and made no such call"
			continue
		fi
		judge_watch
		faults=$((faults + 1))
	done 3< <(kinds "$TMP/calls" | drawn)
	at_least "watch: faults" 1 $faults
	equal "watch: faults that did harm" 0 $BROKEN
	setup undo --all --quiet 2>/dev/null
	unchanged "watch: undo leaves the host as it was" "$BEFORE"
}

# --- commands ----------------------------------------------------------------

circuits_file()
{
	local file=$1

	shift
	printf '%s\n' "$@" >"$TMP/$file"
}

# What stands between the old list and the command
nothing() { :; }
on_trial()
{
	setup change lhc --rate 2gbit --quiet --confirm-within 1h 2>/dev/null
}

# A circuit that no list has
without_lab()
{
	in_host circuit_nl del lab 2>/dev/null
}

with_lab()
{
	in_host circuit_nl new lab prefix 10.99.0.0/16 window 7 2>/dev/null
}

echo "# FAULTS=$FAULTS FAULTS_SEED=$SEED"
without_module
host faults
BEFORE=$(state)
PREPARE=nothing
circuits_file none "# none"
circuits_file bare "add eth1 --rate 1gbit --rtt 10ms --shaper tbf eth1"
circuits_file one "$LHC"
circuits_file two "$LHC" "$SKA"
circuits_file other "$SKA"
circuits_file faster "${LHC/1gbit/2gbit}"
circuits_file new "${LHC/1gbit/2gbit}" "$ESA"
# shellcheck disable=SC2086 # words of a command
{
	walk "the bare command" none bare --rate 1gbit --rtt 10ms --quiet eth1
	walk "the first add" none one $LHC --quiet
	walk "add" one two $SKA --quiet
	CHOICE=folders walk "the bare command, folder" none bare --rate 1gbit --rtt 10ms --quiet eth1
	CHOICE=unsent walk "the bare command, unsent" none bare --rate 1gbit --rtt 10ms --quiet eth1
	CHOICE=folders walk "add, folder" one two $SKA --quiet
}
walk "change" one faster change lhc --rate 2gbit --quiet
CHOICE=looks walk "change, not looked at" one faster change lhc --rate 2gbit --quiet
CHOICE=looks walk "apply, not looked at" two new apply --quiet "$TMP/new"
walk "del" two other del lhc --quiet
CHOICE=questions walk "del, not answered" two other del lhc --quiet
CHOICE=folders walk "del, folder" two other del lhc --quiet
walk "apply" two new apply --quiet "$TMP/new"
walk "undo" two none undo --all --quiet
walk "change on trial" one faster change lhc --rate 2gbit --quiet --confirm-within 1h
walk "save" two two save "$TMP/saved"
walk "adopt" one one adopt lhc --quiet
walk "reset" one one reset lhc --quiet
walk_unanswered "reset" one one reset lhc --quiet
walk_watch
look "show" show
look "show --json" show --json
look "verify" verify
look "diff" diff "$TMP/one"
PREPARE=on_trial
walk "confirm" one faster confirm
walk "cancel" one one cancel
refused_confirm
PREPARE=without_lab
walk "circuit set" one one circuit set lab prefix 10.99.0.0/16 window 7
walk_unanswered "circuit set" one one circuit set lab prefix 10.99.0.0/16 window 7
PREPARE=with_lab
walk_unanswered "circuit del" one one circuit del lab
walk "circuit del" one one circuit del lab
finish
