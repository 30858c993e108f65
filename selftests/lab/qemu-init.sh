#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The first process of the emulated machine (qemu.sh).
#
# Its root is a Debian suite, writable and thrown away afterwards; /src is the
# tree with all that was built.  It installs the module and the tools as a user
# would, then runs each test of the tree that names qemu in its line "# labs:".
# The second serial port carries what qemu.sh reads:
#
#	### RUN name		then the test's TAP
#	### EXIT name status seconds	124 when it took too long
#	### ELSEWHERE name suites	not run: its head names these suites
#	### DONE		the last line; without it the machine has failed
#
# The first serial port is the kernel's console, so that no message ends up in the
# middle of a line of TAP.

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/root LANG=C.UTF-8 LAB=qemu
. /src/selftests/tap.sh

limit=1500	# s of the machine's time for one test: several times what the slowest takes alone

# A complaint of the kernel is a failure, whatever test it came with.  So are these
# bits of its taint: D oops, W warning, L lockup.
complaints='WARNING:|BUG:|BUG |Oops|Call Trace|general protection|UBSAN|KASAN'
complaints="$complaints|refcount_t|rcu: .*detected|possible (circular|recursive)"
complaints="$complaints|inconsistent lock|lockup|blocked for more than"
complaints="$complaints|waiting for .* to become free|page allocation failure"
taints=$((1 << 7 | 1 << 9 | 1 << 14))

mount_if_not()		# TYPE DIR
{
	mountpoint -q "$2" || { mkdir -p "$2" && mount -t "$1" "$1" "$2"; }
}

set_up()
{
	mount_if_not proc /proc
	mount_if_not sysfs /sys
	mount_if_not devtmpfs /dev
	mount_if_not devpts /dev/pts
	[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
	# nft opens it for "-f -"
	[ -e /dev/stdin ] || ln -s /proc/self/fd/0 /dev/stdin
	mount_if_not tmpfs /run
	mount_if_not tmpfs /tmp
	exec > /dev/ttyS1 2>&1 < /dev/null
	stty -F /dev/ttyS1 raw -echo
	hostname lab
	ip link set lo up
}

# libkmod and modprobe must find the module; tests call ctcp-setup by its name.
install()
{
	dir=/lib/modules/$(uname -r)
	mkdir -p "$dir"/extra
	cp /src/tcp_circuit.ko "$dir"/extra/
	depmod
	cp /src/build/bin/ctcp-setup /usr/local/sbin/
}

started()		# NAME: mark it in the kernel's log, too
{
	start=$(date +%s)
	tap_begin
	echo "### RUN $1"
	echo "lab: $1" > /dev/kmsg
}

ended()			# NAME STATUS
{
	echo "### EXIT $1 $2 $(($(date +%s) - start))"
}

load()
{
	started modprobe
	modprobe tcp_circuit
	point $? "the module loads"
	tap_plan 1
	ended modprobe "$TAP_FAILED"
}

# What a test must not leave behind: namespaces, and devices in the machine's own namespace
traces()
{
	ip netns list
	ip -br link show type veth
}

# List the processes just before the test is killed for its timeout.
show_if_slow()
{
	sleep $((limit - 5))
	echo "# still running after $((limit - 5)) s:"
	ps axo pid,ppid,stat,wchan:20,args | awk '!/\]$/ { print "# " $0 }'
}

run_test()
{
	name=$(basename "$1" .sh)
	started "$name"
	before=$(traces)
	show_if_slow &
	timeout -k 10 "$limit" "$1"
	status=$?
	kill $!
	after=$(traces)
	ended "$name" $status
	if [ "$before" != "$after" ]; then
		started "$name-traces"
		echo "$after" | sed 's/^/# still there: /'
		fail "$name leaves no namespace or device behind"
		tap_plan 1
		ended "$name-traces" 1
	fi
}

wanted()		# TEST: does its head name this lab, and does the caller name the test?
{
	sed '/^#/!q' "$1" | grep -qE "^# labs:.*\<$LAB\>" || return 1
	[ -s /src/lab/tests ] || return 0
	grep -qxF "$(basename "$1" .sh)" /src/lab/tests
}

# Some tests need what few suites have: "# suites:" in the head names these.
elsewhere()		# TEST
{
	suites=$(sed -n '/^#/!q; s/^# suites: *//p' "$1")
	[ -n "$suites" ] || return 1
	! echo " $suites " | grep -qF " $(cat /src/lab/suite) "
}

run_if_here()		# TEST
{
	if elsewhere "$1"; then
		echo "### ELSEWHERE $(basename "$1" .sh) $suites"
	else
		run_test "$1"
	fi
}

check_kernel()
{
	started kernel
	if dmesg | grep -E "$complaints" > /tmp/complaints ||
	   [ $(($(cat /proc/sys/kernel/tainted) & taints)) != 0 ]; then
		dmesg | grep -E -B 5 -A 30 "$complaints" | head -n 300 |
			sed 's/^/# /'
		echo "# taint: $(cat /proc/sys/kernel/tainted)"
		fail "the kernel has nothing to complain of"
	else
		pass "the kernel has nothing to complain of"
	fi
	tap_plan 1
	ended kernel "$TAP_FAILED"
}

set_up
install
load
cd /src/selftests || exit
for test in /src/selftests/*.sh; do
	[ -x "$test" ] && wanted "$test" && run_if_here "$test"
done
check_kernel
echo "### DONE"
sync
busybox poweroff -f
