#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# uml-module.sh [KERNEL]: build the module for the virtual-time kernel, in
# build/uml/ (build/uml-debug/), and print where the .ko is.  Any warning is an
# error.  UBSAN_SANITIZE means nothing to a kernel without CONFIG_UBSAN.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
kernel=${1:-$("$here/uml-kernel.sh")}
out=$top/build/uml${LAB_KERNEL:+-$LAB_KERNEL}

# One at a time: tests that begin together build the same folder.
mkdir -p "$out"
exec 9>"$out/lock"
flock 9
cp -ru "$top/tcp_circuit.c" "$top/circuit" "$top/Kbuild" "$top/include" "$out/"
rm -f "$out/include/compat/compat-config.h"
make -s -C "$kernel/tree" ARCH=um M="$out" \
	UBSAN_SANITIZE=y modules >"$out/build.log" 2>&1 ||
	{ cat "$out/build.log" >&2; exit 1; }
if grep -i 'warning' "$out/build.log" >&2; then
	echo "lab: the module builds, but not without a warning" >&2
	exit 1
fi
echo "$out/tcp_circuit.ko"
