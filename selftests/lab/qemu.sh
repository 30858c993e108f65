#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# qemu.sh [--refresh] [--brief] [SUITE...]: the tree on the kernels that people run
#
# For each Debian suite (suite.sh --list; all when none is named): build it inside the
# suite, and run in an emulated machine with its kernel all selftests that name this lab
# (qemu-suite.sh, qemu-init.sh).  The tests to run can be narrowed by TESTS="name name".
# Then compile the module for other architectures (cross-all.sh, "cross" as a SUITE), and
# run it on a virtual-time kernel without CONFIG_NETFILTER ("nonetfilter").
#
# --brief: ctcp-setup's own tests (setup_*), most of the time that all of this
# takes, on the first and the last suite only; the table says where they ran.
#
# An emulated machine is slow and uneven: tests assert windows, counters and
# order there, no throughput.
#
# What is printed: progress, each failure, a table, and as the last line
# "check-kernels: N passed, N failed, N skipped" (qemu-report.sh).  Everything that was
# said is in build/qemu-SUITE.log.  Exit: 0, 1 when anything failed, 4 without root or
# where nothing can be mounted.

set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
. "$here/tell.sh"
. "$here/qemu-machine.sh"

# Those that boot
suites()
{
	"$here"/suite.sh --list
}

# Names that are none would select nothing, and nobody would miss it.
known_suites()		# SUITE...
{
	local suite known

	known=$(suites; printf '%s\n' cross nonetfilter)
	for suite; do
		grep -qxF -- "$suite" <<< "$known" || {
			echo "qemu.sh: \"$suite\" is no suite: give one of" \
				$known >&2
			return 1
		}
	done
}

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

need_root()		# SUITE...
{
	[ "$(id -u)" = 0 ] && return
	cannot $# "Suites are made and entered with chroot: please run this as root."
}

# unshare makes the root's mount private, which a folder that was merely entered
# by chroot does not have.
need_mount_point()	# SUITE...
{
	unshare --mount --propagation private true 2> /dev/null && return
	cannot $# "Suites are entered with mounts of their own, and this root" \
		"cannot have any: it is no mount point (before chroot DIR:" \
		"mount --bind DIR DIR), or CAP_SYS_ADMIN is missing."
}

need_packages()		# SUITE...
{
	"$here"/need.sh qemu-system-x86 mmdebstrap debian-archive-keyring \
		e2fsprogs || return
	grep -qxF nonetfilter < <(printf '%s\n' "$@") || return 0
	"$here"/need.sh iperf3 jq iproute2 ethtool procps busybox kmod \
		gcc libc6-dev make && make -s -C "$top"/selftests
}

# The module where there is no netfilter, OUT/nonetfilter
run_nonetfilter()	# OUT
{
	local log=$top/build/nonetfilter.log

	say "nonetfilter: its kernel, some minutes where the cache has none"
	mkdir -p "$top"/build
	{
		LAB_KERNEL=nonetfilter LAB_KO='' as_test no_netfilter \
			"$here"/uml.sh "$top"/selftests/no_netfilter.sh
		echo "### DONE"
	} > "$log"
	awk -f "$here"/tap.awk "$log" > "$1"/nonetfilter
	say "nonetfilter: done"
}

# --brief leaves ctcp-setup's tests to the first and the last.
without_setup()		# BRIEF SUITE
{
	[ -n "$1" ] && ! suites | sed -n '1p;$p' | grep -qxF "$2"
}

run_one()		# SUITE OUT REFRESH BRIEF
{
	local options=$3

	case $1 in
	cross)		exec "$here"/cross-all.sh "$2" ;;
	nonetfilter)	run_nonetfilter "$2"; exit ;;
	esac
	if without_setup "$4" "$1"; then options="$options --without-setup"; fi
	# shellcheck disable=SC2086 # a list of words
	exec "$here"/qemu-suite.sh $options "$1" "$2"
}

run_all()		# OUT REFRESH BRIEF SUITE...
{
	local suite

	trap 'kill $(jobs -p) 2> /dev/null; exit 1' INT TERM
	for suite in "${@:4}"; do
		while [ "$(jobs -pr | wc -l)" -ge "$(machines_at_once)" ]; do
			wait -n
		done
		run_one "$suite" "$1" "$2" "$3" &
	done
	wait
}

main()
{
	local refresh='' brief='' out

	while :; do
		case ${1-} in
		--refresh) refresh=$1 ;;
		--brief) brief=$1 ;;
		*) break ;;
		esac
		shift
	done
	# shellcheck disable=SC2046 # a list of names
	[ $# -gt 0 ] || set -- $(suites) cross nonetfilter
	# shellcheck disable=SC2086 # a list of names
	known_suites "$@" && known_tests ${TESTS-} || exit 2
	need_root "$@"
	need_mount_point "$@"
	need_packages "$@" || exit 1

	out=$(mktemp -d)
	# shellcheck disable=SC2064
	trap "rm -rf '$out'" EXIT
	run_all "$out" "$refresh" "$brief" "$@"
	"$here"/qemu-report.sh "$out" "$@"
}

main "$@"
