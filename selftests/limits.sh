#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Values that are no window: the module's parameter at load and later, and the
# namespace's sysctls.  Each is refused, and what was there stays.

. "$(dirname "$0")/lib.sh"
need_module

PARAMETER=/sys/module/tcp_circuit/parameters/fcwnd
WINDOW_LIMIT=67108864
FCWND_LIMIT=1048576

# In a namespace, whose sysctls they are; the parameter is the machine's.
write()
{
	printf '%s' "$2" | in_src tee "$1" >/dev/null
}

value()
{
	in_src cat "$1"
}

# keeps NAME FILE LEAST MOST VALUE...: none of the values is taken, what was
# there stays; the ends of the range are
keeps()
{
	local name=$1 file=$2 least=$3 most=$4 value

	shift 4
	write "$file" $((least + 1))
	for value in "$@"; do
		refused "$name refuses '$value'" write "$file" "$value"
		equal "$name after '$value'" $((least + 1)) "$(value "$file")"
	done
	for value in "$most" "$least"; do
		succeeds "$name takes $value" write "$file" "$value"
		equal "$name" "$value" "$(value "$file")"
	done
}

# bounds NAME DEFAULT LEAST MOST [VALUE...]
bounds()
{
	local name=tcp_circuit_$1 file=/proc/sys/net/ipv4/tcp_circuit_$1
	local default=$2 least=$3 most=$4

	shift 4
	equal "$name begins with" "$default" "$(value "$file")"
	keeps "$name" "$file" "$least" "$most" $((most + 1)) \
		18446744073709551616 x 5x "$@"
	write "$file" "$default"
}

# loads VALUE: not with this parameter, and with a reason in the log
loads()
{
	echo "limits: $1" >/dev/kmsg
	refused "no module with fcwnd='$1'" modprobe tcp_circuit "fcwnd=$1"
	matches "the log says why" "tcp_circuit: fcwnd=.* is no window: give 0 to" \
		"$(dmesg | sed "1,/limits: $1/d")"
	refused "nothing is left of it" module_loaded
}

before=$(<$PARAMETER)
defer "echo $before >$PARAMETER"
ip netns add "$SRC"
defer "ip netns del $SRC"
keeps parameter $PARAMETER 0 $WINDOW_LIMIT $((WINDOW_LIMIT + 1)) -1 \
	4294967296 99999999999999999999 x 5x
bounds fcwnd 0 0 $WINDOW_LIMIT -1 4294967296
bounds fcwnd_max 0 0 $FCWND_LIMIT -1 4294967296
bounds share 1 0 2 -1 4294967297
bounds breaker 100 0 1000 -1 4294967297
bounds breaker_ms 2000 500 600000 -1 0 499 4294967796
bounds breaker_quiet 300 0 604800 -1 4294967297
bounds rate 0 0 125000000000 -1

if once_free modprobe -r tcp_circuit; then
	loads $((WINDOW_LIMIT + 1))
	loads -1
	loads many
	succeeds "a good one loads" modprobe tcp_circuit fcwnd=11163
	equal "with its window" 11163 "$(<$PARAMETER)"
else
	pass "load-time values # SKIP the module is in use on this machine"
fi
finish
