#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# prometheus.sh: print the folder with Debian's prometheus and promtool, fetched first when
# the cache has none.
#
# They are taken out of the package (20 MB to fetch, 98 MB in the cache), which is not
# installed: it would bring a service that scrapes and listens from then on.

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
. "$here/cache.sh"
place=$CACHE/prometheus-$(cache_key "$here/prometheus.sh")

# Where the list of packages is old, or not there, it is asked for.
download()
{
	cd "$1" || return
	apt-get -q -o APT::Sandbox::User=root download prometheus ||
		{ apt-get -q update && apt-get -q -o APT::Sandbox::User=root download prometheus; }
}

fetch()
{
	(download "$1") || return
	mkdir "$1/bin"
	dpkg-deb --fsys-tarfile "$1"/prometheus_*.deb |
		tar -C "$1/bin" --strip-components=3 -xf - ./usr/bin/prometheus ./usr/bin/promtool
}

if [ ! -d "$place" ]; then
	cache_lock packages	# as need.sh: one apt at a time
fi
if [ ! -d "$place" ]; then
	echo "lab: fetching Debian's prometheus" >&2
	rm -rf "$place".*	# of one that was killed
	tmp=$(mktemp -d "$place.XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
	fetch "$tmp" >"$CACHE/prometheus.log" 2>&1 || {
		tail -n 3 "$CACHE/prometheus.log" >&2
		echo "lab: Debian's prometheus cannot be fetched (above)" >&2
		exit 1
	}
	mv "$tmp/bin" "$place"
fi
echo "$place"
