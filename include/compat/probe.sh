#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# probe.sh COMPILER FLAG...: print compat-config.h for the kernel that these
# flags point at.
#
# Each probe/*.c compiles where its feature is there.  Where it does not, every
# error must match the pattern of its line "absent:"; anything else is not an
# answer, and ends the build.

here=$(dirname "$0")/probe
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT

fail()
{
	echo "tcp_circuit: probe $1: unexpected answer from the compiler:" >&2
	cat "$log" >&2
	exit 1
}

compiles()
{
	LC_ALL=C "$@" -Werror=implicit-function-declaration \
		-Werror=incompatible-pointer-types -Wno-missing-prototypes \
		-Wno-missing-declarations -Wno-unused-function \
		-c -o /dev/null "$src" 2>"$log"
}

src=$here/baseline.c
compiles "$@" || fail baseline

echo "/* SPDX-License-Identifier: GPL-2.0 */"
echo "/* Made by probe.sh */"
for src in "$here"/*.c; do
	name=$(basename "$src" .c)
	[ "$name" = baseline ] && continue
	absent=$(sed -n 's,^// absent: ,,p' "$src")
	macro=HAVE_$(echo "$name" | tr '[:lower:]' '[:upper:]')

	if compiles "$@"; then
		echo "#define $macro 1"
	elif [ -z "$absent" ] || ! grep -q 'error:' "$log" ||
	     grep 'error:' "$log" | grep -qvE "$absent"; then
		fail "$name"
	else
		echo "/* $macro is not set */"
	fi
done
