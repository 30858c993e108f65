# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# breaker_cross_lib.sh: a circuit is rerouted onto a path that CUBIC uses; source it after
# breaker_lib.sh.  On an emulated machine CUBIC's rate is neither asserted nor waited for.

SHARE_MBIT=$((SHARED_MBIT / 2))		# CUBIC's, beside one circuit
LEAST_MBIT=$((SHARE_MBIT * 40 / 100))	# that the breaker must leave to CUBIC

# log_lines REASON...: number of lines in the log for trips by one of these reasons
log_lines()
{
	local words=("" "loss" "congestion marks" "standing delay" "shortfall")
	local reason list=

	for reason in "$@"; do
		list="$list${list:+|}${words[reason]}"
	done
	dmesg | grep -cE "tcp_circuit: circuit far: breaker of uid $ROOT tripped by ($list):"
}

cross_bytes()
{
	in_rtr ss -Hti "dport = :$PORT" |
		sed -n 's/.*bytes_acked:\([0-9]*\).*/\1/p'
}

# cross_rates COUNT: Mbit/s of CUBIC in each of the next COUNT seconds
cross_rates()
{
	local before now

	before=$(cross_bytes)
	for ((i = 0; i < $1; i++)); do
		sleep 1
		now=$(cross_bytes)
		echo $(((now - before) * 8 / 1000000))
		before=$now
	done
}

cross_sends()
{
	[ -n "$(cross_bytes)" ]
}

# cross NAME: CUBIC takes the shared path; its sender is CROSS
cross()
{
	background rtr circuit_sock send -C cubic -n 100000000000 $SHARED $PORT \
		>/dev/null
	CROSS=$!
	if [ "$LAB" = uml ]; then
		sleep 3
		at_least "$1: CUBIC alone, Mbit/s" $((SHARED_MBIT * 8 / 10)) "$(cross_rates 1)"
	else
		until_true 10 cross_sends
	fi
}

# reroute NAME STREAMS "REASON...": reroute the circuit onto the shared path, where it stays;
# RATES are CUBIC's in the eight seconds after it
reroute()
{
	local logged

	# shellcheck disable=SC2086 # numbers
	logged=$(log_lines $3)
	watch_events
	cross "$1"
	flow 130000 -n "$2"
	established
	sleep 1
	ip -n "$RTR" route replace $FAR via $SHARED
	RATES=
	! in_virtual_time || RATES=$(cross_rates 8)
	until_true 60 state_is open
	watch_end
	equal "$1: trips" 1 "$(far trips)"
	# shellcheck disable=SC2086 # numbers
	equal "$1: lines in the log" 1 $(($(log_lines $3) - logged))
	evidence "$1" "$3" "$(event tripped)"
	end_stream rtr $CROSS
}

# middle SECOND RATES: the median of that second's rates in all reroutes
middle()
{
	local all

	all=$(awk -v second="$1" '$1 == second { print $2 }' <<<"$2" | sort -n)
	sed -n "$((($(wc -l <<<"$all") + 1) / 2))p" <<<"$all"
}

# spares NAME STREAMS TIMES [REASON [WORD...]]: reroute a circuit of so many streams so often.
# CUBIC beside the circuit reaches 40 % of its share within 5 s.  The fifth second is
# checked, and the eighth, to see that it keeps it.  The share is half of the path: one
# circuit's and CUBIC's; four streams are still one circuit, and leave as much.
# How far CUBIC falls in the second before the trip is chance: each timeout of its own
# costs it 30 %, and it grows by only 2 Mbit/s each second.  (Mbit/s in the fifth second:
# four streams, 24 times: 17 to 92, half of them at least 50; onto a queue of 10 ms, one
# stream, 14 times: 93, but 20 to 23 five times; of three more two had 4, with CUBIC
# still waiting for a timeout of its own.)
spares()
{
	local all='' time

	for ((time = 1; time <= $3; time++)); do
		[ "$time" = 1 ] || mended
		fresh "${@:5}"
		reroute "$1" "$2" "${4:-$LOSS}"
		all+=$(cat -n <<<"$RATES")$'\n'
		[ -z "$RATES" ] || echo "# $1: CUBIC in the seconds after it, Mbit/s:" $RATES
	done
	in_virtual_time || return 0
	at_least "$1: CUBIC in the second that ends 5 s after it, Mbit/s of a share of $SHARE_MBIT" \
		$LEAST_MBIT "$(middle 5 "$all")"
	at_least "$1: CUBIC in the eighth, Mbit/s" $LEAST_MBIT "$(middle 8 "$all")"
}
