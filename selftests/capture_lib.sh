# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# capture_lib.sh: capture one connection to dst as its packets pass rtr, for tests of single
# packets
#
# Each connection has another port: the last packets of an earlier one would be taken for the
# end of this one.

# capture_begin DEVICE: start to capture at this device of rtr; tcpdump listens when it returns
capture_begin()
{
	rm -f "$TMP/cap"
	background rtr tcpdump -i "$1" -s 128 -U -w "$TMP/cap" "tcp port $PORT" \
		2>"$TMP/tcpdump.err"
	DUMP=$!
	until_true 10 grep -q 'listening on' "$TMP/tcpdump.err"
}

# packets [OPTION...]: print the packets, a line each; OPTIONs are tcpdump's
# shellcheck disable=SC2120 # tests pass some
packets()
{
	tcpdump -n "$@" -r "$TMP/cap" 2>/dev/null
}

connection_ended()
{
	packets | grep -q 'Flags .[FR]'
}

# Wait until the end of the connection is in the file, then end the capture and the server.
capture_end()
{
	until_true 10 connection_ended
	kill $DUMP
	wait $DUMP
	serve_end
}
