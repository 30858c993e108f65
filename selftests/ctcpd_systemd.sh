#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: qemu
# suites: bookworm
#
# ctcpd.service, run by systemd itself: it is ready when it answers, shows signs of life, is
# begun again when it is killed or hangs, and may do next to nothing.
#
# How systemd runs there: systemd_lib.sh.  What the unit denies is asked by another unit, which
# is the same but for its program, ctcpd_denied.c.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/systemd_lib.sh"
need_root
need_commands ctcpd ctcpd_denied jq

SBIN=$PREFIX/sbin
WATCHDOG=3	# s, in place of the unit's

# drop_in UNIT LINE...: more of its [Service]
drop_in()
{
	mkdir -p "$TMP/disk/etc/systemd/system/$1.d"
	printf '%s\n' '[Service]' "${@:2}" >"$TMP/disk/etc/systemd/system/$1.d/test.conf"
}

# The same unit, with another program that ends
make_denied()
{
	cp "$(command -v ctcpd_denied)" "$TMP/disk/root$SBIN/"
	sed 's/^Type=.*/Type=oneshot/; /^Restart/d; /^Watchdog/d; /^ExecReload/d
		s/Directory=ctcpd$/Directory=ctcpd-denied/
		s|^ExecStart=.*|ExecStart='"$SBIN/ctcpd_denied ${FILES[*]}|" \
		"$TMP/disk/root$PREFIX/lib/systemd/system/ctcpd.service" \
		>"$TMP/disk/etc/systemd/system/ctcpd-denied.service"
}

FILES=(/var/lib/ctcpd-denied/own /run/ctcpd-denied/own /tmp/own /etc/theirs /usr/theirs
	/run/theirs /var/lib/theirs /home/theirs /sys/kernel/theirs /proc/sys/net/ipv4/tcp_wmem
	/sys/fs/cgroup/cgroup.procs /dev/kmsg)

configure()
{
	printf '[ctcpd]\npoll = %s\n' "$1" >"$TMP/disk/etc/ctcpd.conf"
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

stopped()
{
	succeeds "stopped" on_machine systemctl stop ctcpd
	equal "stopped: not a failure" success "$(unit ctcpd Result)"
	refused "stopped: its socket is gone" on_machine test -e /run/ctcpd
	succeeds "stopped: the history stays" on_machine test -s /var/lib/ctcpd/history.db
}

# --- what it may do ---------------------------------------------------------------------

# may NAME, may_not NAME: by the words of ctcpd_denied
result()
{
	tr ' ' '\n' <<<"$DENIED" | sed -n "s|^$1=||p"
}

may()
{
	equal "it may: $1" 0 "$(result "$1")"
}

may_not()
{
	at_least "it may not: $1: errno" 1 "$(result "$1")"
}

denied()
{
	local what

	succeeds "a unit with the same privileges" on_machine systemctl start ctcpd-denied
	DENIED=$(on_machine journalctl --quiet --output=cat --unit=ctcpd-denied | grep '^uid=')
	at_least "it is a user of its own" 1 "$(result uid)"
	equal "it has no capability" 0 "$(result capabilities)"
	for what in netlink inet "${FILES[@]:0:3}"; do
		may "$what"
	done
	for what in code bpf packet vsock mount nice userns "${FILES[@]:3}"; do
		may_not "$what"
	done
}

# what is installed goes again, but for a configuration that somebody has changed
uninstalled()
{
	local root=$TMP/disk/again

	make -s -C "$TOP/tools" O="$TOP/build/tools" install DESTDIR="$root" >/dev/null 2>&1
	succeeds "make install: the configuration" test -s "$root/etc/ctcpd.conf"
	echo "# mine" >>"$root/etc/ctcpd.conf"
	make -s -C "$TOP/tools" O="$TOP/build/tools" install DESTDIR="$root" >/dev/null 2>&1
	succeeds "make install, once more: it stays as it was" grep -q mine "$root/etc/ctcpd.conf"
	make -s -C "$TOP/tools" O="$TOP/build/tools" uninstall DESTDIR="$root" >/dev/null 2>&1
	equal "make uninstall: what is left" "$root/etc/ctcpd.conf" "$(find "$root" -type f)"
}

lone_host
make_disk
make_denied
configure 1s
drop_in ctcpd.service "WatchdogSec=$WATCHDOG" TimeoutAbortSec=1s
boot "$SRC"
cases ready lives reloaded killed hangs denied stopped uninstalled
power_off
finish
