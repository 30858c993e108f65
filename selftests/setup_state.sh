#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Undo depends on the state: without a place for it nothing is changed, a damaged one is
# not used, two runs never write it at once, each namespace has its own, and other files
# beside it are left alone.

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

# Each of two has the lock for longer than half of what is waited for one.
in_a_row()
{
	host in-a-row
	mkdir -p "$CTCP_RUNDIR"
	: >>"$CTCP_RUNDIR/lock"
	(flock 7 && echo 4711 >&7 && sleep 3) 7<>"$CTCP_RUNDIR/lock" &
	until_true 10 locked
	(flock 7 && echo 4712 >&7 && sleep 4) 7<>"$CTCP_RUNDIR/lock" &
	works "two other runs in a row" setup --quiet "${CIRCUIT[@]}" eth1
	wait
	works "two other runs in a row: undo" setup undo --quiet eth1
	host_end
}

# Each adds a circuit of its own: all have one in the end, and nobody's is lost.
twenty()
{
	local i pids=() failed=0

	host twenty
	for i in {1..20}; do
		in_host ctcp-setup add "c$i" --to "10.9$((i % 10)).$i.0/24" --via 10.78.0.254 \
			--rate 10mbit --rtt 10ms --shaper none --quiet eth1 \
			>"$TMP/run-$i" 2>&1 &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || failed=$((failed + 1))
	done
	equal "twenty runs at once: failed" "0 " "$failed $(cat "$TMP"/run-* | head -n 3)"
	equal "twenty runs at once: circuits" 20 "$(setup list --json | jq length)"
	works "twenty runs at once: verify" setup verify
	works "twenty runs at once: undo" setup undo --quiet --all
	host_end
}

# show_all: as often as there is another change to look at
show_all()
{
	local shows=0 failed=0

	while [ ! -e "$TMP/changed" ]; do
		in_host ctcp-setup show --json >"$TMP/shown" 2>"$TMP/said" &&
			jq -e length "$TMP/shown" >/dev/null || failed=$((failed + 1))
		shows=$((shows + 1))
	done
	equal "show beside a writer: failed" "0 " "$failed $(<"$TMP/said")"
	at_least "show beside a writer: so often" 5 $shows
}

change_often()
{
	local i

	for i in {1..40}; do
		setup change moving --rate $((i % 2 + 1))gbit --quiet || break
	done
	echo "$i" >"$TMP/changed"
}

beside_a_writer()
{
	host beside
	works "one that changes" setup add moving --to 10.81.0.0/16 --via 10.78.0.254 \
		--rate 1gbit --rtt 10ms --shaper tbf --quiet eth1
	rm -f "$TMP/changed"
	change_often &
	show_all
	wait $!
	equal "a writer beside show: changes" 40 "$(<"$TMP/changed")"
	works "a writer beside show: undo" setup undo --quiet --all
	host_end
}

held_up()
{
	host held-up
	mkdir -p "$CTCP_RUNDIR"
	exec 7<>"$CTCP_RUNDIR/lock"
	flock 7
	echo 4711 >&7
	complains "another run that does not end" 6 'another ctcp-setup.* 4711' \
		setup "${CIRCUIT[@]}" eth1
	complains "undo beside it" 6 'another ctcp-setup.* 4711' \
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

# open_folder: where all may write, as /var/tmp, with the links there as a distribution has
# them
open_folder()
{
	local before

	OPEN=$(mktemp -d /tmp/ctcp-open.XXXXXX)
	defer "rm -r $OPEN"
	chmod 1777 "$OPEN"
	before=$(sysctl -n fs.protected_symlinks)
	defer "sysctl -qw fs.protected_symlinks=$before"
	sysctl -qw fs.protected_symlinks=1
	VICTIM=$TMP/victim
	echo "as it was" >"$VICTIM"
	chmod 644 "$VICTIM"
}

# untouched NAME: the file that a stranger would have changed
untouched()
{
	equal "$1: the victim" "644 as it was" "$(stat -c %a "$VICTIM") $(<"$VICTIM")"
}

# mode_of FILE: and its owner
mode_of()
{
	stat -c '%a %u' "$1"
}

# What a stranger has put in the place of the file gives him nothing.
saved_in_the_open()
{
	host save
	open_folder
	setup --quiet "${CIRCUIT[@]}" eth1
	as_nobody sh -c "echo theirs >$OPEN/circuits; chmod 6777 $OPEN/circuits"
	works "save over a stranger's file" setup save "$OPEN/circuits"
	equal "save over a stranger's file: its mode and owner" "755 0" "$(mode_of "$OPEN/circuits")"
	works "save over a stranger's file: diff" setup diff "$OPEN/circuits"
	chmod 6777 "$OPEN/circuits"
	works "save over one's own file" setup save "$OPEN/circuits"
	equal "save over one's own file: its mode and owner" "777 0" "$(mode_of "$OPEN/circuits")"
	as_nobody ln -s "$VICTIM" "$OPEN/link"
	says "save through a stranger's link" 1 \
		"$OPEN/link is another user's link in a folder where all may write, and is not followed" \
		setup save "$OPEN/link"
	untouched "save through a stranger's link"
	ln -s target "$OPEN/own"
	works "save over a link that leads nowhere" setup save "$OPEN/own"
	echo old >"$OPEN/target"
	ln -sf target "$OPEN/own"
	works "save through one's own link" setup save "$OPEN/own"
	equal "save through one's own link: it stays" "symbolic link" "$(stat -c %F "$OPEN/own")"
	same "save through one's own link: what it leads to" "$(setup save)" "$(<"$OPEN/target")"
	setup undo --quiet eth1
	host_end
}

# strange NAME PATTERN: neither written nor read
strange()
{
	complains "$1" 1 "$2" setup "${CIRCUIT[@]}" eth1
	complains "$1: undo" 1 "$2" setup undo --all
	complains "$1: show" 4 "$2" setup show
	untouched "$1"
}

strangers_folder()
{
	local normal=$CTCP_RUNDIR

	host strange
	CTCP_RUNDIR=$OPEN/run
	as_nobody mkdir "$CTCP_RUNDIR"
	as_nobody ln -s "$VICTIM" "$CTCP_RUNDIR/lock"
	strange "a stranger's folder" \
		"$CTCP_RUNDIR, the folder of the state, is user 65534's; it must be root's or your own"
	CTCP_RUNDIR=$OPEN/leads
	as_nobody ln -s "$normal" "$CTCP_RUNDIR"
	strange "a stranger's link to a folder" "cannot look at $CTCP_RUNDIR, .*Permission denied"
	CTCP_RUNDIR=$OPEN
	strange "a folder where all may write" \
		"$OPEN, .* can be written to by others, by its mode 1777; chmod go-w $OPEN"
	CTCP_RUNDIR=$TMP/linked
	mkdir "$CTCP_RUNDIR"
	ln -s "$VICTIM" "$CTCP_RUNDIR/lock"
	no_state "a link in the lock's place" "cannot open $CTCP_RUNDIR/lock: Too many"
	untouched "a link in the lock's place"
	CTCP_RUNDIR=$normal
	host_end
}

# --- no place for it -------------------------------------------------------

# no_state NAME PATTERN: a run must do nothing with the folder as it is
no_state()
{
	complains "$1" 1 "$2" setup "${CIRCUIT[@]}" eth1
}

# small_disk SIZE: the states' folder on a disk of its own
small_disk()
{
	CTCP_RUNDIR=$TMP/small
	mkdir -p "$CTCP_RUNDIR"
	mount -t tmpfs -o "size=$1,mode=755" ctcp "$CTCP_RUNDIR"
	defer "umount $CTCP_RUNDIR"
}

# Undo needs no more than the state that is there.
undo_without_room()
{
	local before

	before=$(in_host tc qdisc show dev eth1)
	mount -o remount,size=64k "$CTCP_RUNDIR"
	works "set up with room" setup --quiet "${CIRCUIT[@]}" eth1
	head -c 65536 /dev/zero >"$CTCP_RUNDIR/.fill" 2>/dev/null
	works "undo without room" setup undo eth1
	matches "undo without room: it is said" 'cannot write the state .*No space left' "$OUT$ERR"
	rm "$CTCP_RUNDIR/.fill"
	same "undo without room: the qdisc of before" "$before" \
		"$(in_host tc qdisc show dev eth1)"
	matches "undo without room: no circuit" '^no circuit' "$(setup list)"
	mount -o remount,size=8k "$CTCP_RUNDIR"
}

# A page holds a whole state.  Of two pages one is the lock file's: the state
# that a run begins with finds room, and the one that it ends with does not, as
# both are there for a moment.
full_disk()
{
	local normal=$CTCP_RUNDIR

	host full
	small_disk 8k
	head -c 8192 /dev/zero >"$CTCP_RUNDIR/.fill" 2>/dev/null
	no_state "no room for the state" 'the state .*No space left'
	rm "$CTCP_RUNDIR/.fill"
	no_state "no room for the state at the end" 'the state .*No space left'
	undo_without_room
	mount -o remount,ro "$CTCP_RUNDIR"
	no_state "a folder that can only be read" "$CTCP_RUNDIR.*Read-only"
	umount "$CTCP_RUNDIR"
	CTCP_RUNDIR=$TMP/file
	: >"$CTCP_RUNDIR"
	no_state "a file in place of the folder" "$CTCP_RUNDIR.*Not a directory"
	CTCP_RUNDIR=$TMP/none/below
	no_state "a folder that cannot be made" "$CTCP_RUNDIR.*No such file"
	CTCP_RUNDIR=$normal
	host_end
}

# --- damaged ---------------------------------------------------------------

# disbelieved NAME: the state as it is now
disbelieved()
{
	complains "$1: undo" 1 "the state $STATE .*damaged" setup undo eth1
	complains "$1: a run" 1 "the state $STATE .*damaged" \
		setup "${OTHER[@]}" eth1
	complains "$1: show" 4 "the state $STATE .*damaged" setup show
}

damaged()
{
	local before good size

	host damaged
	before=$(state)
	setup --quiet "${CIRCUIT[@]}" eth1
	STATE=$(find "$CTCP_RUNDIR" -name '*.state')
	good=$TMP/good
	cp "$STATE" "$good"
	size=$(stat -c %s "$good")
	: >"$STATE"
	disbelieved "an empty state"
	head -c $((size / 2)) "$good" >"$STATE"
	disbelieved "half a state"
	sed 's/--rtt 26ms/--rtt 26/' "$good" >"$STATE"
	disbelieved "a state with a time of no unit"
	tr e '\0' <"$good" >"$STATE"
	disbelieved "a state with a NUL in it"
	cp "$good" "$STATE"
	works "the state put back: undo" setup undo --quiet eth1
	unchanged "the state put back: undone, all as before" "$before"
	host_end
}

# --- beside it -------------------------------------------------------------

stray_files()
{
	local before

	host stray
	mkdir -p "$CTCP_RUNDIR"
	: >"$CTCP_RUNDIR/c9.eth7.bak"
	echo junk >"$CTCP_RUNDIR/c99999.state.bak"
	before=$(state)
	works "a run beside stray files" setup --quiet "${CIRCUIT[@]}" eth1
	works "show beside stray files" setup show
	works "undo beside stray files" setup undo --quiet eth1
	unchanged "stray files: all as before" "$before"
	rm "$CTCP_RUNDIR/c9.eth7.bak" "$CTCP_RUNDIR/c99999.state.bak"
	host_end
}

# A file of another boot tells of what a restart has undone.
other_boot()
{
	local before state

	host boot
	before=$(state)
	setup --quiet "${CIRCUIT[@]}" eth1
	state=$(find "$CTCP_RUNDIR" -name '*.state')
	cp "$state" "$TMP/kept"
	setup undo --quiet eth1
	sed 's/ boot .*/ boot 00000000-0000-0000-0000-000000000000/' "$TMP/kept" >"$state"
	works "show after another boot" setup show
	matches "show after another boot: no circuit" '^no circuit' "$OUT"
	works "undo after another boot" setup undo eth1
	matches "undo after another boot: nothing to undo" 'nothing to undo' "$OUT"
	unchanged "another boot: all as before" "$before"
	rm -f "$state"
	host_end
}

# --- namespaces ------------------------------------------------------------

# The module is the machine's: it goes with the last of its circuits.
namespaces()
{
	local one two before

	without_module || {
		skip "two namespaces" "the module is in use on this machine"
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
	works "undo of the first" setup undo eth1
	matches "undo of the first names whose the module is now, and its state" \
		"stays for eth1 .* rm $CTCP_RUNDIR/[ci][0-9]*.state && modprobe -r" "$OUT"
	succeeds "undo of the first leaves the module to the other" module_loaded
	matches "undo of the first leaves the other's shaper" 'rate 1Gbit' \
		"$(HOST=$one root_qdisc eth1)"
	HOST=$one
	works "undo of the other" setup undo --quiet eth1
	HOST=$two
	unchanged "both undone: all as before" "$before"
}

two_runs
in_a_row
twenty
beside_a_writer
held_up
others
saved_in_the_open
strangers_folder
full_disk
damaged
stray_files
other_boot
namespaces
finish
