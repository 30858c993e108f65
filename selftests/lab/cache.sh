# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Where the lab keeps what is slow to build: outside the tree, one folder for
# each content, named by a hash of what it is made from.  Losing it costs time
# and nothing else.

CACHE=${TCP_CIRCUIT_CACHE:-${XDG_CACHE_HOME:-${HOME:?is not set, nor is TCP_CIRCUIT_CACHE}/.cache}/tcp_circuit}
mkdir -p "$CACHE"

# cache_key WORD|FILE...: twelve digits that change with any word or content
cache_key()
{
	for what in "$@"; do
		if [ -f "$what" ]; then cat "$what"; else echo "$what"; fi
	done | sha256sum | cut -c1-12
}

# cache_lock NAME: one maker at a time; freed when the shell ends
cache_lock()
{
	exec 9>"$CACHE/$1.lock"
	flock -n 9 && return
	echo "lab: waiting for another run ($1)" >&2
	flock 9
}
