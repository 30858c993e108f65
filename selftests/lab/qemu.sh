#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# qemu.sh [--refresh] [--brief] [SUITE...]: the tree on the kernels that people run
#
# For each Debian suite (suite.sh --list; all when none is named): build the
# module and the tools inside it with its own gcc, the module with its clang
# (build.sh), take the dkms package through its life (dkms.sh), boot its kernel
# in an emulated machine and run there all selftests that name this lab
# (qemu-init.sh).  The tests to run can be narrowed by TESTS="name name".  Then
# compile the module for other architectures (cross.sh, "cross" as a SUITE), and
# run it on a virtual-time kernel without CONFIG_NETFILTER ("nonetfilter").
#
# --brief: ctcp-setup's own tests (setup_*), most of the time that all of this
# takes, on the first and the last suite only; the table says where they ran.
#
# An emulated machine is slow and uneven: tests assert windows, counters and
# order there, no throughput.
#
# What is printed: progress, each failure, a table, and as the last line
# "check-kernels: N passed, N failed, N skipped".  Everything that was said is
# in build/qemu-SUITE.log.  Exit: 0, 1 when anything failed, 4 without root or where
# nothing can be mounted.

set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
limit=3600		# s of real time for one machine
memory=2048		# MiB of one machine

# Without cmpxchg16b: QEMU 7.2 emulates it with wrong flags when an interrupt
# comes just behind it, and 6.12's slab allocator ends in a double fault at seven
# boots out of eight.
cpu=max,cx16=off

# The watchdogs allow for a machine that is not alone on its processors.
kernel_line="root=LABEL=root rw init=/sbin/lab-init console=ttyS0 panic=-1 \
oops=panic log_buf_len=8M watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=120"

cross_archs="arm64 arm"

began=${LAB_BEGAN:-$(date +%s)}

say()
{
	printf '[%4d s] %s\n' $(($(date +%s) - began)) "$*"
}

# What git knows and what it would not ignore: what is built elsewhere in the
# tree must not be mistaken for this suite's.
copy_tree()
{
	mkdir "$1"
	if git -c safe.directory="$top" -C "$top" rev-parse 2> /dev/null; then
		git -c safe.directory="$top" -C "$top" ls-files -z -co \
			--exclude-standard
	else
		cd "$top" && find . -path ./build -prune -o -type f -print0
	fi | tar -C "$top" --null -T - -cf - 2> /dev/null | tar -C "$1" -xf -
}

# Run a script inside the suite as one test: its TAP between the markers.
inside()		# NAME COMMAND...
{
	local name=$1 start status

	shift
	start=$(date +%s)
	echo "### RUN $name" >> "$work"/tap
	"$here"/chroot.sh -w /var/lib/dkms -w /lib/modules -w /usr/src \
		"$place"/root "$work"/src "$@" >> "$work"/tap 2>&1
	status=$?
	echo "### EXIT $name $status $(($(date +%s) - start))" >> "$work"/tap
}

# Each test that ends, as the machine tells of it.
follow()
{
	local mark what name status seconds

	while read -r mark what name status seconds; do
		if [ "$mark $what" = "### ELSEWHERE" ]; then
			say "$suite: $name not run here: it is for" ${status%$'\r'} ${seconds%$'\r'}
		fi
		[ "$mark $what" = "### EXIT" ] || continue
		case ${status%$'\r'} in
		0)	say "$suite: $name ok (${seconds%$'\r'} s)" ;;
		*)	say "$suite: $name FAILED (${seconds%$'\r'} s)" ;;
		esac
	done
}

boot()
{
	local machine

	mke2fs -q -t ext4 -L src -O ^has_journal -d "$work"/src \
		"$work"/src.img 256M > /dev/null
	: > "$work"/serial
	timeout -k 5 "$limit" qemu-system-x86_64 \
		-accel tcg,thread=multi -cpu "$cpu" -smp 2 -m "$memory" \
		-display none -monitor none -no-reboot -nic none \
		-serial file:"$work"/console -serial file:"$work"/serial \
		-drive file="$place"/disk.img,format=raw,if=virtio,snapshot=on \
		-drive file="$work"/src.img,format=raw,if=virtio \
		-kernel "$place"/vmlinuz -initrd "$place"/initrd -append "$kernel_line" \
		> "$work"/qemu.out 2>&1 < /dev/null &
	machine=$!
	# In the background, so that a signal is heeded at once.
	# shellcheck disable=SC2064
	trap "kill $machine; exit 1" TERM
	tail -n +1 -f --pid=$machine "$work"/serial | follow &
	wait
	trap - TERM
	cat "$work"/serial >> "$work"/tap
}

# One file with everything, in the order in which it happened.
keep_log()
{
	local log=$top/build/qemu-$suite.log part

	mkdir -p "$top"/build
	: > "$log"
	for part in tap src/lab/build.log qemu.out console; do
		[ -s "$work/$part" ] || continue
		printf '==== %s\n' "$part" >> "$log"
		tr -d '\r' < "$work/$part" >> "$log"
	done
}

# The tests to run, a line for each; none: all.
wanted_tests()
{
	if [ -n "${TESTS-}" ]; then
		tr -s ' ' '\n' <<< "$TESTS" | grep .
	elif without_setup "$suite"; then
		(cd "$top"/selftests && grep -lE '^# labs:.*\bqemu\b' -- *.sh) |
			grep -v '^setup_' | sed 's/\.sh$//'
	fi
}

without_setup()		# SUITE
{
	[ -n "$brief" ] && ! grep -qxF "$1" <<< "$ends"
}

# The module for another architecture, $out/ARCH-COMPILER.
run_cross()		# ARCH COMPILER
{
	local start status name=$1-$2

	say "$1: compiling by $2"
	start=$(date +%s)
	{
		echo "### RUN $2"
		"$here"/cross.sh "$1" "$2" 2>&1
		status=$?
		echo "### EXIT $2 $status $(($(date +%s) - start))"
		echo "### DONE"
	} > "$out/$name.tap"
	cp "$out/$name.tap" "$top/build/cross-$name.log"
	awk -f "$here"/tap.awk "$out/$name.tap" > "$out/$name"
	rm "$out/$name.tap"
}

run_crosses()
{
	local arch compiler

	mkdir -p "$top"/build
	for arch in $cross_archs; do
		for compiler in gcc clang; do
			run_cross "$arch" "$compiler"
		done
	done
	say "cross: done"
}

# The module where there is no netfilter, $out/nonetfilter.
run_nonetfilter()
{
	local start status log=$top/build/nonetfilter.log

	say "nonetfilter: its kernel, some minutes where the cache has none"
	mkdir -p "$top"/build
	start=$(date +%s)
	{
		echo "### RUN no_netfilter"
		LAB_KERNEL=nonetfilter LAB_KO='' "$here"/uml.sh \
			"$top"/selftests/no_netfilter.sh 2>&1
		status=$?
		echo "### EXIT no_netfilter $status $(($(date +%s) - start))"
		echo "### DONE"
	} > "$log"
	awk -f "$here"/tap.awk "$log" > "$out"/nonetfilter
	say "nonetfilter: done"
}

# A suite from nothing to its results, $out/SUITE.
run_suite()
{
	suite=$1 work=$out/work-$1
	mkdir "$work"
	: > "$work"/tap

	if [ -n "$refresh" ] || [ ! -d "$("$here"/suite.sh --place "$suite")" ]; then
		say "$suite: making its root file system, a minute or two"
	fi
	if place=$("$here"/suite.sh ${refresh:+"$refresh"} "$suite" 2> "$work"/qemu.out); then
		exec 8< "$place"
		flock -s 8
		release=$(cat "$place"/kernel)
		echo "### FACT kernel $release" >> "$work"/tap
		say "$suite: building for $release"
		copy_tree "$work"/src
		inside build /src/selftests/lab/build.sh "$release"
		inside clang /src/selftests/lab/build.sh "$release" clang
		inside dkms /src/selftests/lab/dkms.sh "$release"
		wanted_tests > "$work"/src/lab/tests
		echo "$suite" > "$work"/src/lab/suite
		say "$suite: booting"
		boot
		say "$suite: done"
	else
		sed "s/^/$suite: /" "$work"/qemu.out
	fi
	tr -d '\r' < "$work"/tap | awk -f "$here"/tap.awk > "$out/$suite"
	keep_log
	rm -rf "$work"
}

# As many machines at a time as have a core and their memory.
width()
{
	local cores memories

	cores=$(nproc)
	memories=$(awk -v m=$((memory * 3 / 2)) \
		'/^MemAvailable/ { print int($2 / 1024 / m) }' /proc/meminfo)
	echo $((cores < memories ? cores : memories > 0 ? memories : 1))
}

run_all()
{
	local suite

	trap 'kill $(jobs -p) 2> /dev/null; exit 1' INT TERM
	for suite; do
		while [ "$(jobs -pr | wc -l)" -ge "$(width)" ]; do
			wait -n
		done
		case $suite in
		cross)		run_crosses & ;;
		nonetfilter)	run_nonetfilter & ;;
		*)		run_suite "$suite" & ;;
		esac
	done
	wait
}

fact()		# SUITE NAME
{
	awk -F '\t' -v name="$2" '$1 == "FACT" && $2 == name { print $3 }' \
		"$out/$1"
}

sum()		# SUITE TEST: passed/points of one test
{
	awk -F '\t' -v name="$2" '
		$1 == "TEST" && $2 == name { p += $3; f += $4; n++ }
		END { print n ? (f ? p "/" p + f " FAILED" : p " ok") : "-" }' \
		"$out/$1"
}

# All that ran in the machine.
sum_tests()
{
	awk -F '\t' '
		$1 == "TEST" && $2 !~ /^(build|clang|dkms|kernel)$/ {
			p += $3; f += $4 }
		END { printf f ? "%d/%d FAILED" : "%d ok", p, p + f }' "$out/$1"
	if [ -n "${TESTS-}" ]; then
		echo " (TESTS only)"
	elif without_setup "$1"; then
		echo " (no setup_*)"
	fi
}

# What each line of the table is made of
row()
{
	printf '%-19s %-25s %-8s %-8s %-10s %-10s %-10s %-21s %s\n' "$@"
}

suite_row()		# SUITE
{
	row "$1" "$(fact "$1" kernel)" "$(fact "$1" gcc)" "$(fact "$1" clang)" \
		"$(sum "$1" build)" "$(sum "$1" clang)" "$(sum "$1" dkms)" \
		"$(sum_tests "$1")" "$(sum "$1" kernel)"
}

cross_rows()
{
	local arch

	for arch in $cross_archs; do
		row "$arch, cross" "$(fact "$arch-gcc" kernel)" \
			"$(fact "$arch-gcc" gcc)" "$(fact "$arch-clang" clang)" \
			"$(sum "$arch-gcc" gcc)" "$(sum "$arch-clang" clang)" - \
			"compiled only" -
	done
}

# uml.sh builds without a warning or not at all, and reads the kernel's log.
nonetfilter_row()
{
	row nonetfilter "6.1, virtual time" "$(gcc -dumpfullversion)" - - - - \
		"$(sum_tests nonetfilter)" -
}

# What results there are for the suites named
results()
{
	local suite arch

	for suite; do
		if [ "$suite" = cross ]; then
			for arch in $cross_archs; do
				echo "$arch-gcc $arch-clang"
			done
		else
			echo "$suite"
		fi
	done
}

report()
{
	local suite

	echo
	for suite in $(results "$@"); do
		awk -F '\t' -v suite="$suite" '$1 == "FAIL" {
			print suite ": " $2 ": " $3 }' "$out/$suite"
	done
	row suite kernel gcc clang "by gcc" "by clang" dkms tests "kernel log"
	for suite; do
		case $suite in
		cross)		cross_rows ;;
		nonetfilter)	nonetfilter_row ;;
		*)		suite_row "$suite" ;;
		esac
	done
	echo "everything that was said: build/qemu-SUITE.log, build/cross-*.log," \
		"build/nonetfilter.log"
}

# A name that is none would select nothing, and nobody would miss it.
known_tests()		# NAME...
{
	local test

	for test; do
		[ -x "$top/selftests/$test.sh" ] || {
			echo "qemu.sh: TESTS names \"$test\": there is no test" \
				"selftests/$test.sh" >&2
			return 1
		}
	done
}

cannot()		# SUITES WORD...
{
	echo "${*:2}"
	echo "check-kernels: 0 passed, 0 failed, $1 skipped"
	exit 4
}

need_root()
{
	[ "$(id -u)" = 0 ] && return
	cannot $# "Suites are made and entered with chroot: please run this as root."
}

# unshare makes the root's mount private, which a folder that was merely entered
# by chroot does not have.
need_mount_point()
{
	unshare --mount --propagation private true 2> /dev/null && return
	cannot $# "Suites are entered with mounts of their own, and this root" \
		"cannot have any: it is no mount point (before chroot DIR:" \
		"mount --bind DIR DIR), or CAP_SYS_ADMIN is missing."
}

main()
{
	local suite passed failed suites

	refresh='' brief=''
	while :; do
		case ${1-} in
		--refresh) refresh=$1 ;;
		--brief) brief=$1 ;;
		*) break ;;
		esac
		shift
	done
	suites=$("$here"/suite.sh --list; printf '%s\n' cross nonetfilter)
	# shellcheck disable=SC2086 # a list of names
	[ $# -gt 0 ] || set -- $suites
	ends=$("$here"/suite.sh --list | sed -n '1p;$p')
	for suite; do
		grep -qxF -- "$suite" <<< "$suites" || {
			echo "qemu.sh: \"$suite\" is no suite: give one of" \
				$suites >&2
			exit 2
		}
	done
	# shellcheck disable=SC2086 # a list of names
	known_tests ${TESTS-} || exit 2
	need_root "$@"
	need_mount_point "$@"
	"$here"/need.sh qemu-system-x86 mmdebstrap debian-archive-keyring \
		e2fsprogs || exit 1
	if grep -qxF nonetfilter < <(printf '%s\n' "$@"); then
		"$here"/need.sh iperf3 jq iproute2 ethtool procps busybox kmod \
			gcc libc6-dev make && make -s -C "$top"/selftests || exit 1
	fi

	out=$(mktemp -d)
	trap 'rm -rf "$out"' EXIT
	run_all "$@"
	report "$@"

	# shellcheck disable=SC2046 # a list of names
	read -r passed failed < <(cd "$out" && awk -F '\t' '$1 == "TOTAL" {
		p += $2; f += $3 } END { print p + 0, f + 0 }' $(results "$@"))
	echo "check-kernels: $passed passed, $failed failed, 0 skipped"
	[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}

main "$@"
