#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# What ctcpd sees of a host's flows: what they did between two samples, as ss has it; their
# last counters once they are closed, once; and what this host's own qdiscs dropped, apart
# from what the network lost.

. "$(dirname "$0")/lib.sh"
need_root
need_commands ctcpd circuit_sock ss tc jq

TRACE=$TMP/trace

# record_begin: until record_end, 5 polls a second
record_begin()
{
	background src ctcpd record --every 200ms "$TRACE"
	RECORD=$!
	until_true 20 grep -q '^# ctcpd trace' "$TRACE"
}

record_end()
{
	kill -TERM $RECORD
	wait $RECORD
	equal "$1: record ends without a failure" 0 $?
}

# samples: those of flows to $PORT
samples()
{
	grep -E "^cookie=[0-9a-f]+ peer=[^ ]*:$PORT " "$TRACE"
}

# polled N: so many samples of such a flow are there
polled()
{
	[ "$(samples | wc -l)" -ge "$1" ]
}

# counter NAME LINE: 0 where the line leaves it out
counter()
{
	find_value "$1" '[0-9]*' "$2"
	echo "${VALUE:-0}"
}

# grew NAME: from the flow's first sample to its last
grew()
{
	echo $(($(counter "$1" "$(samples | tail -n 1)") - $(counter "$1" "$(samples | head -n 1)")))
}

# ss_has NAME: this number of the connection, of a copy of ss's line
ss_has()
{
	sed -n "s/.*\\b$1:\\([0-9]*\\).*/\\1/p" <<<"$SS"
}

replayed()
{
	OUT=$(ctcpd replay --json "$TRACE")
}

# judged FIELD: of the flow to $PORT that has sent most
judged()
{
	jq -r "map(select(.port == $PORT)) | max_by(.judgement.acked_bytes).judgement.$1" <<<"$OUT"
}

# drops DEV: those that the trace has of it, in all
drops()
{
	local index

	index=$(in_src cat "/sys/class/net/$1/ifindex")
	awk -v dev="ifindex=$index" '/^drops/ && $3 == dev { sub("n=", "", $4); n += $4 }
		END { print n + 0 }' "$TRACE"
}

# still: the connection is there, and nothing of it is on its way
still()
{
	SS=$(in_src ss -Htin state established "dport = :$PORT")
	[ "$(ss_has bytes_acked)" = $(($1 + 1)) ] && [[ $SS != *unacked* ]]
}

BYTES=3000000

# sends_held WHERE [OPTION...]: $BYTES to WHERE, by a connection that stays, all delivered
sends_held()
{
	local to=$1

	shift
	stream_send -n $BYTES -k 600000 "$@" "$to" $PORT
	until_true 60 still $BYTES || fail "$BYTES bytes to $to" "$SS"
}

# --- differences --------------------------------------------------------------

loss_beyond()
{
	local before total

	delay 10 loss 1%
	record_begin
	sends_held $DST4
	before=$(samples | wc -l)
	until_true 20 polled $((before + 2))
	record_end "loss"
	SS=$(in_src ss -Htin state established "dport = :$PORT")
	total=$(counter bytes_sent "$(samples | tail -n 1)")
	equal "loss: bytes sent, as ss has them" "$(ss_has bytes_sent)" "$total"
	equal "loss: bytes acknowledged" "$(ss_has bytes_acked)" \
		"$(counter acked "$(samples | tail -n 1)")"
	equal "loss: data segments" "$(ss_has data_segs_out)" \
		"$(counter data_segs_out "$(samples | tail -n 1)")"
	at_least "loss: segments sent again" 1 "$(grew total_retrans)"
	replayed
	equal "loss: segments in intervals" "$(grew data_segs_out)" "$(judged sent_segments)"
	equal "loss: sent again in intervals" "$(grew total_retrans)" \
		"$(judged retransmitted_segments)"
	equal "loss: local drops" 0 "$(judged local_drops_packets)"
	equal "loss: drops of src's device" 0 "$(drops eth1)"
	stream_end
}

# A flow that was there before the first look
first_counts_nothing()
{
	delay 10
	sends_held $DST4
	record_begin
	until_true 20 polled 3
	record_end "first"
	replayed
	equal "first: bytes in intervals" 0 "$(judged acked_bytes)"
	equal "first: segments in intervals" 0 "$(judged sent_segments)"
	at_least "first: ... of segments that it has sent" 1000 \
		"$(counter data_segs_out "$(samples | head -n 1)")"
	equal "first: time in intervals" "$(grew at)" "$(judged duration_us)"
	stream_end
}

# It is closed while it is looked at: told of once, with what it has sent to its end.
closed_once()
{
	local cookie

	delay 10
	record_begin
	stream_begin
	until_true 20 polled 3
	cookie=$(samples | head -n 1 | cut -d " " -f 1)
	stream_end
	until_true 20 grep -q "^gone $cookie$" "$TRACE"
	sleep 1		# polls that must not tell it again
	record_end "closed"
	equal "closed: told once" 1 "$(grep -c "^gone $cookie$" "$TRACE")"
	equal "closed: no sample behind it" 0 \
		"$(sed "1,/^gone $cookie$/d" "$TRACE" | grep -c "^$cookie ")"
	equal "closed: no other flow is gone" 1 "$(grep -c "^gone" "$TRACE")"
}

# --- drops ---------------------------------------------------------------------

# sends_side_by_side: by several flows, of each of which TCP keeps two packets in the qdisc
# (tcp_limit_output_bytes): so many that it drops
sends_side_by_side()
{
	local i pids=()

	for i in 1 2 3 4 5 6 7 8; do
		background src circuit_sock send -n 1000000 $DST4 $PORT >"$TMP/sender$i"
		pids+=($!)
	done
	wait "${pids[@]}"
	equal "$1: senders that got through" 8 "$(cat "$TMP"/sender[1-8] | wc -l)"
}

# dropped_at_home NAME: what qdiscs of src's eth1 dropped, by its root, is all in the trace
dropped_at_home()
{
	local name=$1 at

	record_begin
	sends_side_by_side "$name"
	# two polls behind the last drop: a flow that stays has a sample in each
	at=$(wc -l <"$TRACE")
	stream_send -n 1000 -k 600000 $DST4 $PORT
	until_true 20 polled_behind "$at" 2
	record_end "$name"
	replayed
	at_least "$name: the root qdisc drops" 20 "$(dropped src eth1)"
	equal "$name: each drop counts once" "$(dropped src eth1)" "$(drops eth1)"
	at_least "$name: drops of the flow's intervals" 10 "$(judged local_drops_packets)"
	stream_end
}

# polled_behind LINE N: samples of one flow
polled_behind()
{
	[ "$(tail -n +$(($1 + 1)) "$TRACE" | grep -c "^cookie=.* bytes_sent=1000 ")" -ge "$2" ]
}

tiny_tbf()
{
	delay 10
	in_src tc qdisc replace dev eth1 root tbf rate 20mbit burst 4k limit 10k
	dropped_at_home "tbf"
	in_src tc qdisc del dev eth1 root
}

below_htb()
{
	in_src tc qdisc replace dev eth1 root handle 1: htb default 1
	in_src tc class add dev eth1 parent 1: classid 1:1 htb rate 20mbit burst 4k quantum 1514
	in_src tc qdisc add dev eth1 parent 1:1 handle 2: bfifo limit 10k
	dropped_at_home "htb"
	in_src tc qdisc del dev eth1 root
}

# A device of several queues, with mq by default or by hand
below_mq()
{
	local i

	ip -n "$SRC" link del eth1
	ip link add "w$$" netns "$SRC" numtxqueues 4 type veth peer name "v$$" netns "$RTR" \
		numrxqueues 4
	ip -n "$SRC" link set "w$$" name eth1
	ip -n "$RTR" link set "v$$" name r1
	ip -n "$SRC" link set eth1 up
	ip -n "$RTR" link set r1 up
	ip -n "$SRC" addr add $SRC4/24 dev eth1
	ip -n "$RTR" addr add 10.77.1.254/24 dev r1
	ip -n "$SRC" addr add $SRC6/64 dev eth1 nodad
	ip -n "$RTR" addr add fd77:1::fe/64 dev r1 nodad
	ip -n "$SRC" route add 10.77.2.0/24 via 10.77.1.254
	ip -n "$SRC" -6 route add fd77:2::/64 via fd77:1::fe
	delay 10
	in_src tc qdisc replace dev eth1 root handle 1: mq
	for i in 1 2 3 4; do
		in_src tc qdisc replace dev eth1 parent 1:$i tbf rate 20mbit burst 4k limit 10k
	done
	dropped_at_home "mq"
	in_src tc qdisc del dev eth1 root
}

# --- who is listed -------------------------------------------------------------

# listed NAME ADDRESS [TO]: one flow, with this peer in the trace
listed()
{
	local name=$1 peer=$2

	record_begin
	sends_held "${3:-$DST4}"
	until_true 20 polled 2
	record_end "$name"
	equal "$name: its peer" "$peer:$PORT" \
		"$(samples | sed 's/.* peer=\([^ ]*\) .*/\1/' | sort -u)"
	stream_end
}

addresses_of_peers()
{
	listed "IPv6" "[$DST6]" $DST6
	listed "v4-mapped" $DST4 "::ffff:$DST4"
}

loopback_left_out()
{
	local to

	delay 10
	for to in 127.0.0.1 ::1 $SRC4 ::ffff:127.0.0.1; do
		background src circuit_sock serve $PORT >/dev/null
		LOCAL=$!
		until_true 10 listening src
		# not without end, which in virtual time would let no time pass
		background src circuit_sock send -n 100000 -k 600000 "$to" $PORT >/dev/null
		STREAM=$!
		until_true 10 sending || fail "a stream to $to"
		in_src ctcpd record --every 200ms --for 1s "$TRACE"
		equal "loopback: flows to $to" 0 "$(grep -c '^cookie=' "$TRACE")"
		kill $STREAM $LOCAL
		wait $STREAM $LOCAL 2>/dev/null
		end_sockets src
		PORT=$((PORT + 1))
	done
	serve_end
	serve dst
}

network
single_packets
serve dst

cases loss_beyond first_counts_nothing closed_once tiny_tbf below_htb addresses_of_peers \
	loopback_left_out below_mq
finish
