# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# archive.sh: where Debian's archive is, the keys that sign it, and what is fetched from it once;
# source this file, with cache.sh for the latter
#
# Nothing here names a mirror: it is the one of the machine's own apt, or that in
# TCP_CIRCUIT_MIRROR and TCP_CIRCUIT_MIRROR_SECURITY.

# mirror main|sec: print the address of the archive
mirror()
{
	local site

	site=$(apt-get indextargets 'Created-By: Packages' 'Origin: Debian' \
		--format "\$(CODENAME) \$(SITE)" | awk -v want="$1" '
		want == (($1 ~ /-security$/) ? "sec" : "main") { print $2 }' |
		sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')
	case $1 in
	main)	echo "${TCP_CIRCUIT_MIRROR:-$site}" ;;
	sec)	echo "${TCP_CIRCUIT_MIRROR_SECURITY:-$site}" ;;
	esac
}

# source_lines SOURCE,...: lines for sources.list; none for a source whose mirror is not known
source_lines()
{
	local source site

	for source in ${1//,/ }; do
		site=$(mirror "${source%%:*}")
		[ -n "$site" ] && echo "deb $site ${source#*:} main"
	done
	return 0
}

# collect_keys FOLDER: copy the keys there, as apt may not trust suites older or newer than itself
collect_keys()
{
	mkdir "$1"
	cp /usr/share/keyrings/debian-archive-*.gpg "$1"/ || {
		echo "no keys of Debian's archive: install debian-archive-keyring" >&2
		return 1
	}
}

# apt_of FOLDER COMMAND WORD...: apt with nothing of the machine's but its configuration
apt_of()
{
	local folder=$1 command=$2

	shift 2
	"apt-$command" -q -o Dir::State="$folder" -o Dir::State::status="$folder/status" \
		-o Dir::Cache="$folder/cache" -o Dir::Etc::SourceList="$folder/sources" \
		-o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::TrustedParts="$folder/keys" \
		-o Dir::Etc::Preferences=/dev/null \
		-o Dir::Etc::PreferencesParts=/dev/null \
		-o Acquire::Check-Valid-Until=false -o Acquire::Languages=none \
		-o APT::Sandbox::User=root "$@"
}

# begin_apt FOLDER SUITE: fetch the lists of a suite that the machine's own apt may not know
begin_apt()
{
	local site

	collect_keys "$1/keys" || return
	site=$(mirror main)
	[ -n "$site" ] || {
		echo "apt knows no mirror of Debian here: set TCP_CIRCUIT_MIRROR" >&2
		return 1
	}
	echo "deb $site $2 main" > "$1/sources"
	: > "$1/status"
	mkdir -p "$1/lists/partial" "$1/cache/archives/partial"
	apt_of "$1" get -o APT::Update::Error-Mode=any update
}

# fetch_once PLACE WHAT: print PLACE, a folder in the cache; where it is missing, fetch() of the
# script that calls this fills $tmp/new first, in a shell of its own
fetch_once()
{
	local place=$1

	if [ ! -d "$place" ]; then
		cache_lock "${place##*/}"
	fi
	if [ ! -d "$place" ]; then
		"${BASH_SOURCE[0]%/*}/need.sh" debian-archive-keyring
		echo "lab: fetching $2" >&2
		rm -rf "$place".??????		# of one that was killed
		tmp=$(mktemp -d "$place.XXXXXX")
		trap 'rm -rf "$tmp"' EXIT
		mkdir "$tmp/new"
		(fetch) > "$place.log" 2>&1 || {
			tail -n 3 "$place.log" >&2
			echo "lab: $2 cannot be fetched (above)" >&2
			exit 1
		}
		mv "$tmp/new" "$place"
	fi
	echo "$place"
}
