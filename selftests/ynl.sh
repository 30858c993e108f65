#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml
#
# docs/netlink/tcp_circuit.yaml: the kernel's own schema takes it, its numbers are
# the header's, its checks are the module's, and the kernel's own tool (ynl, from
# the newest source) drives the module with it.  YNL_DIR: where lab/ynl-tool.sh has
# unpacked that.

. "$(dirname "$0")/lib.sh"
need_commands python3 jq gcc
YNL_DIR=${YNL_DIR:-$("$SELFTESTS/lab/ynl-tool.sh")} ||
	skip_all "the newest kernel's source is not to be had"
need_module

YNL=$YNL_DIR/tools/net/ynl/pyynl
SCHEMA=$YNL_DIR/Documentation/netlink/genetlink-legacy.yaml
SPEC=$TOP/docs/netlink/tcp_circuit.yaml
HEADER=$TOP/include/uapi/linux/tcp_circuit.h
export PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1

# ynl OPTION...: one line of JSON
ynl()
{
	in_src python3 "$YNL/cli.py" --spec "$SPEC" --no-schema --output-json "$@"
}

# says FILTER EXPECTED DESCRIPTION OPTION...: what jq makes of the answer
says()
{
	local filter=$1 expected=$2 what=$3 out

	shift 3
	out=$(ynl "$@" 2>&1)
	equal "$what" "$expected" "$(jq -c "$filter" <<<"$out" 2>&1 || echo "$out")"
}

# fails PATTERN DESCRIPTION OPTION...
fails()
{
	local pattern=$1 what=$2 out

	shift 2
	if out=$(ynl "$@" 2>&1); then
		fail "$what" "expected a refusal: $pattern" "got:      $out"
	else
		matches "$what" "$pattern" "$out"
	fi
}

# --- the specification --------------------------------------------------------

valid()
{
	python3 "$YNL/cli.py" --spec "$1" --schema "$SCHEMA" --validate
}

schema()
{
	succeeds "the kernel's schema takes the specification" valid "$SPEC"
	sed 's/multi-attr/multiple/' "$SPEC" >"$TMP/wrong.yaml"
	refused "and none with a word of its own" valid "$TMP/wrong.yaml"
}

# The generator wants a kernel's tree, and its licence.
generated()
{
	local tree=$TMP/tree

	mkdir -p "$tree/netlink/specs"
	touch "$tree/MAINTAINERS"
	cp "$SCHEMA" "$tree/netlink/"
	sed '1s/:.*/: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)/' \
		"$SPEC" >"$tree/netlink/specs/tcp_circuit.yaml"
	timeout 60 python3 "$YNL/ynl_gen_c.py" --mode "$1" "--$2" \
		--spec "$tree/netlink/specs/tcp_circuit.yaml"
}

# netlink_names HEADER: what is in it of netlink, but not the options' own
netlink_names()
{
	sed 's|/\*.*\*/||' "$1" | grep -oE '\bTCP_CIRCUIT_[A-Z0-9_]+\b' |
		grep -E '_(GENL_VERSION|NAME_LEN|PREFIXES_MAX|WINDOW_LIMIT|RATE_LIMIT)$|^TCP_CIRCUIT_(BREAKER|REASON|CAUSE|F|A|PREFIX_A|EVIDENCE_A|STATS_A|CMD)_' |
		sort -u
}

# numbers HEADER NAME...: of these, as the compiler sees them
numbers()
{
	local header=$1 name

	shift
	{
		printf '#include <stdio.h>\n#include "%s"\nint main(void)\n{\n' \
			"$header"
		for name; do
			echo "printf(\"$name %lld\\n\", (long long)$name);"
		done
		echo "return 0; }"
	} >"$TMP/numbers.c"
	gcc -o "$TMP/numbers" "$TMP/numbers.c" && "$TMP/numbers"
}

header()
{
	local names

	generated uapi header >"$TMP/generated.h" 2>"$TMP/err" || {
		fail "a header is made from it" "$(cat "$TMP/err")"
		return
	}
	names=$(netlink_names "$HEADER")
	at_least "names in the header" 60 "$(wc -l <<<"$names")"
	equal "names in the specification but not in the header, or the other way" \
		"" "$(netlink_names "$TMP/generated.h" | comm -3 - <(echo "$names"))"
	# shellcheck disable=SC2086 # a list of names
	equal "numbers that differ" "" "$(diff <(numbers "$HEADER" $names) \
		<(numbers "$TMP/generated.h" $names))"
	succeeds "a kernel's policy can be made from it" generated kernel source
	succeeds "and a library for programs" generated user source
}

# What the module says it checks
policies()
{
	says '[.name.type, .name["max-length"]]' '["nul-string",31]' \
		"new: the name's check" --policy --do new
	says '.window | [.type, .["min-value"], .["max-value"]]' \
		'["u32",1,67108864]' "new: the window's check" --policy --do new
	says '.rate | [.type, .["max-value"]]' '["u64",125000000000]' \
		"new: the rate's check" --policy --do new
	says '.ifindex | [.type, .["min-value"], .["max-value"]]' \
		'["u32",1,2147483647]' "new: the device's check" \
		--policy --do new
	says '.mark | [.type, .["min-value"]]' '["u32",1]' "new: the mark's check" \
		--policy --do new
	says '.flags | [.type, .mask]' '["u32",3]' "new: the flags' check" \
		--policy --do new
	says '.prefix.policy | [.len.type, .len["max-value"], .address.type]' \
		'["u8",128,"binary"]' "new: the prefix's check" --policy --do new
	says 'keys | join(" ")' '"flags ifindex mark name prefix rate window"' \
		"new takes what is in the specification" --policy --do new
	says 'keys | join(" ")' '"name"' "so does del" --policy --do del
	says 'keys | join(" ")' '"address ifindex mark name"' "and get" \
		--policy --do get
	says 'keys | join(" ")' '"address ifindex mark name"' "and reset" \
		--policy --do reset
}

# --- the module, driven by it ---------------------------------------------------

WAVE='"name": "wave", "prefix": [{"address": "192.0.2.0", "len": 24},
	{"address": "2001:db8::", "len": 32}], "window": 1000'

listen_in()
{
	background src python3 "$YNL/cli.py" --spec "$SPEC" --no-schema \
		--output-json --subscribe events >"$TMP/events" 2>&1
	defer "kill $!"
	until_true 30 heard
	succeeds "subscribed to events" heard
}

# Of one that is there for nothing else
heard()
{
	ynl --do new --create --json '{"name": "knock", "window": 1,
		"prefix": [{"address": "203.0.113.1", "len": 32}]}' &&
		ynl --do del --json '{"name": "knock"}' &&
		grep -q knock "$TMP/events"
}

# event NAME: the last of that name about wave
event()
{
	jq -c --arg name "$1" \
		'select(.name == $name and .msg.name == "wave") | .msg' \
		"$TMP/events" | tail -n 1
}

creates()
{
	fails 'needs a window|miss-type' "a circuit without a window" --do new --create \
		--json '{"name": "wave", "prefix": [{"address": "192.0.2.0", "len": 24}]}'
	fails 'bad-attr.*\.window' "a window of 0: which attribute" --do new --create \
		--json "{${WAVE/1000/0}}"
	fails 'Numerical result out of range|Invalid argument' \
		"a window of 0: why" --do new --create --json "{${WAVE/1000/0}}"
	fails 'bits? .*(prefix|length)|behind' "an address with bits behind its prefix" \
		--do new --create --json "{${WAVE/192.0.2.0/192.0.2.1}}"
	fails 'No such file' "nothing to replace" --do new --replace --json "{$WAVE}"
	says . null "create" --do new --create --excl --json "{$WAVE}"
	fails 'File exists' "excl" --do new --create --excl --json "{$WAVE}"
	says '[.name, .window, .rate, (.prefix | length), .breaker, .sockets]' \
		'["wave",1000,0,2,"closed",0]' "get by name" \
		--do get --json '{"name": "wave"}'
	says '.prefix | map("\(.address)/\(.len)") | sort | join(" ")' \
		'"192.0.2.0/24 2001:db8::/32"' "its prefixes" \
		--do get --json '{"name": "wave"}'
	says .name '"wave"' "get by IPv4 address" \
		--do get --json '{"address": "192.0.2.7"}'
	says .name '"wave"' "get by IPv6 address" \
		--do get --json '{"address": "2001:db8::7"}'
	fails 'No such file' "get by an address of no circuit" \
		--do get --json '{"address": "198.51.100.1"}'
}

changes()
{
	says . null "replace" --do new --replace --json \
		"{${WAVE/1000/2000}, \"rate\": 125000000, \"mark\": 7, \"flags\": [\"unpaced\"]}"
	says '[.window, .rate, .mark, .flags]' \
		'[2000,125000000,7,["unpaced"]]' "what it is now" \
		--do get --json '{"name": "wave"}'
	says .name '"wave"' "get by address and mark" \
		--do get --json '{"address": "192.0.2.7", "mark": 7}'
	fails 'No such file' "get by address alone: it has a mark" \
		--do get --json '{"address": "192.0.2.7"}'
}

others()
{
	says . null "another circuit" --do new --create --json '{"name": "sat",
		"prefix": [{"address": "198.51.100.0", "len": 25}], "window": 7}'
	fails 'File exists' "which may not have a prefix of the first" --do new \
		--create --json "{${WAVE/wave/other}, \"mark\": 7}"
	says 'map(.name) | sort | join(" ")' '"sat wave"' "dump" --dump get
	says '[.circuits, .prefixes, .["circuits-max"], .["kept-max"]]' \
		'[2,3,65536,256]' "stats" --do stats
	says . null "reset of one" --do reset --json '{"name": "wave"}'
	says . null "reset by address" --do reset --json '{"address": "198.51.100.3"}'
	says . null "reset of all" --do reset
	fails 'No such file' "reset of none" --do reset --json '{"name": "none"}'
	says . null "del" --do del --json '{"name": "wave"}'
	fails 'No such file' "del of what is not there" \
		--do del --json '{"name": "wave"}'
	says . null "del" --do del --json '{"name": "sat"}'
	says . '[]' "dump of nothing" --dump get
}

# Of the transfers before, in this order and with these contents
events()
{
	until_true 10 grep -q removed-ntf.*wave "$TMP/events"
	equal "events about it" "added-ntf changed-ntf removed-ntf" \
		"$(jq -r 'select(.msg.name == "wave") | .name' "$TMP/events" | xargs)"
	equal "added: as it was made" '1000 0 2' \
		"$(event added-ntf | jq -r '"\(.window) \(.rate) \(.prefix | length)"')"
	equal "changed: as it has become" '2000 125000000 7' \
		"$(event changed-ntf | jq -r '"\(.window) \(.rate) \(.mark)"')"
	equal "removed: as it was" '2000 125000000 7' \
		"$(event removed-ntf | jq -r '"\(.window) \(.rate) \(.mark)"')"
}

lone_host
schema
header
policies
listen_in
creates
changes
others
events
finish
