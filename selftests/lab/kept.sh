# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # top, here and seed are those of who takes this in
#
# kept.sh: what a test of the virtual-time lab said when it passed, by all that it reads
#
# Such a machine is the same to the last byte for the same inputs and the same seed
# (test_seed.sh): with the seed that it passed with, to run a test again would tell nothing
# new.  So it is run again when something that it reads has changed, and each time make check
# is told to (FRESH=1) or given a seed; and always where it draws what it tries from its own
# random numbers, as another seed is another test then (draws()).  What it reads:
#
#	itself, and the files of the tree that it and those name literally, by
#	$(dirname "$0")/, $SELFTESTS/ or $TOP/ (of a folder, all that is in it)
#	the programs of build/bin that these name
#	the module's source, the kernel, the scripts of the lab, what counts its points
#	the versions of all packages of the host
#	$KEPT_WORDS: how much it is to do
#
# In build/, not in the cache: a clean checkout runs everything.

KEPT=$top/build/kept

# named FILE...: what of the tree these scripts name, by its path in it
named()
{
	# shellcheck disable=SC2016 # it is these words that are looked for
	sed -nE ':again
		s@^(.*)(\$SELFTESTS|\$\(dirname "\$0"\))/([A-Za-z0-9_./-]+)@\1\nselftests/\3\n@
		s@^([^\n]*)\$TOP/([A-Za-z0-9_./-]+)@\1\n\2\n@
		t again
		/\n/ { s/^[^\n]*\n//; p }' "$@" | grep -E '^[a-z][A-Za-z0-9_./-]+$' |
		grep -v '^build/\|\.\.'
}

# files_of TEST: of the tree, sorted, below $top
files_of()
{
	local all="selftests/$1.sh" before='' more

	cd "$top" || return
	while [ "$all" != "$before" ]; do
		before=$all
		# shellcheck disable=SC2046,SC2086 # names without spaces
		more=$(find $(named $(grep '\.sh$' <<<"$all")) -type f 2>/dev/null)
		all=$(printf '%s\n' "$all" $more | sort -u)
	done
	echo "$all"
	find tcp_circuit.c Kbuild circuit include -type f
	printf 'selftests/lab/%s\n' cache.sh check.sh kept.sh newest-source.sh tap.awk uml-init.sh \
		uml-kernel.sh uml-module.sh uml-seed.c uml.sh
}

# draws TEST: by its own words, what it tries
draws()
{
	grep -qE 'RANDOM|/urandom|_SEED' "$top/selftests/$1.sh"
}

# programs_of FILE...: of build/bin, those that these files name
programs_of()
{
	grep -howF -f <(ls "$top/build/bin") "$@" | sort -u | sed 's@^@build/bin/@'
}

# kept_key TEST: one line that changes with all that it reads
kept_key()
{
	local files

	cd "$top" || return
	files=$(files_of "$1")
	# shellcheck disable=SC2046,SC2086 # names without spaces
	{
		echo "$KEPT_LAB $KEPT_WORDS"
		sha256sum $files $(programs_of $(grep '^selftests/' <<<"$files"))
	} | sha256sum | cut -d ' ' -f 1
}

# The kernel, and all that is installed here
kept_lab()
{
	basename "$("$here/uml-kernel.sh")"
	{ dpkg-query -W || cat /etc/os-release; } 2>/dev/null | sha256sum
}

# kept_begin FOLDER: of the results, before the tests, which shells of their own run
kept_begin()
{
	KEPT_OUT=$1
	KEPT_NOT=${FRESH:-}${CHECK_SEED:-}
	KEPT_WORDS="$LAB_KERNEL ${CHURN:-} ${FUZZ_CALLS:-} ${NLFUZZ_MESSAGES:-}"
	KEPT_LAB=$(kept_lab)
	export KEPT KEPT_OUT KEPT_NOT KEPT_WORDS KEPT_LAB
	export -f named files_of draws programs_of kept_key has_passed keep is_kept kept_since
}

has_passed()
{
	grep -q '^TEST' "$KEPT_OUT/$1.result" && ! grep -q '^FAIL' "$KEPT_OUT/$1.result"
}

# keep TEST KEY: what it said, in $KEPT_OUT, if it passed, and nothing was edited meanwhile
keep()
{
	has_passed "$1" && [ "$2" = "$(kept_key "$1")" ] || return
	mkdir -p "$KEPT"
	rm -f "$KEPT/$1.key"
	cp "$KEPT_OUT/$1.tap" "$KEPT_OUT/$1.result" "$KEPT/" && echo "$seed" >"$KEPT/$1.seed" &&
		echo "$2" >"$KEPT/$1.key"
}

# is_kept TEST KEY: and puts what it said in $KEPT_OUT
is_kept()
{
	[ -z "$KEPT_NOT" ] && [ "$2" = "$(cat "$KEPT/$1.key" 2>/dev/null)" ] &&
		cp -p "$KEPT/$1.tap" "$KEPT/$1.result" "$KEPT_OUT/" && touch "$KEPT_OUT/$1.kept"
}

# kept_since TEST: when it passed, and with which seed
kept_since()
{
	echo "$(date -r "$KEPT/$1.key" '+%F %H:%M') with CHECK_SEED=$(cat "$KEPT/$1.seed")"
}
