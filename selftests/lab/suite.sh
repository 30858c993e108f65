#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# suite.sh [--refresh|--place] NAME, suite.sh --list: one Debian suite, ready to build and boot
#
# Prints a folder, kept between runs, that holds
#
#	root/		the root file system, as mmdebstrap made it
#	disk.img	the same as an ext4 image, to boot from
#	vmlinuz, initrd	its kernel
#	kernel		that kernel's release, one line
#
# and whose content never changes: root/ is entered read-only (chroot.sh) and
# disk.img is booted with its writes thrown away.  The folder's name carries a
# hash of what defines it, so a change here makes a new one.  It is made beside
# its place and renamed, under a lock: what is there is whole.  Who uses it holds
# a shared lock on the folder.
#
# A suite once made is used as it is, also without a network; --refresh makes
# it again with what the archive has today (archive.sh).

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
. "$here/cache.sh"
. "$here/archive.sh"
disk_size=3G		# sparse; a suite takes about 1 GB of it

# name; sources ("main" and "sec" are the two mirrors); suite of the kernel;
# "newer" when headers newer than that kernel are wanted, to compile against; packages that
# this suite has beside those of all, for tests whose head names it ("# suites:"); bullseye's
# libbpf is older than 1.0
suites="
bullseye main:bullseye,sec:bullseye-security bullseye -
bookworm main:bookworm,sec:bookworm-security bookworm - libbpf-dev,systemd,dbus,network-manager
bookworm-backports main:bookworm,sec:bookworm-security,main:bookworm-backports bookworm-backports - libbpf-dev
newest main:trixie,sec:trixie-security,main:trixie-backports trixie-backports newer libbpf-dev
"

packages="
linux-image-cloud-amd64 linux-headers-cloud-amd64 initramfs-tools
gcc clang libc6-dev make dkms kmod dwarves pkg-config
libmnl-dev libnl-3-dev libnl-route-3-dev libkmod-dev libjansson-dev
libsqlite3-dev libinih-dev libmicrohttpd-dev
iproute2 iperf3 iputils-ping ethtool tcpdump nftables procps busybox jq strace
python3-minimal
"

die()
{
	echo "suite.sh: $*" >&2
	exit 1
}

bootstrap()
{
	local root=$1 sources=$2 kernel_suite=$3 newer=$4 more=$5 tmp=$6

	collect_keys "$tmp"/keys || return
	source_lines "$sources" > "$tmp"/sources.list
	grep -q . "$tmp"/sources.list || {
		echo "apt knows no mirror of Debian here: set TCP_CIRCUIT_MIRROR" >&2
		return 1
	}

	# shellcheck disable=SC2086
	mmdebstrap --mode=root --variant=minbase --quiet \
		--architectures=amd64 --components=main \
		--keyring="$tmp"/keys \
		--include="$(echo $packages | tr ' ' ,)${more:+,$more}" \
		--aptopt='Acquire::Check-Valid-Until "false"' \
		--aptopt='Acquire::Languages "none"' \
		--dpkgopt=force-unsafe-io \
		--dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		--setup-hook="$here/suite-root.sh prepare \"\$1\" $kernel_suite" \
		--customize-hook="$here/suite-root.sh headers \"\$1\" $newer" \
		--customize-hook="$here/suite-root.sh init \"\$1\"" \
		"" "$root" "$tmp"/sources.list
}

# The kernel that the suite gives to those who ask for no version.
take_kernel()
{
	local release root=$1/root

	# shellcheck disable=SC2016 # dpkg-query's own variable
	release=$(chroot "$root" dpkg-query -W -f '${Depends}' \
		linux-image-cloud-amd64 | tr ',' '\n' |
		sed -n 's/^ *linux-image-\([0-9][^ ]*\).*/\1/p')
	[ -e "$root/usr/src/linux-headers-$release" ] ||
		die "kernel \"$release\" has no headers in this suite"
	echo "$release" > "$1"/kernel
	cp "$root/boot/vmlinuz-$release" "$1"/vmlinuz
	cp "$root/boot/initrd.img-$release" "$1"/initrd
}

make_suite()
{
	local place=$1 sources=$2 kernel_suite=$3 newer=$4 more=$5 tmp

	tmp=$(mktemp -d "$place.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$tmp'" EXIT
	chmod 755 "$tmp"

	bootstrap "$tmp"/root "$sources" "$kernel_suite" "$newer" "$more" "$tmp" \
		> "$place.log" 2>&1 ||
		die "it cannot be made, see $place.log: $(tail -n 3 "$place.log")"
	take_kernel "$tmp"
	mke2fs -q -t ext4 -L root -O ^has_journal -m 0 \
		-d "$tmp"/root "$tmp"/disk.img "$disk_size" > /dev/null
	rm -rf "$tmp"/keys "$tmp"/sources.list

	retire "$place"
	mv "$tmp" "$place"
	trap - EXIT
}

# A suite that is to go may be in use: qemu.sh holds a shared lock on it.
retire()
{
	[ -d "$1" ] || return 0
	exec 8< "$1"
	flock 8
	rm -rf "$1"
	exec 8<&-
}

# What a killed run left, and what no run has asked for in the last weeks.
prune()
{
	local old

	rm -rf "$CACHE/suite-$1-"????????????.??????
	find "$CACHE" -maxdepth 1 -name "suite-$1-????????????" -mtime +21 |
		while read -r old; do
			retire "$old"
			rm -f "$old".log
		done
}

list()
{
	awk 'NF { print $1 }' <<< "$suites"
}

# The folder of a suite: what defines it is its name and what makes it.
place_of()
{
	echo "$CACHE/suite-$1-$(cache_key "$1" "$here/suite.sh" "$here/suite-root.sh")"
}

main()
{
	local name refresh=no row place sources kernel_suite newer more

	case ${1-} in
	--list)		list; return ;;
	--place)	place_of "$2"; return ;;
	--refresh)	refresh=yes; shift ;;
	esac
	name=${1-}
	row=$(awk -v name="$name" 'NF && $1 == name' <<< "$suites")
	[ -n "$row" ] ||
		die "\"$name\" is no suite: give one of" "$(list | xargs)"

	place=$(place_of "$name")
	cache_lock "suite-$name"
	if [ $refresh = yes ] || [ ! -d "$place" ]; then
		[ "$(id -u)" = 0 ] || die "root is needed to make a suite"
		read -r _ sources kernel_suite newer more <<< "$row"
		prune "$name"
		make_suite "$place" "$sources" "$kernel_suite" "$newer" "$more"
	fi
	touch "$place"
	echo "$place"
}

main "$@"
