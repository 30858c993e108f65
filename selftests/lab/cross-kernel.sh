#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# cross-kernel.sh ARCH COMPILER: print the folder of a kernel tree that is ready
# to compile modules for another architecture (arm64, arm), by gcc or clang; it
# is prepared first when the cache has none.  In it: build/ (the M= build's
# kernel) and exports, the symbols that a module may use, one each line.
#
# Source: Debian's linux-source-6.1, unpacked once for all; the architecture's
# own defconfig, with CONFIG_NETFILTER and modules.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/cache.sh"

VERSION=6.1
TARBALL=/usr/src/linux-source-$VERSION.tar.xz
arch=$1
compiler=$2

say()
{
	echo "lab: $*" >&2
}

# What make is told beside ARCH, for this compiler
tools()
{
	case $compiler-$arch in
	gcc-arm64) echo CROSS_COMPILE=aarch64-linux-gnu- ;;
	gcc-arm) echo CROSS_COMPILE=arm-linux-gnueabihf- ;;
	clang-*) echo LLVM=1 ;;
	*) say "\"$arch\" by \"$compiler\" is not known here"; exit 2 ;;
	esac
}

defconfig()
{
	case $arch in
	arm) echo multi_v7_defconfig ;;
	*) echo defconfig ;;
	esac
}

words=$(tools)
[ "${3-}" != --tools ] || { echo "$words"; exit 0; }

source_dir()
{
	source=$CACHE/source-$VERSION-$(cache_key "$TARBALL")
	if [ ! -d "$source" ]; then
		say "unpacking $TARBALL"
		rm -rf "$source.making"
		mkdir "$source.making"
		tar -C "$source.making" -xf "$TARBALL" --strip-components=1
		mv "$source.making" "$source"
	fi
}

# Those that a macro makes of a part of the name are not found: what they are
# called is in cross.sh.
exports()
{
	grep -rhoE 'EXPORT_(PER_CPU_)?SYMBOL(_GPL|_NS|_NS_GPL)?\([a-z_0-9A-Z]+' \
		--include='*.[chS]' "$source/arch/$arch" "$source/lib" \
		"$source/kernel" "$source/mm" "$source/net" "$source/fs" \
		"$source/security" | sed 's/.*(//' | sort -u
}

prepare()
{
	mkdir -p "$1/build"
	exports > "$1/exports"
	# shellcheck disable=SC2086 # a list of words
	make -s -C "$source" O="$1/build" ARCH="$arch" $words "$(defconfig)"
	"$source/scripts/config" --file "$1/build/.config" -e MODULES \
		-e NETFILTER -d DEBUG_INFO_BTF -d GCC_PLUGINS
	# shellcheck disable=SC2086 # a list of words
	make -s -C "$source" O="$1/build" ARCH="$arch" $words olddefconfig
	grep -qx CONFIG_NETFILTER=y "$1/build/.config"
	# shellcheck disable=SC2086 # a list of words
	make -s -j"$(nproc)" -C "$source" O="$1/build" ARCH="$arch" $words \
		modules_prepare
}

"$here/need.sh" "linux-source-$VERSION" xz-utils make gcc libc6-dev flex bison \
	bc libelf-dev libssl-dev gcc-aarch64-linux-gnu gcc-arm-linux-gnueabihf \
	clang lld llvm
cache_lock "source-$VERSION"
source_dir
key=$(cache_key "$here/cross-kernel.sh" "$source" "$(gcc -dumpfullversion)" \
	"$(clang -dumpversion)")
name=cross-$VERSION-$arch-$compiler-$key
dir=$CACHE/$name
if [ ! -d "$dir" ]; then
	tmp=$CACHE/making-$name
	rm -rf "$tmp"
	mkdir "$tmp"
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 1' INT TERM HUP
	say "preparing a kernel for $arch by $compiler"
	prepare "$tmp" > "$CACHE/$name.log" 2>&1 ||
		{ tail -n 20 "$CACHE/$name.log" >&2; exit 1; }
	mv "$tmp" "$dir"
fi
echo "$dir"
