#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: qemu
# suites: bookworm
#
# ctcpd.service, run by systemd itself: it is ready when it answers, shows signs of life, is
# begun again when it is killed or hangs but not where its file is wrong, and may do next to
# nothing.  With act.conf it may pace, and nothing else more; its history is the same, there and
# back.
#
# How systemd runs there: systemd_lib.sh.  What the unit denies is asked by other units, which
# are the same but for their program: ctcpd_denied.c, and ctcpd_hands and ctcpd_hands_bpf, which
# pace a remote.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/systemd_lib.sh"
need_root
need_commands ctcpd ctcp-setup ctcpd_denied ctcpd_hands ctcpd_hands_bpf jq tc

SBIN=$PREFIX/sbin
WATCHDOG=3	# s, in place of the unit's

# drop_in UNIT LINE...: more of its [Service]
drop_in()
{
	mkdir -p "$TMP/disk/etc/systemd/system/$1.d"
	printf '%s\n' '[Service]' "${@:2}" >"$TMP/disk/etc/systemd/system/$1.d/test.conf"
}

# like_it UNIT PROGRAM WORD...: the same unit, with another program, which ends
like_it()
{
	local unit=$1 program=$2

	shift 2
	cp "$(command -v "$program")" "$TMP/disk/root$SBIN/"
	sed 's/^Type=.*/Type=oneshot/; /^Restart/d; /^Watchdog/d; /^ExecReload/d
		s/Directory=ctcpd$/Directory='"$unit"'/
		s|^ExecStart=.*|ExecStart='"$SBIN/$program $*|" \
		"$TMP/disk/root$PREFIX/lib/systemd/system/ctcpd.service" \
		>"$TMP/disk/etc/systemd/system/$unit.service"
}

# acting UNIT: with act.conf, as ctcpd(8) says that it is switched on
acting()
{
	mkdir -p "$TMP/disk/etc/systemd/system/$1.service.d"
	ln -s "$PREFIX/share/ctcpd/act.conf" "$TMP/disk/etc/systemd/system/$1.service.d/"
}

# files UNIT: its own, and others
files()
{
	echo "/var/lib/$1/own" "/run/$1/own" /tmp/own /sys/fs/bpf/ctcpd/own/ "${THEIRS_FILES[@]}"
}

THEIRS_FILES=(/run/ctcp-setup/theirs /etc/theirs /usr/theirs /run/theirs /var/lib/theirs
	/home/theirs /sys/kernel/theirs /sys/fs/bpf/theirs/ /proc/sys/net/ipv4/tcp_wmem
	/sys/fs/cgroup/cgroup.procs /dev/kmsg)
PACED=10.81.0.7/32

make_units()
{
	local unit

	# shellcheck disable=SC2046 # names without spaces
	for unit in ctcpd-denied ctcpd-act-denied; do
		like_it $unit ctcpd_denied $(files $unit)
	done
	for unit in ctcpd-hands ctcpd-act-hands; do
		like_it $unit ctcpd_hands apply eth1 $PACED 100mbit 47ms
	done
	for unit in ctcpd-sockets ctcpd-act-sockets; do
		like_it $unit ctcpd_hands_bpf apply eth1 $PACED 100mbit 47ms
	done
	like_it ctcpd-act-sockets-end ctcpd_hands_bpf undo
	acting ctcpd-act-denied
	acting ctcpd-act-hands
	acting ctcpd-act-sockets
	acting ctcpd-act-sockets-end
}

# configure POLL [MODE]
configure()
{
	printf '[ctcpd]\npoll = %s\nmode = %s\n' "$1" "${2:-observe}" \
		>"$TMP/disk/etc/ctcpd.conf"
}

ask()
{
	on_machine "$SBIN/ctcpd" "$@"
}

answers()
{
	ask status
}

# --- its life -----------------------------------------------------------------------

ready()
{
	succeeds "enabled, and started" on_machine systemctl enable --now ctcpd
	# Type=notify: systemctl has waited for READY=1
	succeeds "it is ready: root is answered" answers
	equal "it is ready" active "$(unit ctcpd ActiveState)"
	equal "it says what it does" observes "$(unit ctcpd StatusText)"
	succeeds "the log is the journal" journal ctcpd '^ctcpd [0-9.]+ observes'
	refused "with priorities, which the journal takes" journal ctcpd '<[0-7]>'
	equal "its history is kept" true "$(ask status --json | jq .history_ok)"
	succeeds "its history: where it should be" on_machine test -s /var/lib/ctcpd/history.db
	refused "nobody else is answered" on_machine setpriv --reuid 65534 --regid 65534 \
		--clear-groups "$SBIN/ctcpd" status
	matches "nobody else is answered: why" 'only root' "$(on_machine setpriv --reuid 65534 \
		--regid 65534 --clear-groups "$SBIN/ctcpd" status 2>&1)"
}

polls()
{
	ask status --json | jq .polls
}

polls_are()
{
	[ "$(polls)" -ge "$1" ]
}

# longer than the watchdog waits
lives()
{
	local from

	from=$(polls)
	until_true "$WAIT" polls_are $((from + 3 * WATCHDOG))
	at_least "it shows signs of life: polls" $((from + 3 * WATCHDOG)) "$(polls)"
	equal "it shows signs of life: begun again" 0 "$(unit ctcpd NRestarts)"
}

reloaded()
{
	configure 2s
	succeeds "reload" on_machine systemctl reload ctcpd
	succeeds "reload: the log has what changed" until_true "$WAIT" journal ctcpd 'poll was "1s", is "2s"'
	configure 2
	on_machine systemctl reload ctcpd
	succeeds "a file that is wrong: the log has the line" \
		until_true "$WAIT" journal ctcpd 'ctcpd.conf, line 2: poll: "2" has no unit'
	succeeds "a file that is wrong: it goes on" answers
	configure 1s
	on_machine systemctl reload ctcpd
}

killed()
{
	on_machine systemctl kill --signal=KILL ctcpd
	until_true "$WAIT" unit_is ctcpd NRestarts 1
	equal "it is killed: begun again" 1 "$(unit ctcpd NRestarts)"
	succeeds "it is killed: the next one answers" until_true "$WAIT" answers
}

hangs()
{
	on_machine systemctl kill --signal=STOP ctcpd
	until_true "$WAIT" unit_is ctcpd NRestarts 2
	equal "it hangs: begun again" 2 "$(unit ctcpd NRestarts)"
	succeeds "it hangs: the watchdog it was" journal ctcpd 'Watchdog timeout'
	succeeds "it hangs: the next one answers" until_true "$WAIT" answers
}

# no restart mends that
wrong_file()
{
	configure 2
	refused "a file that is wrong: restart" on_machine systemctl restart ctcpd
	becomes "a file that is wrong" ctcpd failed
	equal "a file that is wrong: exit status" 78 "$(unit ctcpd ExecMainStatus)"
	equal "a file that is wrong: it is not begun again" 0 "$(unit ctcpd NRestarts)"
	configure 1s
	succeeds "the file is mended: restart" on_machine systemctl restart ctcpd
	succeeds "the file is mended: root is answered" until_true "$WAIT" answers
}

stopped()
{
	succeeds "stopped" on_machine systemctl stop ctcpd
	equal "stopped: not a failure" success "$(unit ctcpd Result)"
	refused "stopped: its socket is gone" on_machine test -e /run/ctcpd
	succeeds "stopped: the history stays" on_machine test -s /var/lib/ctcpd/history.db
}

# --- what it may do ---------------------------------------------------------------------

# may NAME, may_not NAME, may_not_write FILE: by the words of ctcpd_denied
result()
{
	tr ' ' '\n' <<<"$DENIED" | sed -n "s|^$1=||p"
}

may()
{
	equal "$UNIT: it may: $1" 0 "$(result "$1")"
}

may_not()
{
	at_least "$UNIT: it may not: $1: errno" 1 "$(result "$1")"
}

# EPERM, EACCES or EROFS: where there is no such folder nothing was denied
may_not_write()
{
	matches "$UNIT: it may not: $1: errno" '^(1|13|30)$' "$(result "$1")"
}

# asked UNIT UID CAPABILITIES: what it may, beside what is written
asked()
{
	local what

	UNIT=$1
	succeeds "$UNIT: the same privileges" on_machine systemctl start "$UNIT"
	DENIED=$(on_machine journalctl --quiet --output=cat --unit="$UNIT" | grep '^uid=')
	matches "$UNIT: its user" "$2" "$(result uid)"
	equal "$UNIT: its capabilities" "$3" "$(result capabilities)"
	for what in netlink inet /var/lib/$UNIT/own /run/$UNIT/own /tmp/own; do
		may "$what"
	done
	for what in code packet vsock mount nice userns; do
		may_not "$what"
	done
	for what in "${THEIRS_FILES[@]:1}"; do
		may_not_write "$what"
	done
}

# Of CAP_NET_ADMIN, CAP_PERFMON and CAP_BPF
ACTS=$(printf %x $((1 << 12 | 1 << 38 | 1 << 39)))

denied()
{
	on_machine mkdir -p -m 755 /run/ctcp-setup
	asked ctcpd-denied '^[1-9]' 0
	may_not bpf
	may_not_write /run/ctcp-setup/theirs
	asked ctcpd-act-denied '^0$' "$ACTS"
	may bpf
	may /sys/fs/bpf/ctcpd/own/
	on_machine rm -r /sys/fs/bpf/ctcpd
	may /run/ctcp-setup/theirs
	on_machine rm -r /run/ctcp-setup
}

# --- it paces -------------------------------------------------------------------------

classes()
{
	on_machine tc class show dev eth1
}

# Of an empty /run: the folder is made for it
paces()
{
	refused "observe: it cannot pace" on_machine systemctl start ctcpd-hands
	equal "observe: nothing is set" "" "$(classes)"
	succeeds "act: it paces a remote" on_machine systemctl start ctcpd-act-hands
	matches "act: its class" 'rate 100Mbit' "$(classes)"
	equal "act: the folder of the state" "755 root" \
		"$(on_machine stat -c '%a %U' /run/ctcp-setup)"
	equal "act: ctcp-setup tells whose it is" ctcpd "$(on_machine "$SBIN/ctcp-setup" \
		list --json | jq -r .[].owner)"
	succeeds "act: ctcp-setup takes it back" on_machine "$SBIN/ctcp-setup" undo eth1
	equal "act: nothing is left" "" "$(classes)"
}

pinned()
{
	on_machine find /sys/fs/bpf/ctcpd -type f 2>/dev/null | wc -l
}

# By a program below the root cgroup, which outlasts the unit
paces_sockets()
{
	[ "$(on_machine stat -f -c %T /sys/fs/bpf)" = bpf_fs ] ||
		fail "a bpffs, as systemd has it" "$(on_machine stat -f -c %T /sys/fs/bpf)"
	refused "observe: it cannot pace sockets" on_machine systemctl start ctcpd-sockets
	equal "observe: nothing is pinned" 0 "$(pinned)"
	succeeds "act: it paces sockets" on_machine systemctl start ctcpd-act-sockets
	equal "act: what paces them is pinned" 4 "$(pinned)"
	equal "act: the folder of what is pinned" "700 root" \
		"$(on_machine stat -c '%a %U' /sys/fs/bpf/ctcpd)"
	succeeds "act: the next one goes on with it, and takes it back" \
		on_machine systemctl start ctcpd-act-sockets-end
	equal "act: nothing is left but the folder" "" \
		"$(on_machine find /sys/fs/bpf/ctcpd -mindepth 1)"
}

inode_of_history()
{
	on_machine stat -L -c %i /var/lib/ctcpd/history.db
}

user()
{
	on_machine ps -o uid= -p "$(unit ctcpd MainPID)" | tr -d ' '
}

# restarted DESCRIPTION INODE: by the unit as it is on the disk now
restarted()
{
	on_machine systemctl daemon-reload
	succeeds "$1: restarted" on_machine systemctl restart ctcpd
	succeeds "$1: root is answered" until_true "$WAIT" answers
	equal "$1: its history is kept" true "$(ask status --json | jq .history_ok)"
	equal "$1: its history is the same file" "$2" "$(inode_of_history)"
}

is_acting()
{
	[ "$(ask status --json | jq -r .pacing.state)" = acts ]
}

# From observe to act and back, by what ctcpd(8) says
acts()
{
	local history

	history=$(inode_of_history)
	acting ctcpd
	restarted "act.conf" "$history"
	equal "act.conf: its user" 0 "$(user)"
	configure 1s act
	on_machine systemctl restart ctcpd
	succeeds "mode = act: it acts" until_true "$WAIT" is_acting
	rm "$TMP/disk/etc/systemd/system/ctcpd.service.d/act.conf"
	configure 1s
	restarted "back" "$history"
	at_least "back: a user of its own" 1 "$(user)"
}

hindered()
{
	ask status --json | jq -e '.pacing.changes_error != null'
}

is_free()
{
	ask status --json | jq -e '.pacing.changes_error == null and .pacing.paced == 0'
}

# Its own user may not take back what an earlier run paced, and says who may, and how.
left_behind()
{
	on_machine systemctl stop ctcpd
	succeeds "left behind: by an earlier run" on_machine systemctl start ctcpd-act-hands
	on_machine systemctl start ctcpd
	succeeds "left behind: the log has the command" \
		until_true "$WAIT" journal ctcpd 'as root, .*ctcp-setup undo'
	succeeds "left behind: status says why" until_true "$WAIT" hindered
	matches "left behind: it stays" 'rate 100Mbit' "$(classes)"
	succeeds "left behind: taken back by hand" on_machine "$SBIN/ctcp-setup" undo eth1
	succeeds "left behind: status has nothing more" until_true "$WAIT" is_free
}

# what is installed goes again, but for a configuration that somebody has changed
uninstalled()
{
	local root=$TMP/disk/again

	make -s -C "$TOP/tools" O="$TOP/build/tools" install DESTDIR="$root" >/dev/null 2>&1
	succeeds "make install: the configuration" test -s "$root/etc/ctcpd.conf"
	succeeds "make install: the dashboard" \
		jq -e .panels "$root$PREFIX/share/ctcpd/grafana/ctcpd.json"
	echo "# mine" >>"$root/etc/ctcpd.conf"
	make -s -C "$TOP/tools" O="$TOP/build/tools" install DESTDIR="$root" >/dev/null 2>&1
	succeeds "make install, once more: it stays as it was" grep -q mine "$root/etc/ctcpd.conf"
	make -s -C "$TOP/tools" O="$TOP/build/tools" uninstall DESTDIR="$root" >/dev/null 2>&1
	equal "make uninstall: what is left" "$root/etc/ctcpd.conf" "$(find "$root" -type f)"
	refused "make uninstall: no folder of its own is left" test -e "$root$PREFIX/share/ctcpd"
}

one_device()
{
	ip -n "$SRC" link add eth1 numtxqueues 1 type veth peer name far1
	ip -n "$SRC" link set eth1 up
	ip -n "$SRC" link set far1 up
}

lone_host
one_device
make_disk
make_units
configure 1s
drop_in ctcpd.service "WatchdogSec=$WATCHDOG" TimeoutAbortSec=1s
boot "$SRC"
cases ready lives reloaded killed hangs wrong_file denied paces paces_sockets acts left_behind stopped \
	uninstalled
power_off
finish
