#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# analyse.sh BUILD SRC: inside a suite, clang's static analyser over the module
#
# SRC is where the module was just compiled by clang against the kernel's headers
# in BUILD.  kbuild has noted the command of each part there: the same one, asked to
# analyse a copy of it; core's with a null dereference at its end, so that to find
# nothing does not mean that nobody looked.
#
# Prints what it finds in the module's files, a line each; the one that is planted
# names a variable 'planted'.  The kernel's headers are not ours.

set -u
build=$1
src=$2

# compile_command PART: what kbuild called for its object, without the source, its
# last word, and what came after it (objtool)
compile_command()
{
	sed -n '1s/^\(saved\)\{0,1\}cmd_[^ ]* := \([^;]*[^; ]\) [^ ]*circuit\/'"$1"'\.c *\(;.*\)*$/\2/p' \
		"$src/circuit/.$1.o.cmd"
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
	cat >> "$1" <<-'END'

	int circuit_planted(const int *planted);
	int circuit_planted(const int *planted)
	{
		return planted ? 0 : *planted;
	}
	END
}

analyse()		# PART
{
	local command copy=$src/circuit/copy_$1.c

	cp "$src/circuit/$1.c" "$copy"
	[ "$1" != core ] || plant "$copy"
	command=$(compile_command "$1")
	[ -n "$command" ] || echo "circuit/$1.c:1: error: kbuild's command is not found"
	(cd "$(called_in "$command")" && eval "$command" --analyze \
		-Xanalyzer -analyzer-output=text -o /dev/null "$copy") 2>&1 |
		grep -E "(circuit/[a-z_]+\.[ch]|tcp_circuit\.c):[0-9:]+ (warning|(fatal )?error):"
	rm "$copy"
}

for part in "$src"/circuit/*.c; do
	analyse "$(basename "$part" .c)"
done
