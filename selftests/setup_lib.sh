# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# setup_lib.sh: what the tests of ctcp-setup (setup_*.sh) share; read it after
# lib.sh.
#
# Most need no traffic but a namespace that can be thrown away.  host() makes
# one with a veth whose other end is in it, too:
#
#	+---------------------- $HOST ----------------------+
#	|  eth1 10.78.0.1/24, fd78::1/64 ------------ far1  |
#	+---------------------------------------------------+
#
# Two such namespaces are alike to the device's index, so that what the kernel
# says about them can be compared as it stands.
#
# States go below $TMP: a circuit that this machine has is not in their way.

export CTCP_RUNDIR=$TMP/run
HOST=
need_commands circuit_nl circuit_state

# --- namespaces --------------------------------------------------------------

# In $HOST; in the machine's own namespace if that is empty
in_host()
{
	if [ -n "$HOST" ]; then
		spawn -n "$HOST" "$@"
	else
		spawn "$@"
	fi
}

# got_host COMMAND...: what it prints there is in GOT, without a fork of this shell; state is
# one, too
got_host()
{
	[ "$1" != state ] || set -- circuit_state
	spawn ${HOST:+-n "$HOST"} -v GOT "$@"
}

# veth_lines NAME PEER [WORDS]: lines for ip -batch.  Without addresses of its own,
# which would come a while after it is up.
veth_lines()
{
	local name=$1 peer=$2

	shift 2
	cat <<-END
		link add $name $* type veth peer name $peer $*
		link set $name addrgenmode none
		link set $peer addrgenmode none
		link set $name up
		link set $peer up
	END
}

# A kernel without SO_NETNS_COOKIE (before 5.14) tells namespaces apart by an inode,
# which the next one may be given: then ctcp-setup cannot know that the state of the
# one before is not this one's.  What that one left is forgotten here.
forget_namesake()
{
	local inode state

	compgen -G "$CTCP_RUNDIR/i*" >/dev/null || return 0
	inode=$(stat -L -c %i "/run/netns/$HOST")
	state=$CTCP_RUNDIR/i$inode.state
	[ -e "$state" ] || return 0
	echo "# no SO_NETNS_COOKIE here: the state of a namespace with this one's inode" \
		"is removed"
	rm "$state"
}

# host NAME [QUEUES]: make it, and let in_host be it.  One queue unless more are
# asked for: of itself a veth may have one for each processor.
host()
{
	local queues="numtxqueues ${2:-1} numrxqueues ${2:-1}"

	HOST=ctcp-$$-$1
	ip netns add "$HOST"
	defer "ip netns del $HOST"
	forget_namesake
	ip -n "$HOST" -batch - <<-END
		link set lo up
		$(veth_lines eth1 far1 "$queues")
		addr add 10.78.0.1/24 dev eth1
		addr add fd78::1/64 dev eth1 nodad
	END
	in_host sysctl -qw net.ipv4.tcp_no_metrics_save=0
	until_true 10 settled
}

# The kernel makes IPv6's own routes by itself, some time after a link is up: what a test
# compares with later has them all.
settled()
{
	both_up eth1 far1 && [[ $GOT = *"local fd78::1 dev eth1 "* ]]
}

# both_up NAME PEER: the same without an address, which a link loses when it goes down
both_up()
{
	got_host ip -6 route show table local
	[[ $GOT = *"multicast ff00::/8 dev $1 "* && $GOT = *"multicast ff00::/8 dev $2 "* ]]
}

# The one made last, where its state does not matter any more.
host_end()
{
	ip netns del "$HOST"
}

# another_device NAME: like eth1, with the other end beside it
another_device()
{
	veth_lines "$1" "far-$1" "numtxqueues 1 numrxqueues 1" | ip -n "$HOST" -batch -
	until_true 10 both_up "$1" "far-$1"
}

# --- the module --------------------------------------------------------------

# How many hold it; nobody holds one that is not there
module_count()
{
	cat /sys/module/tcp_circuit/refcnt 2>/dev/null || echo 0
}

# Begin without the module, and end as it was found.  False: it is in use, on a
# developer's own machine, and stays.
without_module()
{
	module_loaded || return 0
	[ -z "${MODULE_STAYS:-}" ] || return 1
	if ! once_free modprobe -r tcp_circuit; then
		MODULE_STAYS=1
		return 1
	fi
	defer "modprobe tcp_circuit"
}

# --- state -------------------------------------------------------------------

# circuit_value NAME FIELD: a number, as the kernel tells of this circuit and not the
# tool; nothing of one that is not there
circuit_value()
{
	got_host circuit_nl get "$1" 2>/dev/null
	field "$2" "$GOT"
}

# What was given to the circuits of $HOST, without what their sockets do
configured()
{
	in_host circuit_state configured
}

# Everything that ctcp-setup may touch, in the namespace $HOST, as text
state()
{
	in_host circuit_state
}

# same DESCRIPTION BEFORE AFTER: two texts of many lines; the difference if not
same()
{
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1" "expected (<) and got (>):" \
			"$(diff <(echo "$2") <(echo "$3"))"
	fi
}

# unchanged DESCRIPTION BEFORE: state() is what it was
unchanged()
{
	got_host state
	same "$1" "$2" "$GOT"
}

# --- the command -------------------------------------------------------------

setup()
{
	in_host ctcp-setup "$@"
}

# run COMMAND...: its output in $OUT and $ERR, its exit status in "$RC"
run()
{
	"$@" >"$TMP/out" 2>"$TMP/err"
	RC=$?
	OUT=$(<"$TMP/out")
	ERR=$(<"$TMP/err")
}

# works DESCRIPTION COMMAND...: exit 0, and nothing on stderr
works()
{
	local what=$1

	shift
	run "$@"
	if [ "$RC" = 0 ] && [ -z "$ERR" ]; then
		pass "$what"
	else
		fail "$what" "command: $*" "expected: exit 0, no message" \
			"got:      exit $RC" "$OUT" "$ERR"
	fi
}

# says DESCRIPTION EXIT PATTERN COMMAND...: this exit status, one line on stderr
# that the pattern matches, and nothing on stdout
says()
{
	local what=$1 rc=$2 pattern=$3

	shift 3
	run "$@"
	if [ "$RC" = "$rc" ] && [ -z "$OUT" ] && [[ $ERR != *$'\n'* ]] &&
	   has_line "^ctcp-setup: .*$pattern" "$ERR"; then
		pass "$what"
	else
		fail "$what" "command: $*" \
			"expected: exit $rc, one line on stderr, /$pattern/" \
			"got:      exit $RC" "stdout: $OUT" "stderr: $ERR"
	fi
}

# complains DESCRIPTION EXIT PATTERN COMMAND...: it says so, and changes nothing
complains()
{
	local before

	got_host state
	before=$GOT
	says "$@"
	unchanged "$1: nothing changed" "$before"
}

# value NAME: a sysctl's, blanks made single
value()
{
	in_host sysctl -n "$1" | tr -s ' \t' ' '
}

# root_qdisc DEV: as tc shows it, exactly and without what it has counted
root_qdisc()
{
	in_host tc -r qdisc show dev "$1" | grep ' root ' |
		sed 's/ *$//'
}

# Packets that left by the root qdisc of eth1 since it is there
sent_packets()
{
	in_host tc -s qdisc show dev eth1 |
		sed -n 's/.*Sent [0-9]* bytes \([0-9]*\) pkt.*/\1/p' | head -n 1
}

# Packets in the root qdisc of eth1
backlog()
{
	in_host tc -s qdisc show dev eth1 |
		sed -n 's/.*backlog [^ ]* \([0-9]*\)p.*/\1/p' | head -n 1
}

# datagrams N: full ones out of eth1, to nobody; no process for each, and a new
# socket before the buffer of one is full
datagrams()
{
	ip -n "$HOST" neigh replace 10.78.0.9 lladdr 02:00:00:00:00:09 dev eth1
	in_host bash -c "for ((i = 0; i < $1; i++)); do
			((i % 50)) || exec 3>/dev/udp/10.78.0.9/9
			printf %01400d 0 >&3
		done"
}

# json_is NAME EXPECTED FILTER: of what ctcp-setup printed, in $OUT
json_is()
{
	spawn -v GOT jq -r "$3" <<<"$OUT"
	equal "--json: $1" "$2" "$GOT"
}
