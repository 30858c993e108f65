#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# newest-nuttcp.sh: print the folder with the nuttcp of Debian 13, fetched first when the cache
# has none: nuttcp, the C library that it was built for and its loader, and package, the version.
#
# Debian 12 has nuttcp 6.1.2, and a C library that is too old for a later one.  What was fetched
# once is used as it is, also without a network, until it is deleted.

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
. "$here/cache.sh"
. "$here/archive.sh"

# shellcheck disable=SC2154,SC2317 # called by fetch_once(), which makes $tmp
fetch()
{
	local package lib=./usr/lib/x86_64-linux-gnu

	begin_apt "$tmp" trixie || return
	(cd "$tmp" && apt_of "$tmp" get download nuttcp libc6) || return
	dpkg-deb -f "$tmp"/nuttcp_*.deb Version > "$tmp/new/package" || return
	for package in nuttcp libc6; do
		dpkg-deb -x "$tmp/$package"_*.deb "$tmp/root" || return
	done
	cd "$tmp/root" && cp ./usr/bin/nuttcp "$lib/libc.so.6" "$lib/ld-linux-x86-64.so.2" "$tmp/new"
}

fetch_once "$CACHE/nuttcp-newest" "the nuttcp of Debian 13"
