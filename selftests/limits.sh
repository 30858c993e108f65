#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Values that are no window: the module's parameter at load and later, and the
# namespace's sysctls.  Each is refused, and what was there stays.

. "$(dirname "$0")/lib.sh"
need_module

PARAMETER=/sys/module/tcp_circuit/parameters/fcwnd
LIMIT=1048576

write()
{
	printf '%s' "$2" >"$1"
}

# keeps NAME FILE VALUE...: none of the values is taken, 7 stays
keeps()
{
	local name=$1 file=$2 value

	shift 2
	write "$file" 7
	for value in "$@"; do
		refused "$name refuses '$value'" write "$file" "$value"
		equal "$name after '$value'" 7 "$(<"$file")"
	done
	for value in 0 1 $LIMIT; do
		succeeds "$name takes $value" write "$file" $value
		equal "$name" $value "$(<"$file")"
	done
	write "$file" 0
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

ip netns add "$SRC"
defer "ip netns del $SRC"
keeps parameter $PARAMETER $((LIMIT + 1)) -1 4294967296 99999999999999999999 \
	x 5x
ip netns exec "$SRC" bash -c "$(declare -f write keeps refused succeeds equal \
	pass fail); TAP_COUNT=0 TAP_FAILED=0 LIMIT=$LIMIT
	for name in tcp_circuit_fcwnd tcp_circuit_fcwnd_max; do
		keeps \$name /proc/sys/net/ipv4/\$name \
			$((LIMIT + 1)) -1 4294967296 x 5x
	done" >"$TMP/inner"
equal "the namespace's sysctls: points that failed" 0 \
	"$(grep -c '^not ok' "$TMP/inner")"
at_least "the namespace's sysctls: points" 32 "$(grep -c '^ok' "$TMP/inner")"
grep -A2 '^not ok' "$TMP/inner" | sed 's/^/# /'

if modprobe -r tcp_circuit 2>/dev/null; then
	loads $((LIMIT + 1))
	loads -1
	loads many
	succeeds "a good one loads" modprobe tcp_circuit fcwnd=11163
	equal "with its window" 11163 "$(<$PARAMETER)"
else
	pass "load-time values # SKIP the module is in use on this machine"
fi
finish
