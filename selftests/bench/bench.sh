#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# bench.sh [--quick [--part K/N ...]] [ID...]: install what the bench needs, build ctcp-setup,
# circuit_nl and tcp_per_ack, and run bench.py, which has all else but "scale": many circuits, in
# real time (scale.sh), which comes last where all is made.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lab/alone.sh"

# T3.3-acks' slow start, for the lab's kernel
per_ack()
{
	kernel=$(LAB_KERNEL='' "$here/../lab/uml-kernel.sh")
	mkdir -p "$here/../../build/per_ack"
	out=$(cd "$here/../../build/per_ack" && pwd)
	cp -u "$here/per_ack/Kbuild" "$here/per_ack/tcp_per_ack.c" "$out/"
	make -s -C "$kernel/tree" ARCH=um M="$out" modules >"$out/build.log" 2>&1 ||
		{ cat "$out/build.log" >&2; return 1; }
	cp "$out/tcp_per_ack.ko" "$out/../bin/"
}

bench()
{
	"$here/../lab/make-tools.sh" iperf3 nuttcp tshark tcptrace tcpdump pv socat python3-matplotlib \
		python3-markdown iputils-ping
	make -s -C "$here/.." ../build/bin/circuit_nl ../build/bin/lowat.so
	[ "$*" = scale ] || per_ack
	export PYTHONDONTWRITEBYTECODE=1
	[ "$*" = scale ] || /usr/bin/python3 "$here/bench.py" "$@"
	case $* in
	'' | scale) "$here/scale.sh" ;;
	esac
}

alone "make bench" "$here/../../build/bench.lock" bench "$@"
