# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# early_lib.sh: what the tests of the early window (early*.sh) share; source it after lib.sh
#
# Early window: a server whose circuit asks for it opens its client's window by an ACK right
# behind the SYN-ACK, so that a whole window is on its way one round trip after the SYN.
# dst serves.  A transfer is one connection from src; tcpdump shows which packets arrived.

need_commands ethtool tcpdump nft circuit_nl circuit_sock
need_module

RTT_MS=100
WINDOW=2000
# shellcheck disable=SC2034 # of tests that source this
EARLY=1			# TCP_CIRCUIT_F_EARLY_WINDOW
# circuit_sock's first write, and after it whole segments of either family, so that
# Nagle's algorithm holds none back; less than the window, and less than the 1000 packets
# that a host accepts at once (netdev_max_backlog)
BYTES=$((262144 + 1448 * 1428 / 4))

# --- network and circuits ----------------------------------------------------

# early_network: both ends run circuit; src has a circuit, the server has none yet
early_network()
{
	network $((RTT_MS / 2))
	single_packets
	circuits
	serve dst -v
	warm_up
}

# both_ends SYSCTL VALUE
both_ends()
{
	local host

	for host in src dst; do
		set_in $host "$1" "$2"
	done
}

circuits()
{
	local name=net.ipv4.tcp_allowed_congestion_control before

	before=$(sysctl -n $name)
	sysctl -qw $name="$before circuit"
	defer "sysctl -qw $name='$before'"
	both_ends net.ipv4.tcp_congestion_control circuit
	both_ends net.ipv4.tcp_rmem "4096 131072 67108864"
	both_ends net.ipv4.tcp_wmem "4096 131072 67108864"
	in_src circuit_nl new far prefix 10.77.2.0/24 prefix fd77:2::/64 \
		window $WINDOW
}

# server_circuit FLAGS [PREFIX...]
server_circuit()
{
	local flags=$1 words=

	shift
	[ $# -gt 0 ] || set -- 10.77.1.0/24 fd77:1::/64
	while [ $# -gt 0 ]; do
		words="$words prefix $1"
		shift
	done
	# shellcheck disable=SC2086 # words
	in_dst circuit_nl new far $words window $WINDOW flags "$flags"
}

warm_up()
{
	in_src circuit_sock send -n 1000 $DST4 $PORT >"$TMP/sent"
	in_src circuit_sock send -n 1000 $DST6 $PORT >"$TMP/sent"
	until_true 10 none_connected
}

# --- what arrives ------------------------------------------------------------

captures()
{
	grep -q 'listening on' "$TMP/tcpdump"
}

ends_seen()
{
	grep -q 'Flags \[F' "$TMP/packets"
}

# Packets that arrived of the handshake of the connection that has ended, in their order:
# "synack", and of those with the same acknowledgement "early" for one with only NOPs
# as options, else "ack"
arrived()
{
	awk '/Flags \[F/ { ended[$5] = 1 }
		!/Flags \[(S\.|\.)[EW]*\]/ { next }
		{
			match($0, /ack [0-9]+/)
			ack[++n] = substr($0, RSTART + 4, RLENGTH - 4)
			peer[n] = $5
			kind[n] = "ack"
		}
		/nop,nop,nop,nop/ { kind[n] = "early" }
		/Flags \[S/ { kind[n] = "synack"; syns[$5] = ack[n] }
		END { for (i = 1; i <= n; i++)
			if (ended[peer[i]] && ack[i] == syns[peer[i]]) {
				printf("%s%s", gap, kind[i])
				gap = " "
			} }' "$TMP/packets"
}

# The server has no connection left, not even one that waits for the last ACK, which would
# disturb the next capture and the next share of the window.  Connection requests may be
# left; iproute2 6.15 lists them in spite of "exclude syn-recv".
none_connected()
{
	[ -z "$(in_dst ss -Htn state established state fin-wait-1 state fin-wait-2 \
		state close-wait state last-ack state closing "sport = :$PORT")" ]
}

# Number of resets, of segments sent again and of segments with errors, in src and dst since
# they were made
troubles()
{
	local host

	for host in src dst; do
		"in_$host" nstat -asz TcpOutRsts TcpRetransSegs TcpInErrs
	done | awk '!/^#/ { n += $2 } END { print n + 0 }'
}

beyond_window()
{
	in_dst nstat -asz TcpExtBeyondWindow | awk '!/^#/ { n = $2 } END { print n + 0 }'
}

# --- transfers ---------------------------------------------------------------

# transfer ADDRESS [OPTION...]: make one; MS is how long it takes, ARRIVED what arrived of
# its handshake, ACKS how many ACKs came right behind the SYN-ACK
transfer()
{
	local address=$1 began

	shift
	background src tcpdump --immediate-mode -l -nnSxi eth1 -B 8192 -s 128 \
		"tcp src port $PORT" >"$TMP/packets" 2>"$TMP/tcpdump"
	TCPDUMP=$!
	until_true 10 captures || fail "tcpdump began"
	began=$(date +%s%N)
	in_src circuit_sock send -n $BYTES "$@" "$address" $PORT >"$TMP/sent" ||
		fail "a transfer to $address" "$(cat "$TMP/sent")"
	MS=$((($(date +%s%N) - began) / 1000000))
	{ until_true 10 ends_seen && until_true 10 none_connected; } ||
		fail "a connection to $address ends"
	kill $TCPDUMP
	wait $TCPDUMP 2>/dev/null
	ARRIVED=$(arrived)
	ACKS=$(grep -ow early <<<"$ARRIVED" | wc -l)
}

# transfer_watched ADDRESS [OPTION...]: the same; TROUBLES is what troubles() counted meanwhile
transfer_watched()
{
	local before

	before=$(troubles)
	transfer "$@"
	TROUBLES=$(($(troubles) - before))
}

# opened NAME ADDRESS [OPTION...], left_alone NAME ADDRESS [OPTION...]
opened()
{
	transfer "${@:2}"
	equal "$1: ACKs right behind the SYN-ACK" 1 "$ACKS"
	in_virtual_time || return 0
	at_most "$1: ms until all is acknowledged, two round trips" \
		$((2 * RTT_MS + 20)) "$MS"
}

left_alone()
{
	transfer "${@:2}"
	equal "$1: ACKs right behind the SYN-ACK" 0 "$ACKS"
}

# harmless NAME ADDRESS ARRIVED MS [OPTION...]: a transfer is whole, of the handshake arrives what
# the regular expression ARRIVED says, and it takes at most MS
harmless()
{
	local name=$1 address=$2 arrives=$3 ms=$4 served

	shift 4
	transfer_watched "$address" "$@"
	served=$(tail -n 1 "$TMP/serve.out")
	matches "$name: handshake: $ARRIVED" "^$arrives\$" "$ARRIVED"
	equal "$name: bytes" "$BYTES" "$(field bytes "$served")"
	equal "$name: of these wrong" 0 "$(field wrong "$served")"
	in_virtual_time || return 0
	equal "$name: resets, segments sent again or wrong" 0 "$TROUBLES"
	at_most "$name: ms" $((ms + 20)) "$MS"
}
