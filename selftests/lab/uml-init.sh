#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The first process of the virtual-time machine.
#
# Its root is the host's, seen through hostfs, read-only.  An overlay on tmpfs
# makes it writable without a byte reaching the host; only OUT, a folder that
# uml.sh made, is the host's own.  From the kernel's command line, or from the
# file LAB_WORDS named there (uml.sh -s): LAB_SCRIPT, LAB_OUT, LAB_KO, LAB_DIR
# (working folder), and what the caller added.

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/root LANG=C.UTF-8 LAB=uml

enter_overlay()
{
	mount -t tmpfs -o size=4g lab /mnt
	mkdir /mnt/upper /mnt/work /mnt/top
	mount -t overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work \
		lab /mnt/top
	for kind in proc sysfs; do
		where=/mnt/top/$kind
		[ $kind = sysfs ] && where=/mnt/top/sys
		mount -t $kind $kind "$where"
	done
	mount -t devtmpfs dev /mnt/top/dev
	mkdir -p /mnt/top/dev/pts /mnt/top/run /mnt/top/lab
	mount -t devpts devpts /mnt/top/dev/pts
	ln -s /proc/self/fd /mnt/top/dev/fd
	mount -t tmpfs run /mnt/top/run
	mount -t hostfs -o "$LAB_OUT" none /mnt/top/lab
}

# modprobe and libkmod find the module where they always look, and what the kernel has.
install_module()
{
	dir=/lib/modules/$(uname -r)
	mkdir -p "$dir/extra"
	cp "$LAB_KO" "$dir/extra/"
	cp "$LAB_BUILTIN" "$dir/modules.builtin"
	touch "$dir/modules.order" "$dir/modules.builtin.modinfo"
	depmod
}

# An allocation that fails because a test asked for it (LAB_KERNEL=debug) is no
# complaint of the kernel's.
faults_quiet()
{
	[ ! -e /sys/kernel/debug/failslab/verbose ] ||
		echo 0 >/sys/kernel/debug/failslab/verbose
}

# What nobody points to any more, in a kernel that looks for it (LAB_KERNEL=leaks).
# An object counts once it is five seconds old, and twice found white: pointers
# on the move are no leak.
LEAKS=/sys/kernel/debug/kmemleak

leaks_before()
{
	[ -e $LEAKS ] || return
	sleep 6
	echo scan >$LEAKS
	echo clear >$LEAKS	# of the boot, not of the test
}

leaks_after()
{
	[ -e $LEAKS ] || return
	for _ in 1 2; do
		sleep 6
		echo scan >$LEAKS
	done
	cat $LEAKS >/lab/leaks
}

# Words of the environment lie on a program's stack, and a longer path moves what
# is below it: enough to make another run.  With a seed, where the tree and the
# host's folder are is nothing that a test sees.
fixed_names()
{
	mkdir /tree
	mount --bind "$LAB_DIR" /tree
	LAB_SCRIPT=/tree/${LAB_SCRIPT#"$LAB_DIR"/}
	LAB_DIR=/tree
	unset LAB_OUT LAB_KO LAB_INIT LAB_WORDS
}

if [ -z "${LAB_INSIDE:-}" ]; then
	if [ -n "${LAB_WORDS:-}" ]; then
		set -a
		. "$LAB_WORDS"
		set +a
	fi
	mount -t proc proc /proc
	mount -t sysfs sysfs /sys
	enter_overlay
	# moved to /: a process whose root is elsewhere may make no user namespace
	cd /mnt/top || exit
	mount -n --move . /
	LAB_INSIDE=1 exec chroot . "${LAB_INIT:-$0}"
fi

hostname lab
ip link set lo up
if [ -n "${LAB_KO:-}" ]; then install_module; fi
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
faults_quiet
leaks_before
if [ -n "${LAB_WORDS:-}" ]; then fixed_names; fi
cd "$LAB_DIR" || exit
"$LAB_SCRIPT"
rc=$?
leaks_after
dmesg >/lab/dmesg
cat /proc/sys/kernel/tainted >/lab/tainted
echo $rc >/lab/rc
sync
busybox poweroff -f
