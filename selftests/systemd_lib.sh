# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# systemd_lib.sh: systemd as the first process of a container; source it after lib.sh
#
# It has namespaces of its own, the network of a namespace of the test, and the units of make
# install: nothing of the machine itself is started or stopped.  Of systemd's own units it has
# those that begin a boot, and the journal.  One of the root file systems of the emulated machines
# has systemd (lab/suite.sh, packages of a suite), so that the host need not have it.

SYSTEMD=/lib/systemd/systemd
need_commands systemctl journalctl make
[ -x $SYSTEMD ] || skip_all "$SYSTEMD is not installed"

# where make install puts its files
PREFIX=$(sed -n 's/^PREFIX[ \t]*?= *//p' "$TOP/tools/Makefile")
WAIT=60		# s that systemd may take on a slow machine
THEIRS="sysinit.target basic.target multi-user.target network.target network-online.target
shutdown.target umount.target final.target poweroff.target systemd-poweroff.service
systemd-journald.service systemd-journald.socket systemd-journald-dev-log.socket"

# --- the machine -----------------------------------------------------------------

# make_disk: the files that survive a boot: those installed, and /etc
make_disk()
{
	mkdir -p "$TMP"/disk/{units,etc,work}
	# shellcheck disable=SC2086 # a list of names
	(cd /lib/systemd/system && cp $THEIRS "$TMP/disk/units")
	mkdir "$TMP/disk/units/sysinit.target.wants"
	ln -s ../systemd-journald.service "$TMP/disk/units/sysinit.target.wants"
	make -s -C "$TOP/tools" O="$TOP/build/tools" install DESTDIR="$TMP/disk/root" \
		>"$TMP/make" 2>&1 || fail "make install" "$(<"$TMP/make")"
	mkdir -p "$TMP/disk/etc/systemd/system"
}

# Mounts of the container, which the rest of the machine does not see
mounts()
{
	cat <<-END
		mount -t proc proc /proc
		mount -t cgroup2 cgroup /sys/fs/cgroup
		mount -t bpf -o mode=700 bpf /sys/fs/bpf
		mount -t overlay -o lowerdir=/etc,upperdir=$TMP/disk/etc,workdir=$TMP/disk/work etc /etc
		mount --bind $TMP/disk/units /lib/systemd/system
		mount --bind $TMP/disk/root$PREFIX $PREFIX
		mount -t tmpfs -o mode=755 run /run
		mount -t tmpfs -o mode=755 lib /var/lib
		mount -t tmpfs logs /var/log
	END
}

# boot NAMESPACE
boot()
{
	spawn -e -n "$1" unshare --mount --pid --uts --ipc --cgroup --propagation private --fork \
		--kill-child sh -e -c "$(mounts)
		exec env -i container=lab PATH=$PATH $SYSTEMD --unit=multi-user.target" \
		>"$TMP/systemd" 2>&1 </dev/null &
	MACHINE=$!
	defer "kill -KILL $MACHINE"
	until_true "$WAIT" first_process
	INIT=$(first_process)
	until_true "$WAIT" on_machine systemctl --quiet is-active sysinit.target ||
		fail "systemd begins" "$(<"$TMP/systemd")"
}

first_process()
{
	pgrep -P "$MACHINE"
}

# on_machine COMMAND...: run it in the container, as root
on_machine()
{
	nsenter --target "$INIT" --all env -u CTCP_RUNDIR LC_ALL=C "$@"
}

is_off()
{
	[ ! -e "/proc/$INIT" ]
}

power_off()
{
	on_machine systemctl --no-block start poweroff.target
	until_true "$WAIT" is_off
	succeeds "the machine ends" is_off
}

# --- what the tests look at -------------------------------------------------------------

# unit NAME PROPERTY
unit()
{
	on_machine systemctl show --property="$2" --value "$1"
}

unit_is()
{
	[ "$(unit "$1" "$2")" = "$3" ]
}

# becomes DESCRIPTION UNIT STATE
becomes()
{
	until_true "$WAIT" unit_is "$2" ActiveState "$3"
	equal "$1: $2 is" "$3" "$(unit "$2" ActiveState)"
}

# journal UNIT PATTERN: true if a line of the unit's journal matches
journal()
{
	on_machine journalctl --quiet --output=cat --unit="$1" | grep -qE -- "$2"
}
