# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # top, here and seed are set by the script that sources it
#
# kept.sh: results of virtual-time tests that passed, each under a hash of all that the test reads
#
# A machine is the same to the last byte for the same inputs and the same seed (test_seed.sh):
# to run a test again with the seed that it passed with would show nothing new.  So a test is
# run again when something that it reads has changed, and each time make check is told to
# (FRESH=1), given a seed, or told which cases to run (ONLY_CASES); and every time if it draws
# what it tries from random numbers of its own, as another seed is another test then (draws()).
# A test reads:
#
#	itself, and the files of the tree that it and those name literally, by
#	$(dirname "$0")/, $SELFTESTS/, $LAB_DIR_HERE/ or $TOP/ (of a folder, all that is in it)
#	the programs of build/bin that these name
#	the module's source, the kernel, the scripts of the lab, and tap.awk
#	the versions of all packages of the host
#	$KEPT_WORDS: the variables that say how much it does
#
# figures.sh is kept in the same way: the machines that it boots always have the same seed.  Its
# one point measured by the host's clock is kept, too: the program it measures is unchanged.
#
# Results are kept in build/, not in the cache, so that a clean checkout runs everything.

KEPT=$top/build/kept

# script_of TEST: its path in the tree
script_of()
{
	case $1 in
	figures) echo selftests/lab/figures.sh ;;
	*) echo "selftests/$1.sh" ;;
	esac
}

# may_keep TEST: true for a uml test that draws no random numbers of its own, run as a whole
may_keep()
{
	[ -z "${ONLY_CASES:-}" ] &&
		grep -qsE '^# labs:.*\buml\b' "$top/$(script_of "$1")" && ! draws "$1"
}

# named FILE...: print the files of the tree that these scripts name, as paths in the tree
named()
{
	awk '
	BEGIN {
		name = "[A-Za-z0-9_./-]+"
		at = "\\$(TOP|SELFTESTS|LAB_DIR_HERE|\\(dirname \"\\$0\"\\))/" name
	}
	FNR == 1 {
		own = FILENAME
		sub(/[^\/]*$/, "", own)
	}
	{
		for (; match($0, at); $0 = substr($0, RSTART + RLENGTH)) {
			path = substr($0, RSTART, RLENGTH)
			sub(/^\$TOP\//, "", path)
			sub(/^\$SELFTESTS\//, "selftests/", path)
			sub(/^\$LAB_DIR_HERE\//, "selftests/lab/", path)
			sub(/^\$\([^)]*\)\//, own, path)
			while (sub(/[^\/.]+\/\.\.\//, "", path)) ;
			if (path ~ /^[a-z]/ && path !~ /^build\/|\.\./)
				print path
		}
	}' "$@" | xargs -r -d '\n' sh -c 'find "$@" -type f 2>/dev/null' -
}

# files_of TEST: print the files of the tree that it reads, as paths below $top, each once
files_of()
{
	local -A seen=()
	local one scripts new=("$(script_of "$1")")

	cd "$top" || return
	while [ ${#new[@]} -gt 0 ]; do
		scripts=()
		for one in "${new[@]}"; do
			seen[$one]=1
			[[ $one != *.sh ]] || scripts+=("$one")
		done
		new=()
		[ ${#scripts[@]} -gt 0 ] || break
		while read -r one; do
			[ -n "${seen[$one]:-}" ] || new+=("$one")
		done < <(named "${scripts[@]}")
	done
	printf '%s\n' "${!seen[@]}" | sort
	find tcp_circuit.c Kbuild circuit include -type f
	printf 'selftests/lab/%s\n' cache.sh check.sh kept.sh newest-source.sh tap.awk uml-init.sh \
		uml-kernel.sh uml-module.sh uml-seed.c uml.sh
}

# draws TEST: true if its script draws random numbers
draws()
{
	grep -qE 'RANDOM|/urandom|_SEED' "$top/$(script_of "$1")"
}

# programs_of FILE...: print the programs of build/bin that these files name
programs_of()
{
	grep -howF -f <(ls "$top/build/bin") "$@" | sort -u | sed 's@^@build/bin/@'
}

# kept_key TEST: print a hash of all that it reads
kept_key()
{
	local files

	cd "$top" || return
	files=$(files_of "$1")
	# shellcheck disable=SC2046,SC2086 # names without spaces
	{
		echo "$(kernel_of "$1") $KEPT_HOST $KEPT_WORDS"
		sha256sum $files $(programs_of $(grep '^selftests/' <<<"$files"))
	} | sha256sum | cut -d ' ' -f 1
}

# kernel_of TEST: print the name of its kernel, which has a hash of all that it is built from
kernel_of()
{
	case $1 in
	figures) basename "$(LAB_KERNEL='' "$top/selftests/lab/uml-kernel.sh")" ;;
	*) echo "$KEPT_KERNEL" ;;
	esac
}

# A hash of the names and versions of all installed packages
kept_host()
{
	{ dpkg-query -W || cat /etc/os-release; } 2>/dev/null | sha256sum
}

# kept_begin FOLDER: prepare, with the folder of results, for the shells that run the tests
kept_begin()
{
	KEPT_OUT=$1
	KEPT_NOT=${FRESH:-}${CHECK_SEED:-}
	KEPT_WORDS="$LAB_KERNEL ${CHURN:-} ${FUZZ_CALLS:-} ${NLFUZZ_MESSAGES:-}"
	KEPT_KERNEL=$(basename "$("$here/uml-kernel.sh")")
	KEPT_HOST=$(kept_host)
	export KEPT KEPT_OUT KEPT_NOT KEPT_WORDS KEPT_KERNEL KEPT_HOST
	export -f script_of may_keep named files_of draws programs_of kernel_of kept_key \
		has_passed keep is_kept kept_since
}

has_passed()
{
	grep -q '^TEST' "$KEPT_OUT/$1.result" && ! grep -q '^FAIL' "$KEPT_OUT/$1.result"
}

# keep TEST KEY: keep its result from $KEPT_OUT if it passed and nothing was edited meanwhile
keep()
{
	has_passed "$1" && [ "$2" = "$(kept_key "$1")" ] || return
	mkdir -p "$KEPT"
	rm -f "$KEPT/$1.key"
	cp "$KEPT_OUT/$1.tap" "$KEPT_OUT/$1.result" "$KEPT/" && echo "$seed" >"$KEPT/$1.seed" &&
		echo "$2" >"$KEPT/$1.key"
}

# is_kept TEST KEY: true if a result is kept, which is then copied to $KEPT_OUT
is_kept()
{
	[ -z "$KEPT_NOT" ] && [ "$2" = "$(cat "$KEPT/$1.key" 2>/dev/null)" ] &&
		cp -p "$KEPT/$1.tap" "$KEPT/$1.result" "$KEPT_OUT/" && touch "$KEPT_OUT/$1.kept"
}

# kept_since TEST: print when it passed, and with which seed
kept_since()
{
	echo "$(date -r "$KEPT/$1.key" '+%F %H:%M') with CHECK_SEED=$(cat "$KEPT/$1.seed")"
}
