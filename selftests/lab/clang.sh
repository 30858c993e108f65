#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# clang.sh: inside a suite, make's arguments for the module by clang
#
# Debian configures its kernels for gcc and packs no Kconfig files with the headers,
# so that CC=clang alone is given gcc's flags (-fconserve-stack and the like)
# and refuses them.  What the configuration asks of the compiler can be said
# on make's command line, which wins over include/config/auto.conf: then kbuild's
# own rules choose the flags, as for a kernel configured with clang.  clang.h says
# the same to the sources.  What depends on clang's version, clang is asked.

set -eu
here=$(cd "$(dirname "$0")" && pwd)

# has FLAG: "y" when this clang takes it, else nothing
has()
{
	if clang -Werror "$1" -c -x c -o /dev/null /dev/null 2> /dev/null; then
		echo y
	fi
}

version()
{
	clang -dumpversion | awk -F . '{ print $1 * 10000 + $2 * 100 + $3 }'
}

rethunk=$(has -mfunction-return=thunk-extern)
sls=$(has -mharden-sls=all)

# Which compiler it is, in Kconfig's words
echo CC=clang CONFIG_CC_IS_GCC= CONFIG_GCC_VERSION=0
echo CONFIG_CC_IS_CLANG=y "CONFIG_CLANG_VERSION=$(version)"
echo "KCPPFLAGS=-include$here/clang.h"

# What the compiler has or lacks; each option under its names before and since 6.9
echo "CONFIG_RETHUNK=$rethunk" "CONFIG_MITIGATION_RETHUNK=$rethunk"
echo "CONFIG_SLS=$sls" "CONFIG_MITIGATION_SLS=$sls"
echo "CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT=$(has -fmin-function-alignment=16)"
echo CONFIG_CC_IMPLICIT_FALLTHROUGH=-Wimplicit-fallthrough

# clang 15 and older want it enabled by a flag that clang 18 no longer knows.
[ -n "$(has -ftrivial-auto-var-init=zero)" ] ||
	echo CONFIG_CC_HAS_AUTO_VAR_INIT_ZERO_ENABLER=y

# gcc alone knows -fsanitize=bounds-strict.
echo CONFIG_UBSAN_BOUNDS_STRICT= CONFIG_UBSAN_ARRAY_BOUNDS=y

# gcc writes the table of mcount's callers by -mrecord-mcount, for clang
# objtool does.
echo CONFIG_FTRACE_MCOUNT_USE_CC= CONFIG_FTRACE_MCOUNT_USE_OBJTOOL=y
