#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# analyse.sh BUILD SRC: inside a suite, clang's static analyser over the module
#
# SRC is where the module was just compiled by clang against the kernel's headers
# in BUILD.  kbuild has noted the command there: the same one, asked to analyse a
# copy of tcp_circuit.c with a null dereference at its end, so that to find nothing
# does not mean that nobody looked.
#
# Prints what it finds in that file, a line each; the one that is planted names a
# variable 'planted'.  The kernel's headers are not ours.

set -u
build=$1
src=$2

# What kbuild called for the module's object, without the source, its last word, and
# what came after it (objtool)
compile_command()
{
	sed -n '1s/^\(saved\)\{0,1\}cmd_[^ ]* := \([^;]*[^; ]\) .*tcp_circuit\.c *\(;.*\)*$/\2/p' \
		"$src/.tcp_circuit.o.cmd"
}

# Where it was called: its paths are relative to that, to SRC from 6.13 on.
called_in()
{
	case $1 in
	*" -o /"*)	echo "$build" ;;
	*)		echo "$src" ;;
	esac
}

plant()
{
	cp "$src/tcp_circuit.c" "$src/copy.c"
	cat >> "$src/copy.c" <<-'END'

	int circuit_planted(const int *planted);
	int circuit_planted(const int *planted)
	{
		return planted ? 0 : *planted;
	}
	END
}

plant
command=$(compile_command)
cd "$(called_in "$command")" || exit
eval "$command" --analyze -Xanalyzer -analyzer-output=text -o /dev/null \
	"$src/copy.c" 2>&1 | grep -E "(^|/)copy\.c:[0-9:]+ (warning|(fatal )?error):"
