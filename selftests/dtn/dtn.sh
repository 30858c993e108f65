#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# dtn.sh [--seconds S]: a data transfer node with ctcpd and without, two hours each; writes
# docs/dtn/.  Exit 1: what is asked of them does not hold.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)

"$here/../lab/need.sh" python3 gcc make pkg-config libmnl-dev libnl-3-dev \
	libnl-route-3-dev libkmod-dev libjansson-dev libsqlite3-dev libinih-dev \
	libmicrohttpd-dev python3-matplotlib iproute2 ethtool procps busybox kmod
make -s -C "$top" tools
export PYTHONDONTWRITEBYTECODE=1
/usr/bin/python3 "$here/dtn.py" --jobs "${BENCH_JOBS:-$(nproc)}" "$@"
