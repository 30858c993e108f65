#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# The journal is what undo rests on: without a place for it nothing is changed,
# one that is damaged is not believed, two runs never write it at once, and each
# namespace has its own.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands ctcp-setup tc flock setpriv
need_module

CIRCUIT=(--rate 4gbit --rtt 26ms)
OTHER=(--rate 1gbit --rtt 5ms)

# --- two at once -----------------------------------------------------------

# state_after ARGUMENT...: of this run alone
state_after()
{
	setup --quiet "$@" eth1
	state
	setup undo --quiet eth1
}

# at_once COMMAND + COMMAND: both are held up before they begin
at_once()
{
	local first=()

	while [ "$1" != + ]; do
		first+=("$1")
		shift
	done
	shift
	(flock 7 && sleep 1) 7>"$CTCP_RUNDIR/lock" &
	until_true 10 locked
	"${first[@]}" >"$TMP/first" 2>&1 &
	FIRST=$!
	"$@" >"$TMP/second" 2>&1
	RC="$?"
	wait $FIRST
	RC="$? $RC"
}

# shellcheck disable=SC2317 # called by until_true
locked()
{
	! flock -n "$CTCP_RUNDIR/lock" true
}

two_runs()
{
	local before one two now

	host at-once
	before=$(state)
	one=$(state_after "${CIRCUIT[@]}")
	two=$(state_after "${OTHER[@]}")
	at_once setup --quiet "${CIRCUIT[@]}" eth1 + setup --quiet "${OTHER[@]}" eth1
	equal "two runs at once: both exit statuses" "0 0" "$RC"
	now=$(state)
	[ "$now" = "$one" ] || one=$two
	same "two runs at once: the state after one of them" "$one" "$now"
	equal "two runs at once: no drift" "" "$(setup show | grep drift)"
	at_once setup --quiet "${CIRCUIT[@]}" eth1 + setup undo --quiet eth1
	equal "a run and undo at once: both exit statuses" "0 0" "$RC"
	setup undo --quiet eth1
	unchanged "two at once: undone, all as before" "$before"
	host_end
}

held_up()
{
	host held-up
	mkdir -p "$CTCP_RUNDIR"
	exec 7<>"$CTCP_RUNDIR/lock"
	flock 7
	echo 4711 >&7
	complains "another run that does not end" 1 'another ctcp-setup.* 4711' \
		setup "${CIRCUIT[@]}" eth1
	complains "undo beside it" 1 'another ctcp-setup.* 4711' \
		setup undo eth1
	works "show beside it" setup show
	exec 7>&-
	host_end
}

# as_nobody COMMAND...: without any privilege, and not the owner of anything
as_nobody()
{
	in_host setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all "$@"
}

# Nobody else may take the lock and keep it; to look is for all.
others()
{
	local normal=$CTCP_RUNDIR

	host others
	CTCP_RUNDIR=$(mktemp -d /tmp/ctcp-others.XXXXXX)
	defer "rm -r $CTCP_RUNDIR"
	chmod 755 "$CTCP_RUNDIR"
	(umask 0; : >"$CTCP_RUNDIR/lock")
	works "a run over a lock of an older version" setup --quiet "${CIRCUIT[@]}" eth1
	refused "nobody else opens the lock" as_nobody sh -c ": <$CTCP_RUNDIR/lock"
	works "show for anybody" as_nobody ctcp-setup show
	matches "show for anybody: the circuit" '^eth1: .*4gbit' "$OUT"
	setup undo --quiet eth1
	CTCP_RUNDIR=$normal
	host_end
}

# --- no place for it -------------------------------------------------------

# no_journal NAME PATTERN: a run must do nothing with the folder as it is
no_journal()
{
	complains "$1" 1 "$2" setup "${CIRCUIT[@]}" eth1
}

# small_disk SIZE: the journals' folder on a disk of its own
small_disk()
{
	CTCP_RUNDIR=$TMP/small
	mkdir -p "$CTCP_RUNDIR"
	mount -t tmpfs -o "size=$1" ctcp "$CTCP_RUNDIR"
	defer "umount $CTCP_RUNDIR"
}

# A page holds a whole journal.  Of two pages one is the lock file's: the journal
# that a run begins with finds room, and the one that it ends with does not, as
# both are there for a moment.
full_disk()
{
	local normal=$CTCP_RUNDIR

	host full
	small_disk 8k
	head -c 8192 /dev/zero >"$CTCP_RUNDIR/.fill" 2>/dev/null
	no_journal "no room for a journal" 'journal .*No space left'
	rm "$CTCP_RUNDIR/.fill"
	no_journal "no room for a second journal" 'journal .*No space left'
	mount -o remount,ro "$CTCP_RUNDIR"
	no_journal "a folder that can only be read" "$CTCP_RUNDIR.*Read-only"
	umount "$CTCP_RUNDIR"
	CTCP_RUNDIR=$TMP/file
	: >"$CTCP_RUNDIR"
	no_journal "a file in place of the folder" "$CTCP_RUNDIR.*Not a directory"
	CTCP_RUNDIR=$TMP/none/below
	no_journal "a folder that cannot be made" "$CTCP_RUNDIR.*No such file"
	CTCP_RUNDIR=$normal
	host_end
}

# --- damaged ---------------------------------------------------------------

# disbelieved NAME: the journal as it is now
disbelieved()
{
	complains "$1: undo" 1 "journal $JOURNAL .*damaged" setup undo eth1
	complains "$1: a run" 1 "journal $JOURNAL .*damaged" \
		setup "${OTHER[@]}" eth1
	complains "$1: show" 1 "journal $JOURNAL .*damaged" setup show
}

damaged()
{
	local before good size

	host damaged
	before=$(state)
	setup --quiet "${CIRCUIT[@]}" eth1
	JOURNAL=$(find "$CTCP_RUNDIR" -type f ! -name lock)
	good=$TMP/good
	cp "$JOURNAL" "$good"
	size=$(stat -c %s "$good")
	: >"$JOURNAL"
	disbelieved "an empty journal"
	head -c $((size / 2)) "$good" >"$JOURNAL"
	disbelieved "half a journal"
	sed 's/4096 131072/4096 131073/' "$good" >"$JOURNAL"
	disbelieved "a journal with another number"
	cp "$good" "$JOURNAL"
	works "the journal put back: undo" setup undo --quiet eth1
	unchanged "the journal put back: undone, all as before" "$before"
	host_end
}

# --- namespaces ------------------------------------------------------------

# The module is the machine's: it goes with the last of its circuits.
namespaces()
{
	local one two before

	without_module || {
		pass "two namespaces # SKIP the module is in use on this machine"
		return
	}
	host one
	one=$HOST
	host two
	two=$HOST
	before=$(state)
	setup --quiet "${CIRCUIT[@]}" eth1
	HOST=$one
	works "undo in another namespace" setup undo eth1
	matches "undo in another namespace has nothing to do" 'nothing to undo' "$OUT"
	setup --quiet "${OTHER[@]}" eth1
	HOST=$two
	works "undo of the first" setup undo --quiet eth1
	matches "undo of the first names whose the module is now, and its journal" \
		"stays for eth1 .* rm $CTCP_RUNDIR/[ci][0-9]*.eth1 && modprobe -r" "$OUT"
	succeeds "undo of the first leaves the module to the other" module_loaded
	matches "undo of the first leaves the other's shaper" 'rate 1Gbit' \
		"$(HOST=$one root_qdisc eth1)"
	HOST=$one
	works "undo of the other" setup undo --quiet eth1
	HOST=$two
	unchanged "both undone: all as before" "$before"
}

two_runs
held_up
others
full_disk
damaged
namespaces
finish
