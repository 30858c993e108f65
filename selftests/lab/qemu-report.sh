#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# qemu-report.sh OUT SUITE...: what came of them, by tap.awk's results in OUT, for qemu.sh:
# each failure, a table, and the last line with the count, by which it exits

set -u
here=$(cd "$(dirname "$0")" && pwd)
out=$1
shift

fact()			# RESULT NAME
{
	awk -F '\t' -v name="$2" '$1 == "FACT" && $2 == name { print $3 }' \
		"$out/$1"
}

# passed/points of one test
sum()			# RESULT TEST
{
	awk -F '\t' -v name="$2" '
		$1 == "TEST" && $2 == name { p += $3; f += $4; n++ }
		END { print n ? (f ? p "/" p + f " FAILED" : p " ok") : "-" }' \
		"$out/$1"
}

# All that ran in the machine
sum_tests()		# RESULT
{
	awk -F '\t' '
		$1 == "TEST" && $2 !~ /^(build|clang|dkms|kernel)$/ {
			p += $3; f += $4 }
		END { printf f ? "%d/%d FAILED" : "%d ok", p, p + f }' "$out/$1"
	fact "$1" narrowed | sed 's/^/ /'
}

# What each line of the table is made of
row()
{
	printf '%-19s %-25s %-8s %-8s %-10s %-10s %-10s %-21s %s\n' "$@"
}

suite_row()		# SUITE
{
	row "$1" "$(fact "$1" kernel)" "$(fact "$1" gcc)" "$(fact "$1" clang)" \
		"$(sum "$1" build)" "$(sum "$1" clang)" "$(sum "$1" dkms)" \
		"$(sum_tests "$1")" "$(sum "$1" kernel)"
}

cross_rows()
{
	local arch

	for arch in $("$here"/cross-all.sh --list); do
		row "$arch, cross" "$(fact "$arch-gcc" kernel)" \
			"$(fact "$arch-gcc" gcc)" "$(fact "$arch-clang" clang)" \
			"$(sum "$arch-gcc" gcc)" "$(sum "$arch-clang" clang)" - \
			"compiled only" -
	done
}

# uml.sh builds without a warning or not at all, and reads the kernel's log.
nonetfilter_row()
{
	row nonetfilter "6.1, virtual time" "$(gcc -dumpfullversion)" - - - - \
		"$(sum_tests nonetfilter)" -
}

table()			# SUITE...
{
	local suite

	row suite kernel gcc clang "by gcc" "by clang" dkms tests "kernel log"
	for suite; do
		case $suite in
		cross)		cross_rows ;;
		nonetfilter)	nonetfilter_row ;;
		*)		suite_row "$suite" ;;
		esac
	done
}

# What results there are for the suites named
results()		# SUITE...
{
	local suite arch

	for suite; do
		if [ "$suite" = cross ]; then
			for arch in $("$here"/cross-all.sh --list); do
				echo "$arch-gcc $arch-clang"
			done
		else
			echo "$suite"
		fi
	done
}

# One that left none failed: its shell was killed.
count_missing()		# RESULT...
{
	local result

	for result; do
		[ -s "$out/$result" ] ||
			printf 'FAIL\tmachine\tit left no result\nTOTAL\t0\t1\n' > "$out/$result"
	done
}

failures()		# RESULT...
{
	local result

	for result; do
		awk -F '\t' -v result="$result" '$1 == "FAIL" {
			print result ": " $2 ": " $3 }' "$out/$result"
	done
}

count()			# RESULT...
{
	(cd "$out" && awk -F '\t' '$1 == "TOTAL" { p += $2; f += $3 }
		END { printf "check-kernels: %d passed, %d failed, 0 skipped\n", p, f
			exit f || !p }' "$@")
}

echo
# shellcheck disable=SC2046 # a list of names
count_missing $(results "$@")
# shellcheck disable=SC2046 # a list of names
failures $(results "$@")
table "$@"
echo "everything that was said: build/qemu-SUITE.log, build/cross-*.log," \
	"build/nonetfilter.log"
# shellcheck disable=SC2046 # a list of names
count $(results "$@")
