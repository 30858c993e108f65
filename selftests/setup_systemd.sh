#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: qemu
# suites: bookworm
#
# The units that make install installs, run by systemd itself: enabled, at boot, reloaded,
# with a device that comes late, a file that is wrong, and the long-running half killed.
#
# How systemd runs there: systemd_lib.sh.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
. "$SELFTESTS/systemd_lib.sh"
need_commands ctcp-setup
need_module

# --- the machine -----------------------------------------------------------------

# one of somebody else's, who waits for the boot to be over
make_login()
{
	mkdir -p "$TMP/disk/etc/ctcp-setup"
	cat >"$TMP/disk/etc/systemd/system/login.service" <<-END
		[Service]
		Type=oneshot
		RemainAfterExit=yes
		ExecStart=/bin/true
		[Install]
		WantedBy=multi-user.target
	END
}

rate_is()
{
	[ "$(circuit_value "$1" rate)" = "$2" ]
}

# gets DESCRIPTION NAME RATE
gets()
{
	if until_true "$WAIT" rate_is "$2" "$3"; then
		pass "$1: $2 has its rate"
	else
		fail "$1: rate of $2" "expected: $3" "got:      $(circuit_value "$2" rate)" \
			"$(on_machine journalctl --quiet --output=short-monotonic)"
	fi
}

has_route()
{
	in_host ip route show 10.81.0.0/16 proto 199 | grep -q 'congctl circuit'
}

watches()
{
	journal ctcp-setup-watch 'watching' && unit_is ctcp-setup-watch SubState running
}

# circuits RATE [LINE...]: the administrator's file
circuits()
{
	local rate=$1

	shift
	printf '%s\n' "add lhc --to 10.81.0.0/16 --via 10.78.0.254 --rate $rate --rtt 10ms eth1" \
		"$@" >"$TMP/disk/etc/ctcp-setup/circuits"
}

SKA="add ska --to 10.82.0.0/16 --via 10.79.0.254 --rate 1gbit --rtt 10ms eth9"

# --- a day of it -------------------------------------------------------------------

enabled()
{
	boot "$HOST"
	succeeds "enabled" on_machine systemctl enable ctcp-setup ctcp-setup-watch login
	succeeds "no file, so nothing to do: it may be started" \
		on_machine systemctl start ctcp-setup
	equal "no file: it is not run" no "$(unit ctcp-setup ConditionResult)"
	power_off
	host_end
}

first_boot()
{
	circuits 1gbit "$SKA"
	without_module
	host first
	boot "$HOST"
	gets "at boot, by a module that it loads" lhc 125000000
	becomes "a device is not there: what others want at boot is done" login active
	equal "a device is not there: ctcp-setup is" activating "$(unit ctcp-setup ActiveState)"
	another_device eth9
	in_host ip addr add 10.79.0.1/24 dev eth9
	gets "a device comes within the time" ska 125000000
	becomes "a device comes within the time" ctcp-setup active
	becomes "then" multi-user.target active
}

watched()
{
	local before

	until_true "$WAIT" watches
	succeeds "ctcp-setup-watch watches" watches
	in_host ip route del 10.81.0.0/16
	until_true "$WAIT" has_route
	succeeds "a route is taken: it is there again" has_route
	before=$(unit ctcp-setup-watch MainPID)
	on_machine systemctl kill --signal=KILL ctcp-setup-watch
	until_true "$WAIT" unit_is ctcp-setup-watch NRestarts 1
	equal "it is killed: it begins again" 1 "$(unit ctcp-setup-watch NRestarts)"
	until_true "$WAIT" watches
	refused "it is killed: and is another process" \
		unit_is ctcp-setup-watch MainPID "$before"
	in_host ip route del 10.81.0.0/16
	until_true "$WAIT" has_route
	succeeds "a route is taken then: it is there again" has_route
}

changed()
{
	circuits 2gbit "$SKA"
	succeeds "the file changes: reload" on_machine systemctl reload ctcp-setup
	gets "the file changes" lhc 250000000
	echo "add" >>"$TMP/disk/etc/ctcp-setup/circuits"
	refused "the file is wrong: reload" on_machine systemctl reload ctcp-setup
	succeeds "the file is wrong: journalctl names the line" \
		journal ctcp-setup 'circuits, line 3: '
	refused "the file is wrong: restart" on_machine systemctl restart ctcp-setup
	becomes "the file is wrong" ctcp-setup failed
	equal "the file is wrong: it is not tried again" 0 "$(unit ctcp-setup NRestarts)"
	equal "the file is wrong: what was there stays" 250000000 "$(circuit_value lhc rate)"
	circuits 2gbit "$SKA"
	succeeds "the file is mended" on_machine systemctl restart ctcp-setup
	succeeds "stopped" on_machine systemctl stop ctcp-setup
	equal "stopped: circuits stay" 250000000 "$(circuit_value lhc rate)"
}

# later than the unit waits, and without a minute of this test's time
second_boot()
{
	mkdir -p "$TMP/disk/etc/systemd/system/ctcp-setup.service.d"
	cat >"$TMP/disk/etc/systemd/system/ctcp-setup.service.d/wait.conf" <<-END
		[Service]
		ExecStart=
		$(grep ^ExecStart= "$TMP/disk/root$PREFIX/lib/systemd/system/ctcp-setup.service" |
			sed 's/--wait [^ ]*/--wait 1s/')
	END
	host second
	boot "$HOST"
	gets "the next boot" lhc 250000000
	becomes "a device comes late: the boot ends without it" multi-user.target active
	until_true "$WAIT" unit_is ctcp-setup ExecMainStatus 5
	equal "a device comes late: exit status before" 5 "$(unit ctcp-setup ExecMainStatus)"
	succeeds "a device comes late: journalctl says which" \
		journal ctcp-setup 'circuit ska: there is no device eth9'
	another_device eth9
	in_host ip addr add 10.79.0.1/24 dev eth9
	gets "a device comes late" ska 125000000
	becomes "a device comes late" ctcp-setup active
	succeeds "taken away" on_machine ctcp-setup undo --all --quiet
	equal "taken away: circuits" "" "$(configured)"
	power_off
	host_end
}

make_disk
make_login
host none
enabled
first_boot
watched
changed
power_off
host_end
second_boot
finish
