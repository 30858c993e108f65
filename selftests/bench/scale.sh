#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# scale.sh [--quick] [--json]: what many circuits take, against tc -batch and ip -batch
# with the same content, in one run on one kernel
#
#	--quick		few circuits, once: does it work?
#	--json		for programs, instead of the table
#
# Programs cost nothing in virtual time, so the machine runs in real time (uml.sh -r).
# Its seconds depend on what else the host does, which is printed, and are upper bounds:
# each system call and page fault of an emulated machine costs several of a real one's.
# It has one processor of the host, as each call goes from one process there to another,
# which on two takes four times as long or not, by how long the other one has slept.
# Ratios of one run are what counts.  SCALE_RUNS, SCALE_SIZES, SCALE_MOST, SCALE_ROUTES,
# SCALE_INNER, SCALE_CLASSES as scale_guest.py has them; SCALE_LIMIT: s after which the
# machine is ended.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
out=$top/build/bench/scale

words=()
for word; do
	case $word in
	--quick) words+=("SCALE_SIZES=64" SCALE_RUNS=1 SCALE_MOST=0 SCALE_ROUTES=1000
		SCALE_INNER=64 SCALE_CLASSES=64) ;;
	--json) ;;
	*)
		sed -n '4,8s/^# \{0,1\}//p' "$0" >&2
		exit 2
		;;
	esac
done
for name in SCALE_RUNS SCALE_SIZES SCALE_MOST SCALE_ROUTES SCALE_INNER SCALE_CLASSES; do
	if [ -n "${!name:-}" ]; then words+=("$name=${!name// /,}"); fi
done

"$here/../lab/need.sh" python3 gcc make pkg-config libmnl-dev libnl-3-dev \
	libnl-route-3-dev libkmod-dev libjansson-dev \
		libsqlite3-dev libinih-dev libmicrohttpd-dev iproute2 busybox kmod
make -s -C "$top" tools >&2
mkdir -p "$out"
rm -f "$out/scale.json"
head -n 1 /proc/stat >"$out/before"
status=0
one=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
LAB_KERNEL=${LAB_KERNEL-newest} taskset -c "$one" "$here/../lab/uml.sh" -r -m 6G -t "${SCALE_LIMIT:-3600}" \
	-o "$out" "$here/scale_guest.py" "${words[@]}" >&2 || status=$?
head -n 1 /proc/stat >"$out/after"
[ -f "$out/scale.json" ] || exit "$((status ? status : 1))"
export PYTHONDONTWRITEBYTECODE=1
python3 "$here/scale.py" "$@" "$out" || status=$?
exit "$status"
