#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# dkms.sh RELEASE: inside a suite (chroot.sh), the whole life of the package
#
# In the order in which an administrator meets it: the sources in /usr/src,
# then add, build, install, a new boot's view of it, remove.  Afterwards
# /lib/modules and /var/lib/dkms hold what they held before.  TAP on stdout.
#
# /usr/src, /lib/modules and /var/lib/dkms have to be writable; chroot.sh -w
# gives copies.

set -u

release=$1
log=/tmp/dkms.log
. /src/selftests/tap.sh

# A dkms command that must succeed; what it said is shown when it does not.
step()		# TEXT COMMAND...
{
	local text=$1 status

	shift
	"$@" > $log 2>&1
	status=$?
	[ $status = 0 ] || sed 's/^/# /' $log
	point $status "$text"
}

same()		# TEXT EXPECTED GOT
{
	[ "$2" = "$3" ] || echo "# expected \"$2\", got \"$3\""
	[ "$2" = "$3" ]
	point $? "$1"
}

all_files()
{
	find /lib/modules/ /var/lib/dkms/ | sort
}

conf()		# the value of one directive, as dkms would read it
{
	# shellcheck source=/dev/null
	(kernel_source_dir='' dkms_tree='' . /src/dkms.conf; echo "${!1}")
}

# As "make install-dkms" would for a package.
place_sources()
{
	make -C /src install-dkms DESTDIR=/tmp/stage &&
		cp -a /tmp/stage/usr/src/"$name-$version" /usr/src/
}

built_silently()
{
	! grep -iE 'warning:|deprecated' $log \
		/var/lib/dkms/"$name/$version/$release"/*/log/make.log
}

name=$(conf PACKAGE_NAME)
version=$(conf PACKAGE_VERSION)
before=$(all_files)

step "the sources are in place" place_sources
step "dkms add" dkms add "$name/$version"
step "dkms build for $release" dkms build "$name/$version" -k "$release"
step "the build gave no warning" built_silently
step "dkms install" dkms install "$name/$version" -k "$release"

same "dkms status says installed" installed \
	"$(dkms status "$name/$version" -k "$release" | sed 's/.*: *//')"
same "modinfo finds it where dkms puts modules" \
	"/lib/modules/$release/updates/dkms/$name.ko" \
	"$(modinfo -k "$release" -F filename "$name" | sed 's/\.[xgz][^.]*$//')"
same "MODULE_VERSION is PACKAGE_VERSION" "$version" \
	"$(modinfo -k "$release" -F version "$name")"
step "modprobe would load it" modprobe -n -S "$release" "$name"

step "dkms remove" dkms remove "$name/$version" --all
same "nothing is left behind" "$before" "$(all_files)"
tap_finish
