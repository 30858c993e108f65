# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# shell.sh: how a test runs programs and waits; lib.sh sources it
#
# spawn and nap are builtins (shell/spawn.c) where make tests-bin could build them, which needs
# bash's headers (Debian's bash-builtins); else the functions here do the same by a fork.  In the
# virtual-time machine a fork of this shell costs more than the program that it then runs.

if ! enable -f "$BIN/spawn.so" spawn nap 2>/dev/null; then
	nap() { command sleep "$1"; }

	# spawn [-e] [-n NETNS] [-v NAME] COMMAND...
	spawn()
	{
		local option OPTIND=1 in_place='' netns=() name=''

		while getopts en:v: option; do
			case $option in
			e) in_place=1 ;;
			n) netns=(ip netns exec "$OPTARG") ;;
			v) name=$OPTARG ;;
			*) return 2 ;;
			esac
		done
		shift $((OPTIND - 1))
		if [ -n "$in_place" ]; then
			exec "${netns[@]}" "$@"
		elif [ -n "$name" ]; then
			printf -v "$name" %s "$(command "${netns[@]}" "$@")"
		else
			command "${netns[@]}" "$@"
		fi
	}
fi

sleep() { nap "$1"; }

# The programs that tests call most, by spawn
ip() { spawn ip "$@"; }
tc() { spawn tc "$@"; }
grep() { spawn grep "$@"; }
sysctl() { spawn sysctl "$@"; }
ethtool() { spawn ethtool "$@"; }
