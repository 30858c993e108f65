#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# chroot.sh [-w DIR]... ROOT SRC COMMAND...: run a command in a suite
#
# ROOT is read-only for it: a suite is shared by all runs and must stay what
# it was.  SRC is its /src, with all it writes there; /tmp, /run and what -w
# names (the folder ROOT/DIR, copied) are in memory and gone afterwards.
#
# All mounts and processes live in namespaces of their own, so nothing is left
# behind, whichever way this ends.

set -euo pipefail

if [ "${1-}" != --inside ]; then
	exec unshare --mount --propagation private --pid --fork --kill-child \
		"$0" --inside "$@"
fi
shift

writable=()
while [ "${1-}" = -w ]; do
	writable+=("$2")
	shift 2
done
root=$1
src=$2
shift 2

mount --bind "$root" "$root"
mount --bind "$src" "$root"/src
mount -t proc proc "$root"/proc
mount --rbind /dev "$root"/dev
mount -t tmpfs tmpfs "$root"/run
mount -t tmpfs -o mode=1777 tmpfs "$root"/tmp
for dir in "${writable[@]}"; do
	copy=$root/run/writable$dir
	mkdir -p "${copy%/*}"
	cp -a "$root$dir" "$copy"
	mount --bind "$copy" "$root$dir"
done
mount -o remount,bind,ro "$root"

exec chroot "$root" /usr/bin/env -i \
	PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 "$@"
