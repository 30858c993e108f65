#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Early window: not while SYNs queue up; of many clients at once none is promised what others
# will have; and how soon the circuit is full.  Many clients and the full circuit are in virtual
# time only.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/early_lib.sh"

QUEUE=16		# EARLY_QUEUE of circuit/early.c
LINE=125000		# bytes in a ms: 1 Gbit/s

# --- SYNs that queue up ------------------------------------------------------

waiting()
{
	[ "$(in_dst ss -Hn state syn-recv "sport = :$PORT" | wc -l)" = "$1" ]
}

# No SYN-ACK of theirs was sent only once.
none_young()
{
	! in_dst ss -Hno state syn-recv "sport = :$PORT" | grep -q ',0)'
}

# client_that_hangs N: the N-th whose ACKs do not leave; it lives until $HANG closes
client_that_hangs()
{
	background src circuit_sock send -C reno -m 7 -r $DST4 $PORT \
		<"$TMP/hang" {HANG}>&- >/dev/null 2>&1
	until_true 10 waiting "$1" || fail "requests that wait: $1"
}

no_clients()
{
	[ -z "$(in_src ss -Htn state connected exclude time-wait \
		"dport = :$PORT")" ]
}

syns_queue_up()
{
	local i

	# five retries are over after a minute, which a slow machine needs for this
	set_in dst net.ipv4.tcp_synack_retries 12
	mkfifo "$TMP/hang"
	exec {HANG}<>"$TMP/hang"
	in_src nft -f - <<-END
	table inet hang {
		chain output {
			type filter hook output priority 0
			meta mark 7 tcp flags & syn != syn drop
		}
	}
	END
	for ((i = 1; i < QUEUE; i++)); do
		client_that_hangs $i
	done
	until_true 10 none_young || fail "SYN-ACKs sent again"
	opened "$QUEUE SYNs wait, with its own, IPv4" $DST4
	opened "$QUEUE SYNs wait, with its own, IPv6" $DST6
	client_that_hangs $QUEUE
	until_true 10 none_young || fail "SYN-ACKs sent again"
	left_alone "$((QUEUE + 1)) SYNs wait, IPv4" $DST4
	left_alone "$((QUEUE + 1)) SYNs wait, IPv6" $DST6
	waiting $QUEUE || fail "requests that wait: still $QUEUE"
	serve_end
	in_src nft delete table inet hang
	exec {HANG}>&-
	until_true 60 no_clients || fail "clients that hung are gone"
	set_in dst net.ipv4.tcp_synack_retries 5
	serve dst -v
	opened "none waits" $DST4
}

# Clients that come at once, each with more than 64 KB to send and a window of its
# own, to a server that reads slowly: none is promised what others will have.  All that
# may be granted is far from what the machine has for TCP.
at_once()
{
	local clients=() before

	in_virtual_time || return 0
	WINDOW=$((WINDOW / 4)) server_circuit $EARLY
	serve_end
	serve dst -p 300
	before=$(troubles)
	for ((i = 0; i < QUEUE; i++)); do
		background src circuit_sock send -w 150 -n 100000 $DST4 $PORT \
			>/dev/null
		clients+=($!)
	done
	wait "${clients[@]}"
	equal "$QUEUE clients at once: resets, segments sent again or wrong" 0 \
		$(($(troubles) - before))
	until_true 10 none_connected || fail "its readers end"
	serve_end
	serve dst -v
	server_circuit $EARLY
}

# --- how soon the circuit is full --------------------------------------------

# until_full FRAMES SYN: ms from the SYN until the first slot of 5 ms from which on, for a
# round trip, each has 95 % of the line; and until the first round trip with 95 % of it
until_full()
{
	awk -v syn="$2" -v rtt=$RTT_MS -v rate=$LINE '
		{
			t[++n] = ($1 - syn) * 1000
			match($0, /length [0-9]+:/)
			size[n] = substr($0, RSTART + 7, RLENGTH - 8)
			slot[int(t[n] / 5)] += size[n]
			held += size[n]
			while (t[first + 1] <= t[n] - rtt)
				held -= size[++first]
			if (!rolled && held >= 0.95 * rate * rtt)
				rolled = t[n] - rtt
		}
		END {
			last = int(t[n] / 5)
			for (i = 0; i <= last && run < rtt / 5; i++)
				run = slot[i] >= 0.95 * rate * 5 ? run + 1 : 0
			if (run < rtt / 5 || !rolled)
				print "never never"
			else
				printf("%d %d\n", (i - run) * 5, rolled)
		}' "$1"
}

# first_full ADDRESS: these two, of a transfer of three round trips, in SLOT and ROLLING
first_full()
{
	local dumps

	background src tcpdump --immediate-mode -c 1 -l -tt -nni eth1 \
		"tcp dst port $PORT" >"$TMP/syn" 2>"$TMP/tcpdump"
	dumps=$!
	until_true 10 captures || fail "tcpdump began"
	background dst tcpdump -U -B 65536 -s 96 -w "$TMP/frames" -i eth1 \
		"tcp dst port $PORT and greater 1000" 2>"$TMP/tcpdump"
	dumps="$dumps $!"
	until_true 10 captures || fail "tcpdump began"
	in_src circuit_sock send -n $((3 * RTT_MS * LINE)) "$1" $PORT >"$TMP/sent"
	until_true 10 none_connected
	# shellcheck disable=SC2086 # words
	kill $dumps 2>/dev/null
	# shellcheck disable=SC2086 # words
	wait $dumps
	tcpdump -tt -nne -r "$TMP/frames" >"$TMP/lines" 2>/dev/null
	read -r SLOT ROLLING \
		<<<"$(until_full "$TMP/lines" "$(awk '{ print $1 }' "$TMP/syn")")"
}

full_rate()
{
	local address window=$((13 * RTT_MS * LINE / 10 / 1514 + 1))

	in_virtual_time || return 0
	WINDOW=$window
	in_src circuit_nl new far prefix 10.77.2.0/24 prefix fd77:2::/64 \
		window $WINDOW
	in_src tc qdisc add dev eth1 root tbf rate 1gbit burst 100kb \
		limit $((WINDOW * 1514))
	for address in $DST4 $DST6; do
		server_circuit 0
		first_full "$address"
		at_least "full rate at $address without it: ms from the SYN" \
			$((24 * RTT_MS / 10)) "$SLOT"
		at_least "full rate at $address without it: first round trip of it" \
			$((23 * RTT_MS / 10)) "$ROLLING"
		server_circuit $EARLY
		first_full "$address"
		at_most "full rate at $address: ms from the SYN" \
			$((3 * RTT_MS / 2)) "$SLOT"
		at_most "full rate at $address: first round trip of it" \
			$((3 * RTT_MS / 2)) "$ROLLING"
	done
}

early_network
server_circuit $EARLY
cases syns_queue_up at_once full_rate
finish
