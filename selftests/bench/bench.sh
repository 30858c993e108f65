#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# bench.sh [--quick [--part K/N ...]] [ID...]: install what the bench needs, build ctcp-setup and
# circuit_nl, and run bench.py, which has all else but "scale": many circuits, in
# real time (scale.sh), which comes last where all is made.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lab/alone.sh"

bench()
{
	"$here/../lab/make-tools.sh" iperf3 nuttcp tshark tcpdump pv socat python3-matplotlib \
		python3-markdown iputils-ping
	make -s -C "$here/.." ../build/bin/circuit_nl ../build/bin/lowat.so
	export PYTHONDONTWRITEBYTECODE=1
	[ "$*" = scale ] || /usr/bin/python3 "$here/bench.py" "$@"
	case $* in
	'' | scale) "$here/scale.sh" ;;
	esac
}

alone "make bench" "$here/../../build/bench.lock" bench "$@"
