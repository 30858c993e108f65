# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# tell.sh: progress output for a run of many tests; source this file
#
# Seconds count from LAB_BEGAN, which the first of several scripts sets for all.

export LAB_BEGAN=${LAB_BEGAN:-$(date +%s)}

# say WORD...: print a line of progress
say()
{
	printf '[%4d s] %s\n' $(($(date +%s) - LAB_BEGAN)) "$*"
}

# as_test NAME COMMAND...: run it, its output between the lines that tap.awk reads
as_test()
{
	local name=$1 start status

	shift
	start=$(date +%s)
	echo "### RUN $name"
	"$@" 2>&1
	status=$?
	echo "### EXIT $name $status $(($(date +%s) - start))"
}
