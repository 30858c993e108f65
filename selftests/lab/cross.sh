#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# cross.sh ARCH COMPILER: compile the module for another architecture; TAP
#
# Compiled, not linked: a prepared tree (cross-kernel.sh) has no symbol versions.
# What it would not link for is looked for here: a symbol that no kernel exports
# is one the compiler made up, most of all a 64-bit division on a 32-bit machine
# (__aeabi_uldivmod, __udivdi3).  A warning is a failure, those about the size or
# the alignment of atomics among them.

set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
arch=$1
compiler=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$here/../tap.sh"

compile()
{
	cp -r "$top"/tcp_circuit.c "$top"/circuit "$top"/Kbuild "$top"/include "$work"/
	# shellcheck disable=SC2086 # a list of words
	make -C "$kernel/build" ARCH="$arch" $words M="$work" tcp_circuit.o \
		> "$work/log" 2>&1 && ! grep -qE '(warning|WARNING):' "$work/log"
	point $? "module compiles for $arch by $compiler without a warning"
	[ -s "$work/tcp_circuit.o" ] || sed 's/^/# /' "$work/log"
}

right_machine()
{
	local want=AArch64

	[ "$arch" = arm ] && want=ARM
	readelf -h "$work/tcp_circuit.o" | grep -qE "Machine: +$want$"
	point $? "it is code for $want"
}

# Names that a macro puts together when it exports are not found by a search; and
# __this_module is made when a module is linked.
made_up='__this_module|param_(ops|set|get)_[a-z]+|[a-z]+_cgrp_subsys_(enabled|on_dfl)_key'

foreign()
{
	nm -u "$work/tcp_circuit.o" | awk '{ print $2 }' |
		grep -vxE "$made_up" |
		grep -vxF -f "$kernel/exports"
}

only_the_kernels()
{
	local none

	none=$(foreign)
	[ -z "$none" ] || sed 's/^/# not exported by any kernel: /' <<< "$none"
	[ -s "$work/tcp_circuit.o" ] && [ -z "$none" ]
	point $? "every symbol it needs is the kernel's"
}

kernel=$("$here"/cross-kernel.sh "$arch" "$compiler") || exit 1
words=$("$here"/cross-kernel.sh "$arch" "$compiler" --tools) || exit 1
echo "### FACT kernel $(cat "$kernel/build/include/config/kernel.release")"
case $compiler in
gcc)	echo "### FACT gcc $("${words#CROSS_COMPILE=}gcc" -dumpfullversion)" ;;
clang)	echo "### FACT clang $(clang -dumpversion)" ;;
esac
compile
right_machine
only_the_kernels
tap_finish
