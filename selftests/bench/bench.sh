#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# bench.sh [--quick [--part K/N ...]] [ID...]: install what the bench needs, build ctcp-setup and
# circuit_nl, and run bench.py, which has all else but "scale": many circuits, in
# real time (scale.sh), which comes last where all is made.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)

"$here/../lab/need.sh" python3 gcc make pkg-config libmnl-dev libnl-3-dev \
	libnl-route-3-dev libkmod-dev libjansson-dev \
		libsqlite3-dev libinih-dev libmicrohttpd-dev iperf3 nuttcp tshark tcpdump \
	pv socat python3-matplotlib python3-markdown iproute2 iputils-ping ethtool procps busybox kmod
make -s -C "$top" tools
make -s -C "$here/.." ../build/bin/circuit_nl ../build/bin/lowat.so
export PYTHONDONTWRITEBYTECODE=1
if [ "$*" = scale ]; then
	exec "$here/scale.sh"
fi
/usr/bin/python3 "$here/bench.py" "$@"
[ $# -gt 0 ] || exec "$here/scale.sh"
