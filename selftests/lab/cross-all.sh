#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# cross-all.sh OUT, cross-all.sh --list: the module for all other architectures (cross.sh),
# by gcc and by clang
#
# The results are OUT/ARCH-COMPILER, as tap.awk has them; what was said is in
# build/cross-*.log.  --list: the architectures.

set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
. "$here/tell.sh"
archs="arm64 arm"

cross()			# OUT ARCH COMPILER
{
	local log=$top/build/cross-$2-$3.log

	say "$2: compiling by $3"
	{
		as_test "$3" "$here"/cross.sh "$2" "$3"
		echo "### DONE"
	} > "$log"
	awk -f "$here"/tap.awk "$log" > "$1/$2-$3"
}

if [ "$1" = --list ]; then
	echo "$archs"
	exit
fi
mkdir -p "$top"/build
for arch in $archs; do
	for compiler in gcc clang; do
		cross "$1" "$arch" "$compiler"
	done
done
say "cross: done"
