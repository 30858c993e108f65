# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# capture_lib.sh: what passes rtr of one connection to dst, for tests of single packets
#
# One port for each, as the last packets of an earlier connection would be taken for the
# end of this one.

# capture_begin DEVICE: of rtr; tcpdump listens when it returns
capture_begin()
{
	rm -f "$TMP/cap"
	background rtr tcpdump -i "$1" -s 128 -U -w "$TMP/cap" "tcp port $PORT" \
		2>"$TMP/tcpdump.err"
	DUMP=$!
	until_true 10 grep -q 'listening on' "$TMP/tcpdump.err"
}

# packets [OPTION...]: of tcpdump's, a line each
# shellcheck disable=SC2120 # tests pass some
packets()
{
	tcpdump -n "$@" -r "$TMP/cap" 2>/dev/null
}

connection_ended()
{
	packets | grep -q 'Flags .[FR]'
}

# Not before the end of the connection has reached the file; its server ends, too.
capture_end()
{
	until_true 10 connection_ended
	kill $DUMP
	wait $DUMP
	serve_end
}
