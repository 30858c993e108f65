#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# suite-root.sh STEP ROOT [WORD]: what a suite's root file system has beside its packages;
# mmdebstrap calls it, for suite.sh
#
#	prepare ROOT KERNEL_SUITE	before there are any packages
#	headers ROOT newer|-		newer headers than the kernel's, where they are wanted
#	init ROOT			the machine's first process

set -euo pipefail

# The kernel and what belongs to it are that suite's, at any priority of its own; and
# all is there that the packages' own scripts will look for.
prepare()		# ROOT KERNEL_SUITE
{
	mkdir -p "$1"/etc/apt/preferences.d "$1"/src \
		"$1"/etc/initramfs-tools/conf.d \
		"$1"/usr/share/initramfs-tools/modules.d
	cat > "$1"/etc/apt/preferences.d/kernel <<-END
	Package: linux-*
	Pin: release n=$2
	Pin-Priority: 900
	END
	# An initrd with all drivers costs seconds at each boot.
	echo MODULES=list > "$1"/etc/initramfs-tools/conf.d/lab
	printf '%s\n' virtio_pci virtio_blk ext4 \
		> "$1"/usr/share/initramfs-tools/modules.d/lab
}

# The archive may have a kernel's headers some days before its image.
headers()		# ROOT newer|-
{
	local newest

	[ "$2" = newer ] || return 0
	newest=$(chroot "$1" apt-cache pkgnames linux-headers- |
		grep -E '^linux-headers-[0-9][^ ]*-cloud-amd64$' |
		sort -V | tail -n 1)
	if [ ! -d "$1/usr/src/$newest" ]; then
		chroot "$1" apt-get -y -q install "$newest" ||
			echo "suite-root.sh: $newest cannot be installed: left out" >&2
	fi
}

# What the kernel starts in the machine: the tree under test is on a disk of
# its own, so that the suite's disk stays as it is.
init()			# ROOT
{
	cat > "$1"/sbin/lab-init <<-'END'
	#!/bin/sh
	mount -t ext4 -o rw LABEL=src /src &&
		exec /src/selftests/lab/qemu-init.sh
	echo "lab-init: no disk labelled src"
	exec sleep 3600
	END
	chmod 755 "$1"/sbin/lab-init
}

case ${1-} in
prepare | headers | init)
	"$@"
	;;
*)
	echo "suite-root.sh: \"${1-}\" is no step: give prepare, headers or init" >&2
	exit 2
	;;
esac
