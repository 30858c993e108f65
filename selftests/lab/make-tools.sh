#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# make-tools.sh [PACKAGE...]: build ctcp-setup and ctcpd, and install what they are built
# with, what the lab runs with, and these packages.

set -eu
here=$(cd "$(dirname "$0")" && pwd)

"$here/need.sh" python3 gcc make pkg-config libmnl-dev libnl-3-dev libnl-route-3-dev \
	libkmod-dev libjansson-dev libsqlite3-dev libinih-dev libmicrohttpd-dev \
	iproute2 ethtool procps busybox kmod "$@"
make -s -C "$here/../.." tools
