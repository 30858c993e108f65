#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# newest-source.sh: print the folder with the source of the newest kernel in Debian's
# archive, fetched first when the cache has none.  In it: linux-source-VERSION.tar.xz
# and package, its package's version.
#
# The machine's own apt may not know that suite, and is not told of it: sources,
# keys and lists are in a folder of their own.  What was fetched once is used as
# it is, also without a network, until it is deleted.

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
. "$here/cache.sh"
. "$here/archive.sh"
suite=trixie-backports		# where suite.sh has the newest kernel from

# shellcheck disable=SC2154,SC2317 # called by fetch_once(), which makes $tmp
fetch()
{
	local package

	begin_apt "$tmp" "$suite" || return
	package=$(apt_of "$tmp" cache pkgnames linux-source- |
		grep -E '^linux-source-[0-9.]+$' | sort -V | tail -n 1)
	[ -n "$package" ] || {
		echo "$suite has no linux-source" >&2
		return 1
	}
	(cd "$tmp" && apt_of "$tmp" get download "$package") || return
	dpkg-deb -f "$tmp/$package"_*.deb Version > "$tmp/new/package" || return
	dpkg-deb --fsys-tarfile "$tmp/$package"_*.deb |
		tar -C "$tmp/new" --strip-components=3 -xf - "./usr/src/$package.tar.xz"
}

fetch_once "$CACHE/source-newest" "the newest kernel's source"
