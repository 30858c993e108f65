#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# uml-kernel.sh [FLAVOUR]: print the folder of the virtual-time kernel, and build it
# first when the cache has none.  In it: linux (the kernel, a program) and tree/
# (what is needed to build modules for it).
#
# Source: Debian's linux-source-6.1, tinyconfig, uml.config, uml-6.1-*.patch.
# FLAVOUR (or LAB_KERNEL), words joined by "-": each is uml-WORD.config too.  "newest",
# the first if it is there, is the newest source in Debian's archive as well
# (newest-source.sh); "debug", "leaks" and "nonetfilter" go with either source.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/cache.sh"

FLAVOUR=${1:-${LAB_KERNEL:-}}
CONFIGS=$here/uml.config
for word in $(echo "$FLAVOUR" | tr - ' '); do
	CONFIGS="$CONFIGS $here/uml-$word.config"
done
if [ "${FLAVOUR%%-*}" = newest ]; then
	SOURCE=$("$here/newest-source.sh")
	TARBALL=$(echo "$SOURCE"/linux-source-*.tar.xz)
	VERSION=$(basename "$TARBALL" .tar.xz | sed 's/.*-//')
	POINT=$(cat "$SOURCE/package")
	PACKAGE=
else
	VERSION=6.1
	TARBALL=/usr/src/linux-source-$VERSION.tar.xz
	POINT=
	PACKAGE=linux-source-$VERSION
fi
PATCHES=$(ls "$here"/uml-"$VERSION"-*.patch 2>/dev/null || true)

# The kernel stirs its banner into its first random numbers, so with the time and place
# of the build in it, every build would lose other packets for the same seed.
export KBUILD_BUILD_TIMESTAMP=2023-11-14 KBUILD_BUILD_VERSION=1
export KBUILD_BUILD_USER=lab KBUILD_BUILD_HOST=lab

say()
{
	echo "lab: $*" >&2
}

# Not 6.1's point release: a machine that is offline, or has had the source
# removed, still has its lab (not the newest's, whose point release counts).  But
# the compiler: modules want the same.
# shellcheck disable=SC2086 # lists of files
key=$(cache_key $CONFIGS "$here/uml-kernel.sh" $PATCHES \
	$POINT "$(uname -m)" "$(gcc -dumpfullversion 2>/dev/null)")
dir=$CACHE/uml-$VERSION-$key
if [ -x "$dir/linux" ]; then
	echo "$dir"
	exit 0
fi

configure()
{
	make -s ARCH=um tinyconfig
	# shellcheck disable=SC2086 # a list of files
	cat $CONFIGS | awk -F '[= ]' '/^(# )?CONFIG_/ {
		line[$1 == "#" ? $2 : $1] = $0 }
		END { for (name in line) print line[name] }' >wanted
	./scripts/kconfig/merge_config.sh -m .config wanted
	make -s ARCH=um olddefconfig

	grep '^CONFIG_' wanted | grep -vxF -f .config >missing || return 0
	say "not to be had in this kernel: $(tr '\n' ' ' <missing)"
	return 1
}

# Modules need headers, scripts and the architecture's makefiles; the rest of
# the tree is a gigabyte of no use.
prune()
{
	mv linux ..
	find . -name '*.o' ! -path './scripts/*' -delete
	find . -name '*.a' -delete
	rm -rf Documentation drivers sound fs net samples mm block certs \
		crypto ipc lib virt security/selinux LICENSES
	find arch -mindepth 1 -maxdepth 1 ! -name um ! -name x86 \
		! -name Kconfig -exec rm -rf {} +
}

build()
{
	start=$(date +%s)
	mkdir -p "$1/tree"
	cd "$1/tree"
	say "unpacking $TARBALL"
	tar -xf "$TARBALL" --strip-components=1
	for patch in $PATCHES; do
		patch -s -p1 <"$patch"
	done
	configure >../build.log 2>&1 || { tail -n 20 ../build.log >&2; return 1; }
	say "building the virtual-time kernel (once, two to four minutes)"
	make -s ARCH=um -j"$(nproc)" linux modules >>../build.log 2>&1 ||
		{ tail -n 20 ../build.log >&2; return 1; }
	prune
	say "built in $(($(date +%s) - start)) s"
}

cache_lock "uml-$VERSION-$key"
if [ ! -x "$dir/linux" ]; then
	# shellcheck disable=SC2086 # one word or none
	"$here/need.sh" $PACKAGE xz-utils patch make gcc libc6-dev flex bison bc
	tmp=$CACHE/making-uml-$VERSION-$key
	rm -rf "$tmp"
	mkdir "$tmp"
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 1' INT TERM HUP
	build "$tmp"
	rm -rf "$dir"
	mv "$tmp" "$dir"
fi
echo "$dir"
