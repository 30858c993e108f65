#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# test_processor.sh: each machine has a processor of the host to itself, as long as there is
# one (uml.sh); TAP.  The processors' locks are this test's own, as other machines may run.

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"
. "$here/cache.sh"

OWN=$TMP/cache
MACHINE="^$OWN/uml-[^ ]*/linux mem="	# what it is called among processes
LAB_KO=$("$here/uml-module.sh") || exit 1
export LAB_KO

# start NAME: a machine that runs until it is killed, once it has begun
start()
{
	mkdir "$TMP/$1"
	TCP_CIRCUIT_CACHE=$OWN "$here/uml.sh" -m 256M -t 120 -o "$TMP/$1" "$TMP/waits.sh" \
		>"$TMP/$1.log" 2>&1 &
	until_true 60 [ -e "$TMP/$1/begun" ]
}

# allowed_of PID: the processors on which it may run
allowed_of()
{
	sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$1/status" 2>/dev/null
}

# allowed: those of each machine that runs, a line for each
allowed()
{
	local pid

	for pid in $(pgrep -f "$MACHINE"); do
		allowed_of "$pid"
	done
}

# machines: how many run
machines()
{
	pgrep -cf "$MACHINE"
}

mkdir "$OWN"
ln -s "$CACHE"/uml-* "$OWN/"
cat >"$TMP/waits.sh" <<-"EOF"
	#!/bin/bash
	touch /lab/begun	# in the folder of -o
	while :; do sleep 1; done
EOF
chmod +x "$TMP/waits.sh"
all=$(allowed_of $$)
first=${all%%[,-]*}

start one
matches "a machine runs on one processor" '^[0-9]+$' "$(allowed | sort -u)"
equal "it is the first one" "$first" "$(allowed | sort -u)"
if [ "$all" != "$first" ]; then
	start two
	equal "another machine is on another one: processors" 2 \
		"$(allowed | sort -u | grep -cE '^[0-9]+$')"
	for lock in "$OWN"/processor-*.lock; do
		refused "the lock of ${lock##*/} is held" flock -n "$lock" true
	done
else
	echo "not tried, as this host has one processor: two machines" >&2
fi
for processor in $(seq 0 "$(getconf _NPROCESSORS_CONF)"); do
	exec {lock}>"$OWN/processor-$processor.lock"
	flock -n "$lock"
done
start three
equal "where all are taken, a machine runs on any: those of $all" 1 \
	"$(allowed | sort -u | grep -cx -- "$all")"
pkill -f "$MACHINE"
wait
equal "machines that are left" 0 "$(machines)"
finish
