#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# qemu-suite.sh [--refresh] [--without-setup] SUITE OUT: the tree on one suite's kernel
#
# From nothing to its results, OUT/SUITE, for qemu.sh: builds the module and the tools
# inside the suite with its own gcc, the module with its clang (build.sh), takes the dkms
# package through its life (dkms.sh), and boots the suite's kernel to run there the tests
# that TESTS names, or all but those of ctcp-setup, or all.  What was said is in
# build/qemu-SUITE.log.

set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
. "$here/tell.sh"
. "$here/qemu-machine.sh"

# What git knows and what it would not ignore: what is built elsewhere in the
# tree must not be mistaken for this suite's.
copy_tree()		# FOLDER
{
	mkdir "$1"
	if git -c safe.directory="$top" -C "$top" rev-parse 2> /dev/null; then
		git -c safe.directory="$top" -C "$top" ls-files -z -co \
			--exclude-standard
	else
		cd "$top" && find . -path ./build -prune -o -type f -print0
	fi | tar -C "$top" --null -T - -cf - 2> /dev/null | tar -C "$1" -xf -
}

# The suite may have to be made first.
announce()		# SUITE REFRESH
{
	if [ -n "$2" ] || [ ! -d "$("$here"/suite.sh --place "$1")" ]; then
		say "$1: making its root file system, a minute or two"
	fi
}

# A script of the tree inside the suite, as one test
inside()		# PLACE WORK NAME SCRIPT WORD...
{
	local place=$1 work=$2 name=$3

	shift 3
	as_test "$name" "$here"/chroot.sh -w /var/lib/dkms -w /lib/modules -w /usr/src \
		"$place"/root "$work"/src "$@"
}

# All that is done before the machine boots
build()			# PLACE WORK RELEASE
{
	echo "### FACT kernel $3"
	inside "$1" "$2" build /src/selftests/lab/build.sh "$3"
	inside "$1" "$2" clang /src/selftests/lab/build.sh "$3" clang
	inside "$1" "$2" dkms /src/selftests/lab/dkms.sh "$3"
}

# The tests to run, a line for each; none: all
wanted_tests()		# WITHOUT_SETUP
{
	if [ -n "${TESTS-}" ]; then
		tr -s ' ' '\n' <<< "$TESTS" | grep .
	elif [ -n "$1" ]; then
		(cd "$top"/selftests && grep -lE '^# labs:.*\bqemu\b' -- *.sh) |
			grep -v '^setup_' | sed 's/\.sh$//'
	fi
}

# That it is not all of them, for the table
narrowed()		# WITHOUT_SETUP
{
	if [ -n "${TESTS-}" ]; then
		echo "### FACT narrowed (TESTS only)"
	elif [ -n "$1" ]; then
		echo "### FACT narrowed (no setup_*)"
	fi
}

run()			# SUITE PLACE WORK WITHOUT_SETUP
{
	local suite=$1 place=$2 work=$3 release

	release=$(cat "$place"/kernel)
	copy_tree "$work"/src
	say "$suite: building for $release"
	{ build "$place" "$work" "$release"; narrowed "$4"; } >> "$work"/tap
	wanted_tests "$4" > "$work"/src/lab/tests
	echo "$suite" > "$work"/src/lab/suite
	say "$suite: booting"
	boot "$suite" "$place" "$work"
	cat "$work"/serial >> "$work"/tap
	say "$suite: done"
}

# One file with everything, in the order in which it happened
keep_log()		# SUITE WORK
{
	local log=$top/build/qemu-$1.log part

	mkdir -p "$top"/build
	: > "$log"
	for part in tap src/lab/build.log qemu.out console; do
		[ -s "$2/$part" ] || continue
		printf '==== %s\n' "$part" >> "$log"
		tr -d '\r' < "$2/$part" >> "$log"
	done
}

main()
{
	local refresh='' without='' suite out work place

	while :; do
		case ${1-} in
		--refresh) refresh=$1 ;;
		--without-setup) without=$1 ;;
		*) break ;;
		esac
		shift
	done
	suite=$1 out=$2 work=$out/work-$suite
	mkdir "$work"
	: > "$work"/tap
	announce "$suite" "$refresh"
	if place=$("$here"/suite.sh ${refresh:+"$refresh"} "$suite" 2> "$work"/qemu.out); then
		exec 8< "$place"
		flock -s 8
		run "$suite" "$place" "$work" "$without"
	else
		sed "s/^/$suite: /" "$work"/qemu.out
	fi
	tr -d '\r' < "$work"/tap | awk -f "$here"/tap.awk > "$out/$suite"
	keep_log "$suite" "$work"
	rm -rf "$work"
}

main "$@"
