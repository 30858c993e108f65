#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# bench.sh [--quick [--part K/N ...]] [ID...]: install what the bench needs, build ctcp-setup,
# circuit_nl and tcp_per_ack, make nuttcp8, and run bench.py, which has all else but "scale": many
# circuits, in real time (scale.sh), which comes last where all is made.

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

# S4.2's newer nuttcp, which needs a newer C library than this machine has.  A run's key has the
# content of this script, hence the version in it.
nuttcp8()
{
	place=$("$here/../lab/newest-nuttcp.sh")
	cat >"$here/../../build/bin/nuttcp8" <<-EOF
		#!/bin/sh
		# nuttcp $(cat "$place/package")
		exec "$place/ld-linux-x86-64.so.2" --library-path "$place" "$place/nuttcp" "\$@"
	EOF
	chmod +x "$here/../../build/bin/nuttcp8"
}

bench()
{
	"$here/../lab/make-tools.sh" iperf3 nuttcp tshark tcptrace tcpdump pv socat python3-matplotlib \
		python3-markdown iputils-ping
	make -s -C "$here/.." ../build/bin/circuit_nl ../build/bin/lowat.so
	[ "$*" = scale ] || { per_ack; nuttcp8; }
	export PYTHONDONTWRITEBYTECODE=1
	[ "$*" = scale ] || /usr/bin/python3 "$here/bench.py" "$@"
	case $* in
	'' | scale) "$here/scale.sh" ;;
	esac
}

alone "make bench" "$here/../../build/bench.lock" bench "$@"
