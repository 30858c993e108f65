# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# archive.sh: where Debian's archive is, and the keys that sign it; source this file
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
