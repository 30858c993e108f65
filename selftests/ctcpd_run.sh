#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# ctcpd run, by its commands, its log and its signals: what it says of a remote behind a slow
# last hop and of one behind none, and what it does when the disk is full, the history damaged,
# the configuration wrong, a client mute, another daemon there, or itself killed.
#
# The network is that of ctcpd_lib.sh.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/ctcpd_lib.sh"
need_root
need_commands ctcpd circuit_sock jq python3

DISK=$TMP/disk

# to both at once, until traffic_ends
traffic_begins()
{
	background src circuit_sock send -n 100000000000 $DST4 $PORT >/dev/null 2>&1
	FAST_STREAM=$!
	background src circuit_sock send -n 100000000000 $SLOW4 $PORT >/dev/null 2>&1
	SLOW_STREAM=$!
	defer "kill $FAST_STREAM $SLOW_STREAM"
}

traffic_ends()
{
	kill $FAST_STREAM $SLOW_STREAM
	wait $FAST_STREAM $SLOW_STREAM 2>/dev/null
	in_src ss -tK "dport = :$PORT" >/dev/null
}

# configure [LINE...]: its file; the last lines are in [metrics]
configure()
{
	printf '%s\n' '[ctcpd]' "poll = ${POLL:-1s}" 'min-rtt = none' '[history]' \
		"file = $DISK/history.db" '[metrics]' "$@" >"$TMP/ctcpd.conf"
}

# --- what it sees -------------------------------------------------------------------------

sees()
{
	configure
	begin
	traffic_begins
	eventually 120 verdict_is $SLOW4 overrun
	equal "behind a slow last hop" overrun "$(verdict $SLOW4)"
	eventually 20 more_than '.remotes' 1
	equal "status: remotes" 2 "$(value .remotes)"
	matches "status, as text: the one" "$SLOW4" "$(ask status)"
	matches "status, as text: the other" "$DST4" "$(ask status)"
	matches "why, as text: the verdict" "overruns its receiver" "$(ask why $SLOW4)"
	matches "report, as text: who" "$SLOW4" "$(ask report)"
}

said_once()
{
	local line="$SLOW4: overruns its receiver"

	says "$line"
	polls_go_on
	polls_go_on
	polls_go_on
	equal "a verdict is in the log once" 1 "$(logged "$line")"
}

# Where programs take time, a sender may outrun the receiver on a path of any rate.
spares_the_other()
{
	in_virtual_time || return 0
	refused "behind no slow hop" verdict_is $DST4 overrun
	equal "report: the one that somebody can do something about" "$SLOW4" \
		"$(ask report --json | jq -r '.remotes[] | select(.judgement.verdict == "overrun") | .remote')"
	equal "the log has nothing of who is not in trouble" 0 \
		"$(logged "$DST4: limited by nothing")"
}

# --- its configuration ----------------------------------------------------------------------

reload()
{
	kill -HUP $DAEMON
	says "$1"
}

reloads()
{
	POLL=500ms configure
	succeeds "a file that is wrong: the log has line and value" \
		reload 'stays as it was: .*, line 2: poll: "500ms" is out of range; from 1s to 1min'
	equal "a file that is wrong: what it had stays" 1s "$(value .config.poll)"
	matches "a file that is wrong: status says so" 'line 2: poll: "500ms" is out of range' \
		"$(value .config_error)"
	polls_go_on
	POLL=2s configure 'listen = 127.0.0.1:9810'
	succeeds "a good one: the log has what changed" reload 'poll was "1s", is "2s"'
	equal "a good one: it is in force" 2s "$(value .config.poll)"
	equal "a good one: status says no more of the other" null "$(value .config_error)"
	matches "metrics that are asked for are there" '^ctcpd_flows' "$(metrics)"
	POLL=1s configure
	succeeds "and back" reload 'poll was "2s", is "1s"'
	refused "metrics that nobody asks for are gone" metrics
	succeeds "the same once more" reload 'nothing has changed'
}

metrics()
{
	# shellcheck disable=SC2016 # the other shell's
	in_src bash -c 'exec 3<>/dev/tcp/127.0.0.1/9810 &&
		printf "GET /metrics HTTP/1.0\r\n\r\n" >&3 && cat <&3' 2>/dev/null
}

# --- others ------------------------------------------------------------------------------------

second_daemon()
{
	local out

	out=$(in_src ctcpd run --config "$TMP/ctcpd.conf" --socket "$SOCKET" 2>&1)
	equal "a second daemon: exit status" 1 $?
	# the lab's file systems have one device in stat() and another in /proc/locks
	matches "a second daemon: why" \
		"^ctcpd: another ctcpd answers at $SOCKET already(, process [0-9]+)?$" "$out"
	succeeds "a second daemon: the first answers" answers
}

# as many as it serves at once, and more, none of which says or reads anything
mute_clients()
{
	python3 -c "
import socket, time
fds = []
for i in range(20):
	s = socket.socket(socket.AF_UNIX)
	s.connect('$SOCKET')
	s.send(b'{\"command\": \"status\"}\n' if i % 2 else b'{')
	fds.append(s)
print('ready', flush=True)
time.sleep(60)" >"$TMP/mute" &
	MUTE=$!
	eventually 20 grep -q ready "$TMP/mute"
	succeeds "clients that say nothing: another is answered" answers
	succeeds "clients that say nothing: it polls on" polls_go_on
	kill $MUTE
	wait $MUTE 2>/dev/null
}

# Who asks gives up, also where so many wait to be accepted that not even connect() returns.
stopped_daemon()
{
	local out

	kill -STOP $DAEMON
	out=$(timeout 60 ctcpd status --socket "$SOCKET" 2>&1)
	equal "a daemon that is stopped: exit status" 1 $?
	matches "a daemon that is stopped: why" 'has not answered within 10 s' "$out"
	python3 -c "
import socket, time
fds = []
try:
	while True:
		fds.append(socket.socket(socket.AF_UNIX))
		fds[-1].setblocking(False)
		fds[-1].connect('$SOCKET')
except BlockingIOError:
	print('full', flush=True)
time.sleep(60)" >"$TMP/full" &
	MUTE=$!
	eventually 20 grep -q full "$TMP/full"
	out=$(timeout 60 ctcpd status --socket "$SOCKET" 2>&1)
	equal "a daemon that is stopped, its queue full: exit status" 1 $?
	matches "a daemon that is stopped, its queue full: why" 'has not answered within 10 s' \
		"$out"
	kill $MUTE
	wait $MUTE 2>/dev/null
	kill -CONT $DAEMON
	eventually 60 answers
	succeeds "a daemon that goes on: it polls" polls_go_on
}

# --- ends and beginnings --------------------------------------------------------------------------

ends()
{
	end TERM
	equal "SIGTERM: exit status" 0 $ENDED
	refused "SIGTERM: its socket is gone" test -e "$SOCKET"
	out=$(ask status 2>&1)
	equal "nobody answers: exit status" 1 $?
	matches "nobody answers: what to do" "no daemon answers at $SOCKET: is it running\?" "$out"
	begin
	eventually 30 verdict_is $SLOW4 overrun
	equal "SIGTERM: the visit is in the history" overrun \
		"$(ask why $SLOW4 --json | jq -r '.visits[0].judgement.verdict')"
}

killed()
{
	local before

	before=$(visits $SLOW4)
	end KILL
	succeeds "kill -9: its socket is still there" test -S "$SOCKET"
	begin
	at_least "kill -9: the next one answers, with the history" "$before" "$(visits $SLOW4)"
	traffic_ends
}

# --- the history's disk ------------------------------------------------------------------------------

fill_disk()
{
	dd if=/dev/zero of="$DISK/fill" bs=4k >/dev/null 2>&1
}

# a stream of some polls that ends, and with it a visit, 30 s later
short_visit()
{
	in_src circuit_sock send -n 20000000 $DST4 $PORT >/dev/null 2>&1
}

full_disk()
{
	local before

	# none of an earlier stream is to end meanwhile
	eventually 90 value_is .flows 0
	ask forget 0.0.0.0/0 >/dev/null
	equal "before: no visit" 0 "$(value .visits_waiting)"
	fill_disk
	short_visit
	eventually 90 more_than .visits_waiting 0
	at_least "a full disk: a visit waits" 1 "$(value .visits_waiting)"
	succeeds "a full disk: the log says so" says 'the history is not written: .*; up to 4096 visits wait'
	polls_go_on
	polls_go_on
	equal "a full disk: once" 1 "$(logged 'the history is not written')"
	equal "a full disk: status says so" false "$(value .history_ok)"
	matches "a full disk: status says why" 'No space left|disk is full' \
		"$(value .history_error)"
	matches "a full disk: why has the visit" '"verdict"' "$(ask why $DST4 --json)"
	rm "$DISK/fill"
	eventually 30 value_is .visits_waiting 0
	equal "space again: nothing waits" 0 "$(value .visits_waiting)"
	succeeds "space again: the log says so" says 'the history is written again; 0 visits were lost'
	before=$(visits $DST4)
	end KILL
	begin
	equal "space again: the visit is on the disk" "$before" "$(visits $DST4)"
}

damaged()
{
	end TERM
	head -c 20000 "$BIN/ctcpd" >"$DISK/history.db"
	begin
	succeeds "a damaged history: the log says so" says 'the history is begun anew: '
	succeeds "a damaged history: it is set aside" test -s "$DISK/history.db.damaged"
	short_visit
	eventually 90 has_visits $DST4
	at_least "a damaged history: the new one takes visits" 1 "$(visits $DST4)"
}

# Its owner could put another file, or a log, in place of the history's.
strangers_folder()
{
	end TERM
	chown 4711 "$DISK"
	configure
	begin
	equal "a folder of another user: no history" false "$(value .history_ok)"
	matches "a folder of another user: status says whose" \
		"$DISK, the folder of the history, is user 4711's" "$(value .history_error)"
	end TERM
	chown 0 "$DISK"
	begin
	equal "root's folder: the history" true "$(value .history_ok)"
}

# --- forget --------------------------------------------------------------------------------------------

forgets()
{
	local out

	matches "forget, as text" '^forgotten: remotes: [0-9]+' "$(ask forget $DST4/32)"
	out=$(ask why $DST4 2>&1)
	equal "forget: nothing is known: exit status" 1 $?
	matches "forget: nothing is known" "nothing is known of $DST4" "$out"
	equal "forget, of nobody" 0 "$(ask forget 192.0.2.0/24 --json | jq '.remotes + .visits')"
}

# --- systemd's watchdog --------------------------------------------------------------------------------

# longest_silence SECONDS: print the longest time without a sign of life, ms, in that many seconds
# from the first one on
longest_silence()
{
	python3 -c "
import socket, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind('$TMP/notify')
while b'WATCHDOG=1' not in s.recv(4096):
	pass
began = last = time.monotonic()
longest = 0
while last < began + $1:
	s.settimeout(max(0.001, began + $1 - last))
	try:
		alive = b'WATCHDOG=1' in s.recv(4096)
	except TimeoutError:
		alive = True
	if alive:
		now = time.monotonic()
		longest = max(longest, now - last)
		last = now
print(round(longest * 1000))"
}

# Of half the time that systemd waits; nothing else wakes the daemon meanwhile.
watched()
{
	local listener

	end TERM
	POLL=1min configure
	longest_silence 30 >"$TMP/silence" &
	listener=$!
	until_true 20 test -S "$TMP/notify"
	NOTIFY_SOCKET=$TMP/notify WATCHDOG_USEC=8000000 begin
	wait $listener
	at_most "a poll a minute, a watchdog of 8 s: ms without a sign of life" 4000 \
		"$(cat "$TMP/silence")"
	at_least "a watchdog of 8 s: ms between two" 1000 "$(cat "$TMP/silence")"
}

# --- the command line -----------------------------------------------------------------------------------

# usage PATTERN ARGUMENT...: exit status 2, and one line that matches
usage()
{
	local pattern=$1 out rc

	shift
	out=$(ctcpd "$@" 2>&1 </dev/null)
	rc=$?
	if [ $rc = 2 ] && [ "$(wc -l <<<"$out")" = 1 ] && grep -qE -- "$pattern" <<<"$out"; then
		pass "bad usage: $*"
	else
		fail "bad usage: $*" "expected: exit 2, one line: $pattern" "got:      exit $rc" "$out"
	fi
}

bad_usage()
{
	usage 'which command\?'
	usage '"statsu" is not a command; did you mean status\?' statsu
	usage '"dance" is not a command; ctcpd --help' dance
	usage 'unknown option "--jsn"' status --jsn
	usage 'unknown option "-x"' -x
	usage '"--json=yes" takes no value' status --json=yes
	usage '"now" is one word too many' status now
	usage 'run takes no --json' run --json
	usage '--config needs a value' run --config
	usage 'status takes no --config' status --config /etc/ctcpd.conf
	usage 'which remote\?' why
	usage '"eth1" is not an address; write e.g. 192.0.2.7' why eth1
	usage '"10.0.0.0/8" is not an address' why 10.0.0.0/8
	usage '"fe80::1%eth1" names a device; a remote is its address alone, fe80::1' \
		why fe80::1%eth1
	usage '"10.0.0.1/8" has bits behind its prefix length; did you mean 10.0.0.0/8\?' \
		forget 10.0.0.1/8
	usage '"10.0.0.0/33" is not a prefix' forget 10.0.0.0/33
	usage 'which file\?' replay
	usage '--every: "1" has no unit' record --every 1
	usage '--every: "61s" is out of range; from 100ms to 1min' record --every 61s
}

# wrong LINE PATTERN: a configuration with that line is refused, exit status 78, EX_CONFIG
wrong()
{
	local out rc

	printf '[ctcpd]\n%s\n' "$1" >"$TMP/wrong.conf"
	out=$(timeout 20 ctcpd run --config "$TMP/wrong.conf" --socket "$TMP/other" 2>&1)
	rc=$?
	equal "a configuration that is wrong ($1): exit status" 78 $rc
	matches "a configuration that is wrong ($1)" "wrong.conf, line 2: $2" "$out"
}

bad_configuration()
{
	local out

	wrong 'mode = atc' 'mode: "atc" is no mode; observe and act are'
	wrong 'one-lock = 1' 'one-lock: "1" is neither no nor yes'
	wrong 'pol = 5s' '"pol" is no key of \[ctcpd\]; did you mean poll\?'
	out=$(ctcpd run --config "$TMP/none" --socket "$TMP/other" 2>&1)
	equal "no configuration where one is named: exit status" 78 $?
	matches "no configuration where one is named" 'none cannot be opened: No such file' "$out"
	out=$(ctcpd run --socket /nonexistent/run/control 2>&1)
	equal "no folder for the socket: exit status" 78 $?
	matches "no folder for the socket" 'cannot be made: .*; be root, or name another place by --socket' "$out"
}

network 10
second_remote
delay 10 rate 40mbit
serve dst
serve_slow
mkdir "$DISK"
mount -t tmpfs -o size=3m,mode=755 disk "$DISK"
defer "umount $DISK"
cases bad_usage bad_configuration sees said_once spares_the_other reloads second_daemon \
	mute_clients stopped_daemon ends killed full_disk damaged strangers_folder forgets watched
end TERM
equal "at the end: exit status" 0 $ENDED
finish
