# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# alone.sh: one run of a kind at a time in a tree, as two would write over each other's results
#
# Only the shell that runs it holds the lock: the programs that it starts, and what they leave
# behind, do not have the lock's descriptor.  So the kernel releases the lock when the shell
# ends, however that happens.  Each tree has its own lock.

# alone WHAT LOCK COMMAND...: run COMMAND under LOCK; if another run holds the lock, print its
# pid and fail
alone()
{
	alone_what=$1 alone_lock=$2
	shift 2
	mkdir -p "${alone_lock%/*}" || return
	{
		if ! flock -n 8; then
			echo "$alone_what is running in this tree, as process" \
				"$(cat "$alone_lock"): nothing was begun, nothing changed" >&2
			return 1
		fi
		echo $$ >"$alone_lock"
		"$@" 8>&-
	} 8>>"$alone_lock"
}
