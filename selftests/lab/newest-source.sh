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
place=$CACHE/source-newest

# apt with nothing of the machine's but its configuration and where its archive is
apt_of_suite()		# COMMAND WORD...
{
	local command=$1

	shift
	"apt-$command" -q -o Dir::State="$tmp" -o Dir::State::status="$tmp/status" \
		-o Dir::Cache="$tmp/cache" -o Dir::Etc::SourceList="$tmp/sources" \
		-o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::TrustedParts="$tmp/keys" \
		-o Dir::Etc::Preferences=/dev/null \
		-o Dir::Etc::PreferencesParts=/dev/null \
		-o Acquire::Check-Valid-Until=false -o Acquire::Languages=none \
		-o APT::Sandbox::User=root "$@"
}

prepare()
{
	local site

	collect_keys "$tmp/keys" || return
	site=$(mirror main)
	[ -n "$site" ] || {
		echo "apt knows no mirror of Debian here: set TCP_CIRCUIT_MIRROR" >&2
		return 1
	}
	echo "deb $site $suite main" > "$tmp/sources"
	: > "$tmp/status"
	mkdir -p "$tmp/lists/partial" "$tmp/cache/archives/partial" "$tmp/new"
}

fetch()
{
	local package

	prepare || return
	apt_of_suite get -o APT::Update::Error-Mode=any update || return
	package=$(apt_of_suite cache pkgnames linux-source- |
		grep -E '^linux-source-[0-9.]+$' | sort -V | tail -n 1)
	[ -n "$package" ] || {
		echo "$suite has no linux-source" >&2
		return 1
	}
	(cd "$tmp" && apt_of_suite get download "$package") || return
	dpkg-deb -f "$tmp/$package"_*.deb Version > "$tmp/new/package" || return
	dpkg-deb --fsys-tarfile "$tmp/$package"_*.deb |
		tar -C "$tmp/new" --strip-components=3 -xf - "./usr/src/$package.tar.xz"
}

if [ ! -d "$place" ]; then
	cache_lock source-newest
fi
if [ ! -d "$place" ]; then
	"$here/need.sh" debian-archive-keyring
	echo "lab: fetching the newest kernel's source" >&2
	rm -rf "$place".??????		# of one that was killed
	tmp=$(mktemp -d "$place.XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
	fetch > "$place.log" 2>&1 || {
		tail -n 3 "$place.log" >&2
		echo "lab: the newest kernel's source cannot be fetched (above)" >&2
		exit 1
	}
	mv "$tmp/new" "$place"
fi
echo "$place"
