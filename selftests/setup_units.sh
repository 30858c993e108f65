#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# The units that make install installs: systemd-analyze, where it is installed, knows every
# key, and each line has the syntax of systemd.syntax(7); their commands do what they are for;
# they do not delay other units at boot.  systemd itself runs them in setup_systemd.sh.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands ctcp-setup flock
need_module

UNITS="ctcp-setup.service ctcp-setup-watch.service"
PROGRAM=$(command -v ctcp-setup)
CIRCUITS=/etc/ctcp-setup/circuits

for unit in $UNITS; do
	sed "s|@SBINDIR@/ctcp-setup|$PROGRAM|" "$TOP/tools/systemd/$unit.in" >"$TMP/$unit"
done

# keys UNIT KEY: its values, a line each
keys()
{
	sed -n "s/^$2=//p" "$TMP/$1"
}

# strangers UNIT: lines that are none of a unit
strangers()
{
	grep -vE '^(#.*|\[(Unit|Service|Install)\]|[A-Z][A-Za-z]+=.*|)$' "$TMP/$1"
}

verified()
{
	systemd-analyze verify --man=no "$TMP/$1" 2>&1
}

for unit in $UNITS; do
	equal "$unit: each line is one of a unit" "" "$(strangers "$unit")"
	equal "$unit: nothing is left to fill in" "" "$(grep -o '@[A-Z]*@' "$TMP/$unit")"
	if command -v systemd-analyze >/dev/null; then
		equal "$unit: systemd-analyze has no objection" "" "$(verified "$unit")"
		sed -i 's/^ExecStart=/Exec&/' "$TMP/$unit"
		matches "$unit: it would have" "Unknown key|lacks" "$(verified "$unit")"
		sed -i 's/^ExecExec/Exec/' "$TMP/$unit"
	fi
	equal "$unit: nothing waits for it" "" "$(keys "$unit" 'Before\|RequiredBy')"
	equal "$unit: no ExecStop, as circuits stay" "" "$(keys "$unit" ExecStop)"
done
equal "only where there is a file with something in it" "$CIRCUITS" \
	"$(keys ctcp-setup.service ConditionFileNotEmpty)"
for neighbour in systemd-networkd NetworkManager networking; do
	matches "behind $neighbour" "(^| )$neighbour.service( |$)" \
		"$(keys ctcp-setup.service After)"
done

# runs UNIT KEY: that, with a file of the test's in place of the administrator's
runs()
{
	local words

	words=$(keys "$1" "$2")
	# shellcheck disable=SC2086 # its words
	works "$1: $2" in_host ${words//$CIRCUITS/$TMP/circuits}
}

without_module
host units
BEFORE=$(state)
echo "add lhc --to 10.81.0.0/16 --via 10.78.0.254 --rate 1gbit --rtt 10ms eth1" >"$TMP/circuits"
runs ctcp-setup.service ExecStart
equal "ExecStart: the circuit" 125000000 "$(circuit_value lhc rate)"
sed -i s/1gbit/2gbit/ "$TMP/circuits"
runs ctcp-setup.service ExecReload
equal "ExecReload: the circuit" 250000000 "$(circuit_value lhc rate)"
setup undo --quiet --all
sed 's/lhc/ska/; s/10.81/10.82/; s/eth1/eth9/' "$TMP/circuits" >>"$TMP/circuits"
words=$(keys ctcp-setup.service ExecStart)
# shellcheck disable=SC2086 # its words
run in_host ${words//$CIRCUITS/$TMP/circuits}
equal "a device is dead: ExecStart: exit status" 5 "$RC"
matches "a device is dead: it is named" '^note: circuit ska: there is no device eth9' "$ERR"
equal "a device is dead: the other circuit" 250000000 "$(circuit_value lhc rate)"
equal "a device is dead: it is tried again" on-failure "$(keys ctcp-setup.service Restart)"
refused "a device is dead: and that is not prevented" \
	grep -qw 5 <<<"$(keys ctcp-setup.service RestartPreventExitStatus)"
exec 7<>"$CTCP_RUNDIR/lock"
flock 7
# shellcheck disable=SC2046 # its words
run in_host $(sed "s|$CIRCUITS|$TMP/circuits|" <<<"$(keys ctcp-setup.service ExecReload)")
matches "another ctcp-setup is at work: it is named" 'another ctcp-setup has been at work' "$ERR"
refused "another ctcp-setup is at work: it is tried again" \
	grep -qw "$RC" <<<"$(keys ctcp-setup.service RestartPreventExitStatus)"
exec 7>&-
echo "add" >"$TMP/wrong"
# shellcheck disable=SC2086 # its words
run in_host ${words//$CIRCUITS/$TMP/wrong}
matches "a file that is wrong: it is not tried again" "(^| )$RC( |$)" \
	"$(keys ctcp-setup.service RestartPreventExitStatus)"
# shellcheck disable=SC2046 # its words
spawn -e -n "$HOST" $(keys ctcp-setup-watch.service ExecStart) >"$TMP/watch" 2>&1 &
WATCH=$!
defer "kill $WATCH"
succeeds "ctcp-setup-watch.service: ExecStart" until_true 10 grep -q watching "$TMP/watch"
kill $WATCH
wait $WATCH
equal "ctcp-setup-watch.service: it ends, exit status" 0 $?
works "undo" setup undo --quiet --all
unchanged "all as before" "$BEFORE"
host_end
finish
