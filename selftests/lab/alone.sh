# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# alone.sh: one run of a kind at a time in a tree, as two would write over each other's results
#
# The shell that runs it holds the lock, and nobody else: what it starts, and what that
# leaves behind, does not have the lock's descriptor.  So the lock is gone when the shell is,
# however it ended.  That of another tree is another lock.

# alone WHAT LOCK COMMAND...: the command; or, where another run has the lock, who that is
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
