#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ynl-tool.sh: print the folder with the kernel's own tool for specifications of
# netlink families, from the newest kernel source in Debian's archive, unpacked
# first when the cache has none.  In it: tools/net/ynl and Documentation/netlink.

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
. "$here/cache.sh"
source=$("$here/newest-source.sh")
place=$CACHE/ynl-$(cache_key "$source/package" "$here/ynl-tool.sh")

unpack()
{
	tar -C "$1" --strip-components=1 --wildcards \
		-xf "$(echo "$source"/linux-source-*.tar.xz)" \
		'*/tools/net/ynl' '*/Documentation/netlink'
}

if [ ! -d "$place" ]; then
	cache_lock ynl
fi
if [ ! -d "$place" ]; then
	"$here/need.sh" xz-utils
	rm -rf "$CACHE"/ynl-*.??????	# of one that was killed
	tmp=$(mktemp -d "$place.XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
	unpack "$tmp"
	chmod 755 "$tmp"
	mv "$tmp" "$place"
fi
echo "$place"
