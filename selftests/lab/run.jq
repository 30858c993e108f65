# SPDX-License-Identifier: GPL-2.0
#
# One run, from what iperf3 said at both ends.  Mbit/s throughout.  Goodput is
# what the receiver got while the sender was sending: the sender counts what it
# has put into its buffer, which is not there yet.

# 1448 bytes of each 1514 are payload (MTU 1500, timestamps).
($rate * 1448 / 1514) as $line
| [$server[0].intervals[].sum | select(.start < $seconds - 0.05)] as $parts
| ([$parts[] | select(.start < 0.95) | .bytes] | add * 8 / 1e6) as $first
| ([$parts[].bytes] | add * 8 / 1e6) as $all
| {
	$name, $alg, $rate, $rtt, $loss, $seconds, $setup_s, $nothing_s, $line,
	mean: ($all / $seconds),
	share: (100 * $all / $seconds / $line),
	first_second: $first,
	after_first: (($all - $first) / ($seconds - 1)),
	after_first_share: (100 * ($all - $first) / ($seconds - 1) / $line),
	retransmissions: $client[0].end.sum_sent.retransmits,
	shaper_drops: ([$qdisc[0][].drops] | add),
	over_time: [$parts[] | [.start, .bits_per_second / 1e6]]
}
