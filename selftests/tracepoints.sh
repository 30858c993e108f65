#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: qemu root
#
# The tracepoints tcp_circuit:*, read from a trace: a stream that sends a little and
# then a lot is modest, hungry and idle, under its own ports and with the share that it
# holds; for a breaker that trips and is reset they show its user and what was lost.  The
# trace is an instance of its own (tracefs), so that no other trace is touched.

. "$(dirname "$0")/lib.sh"
need_commands circuit_nl circuit_streams
need_module

RTT_MS=1000	# the little is unacknowledged yet when the lot follows
SMALL=16	# segments that a modest stream holds at most
TRACEFS=/sys/kernel/tracing
TRACE=$TRACEFS/instances/ctcp-$$

trace_begin()
{
	[ -d $TRACEFS ] || skip_all "this kernel has no tracefs"
	if [ ! -d $TRACEFS/instances ]; then
		mount -t tracefs tracefs $TRACEFS ||
			skip_all "tracefs cannot be mounted"
		defer "umount $TRACEFS"
	fi
	mkdir "$TRACE" || skip_all "no trace of one's own"
	defer "rmdir $TRACE"
	succeeds "the events can be enabled" \
		sh -c "echo 1 >$TRACE/events/tcp_circuit/enable"
	defer "echo 0 >$TRACE/events/tcp_circuit/enable"
}

# events NAME FIELD=VALUE ...: what the trace has of it, from the first field on.  The
# trace is the whole kernel's: a namespace that ends in the background has streams, too.
events()
{
	sed -n "s/.*: tcp_circuit_$1: //p" "$TRACE/trace" | grep "^${*:2} "
}

all_acknowledged()
{
	events stream "$1" "dport=$PORT" | tail -n 1 | grep -q state=idle
}

has_port()
{
	[ -n "$(sport)" ]
}

# The local port of the only connection to $PORT
sport()
{
	in_src ss -Htn "dport = :$PORT" | awk '{ sub(/.*:/, "", $4); print $4 }'
}

# Its socket stays open until the port is known.
little_then_a_lot()
{
	local seen port

	background src bash -c "exec 3<>/dev/tcp/$DST4/$PORT
		head -c 1000 /dev/zero >&3
		head -c 1000000 /dev/zero >&3
		exec sleep 600"
	SENDER=$!
	defer "kill $SENDER"
	until_true 60 has_port
	port=$(sport)
	until_true 60 all_acknowledged "sport=$port"
	seen=$(events stream "sport=$port" "dport=$PORT")
	matches "a little: modest" "^sport=$port dport=$PORT state=modest share=0$" \
		"$seen"
	matches "a lot: hungry, and what it held" \
		"^sport=$port dport=$PORT state=hungry share=[1-9][0-9]*$" "$seen"
	within "held before it was hungry, segments" $(((1 + SMALL) / 2)) \
		"$(sed -n 's/.*state=hungry share=//p' <<<"$seen" | head -n 1)" \
		$((SMALL / 2))
	equal "all acknowledged: idle" "sport=$port dport=$PORT state=idle share=0" \
		"$(tail -n 1 <<<"$seen")"
	equal "one after the other" "modest hungry idle" \
		"$(sed 's/.*state=//; s/ .*//' <<<"$seen" | xargs)"
}

tripped()
{
	events breaker circuit=wave | grep -q tripped
}

both_connected()
{
	[ "$(in_src ss -Htn state established "dport = :$PORT" | wc -l)" = 2 ]
}

# What the kernel's log says of the same: lost and delivered
logged()
{
	dmesg | sed -n 's/.*circuit wave: .* ms \([0-9]*\) of \([0-9]*\) segments lost.*/\1 \2/p' |
		tail -n 1 | awk '{ print "lost=" $1 " delivered=" $2 - $1 }'
}

breaker()
{
	local id seen sender

	in_src circuit_nl new wave prefix $DST4 window 100
	id=$(circuit_field src wave id)
	set_in src net.ipv4.tcp_circuit_breaker 50
	set_in src net.ipv4.tcp_circuit_breaker_ms 500
	delay 5
	background src circuit_streams -n 2 -t 600000 $DST4 $PORT >/dev/null
	sender=$!
	until_true 20 both_connected
	delay 5 loss 30%
	until_true 120 tripped
	seen="reason=loss $(logged)"
	# First what could trip it again: then it would be there for 300 s more.
	kill $sender
	wait $sender 2>/dev/null
	delay 0
	end_sockets src
	in_src circuit_nl reset wave
	equal "the first breaker event" "circuit=wave id=$id uid=0 tripped $seen" \
		"$(events breaker circuit=wave | sed -n 1p)"
	equal "the second" "circuit=wave id=$id uid=0 closed $seen" \
		"$(events breaker circuit=wave | sed -n 2p)"
	at_least "its loss, thousandths" 51 "$(events breaker circuit=wave | sed -n 1p |
		awk -F '[ =]' '{ print int($(NF - 2) * 1000 / ($(NF - 2) + $NF)) }')"
}

trace_begin
network $((RTT_MS / 2))
set_in src net.ipv4.tcp_circuit_fcwnd 100
ip -n "$SRC" route change 10.77.2.0/24 via 10.77.1.254 congctl circuit
serve dst
little_then_a_lot
kill $SENDER
until_true 60 no_circuits
breaker
until_true 120 no_circuits
equal "sockets and peers' circuits that are left" 0 "$(circuits_in_use)"
finish
