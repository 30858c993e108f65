# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# point.sh: TAP of what builds the module; read it

points=0
failed=0

point()		# STATUS TEXT: one line
{
	points=$((points + 1))
	[ "$1" = 0 ] && echo "ok $points - $2" && return
	failed=1
	echo "not ok $points - $2"
}

# The last line, and how the script ends
finish()
{
	echo "1..$points"
	exit $failed
}
