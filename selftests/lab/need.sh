#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# need.sh PACKAGE...: install those Debian packages that are not there yet.
#
# Prints what it installs, or why that failed.  If all packages are present, it does not
# call apt, so that everything works offline.

# not_installed PACKAGE...: print those that are missing, each with a space before it
not_installed()
{
	for pkg in "$@"; do
		dpkg-query -W -f '${Status}' "$pkg" 2>/dev/null |
			grep -q 'ok installed' || printf ' %s' "$pkg"
	done
}

missing=$(not_installed "$@")
[ -z "$missing" ] && exit 0

# One at a time: apt does not wait for another's lists.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/cache.sh"
cache_lock packages
missing=$(not_installed "$@")
[ -z "$missing" ] && exit 0

if ! command -v apt-get >/dev/null; then
	echo "need: this is not Debian; please install:$missing" >&2
	exit 1
fi

sudo=
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "need: as root, please run: apt-get install$missing" >&2
		exit 1
	fi
	sudo=sudo
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "need: installing Debian packages:$missing" >&2

# What apt starts must not keep the lock (9).
apt()
{
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get "$@" >"$log" 2>&1 \
		</dev/null 9>&-
}

install()
{
	# shellcheck disable=SC2086 # a list of names
	apt install -y --no-install-recommends $missing
}

# The list of packages may be old, or not there at all on a fresh machine.
install || { apt update && install; } || {
	tail -n 15 "$log" >&2
	echo "need: could not install$missing (apt's words above); the lab is" \
		"made for Debian 12 on amd64" >&2
	exit 1
}
